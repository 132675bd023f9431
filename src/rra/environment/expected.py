"""Digests that an author's own lock gives for packages, held against what the index has.

A lock of uv, Poetry, PDM or Pipenv, a ``pylock.toml`` and a requirements file with ``--hash`` say
which files the author installed. Files that an index has besides are left out; where it has none
of them, it is another package of the same name and version, and nothing is locked.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from rra.errors import OtherFileError

if TYPE_CHECKING:
    from rra.environment.resolve import RemoteFile, ResolvedPackage

_SHOWN = 8
"""Packages that are named in one line."""


@dataclasses.dataclass(frozen=True, slots=True)
class Expected:
    """What a foreign lock says of files.

    Attributes:
        manifest: The file that says it.
        digests: SHA-256 (64 hex digits) that the files of a package may have, by its normalised
            name; empty where the file gives none.
    """

    manifest: str = ""
    digests: Mapping[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)

    def allowed(self, package: ResolvedPackage) -> ResolvedPackage:
        """Return a package with those of its files that the lock allows.

        Raises:
            OtherFileError: It allows none of them.
        """
        digests = frozenset(self.digests.get(package.name, ()))
        files = [*package.wheels, *([package.source] if package.source else [])]
        if not digests or not files:
            return package
        if not any(file.sha256 in digests for file in files):
            raise self._other(package, files)
        source = package.source if package.source and package.source.sha256 in digests else None
        wheels = tuple(wheel for wheel in package.wheels if wheel.sha256 in digests)
        return dataclasses.replace(
            package, wheels=wheels, source=source, from_source=bool(package.wheels and not wheels)
        )

    def notes(self, names: Iterable[str]) -> list[str]:
        """Return what a person should know: locked packages that the lock vouches for by no digest.

        Args:
            names: Normalised names of what is locked.
        """
        if not self.digests:
            return []
        silent = sorted(set(names) - {name for name, given in self.digests.items() if given})
        if not silent:
            return []
        shown = ", ".join(silent[:_SHOWN])
        more = f" and {len(silent) - _SHOWN} more" if len(silent) > _SHOWN else ""
        return [f"{self.manifest} gives no digest for {shown}{more}: what the index has is locked"]

    def _other(self, package: ResolvedPackage, files: list[RemoteFile]) -> OtherFileError:
        ours = self.digests[package.name]
        message = (
            f"{package.name} {package.version} is another file than the author had: "
            f"{self.manifest} gives sha256:{ours[0]}{_more(len(ours))}, "
            f"the index has {files[0].name} with sha256:{files[0].sha256}{_more(len(files))}"
        )
        hint = (
            "find out why before you trust either: another index or a local build has other bytes; "
            f"to lock what the index has, take the digests of {package.name} out of {self.manifest}"
        )
        return OtherFileError(message, hint=hint)


def _more(count: int) -> str:
    return f" (and {count - 1} more)" if count > 1 else ""
