r"""Logs and other text: a regular expression with a named group, under a time limit.

The pattern is searched in each line by itself, so ``^`` and ``$`` are the ends of a line and a
file of any size is read as a stream; lines are cut at one million characters. A pattern that
contains ``\n`` is searched in the text as a whole, up to 64 MiB.

No pattern can hang `rra`: Python's `re` can take exponential time and cannot be interrupted, so
the search runs in a process of its own and is ended after `SECONDS`.
"""

from __future__ import annotations

import json
import re
import sys
import warnings
from pathlib import Path

from rra._base import process
from rra.errors import SelectError, UnavailableError
from rra.values.readers import regex_worker
from rra.values.readers.candidate import MAX_CANDIDATES, Candidate, too_many

SECONDS = 30.0
"""Wall time that one pattern may take on one file."""

MAX_WHOLE_BYTES = 64 * 1024 * 1024
"""Largest file that a pattern over several lines is searched in."""

GROUP = "value"
"""Name of the group that holds the value."""


def read_regex(path: Path, pattern: str) -> list[Candidate]:
    """Return every match of a pattern's group.

    Args:
        path: File to read; bytes that are not UTF-8 are replaced.
        pattern: Regular expression with a group ``(?P<value>…)``.

    Raises:
        SelectError: The pattern is not valid, matches nothing, or takes too long.
    """
    request = {
        "path": str(path.resolve()),
        "pattern": pattern,
        "group": value_group(pattern),
        "limit": MAX_CANDIDATES,
        "whole": "\\n" in pattern or "\n" in pattern,
    }
    if request["whole"] and path.stat().st_size > MAX_WHOLE_BYTES:
        raise SelectError(
            f"{path.name} is larger than {MAX_WHOLE_BYTES} bytes, and {pattern!r} spans lines",
            hint="write a pattern for one line",
        )
    found = json.loads(_search(path, request))
    if not found:
        raise SelectError(
            f"nothing in {path.name} matches {pattern!r}",
            hint="try the pattern on the file; each line is matched by itself",
        )
    if len(found) > MAX_CANDIDATES:
        raise too_many(path.name)
    return [Candidate(value, f"line {line}", line, groups) for value, line, groups in found]


def value_group(pattern: str) -> str:
    """Return the name of the group that holds the value, without searching anything.

    Args:
        pattern: As `read_regex` takes it.

    Raises:
        SelectError: The pattern does not compile, or has no such group.
    """
    try:
        with warnings.catch_warnings(action="ignore"):
            names = list(re.compile(pattern).groupindex)
    except (re.error, OverflowError, RecursionError) as error:
        raise SelectError(
            f"{pattern!r} is not a regular expression: {error}",
            hint="Python's syntax is used; see the documentation of its re module",
        ) from error
    if GROUP in names:
        return GROUP
    raise SelectError(
        f"{pattern!r} has no group named {GROUP!r}",
        hint=r"put the value into a named group: accuracy: (?P<value>[0-9.]+)",
    )


def _search(path: Path, request: dict[str, object]) -> str:
    worker = Path(regex_worker.__file__)
    try:
        done = process.run(
            [sys.executable, "-I", "-S", worker], timeout=SECONDS, input_text=json.dumps(request)
        )
    except UnavailableError as error:
        raise SelectError(
            f"{request['pattern']!r} did not finish on {path.name} within {SECONDS:g} s",
            hint="avoid a repeated group that itself repeats, such as (a+)+",
        ) from error
    if not done.ok:
        raise SelectError(f"cannot search {path.name}: {done.last_error(1)}")
    return done.stdout
