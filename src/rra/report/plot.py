"""A dot plot of one outcome: what the paper claims, the references, and the new runs."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from decimal import Decimal

from rra.report.axis import Axis, make_axis
from rra.report.markup import Markup, join, tag

WIDTH = 340
_LEFT, _RIGHT = 14, 14
_TITLE = 16
_RADIUS = 4.5
_DOT_ROW = 10
_GAP = 12
_AXIS = 46
_CHARACTER = 7.4
_MAX_ROWS = 6
_LINE = 41


@dataclasses.dataclass(frozen=True, slots=True)
class Lane:
    """One row of the plot.

    Attributes:
        kind: ``paper``, ``documented``, ``references`` or ``fresh``; decides the look.
        title: What it shows.
        note: What stands at the right of the title, such as the value.
        values: Where dots are drawn.
        interval: A bar behind the dots.
    """

    kind: str
    title: str
    note: str
    values: tuple[Decimal, ...]
    interval: tuple[Decimal, Decimal] | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Plot:
    """A plot of one outcome.

    Attributes:
        lanes: Rows from top to bottom.
        band: Values that would agree, drawn through all lanes.
        unit: Unit of the axis; empty for plain numbers.
        log: Whether the axis is logarithmic.
        description: The same in words, for who cannot see it.
    """

    lanes: tuple[Lane, ...]
    band: tuple[Decimal, Decimal] | None
    unit: str
    log: bool
    description: str


def render_plot(plot: Plot, name: str) -> Markup | None:
    """Return the plot as SVG, or None when there is nothing to draw.

    Args:
        plot: What to draw.
        name: Id that is unique in the page.
    """
    numbers = [n for n in _numbers(plot) if n.is_finite()]
    if not numbers:
        return None
    log = plot.log and all(number > 0 for number in numbers)
    axis = make_axis(numbers, WIDTH - _LEFT - _RIGHT, _CHARACTER, log=log)
    parts: list[Markup] = []
    top = 4.0
    for lane in plot.lanes:
        body, height = _lane(lane, axis, top)
        parts.append(body)
        top += height + _GAP
    bottom = top - _GAP + 4
    band = None
    if plot.band:
        left, right = (_x(axis, float(edge)) for edge in plot.band)
        band = _rect(left, 2, max(right - left, 1.5), bottom - 2, "band")
    height = bottom + _AXIS
    return tag(
        "svg",
        tag("title", plot.description, id=f"{name}-title"),
        band,
        *parts,
        _axis(axis, bottom, plot.unit),
        class_="plot",
        viewBox=f"0 0 {WIDTH} {_n(height)}",
        role="img",
        aria_labelledby=f"{name}-title",
    )


def _numbers(plot: Plot) -> list[Decimal]:
    found = list(plot.band or ())
    for lane in plot.lanes:
        found += [*lane.values, *(lane.interval or ())]
    return found


def _lane(lane: Lane, axis: Axis, top: float) -> tuple[Markup, float]:
    """Return a lane and its height: a line of text, then the dots below it."""
    finite = [float(value) for value in lane.values if value.is_finite()]
    places = _spread([_x(axis, value) for value in finite])
    rows = max((row for _, row in places), default=0) + 1
    middle = top + _TITLE + 4
    room = _LINE - len(lane.title)
    note = lane.note if len(lane.note) <= room else f"{lane.note[: room - 1]}…"
    text = [
        tag("text", lane.title, class_="lane", x=str(_LEFT), y=_n(top + 11)),
        tag("text", note, class_="value", x=str(WIDTH - _RIGHT), y=_n(top + 11)),
    ]
    base = middle + (rows - 1) * _DOT_ROW + _RADIUS
    bar = None
    if lane.interval:
        left, right = (_x(axis, float(edge)) for edge in lane.interval)
        bar = _rect(left, middle - 2, max(right - left, 1.5), base - middle + 6, "interval")
    dots = [_mark(lane.kind, x, base - row * _DOT_ROW) for x, row in places]
    group = tag("g", *text, bar, *dots, class_=f"lane-{lane.kind}")
    return group, _TITLE + rows * _DOT_ROW + _RADIUS


def _spread(xs: Sequence[float]) -> list[tuple[float, int]]:
    """Stack dots that would cover each other; the last row takes what is left."""
    ends: list[float] = []
    placed = []
    for x in sorted(xs):
        row = next((r for r, end in enumerate(ends) if x - end >= 2 * _RADIUS), len(ends))
        row = min(row, _MAX_ROWS - 1)
        if row == len(ends):
            ends.append(x)
        ends[row] = x
        placed.append((x, row))
    return placed


def _mark(kind: str, x: float, y: float) -> Markup:
    if kind in {"paper", "documented"}:
        r = _RADIUS + 1
        shape = f"M{_n(x)} {_n(y - r)}L{_n(x + r)} {_n(y)}L{_n(x)} {_n(y + r)}L{_n(x - r)} {_n(y)}Z"
        return tag("path", class_="mark", d=shape)
    return tag("circle", class_="mark", cx=_n(x), cy=_n(y), r=_n(_RADIUS))


def _axis(axis: Axis, top: float, unit: str) -> Markup:
    parts = [
        tag("line", x1=str(_LEFT), y1=_n(top), x2=str(WIDTH - _RIGHT), y2=_n(top), class_="axis")
    ]
    for value, text in axis.ticks:
        x = _x(axis, value)
        half = len(text) * _CHARACTER / 2
        centre = min(max(x, half + 1), WIDTH - half - 1)
        parts += [
            tag("line", x1=_n(x), y1=_n(top), x2=_n(x), y2=_n(top + 5), class_="axis"),
            tag("text", text, class_="tick", x=_n(centre), y=_n(top + 19)),
        ]
    if unit:
        parts.append(tag("text", unit, class_="unit", x=str(WIDTH // 2), y=_n(top + 38)))
    return join(parts)


def _rect(x: float, y: float, width: float, height: float, kind: str) -> Markup:
    return tag("rect", x=_n(x), y=_n(y), width=_n(width), height=_n(height), class_=kind)


def _x(axis: Axis, value: float) -> float:
    return _LEFT + axis.place(value) * (WIDTH - _LEFT - _RIGHT)


def _n(number: float) -> str:
    """Write a coordinate, the same on every machine."""
    return f"{number:.2f}".rstrip("0").rstrip(".")
