"""Stored results that are older than the code that makes them, by the dates of their commits."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath

from rra._base import process
from rra.errors import ToolMissingError, UnavailableError
from rra.scan.traits.objects import StaleFile

_MAX_COMMITS = 5_000
_SECONDS = 30.0
_DAY = 86_400
_SAFELY = {
    "core.quotePath": "off",
    "core.fsmonitor": "false",
    "core.hooksPath": os.devnull,
    "log.showSignature": "false",
    "safe.directory": "*",
}
"""Settings of the repository that would start programs of its choice are overruled."""


def last_commits(root: Path) -> dict[PurePosixPath, int]:
    """Return when each file was last committed, in seconds since 1970; nothing without git.

    Only a repository of its own is asked, not one around it. Nothing is fetched.

    Args:
        root: The repository.
    """
    if not (root / ".git").exists() or process.find_tool("git") is None:
        return {}
    options = [word for key, value in _SAFELY.items() for word in ("-c", f"{key}={value}")]
    command = ["git", *options, "log", f"-n{_MAX_COMMITS}", "--format=%x00%ct", "--name-only"]
    env = {**os.environ, "GIT_ALLOW_PROTOCOL": "none", "GIT_NO_LAZY_FETCH": "1"}
    env |= {"GIT_CEILING_DIRECTORIES": str(root.resolve().parent), "GIT_OPTIONAL_LOCKS": "0"}
    try:
        done = process.run(
            [*command, "--no-ext-diff", "--no-renames"], cwd=root, env=env, timeout=_SECONDS
        )
    except (UnavailableError, ToolMissingError):
        return {}
    found: dict[PurePosixPath, int] = {}
    for entry in done.stdout.split("\0")[1:] if done.ok else ():
        first, *names = entry.split("\n")
        for name in names:
            if name and first.isdecimal():
                found.setdefault(PurePosixPath(name), int(first))
    return found


def find_stale(
    made_by: Mapping[PurePosixPath, Iterable[PurePosixPath]], commits: Mapping[PurePosixPath, int]
) -> tuple[StaleFile, ...]:
    """Return the results whose code was committed later.

    Args:
        made_by: Files of code behind each stored result.
        commits: When each file was last committed.
    """
    found = []
    for result, code in sorted(made_by.items()):
        moment = commits.get(result)
        dated = [(commits[path], path) for path in code if path in commits and path != result]
        if moment is not None and dated and max(dated)[0] > moment:
            latest, path = max(dated)
            found.append(StaleFile(result, path, (latest - moment) // _DAY))
    return tuple(found)
