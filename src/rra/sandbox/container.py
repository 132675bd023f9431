"""Isolation in the image of an environment: podman or docker, nothing but what is mounted.

The image is the machine that the launcher sees. It is read-only and without network; folders are
mounted at the places that they have outside, so a path means the same on both sides. The engine
starts the container outside our own process tree, so the container has a name by which it is ended,
and what it used is asked for inside.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shlex
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

from rra._base import proctree
from rra.errors import UnavailableError
from rra.sandbox.engine import Engine, find_engine
from rra.sandbox.limits import Limits, Resource
from rra.sandbox.protocol import Level, Usage, View

_USAGE = ".rra-usage"
_USAGE_BYTES = 4096
_END_SECONDS = 60.0
_PEAKS = ("/sys/fs/cgroup/memory.peak", "/sys/fs/cgroup/memory/memory.max_usage_in_bytes")
_KILLS = ("/sys/fs/cgroup/memory.events", "/sys/fs/cgroup/memory/memory.oom_control")
_REFUSALS = ("/sys/fs/cgroup/pids.events", "/sys/fs/cgroup/pids/pids.events")
_FIRST_PROCESS = """\
"$@"; status=$?
{{ times; for file in {peaks}; do
  if [ -r "$file" ]; then read -r bytes <"$file" && echo "peak $bytes"; fi
done; for file in {counts}; do
  if [ -r "$file" ]; then while read -r line; do echo "${{file##*/}} $line"; done <"$file"; fi
done; }} >{usage} 2>/dev/null
exit $status"""
"""Parent of the launcher: the engine's client is our child, the launcher is not."""
_MINUTES = re.compile(r"(\d+)m([\d.]+)s")
_OPTIONS: dict[Resource, tuple[str, str]] = {
    "memory": ("memory", "--memory={}"),
    "processes": ("pids", "--pids-limit={}"),
    "cpu": ("cpu", "--cpus={}"),
}
"""Controller and option of the engines for each limit."""
_SHARED_MEMORY = "--shm-size=1g"
"""What libraries that share arrays between processes need; the engines' default is 64 MiB."""


class ContainerSandbox:
    """Runs a launcher in a container of one image."""

    def __init__(self, engine: Engine, image: str) -> None:
        """Enter this image with this engine."""
        self._engine = engine
        self._image = image

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
        """Which limits the engine can set here."""
        able = self._engine.controllers()
        return tuple(word for word, (name, _) in _OPTIONS.items() if name in able)

    @property
    def programs(self) -> int:
        """How many programs are executed before the launcher: none of them can be followed."""
        return 0

    @property
    def followed(self) -> bool:
        """Whether a tracer outside sees the programs inside: the engine starts them elsewhere."""
        return False

    @property
    def descends(self) -> bool:
        """Whether all that runs inside descends from the wrapped command: the engine starts it."""
        return False

    @property
    def refusal(self) -> int:
        """Exit status by which podman and docker say that they could not start a container."""
        return 125

    def temporary_path(self, temporary: Path) -> Path:  # noqa: ARG002 - the same for each
        """Return where the launcher finds the folder that we know as `temporary`."""
        return Path("/tmp")  # noqa: S108 - the container's own

    def wrap(self, argv: Sequence[str], view: View) -> list[str]:
        """Return the command that runs `argv` in a container with this view."""
        inside = self.temporary_path(view.temporary) / _USAGE
        script = _FIRST_PROCESS.format(
            peaks=" ".join(_PEAKS),
            counts=" ".join((*_KILLS, *_REFUSALS)),
            usage=shlex.quote(str(inside)),
        )
        return [
            *("/usr/bin/env", "-i", *self._engine.settings()),
            *(str(self._engine.program), "run", "--rm", "--name", container_name(view.temporary)),
            *self._limits(view),
            *self._most(view.limits),
            *(f"--device={device}" for device in view.accelerators()),
            *(f"--env={name}={value}" for name, value in sorted(view.env.items())),
            *self._mounts(view),
            *("--workdir", str(view.cwd), "--entrypoint", "", self._image),
            *("/bin/sh", "-c", script, "launcher", *argv),
        ]

    def _mounts(self, view: View) -> Iterator[str]:
        """Mount what the view names; the engine puts outer folders before inner ones."""
        yield bind_option(view.temporary, self.temporary_path(view.temporary), writable=True)
        for path in dict.fromkeys(view.read_only):
            if path.exists() and path not in view.writable:
                yield bind_option(path, path, writable=False)
        for path in dict.fromkeys(view.writable):
            yield bind_option(path, path, writable=True)
        # podman would fill such a folder with what it hides.
        empty = ["notmpcopyup"] if self._engine.name == "podman" else []
        for path in view.hidden:
            if path.is_dir():
                yield f"--mount={_fields('type=tmpfs', f'destination={path}', *empty)}"
            elif path.exists():
                yield bind_option(Path("/dev/null"), path, writable=False)

    def _limits(self, view: View) -> Iterator[str]:
        yield from ("--pull=never", "--log-driver=none", "--read-only", _SHARED_MEMORY)
        yield f"--network={'host' if view.network else 'none'}"
        yield from ("--cap-drop=all", "--security-opt=no-new-privileges")
        if self._engine.name == "podman":
            # Root of a container of ours is whoever calls; labels would hide what is mounted.
            yield from ("--user=0:0", "--security-opt=label=disable", "--http-proxy=false")
        else:
            yield f"--user={os.getuid()}:{os.getgid()}"

    def _most(self, limits: Limits) -> Iterator[str]:
        """Limit what all processes of the container use together."""
        held = limits.held(self.limited)
        yield from (_OPTIONS[word][1].format(held[word]) for word in self.limited if word in held)
        if "memory" in held:
            yield f"--memory-swap={held['memory']}"  # the sum of both: no swap

    def ask_to_end(self, view: View, pid: int, seconds: float) -> None:
        """Ask every process inside to end; the engine's client ends when the first one does."""
        end = ["exec", container_name(view.temporary), "/bin/sh", "-c", "kill -TERM -1"]
        with contextlib.suppress(UnavailableError):
            self._engine.run(end, timeout=seconds)
        proctree.wait_gone(pid, seconds)

    def finish(self, view: View) -> Usage | None:
        """End what the container may still run, and return what the launcher used, if it says."""
        command = ["rm", "--force", *self._engine.at_once, container_name(view.temporary)]
        self._engine.run(command, timeout=_END_SECONDS)
        text = read_plain(view.temporary / _USAGE)
        times = [int(m) * 60 + float(s) for m, s in _MINUTES.findall(text)]
        if len(times) != 4:
            return None
        return Usage(
            cpu_seconds=sum(times[2:]),
            peak_bytes=count_of(text, "peak"),
            memory_kills=count_of(text, r"memory\S* oom_kill") or 0,
            refused_processes=count_of(text, r"pids\S* max") or 0,
        )


def end_container(temporary: Path) -> bool:
    """End the container of a run whose recorder was ended; tell whether it was there.

    Args:
        temporary: The run's folder for temporary files, from which the container has its name.
    """
    try:
        engine = find_engine()
    except UnavailableError:
        return False
    name = container_name(temporary)
    looking = ["container", "inspect", "--format", "{{.Id}}", name]
    if not engine.run(looking, timeout=_END_SECONDS).ok:
        return False
    engine.run(["rm", "--force", *engine.at_once, name], timeout=_END_SECONDS)
    return True


def count_of(text: str, name: str) -> int | None:
    """Return the number behind a name, given as an expression, at the start of a line."""
    found = re.search(rf"^{name} (\d{{1,18}})$", text, re.MULTILINE)
    return int(found[1]) if found else None


def container_name(temporary: Path) -> str:
    """Return the name of a run's container: its folder for temporary files is its own."""
    return f"rra-{hashlib.sha256(os.fsencode(temporary)).hexdigest()[:20]}"


def read_plain(path: Path) -> str:
    """Read a small file; nothing where it is missing or the launcher has put something else."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return ""
    with open(handle, "rb") as file:  # noqa: PTH123 - a handle that is open
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            return ""
        return file.read(_USAGE_BYTES).decode("ascii", "replace")


def bind_option(source: Path, target: Path, *, writable: bool) -> str:
    """Return the option that mounts a folder or file, as podman, docker and Apptainer read it."""
    fields = ["type=bind", f"source={source}", f"destination={target}"]
    return f"--mount={_fields(*fields, *([] if writable else ['readonly']))}"


def _fields(*fields: str) -> str:
    """Write fields as the engines read them: separated by commas, quoted where one has a comma."""
    return ",".join(
        '"' + field.replace('"', '""') + '"' if re.search(r'[",\n]', field) else field
        for field in fields
    )
