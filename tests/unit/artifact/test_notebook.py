"""Notebooks are read and judged, never changed (B22)."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from rra.api import audit
from rra.artifact.notebook import Cell, read_cells
from rra.errors import FormatError
from rra.lint import lint_artifact
from rra.scan import scan_repository
from tests.support.artifacts import COMPUTES, make_artifact, record_run
from tests.support.bundles import locked_artifact, pack, unpack


def code_cell(source: str | list[str], **more: Any) -> dict[str, Any]:
    cell: dict[str, Any] = {
        "cell_type": "code",
        "metadata": {},
        "outputs": [],
        "execution_count": None,
    }
    return {**cell, "source": source, **more}


TWICE_AND_MISSING = {
    "nbformat": 4,
    "nbformat_minor": 5,
    "metadata": {},
    "cells": [
        code_cell(["a = 1\n", "b = 2"], id="a"),
        code_cell("print(a)", id="a"),
        {"cell_type": "markdown", "metadata": {}, "source": "no id"},
    ],
}
CELLS = [
    Cell("code", "a = 1\nb = 2", None, has_outputs=False),
    Cell("code", "print(a)", None, has_outputs=False),
    Cell("markdown", "no id", None, has_outputs=False),
]


#: Leaves what is asked for, and the notebook as it found it.
COPIES = """\
#!/bin/sh
python main.py > "$RRA_OUTPUT_DIR/metrics.json"
cp study.ipynb "$RRA_OUTPUT_DIR/"
"""


def test_b22_ids_that_are_twice_there_or_missing_are_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "n.ipynb"
    path.write_bytes(json.dumps(TWICE_AND_MISSING).encode())
    os.utime(path, ns=(10**18, 10**18))
    path.chmod(0o444)
    # Warnings are errors here: upstream warns of both faults, and mends them at random.
    assert read_cells(path) == read_cells(path) == CELLS
    assert json.loads(path.read_bytes()) == TWICE_AND_MISSING
    assert path.stat().st_mtime_ns == 10**18
    assert [one.name for one in tmp_path.iterdir()] == ["n.ipynb"]


@pytest.mark.parametrize("minor", [0, 2, 4, 5])
def test_b22_linting_and_scanning_leave_every_byte(tmp_path: Path, minor: int) -> None:
    notebook = json.dumps({**TWICE_AND_MISSING, "nbformat_minor": minor}, indent=3) + "\n\n"
    artifact = make_artifact(tmp_path / "a", {"main.py": COMPUTES, "study.ipynb": notebook})
    before = {p: p.read_bytes() for p in artifact.root.rglob("*") if p.is_file()}
    first = lint_artifact(artifact.root)
    second = lint_artifact(artifact.root)
    scan_repository(artifact.root / "code")
    assert {p: p.read_bytes() for p in artifact.root.rglob("*") if p.is_file()} == before
    assert first.findings == second.findings


def test_b22_running_auditing_and_packing_leave_every_byte(tmp_path: Path) -> None:
    """The notebook lies in the code, is an output too, and comes out of the bundle as it was."""
    notebook = (json.dumps(TWICE_AND_MISSING, indent=3) + "\n\n").encode()
    files: dict[str, str | bytes] = {"study.ipynb": notebook, "launchers/main.sh": COPIES}
    artifact = locked_artifact(tmp_path / "a", files)
    assert record_run(artifact).ok
    audit(artifact.root, rerun=False)
    pack(artifact, tmp_path / "bundle")
    unpack(tmp_path / "bundle", tmp_path / "there")
    for root in (artifact.root, tmp_path / "there"):
        books = sorted(root.rglob("*.ipynb"))
        assert {path.parts[len(root.parts)] for path in books} >= {"code", "evidence"}
        assert {path.read_bytes() for path in books} == {notebook}


def test_notebooks_of_version_three_are_read(tmp_path: Path) -> None:
    path = tmp_path / "old.ipynb"
    cell: dict[str, Any] = {
        "cell_type": "code",
        "language": "python",
        "input": ["x = 1\n", "y"],
        "outputs": [],
    }
    sheet = {"metadata": {}, "cells": [{**cell, "prompt_number": 2, "collapsed": False}]}
    old = {"nbformat": 3, "nbformat_minor": 0, "metadata": {"name": ""}, "worksheets": [sheet]}
    path.write_text(json.dumps(old), encoding="utf-8")
    assert read_cells(path) == [Cell("code", "x = 1\ny", 2, has_outputs=False)]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        '"s"',
        "null",
        "{}",
        '{"nbformat": 4}',
        '{"nbformat": 9, "cells": []}',
        '{"nbformat": 4, "cells": [1]}',
        '{"nbformat": "x", "cells": []}',
    ],
)
def test_what_is_no_notebook_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "n.ipynb"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(FormatError, match="not a notebook"):
        read_cells(path)
