"""Copying the interpreter of this machine so that it starts from any folder.

Taken is what a program needs: the interpreter, its standard library, its headers, and the shared
libraries that lie beside it. Left out are tests, caches, installed packages, static libraries,
and modules that make no sense in a run (`_LEFT_OUT`). Libraries of the system that modules need
come along, all but those of the C library, which belongs to the machine. Programs and libraries
are told to look for others relative to themselves, and places of whoever installed Python are
replaced, so that nobody's home is in the archive.
"""

from __future__ import annotations

import dataclasses
import json
import os
import re
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from rra._base import process
from rra._base.files import storage_errors, walk_files
from rra.environment.elf import Elf, is_elf, read_elf, with_search
from rra.environment.interpreter import Interpreter
from rra.environment.platforms import PLATFORMS
from rra.environment.runtime import DESCRIPTION, PREFIX, Machine, RuntimeDescription
from rra.errors import LockError

_LEFT_OUT = frozenset(
    {"site-packages", "dist-packages", "test", "__pycache__", "idlelib", "tkinter", "turtledemo"}
    | {"turtle.py", "lib2to3/tests", "ctypes/test", "distutils/tests", "unittest/test"}
    | {"sqlite3/test", "LICENSE.pickle"}
)
"""Of the standard library: packages, tests, caches, and what needs a screen."""

_NO_MODULE = re.compile(
    r"(_tkinter|readline|_gdbm|_dbm|nis|ossaudiodev|xxlimited\w*|_test\w*|_ctypes_test|_xx\w+)\."
    r"(?!\.)"
)
"""Modules in C that a run has no use for; two of their libraries may only be shared under terms
of their own (the GNU General Public License)."""

_C_LIBRARY = re.compile(
    r"(libc|libm|libdl|librt|libpthread|libutil|libresolv|libanl|libmvec|libnss_\w+)\.so\.\d+"
    r"|ld-linux[\w-]*\.so\.\d+"
)
"""Libraries that come with the C library and only work with that very one."""

_FOUND = re.compile(r"^\s*(\S+) => (/\S+)", re.MULTILINE)
_SHARED_PLACES = frozenset({"/", "/usr", "/usr/local"})
_PLACEHOLDER = "/install"
_HINT = (
    "take a Python that was installed into a folder of its own, for example with: "
    "uv python install, or pyenv install"
)

_TRIAL = """
import glob, importlib, json, os, platform, sys
folder = next(p for p in sys.path if p.endswith("lib-dynload"))
names = sorted(os.path.basename(p).split(".")[0] for p in glob.glob(folder + "/*.so"))
for name in [*names, "ssl", "sqlite3", "venv", "multiprocessing"]:
    importlib.import_module(name)
with open("/proc/self/maps") as file:
    mapped = sorted({line.split()[-1] for line in file if ".so" in line.split()[-1]})
print(json.dumps({"base": sys.base_prefix, "version": platform.python_version(), "mapped": mapped}))
"""


@dataclasses.dataclass(frozen=True, slots=True)
class _Needs:
    """What the files of an interpreter need of a machine."""

    machine: str
    glibc: tuple[int, int]
    libraries: frozenset[str]


def copy_interpreter(interpreter: Interpreter, target: Path) -> RuntimeDescription:
    """Copy an interpreter below a folder, as an archive of it has it, and see that it starts.

    Args:
        interpreter: The interpreter; only read.
        target: An empty folder; it gets `DESCRIPTION` and `PREFIX`.

    Raises:
        LockError: It is no CPython for Linux, or its copy does not start.
        StorageError: The disk is full or refuses.
    """
    machine = Machine.here()
    kind = interpreter.markers.get("platform_python_implementation")
    if kind != "CPython" or PLATFORMS.get(machine.platform) is None or os.name != "posix":
        message = f"a {kind} on {machine.platform} cannot be carried"
        raise LockError(message, hint="carry the interpreter of a CPython on Linux")
    if not machine.platform.startswith("linux-"):
        message = f"an interpreter for {machine.platform} cannot be carried yet"
        raise LockError(message, hint="run rra lock --runtime on Linux")
    prefix = target / PREFIX
    with storage_errors(target):
        _copy(interpreter, prefix)
        carried = _bring_libraries(prefix)
        _forget(interpreter.base_prefix, prefix)
        needs = _needs(prefix)
        found = RuntimeDescription(
            type="runtime/v1",
            python=interpreter.version,
            platform=f"linux-{needs.machine}",
            executable=f"{PREFIX}/bin/python{interpreter.minor}",
            glibc="{}.{}".format(*needs.glibc),
            libraries=sorted(needs.libraries),
            carried=sorted(carried),
        )
        (target / DESCRIPTION).write_bytes(found.content())
    _try(target, found, interpreter)
    return found


def archive_members(folder: Path) -> list[PurePosixPath]:
    """Return the files of a copy that its archive has."""
    return list(walk_files(folder))


def _copy(interpreter: Interpreter, prefix: Path) -> None:
    base, name = interpreter.base_prefix, f"python{interpreter.minor}"
    library = base / "lib" / name
    program = (base / "bin" / name).resolve()
    if not program.is_file() or not (library / "os.py").is_file():
        message = f"the Python at {base} is not laid out as a prefix of its own"
        raise LockError(message, hint=_HINT)
    (prefix / "bin").mkdir(parents=True)
    shutil.copyfile(program, prefix / "bin" / name)
    (prefix / "bin" / name).chmod(0o755)
    for link in ("python3", "python"):
        (prefix / "bin" / link).symlink_to(name)
    for source, inside in ((library, f"lib/{name}"), (base / "include" / name, f"include/{name}")):
        for relative in walk_files(source) if source.is_dir() else ():
            if not _is_left_out(relative):
                _put(source / relative, prefix / inside / relative)
    for source in sorted((base / "lib").glob("libpython3*.so.*")):
        _put(source, prefix / "lib" / source.name)


def _is_left_out(relative: PurePosixPath) -> bool:
    parts = relative.parts
    if "__pycache__" in parts or parts[0].startswith("config-") or relative.suffix == ".a":
        return True
    if len(parts) == 2 and parts[0] == "lib-dynload" and _NO_MODULE.match(parts[1]):
        return True
    return any("/".join(parts[:depth]) in _LEFT_OUT for depth in (1, 2))


def _put(source: Path, target: Path) -> None:
    """Copy a file; a link that leads to one becomes that file."""
    mode = source.stat().st_mode
    if not stat.S_ISREG(mode):
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)
    target.chmod(0o755 if mode & 0o111 else 0o644)


def _elves(prefix: Path) -> Iterator[tuple[Path, bytes, Elf]]:
    for relative in walk_files(prefix):
        path = prefix / relative
        if path.is_symlink() or path.suffix == ".py":
            continue
        data = path.read_bytes()
        if is_elf(data):
            try:
                yield path, data, read_elf(data)
            except ValueError as error:
                message = f"{relative} of the interpreter cannot be read: {error}"
                raise LockError(message, hint=_HINT) from error


def _bring_libraries(prefix: Path) -> list[str]:
    """Copy the libraries of the system that modules need, and tell all where they are."""
    library = prefix / "lib"
    elves = list(_elves(prefix))
    relocatable = [elf for path, _, elf in elves if path.parent.name == "bin" and elf.search]
    carried: list[str] = []
    if relocatable:
        for name, source in sorted(_system_libraries([path for path, *_ in elves]).items()):
            if not (library / name).exists():
                _put(source, library / name)
                (library / name).chmod(0o644)
                carried.append(name)
    for path, data, elf in elves:
        if elf.search is None:
            continue
        search = f"$ORIGIN/{os.path.relpath(library, path.parent)}".removesuffix("/.")
        mended = with_search(data, search)
        if mended is None:
            message = (
                f"{path.name} has no room for {search}, since it was installed at a short path"
            )
            raise LockError(message, hint=_HINT)
        path.write_bytes(mended)
    return carried


def _system_libraries(paths: list[Path]) -> dict[str, Path]:
    """Return where the loader finds what files need, all the way down."""
    ldd = process.require_tool("ldd", why="libraries are looked up", install="install libc-bin")
    done = process.run([ldd, *paths], env={"LC_ALL": "C", "PATH": "/usr/bin:/bin"}, timeout=120)
    return {
        name: Path(place)
        for name, place in _FOUND.findall(done.stdout)
        if not _C_LIBRARY.fullmatch(name) and not name.startswith("libpython")
    }


def _forget(base: Path, prefix: Path) -> None:
    """Replace the place where Python was installed: it says who installed it."""
    if str(base) in _SHARED_PLACES or len(str(base.parent)) < len(_PLACEHOLDER):
        return
    # Linkers let texts share their ends ("3.11.7" and ".../3.11.7"), so the last name stays.
    whole, parent, name = os.fsencode(base), os.fsencode(base.parent), os.fsencode(base.name)
    for relative in walk_files(prefix):
        path = prefix / relative
        if path.is_symlink():
            continue
        data = path.read_bytes()
        if whole not in data:
            continue
        new = _PLACEHOLDER.encode()
        if b"\0" in data:
            new = new.ljust(len(parent), b"/")
        path.write_bytes(data.replace(whole, new + b"/" + name))


def _needs(prefix: Path) -> _Needs:
    own = {path.name for path in (prefix / "lib").iterdir()}
    elves = [elf for _, _, elf in _elves(prefix)]
    machines = {elf.machine for elf in elves}
    if len(machines) != 1 or "" in machines:
        raise LockError("the interpreter is not of one known processor", hint=_HINT)
    versions = [elf.glibc for elf in elves if elf.glibc is not None]
    if not versions:
        raise LockError("the interpreter does not use the GNU C library", hint=_HINT)
    needed = {name for elf in elves for name in elf.needed} - own
    return _Needs(machines.pop(), max(versions), frozenset(needed))


def _try(target: Path, found: RuntimeDescription, interpreter: Interpreter) -> None:
    """Start the copy in an empty environment, load all its modules, see where they come from."""
    program = target / found.executable
    done = process.run([program, "-I", "-B", "-c", _TRIAL], env={}, cwd=target, timeout=120)
    facts = json.loads(done.stdout) if done.ok else {}
    if facts.get("version") != interpreter.version:
        message = f"a copy of {interpreter.path} does not start: {done.last_error(1)}"
        raise LockError(message, hint=_HINT)
    root = target.resolve()
    foreign = [
        place
        for place in facts["mapped"]
        if not Path(place).is_relative_to(root) and not _is_of_the_system(place, found)
    ]
    if Path(facts["base"]).resolve() != root / PREFIX or foreign:
        message = f"a copy of {interpreter.path} still uses {', '.join(foreign) or facts['base']}"
        raise LockError(message, hint=_HINT)


def _is_of_the_system(place: str, found: RuntimeDescription) -> bool:
    """Tell whether a library is one that is said to be needed; its file may name a release."""
    name = Path(place).name
    needed = any(name == one or name.startswith(f"{one}.") for one in found.libraries)
    return needed or _C_LIBRARY.fullmatch(name) is not None
