"""How a run ended: its word, and what a person is told."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from rra._base.deep import shortened
from rra._base.process import Supervised
from rra._base.progress import size_text
from rra._base.termination import Termination
from rra.errors import StorageError
from rra.evidence import OUTPUTS, STDERR, STDOUT
from rra.launch import collect
from rra.launch.cells import told
from rra.launch.recorder import Level
from rra.launch.records import RunFacts
from rra.launch.trace import Observation, asks_for_names, stays_here
from rra.launch.workspace import Workspace
from rra.model import Launcher
from rra.sandbox import Usage

_NO_SPACE_LEFT = 1 << 20
_LEAST_SPACE = 64 << 20
_MESSAGE_LINES, _MESSAGE_BYTES = 12, 8192


def little_room(place: Path) -> bool:
    """Tell whether a disk is nearly full: what is left is needed to write down how a run ended."""
    status = os.statvfs(place)
    total = status.f_blocks * status.f_frsize
    return status.f_bavail * status.f_frsize < min(_LEAST_SPACE, total // 100)


def termination_of(
    done: Supervised,
    space: Workspace,
    *,
    used: Usage | None,
    seen: Observation,
    level: Level,
    started: bool,
    denied: bool,
    too_much: bool,
) -> Termination:
    """Return the word for the end of a run.

    Args:
        done: What became of its process.
        space: The folders of the run.
        used: What all its processes did together.
        seen: What the recorder saw.
        level: How closely it watched.
        started: Whether the launcher itself was started, as far as that can be told.
        denied: Whether it had no network.
        too_much: Whether its outputs are beyond a limit.
    """
    word = done.termination
    if word == "ok" and too_much:
        word = "disk"
    elif word in {"exit", "signal"}:
        status = os.statvfs(space.root)
        if used is not None and used.memory_kills:
            word = "memory"
        elif not started:
            word = "infrastructure"
        elif status.f_bavail * status.f_frsize < _NO_SPACE_LEFT:
            word = "disk"
        elif word == "exit" and denied and held_back(seen, level):
            word = "network-denied"
    return word


def held_back(seen: Observation, level: Level) -> list[str]:
    """Return the addresses that a run without a network tried in vain.

    A trace shows how each try ended; a service of names on this machine is none inside, whatever
    the first call says. Without a trace it is only known that something was tried.
    """
    if level != "strace":
        return list(seen.connections)
    local = (one for one in seen.reached if stays_here(one) and asks_for_names(one))
    return list(dict.fromkeys([*seen.refused, *local]))


def message_of(facts: RunFacts, launcher: Launcher) -> str:
    """Say how a run ended, and for a failure what the launcher itself said last."""
    name, done = facts.request.launcher, facts.done
    seconds = f"{done.seconds:.1f} s"
    words: dict[Termination, str] = {
        "ok": f"{name} ended well after {seconds}",
        "exit": f"{name} ended with exit status {done.returncode} after {seconds}",
        "signal": f"{name} was ended by {_signal_name(done.returncode)} after {seconds}",
        "timeout": f"{name} had not ended at its limit of time, and was ended after {seconds}",
        "memory": f"{name} was ended for want of memory after {seconds}{_memory_limit(facts)}",
        "disk": _why_disk(facts, launcher) if facts.termination == "disk" else "",
        "network-denied": f"{name} ended with exit status {done.returncode} after {seconds}; it "
        f"tried to reach {', '.join(held_back(facts.seen, facts.level)[:3])}, and declares no "
        "network",
        "cancelled": f"{name} was cancelled after {seconds}",
        "infrastructure": f"{name} was not started: what isolates it failed",
    }
    lines = [words.get(facts.termination, f"{name}: {facts.termination}")]
    lines += [
        f"left out of the outputs: {shortened(one.path)}: {one.why}" for one in facts.left_out
    ]
    if facts.termination == "ok" and facts.missing:
        lines[0] += ", but without " + ", ".join(facts.missing)
        outputs = facts.space.record / OUTPUTS
        notes = (
            collect.untouched(one, launcher, outputs, facts.space.code) for one in facts.missing
        )
        lines += filter(None, notes)
    if facts.termination == "ok" and facts.cells and not facts.missing:
        lines[0] += ", but not every cell of its notebook did"
    lines += told(facts.cells)
    lines += _limit_notes(facts)
    if facts.termination != "ok" or facts.missing:
        lines += _last_lines(facts.space.record)
    return "\n".join(lines)


def refuse_without_room(place: Path, name: str) -> None:
    """Refuse to start a launcher where a run would be ended at once for what others left.

    Raises:
        StorageError: The disk is nearly full.
    """
    if little_room(place):
        message = f"{name} was not started: no space left on the disk of {place.parent}"
        raise StorageError(message, hint="free some space on that disk and run it again")


def _why_disk(facts: RunFacts, launcher: Launcher) -> str:
    """Tell outputs beyond a limit from a disk that is full, which may be the work of others."""
    name, outputs = facts.request.launcher, facts.space.record / OUTPUTS
    if any("more than the limit" in one.why for one in facts.left_out) or collect.too_large(
        launcher, outputs
    ):
        return f"{name} left more outputs than its limits allow"
    left = size_text(collect.used_bytes(outputs))
    return (
        f"there was no room left on the disk of {facts.request.outputs_root}; "
        f"what {name} itself left has {left}"
    )


def _memory_limit(facts: RunFacts) -> str:
    """Say what the limit was, and who set it."""
    held = facts.sandbox.held.get("memory")
    if held is None:
        return ""
    launcher = facts.request.artifact.manifest.launchers[facts.request.launcher]
    declared = launcher.resources is not None and launcher.resources.memory is not None
    whose = "resources.memory in rra.yaml" if declared else "nine tenths of this machine's memory"
    return f"; its limit was {size_text(int(held))}, {whose}"


def _limit_notes(facts: RunFacts) -> list[str]:
    """Say that processes were refused, without which an error of the launcher says little."""
    if "processes" not in facts.reached:
        return []
    most = facts.sandbox.held.get("processes", 0)
    return [f"it was refused more than {most} processes and threads at one time"]


def _signal_name(status: int) -> str:
    number = -status if status < 0 else status - 128
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _last_lines(record: Path) -> list[str]:
    """Return the end of what was printed: the errors, or the output where there are none."""
    for name in (STDERR, STDOUT):
        path = record / name
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - _MESSAGE_BYTES))
            text = file.read().decode("utf-8", "replace").strip()
        if text:
            return text.splitlines()[-_MESSAGE_LINES:]
    return []
