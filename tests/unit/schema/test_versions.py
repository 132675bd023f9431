"""Documents of other versions of the format: newer minors are read, newer majors refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from rra._base.yaml import parse_yaml
from rra.artifact import load_artifact
from rra.errors import FormatError, Problem
from rra.schema import FORMAT, check_document, version_key
from tests.lint.support import write_artifact


def said(version: str, more: str = "") -> list[Problem]:
    text = f'rra: "{version}"\nlayers: 3\n{more}'
    found = check_document(parse_yaml(text, source="config.json"), "bundle-config")
    return [problem for problem in found if problem.pointer == "/rra"]


@pytest.mark.clause("versioning/newer-minor")
def test_a_newer_minor_version_is_read_with_a_warning(tmp_path: Path) -> None:
    root = write_artifact(tmp_path / "a")
    path = root / "rra.yaml"
    path.write_text(path.read_text("utf-8").replace("1.0", "1.7", 1) + "novelty: {a: 1}\n", "utf-8")
    artifact = load_artifact(root)
    assert artifact.manifest.rra == "1.7"
    assert artifact.manifest.model_extra == {"novelty": {"a": 1}}
    clauses = {problem.clause: problem for problem in artifact.warnings}
    assert set(clauses) == {"versioning/newer-minor", "documents/unknown-key"}
    newer = clauses["versioning/newer-minor"]
    assert newer.message == "the document follows version 1.7 of the format; 1.0 is known"


def test_words_of_a_newer_minor_version_are_warned_about_and_not_used(tmp_path: Path) -> None:
    root = write_artifact(tmp_path / "a")
    path = root / "rra.yaml"
    text = path.read_text("utf-8").replace("kind: pylock", "kind: nix", 1)
    path.write_text(text, "utf-8")
    with pytest.raises(FormatError) as caught:
        load_artifact(root)
    assert [problem.clause for problem in caught.value.problems] == ["environment/kind"]
    path.write_text(text.replace("1.0", "1.7", 1), "utf-8")
    (word,) = [
        problem
        for problem in check_document(parse_yaml(path.read_text("utf-8"), source="x"), "manifest")
        if problem.clause == "versioning/unknown-words"
    ]
    assert word.severity == "warning"
    assert word.pointer.endswith("/kind")
    with pytest.raises(FormatError, match=r"words of version 1\.7") as caught:
        load_artifact(root)
    assert [problem.clause for problem in caught.value.problems] == ["versioning/unknown-words"]


@pytest.mark.clause("versioning/newer-major", "versioning/says-which")
def test_a_newer_major_version_is_refused_naming_the_one_it_needs(tmp_path: Path) -> None:
    root = write_artifact(tmp_path / "a")
    path = root / "rra.yaml"
    path.write_text(path.read_text("utf-8").replace("1.0", "2.3", 1) + "outputs: 3\n", "utf-8")
    with pytest.raises(FormatError) as caught:
        load_artifact(root)
    (problem,) = caught.value.problems
    assert problem.message == "the document follows version 2.3 of the format; 1.x is read"
    assert problem.hint == "use a version of rra that reads version 2 of the format"
    assert problem.place == "rra.yaml:1:1"
    assert caught.value.stage == "schema"


@pytest.mark.parametrize("version", ["1.0", "0.9", "1", "1.0.0", "one", ""])
def test_versions_that_are_known_or_none_are_left_to_the_schema(version: str) -> None:
    assert all("follows" not in problem.message for problem in said(version))


def test_versions_are_compared_as_numbers() -> None:
    assert version_key("1.10") > version_key("1.9")
    assert version_key(FORMAT) == (1, 0)
    with pytest.raises(ValueError, match="no version"):
        version_key("1.01")
