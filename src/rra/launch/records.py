"""Writing down what one run was and did."""

from __future__ import annotations

import dataclasses
import datetime as dt
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from rra._base import clock
from rra._base.process import Supervised, Termination
from rra._base.streams import StreamInfo
from rra.environment import numeric_variables, platform_facts
from rra.evidence import EVENTS, OUTPUTS, printable, write_events
from rra.launch.collect import LeftOut
from rra.launch.inputs import artifact_path, digest_and_size, input_files
from rra.launch.installed import ChangedPackage, changed_packages, installed_gaps
from rra.launch.inventory import TreeChanges, regular_files
from rra.launch.parameters import LARGEST_INTEGER, Settings
from rra.launch.recorder import Level
from rra.launch.request import RunRequest
from rra.launch.surroundings import network_gaps
from rra.launch.trace import Observation
from rra.launch.workspace import Workspace
from rra.model import (
    ExecutionRecord,
    OutputFile,
    RecorderInfo,
    RecordResources,
    SandboxInfo,
    SeedInfo,
    Stream,
)
from rra.model.record import EnvironmentInfo, LauncherInfo, Platform, Reached, RecordLimits
from rra.sandbox import ConfinedSandbox, Usage, View

_OUTSIDE = ("/dev/", "/proc/", "/sys/")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class RunFacts:
    """Everything that is known when a launcher has ended and its outputs are in place.

    Attributes:
        core: Core digest of the artifact.
        argv: Command, before isolation and recording.
        done: What became of the process.
        termination: Its word, limits on the outputs included.
        used: What all its processes did together, as far as it was counted.
        seen: What the recorder saw, at `level`.
        code: What the run did to its copy of the code.
        artifact: Files of the artifact that it changed, where that was possible.
        collected: Pairs of path in the code and path in the outputs.
        left_out: What was not kept of the outputs.
        missing: Required outputs that are not there.
    """

    request: RunRequest
    space: Workspace
    settings: Settings
    sandbox: ConfinedSandbox
    view: View
    core: str
    argv: list[str]
    started: dt.datetime
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


def write_record(facts: RunFacts) -> ExecutionRecord:
    """Write the events of a run beside its outputs and return its record.

    Raises:
        StorageError: The disk is full or refuses.
    """
    request, done, space = facts.request, facts.done, facts.space
    artifact = request.artifact
    launcher = artifact.manifest.launchers[request.launcher]
    writes = list(_other_writes(facts))
    # What isolates a run shows it its environment read-only.
    packages = changed_packages(request.environment) if facts.sandbox.gaps else []
    head = write_events(space.record / EVENTS, _events(facts, writes, packages))
    seeds = [seed for seed in facts.seen.seeds if abs(seed) <= LARGEST_INTEGER]
    return ExecutionRecord(
        rra=artifact.manifest.rra,
        type="execution-record/v1",
        artifact=artifact.manifest.name,
        core=facts.core,
        launcher=LauncherInfo(
            id=request.launcher,
            entry=launcher.entry,
            sha256=digest_and_size(artifact.path(launcher.entry))[0],
        ),
        instance=request.instance,
        key=request.key,
        argv=_relative_command(facts),
        nonce=request.nonce,
        parameters=dict(facts.settings.values),
        seed=SeedInfo(declared=facts.settings.seed, observed=seeds),
        started=clock.iso(facts.started),
        ended=clock.iso(facts.ended),
        termination=facts.termination,
        exit_code=done.returncode,
        missing_outputs=facts.missing,
        environment=EnvironmentInfo(
            id=request.environment.id,
            lock=request.environment.lock_digest,
            installed=request.environment.installed_digest,
            interpreter=request.environment.interpreter,
            variables=_recorded_variables(facts),
        ),
        inputs=input_files(request, space, facts.seen, complete=facts.level == "strace"),
        outputs=list(_outputs(facts)),
        other_writes=sorted({path for path, _ in writes}),
        network_attempts=sorted(facts.seen.connections),
        platform=Platform.model_validate(
            {**platform_facts(), "python": request.environment.version or None}
        ),
        resources=RecordResources(
            wall=round(done.seconds, 3),
            cpu=round(done.cpu_seconds, 3),
            max_rss=done.max_rss,
            peak=facts.used.peak_bytes if facts.used else None,
        ),
        stdout=_stream(done.stdout),
        stderr=_stream(done.stderr),
        sandbox=SandboxInfo(
            level=facts.sandbox.name,
            gaps=[*facts.sandbox.gaps, *network_gaps(request)],
            limits=RecordLimits.model_validate(held) if (held := facts.sandbox.held) else None,
            reached=facts.reached or None,
        ),
        recorder=RecorderInfo(
            level=facts.level, gaps=[*facts.seen.gaps, *installed_gaps(packages)]
        ),
        events=head,
    )


def _recorded_variables(facts: RunFacts) -> dict[str, str]:
    """Return the variables that can change a number, unless one of them carries a secret."""
    request = facts.request
    declared = request.artifact.manifest.launchers[request.launcher].secrets or []
    secret = {one.env for one in declared}
    found = numeric_variables(facts.view.env)
    return {name: value for name, value in found.items() if name not in secret}


def _relative_command(facts: RunFacts) -> list[str]:
    """Return the command as the guide gives it: programs by name, files by place."""
    root, own = facts.request.artifact.root, facts.space.root
    parts = [Path(part) for part in facts.argv]
    inside = [part.is_relative_to(root) and not part.is_relative_to(own) for part in parts]
    return [
        part.relative_to(root).as_posix() if there else part.name
        for part, there in zip(parts, inside, strict=True)
    ]


def _stream(info: StreamInfo) -> Stream:
    return Stream(sha256=info.sha256, bytes=info.bytes, truncated=info.truncated)


def _outputs(facts: RunFacts) -> Iterator[OutputFile]:
    folder = facts.space.record / OUTPUTS
    names = {printable(path): path for path, _ in regular_files(folder)}
    for name in sorted(names, key=str.encode):
        sha256, size = digest_and_size(folder / names[name])
        yield OutputFile(path=name, sha256=sha256, size=size)


def _events(
    facts: RunFacts, writes: list[tuple[str, bool]], packages: list[ChangedPackage]
) -> Iterator[dict[str, Any]]:
    """Yield what happened, without what is the same for every program on this machine."""
    yield {
        "kind": "started",
        "time": clock.iso(facts.started),
        "nonce": facts.request.nonce,
        "sandbox": facts.sandbox.name,
        "recorder": facts.level,
    }
    seen, code = facts.seen, facts.code
    yield from ({"kind": "python", "version": version} for version in seen.interpreters)
    yield from ({"kind": "exec", "path": _place(facts, path)} for path in seen.programs)
    yield from ({"kind": "read", "path": path} for path in _reads(facts))
    yield from ({"kind": "seed", "value": str(seed)} for seed in seen.seeds)
    yield from ({"kind": "connect", "address": address} for address in seen.connections)
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
    """Yield the files of the artifact that were read, its own outputs and new files left out."""
    request, space = facts.request, facts.space
    own = PurePosixPath("outputs") / request.output_place
    found = (artifact_path(request.artifact, space, name) for name in facts.seen.reads)
    for path in dict.fromkeys(found):
        if path is None or path.is_relative_to(own):
            continue
        if path.parts[:1] == ("outputs",) or (request.artifact.root / path).is_file():
            yield printable(path)


def _of_code(facts: RunFacts, paths: Iterable[PurePosixPath]) -> Iterator[str]:
    prefix = PurePosixPath(facts.request.artifact.manifest.code.root)
    for path in paths:
        if "__pycache__" not in path.parts:
            yield printable(prefix / path)


def _other_writes(facts: RunFacts) -> Iterator[tuple[str, bool]]:
    """Yield writes outside the run's own folders, and whether they were refused."""
    for names, refused in ((facts.seen.writes, False), (facts.seen.denied, True)):
        for name in names:
            path = PurePosixPath(name)
            skipped = name.startswith(_OUTSIDE) or "__pycache__" in path.parts
            if not skipped and not _is_own(facts, path):
                yield _place(facts, name), refused
    for path in facts.artifact:
        if printable(path) not in {_place(facts, name) for name in facts.seen.writes}:
            yield printable(path), False


def _is_own(facts: RunFacts, path: PurePosixPath) -> bool:
    """Tell whether a path lies in the run's own folders, what is shown among them left out."""
    if any(path.is_relative_to(place) for place in (facts.space.root, facts.space.temporary)):
        return True
    inside = facts.sandbox.temporary_path(facts.space.temporary)
    shown = any(path.is_relative_to(place) for place in facts.view.read_only)
    return path.is_relative_to(inside) and not shown


def _place(facts: RunFacts, name: str) -> str:
    """Return a path for the record: by its place in artifact or environment where it has one."""
    path = PurePosixPath(name)
    for root, word in (
        (facts.space.code, PurePosixPath(facts.request.artifact.manifest.code.root)),
        (facts.request.artifact.root, PurePosixPath()),
        (facts.request.environment.root, PurePosixPath("{environment}")),
        (facts.request.environment.base_prefix, PurePosixPath("{python}")),
        (Path.home(), PurePosixPath("~")),
    ):
        if root is not None and path.is_relative_to(root) and root != Path("/"):
            return printable(word / path.relative_to(root))
    return printable(path)
