"""Reading the text of files that other people wrote, in whatever encoding they come."""

from __future__ import annotations

import codecs
from pathlib import Path

MAX_TEXT_BYTES = 2 * 1024 * 1024
"""Files beyond this size are listed but not read."""

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def decode(data: bytes) -> str:
    """Turn bytes into text: by byte order mark, as UTF-16 by its zeros, as UTF-8, as Latin-1.

    All line ends become line feeds. Nothing is refused, because a scan that stops at one odd file
    helps nobody.
    """
    text = _decode(data)
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _decode(data: bytes) -> str:
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return data.decode(encoding, "replace")
    start = data[:512]
    if len(start) >= 4 and start[1::2].count(0) > len(start) // 3 and 0 not in start[0::2]:
        return data.decode("utf-16-le", "replace")
    if len(start) >= 4 and start[0::2].count(0) > len(start) // 3 and 0 not in start[1::2]:
        return data.decode("utf-16-be", "replace")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def is_binary(data: bytes) -> bool:
    """Tell whether bytes are something else than text."""
    return "\x00" in _decode(data[:4096])


def read_text(path: Path) -> str | None:
    """Return the text of a file, or None when it is too large, binary, or cannot be read."""
    try:
        if not path.is_file() or path.stat().st_size > MAX_TEXT_BYTES:
            return None
        data = path.read_bytes()
    except OSError:
        return None
    return None if is_binary(data) else decode(data)
