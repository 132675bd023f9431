"""Cells that failed in notebooks that a run left, whatever executed them and allowed that."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rra._base.files import sha256_file
from rra.artifact import Artifact
from rra.evidence import printable
from rra.launch.inventory import regular_files
from rra.launch.notebook_runner import ALLOWED, MARK, tags_of
from rra.model.record import FailedCell

_LARGEST = 64 << 20
_MOST_NOTEBOOKS, _MOST_CELLS = 100, 20
_LONGEST = 200


def failed_cells(artifact: Artifact, outputs: Path) -> list[FailedCell]:
    """Return the code cells that ended with an error and are not tagged as allowed to.

    A notebook that lies in the artifact just so was not executed by the run, and its stored
    errors are of an earlier one.

    Args:
        artifact: The artifact, as the run found it.
        outputs: What the run left.
    """
    names = [path for path, _ in regular_files(outputs) if path.suffix == ".ipynb"]
    found: list[FailedCell] = []
    for name in sorted(names)[:_MOST_NOTEBOOKS]:
        file = outputs / name
        failed = [
            FailedCell(path=printable(name), cell=number, error=error)
            for number, error in _failed(file)
        ]
        if failed and not _is_stored(artifact, file):
            found += failed
    return found[:_MOST_CELLS]


def told(cells: list[FailedCell] | None) -> list[str]:
    """Return one line for each of some cells."""
    return [f"cell {one.cell} of {one.path} failed: {one.error}" for one in cells or []]


def _failed(file: Path) -> Iterator[tuple[int, str]]:
    """Yield index and error of each cell that failed; nothing of what is no notebook."""
    try:
        if file.stat().st_size > _LARGEST:
            return
        document = json.loads(file.read_bytes().decode("utf-8-sig"))
        cells = list(enumerate(document["cells"]))
    except (OSError, ValueError, RecursionError, KeyError, TypeError):
        return
    for number, cell in cells:
        try:
            error = _error(cell)
        except (AttributeError, TypeError):
            continue
        if error:
            yield number, error


def _error(cell: dict[str, Any]) -> str:
    """Return the error of a cell in one line; nothing where it ended well, or was allowed to."""
    if cell.get("cell_type") != "code" or ALLOWED in tags_of(cell):
        return ""
    mark = cell.get("metadata", {}).get(MARK, {}).get("failed")
    if isinstance(mark, str) and mark:
        return _line(mark)
    for output in cell.get("outputs") or []:
        if output.get("output_type") in {"error", "pyerr"}:
            return _line(f"{output.get('ename') or 'error'}: {output.get('evalue') or ''}")
    return ""


def _line(text: str) -> str:
    first = text.strip().partition("\n")[0][:_LONGEST].rstrip(": ")
    return first.encode("utf-8", "replace").decode() or "error"


def _is_stored(artifact: Artifact, file: Path) -> bool:
    """Tell whether a notebook lies in the artifact as it is."""
    folders = {artifact.path(artifact.manifest.code.root), artifact.root / "launchers"}
    same = (
        path
        for folder in folders
        for path in folder.rglob(file.name)
        if path.is_file() and path.stat().st_size == file.stat().st_size
    )
    return any(sha256_file(path) == sha256_file(file) for path in same)
