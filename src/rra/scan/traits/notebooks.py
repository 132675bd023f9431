"""How notebooks were left: order of execution, errors, names that nothing defines."""

from __future__ import annotations

import ast
import builtins
import itertools
import re
import warnings
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from rra.artifact.notebook import Cell, read_cells
from rra.errors import FormatError
from rra.scan.traits.objects import NotebookState

_GIVEN = frozenset(dir(builtins)) | {
    *("get_ipython", "display", "In", "Out", "_", "__", "___", "exit", "quit", "__file__"),
    *("xrange", "raw_input", "unicode", "basestring", "reduce", "long", "unichr"),
}
_MAGIC = re.compile(r"^(\s*)[%!].*$", re.MULTILINE)
_BRINGS_NAMES = re.compile(r"^\s*%(?:run|pylab|load|store|R\b|reload)|import \*", re.MULTILINE)


def read_notebook(root: Path, path: PurePosixPath) -> NotebookState:
    """Return how a notebook was left; one that cannot be read says why.

    Args:
        root: The repository.
        path: The notebook's place in it.
    """
    try:
        cells = read_cells(root / path)
    except (FormatError, OSError, UnicodeDecodeError, RecursionError) as error:
        why = error.problems[0].message if isinstance(error, FormatError) else str(error)
        return NotebookState(path, problem=why)
    code = [cell for cell in cells if cell.kind == "code" and cell.source.strip()]
    counts = [cell.execution_count for cell in code if cell.execution_count is not None]
    return NotebookState(
        path,
        code_cells=len(code),
        executed=len(counts),
        outputs=sum(cell.has_outputs for cell in code),
        in_order=all(first < then for first, then in itertools.pairwise(counts)),
        errors=tuple(error for cell in code for error in cell.errors),
        missing_names=_missing_names(code),
    )


def _missing_names(cells: list[Cell]) -> tuple[str, ...]:
    """Return names that are used and that no cell defines; none where that cannot be told."""
    used: dict[str, None] = {}
    bound: set[str] = set()
    for cell in cells:
        if _BRINGS_NAMES.search(cell.source) or cell.source.lstrip().startswith("%%"):
            return ()
        tree = _parse(_MAGIC.sub(r"\1pass", cell.source))
        if tree is None:
            return ()
        bound.update(_bound(tree))
        used.update(dict.fromkeys(_used(tree)))
    return tuple(name for name in used if name not in bound and name not in _GIVEN)


def _parse(source: str) -> ast.Module | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(re.sub(r"(?m)\?+\s*$", "", source))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _used(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            yield node.id


def _bound(tree: ast.Module) -> Iterator[str]:
    """Yield every name that is bound anywhere, arguments included."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            yield node.id
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.alias):
            yield (node.asname or node.name).partition(".")[0]
        elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
            yield node.name
        elif isinstance(node, ast.MatchMapping) and node.rest:
            yield node.rest
