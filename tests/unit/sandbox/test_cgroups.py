"""Control groups: version 1 for real where this machine lets us, version 2 in a faked tree.

The faked tree has the files of version 2 as plain ones. It shows what is written where; that the
kernel then holds a program to it is not shown here.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from rra.sandbox import Limits, memory_of_machine, try_groups
from rra.sandbox import cgroups as module
from rra.sandbox.cgroups import ControlGroup, able_places, find_places
from tests.support.needs import needs

if TYPE_CHECKING:
    import pytest

MIB = 1 << 20
LIMITS = Limits(memory=48 * MIB, processes=20, cpu=0.5)


def inside(group: ControlGroup, script: str) -> subprocess.CompletedProcess[str]:
    command = group.joined(["/bin/bash", "-c", script])
    return subprocess.run(command, capture_output=True, text=True, check=False)


def fake(root: Path, mounts: dict[str, tuple[str, str]], groups: str) -> Path:
    """Write what the kernel says of mounted hierarchies and of our own groups."""
    own = root / "proc" / "self"
    own.mkdir(parents=True)
    (own / "cgroup").write_text(groups)
    lines = [
        f"{number} 1 0:1 / {root / name} rw - {kind} none {options}\n"
        for number, (name, (kind, options)) in enumerate(mounts.items())
    ]
    (own / "mountinfo").write_text("".join(lines))
    return root / "proc"


def unified(root: Path, below: str, *, handed_on: str = "cpu memory pids") -> Path:
    """Write a tree of version 2 with us in the group `below`, which hands nothing on."""
    folder = root / "unified" / below
    folder.mkdir(parents=True)
    for one, words in ((folder, ""), (folder.parent, handed_on)):
        (one / "cgroup.subtree_control").write_text(words)
    return fake(root, {"unified": ("cgroup2", "rw")}, f"0::/{below}\n")


def test_under_version_2_the_group_is_made_beside_ours(tmp_path: Path) -> None:
    found = find_places(unified(tmp_path, "user/app/session"))
    assert {name: place.folder for name, place in found.items()} == dict.fromkeys(
        ("cpu", "memory", "pids", "cpuacct"), tmp_path / "unified/user/app"
    )
    group = ControlGroup(LIMITS, found)
    (folder,) = {member.parent for member in group.members}
    assert folder.parent == tmp_path / "unified/user/app"
    assert group.limited == ("memory", "processes", "cpu")
    assert (folder / "memory.max").read_text() == str(48 * MIB)
    assert (folder / "pids.max").read_text() == "20"
    assert (folder / "cpu.max").read_text() == "50000 100000"


def test_under_version_2_what_is_counted_is_read(tmp_path: Path) -> None:
    group = ControlGroup(LIMITS, find_places(unified(tmp_path, "app/session")))
    folder = group.members[0].parent
    (folder / "memory.events").write_text("low 0\nhigh 0\nmax 7\noom 1\noom_kill 2\n")
    (folder / "memory.peak").write_text("123456\n")
    (folder / "pids.events").write_text("max 5\n")
    (folder / "cpu.stat").write_text("usage_usec 2500000\nuser_usec 1\n")
    used = group.used()
    assert (used.memory_kills, used.peak_bytes) == (2, 123456)
    assert (used.refused_processes, used.cpu_seconds) == (5, 2.5)


def test_under_version_2_a_controller_that_is_not_handed_on_limits_nothing(
    tmp_path: Path,
) -> None:
    places = find_places(unified(tmp_path, "app/session", handed_on="pids"))
    assert ControlGroup(LIMITS, places).limited == ("processes",)


def test_a_group_that_holds_us_and_hands_nothing_on_gives_no_place(tmp_path: Path) -> None:
    assert find_places(unified(tmp_path, "session", handed_on="")) == {}
    assert ControlGroup(LIMITS, {}).limited == ()
    assert ControlGroup(LIMITS, {}).joined(["true"]) == ["true"]


def test_both_versions_at_once_are_used_each_for_its_own(tmp_path: Path) -> None:
    for name in ("memory/ours", "both/ours", "unified/app/ours"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "unified/app/cgroup.subtree_control").write_text("pids")
    mounts = {
        "memory": ("cgroup", "rw,memory"),
        "both": ("cgroup", "rw,cpu,cpuacct"),
        "unified": ("cgroup2", "rw"),
    }
    proc = fake(tmp_path, mounts, "3:memory:/ours\n2:cpu,cpuacct:/ours\n0::/app/ours\n")
    found = find_places(proc)
    assert {name: place.version for name, place in found.items()} == {
        "memory": 1,
        "cpu": 1,
        "cpuacct": 1,
        "pids": 2,
    }
    group = ControlGroup(LIMITS, found)
    assert group.limited == ("memory", "processes", "cpu")
    assert len(group.members) == 3
    folder = next((tmp_path / "both/ours").glob("rra-*"))
    assert (folder / "cpu.cfs_quota_us").read_text() == "50000"


def test_a_group_outside_of_what_is_mounted_gives_no_place(tmp_path: Path) -> None:
    proc = fake(tmp_path, {"memory": ("cgroup", "rw,memory")}, "3:memory:/../elsewhere\n")
    assert find_places(proc) == {}
    assert find_places(tmp_path / "no-such-place") == {}


def test_old_empty_groups_are_swept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    places = find_places(unified(tmp_path, "app/session"))
    left, ours = (tmp_path / f"unified/app/rra-{pid}-00" for pid in (99999999, os.getpid()))
    left.mkdir()
    ours.mkdir()
    ControlGroup(Limits(), places)
    assert left.is_dir()
    monkeypatch.setattr(module, "_STALE_SECONDS", -60.0)
    ControlGroup(Limits(), places)
    assert not left.exists()
    assert ours.is_dir()


def test_the_machine_has_memory() -> None:
    assert memory_of_machine() > 64 * MIB


@needs("control-groups")
def test_a_program_that_takes_too_much_memory_is_ended_and_counted() -> None:
    group = ControlGroup(LIMITS, able_places())
    try:
        done = inside(group, "python3 -c 'b = bytearray(1 << 30)'; exit $?")
        used = group.used()
    finally:
        group.remove()
    assert done.returncode == 137
    assert used.memory_kills == 1
    assert used.peak_bytes is not None
    assert used.peak_bytes <= 48 * MIB
    assert not group.members[0].parent.exists()


@needs("control-groups")
def test_processes_beyond_the_limit_are_refused_and_counted() -> None:
    group = ControlGroup(LIMITS, able_places())
    script = "import os, time\ntry:\n  while True: os.fork() or time.sleep(600)\nexcept OSError: 0"
    try:
        inside(group, f"python3 -c '{script}' >/dev/null 2>&1")
        used, running = group.used(), group.processes()
        ended = group.end_all()
        assert group.processes() == set()
    finally:
        group.remove()
    assert used.refused_processes > 0
    assert 0 < len(running) <= 20
    assert ended >= len(running)


@needs("control-groups")
def test_time_is_that_of_all_processes_also_of_those_nobody_waited_for() -> None:
    group = ControlGroup(Limits(), able_places())
    try:
        inside(group, "python3 -c 'sum(range(3_000_000))' & disown; sleep 0.5")
        group.end_all()
        used = group.used().cpu_seconds
    finally:
        group.remove()
    assert used is not None
    assert used > 0.01


@needs("control-groups")
def test_the_limits_that_work_are_named() -> None:
    found = try_groups()
    assert found.why.startswith("control groups v")
    assert "memory, processes" in found.why


def test_without_control_groups_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_trial", lambda: ({}, "no control groups are mounted"))
    assert (try_groups().works, try_groups().why) == (False, "no control groups are mounted")
