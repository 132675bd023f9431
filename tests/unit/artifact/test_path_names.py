"""Paths in documents: absolute ones are refused with their line, odd ones name real files."""

from __future__ import annotations

import json
from pathlib import Path, PurePosixPath

import pytest

from rra.artifact import load_artifact
from rra.artifact.edit import set_value
from rra.bundle.canonical import diff_id
from rra.errors import FormatError
from rra.lint import lint_artifact
from tests.support.artifacts import COMPUTES, make_artifact, manifest

MANIFEST = """\
rra: "1.0"
name: tiny
version: 1.0.0
license: MIT
environments:
  cpu:
    kind: pylock
    python: "3.11"
    lock: environment/cpu/pylock.toml
data:
  model:
    path: data/model.bin
    access: bundled
launchers:
  main:
    entry: launchers/main.sh
    environment: cpu
    outputs:
      - metrics.json
experiments:
  table:
    outcomes:
      accuracy:
        type: number
        reported: "98.9"
        selector: {launcher: main, file: metrics.json, json: /accuracy}
"""
PLACES = {
    "data/model.bin": "/data/model/path",
    "environment/cpu/pylock.toml": "/environments/cpu/lock",
    "launchers/main.sh": "/launchers/main/entry",
}
OUTSIDE = ["/home/u/p/model.bin", "/", "../model.bin", "data/../../model.bin", "C:/p/model.bin"]
OUTSIDE += ["data\\model.bin", "//host/share/model.bin", "..", ""]


@pytest.mark.parametrize("named", PLACES)
@pytest.mark.parametrize("outside", OUTSIDE)
def test_b10_a_path_outside_is_a_schema_error_with_its_line(
    tmp_path: Path, named: str, outside: str
) -> None:
    line = next(n for n, row in enumerate(MANIFEST.splitlines(), 1) if row.endswith(named))
    text = MANIFEST.replace(named, json.dumps(outside), 1)
    (tmp_path / "rra.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(FormatError) as refused:
        load_artifact(tmp_path)
    (problem,) = [one for one in refused.value.problems if one.severity == "error"]
    assert (problem.path, problem.line, problem.pointer) == ("rra.yaml", line, PLACES[named])
    assert problem.clause == "documents/path"
    if outside.startswith("/home"):
        assert "the absolute path '/home/u/p/model.bin'" in problem.message
        assert str(tmp_path) not in problem.message


def test_b10_the_linter_says_it_with_the_line(tmp_path: Path) -> None:
    text = MANIFEST.replace("data/model.bin", "/home/u/p/model.bin")
    (tmp_path / "rra.yaml").write_text(text, encoding="utf-8")
    findings = [one for one in lint_artifact(tmp_path).findings if one.clause == "documents/path"]
    assert [(one.path, one.line) for one in findings] == [("rra.yaml", 12)]


ODD = [
    "fig 50%.png",
    "100%25.csv",
    "%2e%2e.csv",
    "a#b.csv",
    "q?x=1&y.csv",
    "caf\u00e9.csv",
    "cafe\u0301.csv",
    "A.csv",
    "a.csv",
    " leading and trailing ",
    "-dash.csv",
    "quote'\".csv",
    "\u846f\U0001f600.csv",
]


@pytest.mark.clause("documents/path-is-no-address")
@pytest.mark.clause("documents/path-is-not-normalised")
def test_b16_odd_names_are_the_real_files_and_no_others(tmp_path: Path) -> None:
    data = {
        f"d{number}": {"path": f"data/{name}", "access": "bundled"}
        for number, name in enumerate(ODD)
    }
    files: dict[str, str | bytes] = {f"data/{name}": f"{n}" for n, name in enumerate(ODD)}
    artifact = make_artifact(tmp_path / "a", {"main.py": COMPUTES, **files}, data=data)
    for number, name in enumerate(ODD):
        path = artifact.path(artifact.manifest.data[f"d{number}"].path)
        assert path.read_text() == str(number), name
        assert path.name == name
    assert set(artifact.element_files("data")) == {PurePosixPath("data", name) for name in ODD}


def test_b16_an_edit_and_a_round_trip_keep_the_names(tmp_path: Path) -> None:
    text = json.dumps(manifest(), indent=1, ensure_ascii=False)
    for name in ODD:
        result = set_value(text, ["data"], {"d": {"path": f"data/{name}", "access": "bundled"}})
        (tmp_path / "rra.yaml").write_text(result, encoding="utf-8")
        assert load_artifact(tmp_path).manifest.data["d"].path == f"data/{name}"


def test_b16_a_name_that_other_systems_would_change_is_refused_when_packed(tmp_path: Path) -> None:
    names = ("caf\u00e9.csv", "cafe\u0301.csv")
    for name in names:
        (tmp_path / name).write_text("x")
    assert diff_id(tmp_path, [PurePosixPath(names[0])]).files == 1
    with pytest.raises(FormatError, match="is not in Unicode normalisation form C"):
        diff_id(tmp_path, [PurePosixPath(names[1])])
    assert sorted(one.name for one in tmp_path.iterdir()) == sorted(names)
