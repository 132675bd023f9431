"""What a launcher may use at most of a machine, and which of it is really held."""

from __future__ import annotations

import dataclasses
from typing import Literal

Resource = Literal["memory", "processes", "cpu"]

_WORDS: dict[Resource, str] = {"memory": "memory", "processes": "processes", "cpu": "processors"}


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What all processes of a run may use together.

    Attributes:
        memory: Bytes, file caches included; None for no limit.
        processes: Processes and threads at one time; None for no limit.
        cpu: Processors, a part of one included; None for no limit.
    """

    memory: int | None = None
    processes: int | None = None
    cpu: float | None = None

    def named(self) -> tuple[Resource, ...]:
        """Return what is limited."""
        given: dict[Resource, float | None] = {
            "memory": self.memory,
            "processes": self.processes,
            "cpu": self.cpu,
        }
        return tuple(word for word, value in given.items() if value is not None)

    def held(self, resources: tuple[Resource, ...]) -> dict[str, int | float]:
        """Return the limits of some resources by name, for the record."""
        return {word: getattr(self, word) for word in self.named() if word in resources}


NO_LIMITS = Limits()
"""Nothing is limited."""


def unlimited(resource: Resource) -> str:
    """Return how a record says that a limit could not be set."""
    return f"unlimited: {_WORDS[resource]}"
