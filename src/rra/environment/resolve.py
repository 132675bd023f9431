"""Resolving requirements with uv, for one Python, some platforms and one day."""

from __future__ import annotations

import dataclasses
import re
import tempfile
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote, urlsplit

from packaging.utils import canonicalize_name

from rra._base.process import Completed
from rra.environment.cutoff import cutoff_timestamp
from rra.environment.interpreter import find_interpreter, has_interpreter
from rra.environment.legacy import legacy_configuration
from rra.environment.platforms import Platform, parse_minor
from rra.environment.undeclared import KNOWN, MOST, missing_distribution
from rra.environment.uvtool import (
    FURTHER_SOURCES,
    TIMED_OUT,
    build_reason,
    condense,
    is_network_failure,
    run_uv,
)
from rra.environment.why import read_annotations
from rra.errors import LockError, NoSolutionError

LAST = 99
"""Patch number that stands for the last release of a Python whose releases are not known."""

_UNKNOWN = "not found in the package registry"
"""What uv says of a name that an index does not know."""

_MINORS = range(6, 15)
"""Minor versions of Python 3 that uv can drive and that are out."""

_SETUPTOOLS = "2019-05-01T00:00:00Z"
"""A week after setuptools 41.0.1 was released. Version 40.8.0 is the oldest that builds by PEP
517, but does not find the wheel of some packages that it has built (cvxpy 0.4.11 is one)."""

_LATE = re.compile(r"The requested version, v?([^,\s]+), was published at (\d{4}-\d\d-\d\d)")
_BUILD_FAILURE = re.compile(r"Failed to (?:download and )?build:? `([A-Za-z0-9._-]+)==([^`]+)`")


@dataclasses.dataclass(frozen=True, slots=True)
class RemoteFile:
    """A file that an index offers: name, address or local path, SHA-256 in hex, size."""

    name: str
    place: str
    sha256: str
    size: int | None

    @property
    def is_local(self) -> bool:
        """Whether it lies in a folder of this machine."""
        return "://" not in self.place or self.place.startswith("file:")


@dataclasses.dataclass(frozen=True, slots=True)
class ResolvedPackage:
    """One package as uv resolved it, before wheels are chosen.

    Attributes:
        name: Normalised name.
        version: Version; empty for a source tree whose version is not known yet.
        marker: When it is installed; empty for always.
        wheels: Wheels that the index offers.
        source: Source distribution or archive, when there is one.
        vcs: (repository, commit, subdirectory) of a version-controlled source.
        uploaded: Day (``YYYY-MM-DD``) on which the index got its newest file; empty where the
            index does not say.
        from_source: Whether it is to be built although there are wheels of it.
    """

    name: str
    version: str
    marker: str
    wheels: tuple[RemoteFile, ...]
    source: RemoteFile | None
    vcs: tuple[str, str, str] | None = None
    uploaded: str = ""
    from_source: bool = False


@dataclasses.dataclass(frozen=True, slots=True)
class Resolution:
    """What to resolve for.

    Attributes:
        python: Python, as major.minor.
        release: Full version that markers and ``Requires-Python`` are judged by. Not the
            minor's first: what asks for 3.7.1 would be left out of a lock for 3.7.
        interpreter: Python that runs builds of metadata; None lets uv choose.
        platforms: Platforms, at least one.
        as_of: Day or moment as of which is resolved; None for no limit.
        patience: Seconds for one resolution, with the builds that metadata asks for; None for
            no limit.
        index: Address of the one index that is asked, empty for the reader's default one; None
            for all of the reader's. It may hold credentials, so nothing shows it.
    """

    python: str
    release: str
    interpreter: Path | None
    platforms: Sequence[Platform]
    as_of: str | None
    patience: int | None = None
    index: str | None = dataclasses.field(default=None, repr=False)

    @property
    def cutoff(self) -> list[str | Path]:
        """Uv's options that leave out what was published later.

        What has no build system of its own is built by PEP 517, which setuptools learned in
        2019; before that it may be as new as the first release that does it well: else nothing
        could be built at all.
        """
        if not self.as_of:
            return []
        moment = cutoff_timestamp(self.as_of)
        options: list[str | Path] = ["--exclude-newer", moment]
        if moment < _SETUPTOOLS:
            options += ["--exclude-newer-package", f"setuptools={_SETUPTOOLS}"]
        return options


def resolve(requirements: Sequence[str], target: Resolution) -> list[ResolvedPackage]:
    """Resolve requirements; source distributions count, so wheels never choose versions.

    Raises:
        NoSolutionError: No set of versions satisfies them.
        LockError: An index cannot be reached, or the metadata of a source distribution cannot
            be made.
    """
    with tempfile.TemporaryDirectory(prefix="rra-resolve-") as folder:
        place = Path(folder)
        done = _compile(requirements, target, place)
        if not done.ok:
            raise _refusal(done, target)
        document = tomllib.loads((place / "pylock.toml").read_text("utf-8"))
    return [_package(entry) for entry in document.get("packages", [])]


def required_by(requirements: Sequence[str], target: Resolution) -> dict[str, tuple[str, ...]]:
    """Return which packages need each one in the resolution that `resolve` gives.

    Nothing is known, and nothing raised, where the index cannot be asked again.
    """
    with tempfile.TemporaryDirectory(prefix="rra-resolve-") as folder:
        place = Path(folder)
        shown = ("--format", "requirements.txt", "--output-file", "annotated.txt")
        more = ("--annotate", "--annotation-style", "split")
        done = _compile(requirements, target, place, *more, form=shown)
        path = place / "annotated.txt"
        return read_annotations(path.read_text("utf-8")) if done.ok and path.is_file() else {}


def find_files(pins: Sequence[str], target: Resolution) -> list[ResolvedPackage]:
    """Return what the index offers of exact versions, without what they need; nothing is built.

    Args:
        pins: Requirements such as ``numpy==2.0.0``, with or without a marker.
        target: What they are for.

    Raises:
        LockError: The index cannot be reached, or lacks one of them.
    """
    with tempfile.TemporaryDirectory(prefix="rra-resolve-") as folder:
        place = Path(folder)
        done = _compile(pins, target, place, "--no-deps", "--no-build")
        if not done.ok:
            raise _refusal(done, target)
        document = tomllib.loads((place / "pylock.toml").read_text("utf-8"))
    return [_package(entry) for entry in document.get("packages", [])]


def find_any(pins: Sequence[str], target: Resolution) -> list[ResolvedPackage]:
    """Return what the index offers of versions, those that it lacks left out.

    All are asked for at once; where the index lacks one, halves of them are, so that few that
    it lacks cost few questions.

    Args:
        pins: As `find_files` takes them.
        target: What they are for.

    Raises:
        LockError: The index cannot be reached, or refuses.
    """
    if not pins:
        return []
    try:
        return find_files(pins, target)
    except LockError as error:
        if not isinstance(error, NoSolutionError) and _UNKNOWN not in error.message:
            raise
    middle = len(pins) // 2
    if not middle:
        return []
    return find_any(pins[:middle], target) + find_any(pins[middle:], target)


def is_on_no_day(requirement: str, target: Resolution) -> bool:
    """Tell whether the index has no version that a requirement allows, on any day.

    Versions for another Python only, and those that cannot be built here, count as being there.

    Args:
        requirement: The requirement (PEP 508).
        target: What it was to be resolved for.

    Raises:
        UnavailableError: uv does not end.
    """
    whenever = dataclasses.replace(target, as_of=None)
    with tempfile.TemporaryDirectory(prefix="rra-resolve-") as folder:
        done = _compile([requirement], whenever, Path(folder), "--no-deps")
    said = " ".join(done.stderr.split())
    listed = any(word in said for word in _OTHER_CAUSES)
    return not done.ok and not listed and _NO_VERSION.search(said) is not None


def pythons_with_wheels(name: str, version: str, target: Resolution) -> list[str]:
    """Return the Pythons (major.minor) for which an index has a wheel of a version."""
    found = []
    for minor in _MINORS:
        python = f"3.{minor}"
        attempt = dataclasses.replace(
            target, python=python, release=f"{python}.{LAST}", platforms=target.platforms[:1]
        )
        with tempfile.TemporaryDirectory(prefix="rra-resolve-") as folder:
            only = ("--no-build", "--no-deps")
            done = _compile([f"{name}=={version}"], attempt, Path(folder), *only)
        if done.ok:
            found.append(python)
    return found


def for_other_pythons(target: Resolution) -> Iterator[Resolution]:
    """Yield the target for each other Python that is installed here, the nearest first."""
    _, own = parse_minor(target.python)
    for minor in sorted(_MINORS, key=lambda one: (abs(one - own), one)):
        python = f"3.{minor}"
        if minor != own and has_interpreter(python):
            found = find_interpreter(python, download=False)
            yield dataclasses.replace(
                target, python=python, release=found.version, interpreter=found.path
            )


_NO_VERSION = re.compile(
    r"[Bb]ecause (?:there (?:is no version|are no versions) of \S+|only \S+ (?:is|are) available) "
    r"and"
)
"""How uv says that an index lists nothing that fits."""
_OTHER_CAUSES = ("Python", "wheels", "yanked")
"""Words of what uv says of versions that are listed and cannot be taken."""
_LOCK_FORM = ("--format", "pylock.toml", "--output-file", "pylock.toml")


def _compile(
    requirements: Sequence[str],
    target: Resolution,
    place: Path,
    *more: str,
    form: Sequence[str] = _LOCK_FORM,
) -> Completed:
    """Run uv in an empty folder, so that no project's configuration is found.

    What a build lacks that it did not declare is given to it, and uv run again.
    """
    (place / "requirements.in").write_text("\n".join(requirements) + "\n", "utf-8")
    command = [*_arguments(target), *form, *more]
    needs = dict(KNOWN)
    only = {"UV_DEFAULT_INDEX": target.index} if target.index else {}
    without = () if target.index is None else FURTHER_SOURCES
    for _ in range(MOST):
        (place / "uv.toml").write_text(legacy_configuration(needs), "utf-8")
        done = run_uv(command, cwd=place, patience=target.patience, variables=only, without=without)
        found = _undeclared(done)
        if found is None or found[1] in needs.get(found[0], ()):
            break
        name, lacking = found
        needs[name] = (*needs.get(name, ()), lacking)
    return done


def _undeclared(done: Completed) -> tuple[str, str] | None:
    """Return the package whose build failed for its metadata, and what it lacked."""
    failed = None if done.ok else _BUILD_FAILURE.findall(done.stderr)
    lacking = missing_distribution(done.stderr) if failed else None
    return (canonicalize_name(failed[-1][0]), lacking) if failed and lacking else None


def _arguments(target: Resolution) -> list[str | Path]:
    arguments: list[str | Path] = ["pip", "compile", "requirements.in", "--quiet", "--no-header"]
    arguments += ["--python-version", target.release, "--no-python-downloads"]
    if target.interpreter is not None:
        arguments += ["--python", target.interpreter]
    if len(target.platforms) == 1:
        arguments += ["--python-platform", target.platforms[0].uv]
    else:
        arguments.append("--universal")
    return arguments + target.cutoff


def _package(entry: Mapping[str, Any]) -> ResolvedPackage:
    source = entry.get("sdist") or entry.get("archive")
    vcs = entry.get("vcs")
    if "directory" in entry:
        name = entry["name"]
        message = f"{name} is a folder of this machine, which no lock can name"
        hint = f"build its wheel into the environment's wheels/ and require {name}==<version>"
        raise LockError(message, hint=hint)
    return ResolvedPackage(
        name=canonicalize_name(entry["name"]),
        version=str(entry.get("version", "")),
        marker=str(entry.get("marker", "")),
        wheels=tuple(_file(wheel, entry["name"]) for wheel in entry.get("wheels", ())),
        source=_file(source, entry["name"]) if source else None,
        vcs=(vcs["url"], vcs["commit-id"], vcs.get("subdirectory", "")) if vcs else None,
        uploaded=_uploaded([*entry.get("wheels", ()), *([source] if source else [])]),
    )


def _uploaded(files: Sequence[Mapping[str, Any]]) -> str:
    """Return the day of the newest file."""
    days = (str(file["upload-time"])[:10] for file in files if "upload-time" in file)
    return max(days, default="")


def _file(entry: Mapping[str, Any], package: str) -> RemoteFile:
    place = str(entry.get("url") or entry.get("path"))
    name = entry.get("name") or PurePosixPath(unquote(urlsplit(place).path)).name
    digest = entry.get("hashes", {}).get("sha256")
    if digest is None:
        message = f"the index gives no SHA-256 for {name} of {package}"
        raise LockError(message, hint="use an index that follows PEP 503 or PEP 691")
    return RemoteFile(name, place, digest, entry.get("size"))


def _refusal(done: Completed, target: Resolution) -> LockError:
    """Say in the smallest useful text why there is no resolution."""
    text = condense(done.stderr)
    if done.returncode == TIMED_OUT and target.patience:
        message = f"resolving for Python {target.python} took more than {target.patience} s"
        hint = "a source distribution is built for its metadata: require a version with wheels"
        return NoSolutionError(message, hint=hint)
    if is_network_failure(done.stderr):
        message = f"a source of packages cannot be reached: {text}"
        hint = "check the network and uv's index settings (UV_DEFAULT_INDEX, UV_INDEX), run again"
        return LockError(message, hint=hint)
    if "Hash mismatch" in done.stderr:
        message = f"a file is not what the index says of it: {text}"
        return LockError(message, hint="run again; if it stays so, do not trust that index")
    failed = _BUILD_FAILURE.search(done.stderr)
    if failed:
        why = build_reason(done.stderr)
        return no_wheel(failed[1], failed[2], target, why, otherwise=NoSolutionError)
    when = f" as of {target.as_of}" if target.as_of else ""
    message = f"no versions fit together for Python {target.python}{when}: {text}"
    hint = "loosen one of the requirements named, or choose another python or as_of in rra.yaml"
    late = _LATE.search(" ".join(done.stderr.split()))
    if late is not None and target.as_of:
        message += f"; {late[1]} was published on {late[2]}"
        hint = "choose a later as_of in rra.yaml, or loosen that requirement"
    elif _UNKNOWN in text:
        hint = "correct the name, or configure the index that has it for uv (UV_INDEX)"
        return LockError(message, hint=hint)
    return NoSolutionError(message, hint=hint)


def no_wheel(
    name: str,
    version: str,
    target: Resolution,
    why: str,
    *,
    builds_on: str | None = None,
    otherwise: type[LockError] = LockError,
) -> LockError:
    """Say that a package has no wheel for this Python, and why none was built.

    Args:
        name: The package.
        version: Its version.
        target: What was resolved for.
        why: Why its build failed.
        builds_on: Another Python that it was built with.
        otherwise: Kind of error where no other Python is known that has it.
    """
    pythons = pythons_with_wheels(name, version, target)
    where = ", ".join(platform.name for platform in target.platforms)
    message = f"{name} {version} has no wheel for Python {target.python} on {where}"
    own = "build its wheel yourself and put it into the environment's wheels/ folder"
    if pythons:
        hint = f"wheels exist for Python {', '.join(pythons)}: set one as python in rra.yaml, "
        return LockError(message, hint=f"{hint}require another version, or {own}")
    if builds_on:
        hint = f'it builds with Python {builds_on}: set python: "{builds_on}" in rra.yaml, or {own}'
        return otherwise(f"{message}, and building one failed: {why}", hint=hint)
    hint = f"require another version of {name}, install what its build asks for, or {own}"
    return otherwise(f"{message}, and building one failed: {why}", hint=hint)
