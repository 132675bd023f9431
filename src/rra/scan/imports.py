"""Import statements of code, as they can be tried in an environment without the code itself."""

from __future__ import annotations

import ast
import dataclasses
import re
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path, PurePosixPath

from rra.artifact.notebook import read_cells
from rra.errors import FormatError
from rra.scan.python import parse
from rra.scan.text import read_text

_MOST_FILES = 3_000
_MOST_STATEMENTS = 400
_MAGIC = re.compile(r"^(\s*)[%!].*$", re.MULTILINE)


@dataclasses.dataclass(frozen=True, slots=True, order=True)
class ImportStatement:
    """One import that code needs as soon as it is loaded.

    Attributes:
        text: The statement, one name in it: ``from scipy.misc import imread``.
        module: Top-level name.
        place: Where it was first seen, as ``file:line``.
    """

    text: str
    module: str
    place: str


def import_statements(
    root: Path, files: Iterable[PurePosixPath], modules: Collection[str]
) -> tuple[ImportStatement, ...]:
    """Return what code imports when it is loaded, each statement once.

    An import inside ``try``, a condition or a function may be meant for another environment, so
    it is not among them; neither is what the code provides itself. Names that are not plain
    identifiers do not occur: each statement is written anew from the syntax tree.

    Args:
        root: Directory of the code.
        files: The code's files, relative to it.
        modules: Top-level names of packages that are neither local nor of the standard library.
    """
    found: dict[str, ImportStatement] = {}
    for path, tree in _trees(root, files):
        for module, text, line in _loaded(tree):
            if module in modules and len(found) < _MOST_STATEMENTS:
                found.setdefault(text, ImportStatement(text, module, f"{path}:{line}"))
    return tuple(sorted(found.values()))


def optional_modules(root: Path, files: Iterable[PurePosixPath]) -> frozenset[str]:
    """Return top-level names that code only imports where it also bears that they are not there.

    That is in the body of a ``try`` that catches the failed import, everywhere it is imported.

    Args:
        root: Directory of the code.
        files: The code's files, relative to it.
    """
    borne: set[str] = set()
    needed: set[str] = set()
    for _, tree in _trees(root, files):
        inside = {id(node) for attempt in ast.walk(tree) for node in _borne(attempt)}
        for node in ast.walk(tree):
            for module in _modules(node):
                (borne if id(node) in inside else needed).add(module)
    return frozenset(borne - needed)


def _borne(node: ast.AST) -> Iterator[ast.AST]:
    if not isinstance(node, ast.Try):
        return
    names = {
        found.id
        for handler in node.handlers
        for found in ast.walk(handler.type or ast.Name("Exception"))
        if isinstance(found, ast.Name)
    }
    if names & {"ImportError", "ModuleNotFoundError", "Exception", "BaseException"}:
        for statement in node.body:
            yield from ast.walk(statement)


def _modules(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name.split(".")[0] for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
        yield node.module.split(".")[0]


def _trees(
    root: Path, files: Iterable[PurePosixPath]
) -> Iterator[tuple[PurePosixPath, ast.Module]]:
    wanted = [path for path in files if path.suffix in {".py", ".ipynb"}]
    for path in wanted[:_MOST_FILES]:
        tree = parse(_code(root / path))
        if not isinstance(tree, str):
            yield path, tree


def _code(path: Path) -> str:
    if path.suffix == ".py":
        return read_text(path) or ""
    try:
        cells = read_cells(path)
    except (FormatError, OSError, UnicodeDecodeError):
        return ""
    code = "\n".join(cell.source for cell in cells if cell.kind == "code")
    return _MAGIC.sub(r"\1pass", code)


def _loaded(tree: ast.Module) -> Iterator[tuple[str, str, int]]:
    for node in tree.body:
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name.split(".")[0], f"import {alias.name}", node.lineno
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            top = node.module.split(".")[0]
            for alias in node.names:
                text = f"from {node.module} import {alias.name}"
                if alias.name == "*":
                    text = f"import {node.module}"
                if top != "__future__":
                    yield top, text, node.lineno
