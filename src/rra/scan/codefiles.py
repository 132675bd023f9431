"""Reading the Python files of a repository, each with what the others tell about it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path, PurePosixPath

from rra.artifact.notebook import read_cells
from rra.errors import FormatError, Problem
from rra.scan.objects import PythonFile
from rra.scan.python import read_constants, read_python
from rra.scan.reach import local_module
from rra.scan.scopes import LocalCall
from rra.scan.text import MAX_TEXT_BYTES, read_text

_MAX_PYTHON_FILES = 3_000
_MAX_TWICE = 300
Incoming = dict[str, list[LocalCall]]


def read_python_files(
    root: Path, files: Mapping[PurePosixPath, int], problems: list[Problem]
) -> dict[PurePosixPath, PythonFile]:
    """Read scripts and the code of notebooks.

    Args:
        root: The repository.
        files: Its files with their sizes.
        problems: Takes what cannot be read.
    """
    texts = _read(root, files, problems)
    constants: dict[PurePosixPath, dict[str, str]] = {}

    def constants_for(importer: PurePosixPath) -> Callable[[str], Mapping[str, str]]:
        def lookup(name: str) -> Mapping[str, str]:
            module = local_module(name, importer, texts)
            if module is None:
                return {}
            if module not in constants:
                constants[module] = read_constants(texts[module])
            return constants[module]

        return lookup

    found = {path: read_python(path, text, constants_for(path)) for path, text in texts.items()}
    for path, calls in list(_incoming(found).items())[:_MAX_TWICE]:
        found[path] = read_python(path, texts[path], constants_for(path), calls)
    for path, python in found.items():
        if python.syntax_error:
            language = " (Python 2)" if python.python2 else ""
            problems.append(
                _warning(f"cannot be parsed{language}: {python.syntax_error}", path, "scan/syntax")
            )
    return found


def _read(
    root: Path, files: Mapping[PurePosixPath, int], problems: list[Problem]
) -> dict[PurePosixPath, str]:
    texts: dict[PurePosixPath, str] = {}
    candidates = [path for path in files if path.suffix in {".py", ".ipynb"}]
    if len(candidates) > _MAX_PYTHON_FILES:
        # Scripts that are started lie near the top; a package lies deeper.
        candidates = sorted(candidates, key=lambda path: (len(path.parts), path))
        count = f"{_MAX_PYTHON_FILES} of {len(candidates)}"
        message = f"only {count} Python files and notebooks were read, those nearest to the top"
        problems.append(_warning(message, PurePosixPath()))
    for path in candidates[:_MAX_PYTHON_FILES]:
        if files[path] > MAX_TEXT_BYTES:
            problems.append(_warning("too large to be read", path))
            continue
        text = (
            _notebook(root, path, problems) if path.suffix == ".ipynb" else read_text(root / path)
        )
        if text is not None:
            texts[path] = text
    return texts


def _incoming(found: Mapping[PurePosixPath, PythonFile]) -> dict[PurePosixPath, Incoming]:
    """Return the calls that files make of the functions of others, by file and by function."""
    calls: dict[PurePosixPath, Incoming] = {}
    for path, python in found.items():
        for call in python.calls:
            module, _, function = call.function.rpartition(".")
            target = local_module(module, path, found) if module.strip(".") else None
            if target is not None and target != path:
                calls.setdefault(target, {}).setdefault(function, []).append(call)
    return calls


def _notebook(root: Path, path: PurePosixPath, problems: list[Problem]) -> str | None:
    try:
        cells = read_cells(root / path)
    except (FormatError, OSError, UnicodeDecodeError) as error:
        problems.append(_warning(f"cannot be read: {error}", path, "scan/notebook"))
        return None
    code = "\n".join(cell.source for cell in cells if cell.kind == "code")
    return re.sub(r"^(\s*)[%!].*$", r"\1pass", code, flags=re.MULTILINE)


def _warning(message: str, path: PurePosixPath, clause: str = "scan") -> Problem:
    return Problem(message, str(path), clause=clause, severity="warning")
