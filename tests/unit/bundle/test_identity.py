"""What the core of an artifact depends on, and what it does not."""

from __future__ import annotations

import hashlib
import json
import subprocess
from pathlib import Path

import pytest

from rra.artifact import load_artifact
from rra.bundle import core_digest, core_document, element_locks
from rra.errors import FormatError

MANIFEST = """\
rra: "1.0"
name: toy
version: 1.0.0
license: MIT
title: A toy
environments:
  cpu:
    kind: pylock
    python: "3.11"
    lock: environment/cpu/pylock.toml
    as_of: "2024-01-01"
data:
  points: {path: data/points.csv}
launchers:
  main:
    entry: launchers/main.sh
    environment: cpu
    inputs: [points]
    outputs: [m.json]
    parameters: {folds: {type: integer, default: 5}}
    hint: {wall: 3}
experiments:
  table1:
    title: Table 1
    outcomes:
      accuracy:
        type: number
        reported: "98.9"
        location: Table 1, row LDA
        selector: {launcher: main, file: m.json, json: /acc}
        deviation: {observed: "98.3", explanation: one sample}
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    files = {
        "rra.yaml": MANIFEST,
        "README.md": "toy\n",
        "code/main.py": "print(1)\n",
        "environment/cpu/pylock.toml": "lock\n",
        "launchers/main.sh": "true\n",
        "data/points.csv": "1\n",
        "guide/GUIDE.md": "how\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def core(root: Path) -> str:
    return core_digest(load_artifact(root))


def edit(root: Path, name: str, old: str, new: str) -> None:
    text = (root / name).read_text()
    assert old in text
    (root / name).write_text(text.replace(old, new))


def test_the_core_can_be_computed_by_hand(root: Path) -> None:
    artifact = load_artifact(root)
    locks = element_locks(artifact)
    document = {
        "type": "core/v1",
        "elements": {
            name: locks[name].diff_id for name in ("code", "environment", "launchers", "data")
        },
        "environments": {
            "cpu": {"kind": "pylock", "python": "3.11", "lock": "environment/cpu/pylock.toml"}
        },
        "launchers": {
            "main": {
                "entry": "launchers/main.sh",
                "environment": "cpu",
                "inputs": ["points"],
                "outputs": [{"name": "m.json"}],
                "parameters": {"folds": {"type": "integer", "default": 5}},
            }
        },
        "outcomes": {
            "table1/accuracy": {
                "type": "number",
                "reported": "98.9",
                "selector": {"launcher": "main", "file": "m.json", "json": "/acc"},
                "deviation": {"observed": "98.3"},
            }
        },
    }
    assert core_document(artifact) == document
    # RFC 8785 on values like these: sorted keys, no spaces
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert core(root) == "sha256:" + hashlib.sha256(text.encode()).hexdigest()
    assert core_digest(artifact, locks) == core(root)


def test_elements_are_archives_of_their_files(root: Path) -> None:
    locks = element_locks(load_artifact(root))
    assert {name: lock.files for name, lock in locks.items()} == {
        "code": 1,
        "environment": 1,
        "launchers": 1,
        "data": 1,
        "guide": 1,
    }
    command = ["tar", "--format=ustar", "--sort=name", "--owner=0", "--group=0"]
    command += ["--numeric-owner", "--mtime=@315532800", "--mode=u=rwX,go=rX", "-cf", "-", "data"]
    gnu = subprocess.run(command, cwd=root, capture_output=True, check=True).stdout
    members = gnu[: 3 * 512]  # GNU tar pads the end to a record; we do not
    digest = hashlib.sha256(members + bytes(1024)).hexdigest()
    assert locks["data"].diff_id == "sha256:" + digest


@pytest.mark.clause("extensions/x-keys-mean-nothing")
@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("README.md", "toy", "a better text"),
        ("guide/GUIDE.md", "how", "how else"),
        ("rra.yaml", "title: A toy", "title: Another title"),
        ("rra.yaml", "title: Table 1", "title: Results"),
        ("rra.yaml", "row LDA", "first row"),
        ("rra.yaml", "one sample", "a rounding rule"),
        ("rra.yaml", "wall: 3", "wall: 30"),
        ("rra.yaml", 'as_of: "2024-01-01"', 'as_of: "2024-01-02"'),
        ("rra.yaml", "file: m.json,", "file: m.json, pick: only, aggregate: single,"),
        ("rra.yaml", "outputs: [m.json]", "outputs: [{name: m.json, required: true}]"),
        ("rra.yaml", "hint: ", "x-note: {a: 1}\n    network: none\n    hint: "),
        ("rra.yaml", "version: 1.0.0", "version: 1.0.1"),
    ],
)
@pytest.mark.clause("core-digest/descriptions")
@pytest.mark.clause("core-digest/free-keys")
@pytest.mark.clause("core-digest/outputs-long")
def test_what_only_describes_is_not_part_of_it(root: Path, name: str, old: str, new: str) -> None:
    before = core(root)
    edit(root, name, old, new)
    assert core(root) == before


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("code/main.py", "1", "2"),
        ("environment/cpu/pylock.toml", "lock", "other"),
        ("launchers/main.sh", "true", "false"),
        ("data/points.csv", "1", "2"),
        ("rra.yaml", '"98.9"', '"98.90"'),
        ("rra.yaml", "json: /acc", "json: /accuracy"),
        ("rra.yaml", 'observed: "98.3"', 'observed: "98.4"'),
        ("rra.yaml", "default: 5", "default: 6"),
        ("rra.yaml", "outputs: [m.json]", "outputs: [m.json, n.json]"),
        ("rra.yaml", 'python: "3.11"', 'python: "3.12"'),
        ("rra.yaml", 'python: "3.11"', 'python: "3.11"\n    variables: {OMP_NUM_THREADS: "1"}'),
        ("rra.yaml", "environment: cpu\n", "environment: cpu\n    future-key: 1\n"),
    ],
)
@pytest.mark.clause("core-digest/everything-else")
def test_what_can_change_a_result_or_a_judgement_is(
    root: Path, name: str, old: str, new: str
) -> None:
    before = core(root)
    edit(root, name, old, new)
    assert core(root) != before


@pytest.mark.clause("core-digest/free-keys")
def test_names_that_the_author_chose_are_part_of_it_whatever_they_begin_with(root: Path) -> None:
    before = core(root)
    edit(root, "rra.yaml", "parameters: {folds:", "parameters: {x-rate: {default: fast}, folds:")
    changed = core(root)
    assert changed != before
    definition = core_document(load_artifact(root))["launchers"]["main"]
    assert definition["parameters"]["x-rate"] == {"default": "fast"}
    edit(root, "rra.yaml", "x-rate: {default: fast}", "x-rate: {default: fast, x-note: slow}")
    assert core(root) == changed
    edit(root, "rra.yaml", "json: /acc", "csv: {where: {x-axis: '1'}, column: y}")
    selector = core_document(load_artifact(root))["outcomes"]["table1/accuracy"]["selector"]
    assert selector["csv"] == {"where": {"x-axis": "1"}, "column": "y"}


def test_evidence_and_outputs_are_not_part_of_it(root: Path) -> None:
    before = core(root)
    for name in ("evidence/main/0/record.json", "outputs/main/m.json", "rra.lock.old"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("{}")
    assert core(root) == before


@pytest.mark.clause("core-digest/no-form")
def test_a_number_without_a_canonical_form_is_refused(root: Path) -> None:
    edit(root, "rra.yaml", "environment: cpu\n", "environment: cpu\n    future-key: 1e20\n")
    with pytest.raises(FormatError, match="without a canonical form") as caught:
        core(root)
    assert caught.value.exit_code == 4
