"""Using the interpreter that an artifact carries.

It is a program of the author's. So nothing of it runs outside a sandbox: its version and its
markers are read from its description, and what builds the environment with it, does so confined.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from rra._base import process
from rra._base.files import sha256_file, storage_errors
from rra._base.process import Completed
from rra.environment.runtime import (
    PREFIX,
    Machine,
    RuntimeDescription,
    check_machine,
    read_description,
)
from rra.environment.uvtool import find_uv
from rra.errors import CorruptError, EnvironmentBuildError, UsageError
from rra.sandbox import View, best_sandbox

if TYPE_CHECKING:
    from rra.artifact import Artifact
    from rra.sandbox import Sandbox

FOLDER = "runtime"
"""Folder of a built environment that holds the interpreter."""

_SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin"
_COMPILE_SECONDS = 300.0
_MOST_LINKS = 16


class Unpack(Protocol):
    """Unpacks an archive into an empty folder and insists on its digest."""

    def __call__(self, archive: Path, directory: Path, *, digest: str) -> None:
        """Do so."""


@dataclasses.dataclass(frozen=True, slots=True)
class Carried:
    """An interpreter that an artifact carries and that fits this machine.

    Attributes:
        name: Its path in the artifact.
        archive: Its archive.
        digest: Digest of the archive.
        description: What it says of itself.
    """

    name: str
    archive: Path
    digest: str
    description: RuntimeDescription

    @property
    def version(self) -> str:
        """Full version of Python."""
        return self.description.python

    @property
    def markers(self) -> dict[str, str]:
        """Values of the environment markers (PEP 508)."""
        return self.description.markers()

    def program(self, place: Path) -> Path:
        """Return its program in an environment that is built at a place."""
        return place / FOLDER / self.description.executable

    def prefix(self, place: Path) -> Path:
        """Return its prefix in an environment that is built at a place."""
        return place / FOLDER / PREFIX


def find_carried(artifact: Artifact, env_id: str) -> Carried | None:
    """Return the interpreter that an environment carries, if it is to be used here.

    Where the environment is declared for this platform and its interpreter is for another, a
    Python of this machine is as good as it is for an artifact that carries none.

    Raises:
        UsageError: The manifest names an interpreter that is not there.
        CorruptError: It is not the one that ``rra.lock`` names.
        FormatError: It does not say what it is.
        EnvironmentBuildError: It is another Python than the manifest says.
        PlatformError: It is not for this machine.
    """
    env = artifact.manifest.environments[env_id]
    if env.interpreter is None:
        return None
    archive = artifact.path(env.interpreter)
    if not archive.is_file():
        message = f"the interpreter of environment {env_id} is not there: {env.interpreter}"
        raise UsageError(message, hint="make it with: rra lock --keep --runtime")
    digest = sha256_file(archive)
    known = artifact.lock.environments.get(env_id) if artifact.lock else None
    if known is not None and known.interpreter != digest:
        says = known.interpreter or "none"
        message = f"{env.interpreter} is not the interpreter that rra.lock names: {digest} "
        message += f"instead of {says}"
        hint = "get the file again; if you changed it on purpose, run rra lock --keep"
        raise CorruptError(message, hint=hint)
    found = read_description(archive, env.interpreter)
    if env.python and f"{found.python}.".startswith(f"{env.python}.") is False:
        message = f"environment {env_id} is for Python {env.python} and carries {found.python}"
        raise EnvironmentBuildError(message, hint="make it again: rra lock --keep --runtime")
    here = Machine.here().platform
    if found.platform != here and here in (env.platforms or []):
        return None
    check_machine(found, env_id)
    return Carried(env.interpreter, archive, digest, found)


def unpack_carried(own: Carried, place: Path, unpack: Unpack) -> None:
    """Unpack an interpreter into the environment that is built at a place.

    Raises:
        CorruptError: The archive is not one that the format allows, or has another digest.
        StorageError: The disk is full or refuses.
    """
    folder = place / FOLDER
    with storage_errors(folder):
        folder.mkdir()
    unpack(own.archive, folder, digest=own.digest)
    if not own.program(place).is_file():
        message = f"{own.name} holds no {own.description.executable}"
        raise CorruptError(message, hint="make it again: rra lock --keep --runtime")


def refuse_strangers(own: Carried, place: Path) -> None:
    """Insist that an environment leads nowhere else: a launcher is shown what it is made of.

    Raises:
        CorruptError: A link of it leads out of its place; the carried interpreter put it there.
    """
    parts = [place / "bin", place / FOLDER, own.prefix(place), own.prefix(place) / "bin"]
    strange = [part for part in parts if part.is_symlink()]
    program = place / "bin" / "python"
    for _ in range(_MOST_LINKS):
        if not program.is_symlink():
            break
        program = Path(os.path.normpath(program.parent / program.readlink()))
        if not program.is_relative_to(place):
            strange.append(program)
    if strange or program.is_symlink():
        message = f"{own.name} makes an environment that leads to {program}"
        raise CorruptError(message, hint="do not trust this artifact")


def run_confined(
    own: Carried,
    place: Path,
    scratch: Path,
    arguments: Sequence[str | Path],
    wheels: Path,
    sandbox: Sandbox | None,
) -> Completed:
    """Run uv, and with it the carried interpreter, without network and with nothing in reach.

    Args:
        own: The interpreter, unpacked.
        place: Where the environment is built; it can be changed.
        scratch: A folder of the caller's that can be read.
        arguments: Arguments of uv.
        wheels: Where wheels are; can be read.
        sandbox: The sandbox; the best that works by default.
    """
    box = sandbox or best_sandbox()
    temporary = scratch / "tmp"
    temporary.mkdir(exist_ok=True)
    inside = box.temporary_path(temporary)
    env = {
        "HOME": str(inside),
        "TMPDIR": str(inside),
        "PATH": _SYSTEM_PATH,
        "LANG": "C.UTF-8",
        "UV_CACHE_DIR": str(inside / "uv"),
        "UV_LINK_MODE": "copy",
        "UV_NO_CONFIG": "1",
        "UV_OFFLINE": "1",
        "UV_PYTHON_DOWNLOADS": "never",
        "UV_NO_PROGRESS": "1",
        "NO_COLOR": "1",
    }
    program = find_uv()
    view = View(
        read_only=[program, program.resolve(), scratch, wheels],
        writable=[place],
        temporary=temporary,
        cwd=scratch,
        env=env,
    )
    _compile(own, place, view, box)
    command = box.wrap([str(program), *map(str, arguments)], view)
    return process.run(command, env={"PATH": _SYSTEM_PATH})


def _compile(own: Carried, place: Path, view: View, box: Sandbox) -> None:
    """Compile the standard library once: a run cannot, since it may not write there.

    Raises:
        EnvironmentBuildError: The interpreter does not start.
    """
    library = own.prefix(place) / "lib" / "python{}.{}".format(*own.version.split(".")[:2])
    if any(library.glob("__pycache__/*.pyc")):
        return
    argv = [str(own.program(place)), "-I", "-m", "compileall", "-q", "-j", "0", str(library)]
    done = process.run(box.wrap(argv, view), env={"PATH": _SYSTEM_PATH}, timeout=_COMPILE_SECONDS)
    if not done.ok and not any(library.glob("__pycache__/*.pyc")):
        message = f"the Python of {own.name} does not start: {done.last_error(1)}"
        hint = "see what of the system it lacks, or take a machine that is more alike"
        raise EnvironmentBuildError(message, hint=hint)
