from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath
from typing import Any

from rra.lint.context import Context, TextFile
from rra.lint.finding import Finding, Profile, Severity
from rra.lint.requirements import requirement_lines
from rra.lint.rule import Rule

_INDEX = ("--index-url", "-i ", "--extra-index-url", "--find-links", "-f ", "--trusted-host")
_BESIDE = "--find-links wheels"
"""The folder that travels with the lock, which pip looks for beside the file."""

_ADDRESS = re.compile(r"(?<![\w])(?:[a-z][a-z+.-]*://|file:)\S+", re.IGNORECASE)
_SHOWN = 4


class LockNamesHost(Rule):
    """A lock names a host, or a package without its hash.

    ## What it does

    Reads each `pylock.toml` and the `requirements.txt` beside it. A file of a package is given
    by its name, a relative path, its size and its sha256. Addresses, indexes, absolute paths
    and files without a hash are reported.

    ## Why is this bad?

    Hosts move and mirrors close; an address that names a private index leaks it, sometimes
    with its token. The hash decides whether a file is the right one, wherever it comes from:
    without it, nobody can tell.

    ## How to fix

    Run `rra lock` again; it writes neither hosts nor unhashed files. Wheels that no index has
    go into the folder `wheels` of the environment.

    ## Example

    Bad:

    ```toml title="environment/cpu/pylock.toml"
    lock-version = "1.0"
    created-by = "rra"

    [[packages]]
    name = "six"
    version = "1.16.0"
    wheels = [{name = "six-1.16.0-py2.py3-none-any.whl", url = "https://files.example.org/six-1.16.0-py2.py3-none-any.whl", hashes = {}}]
    ```

    Good:

    ```toml title="environment/cpu/pylock.toml"
    lock-version = "1.0"
    created-by = "rra"

    [[packages]]
    name = "six"
    version = "1.16.0"
    wheels = [{name = "six-1.16.0-py2.py3-none-any.whl", path = "wheels/six-1.16.0-py2.py3-none-any.whl", size = 11053, hashes = {sha256 = "8abb2f1d86890a2dfb989f9a77cfcfd3e47c2a354b01111771326f8aa26e0254"}}]
    ```
    """  # noqa: E501 - a lock has long lines

    code = "RRA202"
    name = "lock-names-host"
    severity = Severity.ERROR
    profile = Profile.BASIC
    since = "0.1"
    clause = "environment/lock-hosts"

    def check(self, context: Context) -> Iterable[Finding]:
        """Yield one finding for each kind of fault of each lock."""
        for environment in context.artifact.manifest.environments.values():
            if environment.kind != "pylock" or environment.lock is None:
                continue
            lock = PurePosixPath(environment.lock)
            file = context.text(lock)
            if file is not None:
                yield from self._lock(file)
            requirements = context.text(lock.parent / "requirements.txt")
            if requirements is not None:
                yield from self._requirements(requirements)

    def _lock(self, file: TextFile) -> Iterator[Finding]:
        try:
            data = tomllib.loads(file.text)
        except tomllib.TOMLDecodeError as error:
            yield self.at(file.path, f"not valid TOML: {error}", hint="run: rra lock")
            return
        packages = [p for p in data.get("packages", []) if isinstance(p, dict)]
        faults = {
            "names a host for": [p for p in packages if _names_host(p)],
            "has no sha256 for a file of": [p for p in packages if _lacks_hash(p)],
            "names an absolute path for": [p for p in packages if _is_absolute(p)],
        }
        for what, guilty in faults.items():
            if guilty:
                names = [str(package.get("name", "?")) for package in guilty]
                more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
                message = f"the lock {what} {', '.join(names[:_SHOWN])}{more}"
                yield self.in_text(file, _find(file, names[0]), message, hint="run: rra lock")

    def _requirements(self, file: TextFile) -> Iterator[Finding]:
        for line in requirement_lines(file.text):
            what = ""
            if line.is_option and line.text.startswith(_INDEX) and line.text != _BESIDE:
                what = f"names where packages come from: {line.text.split()[0].split('=')[0]}"
            elif not line.is_option and _ADDRESS.search(line.text):
                what = f"names a host for {line.name}"
            if what:
                hint = "leave that to the reader's own configuration; run: rra lock"
                yield self.in_text(file, line.offset, f"requirements.txt {what}", hint=hint)


def _artifacts(package: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the files of a package: wheels, source distribution, archive."""
    files = [*package.get("wheels", []), package.get("sdist"), package.get("archive")]
    return (file for file in files if isinstance(file, dict))


def _names_host(package: dict[str, Any]) -> bool:
    if package.get("index") or isinstance(package.get("vcs"), dict):
        return True
    return any(file.get("url") for file in _artifacts(package))


def _lacks_hash(package: dict[str, Any]) -> bool:
    files = list(_artifacts(package))
    if not files:
        return not isinstance(package.get("vcs"), dict)
    return any(not (file.get("hashes") or {}).get("sha256") for file in files)


def _is_absolute(package: dict[str, Any]) -> bool:
    places = [str(file.get("path", "")) for file in _artifacts(package)]
    directory = package.get("directory")
    places.append(str(directory.get("path", "")) if isinstance(directory, dict) else "")
    return any(p.startswith(("/", "\\", "file:")) or re.match(r"[A-Za-z]:", p) for p in places)


def _find(file: TextFile, name: str) -> int:
    """Return where a package stands in the lock."""
    return max(file.text.find(f'name = "{name}"'), 0)
