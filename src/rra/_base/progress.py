"""How far something is, for whoever shows more than lines."""

from __future__ import annotations

import abc
import dataclasses
from collections.abc import Mapping
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
