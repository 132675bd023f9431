"""Reading notebooks; nothing here ever writes one."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

from rra.errors import FormatError, Problem


@dataclasses.dataclass(frozen=True)
class Cell:
    """One cell of a notebook.

    Attributes:
        kind: ``code``, ``markdown`` or ``raw``.
        source: Text of the cell.
        execution_count: Number of its last run, if any.
        has_outputs: Whether outputs are stored with it.
        errors: Errors among the stored outputs, as ``name: message``.
    """

    kind: str
    source: str
    execution_count: int | None
    has_outputs: bool
    errors: tuple[str, ...] = ()


def read_cells(path: Path) -> list[Cell]:
    """Return the cells of a notebook of any version, in order.

    What is wrong with a notebook but does not keep its cells from being read (ids that are
    missing or given twice) is left as it is: upstream's `reads` would repair it in memory, with
    random ids, and warn.

    Raises:
        FormatError: The file is not a notebook.
    """
    import nbformat
    import nbformat.reader

    try:
        text = path.read_text("utf-8-sig")
        notebook: Any = nbformat.reader.reads(text)  # type: ignore[no-untyped-call]
        if nbformat.reader.get_version(notebook)[0] != 4:  # type: ignore[no-untyped-call]
            notebook = nbformat.convert(notebook, 4)  # type: ignore[no-untyped-call]
        cells = [_cell(cell) for cell in notebook["cells"]]
    except (ValueError, KeyError, AttributeError, TypeError, nbformat.ValidationError) as error:
        first = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        if isinstance(error, json.JSONDecodeError):
            first = f"not JSON: {first}"
        problem = Problem(f"not a notebook: {first}", str(path), clause="code/notebook")
        raise FormatError(str(problem), problems=(problem,)) from error
    return cells


def _cell(cell: Any) -> Cell:
    source = cell.get("source", "")
    return Cell(
        str(cell.get("cell_type", "raw")),
        "".join(source) if isinstance(source, list) else str(source),
        cell.get("execution_count"),
        bool(cell.get("outputs")),
        tuple(_error(output) for output in cell.get("outputs") or () if _is_error(output)),
    )


def _is_error(output: Any) -> bool:
    return isinstance(output, dict) and output.get("output_type") in {"error", "pyerr"}


def _error(output: Any) -> str:
    name, message = str(output.get("ename") or "error"), str(output.get("evalue") or "")
    return f"{name}: {message}"[:200].rstrip(": \n")
