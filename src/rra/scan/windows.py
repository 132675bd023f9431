"""Commands of Windows, read as a shell of Unix would be told the same."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import PurePosixPath

from rra.scan.blocks import DocumentLine, block_lines

_SUFFIXES = frozenset({".bat", ".cmd", ".ps1"})
_PLACE = re.compile(r"(?<![\\\"'])[\w.~%$-]*(?:\\[\w.%${}-]+)+\\?")
_VARIABLE = re.compile(r"%([A-Za-z_]\w*)%")
_SILENT = re.compile(
    r"^@?(?:rem\b|::|#|echo\b|pause\b|setlocal\b|endlocal\b|goto\b|:\w|\}|\{|param\b|write-)",
    re.IGNORECASE,
)


def is_batch(path: PurePosixPath) -> bool:
    """Tell whether a file is a script of a command prompt or of PowerShell."""
    return path.suffix.lower() in _SUFFIXES


def batch_lines(text: str) -> list[DocumentLine]:
    """Return the lines of a batch file or of a script of PowerShell, remarks left out."""
    numbered = [
        (number, re.sub(r"^\s*@?(?:call\s+)?", "", line))
        for number, line in enumerate(text.split("\n"), start=1)
        if not _SILENT.match(line.strip())
    ]
    return block_lines(numbered, 0, "bat")


def as_unix(text: str, is_known: Callable[[str], bool], *, surely: bool = False) -> str:
    """Return a line with ``/`` in its paths when it was written for Windows.

    Args:
        text: The line.
        is_known: Tells whether a path is a file or folder of the repository.
        surely: Whether the line was written for Windows in any case.
    """
    if "\\" not in text:
        return text
    found = [place[0] for place in _PLACE.finditer(text)]
    if surely or any(is_known(place.replace("\\", "/")) for place in found):
        return _PLACE.sub(lambda place: place[0].replace("\\", "/"), text)
    return text


def expand_percent(text: str, values: Mapping[str, str]) -> str:
    """Replace ``%NAME%`` by known values."""
    return _VARIABLE.sub(lambda found: values.get(found[1], found[0]), text)
