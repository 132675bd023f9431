"""Watching a run as closely as this machine allows; a run never fails because a level is missing.

1. ``tree``: files before and after, always.
2. ``audit-hook``: files opened and programs started by Python programs.
3. ``strace``: files opened by any program, connections, programs.

Seeds are seen by the observer in every Python program at each level.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
from pathlib import Path
from typing import Literal

from rra._base import process, proctree
from rra.launch.strace import TraceReader, strace_command, try_strace
from rra.launch.trace import Observation
from rra.launch.workspace import Workspace
from rra.sandbox import Availability, Sandbox, best_sandbox

Level = Literal["tree", "audit-hook", "strace"]

_EVENTS = "events"
_OLDEST, _OLDEST_HOOK = [3, 7], [3, 8]
_MOST_BYTES = 256 * 1024 * 1024
_TRACE_END_SECONDS = 0.1
_TRACE_DRAIN_SECONDS = 10.0

_GAPS: dict[Level, tuple[str, ...]] = {
    "strace": (),
    "audit-hook": (
        "files that programs other than Python, or native code, opened were not seen",
        "what such programs tried to reach was not seen",
        "what was seen was written down within the launcher's reach",
    ),
    "tree": (
        "reads were not observed: the inputs are the files that the launcher could read",
        "writes outside the copy of the code and the output directory were not observed",
        "what the launcher tried to reach was not observed",
    ),
}


def probe_recorder() -> Availability:
    """Say whether strace works here, together with the best sandbox, by following a program."""
    return try_strace(best_sandbox())


@dataclasses.dataclass(slots=True)
class Recorder:
    """What watches one run.

    Attributes:
        space: The folders of the run.
        reader: Reads the trace, when strace works here.
        program: The strace that is used.
        observed: Whether the observer is in place.
        python: Version of the environment's Python; empty where it has none that is known.
    """

    space: Workspace
    reader: TraceReader | None
    program: Path | None
    observed: bool
    python: str = ""

    @classmethod
    def start(
        cls, space: Workspace, sandbox: Sandbox, *, readable: list[Path], python: str
    ) -> Recorder:
        """Begin to watch with the best level that works with this sandbox.

        Args:
            space: The folders of the run.
            sandbox: Its isolation.
            readable: Folders whose files matter when they are read.
            python: Version of the environment's Python.
        """
        reader = None
        program = process.find_tool("strace") if try_strace(sandbox).works else None
        if program is not None:
            reader = TraceReader(space.trace, space.code, sandbox.programs)
            reader.start()
        observed = _version(python) >= _OLDEST
        if observed:
            cls._write_observer(space, readable, hook=reader is None)
        return cls(space, reader, program, observed, python)

    @staticmethod
    def _write_observer(space: Workspace, readable: list[Path], *, hook: bool) -> None:
        roots = [str(place) for place in (space.code, space.outputs, *readable)]
        source = observer_source(space.seen / _EVENTS, roots, hook=hook)
        (space.given / "observer").mkdir()
        (space.given / "observer" / "sitecustomize.py").write_text(source, "utf-8")

    @property
    def python_path(self) -> Path | None:
        """Folder that must come first on ``PYTHONPATH``, if there is one."""
        return self.space.given / "observer" if self.observed else None

    def wrap(self, argv: list[str]) -> list[str]:
        """Return the command that is watched."""
        if self.program is None or self.reader is None:
            return argv
        return [*strace_command(self.program, self.reader.pipe), *argv]

    @property
    def level(self) -> Level:
        """The level that it hopes for, before anything has run."""
        if self.reader is not None:
            return "strace"
        return "audit-hook" if self.observed else "tree"

    def finish(self) -> tuple[Observation, Level]:
        """Return what was seen and at which level; processes still followed are ended."""
        seen = Observation()
        level: Level = "tree"
        if self.reader is not None:
            self.reader.join(_TRACE_END_SECONDS)
            if self.reader.is_alive():
                proctree.end_all(proctree.traced(str(self.reader.pipe)))
            seen = self.reader.finish(_TRACE_DRAIN_SECONDS)
            level = "strace"
            if not self.reader.complete:
                seen.gaps.append("the trace ended before the last process")
        _read_events(self.space.seen / _EVENTS, seen)
        if level == "tree":
            level = _without_trace(seen)
        seen.gaps[:0] = _GAPS[level]
        if not self.observed:
            why = "this Python is too old" if self.python else "the environment names no Python"
            seen.gaps.append(f"seeds were not seen: {why} to be watched")
        return seen, level


def observed_in(space: Workspace | None, *, hook: bool) -> tuple[Observation, Level]:
    """Return what the observer wrote of a run whose recorder is no more, and at which level.

    Args:
        space: The folders of the run; None where nothing of it may be read.
        hook: Whether the observer watched files, too.
    """
    seen = Observation()
    if space is not None:
        _read_events(space.seen / _EVENTS, seen)
    level = _without_trace(seen) if hook else "tree"
    seen.gaps += _GAPS[level]
    return seen, level


def _without_trace(seen: Observation) -> Level:
    hooked = any(_version(one) >= _OLDEST_HOOK for one in seen.interpreters)
    return "audit-hook" if hooked else "tree"


def _version(python: str) -> list[int]:
    return [int(part) for part in python.split(".")[:2] if part.isdigit()]


def observer_source(events: Path, roots: list[str], *, hook: bool) -> str:
    """Return the observer with its settings filled in.

    Args:
        events: File that it appends to.
        roots: Folders whose files matter when they are read.
        hook: Whether it also watches files, programs and connections.
    """
    text = Path(__file__).with_name("observer.py").read_text("utf-8")
    settings = {
        'EVENTS = ""': f"EVENTS = {json.dumps(str(events))}",
        "ROOTS: list[str] = []": f"ROOTS = {json.dumps(roots)}",
        "HOOK = False": f"HOOK = {hook}",
    }
    for line, filled in settings.items():
        text = text.replace(f"\n{line}\n", f"\n{filled}\n")
    return text


def _read_events(path: Path, seen: Observation) -> None:
    """Take what the observer wrote, unless the launcher has put something else there."""
    if os.path.realpath(path) != str(path) or not path.is_file():
        return
    with path.open("rb") as file:
        data = file.read(_MOST_BYTES)
    whole, _, _ = data.rpartition(b"\n")  # what was killed may have been writing a line
    for line in whole.splitlines():
        kind, tab, value = line.partition(b"\t")
        if tab:
            with contextlib.suppress(UnicodeDecodeError):
                seen.add(kind.decode(), value.decode("unicode_escape"))
