"""``rra lock``: resolve and lock the environments, and note what the files are."""

from __future__ import annotations

import dataclasses
import tempfile
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from rra._base.files import atomic_write
from rra.api._env_chosen import chosen_environments, passed_over
from rra.api._lock_search import Found, Try, search_environment
from rra.api._needed import Needed, needed_packages
from rra.api._result import Progress, VerbResult, silent
from rra.artifact import Artifact, layout, load_artifact
from rra.artifact.edit import set_value
from rra.artifact.lockfile import build_lock, write_lock
from rra.errors import Problem

if TYPE_CHECKING:
    from rra.environment.interpreter import Interpreter
    from rra.environment.kinds import Description
    from rra.environment.why import Reasons
    from rra.model import Environment, FileLock


@dataclasses.dataclass(frozen=True, kw_only=True)
class LockedOne:
    """One locked environment.

    Attributes:
        as_of: Date of the resolution, if one was set.
        packages: ``name version`` of each package.
        requirements: What was asked for.
        origin: Where the requirements were found, and why there.
        tried: What a search tried, in order; empty without one.
        failing: Imports of the code that fail in it, as far as a search tried them.
    """

    id: str
    python: str
    as_of: str | None
    packages: tuple[str, ...]
    requirements: tuple[str, ...]
    origin: str
    tried: tuple[Try, ...] = ()
    failing: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True, kw_only=True)
class CarriedOne:
    """What one environment carries now, so that no index and no Python need to be there.

    Attributes:
        wheels: How many wheels lie beside its lock.
        wheels_bytes: Their bytes.
        interpreter: Path of the packed interpreter; None when none was asked for.
        interpreter_bytes: Its bytes.
        python: Version of the interpreter.
        platform: What it runs on.
        glibc: Oldest version of the GNU C library with which it runs.
        libraries: Libraries of the system that it needs.
    """

    id: str
    wheels: int
    wheels_bytes: int
    interpreter: str | None = None
    interpreter_bytes: int = 0
    python: str | None = None
    platform: str | None = None
    glibc: str | None = None
    libraries: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True, kw_only=True)
class ReachedLevel:
    """How far an environment goes now; that it can be built, `rra.api.env_build` shows.

    Attributes:
        level: ``bundled`` when every wheel of the lock lies beside it, ``locked`` when an index
            is needed.
        wheels: How many wheels the lock names.
        beside: How many of them lie beside it.
    """

    id: str
    level: Literal["locked", "bundled"]
    wheels: int
    beside: int


@dataclasses.dataclass(frozen=True, kw_only=True)
class LockResult(VerbResult):
    """What was locked.

    Attributes:
        root: Directory of the artifact.
        core: Core digest of the artifact now.
        environments: The environments.
        carried: What they carry, where that was asked for.
        levels: How far each environment of kind pylock goes now.
        changed: Whether ``rra.lock`` changed.
        notes: What a person should know.
    """

    root: Path
    core: str
    environments: tuple[LockedOne, ...]
    carried: tuple[CarriedOne, ...] = ()
    levels: tuple[ReachedLevel, ...] = ()
    changed: bool
    notes: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the result as plain JSON."""
        return {
            "artifact": str(self.root),
            "core": self.core,
            "changed": self.changed,
            "environments": [dataclasses.asdict(one) for one in self.environments],
            "carried": [dataclasses.asdict(one) for one in self.carried],
            "levels": [dataclasses.asdict(one) for one in self.levels],
            "notes": list(self.notes),
        }


def lock(
    path: Path,
    *,
    environments: Sequence[str] = (),
    as_of: str | None = None,
    keep: bool = False,
    wheels: bool = False,
    runtime: bool = False,
    search: bool = False,
    progress: Progress = silent,
) -> LockResult:
    """Resolve the environments of an artifact as of a date and write their locks.

    With `wheels` and `runtime` the artifact carries what it needs to be verified without an
    index and without a Python of the machine, and ``rra.yaml`` says so.

    Args:
        path: Directory of the artifact.
        environments: Ids; all by default.
        as_of: Date (YYYY-MM-DD) that replaces the manifest's ``as_of``.
        keep: Keep environment locks that are there and only write ``rra.lock`` again.
        wheels: Put every wheel beside the lock.
        runtime: Put the interpreter beside the lock too, and every wheel with it.
        search: Install what is resolved, import what the code imports, and where that fails look
            for the nearest Python and day that work; ``rra.yaml`` gets them.
        progress: Called with one line for each step.

    Raises:
        LockError: The requirements cannot be resolved, a wheel cannot be had, or the
            interpreter does not start from another folder.
        UnavailableError: An environment is of a kind that only its own tool locks.
        UsageError: An id is unknown.
    """
    from rra.environment.built import named_environment

    artifact = load_artifact(path)
    known = artifact.manifest.environments
    for name in environments:
        named_environment(artifact, name)
    chosen = list(environments) or list(known)
    notes: list[str] = []
    modes = {mode for mode, wanted in (("keep", keep), ("search", search)) if wanted}
    locked = [
        one
        for name in chosen
        if (one := _lock_one(artifact, name, as_of, notes, modes=modes, progress=progress))
    ]
    carried: list[CarriedOne] = []
    if wheels or runtime:
        able = chosen_environments(artifact, environments, "carry")
        notes += [str(one) for one in passed_over(artifact, able, "carry") if not environments]
        carried = [_carry(load_artifact(path), one, progress, runtime=runtime) for one in able]
    return _write(path, locked, carried, notes, progress)


def _reasons(
    artifact: Artifact, environment: Environment, needed: Needed, as_of: str | None
) -> Reasons:
    """Say where the packages, the day and the Python come from.

    A copy without history knows no commit, so a reason that an earlier lock gives for the same
    day stays: the same resolution gives the same bytes everywhere.
    """
    from rra.environment.cutoff import suggest_as_of
    from rra.environment.why import Reasons, earlier_facts

    lock = artifact.path(environment.lock) if environment.lock else None
    earlier = earlier_facts(lock) if lock else {}
    day = as_of or environment.as_of
    why = ""
    if as_of:
        why = "asked for with --as-of"
    elif day and earlier.get("as-of") == day and earlier.get("as-of-why"):
        why = str(earlier["as-of-why"])
    elif day:
        suggested, because = suggest_as_of(artifact.code_root)
        stated = f" ({environment.as_of_why})" if environment.as_of_why else ""
        why = because if suggested == day else f"as_of in {layout.MANIFEST}{stated}"
    same = earlier.get("python") == environment.python and earlier.get("python-why")
    again = bool(same) and earlier.get("as-of") == day and not as_of
    return Reasons(
        manifest=needed.manifest,
        manifest_why=needed.origin if needed.origin != needed.manifest else "",
        as_of=why,
        python=str(same) if same else f"python in {layout.MANIFEST}",
        places=needed.places,
        tried=tuple(str(one) for one in earlier.get("tried", ())) if again else (),
        digests=needed.digests,
    )


def _lock_one(
    artifact: Artifact,
    name: str,
    as_of: str | None,
    notes: list[str],
    *,
    modes: Collection[str],
    progress: Progress,
) -> LockedOne | None:
    from rra.environment.kinds import LockRequest, find_kind

    environment = artifact.manifest.environments[name]
    if "keep" in modes and environment.lock and artifact.path(environment.lock).is_file():
        notes.append(f"{name}: kept the lock that is there")
        return None
    kind = find_kind(environment.kind)
    asked = _Asked(environment=environment, as_of=as_of or environment.as_of)
    if "search" in kind.can():
        asked = _ask(artifact, name, as_of, notes, search="search" in modes, progress=progress)
    elif "search" in modes:
        notes.append(f"{name}: of kind {kind.name}, for which nothing is searched")
    needed, found = asked.needed, asked.found
    done = kind.lock(
        LockRequest(
            root=artifact.root,
            id=name,
            env=asked.environment,
            requirements=needed.requirements if needed else (),
            as_of=asked.as_of,
            reasons=asked.reasons,
            progress=progress,
        )
    )
    notes += [f"{name}: {note}" for note in done.notes]
    origin = needed.origin if needed else ""
    if needed is None:
        said = kind.describe(artifact.root, environment)
        notes += _said(name, said)
        origin = ", ".join(said.files) or layout.MANIFEST
    return LockedOne(
        id=name,
        python=done.python or environment.python or "",
        as_of=asked.as_of if needed else None,
        packages=done.packages,
        requirements=needed.requirements if needed else (),
        origin=origin,
        tried=found.tried if found else (),
        failing=found.failing if found else (),
    )


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Asked:
    """What a lock is made of: for a kind that resolves, what the code needs, and why so."""

    environment: Environment
    as_of: str | None
    needed: Needed | None = None
    reasons: Reasons | None = None
    found: Found | None = None


def _ask(
    artifact: Artifact,
    name: str,
    as_of: str | None,
    notes: list[str],
    *,
    search: bool,
    progress: Progress,
) -> _Asked:
    """Find out what is resolved, and with `search` for which Python and as of which day."""
    environment = artifact.manifest.environments[name]
    progress(f"looking for what {name} needs")
    needed = needed_packages(artifact, name)
    notes += [f"{name}: {finding}" for finding in needed.findings]
    found = None
    if search and needed.requirements:
        found = search_environment(artifact, name, needed, as_of, progress)
        environment = environment.model_copy(update={"python": found.python})
        if found.added:
            needed = needed_packages(load_artifact(artifact.root), name)
        notes += [f"{name}: {line}" for line in _news(found)]
    reasons = _reasons(artifact, environment, needed, as_of)
    return _Asked(
        environment=environment,
        as_of=found.as_of if found else as_of or environment.as_of,
        needed=needed,
        reasons=_searched(reasons, found) if found else reasons,
        found=found,
    )


def _said(name: str, said: Description) -> Iterator[str]:
    """Yield what a person should know of an environment that is only described."""
    yield from (f"{name}: {problem}" for problem in said.problems)
    yield f"{name}: of kind {said.kind}, built {said.rebuilt or 'by other means'}"


def _news(found: Found) -> Iterator[str]:
    """Yield what a person should know of a search."""
    if found.moved:
        yield f"python {found.python}: {found.python_why}"
        yield f"as of {found.as_of}: {found.as_of_why}"
    for name, why in found.added.items():
        yield f"{name} is added to the requirements in rra.yaml: {why}"
    yield from found.failing
    if not found.failing:
        yield "installed, and every import of the code worked"


def _searched(reasons: Reasons, found: Found) -> Reasons:
    tried = [
        f"Python {one.python} as of {one.as_of}: {one.stage}" + (f": {one.why}" if one.why else "")
        for one in found.tried
    ]
    return dataclasses.replace(
        reasons, as_of=found.as_of_why, python=found.python_why, tried=tuple(tried)
    )


def _carry(artifact: Artifact, name: str, progress: Progress, *, runtime: bool) -> CarriedOne:
    """Put what an environment needs beside its lock, and say so in ``rra.yaml``."""
    from rra.environment.carry import interpreter_to_carry
    from rra.environment.kinds import CarryRequest, find_kind

    environment = artifact.manifest.environments[name]
    with tempfile.TemporaryDirectory(prefix="rra-runtime-") as scratch:
        archive = None
        one = CarriedOne(id=name, wheels=0, wheels_bytes=0)
        if runtime:
            archive = Path(scratch) / "interpreter.tar"
            interpreter = interpreter_to_carry(name, environment)
            progress(f"packing Python {interpreter.version} for {name}")
            one = _pack_interpreter(one, interpreter, Path(scratch) / "copy", archive)
        request = CarryRequest(
            root=artifact.root, id=name, env=environment, archive=archive, progress=progress
        )
        done = find_kind(environment.kind).carry(request)
    wanted = {"wheels": done.wheels, "interpreter": done.interpreter}
    manifest = artifact.root / layout.MANIFEST
    before = text = manifest.read_text("utf-8")
    for key, place in wanted.items():
        if place is not None and getattr(environment, key) is None:
            text = set_value(text, ("environments", name, key), str(place))
    if text != before:
        atomic_write(manifest, text)
    return dataclasses.replace(
        one,
        wheels=done.count,
        wheels_bytes=done.size,
        interpreter=str(done.interpreter) if done.interpreter else None,
    )


def _pack_interpreter(
    one: CarriedOne, interpreter: Interpreter, folder: Path, archive: Path
) -> CarriedOne:
    from rra.bundle.canonical import write_archive
    from rra.environment.prefix import archive_members, copy_interpreter

    folder.mkdir()
    said = copy_interpreter(interpreter, folder)
    with archive.open("wb") as stream:
        size = write_archive(folder, archive_members(folder), stream).size
    return dataclasses.replace(
        one,
        interpreter_bytes=size,
        python=said.python,
        platform=said.platform,
        glibc=said.glibc,
        libraries=tuple(said.libraries),
    )


def _write(
    path: Path,
    locked: list[LockedOne],
    carried: list[CarriedOne],
    notes: list[str],
    progress: Progress,
) -> LockResult:
    """Write ``rra.lock`` from the files as they stand now."""
    from rra.bundle import core_digest, element_locks
    from rra.environment import read_entry

    _repair_modes(load_artifact(path), notes)
    progress("computing digests of code, environment, launchers and data")
    artifact = load_artifact(path)
    environments = {
        name: read_entry(
            artifact.path(environment.lock),
            artifact.path(environment.interpreter) if environment.interpreter else None,
        )
        for name, environment in artifact.manifest.environments.items()
        if environment.lock and artifact.path(environment.lock).is_file()
    }
    core = core_digest(artifact)
    elsewhere = _elsewhere(artifact, notes, progress)
    document = build_lock(
        artifact,
        core=core,
        elements=element_locks(artifact),
        environments=environments,
        elsewhere=elsewhere,
    )
    changed = write_lock(artifact, document)
    problems: tuple[Problem, ...] = artifact.warnings
    return LockResult(
        root=artifact.root,
        core=core,
        environments=tuple(locked),
        carried=tuple(carried),
        levels=tuple(_level(artifact, name) for name in environments if _wheeled(artifact, name)),
        changed=changed,
        notes=tuple(notes),
        problems=problems,
    )


def _repair_modes(artifact: Artifact, notes: list[str]) -> None:
    """Make launchers executable before their digests are taken, which count the mode."""
    from rra.artifact.modes import make_executable
    from rra.bundle.names import printable

    made, refused = make_executable(artifact)
    notes += [f"{name}: made executable, since it begins with #!" for name in map(printable, made)]
    notes += [
        f"{name}: begins with #!, and this file system keeps no executable bit; it is started by "
        "its interpreter"
        for name in map(printable, refused)
    ]


def _elsewhere(artifact: Artifact, notes: list[str], progress: Progress) -> dict[str, FileLock]:
    """Return the locks of data that is not bundled: from where it lies, else as they were.

    What is fetched and nobody has a digest of is brought here for the first time.
    """
    from rra.artifact.lockfile import data_lock
    from rra.errors import RraError, StorageError
    from rra.launch import fetch_item

    found: dict[str, FileLock] = {}
    before = artifact.lock.data if artifact.lock is not None else {}
    for name, item in artifact.manifest.data.items():
        if item.access == "bundled":
            continue
        if not artifact.path(item.path).exists() and name not in before and item.access == "fetch":
            try:
                fetch_item(artifact, name, progress=progress)
            except StorageError:
                raise
            except RraError as error:
                notes.append(f"{error.message}; {error.hint}")
        if artifact.path(item.path).exists():
            found[name] = data_lock(artifact, item.path)
        elif name in before:
            found[name] = before[name]
        else:
            notes.append(f"data {name} has no digest: put it at {item.path} and lock again")
    return found


def _wheeled(artifact: Artifact, name: str) -> bool:
    return artifact.manifest.environments[name].kind == "pylock"


def _level(artifact: Artifact, name: str) -> ReachedLevel:
    """Look at what lies beside a lock."""
    from rra.environment.checking import read_lock

    lock = read_lock(artifact, name)
    named = {wheel.name for package in lock.packages for wheel in package.wheels}
    beside = named & lock.beside
    return ReachedLevel(
        id=name,
        level="bundled" if beside == named else "locked",
        wheels=len(named),
        beside=len(beside),
    )
