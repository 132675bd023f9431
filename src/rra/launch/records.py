"""Writing down what one run was and did."""

from __future__ import annotations

import dataclasses
import datetime as dt
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from rra._base import clock
from rra._base.process import Supervised
from rra._base.streams import StreamInfo
from rra._base.termination import Termination
from rra.artifact import Artifact
from rra.environment import Built, numeric_variables, platform_facts
from rra.evidence import EVENTS, OUTPUTS, printable, write_events
from rra.launch.collect import LeftOut
from rra.launch.inputs import (
    Before,
    artifact_path,
    changed_inputs,
    digest_and_size,
    input_files,
)
from rra.launch.installed import ChangedPackage, changed_packages, installed_gaps
from rra.launch.inventory import TreeChanges, regular_files
from rra.launch.parameters import LARGEST_INTEGER, Settings
from rra.launch.recorder import Level
from rra.launch.request import RunRequest
from rra.launch.surroundings import network_gaps
from rra.launch.trace import Observation
from rra.launch.workspace import Workspace
from rra.model import ExecutionRecord, OutputFile, Stream
from rra.model.record import FailedCell, Platform, Reached
from rra.sandbox import ConfinedSandbox, Usage, View

_PRELOAD = "LD_PRELOAD"
_OUTSIDE = ("/dev/", "/proc/", "/sys/")
_MEMORY = ("/dev/shm/", "/dev/mqueue/")  # noqa: S108 - to name what is written there
"""Folders of the machine below /dev that keep what is written there, also after the run."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class RunFacts:
    """Everything that is known when a launcher has ended and its outputs are in place.

    Attributes:
        known: What was known before the launcher started, as the record has it.
        before: What it could read, as that was then, where it could change that.
        done: What became of the process.
        termination: Its word, limits on the outputs included.
        used: What all its processes did together, as far as it was counted.
        seen: What the recorder saw, at `level`.
        code: What the run did to its copy of the code.
        artifact: Files of the artifact that it changed, where that was possible.
        collected: Pairs of path in the code and path in the outputs.
        left_out: What was not kept of the outputs.
        missing: Required outputs that are not there.
        cells: Cells of executed notebooks that failed.
    """

    request: RunRequest
    space: Workspace
    sandbox: ConfinedSandbox
    view: View
    known: Mapping[str, Any]
    before: Before
    ended: dt.datetime
    done: Supervised
    termination: Termination
    used: Usage | None
    seen: Observation
    level: Level
    code: TreeChanges
    artifact: list[PurePosixPath]
    collected: list[tuple[PurePosixPath, PurePosixPath]]
    left_out: list[LeftOut]
    missing: list[str]
    cells: list[FailedCell]

    @property
    def interrupted(self) -> bool:
        """Whether whoever waited for the run was interrupted, and with it the run."""
        return self.termination == "cancelled" and not self.request.cancelled()

    @property
    def reached(self) -> list[Reached]:
        """Limits that the run came up against, by name."""
        used = self.used or Usage()
        found: dict[Reached, bool] = {
            "wall": self.termination == "timeout",
            "memory": used.memory_kills > 0,
            "processes": used.refused_processes > 0,
        }
        return [name for name, came in found.items() if came]


def known_before(
    request: RunRequest,
    space: Workspace,
    settings: Settings,
    sandbox: ConfinedSandbox,
    view: View,
    *,
    argv: list[str],
    core: str,
) -> dict[str, Any]:
    """Return what the record of a run says that is known before the launcher starts.

    Args:
        request: What is run.
        space: The folders of the run.
        settings: Parameters and seed.
        sandbox: What isolates and limits it.
        view: What the launcher sees, its variables included.
        argv: Command, before isolation and recording.
        core: Core digest of the artifact.
    """
    artifact, environment = request.artifact, request.environment
    entry = artifact.manifest.launchers[request.launcher].entry
    platform = {**platform_facts(), "python": environment.version or None}
    return {
        "rra": artifact.manifest.rra,
        "type": "execution-record/v1",
        "artifact": artifact.manifest.name,
        "core": core,
        "launcher": {
            "id": request.launcher,
            "entry": entry,
            "sha256": digest_and_size(artifact.path(entry))[0],
        },
        "instance": request.instance,
        "key": request.key,
        "argv": _relative_command(argv, artifact.root, space.root),
        "nonce": request.nonce,
        "parameters": dict(settings.values),
        "seed": {"declared": settings.seed},
        "started": clock.iso(clock.now()),
        "environment": {
            "id": environment.id,
            "lock": environment.lock_digest,
            "installed": environment.installed_digest,
            "interpreter": environment.interpreter,
            "variables": _recorded_variables(request, view),
        },
        "platform": Platform.model_validate(platform).to_json(),
        "sandbox": {
            "level": sandbox.name,
            "gaps": [*sandbox.gaps, *network_gaps(request)],
            "limits": sandbox.held or None,
        },
    }


def write_record(facts: RunFacts) -> ExecutionRecord:
    """Write the events of a run beside its outputs and return its record.

    Raises:
        StorageError: The disk is full or refuses.
    """
    request, done, space, known = facts.request, facts.done, facts.space, facts.known
    roots = roots_of(request.artifact, space, request.environment)
    writes = list(_other_writes(facts, roots))
    # What isolates a run shows it its environment read-only.
    packages = changed_packages(request.environment) if facts.sandbox.gaps else []
    head = write_events(space.record / EVENTS, _events(facts, roots, writes, packages))
    complete, before = facts.level == "strace", facts.before
    inputs = input_files(
        *(request.artifact, request.launcher, space, facts.seen), complete=complete, before=before
    )
    used = {one.path for one in inputs}
    changed = changed_inputs(request.artifact, request.launcher, space, before, used)
    return ExecutionRecord.model_validate(
        {
            **known,
            "seed": {**known["seed"], "observed": observed_seeds(facts.seen)},
            "ended": clock.iso(facts.ended),
            "termination": facts.termination,
            "exit_code": done.returncode,
            "missing_outputs": facts.missing,
            "failed_cells": facts.cells or None,
            "inputs": inputs,
            "outputs": list(output_files(space.record / OUTPUTS)),
            "other_writes": sorted({path for path, _ in writes}),
            "network_attempts": sorted(facts.seen.connections),
            "resources": {
                "wall": round(done.seconds, 3),
                "cpu": round(done.cpu_seconds, 3),
                "max_rss": done.max_rss,
                "peak": facts.used.peak_bytes if facts.used else None,
            },
            "stdout": _stream(done.stdout),
            "stderr": _stream(done.stderr),
            "sandbox": {**known["sandbox"], "reached": facts.reached or None},
            "recorder": {
                "level": facts.level,
                "gaps": [
                    *facts.seen.gaps,
                    *installed_gaps(packages),
                    *_other_gaps(facts),
                    *(
                        f"changed during the run, {one}: its digest is from before"
                        for one in changed
                    ),
                ],
            },
            "events": head,
        }
    )


def _other_gaps(facts: RunFacts) -> Iterator[str]:
    """Say what ``network-denied`` rests on without a trace, and what stood before the system."""
    if facts.termination == "network-denied" and facts.level != "strace":
        yield "network-denied rests on what Python programs tried to reach; no end of it was seen"
    if facts.view.env.get(_PRELOAD):
        yield f"{_PRELOAD} was set: programs may have been shown another time, or other files"


def observed_seeds(seen: Observation) -> list[int]:
    """Return the seeds that were seen being set and that a record can hold."""
    return [seed for seed in seen.seeds if abs(seed) <= LARGEST_INTEGER]


def _recorded_variables(request: RunRequest, view: View) -> dict[str, str]:
    """Return the variables that can change a number, unless one of them carries a secret."""
    declared = request.artifact.manifest.launchers[request.launcher].secrets or []
    secret = {one.env for one in declared}
    found = numeric_variables(view.env)
    return {name: value for name, value in found.items() if name not in secret}


def _relative_command(argv: list[str], root: Path, own: Path) -> list[str]:
    """Return the command as the guide gives it: programs by name, files by place."""
    parts = [Path(part) for part in argv]
    inside = [part.is_relative_to(root) and not part.is_relative_to(own) for part in parts]
    return [
        part.relative_to(root).as_posix() if there else part.name
        for part, there in zip(parts, inside, strict=True)
    ]


def _stream(info: StreamInfo) -> Stream:
    return Stream(sha256=info.sha256, bytes=info.bytes, truncated=info.truncated)


def output_files(folder: Path) -> Iterator[OutputFile]:
    """Yield what a run left, in the order of a record."""
    names = {printable(path): path for path, _ in regular_files(folder)}
    for name in sorted(names, key=str.encode):
        sha256, size = digest_and_size(folder / names[name])
        yield OutputFile(path=name, sha256=sha256, size=size)


Roots = list[tuple[Path, PurePosixPath]]
"""Folders whose files a record calls by a place, with that place; the first that holds counts."""


def roots_of(artifact: Artifact, space: Workspace, environment: Built | None) -> Roots:
    """Return the folders by which the paths of a record are written."""
    named = [
        (space.code, PurePosixPath(artifact.manifest.code.root)),
        (artifact.root, PurePosixPath()),
        (environment.root if environment else None, PurePosixPath("{environment}")),
        (environment.base_prefix if environment else None, PurePosixPath("{python}")),
        (Path.home(), PurePosixPath("~")),
    ]
    return [(root, word) for root, word in named if root is not None and root != Path("/")]


def _place(roots: Roots, name: str) -> str:
    """Return a path for the record: by its place in artifact or environment where it has one."""
    path = PurePosixPath(name)
    for root, word in roots:
        if path.is_relative_to(root):
            return printable(word / path.relative_to(root))
    return printable(path)


def seen_events(seen: Observation, roots: Roots, reads: Iterable[str]) -> Iterator[dict[str, Any]]:
    """Yield the events that come from what was seen of a run, but for what it wrote.

    Args:
        seen: What was seen.
        roots: Folders by which paths are written.
        reads: Files of the artifact that were read.
    """
    yield from ({"kind": "python", "version": version} for version in seen.interpreters)
    yield from ({"kind": "exec", "path": _place(roots, path)} for path in seen.programs)
    yield from ({"kind": "read", "path": path} for path in reads)
    yield from ({"kind": "seed", "value": str(seed)} for seed in seen.seeds)
    for address in seen.connections:
        known = address in seen.refused or address in seen.reached
        refused = {"refused": address in seen.refused} if known else {}
        yield {"kind": "connect", "address": address, **refused}


def _events(
    facts: RunFacts, roots: Roots, writes: list[tuple[str, bool]], packages: list[ChangedPackage]
) -> Iterator[dict[str, Any]]:
    """Yield what happened, without what is the same for every program on this machine."""
    yield {
        "kind": "started",
        "time": facts.known["started"],
        "nonce": facts.request.nonce,
        "sandbox": facts.sandbox.name,
        "recorder": facts.level,
    }
    code = facts.code
    yield from seen_events(facts.seen, roots, _reads(facts))
    for path, refused in writes:
        yield {"kind": "write", "path": path, "refused": refused}
    for kind, paths in (
        ("created", code.created),
        ("modified", code.modified),
        ("removed", code.removed),
    ):
        yield from ({"kind": kind, "path": path} for path in _of_code(facts, paths))
    yield from ({"kind": "package", **dataclasses.asdict(one)} for one in packages)
    for source, target in facts.collected:
        yield {"kind": "collected", "path": printable(source), "to": printable(target)}
    yield from ({"kind": "left-out", "path": one.path, "why": one.why} for one in facts.left_out)
    yield {
        "kind": "ended",
        "time": clock.iso(facts.ended),
        "termination": facts.termination,
        "exit_code": facts.done.returncode,
        "left_behind": facts.done.left_behind,
    }


def _reads(facts: RunFacts) -> Iterator[str]:
    request = facts.request
    yield from reads_of(request.artifact, facts.space, request.output_place, facts.seen)


def reads_of(
    artifact: Artifact, space: Workspace, output_place: Path, seen: Observation
) -> Iterator[str]:
    """Yield the files of the artifact that were read, its own outputs and new files left out."""
    own = PurePosixPath("outputs") / output_place
    for path in dict.fromkeys(artifact_path(artifact, space, name) for name in seen.reads):
        if path is None or path.is_relative_to(own):
            continue
        if path.parts[:1] == ("outputs",) or (artifact.root / path).is_file():
            yield printable(path)


def _of_code(facts: RunFacts, paths: Iterable[PurePosixPath]) -> Iterator[str]:
    prefix = PurePosixPath(facts.request.artifact.manifest.code.root)
    for path in paths:
        if "__pycache__" not in path.parts:
            yield printable(prefix / path)


def _other_writes(facts: RunFacts, roots: Roots) -> Iterator[tuple[str, bool]]:
    """Yield writes outside the run's own folders, and whether they were refused."""
    temporary = facts.sandbox.temporary_path(facts.space.temporary)
    shown = facts.view.read_only
    isolated = facts.sandbox.name != "none"
    yield from writes_elsewhere(
        facts.seen, facts.space, temporary, roots, shown=shown, isolated=isolated
    )
    written = {_place(roots, name) for name in facts.seen.writes}
    for path in facts.artifact:
        if printable(path) not in written:
            yield printable(path), False


def writes_elsewhere(
    seen: Observation,
    space: Workspace,
    temporary: Path,
    roots: Roots,
    *,
    shown: Sequence[Path],
    isolated: bool,
) -> Iterator[tuple[str, bool]]:
    """Yield the writes outside a run's own folders that were seen, and whether they were refused.

    Args:
        seen: What was seen.
        space: The folders of the run.
        temporary: Where the launcher found its folder for temporary files.
        roots: Folders by which paths are written.
        shown: What it was shown besides, perhaps among its temporary files.
        isolated: Whether its /dev was its own, which went with it.
    """
    for names, refused in ((seen.writes, False), (seen.denied, True)):
        for name in names:
            path = PurePosixPath(name)
            own = any(path.is_relative_to(place) for place in (space.root, space.temporary))
            passing = path.is_relative_to(temporary) or (isolated and name.startswith(_MEMORY))
            own = own or (passing and not any(path.is_relative_to(place) for place in shown))
            if not own and not _is_skipped(name, refused=refused):
                yield _place(roots, name), refused


def _is_skipped(name: str, *, refused: bool) -> bool:
    """Tell whether a write is one that no record names.

    Semaphores and shared memory that a run has removed again go without a word: a loader of data
    makes a file of another name for every batch.
    """
    if name.startswith(_MEMORY):
        return not refused and not os.path.lexists(name)
    return name.startswith(_OUTSIDE) or "__pycache__" in PurePosixPath(name).parts
