"""The date as of which an environment is resolved."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from rra._base import clock, process
from rra.environment.interpreter import has_interpreter
from rra.errors import UsageError

_MANIFESTS = (
    ":(glob)**/requirements*.txt",
    ":(glob)**/requirements/*.txt",
    ":(glob)**/environment*.y*ml",
    ":(glob)**/conda*.y*ml",
    ":(glob)**/pyproject.toml",
    ":(glob)**/setup.py",
    ":(glob)**/setup.cfg",
    ":(glob)**/Pipfile",
)
_MOST_NAMED = 200
"""Files that are asked for by name; of more it is only asked which commit removed none."""

_CODE = ("*.py", "*.ipynb", "*.sh", "*.R", "*.m", "*.c", "*.cpp", "*.cu")


def cutoff_timestamp(as_of: str) -> str:
    """Return the first moment after a date, for resolving with what was published by then.

    Args:
        as_of: Day (``2023-06-01``, in UTC, that day included) or RFC 3339 moment.

    Raises:
        UsageError: The text is neither.
    """
    text = as_of.strip()
    try:
        if re.fullmatch(r"\d{4}-\d{2}-\d{2}", text):
            day = dt.datetime.fromisoformat(text).replace(tzinfo=dt.UTC)
            return clock.iso(day + dt.timedelta(days=1))
        moment = dt.datetime.fromisoformat(text)
    except (ValueError, OverflowError) as error:
        message = f"as_of {as_of!r} is not a date"
        raise UsageError(message, hint='write it as "YYYY-MM-DD"') from error
    if moment.tzinfo is None:
        message = f"as_of {as_of!r} has no time zone"
        raise UsageError(message, hint='write a day, "YYYY-MM-DD", or add Z')
    return clock.iso(moment)


def suggest_as_of(root: Path) -> tuple[str, str]:
    """Suggest the date as of which a repository's environment should be resolved.

    The last commit that touched a file naming packages, else the last that touched code,
    else today. Only commits of the repository that `root` belongs to count; a file that was
    removed since names nothing, and neither does an artifact's own environment folder.

    Args:
        root: Folder of the code.

    Returns:
        The day (``YYYY-MM-DD``, UTC), and why that day in one sentence.
    """
    for patterns, what in ((_MANIFESTS, "names packages"), (_CODE, "is code")):
        found = _last_commit(root, patterns)
        if found is not None:
            day, commit, file = found
            why = f"last commit that touched a file that {what}: {file} in {commit[:12]}"
            return day, why
    return clock.iso(clock.now())[:10], "today: there is no history that names a date"


def _last_commit(root: Path, patterns: Sequence[str]) -> tuple[str, str, PurePosixPath] | None:
    if process.find_tool("git") is None or not root.is_dir():
        return None
    wanted = ["--", *patterns, ":(exclude,glob)environment/*/requirements.txt"]
    there = process.run(["git", "ls-files", "-z", *wanted], cwd=root).stdout.split("\0")[:-1]
    if not there:
        return None
    if len(there) <= _MOST_NAMED:
        wanted = ["--", *(f":(literal){path}" for path in there)]
    command = ["git", "-c", "core.quotePath=off", "log", "-1", "--format=%ct %H", "--name-only"]
    done = process.run([*command, "--diff-filter=d", *wanted], cwd=root)
    lines = [line for line in done.stdout.splitlines() if line]
    if not done.ok or len(lines) < 2:
        return None
    seconds, commit = lines[0].split()
    day = clock.iso(dt.datetime.fromtimestamp(int(seconds), dt.UTC))[:10]
    return day, commit, PurePosixPath(lines[1])


_RELEASED = (
    ("3.6", "2016-12-23"),
    ("3.7", "2018-06-27"),
    ("3.8", "2019-10-14"),
    ("3.9", "2020-10-05"),
    ("3.10", "2021-10-04"),
    ("3.11", "2022-10-24"),
    ("3.12", "2023-10-02"),
    ("3.13", "2024-10-07"),
    ("3.14", "2025-10-07"),
)
"""First release of each Python (PEP 494, 537, 569, 596, 619, 664, 693, 719, 745)."""


def suggest_python(as_of: str) -> tuple[str, str]:
    """Suggest the Python that most people ran on a day: a year after its release.

    By then packages have wheels for it. Where that one is not installed, the nearest that
    is comes instead, older ones first: what a day's packages have no wheels for is newer.

    Args:
        as_of: Day or moment, as `cutoff_timestamp` takes it.

    Returns:
        The Python (major.minor), and why that one in one sentence.
    """
    day = dt.date.fromisoformat(cutoff_timestamp(as_of)[:10])
    settled = (day - dt.timedelta(days=366)).isoformat()
    minors = [minor for minor, _ in _RELEASED]
    out = [minor for minor, released in _RELEASED if released <= settled]
    wanted = out[-1] if out else minors[0]
    index = minors.index(wanted)
    why = f"Python {wanted} had been out for a year on {as_of[:10]}"
    if not out:
        why = f"Python {wanted} is the oldest that can be driven, and newer than {as_of[:10]}"
    for minor in [*reversed(minors[: index + 1]), *minors[index + 1 :]]:
        if has_interpreter(minor):
            note = "" if minor == wanted else f"; it is not installed here, {minor} is nearest"
            return minor, why + note
    return wanted, why
