"""Runs a regular expression over a file, as a program of its own that can be ended.

Reads ``{"path", "pattern", "group", "limit", "whole"}`` as JSON on standard input and prints a
list of ``[value, line, groups]`` as JSON. It imports only the standard library and nothing of
`rra`, so it starts in a few milliseconds with ``python -I -S``.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

MAX_LINE = 1 << 20
"""Characters of a line that are looked at."""

MAX_PIECE = 1 << 26
"""Bytes that are read at once; what follows in a longer line is matched as a piece of its own."""

_Stretch = tuple[int, str]


def stretches(path: Path, *, whole: bool) -> Iterator[_Stretch]:
    """Yield the text of a file in the pieces that are matched, with their first line number.

    A carriage return starts a new piece of the same line, so the last state of a progress bar
    can be anchored with ``^``.
    """
    with path.open("rb") as file:
        if whole:
            yield 1, file.read().decode("utf-8", "replace")
            return
        number = 1
        while raw := file.readline(MAX_PIECE):
            for piece in raw.decode("utf-8", "replace").rstrip("\r\n").split("\r"):
                yield number, piece[:MAX_LINE]
            number += raw.endswith(b"\n")


def find(request: dict[str, Any]) -> list[tuple[str, int, dict[str, str]]]:
    """Return the matches of one request, at most one more than its limit."""
    pattern = re.compile(request["pattern"], re.MULTILINE)
    found: list[tuple[str, int, dict[str, str]]] = []
    for first, text in stretches(Path(request["path"]), whole=request["whole"]):
        for match in pattern.finditer(text):
            value = match.group(request["group"])
            if value is None:
                continue
            line = first + text.count("\n", 0, match.start(request["group"]))
            groups = {name: item for name, item in match.groupdict().items() if item is not None}
            found.append((value, line, groups))
            if len(found) > request["limit"]:
                return found
    return found


if __name__ == "__main__":
    sys.stdout.write(json.dumps(find(json.load(sys.stdin))))
