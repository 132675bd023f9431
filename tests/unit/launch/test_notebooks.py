"""Notebooks as launchers: top to bottom, parameters, failures with their cell, an executed copy."""

from __future__ import annotations

import ast
import dataclasses
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from rra import api
from rra._base.files import sha256_file
from rra.environment import MaterialisedEnvironment
from rra.environment.materialise import read_installed
from rra.errors import LaunchError
from rra.launch import RunResult, notebook_runner, run_launcher
from rra.model import Selector
from rra.sandbox import best_sandbox
from rra.values import selectors
from tests.support.needs import needs
from tests.support.runs import host_environment, request, write_artifact

LAUNCHERS = {
    "main": {
        "entry": "launchers/main.ipynb",
        "outputs": ["metrics.json"],
        "parameters": {"depth": {"type": "integer", "default": 2}},
    }
}
WRITES = (
    "import json, os\n"
    "with open(os.environ['RRA_OUTPUT_DIR'] + '/metrics.json', 'w') as file:\n"
    "    json.dump({'accuracy': depth}, file)\n"
    "print('accuracy', depth)\n"
    "depth"
)


def cell(source: str, *tags: str, **more: Any) -> dict[str, Any]:
    ran: dict[str, Any] = {"execution_count": None, "outputs": [], "metadata": {"tags": list(tags)}}
    return {"cell_type": "code", "source": source, **ran, **more}


def notebook(*cells: dict[str, Any], minor: int = 5) -> str:
    kernel = {"name": "somebodys-kernel", "language": "python", "display_name": "P"}
    document = {"nbformat": 4, "nbformat_minor": minor, "metadata": {"kernelspec": kernel}}
    return json.dumps({**document, "cells": list(cells)})


STALE = [{"output_type": "stream", "name": "stdout", "text": "accuracy 99\n"}]
GOOD = notebook(cell("depth = 1", "parameters", id="p"), cell(WRITES, "results", outputs=STALE))


@pytest.fixture(scope="session")
def environment(tmp_path_factory: pytest.TempPathFactory) -> MaterialisedEnvironment:
    """An environment that can run notebooks, installed once."""
    place = tmp_path_factory.mktemp("notebooks") / "env"
    uv = shutil.which("uv", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    assert uv is not None
    subprocess.run([uv, "venv", "-q", "--python", sys.executable, str(place)], check=True)
    install = [uv, "pip", "install", "-q", "--python", str(place), "nbclient", "ipykernel"]
    subprocess.run(install, check=True)
    return dataclasses.replace(
        host_environment(),
        root=place,
        python=place / "bin" / "python",
        bin=place / "bin",
        packages=tuple(sorted(read_installed(place).items())),
    )


def run(place: Path, text: str, environment: MaterialisedEnvironment, **changes: Any) -> RunResult:
    artifact = write_artifact(place, {"launchers/main.ipynb": text}, launchers=LAUNCHERS)
    changes.setdefault("sandbox", best_sandbox("none"))
    return run_launcher(request(artifact, environment=environment, **changes))


def test_without_a_kernel_the_lock_is_named(tmp_path: Path) -> None:
    with pytest.raises(LaunchError, match="locks no nbclient and no ipykernel") as caught:
        run(tmp_path / "a", GOOD, host_environment())
    assert "rra lock" in caught.value.hint
    none = dataclasses.replace(host_environment(), python=None)  # type: ignore[arg-type]
    with pytest.raises(LaunchError, match="no Python of its own"):
        run(tmp_path / "b", GOOD, none)


def test_what_an_environment_does_not_list_is_said_by_the_run(tmp_path: Path) -> None:
    done = run(tmp_path / "a", GOOD, dataclasses.replace(host_environment(), kind="system"))
    assert not done.ok
    assert "lock nbclient and ipykernel" in done.message


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{\n "cells": [\n', "launchers/main.ipynb:3:1: not a notebook: Expecting value"),
        (GOOD[:-1], f"launchers/main.ipynb:1:{len(GOOD)}: not a notebook: Expecting ',' delimiter"),
        ("", "launchers/main.ipynb:1:1: not a notebook: Expecting value"),
        ("[1]", "launchers/main.ipynb is JSON, and not that of a notebook"),
        ('{"cells": []}', "it has no nbformat and no cells"),
        ('{"nbformat": 4, "cells": {}}', "it has no nbformat and no cells"),
        ('{"nbformat": "4", "cells": []}', "it has no nbformat and no cells"),
    ],
)
def test_b22_what_is_no_notebook_is_said_with_its_place_before_anything_runs(
    tmp_path: Path, text: str, said: str
) -> None:
    with pytest.raises(LaunchError) as caught:
        run(tmp_path / "a", text, host_environment())
    assert said in caught.value.message
    assert "save it anew" in caught.value.hint
    assert not (tmp_path / "a" / "evidence").exists()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b'{"nbformat":4,', "broken.ipynb is not a notebook: line 1: Expecting property name"),
        (b'{\n"cells": [', "broken.ipynb is not a notebook: line 2: Expecting value"),
        (b"\xff", "broken.ipynb is not a notebook: 'utf-8' codec can't decode byte 0xff"),
        (b"[" * 100_000, "broken.ipynb is not a notebook: maximum recursion depth"),
        (b"[1]", "broken.ipynb is JSON, and not that of a notebook"),
    ],
)
def test_b22_the_runner_says_what_is_no_notebook_without_a_traceback(
    tmp_path: Path, content: bytes, said: str
) -> None:
    (tmp_path / "broken.ipynb").write_bytes(content)
    (tmp_path / "nbformat.py").touch()
    (tmp_path / "nbclient.py").write_text("NotebookClient = None\n")
    done = subprocess.run(
        [sys.executable, notebook_runner.__file__, tmp_path / "broken.ipynb"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"notebook: {said}")


@pytest.mark.slow
def test_what_only_the_reader_of_notebooks_refuses_is_one_line(
    environment: MaterialisedEnvironment, tmp_path: Path
) -> None:
    broken = json.loads(GOOD)
    broken["nbformat"] = 400
    done = run(tmp_path / "a", json.dumps(broken), environment)
    assert not done.ok
    assert "notebook: main.ipynb cannot be read: " in done.message
    assert "Traceback" not in done.message


@pytest.mark.slow
def test_b34_b22_a_notebook_runs_top_to_bottom_and_is_not_changed(
    tmp_path: Path, environment: MaterialisedEnvironment
) -> None:
    done = run(tmp_path / "a", GOOD, environment)
    assert done.ok, done.message
    assert (tmp_path / "a" / "launchers" / "main.ipynb").read_text() == GOOD
    assert done.record.argv == ["python", "run_notebook.py", "launchers/main.ipynb"]
    assert json.loads((done.outputs_dir / "metrics.json").read_text()) == {"accuracy": 2}
    assert (done.outputs_dir / "stdout.txt").read_text() == "accuracy 2\n2\n"
    assert {one.path for one in done.record.outputs} >= {"main.ipynb", "metrics.json"}
    document = json.loads((done.outputs_dir / "main.ipynb").read_text())
    assert [one["metadata"]["tags"] for one in document["cells"]] == [
        ["parameters"],
        ["injected-parameters"],
        ["results"],
    ]
    assert "".join(document["cells"][1]["source"]) == "# Parameters\ndepth = 2\n"
    assert "99" not in json.dumps(document["cells"])
    chosen = {"tag": "results", "regex": "accuracy (?P<value>[0-9]+)"}
    selector = Selector.model_validate({"launcher": "main", "file": "main.ipynb", "cell": chosen})
    assert selectors.select(done.outputs_dir, selector).text == "2"
    again = run(tmp_path / "b", GOOD, environment)
    assert sha256_file(again.outputs_dir / "main.ipynb") == sha256_file(
        done.outputs_dir / "main.ipynb"
    )


@pytest.mark.slow
@needs("bwrap")
def test_a_notebook_runs_in_a_sandbox_without_network(
    tmp_path: Path, environment: MaterialisedEnvironment
) -> None:
    sandbox = best_sandbox("bwrap")
    done = run(tmp_path / "a", GOOD, environment, sandbox=sandbox, parameters={"depth": "7"})
    assert done.ok, done.message
    assert json.loads((done.outputs_dir / "metrics.json").read_text()) == {"accuracy": 7}
    assert done.record.network_attempts == []


@pytest.mark.slow
def test_a_cell_that_fails_makes_the_run_fail_and_is_named(
    tmp_path: Path, environment: MaterialisedEnvironment
) -> None:
    text = notebook(cell("depth = 1", "parameters"), cell("1 / 0"), cell(WRITES), minor=4)
    done = run(tmp_path / "a", text, environment)
    assert (done.ok, done.record.termination, done.record.exit_code) == (False, "exit", 1)
    assert "cell 2 of main.ipynb failed: ZeroDivisionError: division by zero" in done.message
    (failed,) = done.record.failed_cells or []
    assert failed.to_json() == {
        "path": "main.ipynb",
        "cell": 2,
        "error": "ZeroDivisionError: division by zero",
    }
    document = json.loads((done.outputs_dir / "main.ipynb").read_text())
    assert document["cells"][2]["outputs"][0]["ename"] == "ZeroDivisionError"
    assert document["cells"][3]["execution_count"] is None


@pytest.mark.slow
def test_a_failure_that_is_allowed_and_a_cell_that_is_skipped_are_said(
    tmp_path: Path, environment: MaterialisedEnvironment
) -> None:
    text = notebook(
        cell("1 / 0", "raises-exception"),
        cell("1 / 0", "skip-execution", outputs=STALE),
        cell(WRITES),
    )
    done = run(tmp_path / "a", text, environment)
    assert done.ok, done.message
    assert done.record.failed_cells is None
    said = (done.outputs_dir / "stderr.txt").read_text()
    assert "cell 1 raised ZeroDivisionError: division by zero, as its tag raises" in said
    assert "cell 2 is not run: its tag is skip-execution" in said
    assert "no cell is tagged 'parameters'" in said
    assert "accuracy 99" not in (done.outputs_dir / "main.ipynb").read_text()


@pytest.mark.slow
def test_a_cell_that_ends_the_kernel_is_named(
    tmp_path: Path, environment: MaterialisedEnvironment
) -> None:
    done = run(tmp_path / "a", notebook(cell("import os; os._exit(3)")), environment)
    assert not done.ok
    assert "cell 1 ended the kernel" in done.message
    (failed,) = done.record.failed_cells or []
    assert (failed.cell, failed.error[:20]) == (1, "it ended the kernel:")


@pytest.mark.slow
def test_a_cell_that_was_running_at_the_end_is_named(
    tmp_path: Path, environment: MaterialisedEnvironment
) -> None:
    begun = tmp_path / "begun"
    waits = f"import pathlib, time; pathlib.Path({str(begun)!r}).touch(); time.sleep(600)"
    text = notebook(cell("1"), cell(waits))
    done = run(tmp_path / "a", text, environment, cancelled=begun.exists)
    assert done.record.termination == "cancelled"
    (failed,) = done.record.failed_cells or []
    assert (failed.cell, failed.error) == (2, "it was running when the run was ended")


@pytest.mark.slow
@pytest.mark.clause("execution-record/failed-cells-are-said")
def test_a_command_that_allows_errors_hides_none(
    tmp_path: Path, environment: MaterialisedEnvironment
) -> None:
    """The command ends with status 0 and leaves what the artifact asks for; the run fails."""
    script = (
        'jupyter execute --allow-errors --kernel_name=python3 --output="$RRA_OUTPUT_DIR/ran.ipynb" '
        "analysis.ipynb\n"
        'echo "{}" > "$RRA_OUTPUT_DIR/metrics.json"\n'
    )
    text = notebook(cell("1 / 0", "raises-exception"), cell("2 / 0"), cell("3"))
    files = {"launchers/main.sh": script, "code/analysis.ipynb": text}
    artifact = write_artifact(tmp_path, files)
    done = run_launcher(request(artifact, environment=environment, sandbox=best_sandbox("none")))
    assert (done.record.termination, done.record.exit_code) == ("ok", 0), done.message
    assert not done.ok
    assert "ended well" in done.message.splitlines()[0]
    assert "but not every cell of its notebook did" in done.message.splitlines()[0]
    assert done.message.splitlines()[1] == (
        "cell 1 of ran.ipynb failed: ZeroDivisionError: division by zero"
    )


# ------------------------------------------------------------------------ the runner itself


def test_b22_missing_and_double_ids_are_given_by_place() -> None:
    document = json.loads(notebook(cell("1", id="a"), cell("2", id="a"), cell("3")))
    notebook_runner.prepare(document)
    assert [one["id"] for one in document["cells"]] == ["a", "cell-1", "cell-2"]
    old = json.loads(notebook(cell("1"), minor=4))
    notebook_runner.prepare(old)
    assert "id" not in old["cells"][0]


def test_b29_parameters_are_text_and_no_code() -> None:
    values = {"learning-rate": 0.5, "name": "'; import os  # $(touch p)\n", "flag": True, "n": 3}
    text = notebook_runner.assignments(values)
    found = {}
    for node in ast.parse(text).body:
        assert isinstance(node, ast.Assign)
        (target,) = node.targets
        assert isinstance(target, ast.Name)
        found[target.id] = ast.literal_eval(node.value)
    assert found == {name.replace("-", "_"): value for name, value in values.items()}


def test_the_runner_is_plain_python_of_an_old_version() -> None:
    source = Path(notebook_runner.__file__).read_text("utf-8")
    tree = ast.parse(source, feature_version=(3, 7))
    imports = [node for node in tree.body if isinstance(node, ast.Import)]
    assert {alias.name for node in imports for alias in node.names} <= sys.stdlib_module_names


@pytest.mark.slow
@needs("make")
def test_an_exported_notebook_leaves_what_a_run_leaves(
    tmp_path: Path, environment: MaterialisedEnvironment
) -> None:
    done = run(tmp_path / "a", GOOD, environment)
    assert done.ok, done.message
    other = write_artifact(
        tmp_path / "b c",
        {"launchers/main.ipynb": GOOD, "code/f": "", "code/.git/g": ""},
        launchers=LAUNCHERS,
    )
    api.run(other.root, export=other.root / "runs.mk")
    env = {**os.environ, "RRA_BIN_HOST": str(environment.bin)}
    argv = ["make", "-f", "runs.mk"]
    made = subprocess.run(
        argv, cwd=other.root, env=env, capture_output=True, text=True, check=False
    )
    assert made.returncode == 0, made.stderr
    for name in ("metrics.json", "stdout.txt", "main.ipynb"):
        own = (done.outputs_dir / name).read_bytes()
        assert (other.root / "outputs/main" / name).read_bytes() == own
    assert (other.root / "launchers/main.ipynb").read_text() == GOOD
