"""Repairs that contradict themselves, or each other."""

from __future__ import annotations

from typing import get_args

import pytest

from rra._base.yaml import parse_yaml
from rra.artifact.semantics import check_semantics
from rra.model import RepairCategory, ResultEffect

ONE, OTHER = "sha256:" + "1" * 64, "sha256:" + "2" * 64
Found = list[tuple[str, str, str]]


def entry(name: str, more: str = "", *, category: str = "path", effect: str = "none") -> str:
    patch = "" if "patch:" in more else f", patch: guide/repairs/{name}.patch"
    return (
        f"'{name}': {{title: t, symptom: s, cause: c, category: {category},"
        f" effect_on_results: {effect}, rationale: r{patch}{more}}}\n"
    )


def found(text: str) -> Found:
    problems = check_semantics(parse_yaml(text, source="repairs.yaml"), "repairs")
    return [(one.clause, one.pointer, one.severity) for one in problems]


def test_repairs_in_order_are_in_order() -> None:
    assert found(entry("0000-a") + entry("0001-b") + entry("0002") + entry("0010-c")) == []


@pytest.mark.clause("repairs/listed-in-order")
def test_the_order_of_the_list_is_a_wish_and_the_number_is_not() -> None:
    assert found(entry("0002-b") + entry("0001-a")) == [
        ("repairs/listed-in-order", "/0001-a", "warning")
    ]
    assert found(entry("0001-a") + entry("0001-b")) == [("repairs/number-once", "/0001-b", "error")]


def test_each_repair_has_a_patch_with_its_number() -> None:
    shared = ", patch: guide/repairs/0001-a.patch"
    assert found(entry("0001-a") + entry("0002-b", shared)) == [
        ("repairs/patch-number", "/0002-b/patch", "error"),
    ]


@pytest.mark.parametrize("effect", get_args(ResultEffect))
@pytest.mark.parametrize("category", get_args(RepairCategory))
def test_which_effects_a_category_can_have(category: str, effect: str) -> None:
    wanted = []
    if category in {"path", "packaging", "capture"} and effect == "changes":
        wanted = ["repairs/neutral-categories"]
    if (category, effect) == ("protocol", "none"):
        wanted = ["repairs/protocol-has-effect"]
    text = entry("0001-a", category=category, effect=effect)
    assert [clause for clause, _, _ in found(text)] == wanted


@pytest.mark.parametrize(
    ("more", "wanted"),
    [
        (f", before: '{ONE}', after: '{OTHER}', verified: true", []),
        (f", before: '{ONE}', verified: false", []),
        (f", before: '{ONE}', after: '{ONE}'", ["repairs/before-is-not-after"]),
        (f", before: '{ONE}', verified: true", ["repairs/verified-names-a-run"]),
    ],
)
def test_runs_of_a_repair(more: str, wanted: list[str]) -> None:
    assert [clause for clause, _, _ in found(entry("0001-a", more))] == wanted
