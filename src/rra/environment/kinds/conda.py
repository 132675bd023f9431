"""Kind ``conda``: described by the reviewed table of names, built by py-rattler where that is."""

from __future__ import annotations

import dataclasses
import json
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from rra._base import canonical, places
from rra._base.files import atomic_write, safe_join, storage_errors
from rra.environment.built import Built, named_environment
from rra.environment.cache import sole_builder
from rra.environment.carry import CarriedFiles
from rra.environment.kinds import rattler
from rra.environment.kinds.described import DescribedKind, locked_file
from rra.environment.kinds.finding import find_files
from rra.environment.kinds.protocol import (
    Ability,
    BuildRequest,
    CarryRequest,
    Description,
    KindLock,
    LockRequest,
)
from rra.environment.lockfiles import LOCK_FILES, LOCK_READERS
from rra.environment.manifests import read_conda
from rra.environment.materialise import BUILDING, COMPLETE, clear_place, whole_or_gone
from rra.errors import EnvironmentBuildError, FormatError, LockError, UsageError
from rra.model import Environment

if TYPE_CHECKING:
    from rattler import RepoDataRecord

_LOCKS = r"pixi\.lock|(?:[\w.-]*\.)?conda-lock\.ya?ml|conda-[\w-]+\.lock"
_FILES = re.compile(rf"(?:environment|conda|env)[\w.-]*\.ya?ml|{_LOCKS}")
_LOCK = re.compile(_LOCKS)
_UNKNOWN = re.compile(r"conda package (\S+) has no reviewed distribution")
_UNKNOWN_LIST = re.compile(r"without a reviewed distribution: ([^;]+);")


@dataclasses.dataclass(frozen=True, slots=True)
class CondaKind(DescribedKind):
    """Describes environments of conda packages, and says which of them need conda."""

    name: str = "conda"

    def can(self) -> frozenset[Ability]:
        """Return what this kind does here: all but wheels with py-rattler, else it takes locks."""
        if rattler.has_rattler():
            return frozenset({"lock", "carry", "build", "run"})
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
        if path.name == rattler.LOCK_NAME and rattler.has_rattler():
            return self._locked(path, name, env)
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
        """Keep the lock that is there, else solve ``environment.yml`` as of the day.

        Raises:
            LockError: There is no solution, or nothing to solve.
            UsageError: The lock that is to be written has another name.
            UnavailableError: The extra ``conda`` is not installed.
        """
        env = request.env
        if env.lock and (request.root / env.lock).is_file():
            found = self.describe(request.root, env)
            return KindLock(lock=request.root / env.lock, packages=found.packages)
        files = [one for one in self.detect(request.root) if not _LOCK.fullmatch(Path(one).name)]
        if not files or env.lock is None:
            message, hint = self._refusal(request.root, request.id, env)
            raise LockError(message, hint=hint)
        rattler.need_rattler(request.id)
        if PurePosixPath(env.lock).name != rattler.LOCK_NAME:
            message = f"the lock of environment {request.id} is to be called {rattler.LOCK_NAME}"
            hint = f"write lock: environment/{request.id}/{rattler.LOCK_NAME} in rra.yaml"
            raise UsageError(message, hint=hint)
        lock = safe_join(request.root, PurePosixPath(env.lock))
        request.progress(f"solving {files[0]} for {request.id}")
        with tempfile.TemporaryDirectory(prefix="rra-conda-") as scratch, storage_errors(lock):
            draft = Path(scratch) / rattler.LOCK_NAME
            rattler.solve_file(request.id, env, request.root / files[0], draft, request.as_of)
            lock.parent.mkdir(parents=True, exist_ok=True)
            atomic_write(lock, draft.read_bytes())
        packages = rattler.package_lines(rattler.locked_records(lock))
        return KindLock(lock=lock, packages=packages, changed=True)

    def carry(self, request: CarryRequest) -> CarriedFiles:
        """Put the packages of its lock beside it.

        Raises:
            UnavailableError: The extra ``conda`` is not installed.
            UsageError: It is not locked, or an interpreter is to be carried: a package is one.
            LockError: A package cannot be had, or is another one than was locked.
        """
        rattler.need_rattler(request.id)
        env = request.env
        if env.lock is None or not (request.root / env.lock).is_file():
            message = f"environment {request.id} is not locked"
            raise UsageError(message, hint="lock it without --keep")
        if request.archive is not None:
            message = f"environment {request.id} is of kind conda, whose Python is a package"
            raise UsageError(message, hint="give --wheels in place of --runtime")
        place = rattler.packages_folder(env, PurePosixPath(env.lock))
        records = rattler.locked_records(request.root / env.lock)
        request.progress(f"bringing {len(records)} packages of {request.id}")
        folder = safe_join(request.root, place)
        with storage_errors(folder):
            size = rattler.bring_packages(records, folder)
        return CarriedFiles(wheels=place, count=len(records), size=size, interpreter=None)

    def build(self, request: BuildRequest) -> Built:
        """Install the packages of its lock into a prefix, once for each lock.

        Raises:
            UnavailableError: The extra ``conda`` is not installed.
            UsageError: It is not locked, or the folder is in use.
            CorruptError: The lock is not the one of ``rra.lock``.
            EnvironmentBuildError: A package cannot be had, or the lock is not for this machine.
        """
        env = named_environment(request.artifact, request.id)
        if env.lock is None:
            message, hint = self._refusal(request.artifact.root, request.id, env)
            raise EnvironmentBuildError(message, hint=hint)
        rattler.need_rattler(request.id)
        lock, digest = locked_file(request.artifact, request.id, env)
        records = rattler.locked_records(lock)
        folder = request.artifact.path(str(rattler.packages_folder(env, PurePosixPath(env.lock))))
        key = canonical.digest({"conda": digest}).removeprefix("sha256:")[:32]
        place = (request.target or places.cache_root() / "environments" / key).absolute()
        alone = not rattler.lacking(records, folder)
        with sole_builder(place):
            stamp = {"lock": digest}
            reused = request.target is None and _stamp(place) == stamp
            if not reused:
                request.progress(f"installing environment {request.id}: {len(records)} packages")
                clear_place(place, ours=request.target is None)
                with whole_or_gone(place), storage_errors(place):
                    place.mkdir(parents=True, exist_ok=True)
                    (place / BUILDING).touch()
                    rattler.install_records(records, folder, place)
                    atomic_write(place / COMPLETE, json.dumps(stamp) + "\n")
                    (place / BUILDING).unlink()
        return _built(request.id, env, place, records, digest, alone=alone, reused=reused)

    def _locked(self, path: Path, name: str, env: Environment) -> Description:
        """Describe a lock by the packages of conda that it holds for this machine."""
        try:
            packages = rattler.package_lines(rattler.locked_records(path))
        except (FormatError, EnvironmentBuildError) as error:
            return Description(kind=self.name, files=(name,), problems=(error.message,))
        rebuilt = "by py-rattler, from the channels or from packages beside the lock"
        version = env.python or ""
        return Description(
            kind=self.name, version=version, packages=packages, files=(name,), rebuilt=rebuilt
        )

    def _refusal(self, root: Path, env_id: str, env: Environment) -> tuple[str, str]:
        found = self.describe(root, env)
        if found.unknown:
            names = ", ".join(found.unknown)
            message = f"environment {env_id} cannot be rebuilt without conda: {names}"
            hint = (
                f"name lock: environment/{env_id}/{rattler.LOCK_NAME}, {rattler.INSTALL}, and run"
            )
            return (
                message,
                f"{hint} rra lock; or lock it with conda-lock or pixi and name that file",
            )
        message = f"environment {env_id} of kind conda has no lock that could be built"
        if not found.packages:
            return message, "lock it with conda-lock or pixi and name that file as lock"
        return message, "set kind: pylock in rra.yaml: each package is also a Python distribution"


def _stamp(place: Path) -> Any:
    """Return what a prefix was built from; None where it is not whole."""
    try:
        return json.loads((place / COMPLETE).read_text("utf-8"))
    except (OSError, ValueError):
        return None


def _built(
    env_id: str,
    env: Environment,
    place: Path,
    records: Sequence[RepoDataRecord],
    digest: str,
    *,
    alone: bool,
    reused: bool,
) -> Built:
    python = place / "bin" / "python"
    versions = [str(one.version) for one in records if one.name.normalized == "python"]
    packages = tuple(sorted((one.name.normalized, str(one.version)) for one in records))
    return Built(
        id=env_id,
        root=place,
        python=python if python.exists() else None,
        bin=place / "bin",
        version=versions[0] if versions and python.exists() else "",
        base_prefix=place,
        variables=dict(env.variables or {}),
        packages=packages,
        lock_digest=digest,
        installed_digest=canonical.digest([list(pair) for pair in packages]),
        bundled=alone,
        offline=alone,
        reused=reused,
        kind="conda",
    )
