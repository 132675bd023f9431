"""From bytes to text: encoding, byte order mark, size, and characters that no document has."""

from __future__ import annotations

import re

from rra._base.yaml.faults import place_of, refusal

MAX_BYTES = 4 * 1024 * 1024
"""Size up to which a YAML document is read."""

BOM = "\ufeff"
_WIDE = (b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff")
_UNREADABLE = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069"
    "\ud800-\udfff\ufeff\ufffe\uffff]"
)
_LINE_BREAKS = "\x85\u2028\u2029"
_BIDI = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
_SURROGATES = re.compile("[\ud800-\udfff]")


def decode(data: bytes, *, source: str) -> str:
    """Return the text of a document; a byte order mark stays its first character.

    Raises:
        FormatError: The bytes are not UTF-8.
    """
    if data.startswith(_WIDE):
        message = "not UTF-8: the file begins with the mark of UTF-16 or UTF-32"
        raise refusal(source, message, 1, 1, clause="utf-8", hint="save it as UTF-8")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line, column = place_of(data[: error.start].decode("utf-8"), error.start)
        message = f"not UTF-8: {error.reason} 0x{data[error.start]:02x}"
        hint = "save it as UTF-8"
        raise refusal(source, message, line, column, clause="utf-8", hint=hint) from error


def check_characters(text: str, *, source: str) -> None:
    """Refuse characters that are not shown, or that end lines for some readers only.

    Raises:
        FormatError: There is one; the first is named.
    """
    found = _UNREADABLE.search(text, 1 if text.startswith(BOM) else 0)
    if found is None:
        return
    character = found[0]
    name = f"U+{ord(character):04X}"
    if character in _LINE_BREAKS:
        clause, what = "line-breaks", f"{name} ends the line for some readers"
    elif character in _BIDI:
        clause, what = "bidirectional", f"{name} turns the direction of the text around it"
    elif character == BOM:
        clause, what = "byte-order-mark", "a byte order mark inside the text"
    else:
        clause, what = "characters", f"the character {name} may not stand in a document"
    hint = f'write it as an escape between double quotes: "\\u{ord(character):04x}"'
    if clause == "characters":
        hint = "remove it"
    line, column = place_of(text, found.start())
    raise refusal(source, what, line, column, clause=clause, hint=hint)


def joined_surrogates(value: str) -> str | None:
    """Return a text with its pairs of surrogates joined; None when one stands alone."""
    if _SURROGATES.search(value) is None:
        return value
    try:
        return value.encode("utf-16", "surrogatepass").decode("utf-16")
    except UnicodeDecodeError:
        return None
