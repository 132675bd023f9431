"""Which files of the repository lie behind a script: what it imports and what it starts."""

from __future__ import annotations

import re
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import PurePosixPath

from rra.scan.objects import PythonFile

_STARTED = re.compile(r"(?<![\w/.-])((?:\./)?[\w./-]+\.(?:py|sh|bash|R|jl|ipynb))\b")

_IMPORT_ROOTS = (PurePosixPath(), PurePosixPath("src"))
"""Folders that imports are written for, beside the importer's own: the repository and `src`."""

_INLINE_IMPORT = re.compile(r"(?:['\";]\s*|^\s*)(?:import|from)\s+([A-Za-z_][\w.]*)", re.MULTILINE)


def local_module(
    name: str, importer: PurePosixPath, files: Collection[PurePosixPath]
) -> PurePosixPath | None:
    """Return the file of the repository that an import names, or None.

    Args:
        name: Dotted module as written, with leading dots for a relative import.
        importer: The file that imports it.
        files: Files of the repository.
    """
    dots = len(name) - len(name.lstrip("."))
    parts = [part for part in name[dots:].split(".") if part]
    if dots:
        bases = [importer.parent.joinpath(*[".."] * (dots - 1))]
        bases = [PurePosixPath(*_flatten(base)) for base in bases]
    else:
        bases = [importer.parent, *_IMPORT_ROOTS]
    for base in bases:
        if not parts:
            continue
        stem = base.joinpath(*parts)
        for candidate in (stem.with_name(stem.name + ".py"), stem / "__init__.py"):
            if candidate in files:
                return candidate
    return None


def _flatten(path: PurePosixPath) -> list[str]:
    parts: list[str] = []
    for part in path.parts:
        if part == ".." and parts:
            parts.pop()
        elif part not in {"..", "."}:
            parts.append(part)
    return parts


def missing_import_roots(
    script: PurePosixPath,
    behind: Iterable[PurePosixPath],
    python_files: Mapping[PurePosixPath, PythonFile],
    files: Collection[PurePosixPath],
) -> dict[PurePosixPath, str]:
    """Return folders that a script needs on Python's path and does not find there.

    Python started with the path of a script looks for modules in the script's own folder
    (documentation of `sys.path`), and not in the folder that it is started from.

    Args:
        script: The script that is started.
        behind: The script and the files that it imports, as `files_behind` returns them.
        python_files: Python files by path.
        files: Files of the repository.

    Returns:
        Each folder with a module that is imported from it.
    """
    found: dict[PurePosixPath, str] = {}
    names = {n for p in behind if p in python_files for n in python_files[p].local_imports}
    for name in sorted(names):
        if name.startswith(".") or name.split(".")[0] in sys.stdlib_module_names:
            continue
        roots = (script.parent, *_IMPORT_ROOTS)
        root = next((root for root in roots if _module_in(root, name, files)), script.parent)
        if root != script.parent:
            found.setdefault(root, name)
    return found


def _module_in(root: PurePosixPath, name: str, files: Collection[PurePosixPath]) -> bool:
    stem = root.joinpath(*name.split("."))
    return stem.with_name(stem.name + ".py") in files or stem / "__init__.py" in files


def files_behind(
    start: PurePosixPath,
    python_files: Mapping[PurePosixPath, PythonFile],
    shell_texts: Mapping[PurePosixPath, str],
    files: Collection[PurePosixPath],
) -> tuple[PurePosixPath, ...]:
    """Return a script and every file of the repository that it imports or starts, nearest first.

    Args:
        start: The script.
        python_files: Python files by path.
        shell_texts: Texts of shell scripts and Makefiles by path.
        files: Files of the repository.
    """
    found: dict[PurePosixPath, None] = {}
    pending = [start]
    while pending:
        path = pending.pop(0)
        if path in found:
            continue
        found[path] = None
        pending.extend(_next(path, python_files, shell_texts, files))
    return tuple(found)


def _next(
    path: PurePosixPath,
    python_files: Mapping[PurePosixPath, PythonFile],
    shell_texts: Mapping[PurePosixPath, str],
    files: Collection[PurePosixPath],
) -> Iterator[PurePosixPath]:
    python = python_files.get(path)
    if python is not None:
        for name in sorted(python.local_imports):
            module = local_module(name, path, files)
            if module is not None:
                yield module
    text = shell_texts.get(path, "")
    for name in _INLINE_IMPORT.findall(text):
        module = local_module(name, path, files)
        if module is not None:
            yield module
    for name in _STARTED.findall(text):
        for candidate in (PurePosixPath(name), path.parent / name):
            plain = PurePosixPath(*_flatten(candidate))
            if plain in files:
                yield plain
                break
