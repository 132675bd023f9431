"""What all results of the api have in common."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from typing import Any, Self

from rra.errors import Problem

Progress = Callable[[str], None]


def silent(line: str) -> None:
    """Take a line of progress and drop it."""
    del line


@dataclasses.dataclass(frozen=True, kw_only=True)
class VerbResult:
    """Base of the results.

    Attributes:
        exit_code: Exit code of the command line: 0 yes, 1 no, 3 could not.
        problems: Warnings and faults with their places.
    """

    exit_code: int = 0
    problems: tuple[Problem, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether the answer is yes."""
        return self.exit_code == 0

    def noting(self, notices: Iterable[Problem]) -> Self:
        """Return the same result with warnings in front of its own."""
        return dataclasses.replace(self, problems=(*notices, *self.problems))

    def to_json(self) -> dict[str, Any]:
        """Return the result as plain JSON."""
        raise NotImplementedError
