"""Every number found in outputs is found again by the selector that is made for it."""

from __future__ import annotations

import json
import pickle
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rra.model import Selector
from rra.values import select
from rra.values.leaves import Leaf, Locator, index_outputs
from rra.values.leaves.index import OutputIndex
from rra.values.leaves.leaf import number_of
from tests.support.lookalikes import write


def index(root: Path, files: Mapping[str, str | bytes]) -> OutputIndex:
    write(root, dict(files))
    return index_outputs(root)


def located(found: OutputIndex) -> dict[str, tuple[Leaf, Locator | None]]:
    """Return leaf and locator by text; the numbers of a test differ from each other."""
    return {leaf.text: (leaf, one.locate(leaf)) for one in found.files for leaf in one.leaves}


def locators(root: Path, files: Mapping[str, str | bytes]) -> dict[str, dict[str, object] | None]:
    """Return the locator of each number, after the real reader has selected with it."""
    found = index(root, files)
    for one in found.files:
        for leaf in one.leaves:
            locator = one.locate(leaf)
            if locator is not None:
                chosen = Selector.model_validate(
                    {"launcher": "main", "file": one.file, **locator.to_json()}
                )
                assert select(root, chosen).value == leaf.value
    return {
        text: None if locator is None else locator.to_json()
        for text, (_, locator) in located(found).items()
    }


def test_json_keeps_literals_and_escapes_pointers(tmp_path: Path) -> None:
    text = '{"a/b": {"~": 0.98760}, "rows": [{"m": "lda", "k": 5, "acc": "98.9%"}], "t": true}'
    assert locators(tmp_path, {"m.json": text}) == {
        "0.98760": {"json": "/a~1b/~0"},
        "5": {"json": "/rows/0/k"},
        "98.9": {"json": "/rows/0/acc"},
    }
    leaf, _ = located(index_outputs(tmp_path))["98.9"]
    assert (leaf.unit, leaf.keys) == ("percent", ("rows", "acc", "lda", "5"))


def test_keys_that_stand_twice_cannot_be_named(tmp_path: Path) -> None:
    text = '{"a": 0.1, "a": 0.2, "b": 0.3, "nan": NaN}'
    assert locators(tmp_path, {"m.json": text}) == {"0.3": {"json": "/b"}}


def test_lines_of_json_are_told_apart_by_their_step(tmp_path: Path) -> None:
    text = '{"step": 10, "acc": 0.5}\n{"step": 20, "acc": 0.6}\n\n{"final": 0.7}\n'
    found = locators(tmp_path, {"log.jsonl": text})
    assert found["0.5"] == {"json": "/acc", "pick": {"at": {"step": "10"}}}
    assert found["0.7"] == {"json": "/final"}
    plain = locators(tmp_path / "b", {"log.jsonl": '{"a": 0.1}\n{"a": 0.2}\n{"a": 0.3}\n'})
    assert plain == {
        "0.1": {"json": "/a", "pick": "first"},
        "0.2": None,
        "0.3": {"json": "/a", "pick": "last"},
    }


def test_rows_of_csv_are_picked_by_text_and_never_by_results(tmp_path: Path) -> None:
    text = "correct,model,k,acc\r\n176,lda,1,0.51\r\n177,lda,2,0.62\r\n170,qda,1,0.73\r\n"
    found = locators(tmp_path, {"t.csv": text})
    assert found["0.51"] == {"csv": {"where": {"model": "lda", "k": "1"}, "column": "acc"}}
    assert found["0.73"] == {"csv": {"where": {"model": "qda"}, "column": "acc"}}
    alike = locators(tmp_path / "b", {"t.tsv": "hits\tacc\n3\t0.1\n4\t0.2\n5\t0.3\n"})
    assert alike["0.2"] == {"csv": {"where": {"hits": "4"}, "column": "acc"}}
    counts = locators(tmp_path / "c", {"t.csv": "acc,hits\n0.1,3\n0.2,4\n0.3,5\n"})
    assert (counts["0.2"], counts["0.3"]) == (None, {"csv": {"column": "acc"}, "pick": "last"})


def test_a_table_without_names_of_columns_is_text(tmp_path: Path) -> None:
    found = locators(tmp_path, {"t.csv": "98.9,0.5\n97.1,0.4\n"})
    assert found["97.1"] is not None
    assert "regex" in found["97.1"]


VALUE = r"(?P<value>[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?|nan|inf)"
LOG = """\
2024-01-31 12:00:01 INFO epoch 1 loss=0.51
2024-01-31 12:00:05 INFO epoch 2 loss=0.43
2024-01-31 12:00:09 INFO test acc: 98.76 %
lda   98.9 %  (176 of 180)
1nn   95.5 %  (170 of 181)
-7.25
"""


def test_patterns_are_short_and_leave_times_and_results_open(tmp_path: Path) -> None:
    found = locators(tmp_path, {"stdout.txt": LOG})
    assert found["98.76"] == {"regex": rf"(?<![^\W_])INFO\s+test\s+acc:\s*{VALUE}"}
    assert found["98.9"] == {"regex": rf"(?<![^\W_])lda\s+{VALUE}"}
    assert found["95.5"] == {"regex": rf"(?<![^\W_])1nn\s+{VALUE}"}
    time = r"[-+\d.:/_eE]+\s+[-+\d.:/_eE]+"
    assert found["0.43"] == {"regex": rf"^{time}\s+INFO\s+epoch\s+2\s+loss={VALUE}"}
    assert found["180"] == {"regex": rf"^lda\s+[-+\d.eE]+\s+%\s+\([-+\d.eE]+\s+of\s+{VALUE}"}
    assert found["-7.25"] == {"regex": rf"^\s*{VALUE}\s*%?\s*$"}
    assert "12" not in found
    assert "00" not in found


def test_words_of_a_line_and_of_the_header_above_name_a_number(tmp_path: Path) -> None:
    report = "           precision  recall\n\n  class a       0.91    0.92\n"
    leaf, _ = located(index(tmp_path, {"stdout.txt": report}))["0.92"]
    assert leaf.keys == ("class a", "recall")
    leaf, _ = located(index(tmp_path / "b", {"stdout.txt": "acc: 0.98 f1: 0.97\n"}))["0.97"]
    assert leaf.keys == ("f1:",)


def test_the_last_state_of_a_progress_bar_is_a_piece_of_its_own(tmp_path: Path) -> None:
    found = locators(tmp_path, {"stdout.txt": "run 1: acc 0.1\rrun 1: acc 0.2\rrun 1: acc 0.3\n"})
    assert found["0.3"] == {"regex": rf"(?<![^\W_])acc\s+{VALUE}", "pick": "last"}


@pytest.mark.clause("security/no-unpickling")
def test_small_arrays_are_indexed_and_pickles_are_not_loaded(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", x=np.array([[0.5, 0.25]]), y=np.float32(0.1), w=np.zeros(10_001))
    np.save(tmp_path / "o.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
    np.save(tmp_path / "z.npy", np.array([3, 4]))
    (tmp_path / "m.pkl").write_bytes(pickle.dumps(0.75))
    assert locators(tmp_path, {}) == {
        "0.5": {"npz": {"key": "x", "index": [0, 0]}},
        "0.25": {"npz": {"key": "x", "index": [0, 1]}},
        "0.1": {"npz": {"key": "y"}},
        "3": {"npz": {"index": 0}},
        "4": {"npz": {"index": 1}},
    }
    reasons = {one.file: one.reason for one in index_outputs(tmp_path).skipped}
    assert set(reasons) == {"a.npz", "m.pkl", "o.npy"}
    assert "never loaded" in reasons["o.npy"]
    assert "never loaded" in reasons["m.pkl"]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.npz", b"PK\x03\x04 not an archive"),
        ("a.npy", b"\x93NUMPY broken"),
        ("a.png", b"\x89PNG\r\n\x1a\n\0\0\0"),
        ("link.txt", None),
    ],
)
def test_what_cannot_be_read_is_named(tmp_path: Path, name: str, content: bytes | None) -> None:
    if content is None:
        (tmp_path / "aim").write_text("no digits", encoding="utf-8")
        (tmp_path / name).symlink_to("aim")
    else:
        (tmp_path / name).write_bytes(content)
    found = index_outputs(tmp_path)
    assert found.count == 0
    assert [one.file for one in found.skipped] == [name]


@pytest.mark.parametrize("text", ['{"a": 0.5', "[" * 100_000, "{'a': 0.5}", "acc 0.5"])
def test_a_broken_json_file_is_text(tmp_path: Path, text: str) -> None:
    found = index(tmp_path, {"m.json": text})
    assert {one.kind for one in found.files} <= {"regex"}


@pytest.mark.parametrize("text", ["", "abc", "nan", "1,5", "True", "12ab", "%", "--1"])
def test_what_is_no_number(text: str) -> None:
    assert number_of(text) is None


KEYS = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=6)
SCALARS = st.one_of(
    st.floats(allow_nan=True, allow_infinity=True), st.integers(-999, 999), st.text(max_size=6)
)
DOCUMENTS = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=40, deadline=None)
@given(DOCUMENTS)
def test_any_json_gives_pointers_that_select(
    tmp_path_factory: pytest.TempPathFactory, document: object
) -> None:
    root = tmp_path_factory.mktemp("json")
    locators(root, {"m.json": json.dumps(document)})


WORDS = st.text(alphabet="ab.*+?()[]{}|\\^$:=_ \t%-/#é中", max_size=8)
NUMBERS = st.one_of(
    st.decimals(-999, 999, places=2).map(str), st.integers(0, 9).map(str), st.just("1.5e-3")
)
LINES = st.lists(st.tuples(WORDS, NUMBERS), min_size=1, max_size=3).map(
    lambda parts: " ".join(f"{word} {number}" for word, number in parts)
)


@settings(max_examples=15, deadline=None)
@given(st.lists(LINES, min_size=1, max_size=4))
def test_any_text_gives_patterns_that_match_only_their_number(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str]
) -> None:
    root = tmp_path_factory.mktemp("text")
    locators(root, {"log.txt": "\n".join(lines)})


CELLS = st.one_of(
    NUMBERS, st.sampled_from(["lda", "qda", "True", "true", "1.0", "1", "", 'a "b"', "x, y"])
)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.lists(CELLS, min_size=3, max_size=3), min_size=1, max_size=5))
def test_any_table_gives_cells_that_select(
    tmp_path_factory: pytest.TempPathFactory, rows: list[list[str]]
) -> None:
    root = tmp_path_factory.mktemp("csv")
    quoted = [",".join('"' + cell.replace('"', '""') + '"' for cell in row) for row in rows]
    locators(root, {"t.csv": "name,seed,value\n" + "\n".join(quoted) + "\n"})
