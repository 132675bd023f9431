"""How long and how often a registry is asked."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from rra._base import clock

BLOCK = 1 << 20
"""Bytes that are read or sent at a time."""

RETRIED = frozenset({408, 429, 500, 502, 503, 504})
"""Answers after which the same question may get a better one."""


@dataclasses.dataclass(frozen=True, slots=True)
class Policy:
    """Timeouts, retries and limits of one conversation.

    Attributes:
        connect_seconds: Until a connection stands.
        idle_seconds: Between two pieces of an answer, or of what is sent.
        attempts: How often one request is sent at most.
        longest_wait: Cap on the seconds that a registry may make us wait (Retry-After).
        redirects: How many redirects are followed.
        pages: How many pages of a list are read.
        pieces_from: Size of blobs from which on an upload can be taken up again (PATCH).
        sleep: Waits between attempts.
    """

    connect_seconds: float = 10.0
    idle_seconds: float = 60.0
    attempts: int = 4
    longest_wait: float = 30.0
    redirects: int = 5
    pages: int = 1000
    pieces_from: int = 256 << 20
    sleep: Callable[[float], None] = clock.sleep

    def wait(self, attempt: int, retry_after: str | None) -> float:
        """Return seconds to wait before the next attempt.

        Args:
            attempt: Number of the attempt that failed, from 1.
            retry_after: The header of that name; only its form in seconds is read.
        """
        wanted = 0.5 * 2.0 ** (attempt - 1)
        if retry_after is not None and retry_after.strip().isdecimal():
            # No int() of a number with thousands of digits.
            digits = retry_after.strip().lstrip("0")
            wanted = float(digits or "0") if len(digits) < 9 else self.longest_wait
        return min(wanted, self.longest_wait)


DEFAULT_POLICY = Policy()
