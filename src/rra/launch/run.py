"""Running one launcher: private places, isolation, recording, collecting, evidence."""

from __future__ import annotations

import contextlib
import dataclasses
import difflib
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from rra._base import canonical, clock, process
from rra._base.deep import shortened
from rra._base.files import storage_errors
from rra._base.process import Bounds, Supervised
from rra._base.termination import Termination
from rra.artifact import layout
from rra.bundle import core_digest
from rra.environment import Built
from rra.errors import UsageError
from rra.evidence import OUTPUTS, STDERR, STDOUT, printable
from rra.launch import collect
from rra.launch.cells import failed_cells
from rra.launch.ending import little_room, message_of, refuse_without_room, termination_of
from rra.launch.inputs import inputs_before
from rra.launch.inventory import TreeChanges, TreeSnapshot
from rra.launch.journal import Journal
from rra.launch.limits import limits_of, output_limit
from rra.launch.live import Growing
from rra.launch.notebooks import provide_runner
from rra.launch.outputs import provide_outputs, publish_outputs
from rra.launch.parameters import Settings, settle
from rra.launch.place import copy_code
from rra.launch.recorder import Recorder
from rra.launch.records import RunFacts, known_before, write_record
from rra.launch.recovery import recover_runs
from rra.launch.request import RunRequest, RunResult
from rra.launch.secrets import Redactor, secrets_of
from rra.launch.surroundings import SYSTEM_PATH, command, variables, view
from rra.launch.trace import Observation
from rra.launch.uncollected import uncollected
from rra.launch.workspace import Workspace, workspace
from rra.model import ExecutionRecord, Launcher
from rra.sandbox import (
    ConfinedSandbox,
    Sandbox,
    Usage,
    View,
    best_sandbox,
    confined,
    image_sandbox,
)

_UNWATCHED = (layout.OUTPUTS_DIR, layout.EVIDENCE_DIR, ".git")


def run_launcher(request: RunRequest) -> RunResult:
    """Run a launcher as isolated and as closely watched as this machine allows.

    A launcher that fails, hangs or leaves nothing is a result, not an error. Its outputs
    replace those of earlier runs only when it succeeds; its evidence is kept either way.

    Args:
        request: What to run, and how.

    Raises:
        UsageError: The launcher, a parameter, a secret or the outputs of a launcher it needs are
            missing.
        LaunchError: Its entry is missing or of a kind that is not run.
        ToolMissingError: The sandbox that was asked for does not work.
        StorageError: The disk is full or refuses; nothing is half-written.
        KeyboardInterrupt: It was cancelled; the record that says so is kept.
    """
    launcher = _launcher(request)
    settings = settle(launcher, request.parameters, seed=request.seed, smoke=request.smoke)
    secrets = secrets_of(launcher, request.launcher, request.secrets)
    sandbox = isolation_of(request.environment, request.sandbox)
    argv = command(request)
    core = request.core or core_digest(request.artifact)
    if request.evidence is not None:
        recover_runs(request.artifact, request.outputs_root, request.evidence)
    with workspace(request.outputs_root) as space, storage_errors(request.outputs_root):
        copy_code(request.artifact, space.code)
        needs = {name: name for name in launcher.needs} if request.needs is None else request.needs
        provide_outputs(request.outputs_root, needs, space.outputs, request.launcher)
        argv = provide_runner(argv, space)
        refuse_without_room(space.root, request.launcher)
        journal = Journal(space, kept=request.evidence is not None)
        with confined(sandbox, limits_of(launcher)) as box:
            start = _Start(argv, core, secrets)
            facts = _execute(request, space, settings, box, start=start, journal=journal)
        if secrets:
            journal.kept()
        record = write_record(facts)
        message = message_of(facts, launcher)
        lost = uncollected(
            facts.code,
            {source for source, _ in facts.collected},
            code=space.code,
            outputs=space.record / OUTPUTS,
        )
        journal.recorded(canonical.digest(record.to_json()))
        done = _keep(request, space, record, message)
        space.settle()
    if facts.interrupted:
        raise KeyboardInterrupt
    return dataclasses.replace(done, uncollected=tuple(printable(path) for path in lost))


def _launcher(request: RunRequest) -> Launcher:
    launchers = request.artifact.manifest.launchers
    if request.launcher not in launchers:
        near = difflib.get_close_matches(request.launcher, launchers, n=1)
        hint = f"did you mean {near[0]}?" if near else f"launchers: {', '.join(launchers)}"
        message = f"there is no launcher {request.launcher!r}"
        raise UsageError(message, hint=hint)
    return launchers[request.launcher]


@dataclasses.dataclass(frozen=True, slots=True)
class _Start:
    """What a launcher is started with: its command, the artifact's core, values of secrets."""

    argv: list[str]
    core: str
    secrets: Mapping[str, str]


def _execute(
    request: RunRequest,
    space: Workspace,
    settings: Settings,
    sandbox: ConfinedSandbox,
    *,
    start: _Start,
    journal: Journal,
) -> RunFacts:
    """Start the launcher, wait for its end, and put what it left in order."""
    launcher = request.artifact.manifest.launchers[request.launcher]
    own = space.outputs / request.output_place
    own.mkdir(parents=True)
    readable, version = [request.artifact.root], request.environment.version
    recorder = Recorder.start(space, sandbox, readable=readable, python=version)
    temporary = sandbox.temporary_path(space.temporary)
    observer, hidden = recorder.python_path, Redactor(start.secrets)
    env = variables(
        request, space, settings, temporary=temporary, observer=observer, secrets=start.secrets
    )
    seeing = view(request, space, env, limits_of(launcher))
    code = TreeSnapshot(space.code)
    artifact = TreeSnapshot(request.artifact.root, skip=_UNWATCHED) if sandbox.gaps else None
    before = inputs_before(request.artifact, request.launcher, space) if sandbox.gaps else {}
    known = known_before(
        request, space, settings, sandbox, seeing, argv=start.argv, core=start.core
    )
    facts = {"recorder": recorder.level, "secret": bool(start.secrets)}
    journal.begun(request, known, temporary=str(temporary), private=str(space.temporary), **facts)
    wrapped = recorder.wrap(sandbox.wrap(start.argv, seeing))
    if request.on_place is not None:
        request.on_place(Growing(own, space.record))
    try:
        done = _supervised(request, space, sandbox, seeing, wrapped, hidden)
    finally:
        used = sandbox.finish(seeing)
        seen, level = recorder.finish()
    ended = clock.now()
    space.free_reserve()
    journal.ended(done)
    hidden.observation(seen)
    done = _redacted(done, space, hidden)
    done = _measured(done, used, seen) if not sandbox.followed else _counted(done, used)
    changes = code.changes()
    seen.gaps += [f"too deep to be looked at: {shortened(printable(one))}" for one in changes.deep]
    changed = artifact.changes() if artifact is not None else None
    outputs = _gathered(request, space, changes, hidden)
    termination = termination_of(
        done,
        space,
        used=used,
        seen=seen,
        level=level,
        started=_started(done, seen, sandbox, level),
        denied=not seeing.network and sandbox.name != "none",
        too_much=outputs.too_much,
    )
    collect.add_streams(space.record, outputs.folder)
    return RunFacts(
        request=request,
        space=space,
        sandbox=sandbox,
        view=seeing,
        known=known,
        before=before,
        ended=ended,
        done=done,
        termination=termination,
        used=used,
        seen=seen,
        level=level,
        code=changes,
        artifact=[*changed.written, *changed.removed] if changed is not None else [],
        collected=outputs.collected,
        left_out=outputs.left_out,
        missing=collect.missing_outputs(launcher, outputs.folder),
        cells=failed_cells(request.artifact, outputs.folder),
    )


def _supervised(
    request: RunRequest,
    space: Workspace,
    sandbox: ConfinedSandbox,
    seeing: View,
    argv: list[str],
    hidden: Redactor,
) -> Supervised:
    """Run the wrapped command to its end, within the limits."""
    own = space.outputs / request.output_place
    marker = f"RRA_OUTPUT_DIR={own}"
    with contextlib.ExitStack() as stack:
        if sandbox.name == "none":
            stack.enter_context(process.guarded(marker, sandbox.members))
        return process.supervise(
            argv,
            cwd=space.code,
            env={"PATH": SYSTEM_PATH},
            output=(space.record / STDOUT, space.record / STDERR),
            bounds=_bounds(request, space, sandbox, seeing),
            marker=marker,
            on_line=hidden.listener(request.on_line),
        )


@dataclasses.dataclass(frozen=True, slots=True)
class _Outputs:
    """What is kept of a run, out of the launcher's reach.

    Attributes:
        folder: Where it lies.
        collected: Pairs of path in the code and path in the outputs.
        left_out: What is not kept.
        too_much: Whether it is beyond a limit.
    """

    folder: Path
    collected: list[tuple[PurePosixPath, PurePosixPath]]
    left_out: list[collect.LeftOut]
    too_much: bool


def _gathered(
    request: RunRequest, space: Workspace, changes: TreeChanges, hidden: Redactor
) -> _Outputs:
    """Take over what a launcher left, make it safe, and add what it wrote into its code."""
    launcher = request.artifact.manifest.launchers[request.launcher]
    own, outputs = space.outputs / request.output_place, space.record / OUTPUTS
    left_out = collect.take_over(own, outputs)
    left_out += collect.make_safe(outputs, space.code, place=own)
    collected = collect.collect(launcher.collect, changes, space.code, outputs)
    left_out += hidden.outputs(outputs)
    beyond = collect.limit_size(outputs, output_limit(launcher))
    too_much = bool(beyond) or bool(collect.too_large(launcher, outputs))
    return _Outputs(outputs, collected, [*left_out, *beyond], too_much)


def _bounds(request: RunRequest, space: Workspace, sandbox: ConfinedSandbox, view: View) -> Bounds:
    """Return the limits of a run that are watched from outside."""
    launcher = request.artifact.manifest.launchers[request.launcher]
    limit, own = output_limit(launcher), space.outputs / request.output_place

    def watch() -> Termination | None:
        space.give_sign()
        return "disk" if little_room(own) or collect.used_bytes(own) > limit else None

    return Bounds(
        wall_seconds=_wall_limit(request, launcher),
        stream_bytes=request.stream_bytes,
        watch=watch,
        cancelled=request.cancelled,
        ask=lambda pid, seconds: sandbox.ask_to_end(view, pid, seconds),
        end_rest=sandbox.end_all,
        memory_kills=sandbox.memory_kills,
    )


def _redacted(done: Supervised, space: Workspace, hidden: Redactor) -> Supervised:
    """Take secrets out of what was printed."""
    return dataclasses.replace(
        done,
        stdout=hidden.stream(space.record / STDOUT, done.stdout),
        stderr=hidden.stream(space.record / STDERR, done.stderr),
    )


def _counted(done: Supervised, used: Usage | None) -> Supervised:
    """Put the time of all processes in the place of those that somebody waited for."""
    if used is None or used.cpu_seconds is None:
        return done
    return dataclasses.replace(done, cpu_seconds=used.cpu_seconds)


def _started(done: Supervised, seen: Observation, sandbox: ConfinedSandbox, level: str) -> bool:
    """Tell whether the launcher itself was started, unless that is known to have failed."""
    if not sandbox.followed:
        return not sandbox.refused(done.returncode)
    return level != "strace" or bool(seen.programs) or bool(seen.gaps)


def isolation_of(environment: Built, wanted: Sandbox | None = None) -> Sandbox:
    """Return what launchers are isolated by in an environment: its own image, where it has one.

    Args:
        environment: The environment.
        wanted: Isolation for environments without an image; the best that works by default.

    Raises:
        ToolMissingError: No engine works here that could enter the image.
    """
    if environment.image is not None:
        return image_sandbox(environment.image)
    return wanted or best_sandbox()


def _measured(done: Supervised, used: Usage | None, seen: Observation) -> Supervised:
    """Put what a launcher used in the place of what the program that started it elsewhere used."""
    if used is None or used.peak_bytes is None:
        seen.gaps.append("the memory that the launcher used was not measured")
    else:
        seen.gaps.append("the memory is that of all processes together, file caches included")
    if used is None or used.cpu_seconds is None:
        seen.gaps.append("the processor time that the launcher used was not measured")
        return dataclasses.replace(done, cpu_seconds=0.0, max_rss=0)
    return dataclasses.replace(done, cpu_seconds=used.cpu_seconds, max_rss=used.peak_bytes or 0)


def _wall_limit(request: RunRequest, launcher: Launcher) -> float | None:
    """Return the smallest of the limits that apply."""
    limits = [request.wall_seconds, launcher.limits.wall if launcher.limits else None]
    if request.smoke and launcher.smoke is not None:
        limits.append(launcher.smoke.wall)
    return min((limit for limit in limits if limit is not None), default=None)


def _keep(
    request: RunRequest, space: Workspace, record: ExecutionRecord, message: str
) -> RunResult:
    digest = canonical.digest(record.to_json())
    outputs, evidence = space.record / OUTPUTS, None
    target = request.outputs_root / request.output_place
    if request.evidence is not None:
        _, evidence = request.evidence.add(space.record, record)
        outputs = evidence / OUTPUTS
    if record.ok:
        spared = publish_outputs(
            outputs,
            request.outputs_root,
            request.output_place,
            record=digest,
            evidence=request.evidence,
        )
        message = "\n".join(
            [message, *(f"set aside, since no run had left it: {one}" for one in spared)]
        )
    return RunResult(
        record=record,
        record_digest=digest,
        outputs_dir=target if record.ok or evidence is None else outputs,
        evidence_dir=evidence,
        ok=record.ok,
        message=message,
    )
