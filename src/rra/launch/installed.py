"""Is the environment of a run still what its lock says, now that the run has ended?"""

from __future__ import annotations

import dataclasses

from rra.environment import Built
from rra.environment.materialise import read_installed


@dataclasses.dataclass(frozen=True, slots=True)
class ChangedPackage:
    """A package that is another one than before the run; None where it is not there."""

    name: str
    before: str | None
    after: str | None

    def __str__(self) -> str:
        """What became of it, in words."""
        return f"{self.name} is {self.after or 'missing'}, locked {self.before or 'nothing'}"


def changed_packages(environment: Built) -> list[ChangedPackage]:
    """Compare what is installed with what was when the environment was held against its lock.

    A run that nothing isolates can install into its own environment. Names and versions are
    compared, by their metadata; a file that is edited within a package is not seen. Only
    environments of wheels are looked at.

    Args:
        environment: The environment, as it was before the run.
    """
    if environment.kind != "pylock" or environment.root is None or environment.image is not None:
        return []
    before, after = dict(environment.packages), read_installed(environment.root)
    return [
        ChangedPackage(name, before.get(name), after.get(name))
        for name in sorted(before.keys() | after.keys())
        if before.get(name) != after.get(name)
    ]


def installed_gaps(changed: list[ChangedPackage]) -> list[str]:
    """Say that a run changed its environment, if it did."""
    if not changed:
        return []
    listed = "; ".join(map(str, changed))
    return [f"the environment is no longer what its lock says: {listed}"]
