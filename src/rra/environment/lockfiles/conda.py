"""Reading locks of conda packages: ``conda-lock.yml``, ``pixi.lock`` and explicit lists.

Their conda packages are translated by the reviewed table of names; what it does not know is
said and left out, never guessed. Their Python packages are taken as they are.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from packaging.utils import (
    InvalidSdistFilename,
    InvalidWheelFilename,
    canonicalize_name,
    parse_sdist_filename,
    parse_wheel_filename,
)

from rra._base.yaml import parse_yaml
from rra.environment.conda_specs import read_conda_spec
from rra.environment.lockfiles.taking import (
    read_bounded,
    table,
    tables,
    without_credentials,
)
from rra.environment.requirement_files import Requirements, hashes_of
from rra.errors import FormatError

_PREFERRED = ("linux-64", "linux-aarch64", "osx-arm64", "osx-64", "win-64", "noarch")
_FILE = re.compile(r"^(?P<name>.+)-(?P<version>[^-]+)-(?P<build>[^-]+)\.(?:conda|tar\.bz2)$")


@dataclasses.dataclass(frozen=True, slots=True)
class CondaPin:
    """One package of a conda lock: by which manager, its name, version, digests, address."""

    manager: str
    name: str
    version: str
    hashes: tuple[str, ...] = ()
    address: str = ""


def read_conda_lock(path: Path, name: str) -> Requirements:
    """Read ``conda-lock.yml`` (version 1): its main category on one platform."""
    result = Requirements()
    data = _yaml(path, name, result)
    entries = [e for e in tables(data, "package") if e.get("category", "main") == "main"]
    platform = _choose({str(e.get("platform", "")) for e in entries}, name, result)
    chosen = (e for e in entries if e.get("platform") == platform)
    pins = [
        CondaPin(
            str(entry.get("manager", "conda")),
            str(entry.get("name", "")),
            str(entry.get("version", "")),
            hashes_of([table(entry, "hash").get("sha256", "")]),
        )
        for entry in chosen
    ]
    _take(pins, name, result)
    return result


def read_pixi_lock(path: Path, name: str) -> Requirements:
    """Read ``pixi.lock`` (versions 4 to 6): its default environment on one platform."""
    result = Requirements()
    data = _yaml(path, name, result)
    environments = table(data, "environments")
    if data and not environments:
        result.remark(name, f"is version {data.get('version')} of pixi's lock, which has no list")
        return result
    chosen = "default" if "default" in environments else next(iter(environments), "")
    if chosen and chosen != "default":
        result.remark(name, f"has no environment called default; {chosen} is followed")
    packages = table(environments, chosen, "packages")
    platform = _choose(set(packages), name, result)
    known = {_key(entry): entry for entry in tables(data, "packages")}
    _take([_pixi_pin(item, known) for item in tables(packages, platform)], name, result)
    return result


def read_conda_explicit(path: Path, name: str) -> Requirements:
    """Read a list of addresses under ``@EXPLICIT``, as ``conda list --explicit`` writes it."""
    result = Requirements()
    text = read_bounded(path, name, result) or ""
    lines = [line.strip() for line in text.split("\n")]
    if "@EXPLICIT" not in lines:
        result.remark(name, "is no explicit list of conda packages: @EXPLICIT is missing")
        return result
    pins = [
        pin
        for line in lines
        if "://" in line and not line.startswith("#")
        for pin in [_conda_file(line.partition("#")[0])]
        if pin is not None
    ]
    _take(pins, name, result)
    return result


def _yaml(path: Path, name: str, result: Requirements) -> Mapping[str, Any]:
    text = read_bounded(path, name, result)
    if text is None:
        return {}
    try:
        data = parse_yaml(text, source=name).data
    except FormatError as error:
        problem = error.problems[0]
        result.remark(name, problem.message, line=problem.line)
        return {}
    if isinstance(data, Mapping):
        return data
    result.remark(name, "holds no map")
    return {}


def _choose(platforms: Iterable[str], name: str, result: Requirements) -> str:
    """Return the platform that is followed, and say so when it is not Linux's."""
    found = sorted(platform for platform in platforms if platform)
    chosen = next((p for p in _PREFERRED if p in found), found[0] if found else "")
    if chosen and not chosen.startswith("linux"):
        result.remark(name, f"is for {', '.join(found)} only; {chosen} is followed")
    return chosen


def _key(entry: Mapping[str, Any]) -> str:
    """Return what an entry of pixi's list of packages is referred to by: its address."""
    return str(entry.get("conda") or entry.get("pypi") or entry.get("url") or "")


def _pixi_pin(item: Mapping[str, Any], known: Mapping[str, Mapping[str, Any]]) -> CondaPin:
    manager = "pip" if "pypi" in item else "conda"
    address = str(item.get("pypi") or item.get("conda") or "")
    entry = known.get(address, {})
    hashes = hashes_of([entry.get("sha256", "")])
    found = _conda_file(address) if manager == "conda" else _python_file(address)
    named, version = str(entry.get("name", "")), str(entry.get("version", ""))
    if found is None:
        on_index = manager == "conda" or "://" in address
        pinned = _repository(address)
        return CondaPin(manager, named, version if on_index and not pinned else "", (), pinned)
    return CondaPin(manager, named or found.name, version or found.version, hashes)


def _repository(address: str) -> str:
    """Return the address of a package in a repository as requirements name it, or nothing."""
    before, _, commit = address.partition("#")
    if not address.startswith("git+"):
        return ""
    clean = without_credentials(before)
    return f"{clean}@{commit}" if commit else clean


def _conda_file(address: str) -> CondaPin | None:
    match = _FILE.match(address.rsplit("/", 1)[-1])
    return CondaPin("conda", match["name"], match["version"]) if match else None


def _python_file(address: str) -> CondaPin | None:
    file = address.partition("#")[0].rsplit("/", 1)[-1]
    try:
        if file.endswith(".whl"):
            name, version, *_ = parse_wheel_filename(file)
        else:
            name, version = parse_sdist_filename(file)
    except (InvalidWheelFilename, InvalidSdistFilename):
        return None
    return CondaPin("pip", name, str(version))


def _take(pins: Iterable[CondaPin], name: str, result: Requirements) -> None:
    """Take over the packages of both managers; a pip package comes before a conda one."""
    everything = list(pins)
    by_pip = {canonicalize_name(pin.name) for pin in everything if pin.manager == "pip"}
    unknown: list[str] = []
    for pin in everything:
        if pin.manager == "pip":
            _take_python(pin, name, result)
        elif pin.name == "python":
            match = re.match(r"\d+\.\d+", pin.version)
            result.python = match[0] if match else result.python
        else:
            requirement, remark = read_conda_spec(f"{pin.name}=={pin.version}")
            if requirement is None and remark:
                unknown.append(pin.name)
            elif requirement is not None and not ({_name_of(requirement)} & by_pip):
                result.take(requirement, name)
    for package in _shortened(unknown):
        result.remark(name, package)


def _take_python(pin: CondaPin, name: str, result: Requirements) -> None:
    if pin.address and pin.name:
        result.take(f"{pin.name} @ {pin.address}", name)
        return
    if not pin.version or not pin.name:
        what = pin.name or "a package"
        result.remark(name, f"{what} is a folder or has no version, so it is left out")
        return
    result.take(f"{pin.name}=={pin.version}", name)
    if pin.hashes:
        result.hashes[canonicalize_name(pin.name)] = pin.hashes


def _name_of(requirement: str) -> str:
    return canonicalize_name(re.split(r"[\s=<>!~;\[@]", requirement, maxsplit=1)[0])


def _shortened(unknown: list[str]) -> Iterator[str]:
    if unknown:
        shown = ", ".join(sorted(set(unknown))[:20])
        more = f" and {len(set(unknown)) - 20} more" if len(set(unknown)) > 20 else ""
        yield (
            f"conda packages without a reviewed distribution: {shown}{more}; "
            "not rebuilt without conda"
        )
