"""Blanking one file: the same bytes in, the same bytes out, whatever lies around it."""

from __future__ import annotations

import codecs
import dataclasses
from collections.abc import Iterator
from pathlib import PurePosixPath

from rra.author.anonymous.harmless import Span, code_spans, is_prose, same_but_authors
from rra.author.anonymous.identifier import Finder, Hit
from rra.author.anonymous.identity import COPYRIGHT, LICENCES, PEOPLE_LISTS, holder_name
from rra.author.anonymous.people import is_nobody
from rra.errors import Problem

MAX_TEXT = 64 << 20
"""Largest file that is rewritten, in bytes; what identifies in a larger one stops the packing."""

_PIECE = 1 << 20
LEFT_OUT = b"Left out for an anonymous review.\n"
_CITATION = b"""\
cff-version: 1.2.0
message: Left out for an anonymous review.
title: Left out for an anonymous review
authors:
  - name: Anonymous
"""
_JSON = b'{"description": "Left out for an anonymous review."}\n'
_CLAUSE = "privacy/anonymous-copy"
_RUNS = {"code", "launchers", "environment", "data", "wheels", "runtime"}


@dataclasses.dataclass(frozen=True, slots=True)
class Blanked:
    """One file after blanking.

    Attributes:
        data: What it holds now.
        problems: Where a text that identifies takes part in what runs, so that its author has
            to decide.
        hits: How many texts were replaced.
        unread: Whether some of them stand in code, which no recorded run reads.
    """

    data: bytes
    problems: tuple[Problem, ...] = ()
    hits: int = 0
    unread: bool = False


def is_text(data: bytes) -> bool:
    """Tell whether bytes can be rewritten as text: UTF-8, or another encoding of single bytes."""
    if len(data) > MAX_TEXT or b"\0" in data:
        return False
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for start in range(0, len(data), _PIECE):
            decoder.decode(data[start : start + _PIECE])
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        control = sum(data.count(bytes([byte])) for byte in (*range(1, 8), *range(14, 27)))
        return control == 0
    return True


def blank_text(path: PurePosixPath, data: bytes, finder: Finder) -> bytes:
    """Return the bytes of a text file without what identifies.

    Files that do nothing but name people are left out as a whole, and licences lose the holders
    of their copyright; everything else loses the texts of the finder.
    """
    if PEOPLE_LISTS.fullmatch(path.name):
        if path.suffix == ".cff":
            return _CITATION
        return _JSON if path.suffix == ".json" else LEFT_OUT
    if LICENCES.fullmatch(path.name):
        data = _without_holders(data)
    return finder.replace(data)


def blank_file(
    path: PurePosixPath, data: bytes, finder: Finder, *, element: str, read: bool | None = None
) -> Blanked:
    """Blank a file of an artifact.

    Args:
        path: Its place, for its kind and for messages.
        data: What it holds.
        finder: Finds what identifies.
        element: Element that it belongs to.
        read: Whether recorded runs were seen to read it; None where nobody watched.
    """
    if not is_text(data):
        return Blanked(data)
    plain = element in {"data", "evidence"}  # whatever their names are like
    after = finder.replace(data) if plain else blank_text(path, data, finder)
    if after == data:
        return Blanked(data)
    hits = [hit for hit in finder.find(data) if hit.identifier.replaced and not hit.form]
    problems: tuple[Problem, ...] = ()
    unread = element == "code" and read is False
    if element in _RUNS and not unread and not same_but_authors(path, data, after):
        prose = not plain and not read and is_prose(path)
        spans = [(0, len(data))] if prose else [] if plain else code_spans(path, data)
        problems = tuple(_taking_part(path, data, hits, spans))
    spare = code_spans(path, data) if unread and not is_prose(path) else [(0, len(data))]
    return Blanked(after, problems, max(1, len(hits)), unread=not _within(hits, spare))


def _within(hits: list[Hit], spans: list[Span]) -> bool:
    return all(any(b <= hit.start and hit.end <= e for b, e in spans) for hit in hits)


def _taking_part(
    path: PurePosixPath, data: bytes, hits: list[Hit], spans: list[Span]
) -> Iterator[Problem]:
    for hit in hits:
        if _within([hit], spans):
            continue
        line = data.count(b"\n", 0, hit.start) + 1
        shown = data[hit.start : hit.end].decode("utf-8", "replace")
        one = hit.identifier
        message = f"{shown!r} ({one.kind}: {one.source}) takes part in what runs"
        hint = (
            "write it differently in your artifact (a variable, a relative path) and lock again, "
            f"or say that it identifies nobody: {one.to_keep}"
        )
        yield Problem(message, str(path), line, clause=_CLAUSE, hint=hint)


def _without_holders(data: bytes) -> bytes:
    text = data.decode("utf-8", "surrogateescape")
    changed = COPYRIGHT.sub(
        lambda match: (
            match[0]
            if is_nobody(holder_name(match["holder"]))
            else f"{match['lead'].rstrip()} Anonymous"
        ),
        text,
    )
    return changed.encode("utf-8", "surrogateescape")
