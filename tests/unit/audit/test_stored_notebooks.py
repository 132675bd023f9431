"""Outputs that a notebook stores from an earlier state are no evidence of this one (B34)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rra._base.files import sha256_file
from rra.api import audit
from rra.artifact import Artifact
from tests.support.artifacts import make_artifact, outcome, record_run
from tests.unit.launch.test_notebooks import cell, notebook

STORED = [{"output_type": "stream", "name": "stdout", "text": "accuracy 98.9\n"}]
TEXT = notebook(cell("depth = 1"), cell("print('accuracy', f(depth))", "results", outputs=STORED))

#: Runs the notebook's code as it stands and stores what it printed, as executing it does.
EXECUTES = """\
import contextlib, io, json, os
book = json.load(open("analysis.ipynb"))
space = {"f": lambda depth: 98.9 if depth == 1 else 97.25}
for cell in book["cells"]:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(cell["source"], space)
    text = out.getvalue()
    cell["outputs"] = [{"output_type": "stream", "name": "stdout", "text": text}] if text else []
json.dump(book, open(os.environ["RRA_OUTPUT_DIR"] + "/analysis.ipynb", "w"), indent=1)
"""


def artifact(root: Path, command: str, text: str = TEXT) -> Artifact:
    claim = outcome("98.9")
    claim["selector"] = {
        "launcher": "main",
        "file": "analysis.ipynb",
        "cell": {"tag": "results", "regex": "accuracy (?P<value>[0-9.]+)"},
    }
    entry = {"entry": "launchers/main.sh", "environment": "cpu", "outputs": ["analysis.ipynb"]}
    return make_artifact(
        root,
        {"main.py": EXECUTES, "analysis.ipynb": text},
        command=command,
        launchers={"main": entry},
        experiments={"table": {"outcomes": {"accuracy": claim}}},
    )


def findings(made: Artifact) -> dict[str, Any]:
    (value,) = audit(made.root, rerun=False).audit.values
    return {finding.code: finding for finding in value.findings}


def test_b34_a_constant_that_changed_makes_the_old_output_stale(tmp_path: Path) -> None:
    made = artifact(tmp_path, "python main.py")
    assert record_run(made).ok
    assert findings(made) == {}
    place = tmp_path / "code/analysis.ipynb"
    place.write_text(TEXT.replace("depth = 1", "depth = 2"))
    stale = findings(made)["STALE"]
    assert (stale.status, stale.material, stale.places) == (
        "refuted",
        True,
        ["code/analysis.ipynb"],
    )
    assert record_run(made).ok
    (value,) = audit(made.root, rerun=False).audit.values
    assert value.obtained == "97.25"
    assert value.verdict != "SUPPORTED"
    assert "STALE" not in {finding.code for finding in value.findings}


def test_b34_stored_outputs_that_no_run_made_are_marked(tmp_path: Path) -> None:
    """Before any run, after one that only copied the notebook, and after one that executed it."""
    made = artifact(tmp_path / "a", 'cp analysis.ipynb "$RRA_OUTPUT_DIR/"')
    assert findings(made)["UNEXECUTED"].status == "refuted"
    assert record_run(made).ok
    stale = findings(made)["STALE"]
    assert (stale.status, stale.places) == ("uncertain", ["code/analysis.ipynb"])
    assert "nothing shows that it was produced by this code state" in stale.message
    (value,) = audit(made.root).audit.values
    assert value.verdict == "HARDCODED", "a new run tells"

    honest = artifact(tmp_path / "b", "python main.py")
    run = record_run(honest)
    left = sha256_file(run.outputs_dir / "analysis.ipynb")
    assert left != sha256_file(tmp_path / "b/code/analysis.ipynb")
    assert findings(honest) == {}


def test_b34_a_value_behind_a_cell_that_failed_supports_nothing(tmp_path: Path) -> None:
    """The command allowed the error and ended with 0; what came behind used what was stored."""
    error = {"output_type": "error", "ename": "KeyError", "evalue": "'x'", "traceback": []}
    text = notebook(cell("x['x']", outputs=[error]), cell("print(1)", "results", outputs=STORED))
    copy = 'sed "s/^/ /" analysis.ipynb > "$RRA_OUTPUT_DIR/analysis.ipynb"'
    made = artifact(tmp_path, copy, text)
    done = record_run(made)
    assert (done.ok, done.record.termination, done.record.exit_code) == (False, "ok", 0)
    (value,) = audit(made.root, rerun=False).audit.values
    assert value.verdict != "SUPPORTED"
    finding = findings(made)["UNEXECUTED"]
    assert (finding.status, finding.material) == ("refuted", True)
    assert finding.message.endswith("the newest ended with ok, cell 0 failed")
