"""The platforms an environment can be declared for: markers, wheel tags, uv's names."""

from __future__ import annotations

import dataclasses
import platform
import re
import sys
from collections.abc import Iterator

from packaging.tags import Tag, compatible_tags, cpython_tags, mac_platforms

from rra.errors import UsageError

GLIBC = (2, 28)
"""Newest C library that a Linux wheel may ask for (Debian 10, RHEL 8 and later have it)."""

_LEGACY = {(2, 17): "manylinux2014", (2, 12): "manylinux2010", (2, 5): "manylinux1"}
_MACOS = (14, 0)


@dataclasses.dataclass(frozen=True, slots=True)
class Platform:
    """One declared platform.

    Attributes:
        name: Name in the manifest, such as ``linux-x86_64``.
        uv: Name that ``uv --python-platform`` takes.
        system: Value of the marker ``sys_platform``.
        machine: Value of the marker ``platform_machine``.
        os_name: Value of the marker ``os_name``.
        platform_system: Value of the marker ``platform_system``.
    """

    name: str
    uv: str
    system: str
    machine: str
    os_name: str
    platform_system: str

    @property
    def marker(self) -> str:
        """Marker that is true on this platform alone."""
        return f"sys_platform == '{self.system}' and platform_machine == '{self.machine}'"

    def environment(self, python: str) -> dict[str, str]:
        """Return the marker values for a full Python version on this platform."""
        return {
            "implementation_name": "cpython",
            "implementation_version": python,
            "os_name": self.os_name,
            "platform_machine": self.machine,
            "platform_python_implementation": "CPython",
            "platform_release": "",
            "platform_system": self.platform_system,
            "platform_version": "",
            "python_full_version": python,
            "python_version": ".".join(python.split(".")[:2]),
            "sys_platform": self.system,
        }

    def tags(self, minor: str) -> frozenset[Tag]:
        """Return the wheel tags that a CPython such as ``3.11`` takes on this platform."""
        version = parse_minor(minor)
        names = list(self._platform_names())
        return frozenset(python_tags(version, names))

    def _platform_names(self) -> Iterator[str]:
        if self.system == "linux":
            for minor in range(GLIBC[1], 4, -1):
                yield f"manylinux_2_{minor}_{self.machine}"
                if (2, minor) in _LEGACY:
                    yield f"{_LEGACY[2, minor]}_{self.machine}"
            yield f"linux_{self.machine}"
        elif self.system == "darwin":
            yield from mac_platforms(_MACOS, self.machine)
        else:
            yield "win_amd64" if self.machine == "AMD64" else "win_arm64"


PLATFORMS = {
    entry.name: entry
    for entry in (
        Platform("linux-x86_64", "x86_64-manylinux_2_28", "linux", "x86_64", "posix", "Linux"),
        Platform("linux-aarch64", "aarch64-manylinux_2_28", "linux", "aarch64", "posix", "Linux"),
        Platform("macos-arm64", "aarch64-apple-darwin", "darwin", "arm64", "posix", "Darwin"),
        Platform("macos-x86_64", "x86_64-apple-darwin", "darwin", "x86_64", "posix", "Darwin"),
        Platform("windows-x86_64", "x86_64-pc-windows-msvc", "win32", "AMD64", "nt", "Windows"),
    )
}
"""Platforms by their name in the manifest."""


def python_tags(version: tuple[int, int], platforms: list[str]) -> Iterator[Tag]:
    """Yield the wheel tags of a CPython, best first."""
    interpreter = f"cp{version[0]}{version[1]}"
    abi = interpreter + ("m" if version < (3, 8) else "")
    yield from cpython_tags(version, [abi], platforms)
    yield from compatible_tags(version, interpreter, platforms)


def parse_minor(python: str) -> tuple[int, int]:
    """Return (major, minor) of a version such as ``3.11`` or ``3.11.7``.

    Raises:
        UsageError: The text is not a Python version.
    """
    match = re.fullmatch(r"(\d+)\.(\d+)(\.\d+)?", python.strip())
    if match is None:
        message = f"{python!r} is not a Python version"
        raise UsageError(message, hint='write it as major.minor in quotes, such as "3.11"')
    return int(match[1]), int(match[2])


def find_platforms(names: list[str] | None) -> list[Platform]:
    """Return the declared platforms, or the one of this machine when none is declared.

    Raises:
        UsageError: A name is not known.
    """
    unknown = [name for name in names or [] if name not in PLATFORMS]
    if unknown:
        message = f"platform {unknown[0]!r} is not known"
        raise UsageError(message, hint=f"known platforms: {', '.join(PLATFORMS)}")
    return [PLATFORMS[name] for name in names or [_here()]]


def _here() -> str:
    for entry in PLATFORMS.values():
        if entry.system == sys.platform and entry.machine == platform.machine():
            return entry.name
    return "linux-x86_64"
