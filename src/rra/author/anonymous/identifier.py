"""Texts that identify somebody, and the many ways in which one text can be written down.

A text is looked for in bytes, not in characters: whatever the encoding of a file, its words are
found in UTF-8, Latin-1 and UTF-16, with accents or without, composed or decomposed, in capitals,
percent-encoded, as escapes of JSON, HTML, LaTeX and quoted-printable, in hexadecimal and in
base64. Short words count only as whole words, so that ``ann`` is not found in ``annotation``.
"""

from __future__ import annotations

import base64
import dataclasses
import enum
import functools
import html.entities
import re
import unicodedata
from collections.abc import Iterable, Iterator

from rra.author.anonymous.literals import Literals

_GERMAN = {"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "ø": "oe", "å": "aa", "æ": "ae", "œ": "oe"}
_PLAIN = {"ß": "ss", "ø": "o", "ł": "l", "đ": "d", "æ": "ae", "œ": "oe", "ı": "i", "þ": "th"}
_ACCENTS = {
    "\u0300": "`", "\u0301": "'", "\u0302": "^", "\u0303": "~", "\u0308": '"', "\u030c": "v",
    "\u0304": "=", "\u0306": "u", "\u0327": "c", "\u030a": "r", "\u030b": "H", "\u0307": ".",
}  # fmt: skip
_SPACE = rb"(?:%20|\\[nt]|[^a-z0-9]){1,6}?"
_GAP = rb"(?:%20|\\[nt]|[^a-z0-9]){0,6}?"
_SIGNS = {
    " ": _SPACE,
    "@": rb"(?:@|%40|\\u0040|&#64;|&commat;|[^a-z0-9]{1,3}at[^a-z0-9]{1,3})",
    ".": rb"(?:\.|%2e|&#46;|[^a-z0-9]{1,3}dot[^a-z0-9]{1,3})",
    "/": rb"(?:\\?/|%2f|\\u002f|&#47;)",
    ":": rb"(?::|%3a)",
    "\\": rb"\\{1,4}",
    "'": rb"(?:\\?'|\xe2\x80[\x98\x99]|\xc2\xb4|`|%27|&#0?39;|&apos;|&rsquo;|\\u2019)?",
    "-": rb"(?:-|%2d|\xe2\x80[\x90-\x95]|\xad|\xc2\xad)",
}
_LEAST_BASE64 = 8
_LEAST_HEX = 4
_LEAST_ANCHOR = 2
_REACH = 12
_BLOCK, _OVERLAP = 4 << 20, 8 << 10
_LONG_RUN = re.compile(rb"[A-Za-z0-9+/_-]{12}")
_LONG = 5
_HEX_LETTERS = frozenset("abcdef0123456789")


class Kind(enum.StrEnum):
    """What a text names."""

    PERSON = "person"
    FAMILY = "family name"
    GIVEN = "given name"
    EMAIL = "e-mail address"
    HANDLE = "account"
    DOMAIN = "domain"
    INSTITUTION = "institution"
    ORCID = "ORCID iD"
    ADDRESS = "address"
    PAPER = "paper"
    HOST = "host"
    FOLDER = "folder"
    GIVEN_TEXT = "text that was named"


_WORDS = {Kind.FAMILY, Kind.GIVEN, Kind.HANDLE, Kind.DOMAIN, Kind.HOST, Kind.GIVEN_TEXT}
_WORDS |= {Kind.PERSON, Kind.INSTITUTION}
_CAPITAL = {Kind.GIVEN}


@dataclasses.dataclass(frozen=True, slots=True)
class Identifier:
    """One text that identifies.

    Attributes:
        text: The text, as it was found.
        kind: What it names.
        neutral: What stands in its place.
        source: Where it was found, for people.
        replaced: Whether it is replaced where it stands; what only this machine knows is not,
            or another machine would make another bundle.
        orders: Other orders of its words.
        capital: Whether it counts only with a capital: a name that is also a word.
    """

    text: str
    kind: Kind
    neutral: str
    source: str
    replaced: bool = True
    orders: tuple[str, ...] = ()
    capital: bool = False

    @property
    def to_keep(self) -> str:
        """What to say when it identifies nobody, as words of a hint."""
        option = f"--keep {self.text!r}"
        return f"{option}, or --keep-paper if the paper is by others" if self.paper else option

    @property
    def paper(self) -> bool:
        """Whether only the paper that the manifest names says so."""
        return self.source.startswith("paper of")

    @property
    def certain(self) -> bool:
        """Whether finding it stops the packing; a given name alone can be anybody's."""
        return self.kind is not Kind.GIVEN


@dataclasses.dataclass(frozen=True, slots=True)
class Hit:
    """A place where a text that identifies stands.

    Attributes:
        start: Offset of its first byte.
        end: Offset behind its last one.
        identifier: What is named.
        form: How it is written, when that is not plain text.
    """

    start: int
    end: int
    identifier: Identifier
    form: str = ""


class _Rules:
    """Patterns, each behind a literal that every match of it holds.

    Looking for literals is a hundred times faster than trying many patterns at every byte.
    """

    def __init__(self) -> None:
        self._behind: dict[bytes, list[_Rule]] = {}
        self._literals: Literals | None = None

    def add(self, anchors: Iterable[bytes], rule: _Rule) -> None:
        for anchor in anchors:
            self._behind.setdefault(anchor, []).append(rule)

    def find(self, data: bytes, searched: bytes) -> Iterator[Hit]:
        """Yield matches in bytes, `searched` being those with their capitals made small or not."""
        if self._literals is None:
            self._literals = Literals(self._behind)
        for place, anchor in self._literals.find(searched):
            for rule in self._behind[anchor]:
                yield from rule.around(data, searched, place)


@dataclasses.dataclass(frozen=True, slots=True)
class _Rule:
    """One way in which one text is written."""

    pattern: re.Pattern[bytes]
    identifier: Identifier
    form: str

    def around(self, data: bytes, searched: bytes, place: int) -> Iterator[Hit]:
        """Yield the first match that holds the byte at a place."""
        reach = _REACH * len(self.identifier.text) + _REACH
        end = place + reach
        match = self.pattern.search(searched, max(0, place - reach), end)
        while match is not None and match.start() <= place:
            if match.end() > place and (
                self.form or _counts(data, match.start(), match.end(), self.identifier)
            ):
                yield Hit(match.start(), match.end(), self.identifier, self.form)
                return
            match = self.pattern.search(searched, match.start() + 1, end)


class Finder:
    """Finds texts that identify in bytes."""

    def __init__(self, identifiers: Iterable[Identifier]) -> None:
        """Prepare the search for some texts."""
        self._plain, self._wide, self._exact = _Rules(), _Rules(), _Rules()
        for one in identifiers:
            for text in dict.fromkeys((one.text, *one.orders)):
                self._plain.add(_anchors(text), _Rule(_text_pattern(text), one, ""))
            for form in _utf16(one.text):
                self._wide.add([form], _literal(form, one, "UTF-16"))
            encoded = one.text.encode()
            for form in {encoded.hex().encode(), encoded.lower().hex().encode()}:
                if len(encoded) >= _LEAST_HEX:
                    self._plain.add([form], _literal(form, one, "hexadecimal"))
            for form in _base64(one.text):
                self._exact.add([form], _literal(form, one, "base64"))

    def find(self, data: bytes) -> Iterator[Hit]:
        """Yield where texts stand, in order and without overlap.

        Long data is taken in blocks that overlap, so that the search needs little memory.
        """
        end = 0
        for begin in range(0, len(data), _BLOCK):
            start = max(0, begin - _OVERLAP)
            for hit in self._found(data[start : begin + _BLOCK + _OVERLAP]):
                place = start + hit.start
                if max(begin, end) <= place < begin + _BLOCK:
                    end = start + hit.end
                    yield dataclasses.replace(hit, start=place, end=end)

    def _found(self, data: bytes) -> list[Hit]:
        """Return all matches in a block, in order."""
        small = data.lower()
        found = {*self._plain.find(data, small)}
        if b"\0" in data:
            found |= {*self._wide.find(data, small)}
        if _LONG_RUN.search(data):
            found |= {*self._exact.find(data, data)}
        return sorted(found, key=_order)

    def replace(self, data: bytes) -> bytes:
        """Return the bytes with what is plain text replaced by neutral words.

        An identifier that is only looked for stays, as does what is encoded in base64,
        hexadecimal or UTF-16: whoever packs is told of it.
        """
        parts: list[bytes] = []
        end = 0
        for hit in self.find(data):
            if hit.identifier.replaced and not hit.form:
                parts += [data[end : hit.start], hit.identifier.neutral.encode()]
                end = hit.end
        return b"".join([*parts, data[end:]]) if parts else data


def _order(hit: Hit) -> tuple[int, int, bool, str, str]:
    """Sort by place; of several at one, the longest first, and one that is replaced."""
    one = hit.identifier
    return hit.start, -hit.end, not one.replaced, one.kind, one.text


def _literal(form: bytes, identifier: Identifier, name: str) -> _Rule:
    return _Rule(re.compile(re.escape(form)), identifier, name)


def fold(text: str) -> str:
    """Return a text in small letters of ASCII, as far as it has them."""
    plain = "".join(_PLAIN.get(char, char) for char in text.casefold())
    apart = unicodedata.normalize("NFKD", plain)
    return "".join(char for char in apart if not unicodedata.combining(char))


def _counts(data: bytes, start: int, end: int, identifier: Identifier) -> bool:
    """Tell whether what was found is a word of its own, where that matters."""
    found = data[start:end]
    if (identifier.capital or identifier.kind in _CAPITAL) and not found[:1].isupper():
        return bool(found[:1] >= b"\x80")
    if identifier.kind in _CAPITAL and found.isupper():
        return False
    if identifier.kind not in _WORDS:
        return not (data[start - 1 : start].isdigit() and found[:1].isdigit() and start > 0)
    digits = len(identifier.text) >= _LONG and not set(fold(identifier.text)) <= _HEX_LETTERS
    return _breaks(data[max(0, start - 1) : start], found[:1], digits=digits) and _breaks(
        found[-1:], data[end : end + 1], digits=digits
    )


def _breaks(left: bytes, right: bytes, *, digits: bool) -> bool:
    """Tell whether a word can end between two bytes."""
    for byte in (left, right):
        if not byte.isalnum():
            return True
    if left.isdigit() != right.isdigit():
        return digits
    return left.islower() and right.isupper()


def _anchors(text: str) -> list[bytes]:
    """Return literals of which every way to write a text holds at least one."""
    runs = re.findall(r"[a-z0-9]+", unicodedata.normalize("NFC", text.lower()))
    longest = max(runs, key=len, default="")
    if len(longest) >= _LEAST_ANCHOR or text.isascii():
        return [(longest or text.lower()).encode()]
    first = next(char for char in unicodedata.normalize("NFC", text) if not char.isascii())
    written = {
        form for variant in (first, first.lower(), first.upper()) for form in _encoded(variant)
    }
    return sorted({fold(text).encode(), *(form.lower() for form in written if len(form) > 1)})


def _utf16(text: str) -> Iterator[bytes]:
    for encoding in ("utf-16-le", "utf-16-be"):
        for variant in dict.fromkeys((text.lower(), text.upper())):
            yield variant.encode(encoding).lower()


@functools.cache
def _text_pattern(text: str) -> re.Pattern[bytes]:
    parts = (_char_pattern(char) for char in unicodedata.normalize("NFC", text))
    return re.compile(b"".join(parts), re.DOTALL)


def _char_pattern(char: str) -> bytes:
    if char.isspace():
        return _SIGNS[" "]
    if char in _SIGNS:
        return _SIGNS[char]
    if char == "\u200b":  # stands for "something or nothing between two names"
        return _GAP
    if char.isascii():
        return re.escape(char.lower().encode())
    forms: dict[bytes, None] = {}
    for variant in dict.fromkeys((char, char.lower(), char.upper())):
        forms.update(dict.fromkeys(_encoded(variant)))
    for plain in (_GERMAN.get(char.lower()), _PLAIN.get(char.lower()), fold(char)):
        if plain and plain.isascii():
            forms[plain.encode()] = None
    ordered = sorted(forms, key=lambda form: (-len(form), form))
    return b"(?:" + b"|".join(re.escape(form) for form in ordered) + b")"


def _encoded(char: str) -> Iterator[bytes]:
    """Yield the ways in which a character outside ASCII is written."""
    for form in ("NFC", "NFD"):
        plain = unicodedata.normalize(form, char).encode()
        yield plain
        yield "".join(f"%{byte:02x}" for byte in plain).encode()
        yield "".join(f"={byte:02x}" for byte in plain).encode()
    if len(char) != 1:
        return
    if ord(char) < 0x100:
        yield char.encode("latin-1")
        yield b"%" + char.encode("latin-1").hex().encode()
        yield b"\\x" + char.encode("latin-1").hex().encode()
    number = ord(char)
    yield f"\\u{number:04x}".encode()
    yield from (f"&#{number};".encode(), f"&#x{number:x};".encode())
    if named := html.entities.codepoint2name.get(number):
        yield f"&{named};".lower().encode()
    apart = unicodedata.normalize("NFD", char)
    if len(apart) == 2 and apart[1] in _ACCENTS:
        base, accent = apart[0].lower(), _ACCENTS[apart[1]].lower()
        written = (f"\\{accent}{base}", f"\\{accent}{{{base}}}", f"{{\\{accent}{base}}}")
        yield from (text.encode() for text in written)


def _base64(text: str) -> list[bytes]:
    """Return what a text becomes inside a longer text that is encoded in base64."""
    forms: dict[bytes, None] = {}
    for variant in dict.fromkeys((text, text.lower(), fold(text))):
        data = variant.encode()
        for offset in range(3):
            whole = base64.b64encode(b"\0" * offset + data)
            inner = whole[-(-offset * 8 // 6) : (offset + len(data)) * 8 // 6]
            if len(inner) >= _LEAST_BASE64:
                forms[inner] = None
                forms[inner.translate(bytes.maketrans(b"+/", b"-_"))] = None
    return list(forms)
