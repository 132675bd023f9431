"""What a kind can answer from its description alone, and how it refuses what it cannot do."""

from __future__ import annotations

import abc
import re
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

from packaging.utils import canonicalize_name

from rra.artifact import layout
from rra.environment.answers import CheckedEnvironment, ExplainedPackage, GatheredEnvironment
from rra.environment.built import checked_digest, named_environment
from rra.environment.carry import CarriedFiles
from rra.environment.difference import Side
from rra.environment.kinds.protocol import (
    Ability,
    CarryRequest,
    CheckRequest,
    Description,
    GatherRequest,
)
from rra.errors import CorruptError, Problem, UnavailableError, UsageError
from rra.sandbox.protocol import Level

if TYPE_CHECKING:
    from rra.artifact import Artifact
    from rra.model import Environment

_PACKAGE = re.compile(r"(?:[a-z][a-z0-9.-]*: )?([^\s=<>!~;\[]+)(?:\[[^\]]*\])?\s*=*\s*(.*)")
"""``name version``, ``name==version``, or a package with its distribution of Linux before it."""


class DescribedKind(abc.ABC):
    """A kind that is described, and of which a verb asks no more than its files say."""

    name: str

    @property
    def isolation(self) -> Level | None:
        """Level of the isolation that it brings itself: none, so a sandbox is chosen."""
        return None

    @abc.abstractmethod
    def can(self) -> frozenset[Ability]:
        """Return what this kind does here."""

    @abc.abstractmethod
    def describe(self, root: Path, env: Environment) -> Description:
        """Say what an environment consists of."""

    def carry(self, request: CarryRequest) -> CarriedFiles:
        """Refuse: nothing of this kind is put beside a lock.

        Raises:
            UnavailableError: Always.
        """
        message = f"environment {request.id} is of kind {self.name}, which carries no files"
        hint = f"lock it without --wheels and --runtime, or name others than {request.id}"
        raise UnavailableError(message, hint=hint)

    def gather(self, request: GatherRequest) -> GatheredEnvironment:
        """Refuse: this kind locks no files that could be brought.

        Raises:
            UnavailableError: Always.
        """
        message = f"environment {request.id} is of kind {self.name}, which locks no wheels"
        raise UnavailableError(message, hint="see what it consists of with: rra env check")

    def check(self, request: CheckRequest) -> tuple[CheckedEnvironment, list[Problem]]:
        """Compare the lock with ``rra.lock`` and repeat what could not be read."""
        artifact, env = request.artifact, named_environment(request.artifact, request.id)
        said = self.describe(artifact.root, env)
        file = env.lock or (said.files[0] if said.files else layout.MANIFEST)
        problems = [Problem(text, file, severity="warning") for text in said.problems]
        problems += [
            Problem(f"{name} cannot be had without the tool of this kind", file, severity="warning")
            for name in said.unknown
        ]
        if env.lock and not artifact.path(env.lock).is_file():
            hint = "lock it with: rra lock"
            problems = [Problem("there is no such lock", env.lock, hint=hint)]
        elif env.lock:
            try:
                checked_digest(artifact, request.id, artifact.path(env.lock))
            except CorruptError as error:
                problems.insert(0, Problem(error.message, env.lock, hint=error.hint))
        one = CheckedEnvironment(
            id=request.id,
            kind=self.name,
            can=tuple(sorted(self.can())),
            python=env.python,
            packages=len(said.packages) + len(said.unknown),
            consistent=not any(problem.severity == "error" for problem in problems),
        )
        return one, problems

    def side(self, artifact: Artifact, env_id: str) -> Side:
        """Return the packages that its files name."""
        env = named_environment(artifact, env_id)
        said = self.describe(artifact.root, env)
        packages: defaultdict[str, dict[str, frozenset[str]]] = defaultdict(dict)
        for name, version in named_packages(said):
            packages[canonicalize_name(name)][version] = frozenset()
        return Side(env_id, {"python": env.python} if env.python else {}, packages, ())

    def explain(self, artifact: Artifact, env_id: str, package: str) -> ExplainedPackage | None:
        """Say which file names a package, and at which version."""
        env = named_environment(artifact, env_id)
        said = self.describe(artifact.root, env)
        versions = [v for name, v in named_packages(said) if canonicalize_name(name) == package]
        if not versions:
            return None
        file = said.files[0] if said.files else layout.MANIFEST
        return ExplainedPackage(
            id=env_id, versions=tuple(versions), manifest=file, python=env.python, place=file
        )


def named_packages(said: Description) -> list[tuple[str, str]]:
    """Return (name, version) of each package of a description; no version is empty."""
    found = (_PACKAGE.fullmatch(text) for text in (*said.packages, *said.unknown))
    return [(match[1], match[2].strip()) for match in found if match]


def locked_file(artifact: Artifact, env_id: str, env: Environment) -> tuple[Path, str]:
    """Return the lock that the manifest names and its digest, which has to be that of rra.lock.

    Raises:
        UsageError: There is none.
        CorruptError: It is another one than ``rra.lock`` names.
    """
    path = artifact.path(env.lock) if env.lock else None
    if path is None or not path.is_file():
        what = f"there is no {env.lock}" if env.lock else f"{layout.MANIFEST} names no lock of it"
        message = f"environment {env_id} is not locked: {what}"
        raise UsageError(message, hint="lock it with: rra lock")
    return path, checked_digest(artifact, env_id, path)
