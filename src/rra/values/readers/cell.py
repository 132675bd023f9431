"""Notebooks that were executed: the text output of one cell. Nothing is run, nothing is written."""

from __future__ import annotations

import dataclasses
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rra.errors import SelectError
from rra.values.readers.candidate import Candidate, nearest, read_text
from rra.values.readers.regex_lines import read_regex

_RESULTS = frozenset({"execute_result", "display_data"})
_NAMED = 8


def read_cell(path: Path, locator: dict[str, Any]) -> list[Candidate]:
    """Return what one cell printed and gave, or the matches of a pattern in that.

    Text is the standard output of the cell and its results as ``text/plain``, in order.

    Args:
        path: A notebook of nbformat 4, executed.
        locator: ``{tag or id or index, regex}``; the index counts every cell from 0.

    Raises:
        SelectError: The file is no such notebook, there is no such cell or several, it was not
            run, failed or left no text, or the pattern matches nothing.
    """
    cells = _cells(path)
    number, cell = _find(path, cells, locator)
    where = f"cell {number}"
    text = _text(path, where, cell)
    pattern = locator.get("regex")
    if pattern is None:
        return [Candidate(text.strip(), where, None, {}, "text")]
    with tempfile.TemporaryDirectory(prefix="rra-cell-") as name:
        printed = Path(name) / f"{path.name}, {where}".replace("/", "_")
        printed.write_text(text, encoding="utf-8")
        found = read_regex(printed, pattern)
    return [
        dataclasses.replace(one, place=f"{where}, {one.place} of its output", line=None)
        for one in found
    ]


def _cells(path: Path) -> list[dict[str, Any]]:
    try:
        document = json.loads(read_text(path))
    except (json.JSONDecodeError, RecursionError) as error:
        raise SelectError(
            f"{path.name} is not a notebook: {error}", hint="check that the run wrote all of it"
        ) from error
    cells = document.get("cells") if isinstance(document, dict) else None
    if not isinstance(cells, list) or not all(isinstance(cell, dict) for cell in cells):
        raise SelectError(
            f"{path.name} is not a notebook of nbformat 4: it has no list of cells",
            hint="save it with a current Jupyter",
        )
    return cells


def _find(
    path: Path, cells: list[dict[str, Any]], locator: dict[str, Any]
) -> tuple[int, dict[str, Any]]:
    """Return the one cell that is named, with its position."""
    if (index := locator.get("index")) is not None:
        if not 0 <= index < len(cells):
            raise SelectError(f"{path.name} has {len(cells)} cells; there is no cell {index}")
        return index, cells[index]
    key = "tag" if locator.get("tag") is not None else "id"
    wanted = str(locator[key])
    found = [(number, cell) for number, cell in enumerate(cells) if wanted in _names(cell, key)]
    if not found:
        known = [name for cell in cells for name in _names(cell, key)]
        raise SelectError(
            f"{path.name} has no cell with the {key} {wanted!r}", hint=nearest(wanted, known)
        )
    if len(found) > 1:
        numbers = ", ".join(str(number) for number, _ in found[:_NAMED])
        raise SelectError(
            f"{len(found)} cells of {path.name} have the {key} {wanted!r}: {numbers}",
            hint="give one of them a tag of its own, or name it by its index",
        )
    return found[0]


def _names(cell: dict[str, Any], key: str) -> list[str]:
    if key == "id":
        return [str(cell["id"])] if "id" in cell else []
    metadata = cell.get("metadata")
    tags = metadata.get("tags") if isinstance(metadata, dict) else None
    return [str(tag) for tag in tags] if isinstance(tags, list) else []


def _text(path: Path, where: str, cell: dict[str, Any]) -> str:
    if cell.get("cell_type") != "code":
        raise SelectError(f"{path.name}: {where} is a {cell.get('cell_type')} cell, not code")
    outputs = cell.get("outputs") or []
    if not outputs and cell.get("execution_count") is None:
        raise SelectError(
            f"{path.name}: {where} was not run", hint="select from the executed notebook"
        )
    pieces: list[str] = []
    for output in outputs:
        if output.get("output_type") == "error":
            raise SelectError(
                f"{path.name}: {where} ended with {output.get('ename')}: {output.get('evalue')}"
            )
        pieces.extend(_pieces(output))
    text = "".join(pieces)
    if not text.strip():
        raise SelectError(f"{path.name}: {where} left no text", hint="let the cell print the value")
    return text


def _pieces(output: dict[str, Any]) -> Iterator[str]:
    if output.get("output_type") == "stream" and output.get("name", "stdout") == "stdout":
        yield _joined(output.get("text"))
    elif output.get("output_type") in _RESULTS:
        data = output.get("data")
        if isinstance(data, dict) and "text/plain" in data:
            yield _joined(data["text/plain"]) + "\n"


def _joined(text: Any) -> str:
    """Return text that nbformat keeps as one string or as a list of lines."""
    return "".join(map(str, text)) if isinstance(text, list) else str(text or "")
