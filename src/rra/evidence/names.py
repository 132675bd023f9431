"""File names as documents write them."""

from __future__ import annotations

import os
from pathlib import PurePath


def printable(path: PurePath | str) -> str:
    r"""Return a path as valid text, with forward slashes; bytes that are not UTF-8 as ``\xNN``."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")
