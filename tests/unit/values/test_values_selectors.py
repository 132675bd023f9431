from __future__ import annotations

import hashlib
import json
import pickle
import zipfile
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from rra.errors import SelectError, UnsafePathError
from rra.model import Outcome, Selector
from rra.values import selectors
from rra.values.readers import regex_lines
from rra.values.selectors import OutcomeType, Selected, select, select_outcome


def selector(file: str, **fields: Any) -> Selector:
    return Selector.model_validate({"launcher": "lda", "file": file, **fields})


def write(directory: Path, name: str, content: str | bytes) -> Path:
    path = directory / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def refused(directory: Path, chosen: Selector, outcome_type: OutcomeType = "number") -> SelectError:
    with pytest.raises(SelectError) as caught:
        select(directory, chosen, outcome_type)
    return caught.value


METRICS = """\
{
  "model": "LDA",
  "accuracy": 0.98876404494382020,
  "scores": {"per/class": [0.9, 1.50, 1e-3], "n~items": 178},
  "labels": ["a", "B"],
  "ok": true, "nothing": null, "bad": NaN
}
"""


@pytest.mark.parametrize(
    ("pointer", "text", "line"),
    [
        ("/accuracy", "0.98876404494382020", 3),
        ("/scores/per~1class/1", "1.50", 4),
        ("/scores/per~1class/2", "1e-3", 4),
        ("/scores/n~0items", "178", 4),
    ],
)
@pytest.mark.clause("selector/digits-survive")
def test_json_keeps_the_literal_and_finds_the_line(
    tmp_path: Path, pointer: str, text: str, line: int
) -> None:
    content = write(tmp_path, "metrics.json", METRICS).read_bytes()
    found = select(tmp_path, selector("metrics.json", json=pointer))
    digest = "sha256:" + hashlib.sha256(content).hexdigest()
    assert found == Selected(Decimal(text), text, "metrics.json", digest, pointer, line, 1)
    assert str(found.value) == str(Decimal(text))


def test_json_types(tmp_path: Path) -> None:
    write(tmp_path, "metrics.json", METRICS)
    assert select(tmp_path, selector("metrics.json", json="/model"), "category").value == "LDA"
    assert select(tmp_path, selector("metrics.json", json="/ok"), "category").value == "true"
    assert select(tmp_path, selector("metrics.json", json="/labels"), "list").value == ("a", "B")
    not_a_number = select(tmp_path, selector("metrics.json", json="/bad")).value
    assert isinstance(not_a_number, Decimal)
    assert not_a_number.is_nan()


@pytest.mark.parametrize(
    ("pointer", "said", "hint"),
    [
        ("/acuracy", "metrics.json has no '/acuracy'", "did you mean /accuracy?"),
        ("/scores/n_items", "/scores has no key 'n_items'", "/scores/n~0items"),
        ("/labels/2", "/labels is a list of 2", "start at 0"),
        ("/labels/01", "/labels is a list of 2", "start at 0"),
        ("/model/x", "/model is the text 'LDA'", "/accuracy"),
        ("/scores", "/scores is an object, not a value", "/scores/n~0items"),
        ("/nothing", "/nothing is null, not a value", ""),
        ("/model", "metrics.json:2: /model: 'LDA' is not a number", ""),
        ("/ok", "'true' is not a number", ""),
        ("/labels", "is a list of 2, not a number", "name one element"),
    ],
)
def test_json_says_what_there_is_instead(
    tmp_path: Path, pointer: str, said: str, hint: str
) -> None:
    write(tmp_path, "metrics.json", METRICS)
    error = refused(tmp_path, selector("metrics.json", json=pointer))
    assert said in str(error)
    assert hint in error.hint


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ('{"a": 1', "m.json:1:8: not valid JSON"),
        ("", "m.json:1:1: not valid JSON"),
        ('{"a": 1, "a": 2}', "the key 'a' stands twice"),
        (b'{"a": "\xff"}', "not UTF-8"),
        ("[" * 200_000, "nested too deeply"),
        ('{"a": "1,5"}', "'1,5' is ambiguous"),
    ],
)
def test_json_that_is_not_usable(tmp_path: Path, content: str | bytes, said: str) -> None:
    write(tmp_path, "m.json", content)
    assert said in str(refused(tmp_path, selector("m.json", json="/a")))


LINES = (
    '{"step": 1, "acc": 0.5}\n{"note": "x"}\n{"step": 2, "acc": 0.75}\n{"step": 3, "acc": 0.7}\n'
)


@pytest.mark.parametrize(
    ("pick", "text", "line"),
    [
        ("first", "0.5", 1),
        ("last", "0.7", 4),
        ("max", "0.75", 3),
        ("min", "0.5", 1),
        ({"at": {"step": 2}}, "0.75", 3),
    ],
)
def test_json_lines_and_pick(tmp_path: Path, pick: Any, text: str, line: int) -> None:
    write(tmp_path, "log.jsonl", LINES)
    found = select(tmp_path, selector("log.jsonl", json="/acc", pick=pick))
    assert (found.text, found.line, found.candidates) == (text, line, 3)


@pytest.mark.clause("selector/no-silent-choice")
def test_two_matches_are_an_error_that_shows_them(tmp_path: Path) -> None:
    write(tmp_path, "log.jsonl", LINES)
    error = refused(tmp_path, selector("log.jsonl", json="/acc"))
    assert "3 places match in log.jsonl" in str(error)
    assert "log.jsonl:3 (/acc): 0.75" in str(error)
    assert "pick: last" in error.hint


def test_a_step_that_is_not_there_names_those_that_are(tmp_path: Path) -> None:
    write(tmp_path, "log.jsonl", LINES)
    error = refused(tmp_path, selector("log.jsonl", json="/acc", pick={"at": {"step": 9}}))
    assert "no match at step 9" in str(error)
    assert "step 1, step 2, step 3" in error.hint


TABLE = "model,split,accuracy\nLDA,test,0.989\nQDA,test,0.994\nLDA,train,1.0\n"


@pytest.mark.parametrize("delimiter", [",", "\t", ";", "|"])
def test_csv_by_where_and_column(tmp_path: Path, delimiter: str) -> None:
    write(tmp_path, "r.csv", "\ufeff" + TABLE.replace(",", delimiter))
    locator = {"where": {"model": "LDA", "split": "test"}, "column": "accuracy"}
    found = select(tmp_path, selector("r.csv", csv=locator))
    assert (found.text, found.line, found.place) == ("0.989", 2, "row 1, column accuracy")


def test_csv_compares_numbers_as_numbers(tmp_path: Path) -> None:
    write(tmp_path, "r.csv", "fold,acc\n1.0,0.5\n2.0,0.6\n")
    found = select(tmp_path, selector("r.csv", csv={"where": {"fold": 2}, "column": "acc"}))
    assert found.text == "0.6"


def test_csv_column_as_a_list(tmp_path: Path) -> None:
    write(tmp_path, "r.csv", TABLE)
    locator = {"where": {"split": "test"}, "column": "model"}
    assert select(tmp_path, selector("r.csv", csv=locator), "list").value == ("LDA", "QDA")


@pytest.mark.parametrize(
    ("content", "locator", "said", "hint"),
    [
        (TABLE, {"column": "acuracy"}, "no column 'acuracy'", "did you mean accuracy?"),
        (TABLE, {"column": "accuracy", "where": {"model": "KNN"}}, "no row with", "model=LDA"),
        (TABLE, {"column": "accuracy", "where": {"model": "LDA"}}, "2 places match", "pick"),
        ("a,a\n1,2\n", {"column": "a"}, "the column 'a' more than once", ""),
        ("a,b\n1\n", {"column": "b"}, "r.csv:2: the row has 1 of 2 cells", "whole file"),
        ("a,b\n", {"column": "b"}, "r.csv has no rows", ""),
        ("", {"column": "b"}, "r.csv is empty", ""),
        ("a;b\n1;98,9\n", {"column": "b"}, "'98,9' is ambiguous", ""),
    ],
)
def test_csv_says_what_there_is_instead(
    tmp_path: Path, content: str, locator: dict[str, Any], said: str, hint: str
) -> None:
    write(tmp_path, "r.csv", content)
    error = refused(tmp_path, selector("r.csv", csv=locator))
    assert said in str(error)
    assert hint in error.hint


LOG = b"start\nepoch 1 acc=0.5\nepoch 2 acc=0.75\r\nprogress 1%\rprogress 100% final 98.9\n\xff\n"


def test_regex_finds_line_and_value(tmp_path: Path) -> None:
    write(tmp_path, "stdout.txt", LOG)
    found = select(tmp_path, selector("stdout.txt", regex=r"^epoch 2 acc=(?P<value>[\d.]+)$"))
    assert (found.text, found.line, found.place) == ("0.75", 3, "line 3")
    found = select(
        tmp_path, selector("stdout.txt", regex=r"^progress 100% final (?P<value>[\d.]+)")
    )
    assert (found.text, found.line) == ("98.9", 4)


def test_regex_picks_by_another_group(tmp_path: Path) -> None:
    write(tmp_path, "stdout.txt", LOG)
    pattern = r"epoch (?P<step>\d+) acc=(?P<value>[\d.]+)"
    found = select(tmp_path, selector("stdout.txt", regex=pattern, pick={"at": {"step": 1}}))
    assert (found.text, found.candidates) == ("0.5", 2)


def test_regex_over_several_lines(tmp_path: Path) -> None:
    write(tmp_path, "stdout.txt", "Accuracy:\n  98.9\nLoss:\n  0.1\n")
    found = select(tmp_path, selector("stdout.txt", regex=r"Accuracy:\n\s+(?P<value>[\d.]+)"))
    assert (found.text, found.line) == ("98.9", 2)


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        (r"acc: (?P<value>\d+)", "nothing in stdout.txt matches"),
        (r"acc=([\d.]+)", "has no group named 'value'"),
        (r"(?P<value>[", "is not a regular expression"),
        (r"acc=(?P<value>[\d.]+)", "2 places match in stdout.txt: stdout.txt:2 (line 2): 0.5"),
        (r"(?P<value>start)", "'start' is not a number"),
    ],
)
def test_regex_that_does_not_give_one_number(tmp_path: Path, pattern: str, said: str) -> None:
    write(tmp_path, "stdout.txt", LOG)
    assert said in str(refused(tmp_path, selector("stdout.txt", regex=pattern)))


@pytest.mark.clause("selector/pattern-is-bounded")
def test_a_pattern_that_never_ends_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(regex_lines, "SECONDS", 1.0)
    write(tmp_path, "stdout.txt", "a" * 60 + "!\n")
    error = refused(tmp_path, selector("stdout.txt", regex=r"(?P<value>(a+)+)$"))
    assert "did not finish on stdout.txt within 1 s" in str(error)


def test_a_long_log_is_read(tmp_path: Path) -> None:
    line = b"iteration loss=0.123 and some words to make the line longer\n"
    write(tmp_path, "stdout.txt", line * 200_000 + b"accuracy 98.9\n")
    found = select(tmp_path, selector("stdout.txt", regex=r"^accuracy (?P<value>[\d.]+)"))
    assert (found.text, found.line) == ("98.9", 200_001)


def test_a_value_behind_what_was_kept_of_a_stream_is_said_to_be_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(selectors, "KEPT_BYTES", 1 << 20)
    kept = b"v 1\n" * (1 << 18)
    write(tmp_path, "stdout.txt", kept)
    write(tmp_path, "log.txt", kept)
    lost = refused(tmp_path, selector("stdout.txt", regex=r"^w (?P<value>\d)"))
    assert "nothing in stdout.txt matches" in lost.message
    assert "; only the first 1 MiB of what the run printed were kept" in lost.message
    assert "into a file of its own" in lost.hint
    last = refused(tmp_path, selector("stdout.txt", regex=r"^v (?P<value>\d)", pick="last"))
    assert "`pick: last` needs all matches; only the first 1 MiB" in last.message
    other = refused(tmp_path, selector("log.txt", regex=r"^w (?P<value>\d)"))
    assert "kept" not in other.message
    write(tmp_path, "stdout.txt", b"v 7\n" + b"x" * ((1 << 20) - 4))
    assert select(tmp_path, selector("stdout.txt", regex=r"^v (?P<value>\d)")).text == "7"


def test_npz_element(tmp_path: Path) -> None:
    np.savez(
        tmp_path / "r.npz",
        acc=np.array([[0.1, 0.2], [0.3, 0.98876404494382]]),
        single=np.float32(0.95505618),
        names=np.array(["a", "b"]),
    )
    found = select(tmp_path, selector("r.npz", npz={"key": "acc", "index": [1, 1]}))
    assert (found.text, found.place, found.line) == ("0.98876404494382", "acc[1, 1]", None)
    single = select(tmp_path, selector("r.npz", npz={"key": "single"}))
    assert single.text == "0.9550562"  # the fewest digits that give this 32-bit number
    names = select(tmp_path, selector("r.npz", npz={"key": "names"}), "list")
    assert names.value == ("a", "b")


def test_npy_element(tmp_path: Path) -> None:
    np.save(tmp_path / "r.npy", np.array([1, 2, 3]))
    assert select(tmp_path, selector("r.npy", npz={"index": -1})).value == Decimal(3)


@pytest.mark.parametrize(
    ("locator", "said", "hint"),
    [
        ({"key": "acuracy"}, "r.npz has no array 'acuracy'", "did you mean accuracy?"),
        ({}, "names no `key`", "accuracy"),
        ({"key": "accuracy"}, "shape (2, 2) and the selector names no `index`", "[0, 0]"),
        ({"key": "accuracy", "index": 0}, "there is no element 0", "start at 0"),
        ({"key": "accuracy", "index": [2, 0]}, "there is no element [2, 0]", "start at 0"),
        ({"name": "accuracy"}, "is not understood", "key: accuracy"),
        ({"key": "z", "index": 0}, "holds complex128", ""),
    ],
)
def test_npz_says_what_there_is_instead(
    tmp_path: Path, locator: dict[str, Any], said: str, hint: str
) -> None:
    np.savez(tmp_path / "r.npz", accuracy=np.ones((2, 2)), z=np.array([1j]))
    error = refused(tmp_path, selector("r.npz", npz=locator))
    assert said in str(error)
    assert hint in error.hint


class Exploding:
    def __reduce__(self) -> tuple[Any, ...]:
        return (pytest.fail, ("a pickle was loaded",))


@pytest.mark.clause("security/no-unpickling")
@pytest.mark.clause("selector/nothing-unpickled")
def test_pickles_are_never_loaded(tmp_path: Path) -> None:
    objects = np.array([Exploding()], dtype=object)
    np.save(tmp_path / "r.npy", objects, allow_pickle=True)
    np.savez(tmp_path / "r.npz", acc=objects)
    write(tmp_path, "p.npy", pickle.dumps(Exploding()))
    for name, locator in (("r.npy", {}), ("r.npz", {"key": "acc"}), ("p.npy", {})):
        error = refused(tmp_path, selector(name, npz=locator))
        assert "pickled Python objects, which are never loaded" in str(error)


def test_broken_npz(tmp_path: Path) -> None:
    write(tmp_path, "r.npz", b"PK\x03\x04 broken")
    assert "r.npz" in str(refused(tmp_path, selector("r.npz", npz={"key": "a"})))
    with zipfile.ZipFile(tmp_path / "z.npz", "w") as archive:
        archive.writestr("a.npy", b"\x93NUMPY\x01\x00\x02\x00{}")
    assert "cannot be read" in str(refused(tmp_path, selector("z.npz", npz={"key": "a"})))


def test_a_missing_file_names_those_that_are_there(tmp_path: Path) -> None:
    write(tmp_path, "results/metrics.json", "{}")
    error = refused(tmp_path, selector("metric.json", json="/a"))
    assert "the run wrote no file metric.json" in str(error)
    assert "results/metrics.json" in error.hint
    nothing = tmp_path / "nothing"
    assert "the run wrote nothing" in refused(nothing, selector("m.json", json="/a")).hint
    assert "is a directory" in str(refused(tmp_path, selector("results", json="/a")))


def test_a_file_outside_is_unsafe(tmp_path: Path) -> None:
    outputs = tmp_path / "outputs"
    outputs.mkdir()
    write(tmp_path, "secret.json", '{"a": 1}')
    (outputs / "link.json").symlink_to(tmp_path / "secret.json")
    with pytest.raises(UnsafePathError):
        select(outputs, selector("link.json", json="/a"))
    for name in ("../secret.json", str(tmp_path / "secret.json")):
        with pytest.raises(ValidationError, match="inside the artifact"):
            selector(name, json="/a")


def test_streams_are_outputs_that_lie_elsewhere(tmp_path: Path) -> None:
    stdout = write(tmp_path, "run/stdout.txt", "accuracy 98.9\n")
    outputs = tmp_path / "run" / "outputs"
    outputs.mkdir()
    chosen = selector("stdout.txt", regex=r"accuracy (?P<value>[\d.]+)")
    assert select(outputs, chosen, streams={"stdout.txt": stdout}).text == "98.9"
    with pytest.raises(SelectError):
        select(outputs, chosen)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"tensorboard": {"tag": "acc"}}, "the locator 'tensorboard' is not read"),
        ({"mlflow": {"metric": "acc"}}, "the locator 'mlflow' is not read"),
        ({"cell": {"index": 3}}, "the locator 'cell' is not read"),
    ],
)
@pytest.mark.clause("outcome/never-left-out")
def test_locators_that_are_not_read_say_which_are(
    tmp_path: Path, fields: dict[str, Any], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The format may get locators that a version of rra does not know yet."""
    monkeypatch.setattr(selectors, "SUPPORTED_LOCATORS", ("json", "csv", "regex", "npz"))
    error = refused(tmp_path, selector("m.json", **fields))
    assert said in str(error)
    assert "json, csv, regex, npz" in error.hint


@pytest.mark.clause("selector/best-is-no-nan")
def test_a_maximum_over_nan_is_refused(tmp_path: Path) -> None:
    write(tmp_path, "log.jsonl", '{"a": 1}\n{"a": NaN}\n')
    error = refused(tmp_path, selector("log.jsonl", json="/a", pick="max"))
    assert "not all finite" in str(error)


def outcome(unit: str | None, file_unit: str | None, **fields: Any) -> Outcome:
    chosen = {"launcher": "lda", "file": "m.json", "json": "/a", **fields}
    if file_unit is not None:
        chosen["unit"] = file_unit
    document = {"type": "number", "reported": "98.9", "selector": chosen}
    if unit is not None:
        document["unit"] = unit
    return Outcome.model_validate(document)


def test_an_outcome_is_in_its_own_unit(tmp_path: Path) -> None:
    write(tmp_path, "m.json", '{"a": 0.98876404494382}')
    found = select_outcome([tmp_path], outcome("percent", "fraction"))
    assert found.value == Decimal("98.876404494382")
    assert found.text == "0.98876404494382"
    assert found.parts[0].file == "m.json"


def test_a_percent_sign_in_the_file_is_a_unit(tmp_path: Path) -> None:
    write(tmp_path, "m.json", json.dumps({"a": "98.9%"}))
    assert select_outcome([tmp_path], outcome("fraction", None)).value == Decimal("0.989")
    assert select_outcome([tmp_path], outcome("percent", "percent")).value == Decimal("98.9")
    with pytest.raises(SelectError, match="the selector says that the unit is 'fraction'"):
        select_outcome([tmp_path], outcome("percent", "fraction"))


def test_an_outcome_over_several_runs(tmp_path: Path) -> None:
    runs = [tmp_path / name for name in ("a", "b", "c")]
    for run, value in zip(runs, ("0.1", "0.2", "0.6"), strict=True):
        write(run, "m.json", f'{{"a": {value}}}')
    found = select_outcome(runs, outcome("percent", "fraction", aggregate="mean"))
    assert found.value == Decimal(30)
    assert [part.text for part in found.parts] == ["0.1", "0.2", "0.6"]
    with pytest.raises(SelectError, match="3 runs gave a value"):
        select_outcome(runs, outcome("percent", "fraction"))
