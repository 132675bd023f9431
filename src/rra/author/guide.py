"""Rendering the tables of the guide between their markers; prose is kept byte for byte."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from pathlib import Path

from rra._base.files import atomic_write
from rra.artifact import Artifact, layout
from rra.author.guide_tables import TABLES, GuideFacts, render_tables
from rra.errors import FormatError, Problem, UsageError

_MARKER = re.compile(
    r"^[ \t]*<!--\s*rra:(?P<what>begin|end)\s+(?P<name>[\w-]+)\s*-->[ \t]*\r?$", re.MULTILINE
)


@dataclasses.dataclass(frozen=True)
class GuideResult:
    """What became of the guide.

    Attributes:
        path: The guide.
        changed: Whether its bytes changed.
        tables: Names of the tables that stand in it now.
        notes: Tables without markers, and markers without a table.
    """

    path: Path
    changed: bool
    tables: tuple[str, ...]
    notes: tuple[str, ...]


def begin(name: str) -> str:
    """Return the line that starts a rendered table."""
    return f"<!-- rra:begin {name} -->"


def end(name: str) -> str:
    """Return the line that ends a rendered table."""
    return f"<!-- rra:end {name} -->"


def render_guide(artifact: Artifact) -> GuideResult:
    """Bring the tables of an artifact's guide up to date.

    Raises:
        UsageError: There is no guide.
        FormatError: Settings or repairs break their schema, or the markers do not pair up.
        StorageError: The disk is full or refuses; the guide is as it was.
    """
    path = guide_path(artifact)
    text = _read(path)
    rendered, tables, notes = _render(artifact, path, text)
    changed = rendered != text
    if changed:
        atomic_write(path, rendered, mode=path.stat().st_mode & 0o777)
    return GuideResult(path, changed, tables, notes)


def expected_guide(artifact: Artifact) -> str:
    """Return the text that the guide has when its tables are up to date; nothing is written.

    Raises:
        UsageError: There is no guide.
        FormatError: As `render_guide`.
    """
    path = guide_path(artifact)
    return _render(artifact, path, _read(path))[0]


def guide_path(artifact: Artifact) -> Path:
    """Return the path of an artifact's guide.

    Raises:
        UsageError: There is no guide.
        UnsafePathError: The manifest names one outside the artifact.
    """
    path = artifact.path(artifact.manifest.guide or layout.GUIDE)
    if not path.is_file():
        message = f"there is no guide: {path}"
        raise UsageError(message, hint="write it, or draft one in an empty folder: rra init")
    return path


def _read(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        problem = Problem(f"not UTF-8: {error.reason}", str(path), clause="guide/utf-8")
        raise FormatError(str(problem), problems=(problem,), hint="save it as UTF-8") from error


def _render(
    artifact: Artifact, path: Path, text: str
) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    facts = GuideFacts(artifact.manifest, artifact.settings, artifact.repairs, artifact.notes)
    try:
        return fill_tables(text, render_tables(facts))
    except ValueError as error:
        line, _, what = str(error).partition(":")
        problem = Problem(what.strip(), str(path), int(line), clause="guide/marker-pairs")
        hint = "give each table one begin and one end marker, on lines of their own"
        raise FormatError(str(problem), problems=(problem,), hint=hint) from error


def fill_tables(
    text: str, tables: Mapping[str, str]
) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    """Put tables between their markers: (text, names of tables put in, notes).

    Everything outside the markers is kept as it is, line ends included.

    Args:
        text: The guide.
        tables: Markdown by name.

    Raises:
        ValueError: The markers do not pair up; the message starts with the line.
    """
    newline = "\r\n" if "\r\n" in text else "\n"
    parts: list[str] = []
    done: list[str] = []
    notes: list[str] = []
    position = 0
    for name, start, stop in _blocks(text):
        if name not in tables:
            notes.append(f"no table is called {name}; known are {', '.join(TABLES)}")
            continue
        body = newline.join(tables[name].split("\n"))
        parts += [text[position:start], newline, body, newline]
        position = stop
        done.append(name)
    parts.append(text[position:])
    notes += [
        f"the guide has no place for the table {name}: add the lines "
        f"`{begin(name)}` and `{end(name)}` where it should stand"
        for name in tables
        if name not in done
    ]
    return "".join(parts), tuple(done), tuple(notes)


def without_tables(text: str) -> str:
    """Return a guide with nothing between its markers; as it is where they do not pair up."""
    try:
        return fill_tables(text, dict.fromkeys(TABLES, ""))[0]
    except ValueError:
        return text


def _blocks(text: str) -> list[tuple[str, int, int]]:
    """Return (name, end of the begin marker, start of the end marker's line) of each block."""
    blocks: list[tuple[str, int, int]] = []
    opened: re.Match[str] | None = None
    for marker in _MARKER.finditer(text):
        line = text.count("\n", 0, marker.start()) + 1
        if marker["what"] == "begin":
            if opened is not None:
                raise ValueError(f"{line}: {opened['name']} is not ended before {marker['name']}")
            opened = marker
        elif opened is None or opened["name"] != marker["name"]:
            raise ValueError(f"{line}: the end of {marker['name']} has no begin")
        else:
            finish = opened.end() - (1 if text[opened.end() - 1] == "\r" else 0)
            blocks.append((marker["name"], finish, marker.start()))
            opened = None
    if opened is not None:
        line = text.count("\n", 0, opened.start()) + 1
        raise ValueError(f"{line}: the table {opened['name']} is not ended")
    return blocks
