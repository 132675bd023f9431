"""How far something is, for whoever shows more than lines."""

from __future__ import annotations

import abc
import dataclasses
from collections.abc import Mapping, Sequence
from typing import Self


@dataclasses.dataclass(frozen=True, slots=True)
class Amount:
    """How far a transfer is.

    Attributes:
        verb: What happens to the bytes, such as ``copied``.
        done: Bytes that are where they belong.
        total: Bytes that are expected.
        rate: Bytes that go over the line in a second.
    """

    verb: str
    done: int
    total: int
    rate: float

    @property
    def seconds_left(self) -> float | None:
        """Seconds that the rest takes at this rate; None where nobody can tell."""
        left = max(self.total - self.done, 0)
        return left / self.rate if self.rate > 0 else None


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Activity:
    """Something that runs beside others, as it is now.

    Attributes:
        name: What it is called.
        seconds: How long it has been running; None while it waits.
        expected: Seconds that it took before, where that is known.
        memory: Bytes that it has in memory; 0 where that is not known.
        memory_declared: Bytes that it said it needs; 0 where it did not.
        line: The newest line that it printed.
        metrics: Values that it has given so far, by what they are called.
    """

    name: str
    seconds: float | None
    expected: float | None = None
    memory: int = 0
    memory_declared: int = 0
    line: str = ""
    metrics: Sequence[tuple[str, str]] = ()


class Event(str):
    """A line of progress that also says what happened as fields, for whoever reads events.

    Attributes:
        fields: What happened; ``event`` is its kind.
    """

    __slots__ = ("fields",)
    fields: Mapping[str, str | int]

    def __new__(cls, line: str, **fields: str | int) -> Self:
        """Make a line with fields."""
        made = super().__new__(cls, line)
        made.fields = fields
        return made


class LiveProgress(abc.ABC):
    """Takes the lines that every progress function takes, and amounts as often as they change.

    Whoever counts gives amounts to one of these, and now and then a line to any other function.
    """

    @abc.abstractmethod
    def __call__(self, line: str) -> None:
        """Take a line for one step."""

    @abc.abstractmethod
    def show(self, amount: Amount) -> None:
        """Take how far a transfer is now."""

    def watch(self, activities: Sequence[Activity]) -> None:
        """Take what runs now; what was given before is over."""
        del activities


def size_text(count: int) -> str:
    """Return a number of bytes for people."""
    if count < 1024:
        return f"{count} B"
    amount, unit = count / 1024, "KiB"
    for larger in ("MiB", "GiB"):
        if amount < 1024:
            break
        amount, unit = amount / 1024, larger
    return f"{amount:.1f} {unit}"


def clock_text(seconds: float) -> str:
    """Return a span of time as ``m:ss`` or ``h:mm:ss``."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
