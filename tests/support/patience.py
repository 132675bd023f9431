"""Tests of time limits on machines that are busy: the limit grows until the program had begun.

A limit of a fraction of a second keeps a test quick, but a loaded machine may need longer than
that to start the program at all; then the limit ends it before it did what the test is about.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

Result = TypeVar("Result")

#: Limits in seconds, one after the other.
WALLS = (0.3, 1.5, 6.0, 24.0, 96.0)


def with_growing_limit(
    attempt: Callable[[float], Result], begun: Callable[[Result], bool]
) -> Result:
    """Return the first attempt in which the program had begun when its limit ended it.

    Args:
        attempt: Runs the program with a limit in seconds, in a place of its own each time.
        begun: Tells from the result whether the program came as far as the test needs.

    Raises:
        AssertionError: It had not begun within the longest limit.
    """
    for wall in WALLS:
        result = attempt(wall)
        if begun(result):
            return result
    raise AssertionError(f"the program had not begun after {WALLS[-1]} s")
