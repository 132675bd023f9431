"""Building a locked environment: exactly its wheels, whole or not at all."""

from __future__ import annotations

import contextlib
import dataclasses
import errno
import importlib.metadata
import json
import os
import re
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from packaging.tags import platform_tags
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from rra._base import canonical, clock, places
from rra._base.files import atomic_write, remove_tree, storage_errors
from rra.environment.built import MaterialisedEnvironment, checked_digest, named_environment
from rra.environment.cache import sole_builder
from rra.environment.carried import (
    Carried,
    Unpack,
    find_carried,
    refuse_strangers,
    run_confined,
    unpack_carried,
)
from rra.environment.interpreter import Interpreter, find_interpreter
from rra.environment.platforms import parse_minor, python_tags
from rra.environment.pylock import (
    WHEELS_DIR,
    LockedPackage,
    Wheel,
    read_pylock,
    render_requirements,
    select,
)
from rra.environment.uvtool import condense, is_network_failure, run_uv
from rra.environment.wheelhouse import link_wheels
from rra.errors import CorruptError, EnvironmentBuildError, RraError, StorageError, UsageError
from rra.model import Environment

if TYPE_CHECKING:
    from rra._base.process import Completed
    from rra.artifact import Artifact
    from rra.sandbox import Sandbox

COMPLETE = ".rra-environment.json"
"""In an environment that is whole: what it was built from."""

_OFFLINE = "offline"
"""Key there: whether it was built from the wheels beside its lock alone."""

_REMOVALS, _PAUSE_SECONDS = 50, 0.1

BUILDING = ".rra-building"
"""In an environment whose build has not ended."""

Progress = Callable[[str], None]


@dataclasses.dataclass(frozen=True, slots=True)
class _Plan:
    """What is built, and from what."""

    env_id: str
    env: Environment
    wheels: Path
    digest: str
    interpreter: Interpreter | Carried
    packages: Sequence[LockedPackage]

    def lacking(self) -> list[Wheel]:
        """Return the wheels that do not lie beside the lock."""
        wheels = (wheel for package in self.packages for wheel in package.wheels)
        return [wheel for wheel in wheels if not (self.wheels / wheel.name).is_file()]

    def stamp(self) -> dict[str, str]:
        """What an environment must have been built from to be this one."""
        given = {"lock": self.digest, "python": self.interpreter.version}
        if isinstance(self.interpreter, Carried):
            return {**given, "interpreter": self.interpreter.digest}
        return {**given, "base_prefix": str(self.interpreter.base_prefix)}

    def interpreter_of(self, place: Path) -> tuple[Path, Path]:
        """Return program and prefix of the Python of an environment at a place."""
        if isinstance(self.interpreter, Carried):
            return self.interpreter.program(place), self.interpreter.prefix(place)
        return self.interpreter.path, self.interpreter.base_prefix


def materialise(
    artifact: Artifact,
    env_id: str,
    *,
    target: Path | None = None,
    progress: Progress | None = None,
    unpack: Unpack | None = None,
    sandbox: Sandbox | None = None,
    lasting: bool = True,
) -> MaterialisedEnvironment:
    """Install a locked environment and compare what is installed with the lock.

    Every file is taken by its digest, from ``wheels/`` beside the lock or from the reader's
    own index; nothing is built from source and no dependency is added. What a killed build
    left is removed, and never taken for an environment. An interpreter that the artifact
    carries is taken before one of this machine; it is the author's program, so it runs only
    in a sandbox, without network, and needs all wheels beside the lock.

    Args:
        artifact: The artifact.
        env_id: Environment's id.
        target: Folder to build in anew; None for the cache, where an environment that is
            whole and still what its lock says is used again.
        progress: Told about steps that may last.
        unpack: Unpacks a carried interpreter; None takes a Python of this machine always.
        sandbox: What a carried interpreter runs in; the best that works by default.
        lasting: Whether it will be used more than once, so that compiling its modules pays.

    Raises:
        UsageError: There is no such environment or no lock yet, or the target is in use.
        CorruptError: The lock or the carried interpreter is not the one of ``rra.lock``, or a
            file has another digest.
        FormatError: The lock or the description of the interpreter cannot be read.
        PlatformError: The carried interpreter is not for this machine.
        ToolMissingError: There is no such Python here.
        EnvironmentBuildError: A file cannot be had, or the lock is not for this machine.
        StorageError: The disk is full or refuses.
    """
    plan = _plan(artifact, env_id, carried=unpack is not None)
    place = target.absolute() if target is not None else _cached_place(plan)
    with sole_builder(place):
        if target is None:
            found = _usable(place, plan)
            if found is not None:
                return found
        clear_place(place, ours=target is None)
        if progress is not None:
            count = len(plan.packages)
            version = plan.interpreter.version
            own = " of the artifact" if isinstance(plan.interpreter, Carried) else ""
            progress(f"installing environment {env_id}: Python {version}{own}, {count} packages")
        with whole_or_gone(place):
            _build(place, plan, unpack, sandbox, lasting=lasting)
            if isinstance(plan.interpreter, Carried):
                refuse_strangers(plan.interpreter, place)
            installed = _compare(place, plan)
            offline = not plan.lacking()
            mark = json.dumps({**plan.stamp(), _OFFLINE: offline}, sort_keys=True) + "\n"
            atomic_write(place / COMPLETE, mark)
            (place / BUILDING).unlink()
    return _result(place, plan, installed, offline=offline)


def _plan(artifact: Artifact, env_id: str, *, carried: bool) -> _Plan:
    env = named_environment(artifact, env_id)
    lock = artifact.path(env.lock or f"environment/{env_id}/pylock.toml")
    if not lock.is_file():
        message = f"environment {env_id} is not locked: there is no {env.lock or lock.name}"
        raise UsageError(message, hint="lock it with: rra lock")
    digest = checked_digest(artifact, env_id, lock)
    document = read_pylock(lock)
    wanted = env.python or str((document.tool or {}).get("rra", {}).get("python", ""))
    own = find_carried(artifact, env_id) if carried else None
    interpreter = own or find_interpreter(wanted)
    tags = python_tags(parse_minor(interpreter.version), list(platform_tags()))
    packages = select(document, interpreter.markers, tags)
    wheels = artifact.path(env.wheels) if env.wheels else lock.parent / WHEELS_DIR
    return _Plan(env_id, env, wheels, digest, interpreter, packages)


def _cached_place(plan: _Plan) -> Path:
    key = canonical.digest(plan.stamp()).removeprefix("sha256:")[:32]
    return places.cache_root() / "environments" / key


def _usable(place: Path, plan: _Plan) -> MaterialisedEnvironment | None:
    """Return the environment at a place if it is whole and still what the lock says."""
    mark = place / COMPLETE
    try:
        stamp = json.loads(mark.read_text("utf-8"))
        offline = stamp.pop(_OFFLINE, False) is True
        if stamp != plan.stamp() or not _python(place).exists():
            return None
        found = _result(place, plan, _compare(place, plan), offline=offline)
        return dataclasses.replace(found, reused=True)
    except (OSError, ValueError, AttributeError, EnvironmentBuildError):
        return None


def clear_place(place: Path, *, ours: bool) -> None:
    """Make room: what we built or began to build goes, anything else is not touched."""
    if not place.exists() or not any(place.iterdir()):
        return
    if not ours and not (place / COMPLETE).exists() and not (place / BUILDING).exists():
        message = f"{place} is in use and holds no environment"
        raise UsageError(message, hint="name a folder that is empty or does not exist")
    with storage_errors(place):
        _remove(place)


def _remove(place: Path) -> None:
    """Remove a folder in which the installer of a build that was killed may write for a moment."""
    for _ in range(_REMOVALS):
        try:
            remove_tree(place)
        except OSError as error:
            if error.errno not in {errno.ENOTEMPTY, errno.ENOENT}:
                raise
            clock.sleep(_PAUSE_SECONDS)
        if not place.exists():
            return
    remove_tree(place)


@contextlib.contextmanager
def whole_or_gone(place: Path) -> Iterator[None]:
    """Remove what was built when the build does not end well."""
    done = False
    try:
        yield
        done = True
    finally:
        if not done and place.exists():
            remove_tree(place)


def _build(
    place: Path, plan: _Plan, unpack: Unpack | None, sandbox: Sandbox | None, *, lasting: bool
) -> None:
    own = plan.interpreter if isinstance(plan.interpreter, Carried) else None
    _insist_on_wheels(plan)
    with storage_errors(place):
        place.mkdir(parents=True, exist_ok=True)
        (place / BUILDING).touch()
    if own is not None and unpack is not None:
        unpack_carried(own, place, unpack)

    with tempfile.TemporaryDirectory(prefix="rra-install-") as name:
        scratch = Path(name)

        def uv(arguments: Sequence[str | Path], **variables: str) -> Completed:
            if own is None:
                return run_uv(arguments, cwd=scratch, variables=variables)
            return run_confined(own, place, scratch, arguments, plan.wheels, sandbox)

        base: list[str | Path] = ["venv", "--quiet", "--no-project", "--allow-existing"]
        made = uv([*base, "--python", plan.interpreter_of(place)[0], place])
        if not made.ok:
            raise _refusal(made.stderr, plan)
        if not plan.packages:
            return
        wanted = scratch / "requirements.txt"
        wanted.write_text(render_requirements(plan.packages), "utf-8")
        link_mode = os.environ.get("UV_LINK_MODE", "copy")
        arguments = _install_arguments(place, plan, scratch / WHEELS_DIR)
        if lasting and can_compile(plan.interpreter.version):
            arguments.append("--compile-bytecode")
        done = uv([*arguments, "-r", wanted], UV_LINK_MODE=link_mode)
        if not done.ok:
            raise _refusal(done.stderr, plan)


def can_compile(python: str) -> bool:
    """Tell whether uv can compile bytecode with a Python; its program for that needs PEP 552."""
    return parse_minor(python) >= (3, 7)


def _insist_on_wheels(plan: _Plan) -> None:
    """Insist that an artifact which carries its Python carries its wheels too."""
    missing = plan.lacking()
    if missing and isinstance(plan.interpreter, Carried):
        more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        message = f"environment {plan.env_id} carries its Python but not {missing[0].name}{more}"
        raise EnvironmentBuildError(message, hint="lock it with: rra lock --keep --wheels")


def _install_arguments(place: Path, plan: _Plan, shared: Path) -> list[str | Path]:
    """Return uv's arguments; copies, so that no run can change uv's cache through a link.

    Wheels beside the lock come first, then those that artifacts of this machine share, then
    the index.
    """
    arguments: list[str | Path] = ["pip", "install", "--quiet", "--python", _python(place)]
    arguments += ["--require-hashes", "--no-build", "--no-deps"]
    lacking = plan.lacking()
    if len(lacking) < len(plan.packages):
        arguments += ["--find-links", plan.wheels]
    if lacking:
        shared.mkdir()
        gone = link_wheels(lacking, shared)
        if len(gone) < len(lacking):
            arguments += ["--find-links", shared]
        lacking = gone
    if not lacking:
        arguments += ["--offline", "--no-index"]
    return arguments


def _refusal(stderr: str, plan: _Plan) -> RraError:
    """Say why uv did not install."""
    text = condense(stderr)
    if re.search(r"No space left on device|os error 28", stderr):
        message = f"no space left while installing environment {plan.env_id}"
        return StorageError(message, hint="free some space on that disk and run again")
    if "Hash mismatch" in stderr:
        message = f"a file for environment {plan.env_id} is not the one that was locked: {text}"
        return CorruptError(message, hint="do not trust that index or folder; get the file again")
    if is_network_failure(stderr):
        message = f"environment {plan.env_id} cannot be installed without its index: {text}"
        hint = "check the network and uv's index settings (UV_DEFAULT_INDEX, UV_INDEX), run again"
        return EnvironmentBuildError(message, hint=hint)
    message = f"environment {plan.env_id} cannot be installed: {text}"
    hint = "see whether your index still has that version, or put its wheel into wheels/"
    return EnvironmentBuildError(message, hint=hint)


def _compare(place: Path, plan: _Plan) -> tuple[tuple[str, str], ...]:
    """Read back what is installed and insist that it is the lock, no more and no less."""
    installed = read_installed(place)
    locked = {package.name: package.version for package in plan.packages}
    wrong = [
        f"{name} is {installed.get(name, 'missing')}, locked {locked.get(name, 'nothing')}"
        for name in sorted({*installed, *locked})
        if not _same(installed.get(name), locked.get(name))
    ]
    if wrong:
        message = f"environment {plan.env_id} is not what its lock says: {'; '.join(wrong)}"
        raise EnvironmentBuildError(message, hint="run again; the environment is built anew")
    return tuple(sorted(installed.items()))


def read_installed(place: Path) -> dict[str, str]:
    """Return the packages in a virtual environment, read from its metadata; nothing runs."""
    found: dict[str, str] = {}
    for folder in sorted(place.glob("lib/python*/site-packages")):
        for distribution in importlib.metadata.distributions(path=[str(folder)]):
            found[canonicalize_name(distribution.metadata["Name"])] = distribution.version
    return found


def _same(one: str | None, other: str | None) -> bool:
    if one is None or other is None:
        return False
    try:
        return Version(one) == Version(other)
    except InvalidVersion:
        return one == other


def _python(place: Path) -> Path:
    return place / "bin" / "python"


def _result(
    place: Path, plan: _Plan, installed: tuple[tuple[str, str], ...], *, offline: bool
) -> MaterialisedEnvironment:
    return MaterialisedEnvironment(
        id=plan.env_id,
        root=place,
        python=_python(place),
        bin=place / "bin",
        version=plan.interpreter.version,
        base_prefix=plan.interpreter_of(place)[1],
        variables=dict(plan.env.variables or {}),
        packages=installed,
        lock_digest=plan.digest,
        installed_digest=canonical.digest([list(pair) for pair in installed]),
        interpreter=plan.interpreter.digest if isinstance(plan.interpreter, Carried) else None,
        bundled=not plan.lacking(),
        offline=offline,
    )
