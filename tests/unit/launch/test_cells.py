"""Cells that failed in notebooks among the outputs of a run, whatever wrote them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rra import api
from rra.launch import run_launcher
from rra.launch.cells import failed_cells
from rra.sandbox import best_sandbox
from tests.acceptance.command import rra
from tests.support.runs import request, write_artifact
from tests.unit.launch.test_notebooks import cell, notebook

ERROR = {"output_type": "error", "ename": "ValueError", "evalue": "no\nline two", "traceback": []}


def failing(*tags: str, **more: Any) -> dict[str, Any]:
    return cell("f()", *tags, outputs=[ERROR], **more)


def found(folder: Path, text: str, stored: str = "") -> list[tuple[str, int, str]]:
    """Return the failed cells of a notebook ``deep/a b.ipynb`` among the outputs."""
    artifact = write_artifact(folder / "a", {"code/a b.ipynb": stored} if stored else {})
    place = folder / "outputs/deep/a b.ipynb"
    place.parent.mkdir(parents=True)
    place.write_text(text)
    cells = failed_cells(artifact, folder / "outputs")
    return [(one.path, one.cell, one.error) for one in cells]


def test_a_cell_that_failed_is_named_by_its_place(tmp_path: Path) -> None:
    text = notebook({"cell_type": "markdown", "source": "", "metadata": {}}, cell("1"), failing())
    assert found(tmp_path, text) == [("deep/a b.ipynb", 2, "ValueError: no")]


def test_only_its_own_tag_allows_a_cell_to_fail(tmp_path: Path) -> None:
    text = json.loads(notebook(failing("raises-exception"), failing("slow")))
    text["metadata"]["allow_errors"] = True
    assert [one[1] for one in found(tmp_path, json.dumps(text))] == [1]


def test_a_notebook_of_the_artifact_as_it_is_was_not_executed(tmp_path: Path) -> None:
    text = notebook(failing())
    assert found(tmp_path / "same", text, stored=text) == []
    assert len(found(tmp_path / "other", text, stored=text + " ")) == 1


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"cells": 7}',
        '{"cells": [7, null, {"cell_type": "code", "metadata": 7}]}',
        '{"cells": [{"cell_type": "code", "outputs": [7], "metadata": {}}]}',
        '{"cells": [{"cell_type": "raw", "outputs": [{"output_type": "error"}]}]}',
        "[" * 100_000,
    ],
)
def test_what_is_no_notebook_has_no_cell_that_failed(tmp_path: Path, text: str) -> None:
    assert found(tmp_path, text) == []


def test_text_that_no_record_can_hold_is_replaced(tmp_path: Path) -> None:
    error = {**ERROR, "ename": "\ud800", "evalue": ""}
    assert found(tmp_path, notebook(cell("1", outputs=[error]))) == [("deep/a b.ipynb", 0, "?")]


def test_run_list_show_and_diff_say_it(tmp_path: Path) -> None:
    text = notebook(cell("1"), failing())
    script = 'cp given.txt "$RRA_OUTPUT_DIR/ran.ipynb"; echo {} > "$RRA_OUTPUT_DIR/metrics.json"\n'
    artifact = write_artifact(tmp_path / "a", {"launchers/main.sh": script, "code/given.txt": text})
    run_launcher(request(artifact, sandbox=best_sandbox("none")))
    (artifact.root / "code/given.txt").write_text(notebook(cell("1")))
    done = run_launcher(request(artifact, sandbox=best_sandbox("none")))
    assert done.ok, done.message
    (artifact.root / "code/given.txt").write_text(text)
    ran = api.run(artifact.root, sandbox="none", force=True)
    assert not ran.ok
    assert ran.runs[0].failed_cells == (
        {"path": "ran.ipynb", "cell": 1, "error": "ValueError: no"},
    )
    assert "cell 1 of ran.ipynb failed: ValueError: no" in ran.runs[0].message
    listed = rra("evidence", "list", artifact.root).expect(0).out
    assert listed.count("ok, cell 1 failed") == 2
    shown = rra("evidence", "show", "main", artifact.root).expect(0).out
    assert "failed       cell 1 of ran.ipynb: ValueError: no" in shown
    differs = rra("evidence", "diff", done.record_digest[7:23], "main", artifact.root).expect(1).out
    assert "failed cells" in differs
