"""What ``rra spec`` and ``rra lint FILE`` print, called as people call them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from rra import api
from rra.artifact.migration import EACH, Rename, Step
from rra.errors import FormatError
from tests.lint.support import write_artifact
from tests.support.source import ROOT

BIN = Path(sys.executable).with_name("rra")
EXPECT = """\
title: A key given twice
document: settings
file: settings.yaml
stage: yaml
verdict: invalid
clause: documents/duplicate-key
pointer: ""
"""


def rra(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [str(BIN), *arguments]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)


def machine(*arguments: str, cwd: Path) -> tuple[int, dict[str, Any]]:
    run = rra(*arguments, "--json", cwd=cwd)
    return run.returncode, json.loads(run.stdout)


def write_case(root: Path, text: str) -> None:
    folder = root / "cases" / "invalid" / "settings" / "twice"
    folder.mkdir(parents=True)
    (folder / "expect.yaml").write_text(EXPECT, encoding="utf-8")
    (folder / "settings.yaml").write_text(text, encoding="utf-8")


def test_cases_of_other_people_that_agree(tmp_path: Path) -> None:
    write_case(tmp_path, "a: {}\na: {}\n")
    run = rra("spec", "conformance", "cases", cwd=tmp_path)
    assert run.returncode == 0
    assert run.stdout.splitlines()[-1] == "1 of 1 case is found as expected"
    assert "settings" in run.stdout


def test_cases_that_do_not_agree_are_shown_with_both_answers(tmp_path: Path) -> None:
    write_case(tmp_path, "a: 1\n")
    run = rra("spec", "conformance", "cases", cwd=tmp_path)
    assert run.returncode == 1
    assert "invalid/settings/twice: another stage than expected\n" in run.stdout
    assert "expected: invalid (yaml); documents/duplicate-key at the document\n" in run.stdout
    assert "found:    invalid (schema); settings/" in run.stdout
    assert "settings.yaml:1:1: " in run.stdout
    assert run.stdout.splitlines()[-1] == "0 of 1 case is found as expected"


def test_one_entry_for_each_case(tmp_path: Path) -> None:
    write_case(tmp_path, "a: {}\na: {}\n")
    code, envelope = machine("spec", "conformance", "cases", cwd=tmp_path)
    assert (code, envelope["verb"], envelope["ok"]) == (0, "spec-conformance", True)
    assert envelope["result"]["counts"] == {"cases": 1, "agree": 1, "disagree": 0}
    mark = {"clause": "documents/duplicate-key", "pointer": ""}
    answer = {"stage": "yaml", "verdict": "invalid", "faults": [mark]}
    (case,) = envelope["result"]["cases"]
    assert case == {
        "case": "invalid/settings/twice",
        "page": "settings",
        "title": "A key given twice",
        "document": "settings",
        "agrees": True,
        "difference": "",
        "expected": answer,
        "found": answer,
    }


def test_the_corpus_ships_and_agrees(tmp_path: Path) -> None:
    code, envelope = machine("spec", "conformance", "--corpus", cwd=tmp_path)
    cases = envelope["result"]["cases"]
    assert [case["case"] for case in cases if not case["agrees"]] == []
    assert code == 0
    assert envelope["result"]["counts"]["cases"] >= 250


def test_a_malformed_expectation_is_an_error_with_file_and_line(tmp_path: Path) -> None:
    write_case(tmp_path, "{}\n")
    path = tmp_path / "cases/invalid/settings/twice/expect.yaml"
    path.write_text(EXPECT.replace("verdict", "verdikt"), encoding="utf-8")
    run = rra("spec", "conformance", "cases", cwd=tmp_path)
    assert run.returncode == 4
    assert "invalid/settings/twice/expect.yaml:5:1: " in run.stderr
    assert "rename verdikt into verdict" in run.stderr


def test_folders_without_cases_are_a_wrong_call(tmp_path: Path) -> None:
    run = rra("spec", "conformance", ".", cwd=tmp_path)
    assert (run.returncode, run.stdout) == (2, "")
    assert "no case below" in run.stderr
    assert rra("spec", "conformance", ".", "--corpus", cwd=tmp_path).returncode == 2


def test_versions(tmp_path: Path) -> None:
    run = rra("spec", "versions", cwd=tmp_path)
    assert run.returncode == 0
    assert run.stdout.startswith("writes 1.0\nreads  1.x\n")
    _, envelope = machine("spec", "versions", cwd=tmp_path)
    names = {path.name.removesuffix(".schema.json") for path in (ROOT / "schemas/v1").iterdir()}
    assert {one["name"] for one in envelope["result"]["schemas"]} == names
    assert envelope["result"]["migrations"] == []


@pytest.mark.parametrize(
    "name", ["settings", "settings.schema.json", "https://w3id.org/rra/v1/settings.schema.json"]
)
def test_a_schema_is_printed_as_it_ships(name: str, tmp_path: Path) -> None:
    run = rra("spec", "schema", name, cwd=tmp_path)
    text = (ROOT / "schemas/v1/settings.schema.json").read_text("utf-8")
    assert (run.returncode, run.stdout) == (0, text.rstrip("\n") + "\n")
    _, envelope = machine("spec", "schema", name, cwd=tmp_path)
    assert envelope["result"] == {"name": "settings", "schema": json.loads(text)}


def test_a_schema_that_there_is_not(tmp_path: Path) -> None:
    run = rra("spec", "schema", "manifset", cwd=tmp_path)
    assert run.returncode == 2
    assert "did you mean manifest?" in run.stderr
    code, envelope = machine("spec", "schema", "zzz", cwd=tmp_path)
    assert code == 2
    assert envelope["result"]["error"]["hint"].startswith("known: audit, ")


def test_nothing_is_to_be_migrated_yet(tmp_path: Path) -> None:
    root = write_artifact(tmp_path / "a")
    before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
    run = rra("spec", "migrate", "a", cwd=tmp_path)
    assert run.returncode == 0
    assert run.stdout == "a follows version 1.0 of the format: nothing to change\n"
    assert rra("spec", "migrate", "a", "--check", cwd=tmp_path).returncode == 0
    assert {path: path.read_bytes() for path in root.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["a", "--to", "1.4"], 2, "version 1.4 of the format is not known"),
        (["a/README.md"], 2, "is not the name of a document"),
        (["a/rra.lock"], 2, "no such path"),
        (["nowhere"], 2, "no such path"),
        (["."], 2, "holds no rra.yaml"),
        (["broken/rra.yaml"], 4, "not valid YAML"),
        (["newer"], 2, "no way from version 1.9"),
    ],
)
def test_what_cannot_be_migrated(
    tmp_path: Path, arguments: list[str], code: int, says: str
) -> None:
    write_artifact(tmp_path / "a")
    for name, text in (("broken", "rra: [\n"), ("newer", 'rra: "1.9"\n')):
        (tmp_path / name).mkdir()
        (tmp_path / name / "rra.yaml").write_text(text, encoding="utf-8")
    run = rra("spec", "migrate", *arguments, cwd=tmp_path)
    assert (run.returncode, run.stdout) == (code, "")
    assert says in run.stderr


SYNTHETIC = (
    Step(
        "1.0",
        "1.1",
        "entries are programs",
        {
            "manifest": (Rename(("launchers", EACH, "entry"), "program"),),
            "settings": (Rename((EACH, "where"), "place"),),
        },
    ),
)
SETTINGS = "# mine\nseed:\n  value: 1   # fixed\n  where: 'p. 3'\n"


@pytest.mark.clause("versioning/loses-nothing")
def test_a_whole_artifact_is_migrated_and_checked_first(tmp_path: Path) -> None:
    root = write_artifact(tmp_path / "a", {"guide/settings.yaml": SETTINGS})
    manifest, settings = root / "rra.yaml", root / "guide/settings.yaml"
    before = manifest.read_text("utf-8")
    checked = api.spec_migrate(root, check=True, steps=SYNTHETIC)
    assert (checked.exit_code, checked.written, checked.target) == (1, False, "1.1")
    assert manifest.read_text("utf-8") == before
    done = api.spec_migrate(root, steps=SYNTHETIC)
    assert (done.exit_code, done.written, done.source) == (0, True, "1.0")
    assert list(done.changes) == [str(settings), str(manifest)]
    assert settings.read_text("utf-8") == SETTINGS.replace("where", "place")
    after = before.replace("entry:", "program:", 1).replace("1.0", "1.1", 1)
    assert manifest.read_text("utf-8") == after
    again = api.spec_migrate(root, check=True, steps=SYNTHETIC)
    assert (again.exit_code, again.changes) == (0, {})


@pytest.mark.clause("versioning/loses-nothing")
def test_a_refused_migration_writes_no_file(tmp_path: Path) -> None:
    clash = SETTINGS + "  place: mine\n"
    root = write_artifact(tmp_path / "a", {"guide/settings.yaml": clash})
    before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
    with pytest.raises(FormatError) as caught:
        api.spec_migrate(root, steps=SYNTHETIC)
    (problem,) = caught.value.problems
    assert (problem.pointer, problem.line) == ("/seed/where", 4)
    assert {path: path.read_bytes() for path in root.rglob("*") if path.is_file()} == before


def test_a_migration_that_broke_off_goes_on(tmp_path: Path) -> None:
    root = write_artifact(tmp_path / "a", {"guide/settings.yaml": SETTINGS})
    (root / "guide/settings.yaml").write_text(SETTINGS.replace("where", "place"), "utf-8")
    done = api.spec_migrate(root, steps=SYNTHETIC)
    assert list(done.changes) == [str(root / "rra.yaml")]


# ------------------------------------------------------------------------- one document


def test_a_document_by_itself_is_linted_with_its_clauses(tmp_path: Path) -> None:
    path = tmp_path / "settings.yaml"
    path.write_text("seed: {value: 1, wher: x}\nrate: 3\n", encoding="utf-8")
    run = rra("lint", "settings.yaml", cwd=tmp_path)
    assert run.returncode == 1
    lines = [line for line in run.stdout.splitlines() if line.startswith("settings.yaml:")]
    assert lines[0].startswith("settings.yaml:1:1: error RRA001 seed lacks the required key")
    assert all(line.endswith("]") for line in lines)
    assert any("RRA002 unknown key 'wher'" in line for line in lines)
    assert "rra explain CODE" in run.stdout
    code, envelope = machine("lint", "settings.yaml", cwd=tmp_path)
    findings = envelope["result"]["findings"]
    assert code == 1
    assert {finding["clause"].split("/")[0] for finding in findings} == {"settings", "documents"}
    assert {finding["path"] for finding in findings} == {"settings.yaml"}
    assert envelope["result"]["rules"] == ["RRA001", "RRA002"]


def test_a_document_under_another_name(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("{}\n", encoding="utf-8")
    (tmp_path / "wine.settings.yaml").write_text("{}\n", encoding="utf-8")
    assert rra("lint", "wine.settings.yaml", cwd=tmp_path).returncode == 0
    run = rra("lint", "mine.txt", "--document", "settings", cwd=tmp_path)
    assert run.returncode == 0
    assert "next:" not in run.stdout
    run = rra("lint", "mine.txt", cwd=tmp_path)
    assert run.returncode == 2
    assert "is not the name of a document" in run.stderr
    run = rra("lint", "mine.txt", "--document", "setings", cwd=tmp_path)
    assert run.returncode == 2
    assert "no document is called setings" in run.stderr
    assert rra("lint", ".", "--document", "settings", cwd=tmp_path).returncode == 2


def test_a_manifest_by_itself_needs_no_files(tmp_path: Path) -> None:
    root = write_artifact(tmp_path / "a", remove=["launchers/lda.sh"])
    run = rra("lint", "a/rra.yaml", cwd=tmp_path)
    assert "RRA003" in run.stdout
    run = rra("lint", "a/rra.yaml", "--document", "manifest", cwd=tmp_path)
    assert (run.returncode, "RRA003" in run.stdout) == (0, False)
    text = (root / "rra.yaml").read_text("utf-8")
    (root / "rra.yaml").write_text(text.replace("environment: cpu", "environment: gpu"), "utf-8")
    run = rra("lint", "a/rra.yaml", "--document", "manifest", cwd=tmp_path)
    assert run.returncode == 1
    assert "no environment is called 'gpu' [launcher/" in run.stdout


def test_bytes_that_are_no_document_are_an_error(tmp_path: Path) -> None:
    (tmp_path / "record.json").write_text('{"a": 1, "a": 2}', encoding="utf-8")
    run = rra("lint", "record.json", cwd=tmp_path)
    assert run.returncode == 4
    assert "record.json:1:10: " in run.stdout
    assert "[documents/duplicate-key]" in run.stdout
