"""Isolation by Apptainer, or Singularity before it: what clusters have in place of podman.

It enters an image that is one file, or a bare folder where the programs of this machine are shown,
so that it isolates every environment. Its processes are our own descendants, so a control group
holds them and nothing of them is out of reach. Options are those of Apptainer 1.1 and later.
"""

from __future__ import annotations

import dataclasses
import functools
import os
import re
import shlex
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from rra._base import places, process, proctree
from rra._base.files import sha256_file, staged_directory
from rra._base.process import Completed
from rra.errors import RraError, ToolMissingError
from rra.sandbox.bubblewrap import SYSTEM_PLACES
from rra.sandbox.container import bind_option, count_of, read_plain
from rra.sandbox.limits import Resource
from rra.sandbox.protocol import Availability, Level, Usage, View

PROGRAMS = ("apptainer", "singularity")
"""Names of the program, in the order in which they are tried."""

SUFFIX = ".sif"
"""End of the name of an image that is one file."""

_TRIAL_SECONDS, _BUILD_SECONDS = 60.0, 3600.0
_OWN = ("HOME", "PATH", "USER", "XDG_RUNTIME_DIR")
_SETTINGS = ("CACHEDIR", "TMPDIR", "CONFIGDIR")
_CONTAINED = (
    *("--containall", "--cleanenv", "--no-home", "--no-privs", "--no-eval"),
    *("--no-mount", "home,cwd,tmp,hostfs,bind-paths"),
)
_CLOSED = ("--net", "--network", "none")
_USAGE, _EMPTY = ".rra-usage", ".rra-empty"
_FIRST_PROCESS = (
    'trap : TERM; "$@"; status=$?; {{ times; echo "status $status"; }} >{usage}; exit $status'
)
"""Parent of the launcher: what it leaves says that the launcher was started."""
_MINUTES = re.compile(r"(\d+)m([\d.]+)s")
_LIBRARIES = "/.singularity.d/libs"
"""Where ``--nv`` and ``--rocm`` put the libraries of the driver."""
_FOLDERS = ("dev", "proc", "sys", "tmp", "root", "etc", "usr")
_ETC = ("passwd", "group", "resolv.conf", "hosts")


@dataclasses.dataclass(frozen=True, slots=True)
class Apptainer:
    """The program that builds and enters images of one file."""

    name: str
    program: Path

    def settings(self) -> list[str]:
        """Return ``NAME=value`` of the variables of ours that it may have.

        What would mount more (``APPTAINER_BIND``) is not among them.
        """
        wanted = [*_OWN, *(f"{one.upper()}_{end}" for one in PROGRAMS for end in _SETTINGS)]
        return [f"{name}={os.environ[name]}" for name in wanted if name in os.environ]

    def run(self, arguments: Sequence[str | Path], *, timeout: float = _BUILD_SECONDS) -> Completed:
        """Run one command of it to its end."""
        own = ["/usr/bin/env", "-i", *self.settings(), str(self.program), "--silent"]
        return process.run([*own, *map(str, arguments)], timeout=timeout)

    def build(self, target: Path, source: str) -> Completed:
        """Make an image of one file from ``docker://…``, ``oci:…`` or a definition."""
        return self.run(["build", "--force", "--disable-cache", target, source])

    def image(self, name: str) -> str | None:
        """Return the digest of an image, or None where it is not there."""
        path = Path(name)
        return sha256_file(path) if path.is_file() else None

    def asked(self, image: str, script: str, *, timeout: float) -> Completed:
        """Have the shell of an image carry out a script, without network or any file of ours."""
        command = ["exec", *_CONTAINED, *_CLOSED, image, "/bin/sh", "-c", script]
        return self.run(command, timeout=timeout)

    def variables(self, image: str) -> dict[str, str]:
        """Return the variables that an image sets."""
        found = self.asked(image, "env -0", timeout=_TRIAL_SECONDS).stdout.split("\0")
        pairs = dict(entry.split("=", 1) for entry in found if "=" in entry)
        starts = tuple(f"{one.upper()}_" for one in PROGRAMS)
        given = {"HOME", "LANG", "LD_LIBRARY_PATH", "PROMPT_COMMAND", "PS1", "PWD", "SHLVL", "TERM"}
        return {
            name: value
            for name, value in pairs.items()
            if name not in given | {"_", "USER"} and not name.startswith(starts)
        }


def find_apptainer() -> Apptainer:
    """Return the program, found by entering a folder of this machine's programs with it.

    Raises:
        ToolMissingError: It is not here, or does not work; says why.
    """
    reasons = []
    for name in PROGRAMS:
        program = process.find_tool(name)
        if program is None:
            reasons.append(f"{name} is not on PATH")
            continue
        tool = Apptainer(name, program)
        fault = _fault(tool, tuple(tool.settings()))
        if fault is None:
            return tool
        reasons.append(f"{name} does not work: {fault}")
    message = f"apptainer does not work here: {'; '.join(reasons)}"
    raise ToolMissingError(message, hint="install apptainer, or ask whoever runs the cluster")


@functools.cache
def _fault(tool: Apptainer, settings: tuple[str, ...]) -> str | None:
    """Run a program in it, once for each program and settings; None where that works."""
    del settings  # part of the key alone: it reads them from our environment
    with tempfile.TemporaryDirectory(prefix="rra-trial-") as name:
        folder = Path(name)
        view = View(writable=[folder], temporary=folder, cwd=folder, env={})
        try:
            done = process.run(
                ApptainerSandbox(tool).wrap(["/usr/bin/env", "true"], view), timeout=_TRIAL_SECONDS
            )
        except RraError as error:
            return error.message
    return None if done.ok else done.last_error(1) or f"exit status {done.returncode}"


def try_apptainer() -> Availability:
    """Say whether a program runs in it here."""
    try:
        tool = find_apptainer()
    except ToolMissingError as error:
        return Availability("apptainer", works=False, why=error.message)
    version = tool.run(["--version"], timeout=_TRIAL_SECONDS).stdout.strip()
    return Availability("apptainer", works=True, why=version or tool.name)


def bare_root() -> Path:
    """Return a folder that is entered as an image: empty places, and this machine's links.

    Raises:
        StorageError: The cache cannot be written.
    """
    place = places.make_cache() / "apptainer" / "root"
    if not place.is_dir():
        with staged_directory(place) as staging:
            for name in _FOLDERS:
                (staging / name).mkdir()
            for name in _ETC:
                (staging / "etc" / name).touch()
            for system in map(Path, SYSTEM_PLACES):
                inside = staging / system.relative_to("/")
                if system.is_symlink() and not inside.exists():
                    inside.symlink_to(system.readlink())
                elif system.is_dir():
                    inside.mkdir(parents=True, exist_ok=True)
    return place


class ApptainerSandbox:
    """Runs a launcher in an image of one file, or among the programs of this machine."""

    def __init__(self, tool: Apptainer, image: str | None = None) -> None:
        """Enter this image; None for the programs of this machine."""
        self._tool, self._image = tool, image

    @property
    def name(self) -> Level:
        """Word that the execution record uses."""
        return "container"

    @property
    def gaps(self) -> tuple[str, ...]:
        """What it does not hold back: nothing that the view does not name."""
        return ()

    @property
    def limited(self) -> tuple[Resource, ...]:
        """What it holds the launcher to by itself: nothing, that is left to a control group."""
        return ()

    @property
    def programs(self) -> int:
        """How many programs are executed before the launcher: none of them is followed."""
        return 0

    @property
    def followed(self) -> bool:
        """Whether a tracer outside sees the programs inside: how many come before is not known."""
        return False

    @property
    def descends(self) -> bool:
        """Whether all that runs inside descends from the wrapped command."""
        return True

    @property
    def refusal(self) -> int:
        """Exit status by which it says that it could not begin."""
        return 255

    def temporary_path(self, temporary: Path) -> Path:  # noqa: ARG002 - the same for each
        """Return where the launcher finds the folder that we know as `temporary`."""
        return Path("/tmp")  # noqa: S108 - the sandbox's own

    def wrap(self, argv: Sequence[str], view: View) -> list[str]:
        """Return the command that runs `argv` in this view.

        The variables are set inside: Apptainer would evaluate them, and adds its own.
        """
        usage = self.temporary_path(view.temporary) / _USAGE
        script = _FIRST_PROCESS.format(usage=shlex.quote(str(usage)))
        return [
            *("/usr/bin/env", "-i", *self._tool.settings()),
            *(str(self._tool.program), "--silent", "exec", *_CONTAINED),
            *(() if view.network else _CLOSED),
            *_drivers(view),
            *self._mounts(view),
            *("--pwd", str(view.cwd), self._image or str(bare_root())),
            *("/bin/sh", "-c", script, "launcher"),
            *("env", "-i", *(f"{name}={value}" for name, value in _environment(view)), *argv),
        ]

    def _mounts(self, view: View) -> Iterator[str]:
        """Mount outer folders before inner ones, so that the inner ones decide."""
        yield bind_option(view.temporary, self.temporary_path(view.temporary), writable=True)
        system = () if self._image else map(Path, SYSTEM_PLACES)
        mounts: dict[Path, tuple[Path, bool]] = {}
        for path in (*system, *view.read_only):
            if path.exists() and not path.is_symlink():
                mounts[path] = (path, False)
        empty = view.temporary / _EMPTY
        for path in view.hidden:
            if path.is_dir():
                empty.mkdir(mode=0o555, exist_ok=True)
                mounts[path] = (empty, False)
            elif path.exists():
                mounts[path] = (Path("/dev/null"), False)
        mounts |= {path: (path, True) for path in view.writable}
        for path, (source, writable) in sorted(mounts.items(), key=lambda one: len(one[0].parts)):
            yield bind_option(source, path, writable=writable)

    def ask_to_end(self, view: View, pid: int, seconds: float) -> None:  # noqa: ARG002 - as the others
        """Ask every process inside to end."""
        proctree.ask_inside(pid, seconds)

    def finish(self, view: View) -> Usage | None:
        """Return what the launcher used; None where it was not started, or ended with all else."""
        text = read_plain(view.temporary / _USAGE)
        if count_of(text, "status") is None:
            return None
        times = [int(m) * 60 + float(s) for m, s in _MINUTES.findall(text)]
        return Usage(cpu_seconds=sum(times[2:]) if len(times) == 4 else None)


def _drivers(view: View) -> Iterator[str]:
    """Ask for the devices and the driver of accelerators, where there are any."""
    names = [device.name for device in view.accelerators()]
    if any(name.startswith("nvidia") for name in names):
        yield "--nv"
    if "kfd" in names:
        yield "--rocm"


def _environment(view: View) -> list[tuple[str, str]]:
    env = dict(view.env)
    if any(_drivers(view)):
        env["LD_LIBRARY_PATH"] = ":".join(filter(None, (env.get("LD_LIBRARY_PATH"), _LIBRARIES)))
    return sorted(env.items())
