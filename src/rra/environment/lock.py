"""Locking an environment: requirements in, exact wheels out."""

from __future__ import annotations

import dataclasses
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath

from packaging.markers import Marker
from packaging.utils import parse_wheel_filename

from rra._base.files import safe_join, sha256_file, staged_directory, walk_files
from rra.environment.cutoff import cutoff_timestamp
from rra.environment.era import Overtaken, overtaken
from rra.environment.expected import Expected
from rra.environment.interpreter import PYTHON_2, find_interpreter, has_interpreter
from rra.environment.platforms import Platform, find_platforms, parse_minor
from rra.environment.pylock import (
    WHEELS_DIR,
    LockedPackage,
    Wheel,
    read_pylock,
    render_pylock,
    render_requirements,
)
from rra.environment.readme import keeps_own_text, render_readme
from rra.environment.resolve import (
    LAST,
    RemoteFile,
    Resolution,
    ResolvedPackage,
    required_by,
    resolve,
)
from rra.environment.runtime import INTERPRETER_NAME, read_description
from rra.environment.search import diagnose, explained
from rra.environment.sources import builds_to_be_had, other_indexes
from rra.environment.wheels import build_wheel, describe_wheel, download, find_wheel, wheel_tags
from rra.environment.why import Reasons, WhyEach, earlier_facts, why_each, without_credentials
from rra.errors import LockError, NoSolutionError, UsageError
from rra.model import Environment, EnvironmentLock

LOCK_NAME = "pylock.toml"
REQUIREMENTS_NAME = "requirements.txt"
README_NAME = "README.md"
_TRIAL_SECONDS = 240
"""Time in which a mere trial must be resolved."""

Progress = Callable[[str], None]


@dataclasses.dataclass(frozen=True, slots=True)
class LockedEnvironment:
    """A lock that was written.

    Attributes:
        id: Environment's id.
        python: Python that it is for, as major.minor.
        packages: What is locked.
        as_of: Day as of which it was resolved; None for no limit.
        lock: Path of ``pylock.toml``.
        requirements: Path of ``requirements.txt``.
        readme: Path of ``README.md``.
        built: Names of the wheels in ``wheels/``, which no index has.
        notes: What a person should know, one line each.
        changed: Whether any of the files got other bytes.
    """

    id: str
    python: str
    packages: tuple[LockedPackage, ...]
    as_of: str | None
    lock: Path
    requirements: Path
    readme: Path
    built: tuple[str, ...]
    changed: bool
    notes: tuple[str, ...] = ()

    def entry(self) -> EnvironmentLock:
        """Return what ``rra.lock`` says of this environment."""
        return read_entry(self.lock)


def read_entry(lock: Path, interpreter: Path | None = None) -> EnvironmentLock:
    """Return what ``rra.lock`` says of an environment, read from its files.

    Args:
        lock: Path of ``pylock.toml``; ``requirements.txt`` lies beside it.
        interpreter: Path of the packed interpreter that is carried, where there is one.

    Raises:
        FormatError: The lock cannot be read.
        UsageError: One of the files is missing.
    """
    if lock.name != LOCK_NAME and lock.is_file():
        # A lock of another kind than pylock: nothing lies beside it.
        return EnvironmentLock(lock=sha256_file(lock))
    requirements = lock.parent / REQUIREMENTS_NAME
    for path in (lock, requirements):
        if not path.is_file():
            message = f"there is no {path}"
            raise UsageError(message, hint="lock the environment with: rra lock")
    document = read_pylock(lock)
    facts = (document.tool or {}).get("rra", {})
    return EnvironmentLock(
        lock=sha256_file(lock),
        requirements=sha256_file(requirements),
        python=str(facts["python"]) if facts.get("python") else None,
        packages=len(document.packages),
        as_of=facts.get("as-of"),
        interpreter=sha256_file(interpreter) if interpreter and interpreter.is_file() else None,
    )


def lock_environment(
    root: Path,
    env_id: str,
    env: Environment,
    requirements: Sequence[str],
    *,
    as_of: str | None,
    reasons: Reasons | None = None,
    trial: Path | None = None,
    progress: Progress | None = None,
) -> LockedEnvironment:
    """Resolve an environment and write its lock, its requirements file and its README.

    The three files appear together or not at all, in the folder of ``env.lock`` (by default
    ``environment/<id>``), whose other files stay. No file names a host. A package without a
    usable wheel is built, and its wheel goes into ``wheels/`` beside the lock; a wheel that
    is there already is used instead.

    Args:
        root: Artifact's root.
        env_id: Environment's id.
        env: Its definition.
        requirements: Requirements (PEP 508), one each; none gives an empty lock.
        as_of: Day or moment as of which is resolved; None for no limit.
        reasons: Where all this comes from, which the lock keeps, and the digests that the
            author's own lock gives.
        trial: Folder that gets each wheel as soon as it is built, for a mere trial: then a
            refusal does not look for what conflicts and what works near by, and the lock does not
            say what asked for each package.
        progress: Told about steps that may last.

    Raises:
        NoSolutionError: No versions satisfy them; says which of them conflict, and what works.
        OtherFileError: An index has another file than the author's own lock names.
        LockError: An index cannot be reached, or a wheel is missing and cannot be built.
        UsageError: The kind, platform, Python or date is not one that can be locked.
        StorageError: The disk is full or refuses.
    """
    folder = environment_folder(root, env_id, env)
    platforms = find_platforms(env.platforms)
    wanted = python_of(env_id, env)
    python = "{}.{}".format(*parse_minor(wanted))
    say = progress or _silent
    if as_of:
        cutoff_timestamp(as_of)
    given = reasons or Reasons()
    patience = None if trial is None else _TRIAL_SECONDS
    target = Resolution(python, wanted, None, platforms, as_of, patience)
    found, expected = _Found(), Expected(given.manifest, given.digests)
    if requirements:
        say(f"resolving {env_id} for Python {python}" + (f" as of {as_of}" if as_of else ""))
        target = with_interpreter(target)
        found = _find(requirements, target, expected, say if trial is None else None)
    before = _bytes_of(folder)
    with staged_directory(folder) as staging:
        keep_others(folder, staging)
        chooser = _Chooser(staging / WHEELS_DIR, target, found.pins(), trial, say)
        packages, built = chooser.all(found.packages)
        text = render_pylock(
            packages,
            python=python,
            environments=[p.marker for p in platforms],
            facts=_facts(target, requirements, given),
            why=found.why([p.name for p in packages], requirements, given),
        )
        (staging / LOCK_NAME).write_text(text, "utf-8")
        read_pylock(staging / LOCK_NAME)
        write_companions(staging, packages, env, target, folder_name(root, folder))
    return LockedEnvironment(
        id=env_id,
        python=python,
        packages=tuple(packages),
        as_of=as_of,
        lock=folder / LOCK_NAME,
        requirements=folder / REQUIREMENTS_NAME,
        readme=folder / README_NAME,
        built=tuple(built),
        changed=before != _bytes_of(folder),
        notes=(*found.notes(), *expected.notes(p.name for p in packages)),
    )


@dataclasses.dataclass(frozen=True, slots=True)
class _Found:
    """What was resolved, what needs each package, what is of another era or from where else."""

    packages: Sequence[ResolvedPackage] = ()
    needed_by: Mapping[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)
    old: Sequence[Overtaken] = ()
    indexes: Mapping[str, str] = dataclasses.field(default_factory=dict)
    builds: Sequence[str] = ()

    def pins(self) -> dict[str, str]:
        """Return the version of each package that has one."""
        return {package.name: package.version for package in self.packages if package.version}

    def notes(self) -> Iterator[str]:
        """Yield what a person should know."""
        yield from self.builds
        yield from map(str, self.old)
        for package in self.packages:
            if package.name in self.indexes:
                index = self.indexes[package.name]
                yield (
                    f"{package.name} {package.version} comes from an index of your settings "
                    f"({index}): who installs it needs that one, or the wheels (--wheels)"
                )

    def why(self, names: Sequence[str], requirements: Sequence[str], given: Reasons) -> WhyEach:
        """Return for each locked package what asked for it, and what it was overtaken by."""
        old = {one.name: one.fact() for one in self.old}
        more = {"overtaken-by": old, "index": self.indexes}
        return why_each(names, requirements, given.places, self.needed_by, more)


def _find(
    requirements: Sequence[str], target: Resolution, expected: Expected, say: Progress | None
) -> _Found:
    """Resolve; without a progress function for a mere trial, which needs no reasons."""
    builds = builds_to_be_had(requirements, target)
    requirements = builds.requirements
    try:
        resolved = resolve(requirements, target)
    except NoSolutionError as error:
        if say is None:
            raise
        raise explained(error, diagnose(requirements, target, say), target) from error
    packages = [
        package if package.name in builds.loosened else expected.allowed(package)
        for package in resolved
    ]
    if say is None:
        return _Found(packages)
    return _Found(
        packages,
        required_by(requirements, target),
        overtaken(requirements, resolved, target),
        other_indexes(packages, target),
        builds.notes,
    )


def folder_name(root: Path, folder: Path) -> PurePosixPath:
    """Return the folder of an environment, relative to the artifact's root."""
    return PurePosixPath(folder.resolve().relative_to(root.resolve()))


def write_companions(
    staging: Path,
    packages: Sequence[LockedPackage],
    env: Environment,
    target: Resolution,
    place: PurePosixPath,
) -> None:
    """Write what lies beside a lock: the requirements with hashes, and the README.

    Args:
        staging: Folder of the environment, with the lock and what it carries.
        packages: What is locked.
        env: The environment's definition.
        target: What it was resolved for.
        place: Its folder, relative to the artifact's root.

    Raises:
        FormatError: The interpreter that lies there does not say what it is.
    """
    names = [wheel.name for package in packages for wheel in package.wheels]
    beside = any((staging / WHEELS_DIR / name).is_file() for name in names)
    wanted = render_requirements(packages, find_links=WHEELS_DIR if beside else "")
    (staging / REQUIREMENTS_NAME).write_text(wanted, "utf-8")
    if keeps_own_text(staging / README_NAME):
        return
    archive = staging / INTERPRETER_NAME
    carried = read_description(archive, str(place / archive.name)) if archive.is_file() else None
    facts = earlier_facts(staging / LOCK_NAME)
    text = render_readme(env, packages, place=place, target=target, facts=facts, carried=carried)
    (staging / README_NAME).write_text(text, "utf-8")


def environment_folder(root: Path, env_id: str, env: Environment) -> Path:
    """Return the folder in which the lock of an environment lies.

    Raises:
        UsageError: It is of a kind that is not locked, or its lock has another name.
    """
    if env.kind != "pylock":
        message = f"environment {env_id} is of kind {env.kind}; only kind pylock can be locked"
        raise UsageError(message, hint="set kind: pylock, or lock it with the tool of its kind")
    lock = PurePosixPath(env.lock or f"environment/{env_id}/{LOCK_NAME}")
    if lock.name != LOCK_NAME or len(lock.parts) < 2:
        message = f"the lock of environment {env_id} is called {lock}"
        raise UsageError(message, hint=f"write lock: environment/{env_id}/{LOCK_NAME}")
    return safe_join(root, lock.parent)


def python_of(env_id: str, env: Environment) -> str:
    """Return the Python that an environment is for.

    Raises:
        UsageError: It names none.
        LockError: It names Python 2.
    """
    if env.python is None:
        message = f"environment {env_id} names no Python"
        raise UsageError(message, hint='add python: "3.11" (or another) to it in rra.yaml')
    if parse_minor(env.python)[0] < 3:
        message = f"environment {env_id} names Python {env.python}; {PYTHON_2}"
        hint = "use kind: container with an image that has it, or make the code run on Python 3"
        raise LockError(message, hint=hint)
    return env.python


def with_interpreter(target: Resolution) -> Resolution:
    """Resolve for the Python that is installed here, so for what the author runs."""
    named = target.release != target.python
    if not has_interpreter(target.release):
        return target if named else dataclasses.replace(target, release=f"{target.python}.{LAST}")
    found = find_interpreter(target.release, download=False)
    return dataclasses.replace(target, release=found.version, interpreter=found.path)


def keep_others(folder: Path, staging: Path) -> None:
    """Bring along what else lies in the folder: the author's text, wheels, an interpreter."""
    if not folder.is_dir():
        return
    for relative in walk_files(folder):
        target = staging / relative
        target.parent.mkdir(parents=True, exist_ok=True)
        if relative.parts[0] in {WHEELS_DIR, INTERPRETER_NAME}:
            try:
                os.link(folder / relative, target, follow_symlinks=False)
                continue
            except OSError:
                pass  # a file system without hard links: copied below
        shutil.copy2(folder / relative, target, follow_symlinks=False)


@dataclasses.dataclass(frozen=True, slots=True)
class _Chooser:
    """Chooses the wheels of packages, and makes those that no index has.

    Attributes:
        folder: The folder ``wheels/`` of the lock.
        target: What is locked for.
        pins: Versions of everything that is locked, by normalised name.
        trial: Folder that gets what is built at once; then a build that fails is not tried with
            other Pythons.
        say: Told about steps that may last.
    """

    folder: Path
    target: Resolution
    pins: Mapping[str, str]
    trial: Path | None
    say: Progress

    def all(self, resolved: Sequence[ResolvedPackage]) -> tuple[list[LockedPackage], list[str]]:
        """Return each package with its usable wheels, and the names of those in ``wheels/``."""
        packages, built = [], []
        for package in resolved:
            here = [
                platform
                for platform in self.target.platforms
                if applies(package.marker, platform, self.target.python)
            ]
            if here:
                locked, own = self.choose(package, here)
                packages.append(locked)
                built += own
        return packages, built

    def choose(
        self, package: ResolvedPackage, wanted: Sequence[Platform]
    ) -> tuple[LockedPackage, list[str]]:
        """Return a package with its wheels for some platforms, and those in ``wheels/``."""
        chosen: dict[str, Wheel] = {}
        own: list[str] = []
        for platform in wanted:
            tags = platform.tags(self.target.python)
            usable = [wheel for wheel in package.wheels if wheel_tags(wheel.name) & tags]
            for wheel in usable:
                chosen[wheel.name] = Wheel(wheel.name, wheel.sha256, wheel.size)
                if wheel.is_local:
                    own.append(self.bring(wheel))
            if usable or any(wheel_tags(name) & tags for name in own):
                continue
            path = find_wheel(self.folder, package.name, package.version, tags)
            if path is None:
                path = self.build(package, platform)
            chosen[path.name] = describe_wheel(path)
            own.append(path.name)
        version = package.version or str(parse_wheel_filename(own[0])[1])
        wheels = tuple(chosen.values())
        return LockedPackage(package.name, version, wheels, package.marker), own

    def bring(self, wheel: RemoteFile) -> str:
        """Copy a wheel that only a folder of this machine has to where it travels along."""
        self.folder.mkdir(exist_ok=True)
        if not (self.folder / wheel.name).exists():
            download(wheel, self.folder)
        return wheel.name

    def build(self, package: ResolvedPackage, platform: Platform) -> Path:
        """Build the wheel of a package for a platform."""
        target = self.target
        if target.interpreter is None:
            found = find_interpreter(target.python)
            target = dataclasses.replace(target, interpreter=found.path)
        self.say(f"no index has a fitting wheel of {package.name} {package.version}: building it")
        self.folder.mkdir(exist_ok=True)
        say = self.say if self.trial is None else None
        path = build_wheel(package, self.folder, target, pins=self.pins, elsewhere=say)
        if not wheel_tags(path.name) & platform.tags(target.python):
            path.unlink()
            message = f"{package.name} {package.version} has no wheel for {platform.name}"
            hint = f"run rra lock on {platform.name}, or leave that platform out of rra.yaml"
            raise LockError(message, hint=hint)
        if self.trial is not None:
            self.trial.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, self.trial / path.name)
        return path


def applies(marker: str, platform: Platform, python: str) -> bool:
    """Tell whether a marker can hold on a platform for some release of a Python."""
    if not marker:
        return True
    parsed = Marker(marker)
    return any(parsed.evaluate(platform.environment(f"{python}.{n}")) for n in (0, 99))


def _facts(
    target: Resolution, requirements: Sequence[str], reasons: Reasons
) -> dict[str, str | list[str]]:
    facts: dict[str, str | list[str]] = {"python": target.python}
    facts["platforms"] = [platform.name for platform in target.platforms]
    if target.as_of:
        facts["as-of"] = target.as_of
    facts["requirements"] = sorted(without_credentials(text) for text in requirements)
    return facts | reasons.facts()


def _bytes_of(folder: Path) -> list[bytes | None]:
    paths = [folder / name for name in (LOCK_NAME, REQUIREMENTS_NAME, README_NAME)]
    return [path.read_bytes() if path.is_file() else None for path in paths]


def _silent(_step: str) -> None:
    """Tell nobody."""
