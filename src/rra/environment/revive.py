"""Looking for the Python and the day with which an old environment works again.

Pure search: what a try is, the caller says. It begins where it is told to, and what is nearest
wins: the same day with another Python before another day, since a day stands for what the author
had installed and the Python is often not written down. Between a day that fails and one that
works, bisection finds about the nearest that works.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Literal

from rra._base.progress import Event

Pythons = Callable[[], Sequence[str]]
Stage = Literal["resolve", "build", "install", "import", "works"]
STAGES: tuple[Stage, ...] = ("resolve", "build", "install", "import", "works")
_MONTHS = (3, 6, 12, 24, 36, 48)
_DAYS_ENOUGH = 7
_PYTHONS_BY_DAY = 2
_PYTHONS_BY_IMPORT = 4
"""Other Pythons tried where an import fails: most often the versions are to blame, not Python."""

_FIRST_DAY = dt.date(2008, 12, 3)


@dataclasses.dataclass(frozen=True, slots=True, order=True)
class Attempt:
    """A Python (major.minor) and a day (``YYYY-MM-DD``) to try."""

    python: str
    day: str

    def __str__(self) -> str:
        """Say it in words."""
        return f"Python {self.python} as of {self.day}"


@dataclasses.dataclass(frozen=True, slots=True)
class Tried:
    """What came of a try.

    Attributes:
        attempt: What was tried.
        stage: The step that failed, or ``works``.
        why: Why it failed, on one line.
        failures: How many imports failed.
        versions: What was locked; empty when that failed.
        added: What was locked although nothing declares it, each with what needs it.
    """

    attempt: Attempt
    stage: Stage
    why: str = ""
    failures: int = 0
    versions: tuple[str, ...] = ()
    added: tuple[str, ...] = ()

    @property
    def works(self) -> bool:
        """Whether everything went well."""
        return self.stage == "works"

    def __str__(self) -> str:
        """Say it in one line."""
        if self.works:
            return f"{self.attempt}: works{self.addition()}"
        return f"{self.attempt}: {self.stage} fails: {self.why}{self.addition()}"

    def addition(self) -> str:
        """Say what was added, as the end of a line; nothing where nothing was."""
        return f", with {', '.join(self.added)} added" if self.added else ""

    def merit(self) -> tuple[int, int]:
        """Order tries that fail by how far they came."""
        return STAGES.index(self.stage), -self.failures


class _SpentError(Exception):
    """No more tries are allowed."""


class Search:
    """One search, with its tries in order."""

    def __init__(
        self,
        attempt: Callable[[Attempt], Tried],
        *,
        tell: Callable[[str], None] = lambda _: None,
        most: int = 30,
    ) -> None:
        """Search by a function.

        Args:
            attempt: Tries one Python and one day.
            tell: Called with one line for each try.
            most: Most tries.
        """
        self.tried: list[Tried] = []
        self._attempt = attempt
        self._tell = tell
        self._most = most
        self._known: dict[Attempt, Tried] = {}

    def run(self, start: Attempt, pythons: Pythons, *, today: str, move_day: bool = True) -> Tried:
        """Return the nearest try that works, else the one that came furthest.

        Args:
            start: Where to begin.
            pythons: Gives other Pythons, the most likely first; asked only when they matter.
            today: No later day is tried.
            move_day: Whether other days may be tried.
        """
        try:
            found = self._search(start, pythons, today, move_day=move_day)
        except _SpentError:
            found = None
        working = [one for one in self.tried if one.works]
        return found or (working[-1] if working else max(self.tried, key=Tried.merit))

    def _search(
        self, start: Attempt, pythons: Pythons, today: str, *, move_day: bool
    ) -> Tried | None:
        one = self._try(start)
        if one.works:
            return one
        limit = _PYTHONS_BY_IMPORT if one.stage == "import" else None
        for python in list(pythons())[:limit]:
            one = self._try(Attempt(python, start.day))
            if one.works:
                return one
        if not move_day:
            return None
        best = sorted(self.tried, key=Tried.merit, reverse=True)
        chosen = [one.attempt.python for one in best[:_PYTHONS_BY_DAY]]
        asked = dt.date.fromisoformat(start.day)
        for fails, day in _days(asked, dt.date.fromisoformat(today)):
            for python in chosen:
                one = self._try(Attempt(python, day.isoformat()))
                if one.works:
                    return self._nearest(one, fails, day)
        return None

    def _nearest(self, found: Tried, fails: dt.date, works: dt.date) -> Tried:
        """Bisect between a day that fails and one that works."""
        while abs((works - fails).days) > _DAYS_ENOUGH:
            middle = fails + (works - fails) // 2
            one = self._try(Attempt(found.attempt.python, middle.isoformat()))
            if one.works:
                found, works = one, middle
            else:
                fails = middle
        return found

    def _try(self, attempt: Attempt) -> Tried:
        if attempt in self._known:
            return self._known[attempt]
        if len(self.tried) >= self._most:
            raise _SpentError
        one = self._attempt(attempt)
        self._known[attempt] = one
        self.tried.append(one)
        number = len(self.tried)
        fields = {"python": attempt.python, "as_of": attempt.day, "stage": one.stage}
        line = f"try {number}: {one}"
        self._tell(Event(line, event="try", number=number, **fields, why=one.why))
        return one


def _days(asked: dt.date, today: dt.date) -> Iterator[tuple[dt.date, dt.date]]:
    """Yield days around one, nearest first and earlier before later, each with one that failed.

    The day that failed lies between the two: it is the step before on the same side.
    """
    before = after = asked
    for months in _MONTHS:
        away = dt.timedelta(days=round(months * 30.44))
        earlier = max(asked - away, _FIRST_DAY)
        if earlier < before:
            yield before, earlier
            before = earlier
        later = min(asked + away, today)
        if later > after:
            yield after, later
            after = later


def ranked(pythons: Iterable[tuple[str, int | None]], near: str) -> list[str]:
    """Order Pythons by how many packages lack a wheel for them, then by distance, older first.

    Args:
        pythons: Each with its count; None where nothing resolves.
        near: The Python that was asked for; it is left out.
    """
    own = _minor(near)
    able = [(count, python) for python, count in pythons if count is not None and python != near]
    able.sort(key=lambda one: (one[0], abs(_minor(one[1]) - own), _minor(one[1])))
    return [python for _, python in able]


def _minor(python: str) -> int:
    return int(python.split(".")[1])
