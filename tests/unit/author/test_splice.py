"""Outcomes are added to a manifest, and everything that stood there stays."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rra._base.yaml import parse_yaml
from rra.author.splice import NewOutcome, open_experiments, splice_outcomes
from rra.errors import UsageError

BODY: dict[str, Any] = {
    "type": "number",
    "reported": "98.9",
    "location": "p.tex:3, row a: b, column 'c'",
    "selector": {
        "launcher": "main",
        "file": "stdout.txt",
        "regex": r"a\s+(?P<value>\d+)",
        "pick": {"at": {"step": "10"}},
    },
}


def new(experiment: str, name: str, body: Mapping[str, Any] = BODY, **more: Any) -> NewOutcome:
    return NewOutcome(experiment, "A title: #1", name, body, **more)


def data(text: str) -> Any:
    return parse_yaml(text, source="rra.yaml").data


def common(first: str, second: str) -> int:
    """Return how many characters two texts have in common at their start."""
    pairs = enumerate(zip(first, second, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(first), len(second)))


def inserted(before: str, after: str) -> str:
    """Return the one stretch that was put in; the rest is the text before, byte for byte."""
    start = common(before, after)
    end = common(before[start:][::-1], after[start:][::-1])
    assert start + end == len(before)
    return after[start : len(after) - end]


BLOCK = """\
# top
rra: "1.0"   # why
experiments:
    t1:   # four spaces
        title: One
        outcomes:
            a: {type: number, reported: "1.0", selector: {launcher: m, file: f, json: /a}}   # a
            # about a, above b
            b:
                type: number   # b

                # more of b
    # about t2
    t2:
        outcomes: {c: {reported: "2"}}
x-end: |
  text
# last
"""


def test_a_block_goes_on_below_its_last_line_and_its_comments() -> None:
    result = splice_outcomes(BLOCK, [new("t1", "z", notes=("found: 1",))])
    assert (
        inserted(BLOCK, result)
        == """\
            z:
              # found: 1
              type: number
              reported: "98.9"
              location: "p.tex:3, row a: b, column 'c'"
              selector:
                launcher: main
                file: stdout.txt
                regex: 'a\\s+(?P<value>\\d+)'
                pick: {at: {step: "10"}}
"""
    )
    lines = result.split("\n")
    assert lines[lines.index("            z:") - 1].strip() == "type: number   # b"
    assert data(result)["experiments"]["t1"]["outcomes"]["z"] == BODY


def test_a_flow_goes_on_behind_its_last_entry() -> None:
    result = splice_outcomes(BLOCK, [new("t2", "z", {"reported": "3", "unit": "%"})])
    assert inserted(BLOCK, result) == ', z: {reported: "3", unit: "%"}'


def test_a_new_experiment_comes_last() -> None:
    result = splice_outcomes(BLOCK, [new("t3", "z"), new("t3", "y"), new("t1", "x")])
    experiments = data(result)["experiments"]
    assert list(experiments) == ["t1", "t2", "t3"]
    assert experiments["t3"] == {"title": "A title: #1", "outcomes": {"z": BODY, "y": BODY}}
    assert list(experiments["t1"]["outcomes"]) == ["a", "b", "x"]
    assert result.index("    t3:") < result.index("x-end")


T1 = "experiments:\n  t1:\n    outcomes:\n      a:"
DOCUMENTS = {
    "block": BLOCK,
    "no end of line": T1 + " {b: c}",
    "comment at the end": T1 + " 1 # x",
    "carriage returns": BLOCK.replace("\n", "\r\n"),
    "block text last": T1 + "\n        b: |+\n          hi\n\n\n",
    "folded text last": T1 + " >-\n          hi\n          du\n\n#e\n",
    "plain text of two lines": T1 + " b\n        c\n\n\nx: 1\n",
    "quoted text of two lines": "experiments:\n t1:\n  outcomes:\n   a: 'b\n     # c'  # d\nx: 1\n",
    "list last": T1 + "\n        - b\n        - c: d\n...\n",
    "nothing last": T1 + "\nx: 1\n",
    "nothing behind a comment": T1 + "\n        b:  # c\n        # d\nx: 1\n",
    "flow over lines": "experiments: {\n t1: {\n  outcomes: {\n   a: {b: c},  # x\n  },\n },\n}\n",
    "empty flow": "experiments:\n  t1:\n    outcomes: {}\n",
    "empty flow with a comment": "experiments:\n  t1:\n    outcomes: { # none\n     }\n",
    "tags": "%YAML 1.2\n---\nexperiments: !!map\n  t1:\n    outcomes: !!map {a: 1}\n",
    "explicit keys": T1 + " 1\n  ? t2\n  : {outcomes: {b: 1}}\n",
    "aliases inside": "x: &x {b: c}\n" + T1 + " *x\ny: 1\n",
    "json": json.dumps({"experiments": {"t1": {"outcomes": {"a": {"b": "c"}}}}}),
    "json over lines": json.dumps(
        {"experiments": {"t1": {"outcomes": {"a": {}}}}, "x": 1}, indent=2
    ),
    "quoted keys": '"experiments":\n  "t1":\n    "outcomes":\n      "a": 1\n',
    "not ascii": "# ünï\nx: 中\n" + T1 + " 😀\n# 😀\n",
    "deeper comments": T1 + " 1\n        # of a\n      # of t1\nx: 1\n",
}


@pytest.mark.parametrize("name", DOCUMENTS)
@pytest.mark.parametrize("experiment", ["t1", "new"])
def test_every_style_is_kept(name: str, experiment: str) -> None:
    text = DOCUMENTS[name]
    result = splice_outcomes(text, [new(experiment, "z")])
    added = inserted(text, result)
    found = data(result)["experiments"]
    assert found[experiment]["outcomes"].pop("z") == BODY
    if experiment == "new":
        del found["new"]
    assert found == data(text)["experiments"]
    assert ("\r" in added) == ("\r" in text)
    if name.startswith("json"):
        assert json.loads(result)["experiments"][experiment]["outcomes"]["z"] == BODY


@pytest.mark.parametrize(
    "text",
    [
        "x: &x {t1: {outcomes: {a: 1}}}\nexperiments: *x\n",
        "experiments: &x {t1: {outcomes: {a: 1}}}\ny: *x\n",
        "experiments:\n  t1: &x {outcomes: {a: 1}}\n  t2: *x\n",
        "experiments:\n  t1:\n    outcomes: &x\n      a: 1\n  t2:\n    outcomes: *x\n",
        "experiments: []\n",
        "a: 1\n",
        "experiments:\n  t1:\n    outcomes:\n      a: |+\n        hi",
    ],
)
def test_what_is_shared_or_no_map_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="nothing can be added to") as refused:
        splice_outcomes(text, [new("t1", "z")])
    assert refused.value.hint


def test_only_plain_experiments_are_open() -> None:
    text = (
        "experiments:\n  a: {outcomes: {x: 1}}\n  b: &b {outcomes: {x: 1}}\n  c: *b\n"
        "  d: {table: {reported: t.csv}}\n  e: {outcomes: &e {}}\n"
    )
    assert open_experiments(text) == {"a"}


@st.composite
def values(draw: st.DrawFn, depth: int) -> list[str]:
    """Return the lines of a value: the first goes behind the key, the others below it."""
    pad = " " * depth
    comment = draw(st.sampled_from(["", " # c", "  # a: b", " # {"]))
    style = draw(st.sampled_from(["|", ">", "|-", ">+", "|+"]))
    blank = [""] * draw(st.integers(0, 2))
    text = [f" {style}", f"{pad}line # no comment", f"{pad}more", *blank]
    items = [f"{pad}- {item}" for item in ("a", "{b: c}", '"d"')]
    deep = draw(st.sampled_from([[], [f"{pad}# deep"]]))
    flat = ["abc", "1.0", "a b", "x#y", '"# :"', "'{'", "{}", "[1, {b: c}, ]", "{a: {b: [c]}, }"]
    return draw(
        st.sampled_from(
            [
                *([f" {one}{comment}"] for one in flat),
                text,
                [comment, *items],
                [comment],
                [comment, f"{pad}k: v{comment}", *deep],
                [comment, f"{pad}k:{comment}", *deep],
            ]
        )
    )


@st.composite
def manifests(draw: st.DrawFn) -> str:
    lines = ["# head", "x-first: 1", "experiments:" + draw(st.sampled_from(["", "  # c"]))]
    step = draw(st.integers(1, 4))
    for experiment in range(draw(st.integers(1, 3))):
        pad = " " * step
        lines += draw(st.sampled_from([[], [""], [f"{pad}# about"], ["# left"]]))
        lines.append(f"{pad}e{experiment}:")
        pad += " " * step
        lines.append(f"{pad}outcomes:")
        pad += " " * step
        for outcome in range(draw(st.integers(1, 3))):
            first, *more = draw(values(len(pad) + step))
            lines += [f"{pad}o{outcome}:{first}", *more]
            lines += draw(st.sampled_from([[], [""], [f"{pad} # deeper"], [f"{pad}# same"]]))
    lines += draw(st.sampled_from([[], ["x-last: 2"], ["...", "# end"], ["", "", "# end"]]))
    end = draw(st.sampled_from(["\n", "\r\n"]))
    return end.join(lines) + draw(st.sampled_from(["", end, end * 3]))


@settings(max_examples=150, deadline=None)
@given(manifests(), st.sampled_from(["e0", "e1", "e2", "fresh"]))
def test_any_manifest_keeps_every_byte_and_every_value(text: str, experiment: str) -> None:
    before = data(text)
    try:
        result = splice_outcomes(text, [new(experiment, "added", notes=("a note",))])
    except UsageError:
        # a text that keeps its line ends, at the very end of the file, without one
        assert not text.endswith("\n")
        return
    inserted(text, result)
    after = data(result)
    assert after["experiments"][experiment]["outcomes"].pop("added") == BODY
    if experiment not in before["experiments"]:
        del after["experiments"][experiment]
    assert json.dumps(after) == json.dumps(before)
