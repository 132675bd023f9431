"""Which names an archive may hold, so that it unpacks to the same files everywhere."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePosixPath

from rra.errors import Problem

MAX_COMPONENT_BYTES = 255
MAX_PATH_BYTES = 4096
MAX_DEPTH = 64
_FORBIDDEN = {"\\": "a backslash", ":": "a colon"}
_INVISIBLE = {"Cc": "a control character", "Cs": "bytes that are not UTF-8"}
_DIRECTIONS = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_CLAUSE = "bundle/names"


def check_names(paths: Iterable[PurePosixPath]) -> Iterator[Problem]:
    """Yield a problem for each path that some file system or terminal would not keep.

    Names are in normalisation form C, hold no control or direction characters, no backslash
    and no colon; a component has at most 255 bytes, a path 4096 bytes and 64 levels; no two
    paths, folders included, differ in case only.

    Args:
        paths: Files and folders of one archive.
    """
    folded: dict[str, PurePosixPath] = {}
    for path in paths:
        for fault in _faults(path):
            yield Problem(fault, printable(path), clause=_CLAUSE, hint="rename it")
        key = unicodedata.normalize("NFC", str(path)).casefold()
        other = folded.setdefault(key, path)
        if other != path:
            yield Problem(
                f"differs from {printable(other)} in case only",
                printable(path),
                clause=_CLAUSE,
                hint="rename one of them: some file systems cannot hold both",
            )


def check_links(links: Mapping[PurePosixPath, str], present: frozenset[str]) -> Iterator[Problem]:
    """Yield a problem for each symbolic link that does not lead to something in the archive.

    Args:
        links: Target of each link, as stored.
        present: Files and folders of the same archive, without the links.
    """
    hint = "replace the link by a copy of the file"
    for path, target in links.items():
        fault = ""
        landing = os.path.normpath(path.parent / target)
        if target.startswith("/"):
            fault = "is a symbolic link to an absolute path"
        elif landing == ".." or landing.startswith("../"):
            fault = "is a symbolic link that leads out of the archive"
        elif _passes_link(path.parent, target, frozenset(str(link) for link in links)):
            fault = "is a symbolic link that leads through another link"
        elif landing not in present:
            fault = "is a symbolic link to something that is not in the archive"
        if fault:
            message = f"{fault}: {printable(target)}"
            yield Problem(message, printable(path), clause="bundle/links", hint=hint)


def printable(name: object) -> str:
    """Return a name with everything that would disturb a terminal written as an escape."""
    return "".join(_shown(character) for character in str(name))


def _shown(character: str) -> str:
    if character in _DIRECTIONS or unicodedata.category(character) in _INVISIBLE:
        return character.encode("unicode_escape", "surrogatepass").decode("ascii")
    return character


def _faults(path: PurePosixPath) -> Iterator[str]:
    text = str(path)
    for character, what in _FORBIDDEN.items():
        if character in text:
            yield f"name holds {what}"
    found = {_INVISIBLE[c] for c in map(unicodedata.category, text) if c in _INVISIBLE}
    if _DIRECTIONS & set(text):
        found.add("a character that changes the direction of writing")
    yield from (f"name holds {what}" for what in sorted(found))
    if not unicodedata.is_normalized("NFC", text):
        yield "name is not in Unicode normalisation form C"
    if path.is_absolute() or ".." in path.parts or not path.parts:
        yield "path is not relative to the artifact"
    if any(len(os.fsencode(part)) > MAX_COMPONENT_BYTES for part in path.parts):
        yield f"a part of the path is longer than {MAX_COMPONENT_BYTES} bytes"
    if len(os.fsencode(text)) > MAX_PATH_BYTES:
        yield f"path is longer than {MAX_PATH_BYTES} bytes"
    if len(path.parts) > MAX_DEPTH:
        yield f"path is deeper than {MAX_DEPTH} levels"


def _passes_link(start: PurePosixPath, target: str, links: frozenset[str]) -> bool:
    """Tell whether a link stands on the way to a target, the landing included."""
    place = start
    for part in PurePosixPath(target).parts:
        place = place.parent if part == ".." else place / part
        if str(place) in links:
            return True
    return False
