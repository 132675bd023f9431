"""The interpreter that an artifact carries: what its archive says of itself, and whether it fits.

The archive is a canonical tar of `DESCRIPTION`, which comes first, and of the folder `PREFIX`.
Nothing here runs anything of it.
"""

from __future__ import annotations

import dataclasses
import os
import platform
import re
import sys
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError

from rra._base import canonical
from rra._base.jsontext import parse_json
from rra.environment.platforms import PLATFORMS
from rra.errors import FormatError, PlatformError, Problem
from rra.model.base import Object

DESCRIPTION = "RUNTIME.json"
"""First member of the archive."""

PREFIX = "python"
"""Folder of the archive that holds the interpreter."""

INTERPRETER_NAME = "interpreter.tar"
"""Name that `rra lock` gives the archive, beside the lock."""

_BLOCK = 512
_LONGEST = 64 << 10
_CLAUSE = "environment/interpreter-describes-itself"
_LIBRARY_PLACES = ("/lib64", "/usr/lib64", "/lib", "/usr/lib", "/usr/local/lib")
_LIBRARY_CACHE = Path("/etc/ld.so.cache")
_AGAIN = "make it again with: rra lock --keep --runtime"


class RuntimeDescription(Object):
    """What the archive of an interpreter says of itself.

    Attributes:
        python: Full version of Python.
        platform: What it runs on, such as ``linux-x86_64``.
        executable: The program, relative to the root of the archive.
        glibc: Oldest version of the GNU C library with which it runs; None for any.
        libraries: Names of the libraries of the system that it needs.
        carried: Names of the libraries that came along from the system that it was made on.
    """

    type: Literal["runtime/v1"]
    python: Annotated[str, Field(pattern=r"^3\.[0-9]+\.[0-9]+$")]
    platform: Annotated[str, Field(pattern=r"^linux-[a-z0-9_]+$")]
    executable: Annotated[str, Field(pattern=r"^python/bin/[A-Za-z0-9][A-Za-z0-9._-]*$")]
    glibc: Annotated[str, Field(pattern=r"^[0-9]+\.[0-9]+$")] | None = None
    libraries: list[Annotated[str, Field(pattern=r"^[A-Za-z0-9._+-]+$")]]
    carried: list[Annotated[str, Field(pattern=r"^[A-Za-z0-9._+-]+$")]] = []  # noqa: RUF012 - pydantic copies it

    def content(self) -> bytes:
        """Return the bytes of the description in the archive."""
        return canonical.dumps(self.to_json()) + b"\n"

    def markers(self) -> dict[str, str]:
        """Return the values of the environment markers (PEP 508), without asking it."""
        return PLATFORMS[self.platform].environment(self.python)


@dataclasses.dataclass(frozen=True, slots=True)
class Machine:
    """What of this machine decides whether an interpreter starts on it.

    Attributes:
        platform: Its name in the manifest, such as ``linux-x86_64``.
        glibc: Version of the GNU C library; None for another C library.
    """

    platform: str
    glibc: tuple[int, int] | None

    @classmethod
    def here(cls) -> Machine:
        """Return this machine."""
        found = [
            name
            for name, entry in PLATFORMS.items()
            if (entry.system, entry.machine) == (sys.platform, platform.machine())
        ]
        name = found[0] if found else f"{sys.platform}-{platform.machine()}"
        return cls(name, _glibc())


def _glibc() -> tuple[int, int] | None:
    try:
        said = os.confstr("CS_GNU_LIBC_VERSION") or ""
    except (AttributeError, OSError, ValueError):
        return None
    match = re.match(r"glibc (\d+)\.(\d+)", said)
    return (int(match[1]), int(match[2])) if match else None


def read_description(archive: Path, name: str) -> RuntimeDescription:
    """Return what the archive of an interpreter says of itself; no other member is read.

    Args:
        archive: The archive.
        name: What messages call it.

    Raises:
        FormatError: It does not begin with a description, or that says something else.
    """
    with archive.open("rb") as file:
        head = file.read(_BLOCK)
        size = head[124:135]
        if head[:100].rstrip(b"\0") != DESCRIPTION.encode() or not re.fullmatch(
            rb"[0-7]{11}", size
        ):
            raise _refusal(name, f"it does not begin with {DESCRIPTION}")
        length = int(size, 8)
        if length > _LONGEST:
            raise _refusal(name, f"its {DESCRIPTION} is longer than {_LONGEST} bytes")
        content = file.read(length)
    try:
        data: Any = parse_json(content, source=f"{name}/{DESCRIPTION}").data
        found = RuntimeDescription.model_validate(data)
    except (FormatError, ValidationError) as error:
        raise _refusal(name, f"its {DESCRIPTION} is not valid ({_first(error)})") from error
    if found.platform not in PLATFORMS:
        raise _refusal(name, f"its {DESCRIPTION} names the unknown platform {found.platform}")
    return found


def _first(error: FormatError | ValidationError) -> str:
    if isinstance(error, FormatError):
        return error.message
    fault = error.errors()[0]
    return f"{'.'.join(str(part) for part in fault['loc'])}: {fault['msg']}"


def _refusal(name: str, why: str) -> FormatError:
    problem = Problem(f"not a packed interpreter: {why}", name, clause=_CLAUSE)
    return FormatError(str(problem), problems=(problem,), hint=_AGAIN)


def check_machine(found: RuntimeDescription, env_id: str, machine: Machine | None = None) -> None:
    """Insist that a carried interpreter can start on this machine.

    Args:
        found: What its archive says.
        env_id: Id of the environment, for messages.
        machine: The machine; this one by default.

    Raises:
        PlatformError: It is for another platform, for a newer C library, or needs a library
            of the system that is not there.
    """
    here = machine or Machine.here()
    what = f"the Python {found.python} that environment {env_id} carries"
    if found.platform != here.platform:
        message = f"{what} is for {found.platform}; this machine is {here.platform}"
        raise PlatformError(message, hint=f"verify it on a machine that is {found.platform}")
    wanted = tuple(map(int, found.glibc.split("."))) if found.glibc else None
    if wanted is not None and (here.glibc is None or here.glibc < wanted):
        has = "another C library" if here.glibc is None else "glibc {}.{}".format(*here.glibc)
        message = f"{what} needs glibc {found.glibc} or newer; this machine has {has}"
        raise PlatformError(message, hint="use a newer release of Linux, or a container of one")
    missing = [name for name in found.libraries if not _has_library(name, here.platform)]
    if missing:
        message = f"{what} needs libraries of the system that are not here: {', '.join(missing)}"
        raise PlatformError(message, hint="install the packages of the system that hold them")


def _has_library(name: str, platform_name: str) -> bool:
    """Tell whether the loader of this machine would find a library by its name."""
    machine = PLATFORMS[platform_name].machine
    places = [*_LIBRARY_PLACES, f"/lib/{machine}-linux-gnu", f"/usr/lib/{machine}-linux-gnu"]
    if any((Path(place) / name).exists() for place in places):
        return True
    try:
        return b"\0" + name.encode() + b"\0" in _LIBRARY_CACHE.read_bytes()
    except OSError:
        return False
