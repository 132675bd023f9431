"""What runs a notebook from inside: copied beside a run and started by its environment's Python.

``notebook_runner.py NOTEBOOK``. The cells run from top to bottom in a kernel of the environment,
through the environment's own nbclient, in the working directory of the launcher. The executed
copy goes into the output directory under the notebook's name, also when a cell failed; the
notebook itself is only read. What cells print is printed.

It needs nbclient and ipykernel in the environment and nothing of `rra`; its syntax is that of
Python 3.7.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

PARAMETERS, INJECTED = "parameters", "injected-parameters"
"""Tags of papermill: the cell with the defaults, and the one that is put behind it."""

ALLOWED, SKIPPED = "raises-exception", "skip-execution"
MARK = "rra"
"""Key of what is added to the metadata of a cell that failed and stores no error."""

_IDS_SINCE = 5


def say(text: str) -> None:
    """Tell whoever started the run."""
    sys.stderr.write(f"notebook: {text}\n")
    sys.stderr.flush()


def tags_of(cell: dict[str, Any]) -> list[str]:
    """Return the tags of a cell."""
    return list(cell.get("metadata", {}).get("tags", []))


def prepare(document: dict[str, Any]) -> None:
    """Take out stored outputs, which are of an earlier state, and give ids where some are missing.

    The ids are the positions of the cells, so that two runs leave the same file.
    """
    seen: set[str] = set()
    ids = document.get("nbformat") == 4 and document.get("nbformat_minor", 0) >= _IDS_SINCE
    for number, cell in enumerate(document.get("cells", [])):
        if cell.get("cell_type") == "code":
            cell["outputs"], cell["execution_count"] = [], None
        if ids and (not cell.get("id") or cell["id"] in seen):
            cell["id"] = f"cell-{number}"
        seen.add(cell.get("id", ""))


def assignments(values: dict[str, Any]) -> str:
    """Return the Python text that sets parameters; names that Python cannot have get ``_``."""
    lines = ["# Parameters"]
    for name, value in sorted(values.items()):
        lines.append(f"{name.replace('-', '_')} = {value!r}")
    return "\n".join(lines) + "\n"


def inject(notebook: Any, values: dict[str, Any], new_cell: Any) -> None:
    """Put a cell with parameters behind the one that is tagged so, or first where there is none.

    A cell that an earlier run injected is replaced.
    """
    cells = [cell for cell in notebook.cells if INJECTED not in tags_of(cell)]
    notebook.cells = cells
    if not values:
        return
    at = next((n + 1 for n, cell in enumerate(cells) if PARAMETERS in tags_of(cell)), 0)
    cell = new_cell(assignments(values), metadata={"tags": [INJECTED]})
    if "id" in cell:
        cell["id"] = INJECTED
    if not at:
        say(f"no cell is tagged {PARAMETERS!r}; parameters are set before the first")
    cells.insert(at, cell)


def is_python(notebook: Any) -> bool:
    """Tell whether the cells are Python, which they are where nothing is said."""
    metadata = notebook.metadata
    language = metadata.get("kernelspec", {}).get("language")
    language = language or metadata.get("language_info", {}).get("name")
    return (language or "python").lower() == "python"


def show(cell: Any) -> None:
    """Print what a cell printed to standard output, and its results as text."""
    for output in cell.get("outputs", []):
        if output.get("output_type") == "stream":
            target = sys.stderr if output.get("name") == "stderr" else sys.stdout
            target.write(output.get("text", ""))
        elif "text/plain" in output.get("data", {}):
            sys.stdout.write(output["data"]["text/plain"] + "\n")
    sys.stdout.flush()
    sys.stderr.flush()


def failure(cell: Any) -> str:
    """Return the error that a cell ended with, in one line; nothing where it ended well."""
    for output in cell.get("outputs", []):
        if output.get("output_type") == "error":
            return f"{output.get('ename')}: {output.get('evalue')}"
    return ""


def execute(notebook: Any, client: Any) -> int:
    """Run the cells in order; return 0, or 1 when one failed that may not."""
    errors: Any = importlib.import_module("nbclient.exceptions")
    with client.setup_kernel():
        for number, cell in enumerate(notebook.cells):
            if cell.cell_type != "code":
                continue
            if SKIPPED in tags_of(cell):
                say(f"cell {number} is not run: its tag is {SKIPPED}")
                continue
            try:
                client.execute_cell(cell, number)
            except SystemExit:
                cell["metadata"][MARK] = {"failed": "it was running when the run was ended"}
                raise
            except errors.CellExecutionError:
                show(cell)
                say(f"cell {number} failed: {failure(cell)}")
                return 1
            except errors.DeadKernelError as error:
                cell["metadata"][MARK] = {"failed": f"it ended the kernel: {error}"}
                say(f"cell {number} ended the kernel: {error}")
                return 1
            show(cell)
            if failure(cell):
                say(f"cell {number} raised {failure(cell)}, as its tag {ALLOWED} allows")
    return 0


def read(path: str) -> dict[str, Any]:
    """Return a notebook as JSON.

    Raises:
        ValueError: It is not one; the message says where that shows.
    """
    name = os.path.basename(path)  # noqa: PTH119 - as plain as it can be
    try:
        with open(path, encoding="utf-8-sig") as file:  # noqa: PTH123 - as above
            document = json.load(file)
    except json.JSONDecodeError as error:
        message = f"{name} is not a notebook: line {error.lineno}: {error.msg}"
        raise ValueError(message) from None
    except (UnicodeDecodeError, RecursionError) as error:
        raise ValueError(f"{name} is not a notebook: {error}") from None
    if not isinstance(document, dict) or not ("cells" in document or "worksheets" in document):
        raise ValueError(f"{name} is JSON, and not that of a notebook")
    return document


def main(path: str) -> int:
    """Run a notebook; return the exit status."""
    try:
        nbformat: Any = importlib.import_module("nbformat")
        client_of: Any = importlib.import_module("nbclient").NotebookClient
    except ImportError as error:
        say(f"this environment cannot run notebooks: {error}; lock nbclient and ipykernel")
        return 1
    try:
        document = read(path)
    except ValueError as error:
        say(str(error))
        return 1
    try:
        prepare(document)
        notebook: Any = nbformat.reads(json.dumps(document), as_version=4)
    except Exception as error:  # noqa: BLE001 - whatever this version of nbformat says
        first = (str(error).splitlines() or [""])[0]
        say(f"{os.path.basename(path)} cannot be read: {type(error).__name__}: {first}")  # noqa: PTH119 - as above
        say("open it in Jupyter and save it anew")
        return 1
    with open(os.environ["RRA_PARAMETERS"], encoding="utf-8") as file:  # noqa: PTH123 - as above
        values = json.load(file)
    python = is_python(notebook)
    if python:
        inject(notebook, values, nbformat.v4.new_code_cell)
    elif values:
        say("parameters are set in Python only; this notebook finds them in RRA_PARAMETERS")
    named = notebook.metadata.get("kernelspec", {}).get("name", "python3")
    client = client_of(
        notebook,
        kernel_name="python3" if python else named,
        timeout=None,
        allow_errors=False,
        record_timing=False,
        resources={"metadata": {"path": os.getcwd()}},  # noqa: PTH109 - as above
    )
    target = os.path.join(os.environ["RRA_OUTPUT_DIR"], os.path.basename(path))  # noqa: PTH118, PTH119
    try:
        return execute(notebook, client)
    finally:
        nbformat.write(notebook, target)


if __name__ == "__main__":
    os.environ["JUPYTER_PREFER_ENV_PATH"] = "1"
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    sys.exit(main(sys.argv[1]))
