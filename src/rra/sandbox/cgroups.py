"""Control groups of Linux: limits on all processes of a run together, and what these used.

Version 1, version 2, and both at once (hybrid) are written to as plain files. A group is made
below the one that this process is in; under version 2, where a group that holds processes may
have no limited ones below it, beside that one if whoever made it allows it. Nothing that others
have set is changed, and what cannot be set is left out: `ControlGroup.limited` says what was.

Source: Linux kernel documentation, admin-guide/cgroup-v1 and admin-guide/cgroup-v2.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import os
import secrets
import signal
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath

from rra._base import clock, process, proctree
from rra.errors import RraError
from rra.sandbox.limits import Limits, Resource
from rra.sandbox.protocol import Availability, Usage

_PROC = Path("/proc")
_PREFIX = "rra-"
_STALE_SECONDS = 60.0
_ROUNDS, _PAUSE_SECONDS = 50, 0.02
_PERIOD_US = 100_000
_LEAST_QUOTA_US = 1_000
_TRIAL_SECONDS = 20.0
_MEMBERS = "cgroup.procs"
_CONTROLLERS: dict[Resource, str] = {"memory": "memory", "processes": "pids", "cpu": "cpu"}
_JOIN = """\
count=$1; shift
while [ "$count" -gt 0 ]; do
  echo 0 >"$1" || exit 125
  shift; count=$((count - 1))
done
exec "$@"
"""
"""Writing 0 moves whoever writes; what it then executes, and all that starts, stays there."""


@dataclasses.dataclass(frozen=True, slots=True)
class Place:
    """The group of one controller below which groups can be made.

    Attributes:
        folder: Its folder.
        version: Version of the interface, 1 or 2.
    """

    folder: Path
    version: int


def find_places(proc: Path = _PROC) -> dict[str, Place]:
    """Return where groups can be made, by controller (``memory``, ``pids``, ``cpu``, ``cpuacct``).

    Args:
        proc: Where the kernel shows processes.
    """
    own = dict(_own_groups(proc))
    found: dict[str, Place] = {}
    unified: Path | None = None
    for root, mount, kind, options in _mounts(proc):
        names = {"": own.get("")} if kind == "cgroup2" else {one: own.get(one) for one in options}
        for name, group in names.items():
            folder = _folder(mount, root, group)
            if folder is None:
                continue
            if kind == "cgroup2":
                unified = _able(folder, mount)
            elif os.access(folder, os.W_OK | os.X_OK):
                found.setdefault(name, Place(folder, 1))
    if unified is not None:
        for name in _words(unified / "cgroup.subtree_control"):
            found.setdefault(name, Place(unified, 2))
        if "cpu" in found and found["cpu"].version == 2:
            found.setdefault("cpuacct", found["cpu"])
    return found


def _own_groups(proc: Path) -> Iterator[tuple[str, str]]:
    """Yield controller and group of this process; the controller of version 2 is empty."""
    for line in _lines(proc / "self" / "cgroup"):
        _, controllers, group = [*line.split(":", 2), "", ""][:3]
        yield from ((name, group) for name in controllers.split(","))


def _mounts(proc: Path) -> Iterator[tuple[str, Path, str, list[str]]]:
    """Yield the mounted hierarchies: root, place, kind, options."""
    for line in _lines(proc / "self" / "mountinfo"):
        before, _, after = line.partition(" - ")
        fields, kind = before.split(), after.split()
        if len(fields) > 4 and len(kind) > 2 and kind[0] in {"cgroup", "cgroup2"}:
            yield fields[3], Path(fields[4]), kind[0], kind[2].split(",")


def _folder(mount: Path, root: str, group: str | None) -> Path | None:
    """Return the folder of a group in a hierarchy of which a part may be mounted."""
    if group is None or not PurePosixPath(group).is_relative_to(root):
        return None
    folder = mount / PurePosixPath(group).relative_to(root)
    return folder if folder.is_dir() else None


def _able(folder: Path, mount: Path) -> Path | None:
    """Return the group of version 2 that hands controllers on: our own one, or that above it."""
    for one in (folder, folder.parent):
        if one != mount and not one.is_relative_to(mount):
            return None
        if _words(one / "cgroup.subtree_control") and os.access(one, os.W_OK | os.X_OK):
            return one
    return None


class ControlGroup:
    """The group of one run, in every hierarchy where it has something to limit or to count."""

    def __init__(self, limits: Limits, places: Mapping[str, Place]) -> None:
        """Make it and set its limits, as far as that is possible here."""
        self._name = f"{_PREFIX}{os.getpid()}-{secrets.token_hex(6)}"
        self._folders: dict[str, Place] = {}
        self.limited: tuple[Resource, ...] = ()
        for controller in (*_CONTROLLERS.values(), "cpuacct"):
            place = places.get(controller)
            if place is None:
                continue
            _sweep(place.folder)
            with contextlib.suppress(OSError):
                (place.folder / self._name).mkdir(exist_ok=True)
                self._folders[controller] = Place(place.folder / self._name, place.version)
        self.limited = tuple(one for one in limits.named() if self._limit(one, limits))

    def _limit(self, resource: Resource, limits: Limits) -> bool:
        """Set one limit; tell whether it is set."""
        place = self._folders.get(_CONTROLLERS[resource])
        if place is None:
            return False
        try:
            for name, value in _settings(resource, limits, place.version):
                (place.folder / name).write_text(value, "ascii")
        except OSError:
            return False
        for name, value in _wishes(resource, limits, place.version):
            if (place.folder / name).exists():
                with contextlib.suppress(OSError):
                    (place.folder / name).write_text(value, "ascii")
        return True

    @property
    def members(self) -> list[Path]:
        """Files by which a process joins."""
        folders = dict.fromkeys(place.folder for place in self._folders.values())
        return [folder / _MEMBERS for folder in folders]

    def joined(self, argv: list[str]) -> list[str]:
        """Return the command that joins the group and then becomes `argv`."""
        members = self.members
        if not members:
            return argv
        return ["/bin/sh", "-c", _JOIN, "join", str(len(members)), *map(str, members), *argv]

    def used(self) -> Usage:
        """Return what its processes did so far."""
        memory, processes = self._folders.get("memory"), self._folders.get("pids")
        peak, kills = None, 0
        if memory is not None and memory.version == 1:
            peak = _number(memory.folder / "memory.max_usage_in_bytes")
            kills = _field(memory.folder / "memory.oom_control", "oom_kill")
        elif memory is not None:
            peak = _number(memory.folder / "memory.peak")
            kills = _field(memory.folder / "memory.events", "oom_kill")
        refused = _field(processes.folder / "pids.events", "max") if processes else 0
        return Usage(
            cpu_seconds=self._cpu_seconds(),
            peak_bytes=peak,
            memory_kills=kills,
            refused_processes=refused,
        )

    def _cpu_seconds(self) -> float | None:
        place = self._folders.get("cpuacct")
        if place is None:
            return None
        if place.version == 1:
            used = _number(place.folder / "cpuacct.usage")
            return None if used is None else used / 1e9
        return _field(place.folder / "cpu.stat", "usage_usec") / 1e6

    def end_all(self) -> int:
        """Kill every process in it until none is left; return how many there were.

        None of them can start another meanwhile, where processes are limited.
        """
        if (place := self._folders.get("pids")) is not None:
            with contextlib.suppress(OSError):
                (place.folder / "pids.max").write_text("0", "ascii")
        seen: set[int] = set()
        for _ in range(_ROUNDS):
            found = self.processes()
            if not found:
                break
            seen |= found
            for pid in found:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
            for pid in found:
                proctree.wait_gone(pid, 1.0)
        return len(seen)

    def processes(self) -> set[int]:
        """Return the processes in it and in groups that these made below it."""
        files = [
            file
            for member in self.members
            for file in (member, *member.parent.glob(f"**/*/{_MEMBERS}"))
        ]
        return {int(pid) for file in files for pid in _words(file) if pid.isdigit() and int(pid)}

    def remove(self) -> None:
        """Remove it; nothing may be running in it."""
        for member in self.members:
            _remove(member.parent)


def _settings(resource: Resource, limits: Limits, version: int) -> list[tuple[str, str]]:
    """Return the files and values that set a limit."""
    if resource == "memory":
        return [("memory.limit_in_bytes" if version == 1 else "memory.max", str(limits.memory))]
    if resource == "processes":
        return [("pids.max", str(limits.processes))]
    quota = str(max(_LEAST_QUOTA_US, int((limits.cpu or 0) * _PERIOD_US)))
    if version == 1:
        return [("cpu.cfs_period_us", str(_PERIOD_US)), ("cpu.cfs_quota_us", quota)]
    return [("cpu.max", f"{quota} {_PERIOD_US}")]


def _wishes(resource: Resource, limits: Limits, version: int) -> list[tuple[str, str]]:
    """Return files and values that make a limit stricter where the kernel has them: no swap."""
    if resource != "memory":
        return []
    if version == 1:
        return [("memory.memsw.limit_in_bytes", str(limits.memory))]
    return [("memory.swap.max", "0")]


def _sweep(folder: Path) -> None:
    """Remove groups that killed processes of ours left: empty, and made by a process that is gone.

    They have to be a minute old, too: the numbers of processes differ between namespaces.
    """
    oldest = clock.now().timestamp() - _STALE_SECONDS
    for left in folder.glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError):
            owner = left.name.split("-")[1]
            alive = owner.isdigit() and (_PROC / owner).exists()
            if not alive and left.stat().st_mtime < oldest and not _words(left / _MEMBERS):
                left.rmdir()


def _remove(folder: Path) -> None:
    """Remove a group with those below it; the kernel needs a moment after their last process."""
    for inner in sorted(folder.glob("**/"), key=lambda one: -len(one.parts)):
        for _ in range(_ROUNDS):
            try:
                inner.rmdir()
            except FileNotFoundError:
                break
            except OSError:
                clock.sleep(_PAUSE_SECONDS)
            else:
                break


def _lines(path: Path) -> list[str]:
    """Return the lines of a file; none where it cannot be read."""
    try:
        return path.read_text("utf-8", "surrogateescape").splitlines()
    except OSError:
        return []


def _words(path: Path) -> list[str]:
    return [word for line in _lines(path) for word in line.split()]


def _number(path: Path) -> int | None:
    words = _words(path)
    return int(words[0]) if words and words[0].isdigit() else None


def _field(path: Path, name: str) -> int:
    """Return the number behind a name in a file of names and numbers; 0 where it is not there."""
    pairs = (line.split() for line in _lines(path))
    return next((int(p[1]) for p in pairs if len(p) == 2 and p[0] == name and p[1].isdigit()), 0)


def memory_of_machine() -> int:
    """Return the bytes of memory that this process and its children may use at most together."""
    found = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    place = find_places().get("memory")
    if place is not None and place.version == 1:
        found.append(_field(place.folder / "memory.stat", "hierarchical_memory_limit"))
    elif place is not None:
        above = [place.folder, *place.folder.parents]
        found += [_number(one / "memory.max") or 0 for one in above]
    return min(one for one in found if one > 0)


def able_places() -> dict[str, Place]:
    """Return where this process can make groups, found by running a program in one."""
    return dict(_trial()[0])


@functools.cache
def _trial() -> tuple[dict[str, Place], str]:
    """Try each controller alone; return those that a program can join, and why others not."""
    able: dict[str, Place] = {}
    why = "no control groups are mounted"
    for controller, place in find_places().items():
        group = ControlGroup(Limits(), {controller: place})
        try:
            done = process.run(group.joined(["/bin/sh", "-c", ":"]), timeout=_TRIAL_SECONDS)
        except RraError as error:
            why = error.message
            continue
        finally:
            group.remove()
        if group.members and done.ok:
            able[controller] = place
        else:
            why = done.last_error(1) or "groups cannot be made or joined"
    return able, why


def try_groups() -> Availability:
    """Say which limits can be set for all processes of a run together."""
    able, why = _trial()
    words = [word for word, name in _CONTROLLERS.items() if name in able]
    missing = [word for word in _CONTROLLERS if word not in words]
    if not words:
        return Availability("limits", works=False, why=why)
    versions = sorted({able[_CONTROLLERS[word]].version for word in words})
    said = " and ".join(f"v{one}" for one in versions)
    text = f"control groups {said}: {', '.join(words)}"
    lacking = f"; not {', '.join(missing)}" if missing else ""
    return Availability("limits", works=True, why=text + lacking)
