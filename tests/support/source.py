"""The modules of ``src/rra`` as syntax trees, for the tests of the architecture."""

from __future__ import annotations

import ast
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "rra"

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Module:
    """One Python file of the package: dotted name, path from the root, tree, number of lines."""

    name: str
    path: PurePosixPath
    tree: ast.Module
    lines: int


@cache
def modules() -> tuple[Module, ...]:
    """Return every module of ``src/rra``, sorted by path."""
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        place = PurePosixPath(path.relative_to(ROOT))
        found.append(Module(name, place, ast.parse(text), len(text.splitlines())))
    return tuple(found)


def functions(module: Module) -> Iterator[tuple[str, Function]]:
    """Yield each function and method of a module with its dotted place."""

    def walk(node: ast.AST, place: str) -> Iterator[tuple[str, Function]]:
        for child in ast.iter_child_nodes(node):
            inner = f"{place}.{child.name}" if isinstance(child, _NAMED) else place
            if isinstance(child, Function):
                yield inner, child
            yield from walk(child, inner)

    return walk(module.tree, module.name)


_NAMED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def tracked_files() -> list[PurePosixPath]:
    """Return what git tracks and the working tree still has, sorted."""
    argv = ["git", "ls-files", "-z"]
    listing = subprocess.run(argv, cwd=ROOT, capture_output=True, check=True, text=True).stdout
    names = sorted(name for name in listing.split("\0") if name)
    return [PurePosixPath(name) for name in names if (ROOT / name).is_file()]
