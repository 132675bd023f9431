"""Kind ``conda``: described by the reviewed table of names, never guessed, not built here."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

from rra.environment.built import Built, named_environment
from rra.environment.kinds.described import DescribedKind
from rra.environment.kinds.finding import find_files
from rra.environment.kinds.protocol import (
    Ability,
    BuildRequest,
    Description,
    KindLock,
    LockRequest,
)
from rra.environment.lockfiles import LOCK_FILES, LOCK_READERS
from rra.environment.manifests import read_conda
from rra.errors import EnvironmentBuildError, LockError
from rra.model import Environment

_LOCKS = r"pixi\.lock|(?:[\w.-]*\.)?conda-lock\.ya?ml|conda-[\w-]+\.lock"
_FILES = re.compile(rf"(?:environment|conda|env)[\w.-]*\.ya?ml|{_LOCKS}")
_UNKNOWN = re.compile(r"conda package (\S+) has no reviewed distribution")
_UNKNOWN_LIST = re.compile(r"without a reviewed distribution: ([^;]+);")


@dataclasses.dataclass(frozen=True, slots=True)
class CondaKind(DescribedKind):
    """Describes environments of conda packages, and says which of them need conda."""

    name: str = "conda"

    def can(self) -> frozenset[Ability]:
        """Return what this kind does here: it takes a lock that conda's tools wrote."""
        return frozenset({"lock"})

    def detect(self, root: Path) -> tuple[str, ...]:
        """Return the environment files and locks of conda, pixi and conda-lock."""
        return find_files(root, _FILES)

    def describe(self, root: Path, env: Environment) -> Description:
        """Say which packages have a distribution of Python, and which have none."""
        files = (str(env.lock),) if env.lock else self.detect(root)
        if not files or not (root / files[0]).is_file():
            return Description(kind=self.name, problems=("there is no file of conda",))
        path, name = root / files[0], files[0]
        kind = next((k for pattern, k in LOCK_FILES if pattern.match(path.name)), "")
        found = (LOCK_READERS[kind] if kind else read_conda)(path, name)
        unknown: list[str] = []
        problems: list[str] = []
        for problem in found.problems:
            listed = _UNKNOWN_LIST.search(problem.message)
            single = _UNKNOWN.search(problem.message)
            if listed or single:
                unknown += listed[1].split(", ") if listed else [single[1]] if single else []
            else:
                problems.append(str(problem))
        rebuilt = (
            f"not without conda: {', '.join(unknown)}"
            if unknown
            else "as kind pylock: every package has a distribution of Python"
        )
        return Description(
            kind=self.name,
            version=found.python or env.python or "",
            packages=tuple(sorted(text for text, _ in found.found)),
            unknown=tuple(sorted(unknown)),
            files=(name,),
            rebuilt=rebuilt,
            problems=tuple(problems),
        )

    def lock(self, request: LockRequest) -> KindLock:
        """Refuse, and say what would work.

        Raises:
            LockError: Always: conda's packages are locked by conda's tools.
        """
        if request.env.lock and (request.root / request.env.lock).is_file():
            found = self.describe(request.root, request.env)
            return KindLock(lock=request.root / request.env.lock, packages=found.packages)
        message, hint = self._refusal(request.root, request.id, request.env)
        raise LockError(message, hint=hint)

    def build(self, request: BuildRequest) -> Built:
        """Refuse, and say what would work.

        Raises:
            EnvironmentBuildError: Always.
        """
        env = named_environment(request.artifact, request.id)
        message, hint = self._refusal(request.artifact.root, request.id, env)
        raise EnvironmentBuildError(message, hint=hint)

    def _refusal(self, root: Path, env_id: str, env: Environment) -> tuple[str, str]:
        found = self.describe(root, env)
        if found.unknown:
            names = ", ".join(found.unknown)
            message = f"environment {env_id} cannot be rebuilt without conda: {names}"
            return message, "lock it with conda-lock or pixi and name that file as lock"
        message = f"environment {env_id} is of kind conda, which is not built here"
        if not found.packages:
            return message, "lock it with conda-lock or pixi and name that file as lock"
        return message, "set kind: pylock in rra.yaml: each package is also a Python distribution"
