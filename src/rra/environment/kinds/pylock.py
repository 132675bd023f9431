"""Kind ``pylock``: Python wheels, installed into a virtual environment."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

from rra.environment.kinds.finding import find_files
from rra.environment.kinds.protocol import (
    BuildRequest,
    Built,
    Description,
    KindLock,
    LockRequest,
)
from rra.environment.lock import lock_environment
from rra.environment.materialise import materialise
from rra.environment.pylock import read_pylock
from rra.errors import FormatError
from rra.model import Environment

_FILES = re.compile(r"pylock(?:\.[^.]+)?\.toml|requirements[\w.-]*\.txt|pyproject\.toml|setup\.py")


@dataclasses.dataclass(frozen=True, slots=True)
class PylockKind:
    """Locks and builds environments of Python wheels."""

    name: str = "pylock"

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
        return KindLock(lock=done.lock, packages=packages, changed=done.changed)

    def build(self, request: BuildRequest) -> Built:
        """Install it; see `rra.environment.materialise.materialise`."""
        done = materialise(
            request.artifact,
            request.id,
            target=request.target,
            progress=request.progress,
            unpack=request.unpack,
            sandbox=request.sandbox,
        )
        return Built(id=done.id, kind=self.name, digest=done.lock_digest, environment=done)
