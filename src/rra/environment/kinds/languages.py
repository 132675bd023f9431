"""Packages of R and Julia: read from their files and described, built only inside containers."""

from __future__ import annotations

import dataclasses
import json
import re
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from rra.environment.built import Built
from rra.environment.kinds.described import DescribedKind
from rra.environment.kinds.finding import find_files
from rra.environment.kinds.protocol import (
    Ability,
    BuildRequest,
    Description,
    KindLock,
    LockRequest,
)
from rra.environment.lockfiles.taking import read_bounded, table, tables
from rra.environment.requirement_files import Requirements
from rra.errors import EnvironmentBuildError, LockError
from rra.model import Environment

_CONTAINER = "inside a container only: write kind: container with a base image that has {}"
_FIELD = re.compile(r"^([A-Za-z][\w-]*):[ \t]*(.*)$")
_DEPENDENCY = re.compile(r"\s*([A-Za-z][A-Za-z0-9.]*)\s*(?:\(([^)]*)\))?\s*")
_WITH_R_TEXT = """
R base compiler datasets graphics grDevices grid methods parallel splines stats stats4 tcltk tools
utils
"""
_WITH_R = frozenset(_WITH_R_TEXT.split())
"""What ``DESCRIPTION`` may name and R itself brings."""


def read_renv_lock(path: Path, name: str) -> Description:
    """Read ``renv.lock``: the version of R, and each package with its version."""
    data, problems = _json(path, name)
    packages = [
        f"{entry.get('Package', key)} {entry.get('Version', '')}".strip()
        for key, entry in table(data, "Packages").items()
        if isinstance(entry, Mapping)
    ]
    version = str(table(data, "R").get("Version", ""))
    return _description("renv", version, packages, name, problems)


def read_r_description(path: Path, name: str) -> Description:
    """Read ``Depends``, ``Imports`` and ``LinkingTo`` of a ``DESCRIPTION`` of R."""
    remarks = Requirements()
    text = read_bounded(path, name, remarks) or ""
    fields: dict[str, str] = {}
    current = ""
    for line in text.split("\n"):
        match = _FIELD.match(line)
        if match is not None:
            current = match[1]
            fields[current] = match[2]
        elif line[:1] in {" ", "\t"} and current:
            fields[current] += " " + line.strip()
    problems = [str(problem) for problem in remarks.problems]
    if "Package" not in fields and "Imports" not in fields and "Depends" not in fields:
        problems.append(f"{name} is no DESCRIPTION of R")
    version, packages = "", []
    for field in ("Depends", "Imports", "LinkingTo"):
        for item in fields.get(field, "").split(","):
            match = _DEPENDENCY.fullmatch(item)
            if match is not None and match[1] == "R":
                version = (match[2] or "").strip()
            elif match is not None and match[1] not in _WITH_R:
                packages.append(f"{match[1]} {match[2] or ''}".strip())
    return _description("renv", version, list(dict.fromkeys(packages)), name, problems)


def read_julia(path: Path, name: str) -> Description:
    """Read ``Manifest.toml`` (formats 1 and 2) or ``Project.toml`` of Julia."""
    data, problems = _toml(path, name)
    if path.name.startswith(("Project", "JuliaProject")):
        compat = table(data, "compat")
        packages = [f"{key} {compat.get(key, '')}".strip() for key in table(data, "deps")]
        return _description("julia", str(compat.get("julia", "")), packages, name, problems)
    newer = "manifest_format" in data or "julia_version" in data
    entries = table(data, "deps") if newer else data
    packages = [
        f"{key} {entry['version']}"
        for key in entries
        for entry in tables(entries, key)
        if isinstance(entry.get("version"), str)
    ]
    version = str(data.get("julia_version", ""))
    return _description("julia", version, packages, name, problems)


def _description(
    kind: str, version: str, packages: list[str], name: str, problems: list[str]
) -> Description:
    language = "Julia" if kind == "julia" else "R"
    return Description(
        kind=kind,
        version=version,
        packages=tuple(sorted(packages)),
        files=(name,),
        rebuilt=_CONTAINER.format(language),
        problems=tuple(problems),
    )


def _json(path: Path, name: str) -> tuple[Mapping[str, Any], list[str]]:
    return _parsed(path, name, json.loads, (json.JSONDecodeError, RecursionError), "JSON")


def _toml(path: Path, name: str) -> tuple[Mapping[str, Any], list[str]]:
    return _parsed(path, name, tomllib.loads, (tomllib.TOMLDecodeError, RecursionError), "TOML")


def _parsed(
    path: Path,
    name: str,
    parse: Callable[[str], Any],
    errors: tuple[type[Exception], ...],
    language: str,
) -> tuple[Mapping[str, Any], list[str]]:
    remarks = Requirements()
    text = read_bounded(path, name, remarks)
    problems = [str(problem) for problem in remarks.problems]
    if text is None:
        return {}, problems
    try:
        data = parse(text)
    except errors as error:
        return {}, [*problems, f"{name} is not valid {language}: {error}"]
    return (data, problems) if isinstance(data, Mapping) else ({}, [*problems, f"{name}: no map"])


_READERS: dict[str, tuple[re.Pattern[str], Callable[[Path, str], Description]]] = {
    "renv.lock": (re.compile(r"renv\.lock"), read_renv_lock),
    "DESCRIPTION": (re.compile(r"DESCRIPTION"), read_r_description),
    "Manifest": (re.compile(r"(?:Julia)?Manifest(?:-v[\d.]+)?\.toml"), read_julia),
    "Project": (re.compile(r"(?:Julia)?Project\.toml"), read_julia),
}


@dataclasses.dataclass(frozen=True, slots=True)
class LanguageKind(DescribedKind):
    """Describes environments of R (`renv`) or of Julia; builds none."""

    name: str
    sources: tuple[str, ...]

    def can(self) -> frozenset[Ability]:
        """Return what this kind does here: it takes the lock of the language's own tool."""
        return frozenset({"lock"})

    def detect(self, root: Path) -> tuple[str, ...]:
        """Return the files of the language that name packages, locks first."""
        return tuple(name for key in self.sources for name in find_files(root, _READERS[key][0]))

    def describe(self, root: Path, env: Environment) -> Description:
        """Say which packages at which versions they name."""
        files = (str(env.lock),) if env.lock else self.detect(root)
        for name in files:
            for key in self.sources:
                pattern, read = _READERS[key]
                if pattern.fullmatch(Path(name).name) and (root / name).is_file():
                    return read(root / name, name)
        return Description(kind=self.name, problems=(f"there is no file of kind {self.name}",))

    def lock(self, request: LockRequest) -> KindLock:
        """Take the lock that the language's own tool wrote.

        Raises:
            LockError: There is none.
        """
        if request.env.lock and (request.root / request.env.lock).is_file():
            found = self.describe(request.root, request.env)
            return KindLock(lock=request.root / request.env.lock, packages=found.packages)
        message = f"environment {request.id} of kind {self.name} has no lock of its own tool"
        raise LockError(message, hint="write it with renv::snapshot() or Pkg, and name it as lock")

    def build(self, request: BuildRequest) -> Built:
        """Refuse: packages of other languages are built inside containers.

        Raises:
            EnvironmentBuildError: Always.
        """
        message = f"environment {request.id} is of kind {self.name}, which is not built here"
        raise EnvironmentBuildError(message, hint=_CONTAINER.format("the language"))
