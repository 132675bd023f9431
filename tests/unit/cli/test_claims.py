"""What ``rra claims suggest`` prints."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from rra.artifact import load_artifact
from tests.support.artifacts import make_artifact, outcome, record_run

BIN = Path(sys.executable).with_name("rra")
SCRIPT = """\
import json
print(json.dumps({"lda": {"accuracy": 178 / 180}, "knn": {"accuracy": 163 / 180}, "n": [7, 7]}))
"""
TABLE = """\
## Results

| model | accuracy (%) | n |
|---|---|---|
| LDA | 98.9 | 7 |
| k-NN | 90.5 | |
| SVM | 97.2 | |
"""
TOLD = """\
results/lda-accuracy: 98.9 percent  [clear]
  reported  README.md:5, row LDA, column accuracy (%)
  1. main: metrics.json json /lda/accuracy
     0.98888889 fraction; p = 0.005; row named, column named

results/lda-n: 7  [ambiguous]
  reported  README.md:5, row LDA, column n
  1. main: metrics.json json /n/0
     7; p = 0.056; row not named, column named
  2. main: metrics.json json /n/1
     7; p = 0.056; row not named, column named
  a wrong number of this form is found somewhere 11 % of the time

results/k-nn-accuracy: 90.5 percent  [truncated]
  reported  README.md:6, row k-NN, column accuracy (%)
  1. main: metrics.json json /knn/accuracy
     0.90555556 fraction, cut to the reported digits; p = 0.005; row named, column named

not found in any output:
  97.2  README.md:7, row SVM, column accuracy (%)

4 reported numbers: 3 found (1 clear, 1 ambiguous, 1 truncated), 0 declared, 1 not found
by chance alone 0.005 of the 1 clear ones would be found as well
next: rra claims suggest --write
"""


def call(root: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [BIN, "claims", "suggest", *words],
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    other = {"table": {"outcomes": {"other": outcome("1.5")}}}
    files = {"main.py": SCRIPT, "README.md": TABLE}
    root = make_artifact(tmp_path / "tiny", files, experiments=other).root
    record_run(load_artifact(root))
    return root


def test_the_transcript(tiny: Path) -> None:
    done = call(tiny)
    assert (done.returncode, done.stdout) == (0, TOLD)
    assert done.stderr.splitlines() == [
        "· 4 reported numbers in README.md",
        "· searching 4 numbers of 1 recorded runs",
    ]


def test_writing_says_what_was_added(tiny: Path) -> None:
    done = call(tiny, "--write")
    assert done.returncode == 0
    assert done.stdout.startswith("results/lda-accuracy: 98.9 percent  [added]\n")
    assert done.stdout.endswith("added to rra.yaml: 1\nnext: rra lock --keep, then rra audit\n")
    assert call(tiny, "--write").returncode == 1


def test_a_wrong_id_is_answered_with_what_is_proposed(tiny: Path) -> None:
    done = call(tiny, "--write", "--accept", "results/lda-acuracy")
    assert done.returncode == 2
    assert "results/lda-acuracy is not proposed [usage]" in done.stderr
    assert "proposals: results/lda-accuracy" in done.stderr


def test_without_numbers_it_says_how_to_give_some(tiny: Path) -> None:
    (tiny / "README.md").write_text("# nothing\n", encoding="utf-8")
    done = call(tiny)
    assert done.returncode == 1
    assert done.stdout == (
        "0 reported numbers: 0 found (none), 0 declared, 0 not found\n"
        "next: rra claims suggest --paper FILE\n"
    )


def test_the_group_shows_its_verbs(tmp_path: Path) -> None:
    done = subprocess.run([BIN, "claims", "--help"], capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert "suggest  Propose a selector for every reported number." in done.stdout


def test_labels_of_a_document_cannot_steer_the_terminal(tiny: Path) -> None:
    text = TABLE.replace("SVM", "S\x1b[2JVM")
    (tiny / "README.md").write_text(text, encoding="utf-8")
    assert "\x1b" not in call(tiny).stdout
