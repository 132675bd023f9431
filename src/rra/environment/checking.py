"""Whether a lock still says what the files around it say; nothing is fetched or installed."""

from __future__ import annotations

import dataclasses
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from rra._base.files import sha256_file
from rra.artifact import layout
from rra.environment.answers import Rot
from rra.environment.built import named_environment
from rra.environment.lock import REQUIREMENTS_NAME, applies, environment_folder
from rra.environment.platforms import Platform, find_platforms, parse_minor
from rra.environment.pylock import (
    WHEELS_DIR,
    LockedPackage,
    locked_packages,
    read_pylock,
    render_requirements,
)
from rra.environment.requirement_files import is_one_build, of_any_build
from rra.environment.why import without_credentials
from rra.errors import Problem, UsageError

if TYPE_CHECKING:
    from rra.artifact import Artifact
    from rra.model import Environment

_AGAIN = "lock it again with: rra lock"
_HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")


@dataclasses.dataclass(frozen=True, slots=True)
class ReadLock:
    """A lock that is there, with what is needed to judge it.

    Attributes:
        path: Its file.
        name: The same, relative to the artifact.
        packages: Everything that it names.
        facts: What it says under ``[tool.rra]``.
        python: Python that it is for, as major.minor; empty where nothing says it.
        platforms: Platforms that it is for.
        wheels: Folder of the wheels that lie beside it.
    """

    path: Path
    name: str
    packages: tuple[LockedPackage, ...]
    facts: Mapping[str, Any]
    python: str
    platforms: tuple[Platform, ...]
    wheels: Path

    @property
    def beside(self) -> frozenset[str]:
        """Names of the wheels that lie beside it, whatever their bytes are."""
        return frozenset(path.name for path in self.wheels.glob("*.whl"))


def read_lock(artifact: Artifact, env_id: str) -> ReadLock:
    """Read the lock of an environment.

    Raises:
        UsageError: There is no such environment, it is of another kind, or it is not locked.
        FormatError: The lock cannot be read.
    """
    env = named_environment(artifact, env_id)
    path = environment_folder(artifact.root, env_id, env) / "pylock.toml"
    name = path.relative_to(artifact.root.resolve()).as_posix()
    if not path.is_file():
        message = f"environment {env_id} is not locked: there is no {name}"
        raise UsageError(message, hint="lock it with: rra lock")
    document = read_pylock(path)
    facts = (document.tool or {}).get("rra", {})
    python = str(env.python or facts.get("python") or "")
    return ReadLock(
        path=path,
        name=name,
        packages=tuple(locked_packages(document)),
        facts=facts,
        python="{}.{}".format(*parse_minor(python)) if python else "",
        platforms=tuple(find_platforms(env.platforms or facts.get("platforms"))),
        wheels=artifact.path(env.wheels) if env.wheels else path.parent / WHEELS_DIR,
    )


def check_lock(
    artifact: Artifact, env_id: str, lock: ReadLock, needed: Sequence[str]
) -> list[Problem]:
    """Compare a lock with ``rra.yaml``, ``rra.lock``, the requirements and the wheels beside it.

    Errors are what makes the lock another environment than the files describe; warnings are
    what a person may want to know.

    Args:
        artifact: The artifact.
        env_id: Environment's id.
        lock: Its lock.
        needed: What the environment needs by the files of today (PEP 508).
    """
    env = artifact.manifest.environments[env_id]
    problems = [
        *_digests(artifact, env_id, lock),
        *_settings(env, env_id, lock),
        *_companion(lock),
        *_requirements(lock, needed),
        *_single_builds(lock, needed),
        *_wheels(env, lock),
    ]
    order = {"error": 0, "warning": 1}
    return sorted(problems, key=lambda problem: order[problem.severity])


def _digests(artifact: Artifact, env_id: str, lock: ReadLock) -> Iterator[Problem]:
    known = artifact.lock.environments.get(env_id) if artifact.lock else None
    if known is None:
        message = f"there is no {layout.LOCK} that names this lock"
        yield Problem(message, lock.name, hint=_AGAIN, severity="warning")
        return
    requirements = lock.path.parent / REQUIREMENTS_NAME
    for path, digest in ((lock.path, known.lock), (requirements, known.requirements)):
        name = f"{lock.path.parent.relative_to(artifact.root.resolve()).as_posix()}/{path.name}"
        if path.is_file() and sha256_file(path) != digest:
            message = f"another file than {layout.LOCK} names: {sha256_file(path)}, not {digest}"
            hint = "get the file again; if you changed it on purpose: rra lock --keep"
            yield Problem(message, name, hint=hint)


def _settings(env: Environment, env_id: str, lock: ReadLock) -> Iterator[Problem]:
    """Compare what ``rra.yaml`` asks for with what the lock was made for."""
    facts = lock.facts
    locked = str(facts.get("python", ""))
    if locked and lock.python and locked != lock.python:
        message = f"made for Python {locked}; {layout.MANIFEST} asks for {lock.python}"
        yield Problem(message, lock.name, hint=_AGAIN)
    made_for = facts.get("platforms")
    lacking = [name for name in env.platforms or [] if made_for and name not in made_for]
    if lacking:
        message = f"not made for {', '.join(lacking)}, which {layout.MANIFEST} declares"
        yield Problem(message, lock.name, hint=_AGAIN)
    if env.as_of and facts and facts.get("as-of") != env.as_of:
        told = facts.get("as-of", "no day")
        message = f"resolved as of {told}; {layout.MANIFEST} says {env.as_of}"
        hint = f"lock it again, or write as_of of {env_id} as it was resolved"
        yield Problem(message, lock.name, hint=hint, severity="warning")


def _companion(lock: ReadLock) -> Iterator[Problem]:
    """Insist that whoever installs without `rra` gets the same files."""
    path = lock.path.parent / REQUIREMENTS_NAME
    name = lock.name.removesuffix(lock.path.name) + REQUIREMENTS_NAME
    if not path.is_file():
        yield Problem("missing: others install from it", name, hint=_AGAIN)
        return
    try:
        found = _pins(path.read_text("utf-8"))
    except (UnicodeDecodeError, InvalidRequirement) as error:
        yield Problem(f"cannot be read: {error}", name, hint=_AGAIN)
        return
    locked = _pins(render_requirements(lock.packages))
    for pin in sorted(found.keys() | locked.keys()):
        if pin not in locked:
            yield Problem(f"names {pin}, which the lock does not", name, hint=_AGAIN)
        elif pin not in found:
            yield Problem(f"lacks {pin}, which the lock names", name, hint=_AGAIN)
        elif found[pin] != locked[pin]:
            yield Problem(f"other files of {pin} than the lock", name, hint=_AGAIN)


def _pins(text: str) -> dict[str, frozenset[str]]:
    """Return the digests of each ``name==version ; marker`` of a requirements file."""
    pins: dict[str, frozenset[str]] = {}
    for line in text.replace("\\\n", " ").splitlines():
        wanted = line.partition("--hash")[0].strip()
        if wanted and not wanted.startswith(("#", "-")):
            pins[str(Requirement(wanted))] = frozenset(_HASH.findall(line))
    return pins


def _requirements(lock: ReadLock, needed: Sequence[str]) -> Iterator[Problem]:
    """Compare what is needed today with what was asked for, and with what was locked."""
    asked = lock.facts.get("requirements")
    before = {_plain(text) for text in asked or ()}
    today = {_plain(text) for text in needed}
    for text in sorted(today):
        fault = _unmet(text, lock)
        if fault:
            yield Problem(fault, lock.name, hint=_AGAIN)
        elif asked is not None and text not in before:
            message = f"{text} is needed now; it was not asked for when this was locked"
            yield Problem(message, lock.name, hint=_AGAIN, severity="warning")
    for text in sorted(before - today):
        message = f"{text} was asked for when this was locked; nothing asks for it now"
        yield Problem(message, lock.name, hint=_AGAIN, severity="warning")


def _unmet(text: str, lock: ReadLock) -> str:
    """Say how a lock does not satisfy a requirement; empty when it does."""
    try:
        wanted = Requirement(text)
    except InvalidRequirement:
        return ""
    name = canonicalize_name(wanted.name)
    marker = str(wanted.marker or "")
    places = [p for p in lock.platforms if applies(marker, p, lock.python or "3.11")]
    found = [package.version for package in lock.packages if package.name == name]
    if not places or (found and wanted.url):
        return ""
    if not found:
        return f"{text} is needed and not locked"
    loose = Requirement(of_any_build(text)).specifier
    if any(loose.contains(version, prereleases=True) for version in found):
        return ""
    return f"{text} is needed; {name} {', '.join(found)} is locked"


def _single_builds(lock: ReadLock, needed: Sequence[str]) -> Iterator[Problem]:
    """Name builds that are asked for and not locked, and those of which no source is known."""
    for text in filter(is_one_build, needed):
        wanted = Requirement(text)
        found = [p.version for p in lock.packages if p.name == canonicalize_name(wanted.name)]
        if found and not any(wanted.specifier.contains(version) for version in found):
            message = f"{text} names one build; another of that version is locked: {found[0]}"
            hint = "configure the index that has that build (UV_INDEX), then: rra lock"
            yield Problem(message, lock.name, hint=hint, severity="warning")
    table = lock.facts.get("why")
    why = table if isinstance(table, dict) else {}
    for package in lock.packages:
        entry = why.get(package.name)
        indexed = isinstance(entry, dict) and bool(entry.get("index"))
        beside = all(wheel.name in lock.beside for wheel in package.wheels)
        if "+" in package.version and not indexed and not beside:
            message = f"{package.name} {package.version} is one build, which no public index has"
            hint = "let its wheel travel along with the lock: rra lock --keep --wheels"
            yield Problem(message, lock.name, hint=hint, severity="warning")


def _plain(text: str) -> str:
    """Return a requirement in one spelling, without credentials."""
    plain = without_credentials(text)
    try:
        return str(Requirement(plain))
    except InvalidRequirement:
        return plain


def _wheels(env: Environment, lock: ReadLock) -> Iterator[Problem]:
    """Compare the wheels beside the lock with the lock."""
    wanted = {wheel.name: wheel for package in lock.packages for wheel in package.wheels}
    folder = env.wheels or lock.name.removesuffix(lock.path.name) + WHEELS_DIR
    beside = lock.beside
    if env.wheels:
        for name in sorted(wanted.keys() - beside):
            hint = "bring it with: rra lock --keep --wheels"
            yield Problem(f"{name} is locked and does not lie here", env.wheels, hint=hint)
    for name in sorted(beside):
        if name not in wanted:
            message = "lies beside the lock, which does not name it"
            yield Problem(message, f"{folder}/{name}", severity="warning")
        elif sha256_file(lock.wheels / name) != f"sha256:{wanted[name].sha256}":
            hint = "do not trust it; get the file again with: rra lock --keep --wheels"
            yield Problem("another file than the one that is locked", f"{folder}/{name}", hint=hint)


def find_rot(lock: ReadLock, offered: Iterable[tuple[str, str]]) -> list[Rot]:
    """Return the wheels of a lock that an index does not offer as they were locked.

    Args:
        lock: The lock.
        offered: (file name, SHA-256 in hex) of what the index offers.
    """
    digests: dict[str, set[str]] = defaultdict(set)
    for name, digest in offered:
        digests[name].add(digest)
    beside = lock.beside
    return [
        Rot(
            f"{package.name} {package.version}",
            wheel.name,
            "other" if digests.get(wheel.name) else "gone",
            wheel.name in beside,
        )
        for package in lock.packages
        for wheel in package.wheels
        if wheel.sha256 not in digests.get(wheel.name, ())
    ]
