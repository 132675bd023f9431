"""The only place where time is read, so that tests can set it."""

from __future__ import annotations

import datetime as dt
import time


def now() -> dt.datetime:
    """Return the current time, aware and in UTC."""
    return dt.datetime.now(dt.UTC)


def monotonic() -> float:
    """Return seconds on a clock that never goes back."""
    return time.monotonic()


def iso(moment: dt.datetime) -> str:
    """Write a moment as RFC 3339 in UTC with seconds, as every document of the format does."""
    return moment.astimezone(dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def sleep(seconds: float) -> None:
    """Wait, as before asking a busy server again."""
    time.sleep(seconds)
