from __future__ import annotations

import itertools
import re
import xml.etree.ElementTree as ET
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rra.report.axis import label, make_axis, nice_step
from rra.report.plot import WIDTH, Lane, Plot, render_plot

numbers = st.decimals(
    min_value=Decimal("-1e12"), max_value=Decimal("1e12"), allow_nan=False, places=6
)
LENGTH, CHARACTER = 312.0, 7.4


@given(st.lists(numbers, min_size=1, max_size=8))
def test_all_values_and_ticks_lie_on_the_axis_and_labels_do_not_touch(
    values: list[Decimal],
) -> None:
    axis = make_axis(values, LENGTH, CHARACTER, log=False)
    assert axis.low < axis.high
    for value in values:
        assert axis.low <= float(value) <= axis.high
    assert axis.ticks
    places = [axis.place(value) * LENGTH for value, _ in axis.ticks]
    assert places == sorted(places)
    for (left, right), (_, text), (_, other) in zip(
        itertools.pairwise(places), axis.ticks, axis.ticks[1:], strict=False
    ):
        assert right - left >= (len(text) + len(other)) / 2 * CHARACTER


@given(st.lists(numbers, min_size=2, max_size=2, unique=True))
def test_tick_labels_are_the_numbers_that_they_stand_at(values: list[Decimal]) -> None:
    axis = make_axis(values, LENGTH, CHARACTER, log=False)
    width = axis.high - axis.low
    for value, text in axis.ticks:
        assert float(text) == pytest.approx(value, abs=width * 1e-3)
    assert len({text for _, text in axis.ticks}) == len(axis.ticks)


@given(st.decimals(min_value=Decimal("1e-12"), max_value=Decimal("1e12"), allow_nan=False))
def test_nice_steps_are_round_and_large_enough(least: Decimal) -> None:
    step = nice_step(least)
    assert least <= step <= least * Decimal("2.5")
    assert str(step.normalize().scaleb(-step.adjusted()).normalize()) in {"1", "2", "2.5", "5"}


@pytest.mark.parametrize(
    ("value", "step", "text"),
    [
        ("98.5", "0.5", "98.5"),
        ("98", "0.5", "98.0"),
        ("-0.0", "0.5", "0.0"),
        ("250", "50", "250"),
        ("1200000", "100000", "1.2e+6"),
        ("0.00005", "0.00001", "5e-5"),
        ("0.975", "0.025", "0.975"),
    ],
)
def test_labels(value: str, step: str, text: str) -> None:
    assert label(Decimal(value), Decimal(step)) == text


def test_a_logarithmic_axis_shows_powers_of_ten() -> None:
    axis = make_axis([Decimal("0.002"), Decimal(30)], LENGTH, CHARACTER, log=True)
    assert [text for _, text in axis.ticks] == ["0.001", "0.01", "0.1", "1", "10", "100"]
    assert axis.place(1.0) == pytest.approx(0.6)


def plot(*values: str, log: bool = False, title: str = "fresh") -> Plot:
    lanes = (
        Lane("paper", "paper", "98.9", (Decimal("98.9"),), (Decimal("98.85"), Decimal("98.95"))),
        Lane("fresh", title, "n", tuple(Decimal(value) for value in values)),
    )
    return Plot(lanes, (Decimal("98.5"), Decimal("99.3")), "percent", log, "words")


def circles(svg: str) -> list[tuple[float, float]]:
    return [
        (float(x), float(y))
        for x, y in re.findall(r'<circle class="mark" cx="(.*?)" cy="(.*?)"', svg)
    ]


@given(st.lists(st.decimals(min_value=98, max_value=100, places=3), min_size=1, max_size=12))
def test_dots_do_not_cover_each_other_while_there_are_rows(values: list[Decimal]) -> None:
    svg = render_plot(plot(*map(str, values)), "p")
    assert svg is not None
    ET.fromstring(svg)
    dots = circles(svg)
    assert len(dots) == len(values)
    assert all(0 <= x <= WIDTH for x, _ in dots)
    if len(values) <= 6:
        for index, (x, y) in enumerate(dots):
            for other_x, other_y in dots[index + 1 :]:
                assert abs(x - other_x) >= 8.9 or abs(y - other_y) >= 8.9


def test_values_that_are_no_numbers_are_left_out() -> None:
    svg = render_plot(plot("98", "NaN", "Infinity"), "p")
    assert svg is not None
    assert len(circles(svg)) == 1
    only = Plot(
        (Lane("fresh", "fresh", "", (Decimal("NaN"),)),), None, "", log=False, description=""
    )
    assert render_plot(only, "p") is None


def test_a_long_note_is_cut_and_everything_is_escaped() -> None:
    lane = Lane("fresh", "<b>", "9" * 80, (Decimal(1),))
    svg = render_plot(Plot((lane,), None, "<i>", log=False, description="&"), "p")
    assert svg is not None
    root = ET.fromstring(svg)
    texts = [element.text or "" for element in root.iter("text")]
    assert texts[0] == "<b>"
    assert texts[1].endswith("9…")
    assert len(texts[0] + texts[1]) <= 41
    assert "<i>" in texts
