"""Merging two changes of one text, by the program that authors know from their repositories."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import Literal, get_args

from rra._base import process
from rra.errors import UnavailableError

Conflicts = Literal["leave", "author", "template", "mark"]
"""What becomes of lines that both sides have changed."""

CONFLICTS: tuple[str, ...] = get_args(Conflicts)

_SIDES = {"author": ["--ours"], "template": ["--theirs"]}
_LABELS = ("yours", "the template before", "the template now")
_HUNK = re.compile(rf"^<{{7}} {_LABELS[0]}\n.*?^>{{7}} {_LABELS[2]}\n", re.MULTILINE | re.DOTALL)
_MOST_CONFLICTS = 127


def merge_text(mine: str, base: str, theirs: str, *, conflicts: Conflicts) -> tuple[str, int, str]:
    """Merge a text three ways: (text, number of conflicts, the conflicts as they would be marked).

    A text that the author has saved with the line ends of Windows keeps them.

    Args:
        mine: The author's text.
        base: What the template gave.
        theirs: What the template gives now.
        conflicts: Whose lines are taken where both have changed them; otherwise both are marked.

    Raises:
        ToolMissingError: git is not installed.
        UnavailableError: git could not merge.
    """
    process.require_tool(
        "git",
        why="it merges what the template and you have changed",
        install="install git, and run again",
    )
    if "\r\n" in mine and "\r\n" not in theirs:
        base, theirs = (text.replace("\n", "\r\n") for text in (base, theirs))
    marked, count = _merge_file((mine, base, theirs), [])
    hunks = "".join(_HUNK.findall(marked.replace("\r\n", "\n")))
    if count and conflicts in _SIDES:
        marked, _ = _merge_file((mine, base, theirs), _SIDES[conflicts])
    return marked, count, hunks


def _merge_file(texts: tuple[str, str, str], options: list[str]) -> tuple[str, int]:
    with tempfile.TemporaryDirectory(prefix="rra-merge-") as folder:
        names = [Path(folder) / name for name in ("mine", "base", "theirs")]
        for path, text in zip(names, texts, strict=True):
            path.write_bytes(text.encode())
        labels = [word for label in _LABELS for word in ("-L", label)]
        done = process.run(["git", "merge-file", "-p", *options, *labels, *names], cwd=Path(folder))
    if not 0 <= done.returncode <= _MOST_CONFLICTS:
        message = f"git could not merge: {done.last_error(2)}"
        raise UnavailableError(message, hint="try it by hand: git merge-file")
    return done.stdout_bytes.decode("utf-8"), done.returncode
