"""Which names an archive may hold, so that it unpacks to the same files everywhere."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Container, Iterable, Iterator, Mapping
from pathlib import PurePosixPath

from rra.errors import Problem

MAX_COMPONENT_BYTES = 255
MAX_PATH_BYTES = 4096
MAX_DEPTH = 64
_FORBIDDEN = {"\\": "a backslash", ":": "a colon"}
_INVISIBLE = {"Cc": "a control character", "Cs": "bytes that are not UTF-8"}
_DIRECTIONS = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_DEVICES = frozenset(
    ["con", "prn", "aux", "nul", "conin$", "conout$"]
    + [f"{port}{number}" for port in ("com", "lpt") for number in "123456789¹²³"]
)
_PART = r"(?!(?i:con|prn|aux|nul|com[1-9]|lpt[1-9])(?:[./]|\Z))[0-9A-Za-z_.+=@~-]{1,255}(?<!\.)"
_PLAIN = re.compile(rf"(?:{_PART}/){{0,{MAX_DEPTH - 1}}}{_PART}")
"""Paths that break no rule for sure: nearly all that there are, and quick to tell."""
_NAMES = "canonical-tar/names"
_ENDS = "canonical-tar/name-ends"
_DEVICE = "canonical-tar/device-names"
_LENGTHS = "canonical-tar/name-lengths"


def check_names(paths: Iterable[PurePosixPath | str]) -> Iterator[Problem]:
    """Yield a problem for each path that some file system or terminal would not keep.

    Names are as `name_faults` wants them, and no two paths, folders included, differ in case
    only.

    Args:
        paths: Files and folders of one archive.
    """
    folded: dict[str, str] = {}
    for text in map(str, paths):
        if len(text) > MAX_PATH_BYTES or not _PLAIN.fullmatch(text):
            for clause, fault in _faults(PurePosixPath(text)):
                yield Problem(fault, printable(text), clause=clause, hint="rename it")
        other = folded.setdefault(fold(text), text)
        if other != text:
            yield Problem(
                f"differs from {printable(other)} in case only",
                printable(text),
                clause="canonical-tar/no-collisions",
                hint="rename one of them: some file systems cannot hold both",
            )


def folders_of(paths: Iterable[str]) -> set[str]:
    """Return every folder on the way to some paths, without the root."""
    folders: set[str] = set()
    for path in paths:
        end = path.rfind("/")
        while end > 0 and (folder := path[:end]) not in folders:
            folders.add(folder)
            end = path.rfind("/", 0, end)
    return folders


def fold(path: str) -> str:
    """Return what two paths have in common that a file system may take for one."""
    if path.isascii():
        return path.lower()
    return unicodedata.normalize("NFC", path).casefold()


def check_links(
    links: Mapping[PurePosixPath, str], files: Container[str], folders: Container[str]
) -> Iterator[Problem]:
    """Yield a problem for each symbolic link that does not lead to something in the archive.

    A link is relative, stays in the archive at each step, passes folders of the archive only
    and ends at one of its files or folders, not at another link.

    Args:
        links: Target of each link, as stored.
        files: Regular files of the same archive.
        folders: Its folders.
    """
    names = frozenset(str(path) for path in links)
    for path, target in links.items():
        fault = _link_fault(path, target, names, files, folders)
        if fault:
            yield Problem(
                f"is a symbolic link {fault}: {printable(target)}",
                printable(path),
                clause="canonical-tar/links",
                hint="replace the link by a copy of the file",
            )


def printable(name: object) -> str:
    """Return a name with everything that would disturb a terminal written as an escape."""
    return "".join(_shown(character) for character in str(name))


def _shown(character: str) -> str:
    if character in _DIRECTIONS or unicodedata.category(character) in _INVISIBLE:
        return character.encode("unicode_escape", "surrogatepass").decode("ascii")
    return character


def name_faults(path: PurePosixPath) -> Iterator[str]:
    """Yield what is wrong with a path on its own.

    It is relative, in normalisation form C, without control or direction characters, backslash
    and colon. No part ends with a dot or a space or is the name of a device, which some systems
    would take for another file. A part has at most `MAX_COMPONENT_BYTES`, a path `MAX_PATH_BYTES`
    and `MAX_DEPTH` levels.
    """
    yield from (fault for _, fault in _faults(path))


def _faults(path: PurePosixPath) -> Iterator[tuple[str, str]]:
    """Yield the clause and what is wrong, for each thing that is."""
    text = str(path)
    for character, what in _FORBIDDEN.items():
        if character in text:
            yield _NAMES, f"name holds {what}"
    if not (text.isascii() and text.isprintable()):
        yield from ((_NAMES, fault) for fault in _character_faults(text))
    if path.is_absolute() or ".." in path.parts or not path.parts:
        yield _NAMES, "path is not relative to the artifact"
    elif any(part[-1] in ". " for part in path.parts):
        yield _ENDS, "a part of the path ends with a dot or a space"
    if any(part.partition(".")[0].rstrip().lower() in _DEVICES for part in path.parts):
        yield _DEVICE, "name is that of a device on some systems"
    if any(_length(part) > MAX_COMPONENT_BYTES for part in path.parts):
        yield _LENGTHS, f"a part of the path is longer than {MAX_COMPONENT_BYTES} bytes"
    if _length(text) > MAX_PATH_BYTES:
        yield _LENGTHS, f"path is longer than {MAX_PATH_BYTES} bytes"
    if len(path.parts) > MAX_DEPTH:
        yield _LENGTHS, f"path is deeper than {MAX_DEPTH} levels"


def _length(text: str) -> int:
    """Return the length in UTF-8, where a byte that is not UTF-8 counts as one."""
    return len(text.encode("utf-8", "replace"))


def _character_faults(text: str) -> Iterator[str]:
    found = {_INVISIBLE[c] for c in map(unicodedata.category, text) if c in _INVISIBLE}
    if _DIRECTIONS & set(text):
        found.add("a character that changes the direction of writing")
    yield from (f"name holds {what}" for what in sorted(found))
    if not unicodedata.is_normalized("NFC", text):
        yield "name is not in Unicode normalisation form C"


def _link_fault(
    path: PurePosixPath,
    target: str,
    links: Container[str],
    files: Container[str],
    folders: Container[str],
) -> str:
    """Return what is wrong with the way that a link's target goes, or nothing."""
    if target.startswith("/"):
        return "to an absolute path"
    parts = PurePosixPath(target).parts
    depth = len(path.parts) - 1
    for part in parts:
        depth += -1 if part == ".." else 1
        if depth < 0:
            return "that leads out of the archive"
    if str(PurePosixPath(target)) != target:
        return "whose target is not in its plain form"
    places = [path.parent]
    for part in parts:
        places.append(places[-1].parent if part == ".." else places[-1] / part)
    if any(str(place) in links for place in places):
        return "that leads through another link"
    passed = all(str(place) in folders or not place.parts for place in places[:-1])
    landing = str(places[-1])
    if not passed or (landing not in files and landing not in folders):
        return "to something that is not in the archive"
    return ""
