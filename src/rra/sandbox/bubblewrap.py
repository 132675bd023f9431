"""Isolation by bubblewrap: namespaces, an allow-list of files, no network."""

from __future__ import annotations

import functools
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from rra._base import process, proctree
from rra.errors import RraError
from rra.sandbox.limits import Resource
from rra.sandbox.protocol import Availability, Level, View

SYSTEM_PLACES = (
    *("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt"),
    *("/nix/store", "/gnu/store"),
    # Number of processors and memory, which numeric libraries ask for.
    *("/sys/devices", "/sys/fs/cgroup"),
)
"""Folders of the system that a launcher may read, where they exist."""

_FIRST_PROCESS = ("/bin/sh", "-c", '"$@"; exit $?', "launcher")
"""Parent of the launcher in its own process namespace.

bubblewrap's own reaper would do, but bubblewrap 0.8 ends without waiting for it, so the time and
memory that were used never reach us. When this process ends, the kernel ends all others.
"""

_RESOLVER = Path("/etc/resolv.conf")
_TRIAL_SECONDS = 20.0


class BubblewrapSandbox:
    """Runs a launcher in namespaces of its own that hold only what it may see."""

    def __init__(self, program: Path) -> None:
        """Use the ``bwrap`` at this path."""
        self._program = program

    @property
    def name(self) -> Level:
        """Word that the execution record uses."""
        return "bwrap"

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
        """How many programs the wrapped command executes before the launcher."""
        return 2

    @property
    def followed(self) -> bool:
        """Whether a tracer outside sees the programs inside."""
        return True

    @property
    def descends(self) -> bool:
        """Whether all that runs inside descends from the wrapped command."""
        return True

    @property
    def refusal(self) -> int | None:
        """Exit status by which it says that it could not begin: the trace says so."""
        return None

    def temporary_path(self, temporary: Path) -> Path:  # noqa: ARG002 - the same for each
        """Return where the launcher finds the folder that we know as `temporary`."""
        return Path("/tmp")  # noqa: S108 - the sandbox's own

    def wrap(self, argv: Sequence[str], view: View) -> list[str]:
        """Return the command that runs `argv` in this view."""
        command = [str(self._program), "--unshare-all", "--die-with-parent", "--new-session"]
        command += ["--as-pid-1", "--cap-drop", "ALL", "--clearenv"]
        if view.network:
            command.append("--share-net")
        for name, value in sorted(view.env.items()):
            command += ["--setenv", name, value]
        command += _system()
        command += ["--proc", "/proc", "--dev", "/dev"]
        for device in map(str, view.accelerators()):
            command += ["--dev-bind", device, device]
        command += ["--bind", str(view.temporary), str(self.temporary_path(view.temporary))]
        command += _places(view)
        command += ["--remount-ro", "/", "--chdir", str(view.cwd), "--"]
        return [*command, *_FIRST_PROCESS, *argv]

    def ask_to_end(self, view: View, pid: int, seconds: float) -> None:  # noqa: ARG002 - as the others
        """Ask every process inside to end; bubblewrap itself would only end with all of them."""
        proctree.ask_inside(pid, seconds)

    def finish(self, view: View) -> None:
        """Do nothing: the launcher is a child of ours, which is ended and measured as such."""


def _system() -> Iterator[str]:
    for name in SYSTEM_PLACES:
        place = Path(name)
        if place.is_symlink():
            yield from ("--symlink", str(place.readlink()), name)
        elif place.exists():
            yield from ("--ro-bind", name, name)


def _places(view: View) -> Iterator[str]:
    """Mount outer folders before inner ones, so that the inner ones decide."""
    read_only = [*view.read_only]
    if view.network and _RESOLVER.resolve() != _RESOLVER:
        read_only.append(_RESOLVER.resolve())
    mounts = [
        *((path, "--ro-bind") for path in read_only if path.exists()),
        *((path, "--hide") for path in view.hidden if path.exists()),
        *((path, "--bind") for path in view.writable),
    ]
    for path, kind in sorted(mounts, key=lambda mount: len(mount[0].parts)):
        if kind != "--hide":
            yield from (kind, str(path), str(path))
        elif path.is_dir():
            yield from ("--tmpfs", str(path))
        else:
            yield from ("--ro-bind", "/dev/null", str(path))


def try_bubblewrap() -> Availability:
    """Run ``true`` in a sandbox and say whether that works."""
    program = process.find_tool("bwrap")
    if program is None:
        return Availability("bwrap", works=False, why="bwrap is not on PATH")
    return _trial(program)


@functools.cache
def _trial(program: Path) -> Availability:
    with tempfile.TemporaryDirectory(prefix="rra-trial-") as name:
        folder = Path(name)
        view = View(writable=[folder], temporary=folder, cwd=folder, env={})
        command = BubblewrapSandbox(program).wrap(["/usr/bin/env", "true"], view)
        try:
            done = process.run(command, timeout=_TRIAL_SECONDS)
            version = process.run([program, "--version"], timeout=_TRIAL_SECONDS).stdout.strip()
        except RraError as error:
            return Availability("bwrap", works=False, why=error.message)
    why = version if done.ok else f"{version}: {done.last_error(1) or done.returncode}"
    return Availability("bwrap", works=done.ok, why=why)
