"""Kind ``pylock``: Python wheels, installed into a virtual environment."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path
from typing import TYPE_CHECKING

from rra.environment.answers import CheckedEnvironment, ExplainedPackage, GatheredEnvironment
from rra.environment.built import Built
from rra.environment.carry import CarriedFiles, carry
from rra.environment.checking import read_lock
from rra.environment.difference import Side, read_locked
from rra.environment.explaining import explain_package
from rra.environment.gathering import gather_wheels
from rra.environment.kinds.described import DescribedKind
from rra.environment.kinds.finding import find_files
from rra.environment.kinds.protocol import (
    Ability,
    BuildRequest,
    CarryRequest,
    CheckRequest,
    Description,
    GatherRequest,
    KindLock,
    LockRequest,
)
from rra.environment.lock import lock_environment
from rra.environment.materialise import materialise
from rra.environment.pylock import read_pylock
from rra.environment.standing import check_standing
from rra.errors import FormatError, Problem
from rra.model import Environment

if TYPE_CHECKING:
    from rra.artifact import Artifact

_FILES = re.compile(r"pylock(?:\.[^.]+)?\.toml|requirements[\w.-]*\.txt|pyproject\.toml|setup\.py")


@dataclasses.dataclass(frozen=True, slots=True)
class PylockKind(DescribedKind):
    """Locks and builds environments of Python wheels."""

    name: str = "pylock"

    def can(self) -> frozenset[Ability]:
        """Return what this kind does: everything."""
        return frozenset({"lock", "search", "carry", "build", "imports", "wheels", "run"})

    def detect(self, root: Path) -> tuple[str, ...]:
        """Return the files that name Python packages."""
        return find_files(root, _FILES)

    def describe(self, root: Path, env: Environment) -> Description:
        """Say what its lock holds."""
        rebuilt = "by rra or any pip, from the index of the reader or from wheels beside the lock"
        path = root / env.lock if env.lock else None
        if path is None or not path.is_file():
            missing = ("it is not locked",)
            return Description(kind=self.name, version=env.python or "", problems=missing)
        try:
            packages = read_pylock(path).packages
        except FormatError as error:
            return Description(kind=self.name, files=(str(env.lock),), problems=(error.message,))
        return Description(
            kind=self.name,
            version=env.python or "",
            packages=tuple(sorted(f"{p.name} {p.version}" for p in packages)),
            files=(str(env.lock),),
            rebuilt=rebuilt,
        )

    def lock(self, request: LockRequest) -> KindLock:
        """Resolve and write the lock; see `rra.environment.lock.lock_environment`."""
        done = lock_environment(
            request.root,
            request.id,
            request.env,
            request.requirements,
            as_of=request.as_of,
            reasons=request.reasons,
            progress=request.progress,
        )
        packages = tuple(f"{p.name} {p.version}" for p in done.packages)
        return KindLock(
            lock=done.lock,
            packages=packages,
            python=done.python,
            changed=done.changed,
            notes=done.notes,
        )

    def carry(self, request: CarryRequest) -> CarriedFiles:
        """Put its wheels beside it; see `rra.environment.carry.carry`."""
        return carry(
            request.root,
            request.id,
            request.env,
            archive=request.archive,
            progress=request.progress,
        )

    def check(self, request: CheckRequest) -> tuple[CheckedEnvironment, list[Problem]]:
        """Compare it with the files around it; see `rra.environment.standing`."""
        return check_standing(
            request.artifact,
            request.id,
            request.needed(),
            can=tuple(sorted(self.can())),
            available=request.available,
            progress=request.progress,
        )

    def build(self, request: BuildRequest) -> Built:
        """Install it; see `rra.environment.materialise.materialise`."""
        return materialise(
            request.artifact,
            request.id,
            target=request.target,
            progress=request.progress,
            unpack=request.unpack,
            sandbox=request.sandbox,
        )

    def gather(self, request: GatherRequest) -> GatheredEnvironment:
        """Bring its wheels here; see `rra.environment.gathering`."""
        return gather_wheels(request.artifact, request.id, request.folder, request.progress)

    def explain(self, artifact: Artifact, env_id: str, package: str) -> ExplainedPackage | None:
        """Say why a package has its version, as the lock has it."""
        return explain_package(env_id, read_lock(artifact, env_id), package)

    def side(self, artifact: Artifact, env_id: str) -> Side:
        """Return what is locked, each package with its digests."""
        return read_locked(read_lock(artifact, env_id).path, env_id)
