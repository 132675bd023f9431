"""Places in text that hold a list or a category: where the probe for copies writes decoys.

A list is found as its items in order with nothing but characters that form no words between
them (``[3, 9, 4]``, ``'3 9 4'.split()``, one per line), or with the same form between all of
them (a column of a table, a key of each record). A category is found as a whole word.
"""

from __future__ import annotations

import bisect
import dataclasses
import fnmatch
import functools
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath

from rra._base.yaml import YamlDocument
from rra.artifact import Artifact, layout
from rra.audit.containers import open_container
from rra.audit.perturb import Change
from rra.audit.suspects import MAX_DEPTH, MAX_FILE_BYTES, place_files
from rra.audit.text_question import Items, TextQuestion, fold
from rra.audit.text_search import decode

MAX_PLACES = 500
"""Most places of one value in one file; more cannot be told apart."""

MAX_TEXT = 1 << 23
"""Longest text, in characters, that is searched."""

_GIVEN = (
    "launchers/*/parameters/*/default",
    "launchers/*/variables/*",
    "environments/*/variables/*",
    "experiments/*/outcomes/*/reported",
    "experiments/*/outcomes/*/deviation/observed",
)
_SLACK = 8
_GAP = 160
_TRIED = 3
_LOOSE = re.compile(r"(?:\\[ntr]|\W){1,40}")
_FORM = re.compile(r"[-+\w.]+")
_QUOTES = "\"'`"


@dataclasses.dataclass(frozen=True, slots=True)
class Part:
    """One item as it stands in a text: offsets in characters."""

    start: int
    end: int
    text: str


@dataclasses.dataclass(frozen=True)
class Text:
    """A text file, or a text in a container.

    Attributes:
        path: File, relative to the artifact.
        members: Way into containers.
        content: The text.
        encoding: How it is written.
        before: Bytes before the text.
    """

    path: PurePosixPath
    members: tuple[str, ...]
    content: str = dataclasses.field(repr=False)
    encoding: str
    before: int

    @functools.cached_property
    def starts(self) -> list[int]:
        """Offset of each line."""
        return [0, *(match.end() for match in re.finditer("\n", self.content))]

    def line(self, offset: int) -> int:
        """Return the 1-based line of a character."""
        return bisect.bisect_right(self.starts, offset)

    def row(self, offset: int) -> Part:
        """Return the line of a character without indentation, line end and a comma behind."""
        start = self.starts[self.line(offset) - 1]
        end = self.content.find("\n", start)
        line = self.content[start : end if end >= 0 else len(self.content)]
        body = line.rstrip("\r ,")
        indent = len(body) - len(body.lstrip())
        return Part(start + indent, start + len(body), body.lstrip())

    def change(self, part: Part, text: str) -> Change:
        """Return what writes another text over a part."""
        start = self.before + self._size(0, part.start)
        end = start + self._size(part.start, part.end)
        return (self.members, start, end, text.encode(self.encoding))

    def _size(self, start: int, end: int) -> int:
        if self.encoding == "utf-8" and self._is_ascii:
            return end - start
        return len(self.content[start:end].encode(self.encoding))

    @functools.cached_property
    def _is_ascii(self) -> bool:
        return self.content.isascii()


@dataclasses.dataclass(frozen=True)
class Wording:
    """A list or category in a text.

    Attributes:
        text: The text.
        parts: The items as they stand there.
        outcomes: Outcomes that it could be the source of.
        strided: Other words stand between the items.
    """

    text: Text
    parts: tuple[Part, ...]
    outcomes: frozenset[str]
    strided: bool = False

    @property
    def path(self) -> PurePosixPath:
        """File, relative to the artifact."""
        return self.text.path

    @property
    def items(self) -> Items:
        """The items as they stand there."""
        return tuple(part.text for part in self.parts)

    @property
    def place(self) -> str:
        """Where it stands, for a person."""
        line = self.text.line(self.parts[0].start)
        if not self.text.members:
            return f"{self.path}:{line}"
        return f"{self.path} ({', '.join([*self.text.members, f'line {line}'])})"

    @property
    def identity(self) -> tuple[object, ...]:
        """What tells it from every other."""
        return (self.path, self.text.members, tuple(part.start for part in self.parts))

    def __hash__(self) -> int:
        return hash(self.identity)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Wording) and other.identity == self.identity

    @property
    def is_quoted(self) -> bool:
        """Whether it is a text of a program or a whole cell or line, and not a name in code."""
        if len(self.parts) > 1:
            return True
        content, part = self.text.content, self.parts[0]
        before = content[max(0, part.start - 1) : part.start]
        behind = content[part.end : part.end + 1]
        edges = (before or "\n") + (behind or "\n")
        return all(edge in _QUOTES + "\r\n,;\t|" for edge in edges)

    @functools.cached_property
    def rows(self) -> tuple[Part, ...]:
        """The lines that the items stand in, when each has its own with other things in it."""
        if not self.strided:
            return ()
        rows = tuple(self.text.row(part.start) for part in self.parts)
        return rows if len({row.start for row in rows}) == len(rows) else ()

    @property
    def is_within_more(self) -> bool:
        """Whether more items of the same kind stand before or behind: a longer list of names."""
        if len(self.parts) < 2 or self.strided:
            return False
        content = self.text.content
        gap = content[self.parts[-2].end : self.parts[-1].start]
        word = r"\d+\b" if all(item.isdigit() for item in self.items) else r"[^\W\d]\w*"
        behind = re.compile(re.escape(gap) + word)
        before = re.compile(rf"(?<!\w){word}{re.escape(gap)}$")
        start = self.parts[0].start
        return bool(
            behind.match(content, self.parts[-1].end)
            or before.search(content[max(0, start - 80) : start])
        )


def search_wordings(
    place: Artifact, questions: Sequence[TextQuestion]
) -> tuple[list[Wording], dict[PurePosixPath, str]]:
    """Find every place in the files of an artifact that holds a list or category.

    The files are those that are searched for numbers (`rra.audit.suspects.search_place`).

    Returns:
        The places, and the files that could not be searched, with the reason.
    """
    found: dict[tuple[object, ...], Wording] = {}
    unsearched: dict[PurePosixPath, str] = {}
    for path in place_files(place.root):
        file = place.root / path
        if file.stat().st_size > MAX_FILE_BYTES:
            unsearched[path] = f"larger than {MAX_FILE_BYTES >> 20} MiB"
            continue
        for text in _texts(path, (), file.read_bytes()):
            if isinstance(text, str):
                unsearched[path] = text
                continue
            for question in questions:
                if any(path.is_relative_to(folder) for folder in question.excluded):
                    continue
                wordings = list(find_wordings(text, question))
                if path == PurePosixPath(layout.MANIFEST):
                    wordings = _given(place.document, wordings)
                if len(wordings) > MAX_PLACES:
                    unsearched[path] = f"it stands there {len(wordings)} times"
                    continue
                for one in wordings:
                    known = found.get(one.identity)
                    outcomes = one.outcomes | (known.outcomes if known else frozenset())
                    found[one.identity] = dataclasses.replace(one, outcomes=outcomes)
    return list(found.values()), unsearched


def _texts(path: PurePosixPath, members: tuple[str, ...], data: bytes) -> Iterator[Text | str]:
    """Yield the texts of a file, or why a part of it cannot be searched."""
    container = open_container(data) if len(members) < MAX_DEPTH else None
    if container is not None:
        for name, part in container.parts.items():
            yield from _texts(path, (*members, name), part)
        return
    decoded = decode(data)
    if decoded is None:
        yield "binary data"
    elif len(decoded[0]) > MAX_TEXT:
        yield f"longer than {MAX_TEXT >> 20} million characters"
    else:
        yield Text(path, members, *decoded)


def _given(document: YamlDocument, wordings: Sequence[Wording]) -> list[Wording]:
    """Keep of the manifest's places what launchers are given and what is reported."""
    starts = [0, *(match.end() for match in re.finditer("\n", document.text))]
    spans = []
    for path, value in _values(document.data, ()):
        if any(fnmatch.fnmatchcase("/".join(path), pattern) for pattern in _GIVEN):
            line, column = document.position(path)
            start = starts[line - 1] + column - 1
            spans.append((start, start + len(path[-1]) + len(str(value)) + _SLACK))
    return [
        one for one in wordings if any(start <= one.parts[0].start < end for start, end in spans)
    ]


def _values(data: object, path: Items) -> Iterator[tuple[Items, object]]:
    if isinstance(data, dict):
        for key, value in data.items():
            yield from _values(value, (*path, str(key)))
    elif isinstance(data, str | int | float | list):
        yield path, data


def find_wordings(text: Text, question: TextQuestion) -> Iterator[Wording]:
    """Yield the places of a text that hold an outcome's reported or obtained value."""
    outcomes = frozenset({question.outcome})
    for wanted in question.wanted:
        names = {fold(item) for item in wanted}
        tokens = _tokens(text.content, wanted)
        if not names.issubset(fold(token.text) for token in tokens):
            continue
        if len(wanted) == 1:
            for token in tokens:
                yield Wording(text, (token,), outcomes)
            continue
        used: set[int] = set()
        for strided in (False, True):
            for parts in _sequences(text.content, tokens, question, wanted, strided=strided):
                if used.isdisjoint(part.start for part in parts):
                    used.update(part.start for part in parts)
                    yield Wording(text, parts, outcomes, strided)


def _tokens(content: str, items: Items) -> list[Part]:
    longest = sorted({item.strip() for item in items}, key=len, reverse=True)
    words = "|".join(re.escape(item) for item in longest)
    pattern = re.compile(rf"(?:(?<!\w)|(?<=\\[ntr]))(?:{words})(?!\w)", re.IGNORECASE)
    return [Part(match.start(), match.end(), match[0]) for match in pattern.finditer(content)]


def _sequences(
    content: str, tokens: Sequence[Part], question: TextQuestion, wanted: Items, *, strided: bool
) -> Iterator[tuple[Part, ...]]:
    """Yield runs of tokens that are the wanted items."""
    goal = question.key(wanted)
    by_start = {token.start: token for token in tokens}
    first = {fold(item) for item in (wanted if question.unordered else wanted[:1])}
    for index, token in enumerate(tokens):
        if fold(token.text) not in first:
            continue
        if not strided:
            parts = tuple(tokens[index : index + len(wanted)])
            gaps = _gaps(content, parts)
            same = question.key([part.text for part in parts]) == goal
            if same and len(parts) == len(wanted) and all(map(_LOOSE.fullmatch, gaps)):
                yield parts
            continue
        for second in tokens[index + 1 : index + 1 + _TRIED]:
            gap = content[token.end : second.start]
            if len(gap) > _GAP or not re.search(r"\W", gap):
                break
            parts = _walk(content, token, _form(gap), by_start, len(wanted))
            if question.key([part.text for part in parts]) == goal and len(parts) == len(wanted):
                yield parts
                break


def _gaps(content: str, parts: Sequence[Part]) -> list[str]:
    return [content[a.end : b.start] for a, b in itertools.pairwise(parts)]


def _form(gap: str) -> str:
    """Return a pattern for what stands between two items, whatever its words and numbers are."""
    pieces = _FORM.split(gap)
    return r"[-+\w.]+?".join(re.escape(piece) for piece in pieces)


@functools.lru_cache(maxsize=512)
def _compiled(form: str) -> re.Pattern[str]:
    return re.compile(form)


def _walk(
    content: str, first: Part, form: str, by_start: Mapping[int, Part], count: int
) -> tuple[Part, ...]:
    parts = [first]
    while len(parts) < count:
        match = _compiled(form).match(content, parts[-1].end)
        token = by_start.get(match.end()) if match else None
        if token is None:
            break
        parts.append(token)
    return tuple(parts)
