"""Which places of a file can be written differently without changing what runs.

Prose, records and logs can, comments and docstrings can, and so can what packages say of their
authors. A string in code, a path in a lock or a cell of a table cannot: there a name is reported,
and its author decides what becomes of it.
"""

from __future__ import annotations

import ast
import io
import json
import re
import tokenize
import tomllib
import warnings
from collections.abc import Callable, Iterator
from pathlib import PurePosixPath
from typing import Any

from rra.author.anonymous.identity import LICENCES, PEOPLE_LISTS

Span = tuple[int, int]

_PROSE = {".md", ".rst", ".markdown", ".adoc", ".org", ".tex", ".bib", ".html", ".htm", ".log"}
_PROSE |= {".cff", ".patch", ".diff"}
_PROSE_NAMES = re.compile(
    r"(?:readme|changelog|changes|news|history|todo|contributing|code_of_conduct|security|install)"
    r"(?:\.(?:md|rst))?|readme(?:\..*)?|\.gitmodules|\.gitignore|\.gitattributes|funding\.yml",
    re.IGNORECASE,
)
_HASH = {".py", ".sh", ".bash", ".zsh", ".r", ".jl", ".rb", ".pl", ".yaml", ".yml", ".toml", ".cfg"}
_HASH |= {".ini", ".conf", ".txt", ".smk", ".mk", ".cmake", ".nix", ".lock", ".in", ".awk", ".tcl"}
_SLASHES = {".c", ".h", ".cc", ".cpp", ".hpp", ".cu", ".cuh", ".java", ".js", ".ts", ".go", ".rs"}
_SLASHES |= {".scala", ".kt", ".swift", ".nf", ".groovy", ".cs", ".php"}
_OTHER = {".m": "%", ".mat": "%", ".sql": "--", ".lua": "--", ".hs": "--", ".f90": "!", ".f": "!"}
_HASH_NAMES = re.compile(
    r"(?:gnu)?makefile|dockerfile.*|containerfile.*|snakefile|justfile", re.IGNORECASE
)
_AUTHOR_KEYS = re.compile(
    r"authors?|maintainers?|(?:author|maintainer)_email|contact|contributors|creators?|homepage"
    r"|repository|bugs|urls|url|project_urls|download_url|funding|license_file|copyright|credits",
    re.IGNORECASE,
)
_DUNDER = re.compile(r"__(?:author|authors|email|maintainer|credits|copyright|contact)__")


def code_spans(path: PurePosixPath, data: bytes) -> list[Span]:
    """Return the parts of a file of code that can be written differently, as offsets of bytes."""
    name, suffix = path.name, path.suffix.lower()
    if suffix in {".py", ".pyi"}:
        return list(_python(data))
    if suffix == ".ipynb":
        return list(_notebook(data))
    if suffix in _SLASHES:
        return [*_lines(data, b"//"), *_blocks(data)]
    if suffix in _OTHER:
        return list(_lines(data, _OTHER[suffix].encode()))
    if suffix in _HASH or _HASH_NAMES.fullmatch(name) or data.startswith(b"#!"):
        return list(_lines(data, b"#"))
    return []


def is_prose(path: PurePosixPath) -> bool:
    """Tell whether a file is only read by people, by its name."""
    name, suffix = path.name, path.suffix.lower()
    if LICENCES.fullmatch(name) or PEOPLE_LISTS.fullmatch(name) or _PROSE_NAMES.fullmatch(name):
        return True
    return suffix in _PROSE


def same_but_authors(path: PurePosixPath, before: bytes, after: bytes) -> bool:
    """Tell whether a description of a package says the same but for its authors."""
    read: Callable[[str], Any] | None = None
    if path.suffix == ".toml":
        read = tomllib.loads
    elif path.suffix == ".json":
        read = json.loads
    if read is None:
        return False
    try:
        return bool(
            _without_authors(read(before.decode())) == _without_authors(read(after.decode()))
        )
    except ValueError:
        return False


def _without_authors(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            key: _without_authors(inner)
            for key, inner in value.items()
            if not _AUTHOR_KEYS.fullmatch(str(key)) and key != "description"
        }
    return [_without_authors(item) for item in value] if isinstance(value, list) else value


def _lines(data: bytes, mark: bytes) -> Iterator[Span]:
    """Yield comments that reach to the end of their lines."""
    start = 0
    for line in data.splitlines(keepends=True):
        place = _comment(line, mark)
        if place >= 0 and not (start == 0 and line.startswith(b"#!")):
            yield start + place, start + len(line)
        start += len(line)


def _comment(line: bytes, mark: bytes) -> int:
    """Return where the comment of a line begins, or -1.

    Behind code it counts only when no quote stands before it, which could open a string.
    """
    place = line.find(mark)
    if place < 0:
        return -1
    before = line[:place]
    if not before.strip():
        return place
    return place if before[-1:].isspace() and not re.search(rb"[\"'`]", before) else -1


def _blocks(data: bytes) -> Iterator[Span]:
    for match in re.finditer(rb"/\*.*?\*/", data, re.DOTALL):
        yield match.span()


def _python(data: bytes) -> Iterator[Span]:
    """Yield comments, docstrings, and what a module says of its authors."""
    starts = _line_starts(data)
    try:
        for token in tokenize.tokenize(io.BytesIO(data).readline):
            if token.type == tokenize.COMMENT:
                begin = _offset(data, starts, token.start)
                yield begin, begin + len(token.string.encode())
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(data)
    except (SyntaxError, tokenize.TokenError, ValueError, UnicodeError, RecursionError):
        yield from _lines(data, b"#")
        return
    for node in _spare(tree):
        if node.end_lineno is not None and node.end_col_offset is not None:
            begin = starts[node.lineno - 1] + node.col_offset
            yield begin, starts[node.end_lineno - 1] + node.end_col_offset


def _spare(tree: ast.AST) -> Iterator[ast.expr]:
    """Yield the strings of a module that nothing computes with."""
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = body[0] if body else None
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                yield first.value
        if isinstance(node, ast.Assign) and all(
            isinstance(target, ast.Name) and _DUNDER.fullmatch(target.id) for target in node.targets
        ):
            yield node.value
        if isinstance(node, ast.Call) and getattr(node.func, "id", None) == "setup":
            for word in node.keywords:
                if word.arg and _AUTHOR_KEYS.fullmatch(word.arg):
                    yield word.value


def _line_starts(data: bytes) -> list[int]:
    starts = [0]
    for line in data.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    return starts


def _offset(data: bytes, starts: list[int], place: tuple[int, int]) -> int:
    """Return the offset of a place in bytes; columns of tokens count characters."""
    line = data[starts[place[0] - 1] : starts[place[0]]].decode("utf-8", "replace")
    return starts[place[0] - 1] + len(line[: place[1]].encode())


def _notebook(data: bytes) -> Iterator[Span]:
    """Yield everything but the lines of code of a notebook; comments in them count as spare.

    A line of code stands in the file as a string of its own, so the lines of the file tell.
    """
    try:
        document = json.loads(data)
        cells = document["cells"]
        code = [cell for cell in cells if cell.get("cell_type") == "code"]
    except (ValueError, KeyError, TypeError, AttributeError):
        return
    busy: set[str] = set()
    for cell in code:
        source = cell.get("source", "")
        text = "".join(source) if isinstance(source, list) else str(source)
        if not isinstance(source, list):
            return  # the whole cell is one line of the file: nothing can be told apart
        busy |= _busy_lines(text)
    start = 0
    for line in data.splitlines(keepends=True):
        if not _is_busy(line, busy):
            yield start, start + len(line)
        start += len(line)


def _busy_lines(source: str) -> set[str]:
    """Return the lines of a cell that hold more than a comment."""
    lines = (line.rstrip("\r\n") for line in source.split("\n"))
    return {line for line in lines if line.strip() and not line.lstrip().startswith("#")}


def _is_busy(line: bytes, busy: set[str]) -> bool:
    text = line.strip().rstrip(b",")
    if not (text.startswith(b'"') and text.endswith(b'"')):
        return False
    try:
        value = json.loads(text)
    except ValueError:
        return False
    return isinstance(value, str) and value.rstrip("\r\n") in busy
