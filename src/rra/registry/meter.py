"""How far a transfer is, as lines: bytes of all bytes, and how many come in a second."""

from __future__ import annotations

import threading
from collections.abc import Callable

from rra._base import clock
from rra._base.progress import Amount, LiveProgress, size_text

_SECONDS = 1.0
_LIVE_SECONDS = 0.1
_STEPS = 100


class Meter:
    """Counts the bytes of several transfers at once, and says so now and then.

    At most one line a second, and at most a hundred in all; whoever takes amounts
    (`rra._base.progress`) gets at most ten a second instead.

    Args:
        say: Takes a line; it is never called by two threads at once.
        total: Bytes that are expected.
        verb: What happens to them, such as ``sent``.
    """

    def __init__(self, say: Callable[[str], None], total: int, verb: str) -> None:
        self._say, self._total, self._verb = say, total, verb
        self._lock = threading.Lock()
        self._done = self._moved = self._shown = 0
        self._began = self._last = clock.monotonic()
        self._live = say if isinstance(say, LiveProgress) else None

    def line(self, text: str) -> None:
        """Pass a line on."""
        with self._lock:
            self._say(text)

    def add(self, count: int) -> None:
        """Count bytes that went over the line; a negative number takes back what goes again."""
        with self._lock:
            self._done += count
            self._moved += max(count, 0)
            now = clock.monotonic()
            if self._live is not None:
                if now - self._last >= _LIVE_SECONDS:
                    self._last = now
                    self._show(self._live, now)
                return
            step = self._done - self._shown
            if now - self._last < _SECONDS or step * _STEPS < self._total:
                return
            self._last, self._shown = now, self._done
            self._say(f"{size_text(self._done)} of {size_text(self._total)} {self._rate(now)}")

    def skip(self, count: int) -> None:
        """Count bytes that did not have to go over the line."""
        with self._lock:
            self._done += count
            self._shown = max(self._shown, self._done)

    def finish(self) -> None:
        """Say what went over the line, where it was enough to matter."""
        with self._lock:
            if self._moved >= 1 << 20:
                now = clock.monotonic()
                if self._live is not None:
                    self._show(self._live, now)
                self._say(f"{size_text(self._moved)} {self._rate(now)}")

    def _show(self, live: LiveProgress, now: float) -> None:
        live.show(Amount(self._verb, self._done, self._total, self._per_second(now)))

    def _rate(self, now: float) -> str:
        return f"{self._verb}, {size_text(int(self._per_second(now)))}/s"

    def _per_second(self, now: float) -> float:
        return self._moved / max(now - self._began, 0.001)
