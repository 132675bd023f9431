"""Getting the wheel of a package that no index has as a wheel."""

from __future__ import annotations

import dataclasses
import hashlib
import itertools
import shutil
import tempfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename

from rra._base import process
from rra._base.files import sha256_file
from rra.environment.legacy import legacy_configuration
from rra.environment.pylock import Wheel
from rra.environment.resolve import (
    RemoteFile,
    Resolution,
    ResolvedPackage,
    for_other_pythons,
    no_wheel,
    pythons_with_wheels,
)
from rra.environment.undeclared import KNOWN, MOST, declare, missing_distribution
from rra.environment.uvtool import build_reason, environment_for_tools, run_uv
from rra.errors import LockError

if TYPE_CHECKING:
    from urllib.request import Request

    from packaging.tags import Tag

_BLOCK = 1 << 20
_TIMEOUT = 60
_OTHER_BUILDS = 6
"""Other Pythons that a build which failed is tried with."""


def wheel_tags(file_name: str) -> frozenset[Tag]:
    """Return the tags of a wheel by its name; none for a name that is no wheel's."""
    try:
        return parse_wheel_filename(file_name)[3]
    except InvalidWheelFilename:
        return frozenset()


def describe_wheel(path: Path) -> Wheel:
    """Return name, digest and size of a wheel file."""
    return Wheel(path.name, sha256_file(path).removeprefix("sha256:"), path.stat().st_size)


def find_wheel(folder: Path, name: str, version: str, tags: Iterable[Tag]) -> Path | None:
    """Find a usable wheel of a package in a folder; without a version, any version."""
    usable = frozenset(tags)
    for path in sorted(folder.glob("*.whl")):
        try:
            found_name, found_version, _, found_tags = parse_wheel_filename(path.name)
        except InvalidWheelFilename:
            continue
        same = found_name == canonicalize_name(name)
        if same and found_tags & usable and version in {"", str(found_version)}:
            return path
    return None


def build_wheel(
    package: ResolvedPackage,
    folder: Path,
    target: Resolution,
    *,
    pins: Mapping[str, str] | None = None,
    elsewhere: Callable[[str], None] | None = None,
) -> Path:
    """Build the wheel of a package from its source into a folder and return its path.

    Build requirements are resolved as of the same day as the package. What its build imports
    without having declared it is added, in the version that is locked beside it: what is
    compiled against a newer numpy does not load with an older one. The code of the package
    runs, as it does for everybody who installs it from source. A package of which wheels exist
    for other Pythons is not built: its build takes compilers, and gives other bytes each time;
    unless the author's own lock allows its source alone.

    Args:
        package: The package.
        folder: Where the wheel goes.
        target: What it is built for.
        pins: Versions of what is locked beside it, by normalised name.
        elsewhere: Told that other Pythons are tried after a build that failed; None tries none.

    Raises:
        LockError: Wheels exist for other Pythons, there is no source, it cannot be fetched,
            or the build fails; then it says which other Python builds it, if one near by does.
    """
    given = package.source is not None and package.source.name.endswith(".whl")
    searched = package.vcs is None and not given and not package.from_source
    if searched and pythons_with_wheels(package.name, package.version, target):
        raise no_wheel(package.name, package.version, target, "")
    with tempfile.TemporaryDirectory(prefix="rra-build-") as scratch:
        place = Path(scratch)
        source = _fetch_source(package, place)
        if source.suffix == ".whl":
            return Path(shutil.copy2(source, folder / source.name))
        build = _Build(source, package.name, pins or {})
        made, log = build.run(place / "out", target)
        if made is None:
            other = None
            if elsewhere is not None:
                elsewhere(f"that failed; trying whether another Python builds {package.name}")
                other = _python_that_builds(build, place, target)
            why = build_reason(log)
            raise no_wheel(package.name, package.version, target, why, builds_on=other)
        return Path(shutil.copy2(made, folder / made.name))


@dataclasses.dataclass(frozen=True, slots=True)
class _Build:
    """The build of one source distribution or source tree.

    Attributes:
        source: The file or tree.
        name: Normalised name of the package.
        pins: Versions that are locked beside it.
    """

    source: Path
    name: str
    pins: Mapping[str, str]

    def run(self, out: Path, target: Resolution) -> tuple[Path | None, str]:
        """Return the wheel that a build made, if it did, and what it printed."""
        needs = list(KNOWN.get(self.name, ()))
        first_log = ""
        for _ in range(MOST):
            try:
                made, log = self._once(needs, out, target)
            except LockError as error:
                return None, first_log or error.message
            first_log = first_log or log
            lacking = None if made else missing_distribution(log)
            if lacking is None or lacking in needs:
                break
            needs.append(lacking)
        return made, log

    def _once(self, needs: list[str], out: Path, target: Resolution) -> tuple[Path | None, str]:
        source = self.source
        if needs:
            pinned = [f"{name}=={self.pins[name]}" if name in self.pins else name for name in needs]
            source = declare(source, pinned, out.with_name(f"{out.name}-source"))
        arguments: list[str | Path] = ["build", "--wheel", "--out-dir", out, *target.cutoff]
        if target.interpreter is not None:
            arguments += ["--python", target.interpreter]
        out.parent.mkdir(parents=True, exist_ok=True)
        (out.parent / "uv.toml").write_text(legacy_configuration(), "utf-8")
        done = run_uv([*arguments, source], cwd=out.parent)
        made = sorted(out.glob("*.whl"))
        return (made[0] if done.ok and made else None), done.stderr


def _python_that_builds(build: _Build, place: Path, target: Resolution) -> str | None:
    """Return the nearest other Python with which a source that failed can be built."""
    for attempt in itertools.islice(for_other_pythons(target), _OTHER_BUILDS):
        made, _ = build.run(place / attempt.python, attempt)
        if made is not None:
            return attempt.python
    return None


def _fetch_source(package: ResolvedPackage, place: Path) -> Path:
    if package.vcs is not None:
        return _clone(*package.vcs, place / "source")
    if package.source is not None:
        return download(package.source, place)
    message = f"{package.name} {package.version} has no wheel that fits and no source distribution"
    hint = "choose another version, python or platform in rra.yaml"
    raise LockError(message, hint=hint)


def _clone(repository: str, commit: str, subdirectory: str, target: Path) -> Path:
    for command in (
        ["git", "clone", "--quiet", "--no-checkout", "--", repository, str(target)],
        ["git", "-C", str(target), "checkout", "--quiet", "--detach", commit],
    ):
        done = process.run(command, env=environment_for_tools({"GIT_TERMINAL_PROMPT": "0"}))
        if not done.ok:
            message = f"commit {commit[:12]} of {_host(repository)} cannot be fetched: "
            hint = "check that the repository is still there; run again"
            raise LockError(message + done.last_error(1), hint=hint)
    return target / subdirectory


def download(file: RemoteFile, place: Path) -> Path:
    """Fetch a file that an index offers into a folder and check its digest.

    Raises:
        LockError: It cannot be fetched, or is another file.
    """
    import urllib.error
    import urllib.request

    path = place / file.name
    hint = (
        "check the network and run again; where the index asks for credentials, build the "
        "wheel yourself and put it into the environment's wheels/ folder"
    )
    address = file.place if "://" in file.place else Path(file.place).resolve().as_uri()
    if urlsplit(address).scheme not in {"https", "http", "file"}:
        message = f"{file.name} cannot be fetched from an address of that kind"
        raise LockError(message, hint=hint)
    state = hashlib.sha256()
    request = _request(address)
    try:
        with (
            urllib.request.urlopen(request, timeout=_TIMEOUT) as answer,  # noqa: S310 - checked
            path.open("wb") as target,
        ):
            while block := answer.read(_BLOCK):
                state.update(block)
                target.write(block)
    except (urllib.error.URLError, TimeoutError, ConnectionError) as error:
        message = f"{file.name} cannot be fetched from {_host(address)}: {error}"
        raise LockError(message, hint=hint) from error
    if state.hexdigest() != file.sha256:
        message = f"{file.name} is not what the index says of it: its digest is another"
        raise LockError(message, hint="run again; if it stays so, do not trust that index")
    return path


def _request(address: str) -> Request:
    """Take the credentials out of an address and give them to its host alone.

    They are not sent on to where that host redirects to, and no error names them.
    """
    import base64
    import urllib.request

    parts = urlsplit(address)
    where = parts.netloc.rpartition("@")[2]
    plain = urllib.request.Request(parts._replace(netloc=where).geturl())  # noqa: S310 - checked
    if parts.username is not None:
        pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}".encode()
        given = base64.b64encode(pair).decode("ascii")
        plain.add_unredirected_header("Authorization", f"Basic {given}")
    return plain


def _host(address: str) -> str:
    """Return an address's host without credentials."""
    return urlsplit(address).hostname or "a local folder"
