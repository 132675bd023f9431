"""Where requirements cannot be resolved: which of them conflict, and the nearest that works.

The smallest conflicting set is found by QuickXplain (Junker, AAAI 2004): with k of n
requirements in conflict it takes about k·log2(n/k) resolutions. A day is found by bisection,
which takes for granted that what can be resolved on one day can be on every later one up to the
day that works; it says "about".
"""

from __future__ import annotations

import dataclasses
import datetime as dt
from collections.abc import Callable, Sequence

from rra._base import clock
from rra.environment.cutoff import cutoff_timestamp
from rra.environment.resolve import Resolution, for_other_pythons, is_on_no_day, resolve
from rra.errors import NoSolutionError

_FIRST_DAY = dt.date(2008, 12, 3)
"""Release of Python 3.0: nothing that runs on it is older."""
_YEARS_BACK = (1, 2, 3, 4, 6, 8)
Progress = Callable[[str], None]


@dataclasses.dataclass(frozen=True, slots=True)
class Alternative:
    """A Python and a day for which the requirements can be resolved.

    Attributes:
        python: Major and minor version.
        as_of: The day; None for no limit.
    """

    python: str
    as_of: str | None


@dataclasses.dataclass(frozen=True, slots=True)
class Diagnosis:
    """Why requirements cannot be resolved, and what would help.

    Attributes:
        conflict: A smallest set of them that cannot be had together, in their order.
        other_python: The nearest installed Python that works on the same day.
        other_day: The nearest day that works with the same Python.
        on_no_day: The index has no version that the conflict, one requirement, allows.
    """

    conflict: tuple[str, ...]
    other_python: Alternative | None
    other_day: Alternative | None
    on_no_day: bool = False


def diagnose(
    requirements: Sequence[str], target: Resolution, progress: Progress = lambda _: None
) -> Diagnosis:
    """Find out what conflicts in requirements that cannot be resolved, and what works near by.

    Nothing is built for the answer but what a resolver needs for metadata; that a set can be
    resolved does not say that each package has a wheel.

    Args:
        requirements: Requirements that `resolve` refused for the target.
        target: What they were to be resolved for.
        progress: Called with one line for each step.

    Raises:
        LockError: An index cannot be reached any more.
    """
    progress("looking for the requirements that cannot be had together")
    conflict = smallest_conflict(requirements, lambda some: _resolves(some, target))
    if len(conflict) == 1 and is_on_no_day(conflict[0], target):
        progress(f"{conflict[0]}: the index has it on no day")
        return Diagnosis(conflict, None, None, on_no_day=True)
    progress(f"{_few(conflict)}: looking for a Python or a day that has them")

    def works(attempt: Resolution) -> bool:
        return _resolves(conflict, attempt) and _resolves(requirements, attempt)

    return Diagnosis(conflict, _other_python(target, works), _other_day(target, works))


def explained(error: NoSolutionError, found: Diagnosis, target: Resolution) -> NoSolutionError:
    """Return an error that says what a diagnosis found, with what to write into the manifest."""
    listed = ", ".join(found.conflict)
    several = len(found.conflict) > 1
    what = f"{listed} cannot be had together" if several else f"{listed} cannot be had"
    ways = []
    if found.other_python:
        ways.append(f'python: "{found.other_python.python}"')
    if found.other_day:
        ways.append(f'as_of: "{found.other_day.as_of}" (about the nearest day that has them)')
    loosen = f"loosen {'one of these requirements' if several else 'that requirement'}"
    if found.on_no_day:
        hint = f"{loosen}: your index lists no such version, for any Python and on any day"
    elif ways:
        hint = f"set {', or '.join(ways)} in rra.yaml, or {loosen}"
    else:
        then = f"as of {target.as_of}" if target.as_of else "today"
        hint = (
            f"{loosen}: neither another Python that is installed here has {_it(several)} {then}, "
            f"nor Python {target.python} on another day"
        )
    return NoSolutionError(f"{what}: {error.message}", hint=hint)


def _it(several: bool) -> str:  # noqa: FBT001
    return "them" if several else "it"


def smallest_conflict(
    requirements: Sequence[str], resolves: Callable[[Sequence[str]], bool]
) -> tuple[str, ...]:
    """Return a smallest set that does not resolve: without any one of it, the rest does.

    Args:
        requirements: A set that does not resolve.
        resolves: Tells whether a set does; more requirements never make it so.
    """

    def search(kept: list[str], news: bool, among: list[str]) -> list[str]:  # noqa: FBT001
        if news and not resolves(kept):
            return []
        if len(among) == 1:
            return among
        half = len(among) // 2
        first, second = among[:half], among[half:]
        late = search(kept + first, True, second)  # noqa: FBT003
        early = search(kept + late, bool(late), first)
        return early + late

    found = set(search([], False, list(requirements))) if requirements else set()  # noqa: FBT003
    return tuple(one for one in requirements if one in found)


def _other_python(target: Resolution, works: Callable[[Resolution], bool]) -> Alternative | None:
    """Return the nearest installed Python that works, older ones first."""
    for attempt in for_other_pythons(target):
        if works(attempt):
            return Alternative(attempt.python, target.as_of)
    return None


def _other_day(target: Resolution, works: Callable[[Resolution], bool]) -> Alternative | None:
    """Return the day nearest to the one that was asked for, later ones first."""
    today = clock.now().date()

    def on(day: dt.date) -> bool:
        return works(dataclasses.replace(target, as_of=day.isoformat()))

    asked = today
    if target.as_of:
        # A moment within a day: the day before is the last that is whole before it.
        end = dt.datetime.fromisoformat(cutoff_timestamp(target.as_of))
        asked = min((end - dt.timedelta(seconds=1)).date(), today)
        if on(today):
            return Alternative(target.python, _bisect(asked, today, on).isoformat())
    newer = asked
    for years in _YEARS_BACK:
        day = max(asked - dt.timedelta(days=365 * years), _FIRST_DAY)
        if on(day):
            return Alternative(target.python, _bisect(newer, day, on).isoformat())
        newer = day
    return None


def _bisect(fails: dt.date, holds: dt.date, on: Callable[[dt.date], bool]) -> dt.date:
    """Return the day nearest to one that fails, between it and one that works."""
    while abs((holds - fails).days) > 1:
        middle = fails + (holds - fails) // 2
        if on(middle):
            holds = middle
        else:
            fails = middle
    return holds


def _resolves(requirements: Sequence[str], target: Resolution) -> bool:
    try:
        resolve(requirements, target)
    except NoSolutionError:
        return False
    return True


def _few(requirements: Sequence[str]) -> str:
    shown = ", ".join(requirements[:4])
    return f"{shown} and {len(requirements) - 4} more" if len(requirements) > 4 else shown
