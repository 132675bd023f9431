"""A whole results table through verify, audit, report and guide: outcomes like any other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rra.api import audit, report, verify
from rra.artifact import Artifact, load_artifact
from rra.author.guide_tables import GuideFacts, render_tables
from rra.bundle import core_digest
from tests.support.artifacts import make_artifact, record_run

REPORTED = """\
Class,Precision,Recall,Support
0,0.959,0.910,155
1,80.0 %,,62
"""
COMPUTED = """\
import csv, os
found = [(n * n % 7 % 2, (n * n % 7 + (n % 11 == 0)) % 2) for n in range(217)]
rows = []
for label in ("0", "1"):
    both = sum(true == guess == int(label) for true, guess in found)
    said = sum(guess == int(label) for _, guess in found)
    there = sum(true == int(label) for true, _ in found)
    rows.append((label, both / said, both / there, there))
out = csv.writer(open(os.path.join(os.environ["RRA_OUTPUT_DIR"], "table.csv"), "w"))
out.writerow(["Class", "Precision", "Recall", "Support"])
out.writerows(rows)
"""
READS_THE_REPORT = """\
import os, re, shutil
root = os.environ["ARTIFACT"]
text = open(os.path.join(root, "guide", "reported", "t2.csv")).read()
open(os.path.join(os.environ["RRA_OUTPUT_DIR"], "table.csv"), "w").write(text)
"""
LAUNCHER = 'export ARTIFACT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)\npython main.py'


def artifact(root: Path, script: str = COMPUTED, **more: Any) -> Artifact:
    declared = {
        "reported": "guide/reported/t2.csv",
        "launcher": "main",
        "file": "table.csv",
        "location": "Table 2",
        "cells": {"1-precision": {"unit": "percent", "selector": {"unit": "fraction"}}},
        **more,
    }
    launchers = {
        "main": {
            "entry": "launchers/main.sh",
            "environment": "cpu",
            "outputs": ["table.csv"],
            "deterministic": True,
        }
    }
    return make_artifact(
        root,
        {"main.py": script, "guide/reported/t2.csv": REPORTED, "guide/GUIDE.md": "# Guide\n"},
        command=LAUNCHER,
        launchers=launchers,
        experiments={"t2": {"table": declared}},
    )


def test_computed_cells_are_reproduced_and_what_is_left_out_is_said(tmp_path: Path) -> None:
    found = verify(artifact(tmp_path / "a").root, out=tmp_path / "v", sandbox="none").reproduction
    assert {one.outcome: one.verdict for one in found.outcomes} == {
        "t2/0-precision": "reproduced",
        "t2/0-recall": "reproduced",
        "t2/0-support": "reproduced",
        "t2/1-precision": "reproduced",
        "t2/1-support": "reproduced",
    }
    note = "t2: empty in guide/reported/t2.csv, so not compared: 1-recall"
    assert note in found.notes
    precision = next(one for one in found.outcomes if one.outcome == "t2/1-precision")
    assert (precision.reported, precision.unit) == ("80.0", "percent")


def test_a_launcher_that_reads_the_reported_table_is_found_out(tmp_path: Path) -> None:
    columns = ["Precision", "Recall"]
    made = artifact(tmp_path / "a", READS_THE_REPORT, columns=columns, rows={"0": "0"}, cells={})
    found = verify(made.root, out=tmp_path / "v", sandbox="none").reproduction
    assert {one.outcome: one.verdict for one in found.outcomes} == {
        "t2/0-precision": "not_reproduced",
        "t2/0-recall": "not_reproduced",
    }
    accused = {
        place
        for one in found.outcomes
        for finding in one.findings
        if finding.code == "HARDCODED"
        for place in finding.places
    }
    assert accused == {"guide/reported/t2.csv:2"}


def test_audit_and_report_see_the_cells(tmp_path: Path) -> None:
    made = artifact(tmp_path / "a")
    record_run(made)
    audited = audit(made.root, rerun=False)
    levels = {one.outcome: one.evidence_level for one in audited.audit.values}
    assert set(levels.values()) == {"E3"}
    assert len(levels) == 5
    written = report(made.root, tmp_path / "report.html")
    page = written.file.read_text(encoding="utf-8")
    assert "Table 2, row 0, column Precision" in page


def test_the_guide_lists_the_cells_and_what_is_left_out(tmp_path: Path) -> None:
    made = artifact(tmp_path / "a")
    shown = render_tables(GuideFacts(made.manifest, {}, [], made.notes))["results"]
    assert "| `t2/1-precision` | 80.0 % | Table 2, row 1, column Precision | `main` |" in shown
    assert shown.endswith(
        "\n\nNotes on the reported tables:\n\n"
        "- t2: empty in guide/reported/t2.csv, so not compared: 1-recall"
    )


@pytest.mark.parametrize(
    ("old", "new", "changes"), [("0.959", "0.958", True), ("Class", "Klass", False)]
)
def test_what_is_reported_is_part_of_the_artifacts_identity(
    old: str, new: str, *, changes: bool, tmp_path: Path
) -> None:
    made = artifact(
        tmp_path / "a", selector={"csv": {"where": {"Class": "{row}"}, "column": "{column}"}}
    )
    before = core_digest(made)
    path = made.root / "guide/reported/t2.csv"
    path.write_text(REPORTED.replace(old, new), encoding="utf-8")
    assert (core_digest(load_artifact(made.root)) != before) is changes
