"""Values of outcomes while their runs still go on: for whoever watches, never for a record.

What a run has written so far is read with the selectors of its outcomes, in a thread of its own,
and at most every few seconds. A value that is not there yet, or not the only one, is not shown.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import stat
import tempfile
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

from rra._base import clock
from rra.artifact import Artifact
from rra.errors import RraError
from rra.evidence import STDERR, STDOUT
from rra.model import Outcome
from rra.values.selectors import select

_EVERY = 2.0
"""Seconds between two looks at what a run has written."""

_MOST = 4
"""Outcomes of one launcher that are looked for."""

_LARGEST = 1 << 20
"""Bytes of a file that is read; a larger one is left until the end."""

Metric = tuple[str, str]
"""What a value is called, and the value as text."""


@dataclasses.dataclass(frozen=True, slots=True)
class Growing:
    """Where a run writes.

    Attributes:
        outputs: Its output directory; the launcher may change anything in it at any moment.
        streams: Folder of what it prints.
    """

    outputs: Path
    streams: Path

    def file(self, name: str) -> Path:
        """Return the file that will be the output of a name."""
        own = self.outputs / name
        return self.streams / name if name in {STDOUT, STDERR} and not own.exists() else own


@dataclasses.dataclass(slots=True)
class _Watched:
    """What is known of one run: when it was looked at, stamps of its files, its values."""

    begun: float
    look: Future[None] | None = None
    stamps: dict[str, tuple[int, int]] = dataclasses.field(default_factory=dict)
    values: dict[str, str] = dataclasses.field(default_factory=dict)


class LiveMetrics:
    """Looks at what runs write, as long as it is asked."""

    def __init__(self, artifact: Artifact) -> None:
        """Look at nothing yet.

        Args:
            artifact: The artifact whose outcomes are looked for.
        """
        self._outcomes: dict[str, list[tuple[str, Outcome]]] = {}
        for name, outcome in artifact.manifest.outcomes().items():
            mine = self._outcomes.setdefault(outcome.selector.launcher, [])
            if outcome.type == "number" and len(mine) < _MOST:
                mine.append((name.rpartition("/")[2], outcome))
        self._runs: dict[str, _Watched] = {}
        self._reader: ThreadPoolExecutor | None = None

    def of(self, run: str, launcher: str, place: Growing | None) -> tuple[Metric, ...]:
        """Return the newest values of a run that are known, at once; look for newer ones later.

        Args:
            run: What the run is called.
            launcher: Id of its launcher.
            place: Where it writes; None while it does not.
        """
        outcomes = self._outcomes.get(launcher, [])
        if not outcomes or place is None:
            return ()
        now = clock.monotonic()
        known = self._runs.setdefault(run, _Watched(now - _EVERY))
        if now - known.begun >= _EVERY and (known.look is None or known.look.done()):
            known.begun = now
            known.look = self._pool().submit(_look, known, outcomes, place)
        names = [name for name, _ in outcomes]
        return tuple((name, known.values[name]) for name in names if name in known.values)

    def close(self) -> None:
        """Look no more."""
        if self._reader is not None:
            self._reader.shutdown(wait=True, cancel_futures=True)
            self._reader = None

    def _pool(self) -> ThreadPoolExecutor:
        if self._reader is None:
            self._reader = ThreadPoolExecutor(1, "rra-live")
        return self._reader


def _look(known: _Watched, outcomes: list[tuple[str, Outcome]], place: Growing) -> None:
    """Read the values of files that have changed since the last look."""
    with tempfile.TemporaryDirectory(prefix="rra-live-") as folder:
        copies: dict[str, bool] = {}
        for name, outcome in outcomes:
            file = outcome.selector.file
            if file not in copies:
                copies[file] = _copied(known, place, file, Path(folder))
            if not copies[file]:
                continue
            with contextlib.suppress(RraError, ValueError):
                known.values[name] = str(select(Path(folder), outcome.selector).text)[:24]


def _copied(known: _Watched, place: Growing, file: str, folder: Path) -> bool:
    """Copy a file that has changed; tell whether that was done.

    The launcher may put a pipe, a link or a device there: nothing is waited for or followed.
    """
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        number = os.open(place.file(file), flags)
    except OSError:
        return False
    try:
        status = os.fstat(number)
        stamp = (status.st_size, status.st_mtime_ns)
        if not stat.S_ISREG(status.st_mode) or status.st_size > _LARGEST:
            return False
        if known.stamps.get(file) == stamp:
            return False
        content = os.pread(number, _LARGEST, 0)
    except OSError:
        return False
    finally:
        os.close(number)
    known.stamps[file] = stamp
    target = folder / file
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(content)
    return True
