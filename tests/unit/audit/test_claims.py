"""Reported numbers in outputs: where they are found, what speaks for it, and by what chance."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rra.audit.claim_chance import DECOYS, ValueIndex, chance, decoys, p_value
from rra.audit.claim_labels import FULL, PART, LabelIndex, words
from rra.audit.claim_readings import readings
from rra.audit.claim_runs import SearchedRun, searched_runs
from rra.audit.claims import Claim, ClaimMatches, find_claims
from rra.values import ReportedNumber, rounds_to, truncates_to
from rra.values.leaves import Leaf, index_outputs
from tests.support.artifacts import make_artifact, manifest, record_run
from tests.support.lookalikes import write


def run(root: Path, files: Mapping[str, str | bytes], launcher: str = "main") -> SearchedRun:
    write(root, dict(files))
    return SearchedRun(launcher, f"sha256:{'0' * 64}", root, (launcher,), index_outputs(root))


def claim(
    text: str, unit: str | None = None, row: str = "", column: str = "", table: str = "t"
) -> Claim:
    return Claim(ReportedNumber.parse(text), unit, row, column, table)


def places(found: ClaimMatches) -> list[str]:
    return [f"{match.file.file} {match.leaf.text}" for match in found.matches]


# ------------------------------------------------------------------------------------- labels


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("1-NN", "1nn"),
        ("Accuracy (%)", "acc"),
        ("ResNet-50", "resnet50"),
        ("ROC AUC", "auroc"),
        ("F1 score", "f1"),
        ("Errors", "err"),
        ("(%)", "%"),
    ],
)
def test_labels_and_keys_are_cut_alike(first: str, second: str) -> None:
    assert words(first) == words(second)


def test_a_label_is_named_in_full_in_part_or_not() -> None:
    index = LabelIndex([("lda", "accuracy"), ("lda", "z"), ("qda",), ("1nn", "transformed")])
    assert index.scores("LDA") == {0: FULL, 1: FULL}
    assert index.scores("1-NN, z-transformed") == {3: PART}
    assert index.scores("Transformed 1-NN") == {3: FULL}
    assert index.scores("LDA and QDA") == {0: PART, 1: PART, 2: PART}
    assert index.scores("ours") == {}
    assert LabelIndex([("knn",), ("k",)]).scores("k-NN") == {0: FULL, 1: PART}
    camel = LabelIndex([("testAccuracy",), ("ResNet50",)])
    assert camel.scores("test acc") == {0: FULL}
    assert camel.scores("ResNet-50") == camel.scores("resnet50") == {1: FULL}


# ------------------------------------------------------------------------------------- chance


@pytest.mark.parametrize(
    ("text", "unit", "count", "low", "high"),
    [
        ("98.9", "percent", 200, "49.4", "100"),
        ("0.989", None, 200, "0.494", "1"),
        ("-3.25", None, 200, "-6.5", "-1.62"),
        ("7", None, 17, "0", "17"),
        ("50.0", "percent", 75, "25", "100"),
        ("100.0", "percent", 10, "0", "90"),
        ("0.0", None, 10, "0.1", "1"),
        ("1.2e-3", None, 22, "0.0002", "0.0024"),
    ],
)
def test_decoys_have_the_form_of_the_number(
    text: str, unit: str | None, count: int, low: str, high: str
) -> None:
    reported = ReportedNumber.parse(text)
    found = decoys(reported, unit)
    values = [decoy.value for decoy in found]
    assert len(set(values)) == len(values) == count
    assert reported.value not in values
    assert Decimal(low) <= min(values)
    assert max(values) <= Decimal(high)
    assert {decoy.decimals for decoy in found} == {reported.decimals}
    assert decoys(reported, unit) == found


@given(st.decimals(-(10**6), 10**6, places=3).map(str), st.sampled_from([None, "percent", "s"]))
def test_there_are_always_decoys_and_never_too_many(text: str, unit: str | None) -> None:
    reported = ReportedNumber.parse(text)
    found = decoys(reported, unit)
    assert 1 <= len(found) <= DECOYS
    assert all(decoy.value != reported.value for decoy in found)


def test_p_counts_the_number_itself() -> None:
    assert p_value(0, 200) == 1 / 201
    assert p_value(9, 9) == 1


def test_two_digits_are_found_by_chance_and_four_are_not() -> None:
    generator = random.Random(1)  # numbers of a study that have nothing to do with the claim
    values = ValueIndex(Decimal(f"{generator.random():.6f}") for _ in range(100))
    two, four = ReportedNumber.parse("0.83"), ReportedNumber.parse("0.8312")
    p_two = p_value(*chance(decoys(two), values))
    p_four = p_value(*chance(decoys(four), values))
    assert 0.4 < p_two < 0.9
    assert p_four < 0.05


# ----------------------------------------------------------------------------------- readings


@pytest.mark.parametrize(
    ("text", "leaf_unit", "field", "unit", "expected"),
    [
        ("0.989", None, "acc", "percent", {"0.989": "percent", "98.9": "fraction"}),
        ("98.9", None, "acc", "percent", {"98.9": "percent"}),
        ("98.9", "percent", "acc", "percent", {"98.9": "percent"}),
        ("98.9", "s", "acc", "percent", {}),
        ("98.9", "percent", "acc", None, {"98.9": None, "0.989": "percent"}),
        ("98.9", None, "acc", "fraction", {"98.9": "fraction", "0.989": "percent"}),
        ("1234", None, "time_ms", "s", {"1.234": "ms"}),
        ("1234", "ms", "time", "s", {"1.234": "ms"}),
        ("1.5", None, "time", "s", {"1.5": None}),
        ("1.5", None, "m", "s", {"1.5": None}),
        ("2", None, "hours", "s", {"7200": "hours"}),
        ("98.9", None, "acc", None, {"98.9": None}),
    ],
)
def test_scales_need_units(
    text: str, leaf_unit: str | None, field: str, unit: str | None, expected: dict[str, str | None]
) -> None:
    leaf = Leaf(Decimal(text), text, leaf_unit, None, (), "", field, ())
    found = {format(one.value.normalize(), "f"): one.unit for one in readings(leaf, unit)}
    assert found == expected


# ------------------------------------------------------------------------------------- search


METRICS = json.dumps(
    {
        "lda": {"accuracy": 0.98876, "correct": 176},
        "qda": {"accuracy": 0.99438, "correct": 177},
        "1nn": {"accuracy": 0.95506, "correct": 170},
    }
)


def test_the_place_that_is_named_comes_first(tmp_path: Path) -> None:
    outputs = {"metrics.json": METRICS, "stdout.txt": "lda 98.9 %\nbest 98.9 %\n"}
    asked = claim("98.9", "percent", "LDA", "accuracy")
    (found,) = find_claims([asked], [run(tmp_path, outputs)])
    assert places(found) == ["metrics.json 0.98876", "stdout.txt 98.9", "stdout.txt 98.9"]
    best = found.matches[0]
    assert (best.row, best.column, best.p, best.reading.unit) == (FULL, FULL, 1 / 201, "fraction")
    assert found.rivals == ()


def test_two_places_that_are_named_alike_are_rivals(tmp_path: Path) -> None:
    text = json.dumps({"a": {"acc": 0.9123}, "b": {"acc": 0.9123}})
    (found,) = find_claims(
        [claim("0.9123", None, "ours", "acc")], [run(tmp_path, {"m.json": text})]
    )
    assert len(found.rivals) == 1
    (told,) = find_claims([claim("0.9123", None, "b", "acc")], [run(tmp_path, {"m.json": text})])
    assert told.rivals == ()
    assert told.matches[0].leaf.keys == ("b", "acc")


def test_copies_in_other_files_are_no_rivals_and_other_runs_are(tmp_path: Path) -> None:
    files = {"m.json": '{"acc": 0.9123}', "t.csv": "model,acc\nx,0.912\n"}
    one = run(tmp_path / "a", files)
    (copies,) = find_claims([claim("0.912", None, "", "acc")], [one])
    assert (len(copies.matches), copies.rivals) == (2, ())
    two = run(tmp_path / "b", files, "other")
    (found,) = find_claims([claim("0.912", None, "", "acc")], [one, two])
    assert len(found.rivals) == 3
    (named,) = find_claims([claim("0.912", None, "other", "acc")], [one, two])
    assert named.matches[0].run.launcher == "other"
    assert named.rivals == ()


def test_rounding_counts_and_cutting_is_told_apart(tmp_path: Path) -> None:
    searched = run(tmp_path, {"m.json": '{"a": 0.98876, "half": 0.125}'})
    asked = [claim("98.9", "percent"), claim("98.8", "percent"), claim("98.7", "percent")]
    rounded, cut, wrong = find_claims(asked, [searched])
    assert [match.truncated for match in rounded.matches] == [False]
    assert [match.truncated for match in cut.matches] == [True]
    assert wrong.matches == ()
    both = find_claims([claim("0.12"), claim("0.13")], [searched])
    assert [found.total for found in both] == [1, 1]  # half to even, half up


def test_a_share_is_not_a_whole_number(tmp_path: Path) -> None:
    searched = run(tmp_path, {"stdout.txt": "acc 98.9 %\n"})
    whole, share = find_claims([claim("1"), claim("0.99")], [searched])
    assert whole.matches == ()
    assert share.matches[0].reading.reported_unit == "fraction"


def test_neighbours_in_the_table_break_a_tie(tmp_path: Path) -> None:
    text = json.dumps({"x": {"s": 0.81, "t": 0.55}, "y": {"s": 0.81, "t": 0.66}})
    asked = [claim("0.81", None, "first", "p"), claim("0.66", None, "first", "q")]
    found, _ = find_claims(asked, [run(tmp_path, {"m.json": text})])
    assert [match.leaf.keys[0] for match in found.matches] == ["y", "x"]
    assert [match.support for match in found.matches] == [1.0, 0.0]


def test_names_make_a_match_less_likely_by_chance(tmp_path: Path) -> None:
    generator = random.Random(2)
    noise = {f"loss{i}": round(generator.random(), 4) for i in range(300)}
    text = json.dumps({"log": noise, "lda": {"accuracy": 0.83}})
    (found,) = find_claims(
        [claim("0.83", None, "LDA", "accuracy")], [run(tmp_path, {"m.json": text})]
    )
    best = found.matches[0]
    assert best.leaf.keys == ("lda", "accuracy")
    assert found.p_anywhere > 0.9
    assert best.p < 0.02
    assert len(found.matches) > 1


def test_nothing_in_nothing(tmp_path: Path) -> None:
    (found,) = find_claims([claim("0.5")], [run(tmp_path, {"a.txt": "no digits\n"})])
    assert (found.matches, found.total, found.anywhere) == ((), 0, 0)
    assert find_claims([], []) == []


def test_the_search_is_the_same_every_time(tmp_path: Path) -> None:
    searched = [run(tmp_path, {"m.json": METRICS, "stdout.txt": "a 0.5\nb 0.5\n"})]
    asked = [claim("98.9", "percent", "LDA"), claim("0.5"), claim("177")]
    assert find_claims(asked, searched) == find_claims(asked, searched)


# --------------------------------------------------------------------------------------- runs


def test_the_newest_successful_run_is_searched(tmp_path: Path) -> None:
    artifact = make_artifact(tmp_path, {"main.py": "print('{\"accuracy\": 0.5}')\n"})
    record_run(artifact)
    (tmp_path / "code" / "main.py").write_text("print('{\"accuracy\": 0.75}')\n", "utf-8")
    record_run(artifact)
    (tmp_path / "code" / "main.py").write_text("raise SystemExit(1)\n", "utf-8")
    assert not record_run(artifact).ok
    (found,), problems = searched_runs(artifact)
    assert problems == []
    numbers = [leaf.text for file in found.index.files for leaf in file.leaves]
    assert numbers == ["0.75"]


def test_an_output_that_was_changed_after_the_run_is_not_searched(tmp_path: Path) -> None:
    artifact = make_artifact(tmp_path, {"main.py": "print('{\"accuracy\": 0.5}')\n"})
    result = record_run(artifact)
    assert result.evidence_dir is not None
    target = result.evidence_dir / "outputs" / "metrics.json"
    target.chmod(0o644)
    target.write_text('{"accuracy": 0.989}', encoding="utf-8")
    (found,), _ = searched_runs(artifact)
    assert found.index.count == 0
    assert "changed after the run" in found.index.skipped[-1].reason


def test_launchers_without_a_run_are_named(tmp_path: Path) -> None:
    launchers = manifest()["launchers"]
    launchers["second"] = dict(launchers["main"])
    artifact = make_artifact(tmp_path, {"main.py": "pass\n"}, launchers=launchers)
    runs, problems = searched_runs(artifact)
    assert runs == []
    assert [(p.path, p.hint) for p in problems] == [
        ("evidence/main", "record one with: rra run main"),
        ("evidence/second", "record one with: rra run second"),
    ]


@given(
    values=st.lists(st.decimals(-5, 5, places=3), max_size=6),
    text=st.decimals(-5, 5, places=2).map(str),
    truncated=st.booleans(),
)
def test_the_index_agrees_with_the_definition(
    *, values: list[Decimal], text: str, truncated: bool
) -> None:
    reported = ReportedNumber.parse(text)
    wanted = any(
        rounds_to(value, reported) or (truncated and truncates_to(value, reported))
        for value in values
    )
    assert ValueIndex(values).has(reported, truncated=truncated) == wanted
