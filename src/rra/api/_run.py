"""``rra run``: run launchers, isolated and recorded, and select their values."""

from __future__ import annotations

import dataclasses
import secrets
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rra.api._result import Progress, VerbResult, silent
from rra.artifact import Artifact, layout, load_artifact
from rra.artifact.left_out import left_out
from rra.errors import Problem, SelectError
from rra.model import Outcome

if TYPE_CHECKING:
    from rra.sandbox import Sandbox
    from rra.values.selectors import Value

_NAMED = 5
"""Most files that one note names."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class LauncherRun:
    """What one run gave.

    Attributes:
        ok: Whether it ended with status 0 and left every required output.
        message: What went wrong, or one line that all went well.
        seconds: Wall time.
        record: Digest of the execution record.
        evidence: Folder of the evidence, relative to the artifact.
        sandbox: Isolation of the run.
        recorder: What the recorder could see.
        notes: What the author should know of it, such as files that nothing kept.
    """

    launcher: str
    ok: bool
    message: str
    seconds: float
    record: str
    evidence: str
    sandbox: str
    recorder: str
    notes: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True, kw_only=True)
class ObtainedValue:
    """One outcome's value in the outputs of this run, or why there is none.

    Attributes:
        reported: The paper's value; items of a list joined by ``", "``.
        value: As ``references.yaml`` takes it: text at full precision in the outcome's unit; a
            list for outcomes of type list.
        place: Where in the file it was found.
    """

    outcome: str
    reported: str
    unit: str | None
    value: str | list[str] | None
    place: str | None
    error: str | None


@dataclasses.dataclass(frozen=True, kw_only=True)
class RunSetResult(VerbResult):
    """All runs of the call, and the values they gave."""

    root: Path
    nonce: str
    runs: tuple[LauncherRun, ...]
    values: tuple[ObtainedValue, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the result as plain JSON."""
        return {
            "artifact": str(self.root),
            "nonce": self.nonce,
            "runs": [dataclasses.asdict(run) for run in self.runs],
            "values": [dataclasses.asdict(value) for value in self.values],
        }


def run(
    path: Path,
    *,
    launchers: Sequence[str] = (),
    parameters: Mapping[str, str] | None = None,
    seed: int | None = None,
    smoke: bool = False,
    sandbox: str | None = None,
    progress: Progress = silent,
) -> RunSetResult:
    """Run launchers in the order of their needs and keep the evidence.

    Args:
        path: Directory of the artifact.
        launchers: Ids; all by default.
        parameters: Values of parameters as text, for the launchers that have them.
        seed: Seed given to every launcher.
        smoke: Use the short parameters where a launcher has them.
        sandbox: ``bwrap`` or ``none``; the best that works by default.
        progress: Called with one line for each step and with the launcher's last lines.

    Raises:
        UsageError: A launcher or parameter is unknown, or the environment is not locked.
        EnvironmentBuildError: The environment cannot be built.
    """
    from rra.launch import order_launchers
    from rra.sandbox import best_sandbox

    artifact = load_artifact(path)
    order = order_launchers(artifact.manifest, launchers or None)
    nonce = secrets.token_hex(16)
    asked = _Asked(
        nonce=nonce,
        parameters=_split_parameters(artifact, order, parameters or {}),
        seed=seed,
        smoke=smoke,
        sandbox=best_sandbox(sandbox),
    )
    runs, failed = _run_in_order(artifact, order, asked, progress)
    values = tuple(_values(artifact, order, failed))
    bad = bool(failed) or (not smoke and any(value.error for value in values))
    return RunSetResult(
        root=artifact.root,
        nonce=nonce,
        runs=tuple(runs),
        values=values,
        exit_code=1 if bad else 0,
        problems=(
            *artifact.warnings,
            *left_out(artifact.document, order),
            *_skipped(artifact, order, runs),
        ),
    )


@dataclasses.dataclass(frozen=True, slots=True)
class _Asked:
    """How the launchers are to run; see `run`."""

    nonce: str
    parameters: Mapping[str, Mapping[str, str]]
    seed: int | None
    smoke: bool
    sandbox: Sandbox


def _run_in_order(
    artifact: Artifact, order: Sequence[str], asked: _Asked, progress: Progress
) -> tuple[list[LauncherRun], set[str]]:
    """Run launchers, but those that need one that failed; return the runs and who failed."""
    from rra.bundle import core_digest
    from rra.evidence import EvidenceStore
    from rra.launch import RunRequest, build_environment, isolation_of, run_launcher

    store = EvidenceStore(artifact.root / layout.EVIDENCE_DIR)
    core, box = core_digest(artifact), asked.sandbox
    runs: list[LauncherRun] = []
    failed: set[str] = set()
    for name in order:
        launcher = artifact.manifest.launchers[name]
        if failed.intersection(launcher.needs):
            failed.add(name)
            continue
        built = build_environment(artifact, launcher.environment, progress=progress, sandbox=box)
        progress(f"running {name} (sandbox {isolation_of(built, box).name})")
        done = run_launcher(
            RunRequest(
                artifact=artifact,
                launcher=name,
                environment=built,
                outputs_root=artifact.root / layout.OUTPUTS_DIR,
                evidence=store,
                nonce=asked.nonce,
                seed=asked.seed,
                parameters=asked.parameters.get(name, {}),
                smoke=asked.smoke,
                sandbox=box,
                on_line=_named_lines(name, progress),
                core=core,
            )
        )
        if not done.ok:
            failed.add(name)
        runs.append(_summary(artifact, name, done))
    return runs, failed


def _named_lines(name: str, progress: Progress) -> Progress:
    """Return a function that shows a launcher's newest line under its name."""
    return lambda line: progress(f"{name}: {line}")


def _summary(artifact: Artifact, name: str, done: Any) -> LauncherRun:
    evidence = done.evidence_dir
    return LauncherRun(
        launcher=name,
        ok=done.ok,
        message=done.message,
        seconds=done.record.resources.wall,
        record=done.record_digest,
        evidence=str(evidence.relative_to(artifact.root)) if evidence else "",
        sandbox=done.record.sandbox.level,
        recorder=done.record.recorder.level,
        notes=_lost(done.uncollected),
    )


def _lost(files: Sequence[str]) -> tuple[str, ...]:
    """Say which files of a run went with its copy of the code."""
    if not files:
        return ()
    more = f" and {len(files) - _NAMED} more" if len(files) > _NAMED else ""
    names = ", ".join(files[:_NAMED]) + more
    return (f"the run wrote {names} in its copy of the code, which no collect takes",)


def _split_parameters(
    artifact: Artifact, order: Sequence[str], parameters: Mapping[str, str]
) -> dict[str, dict[str, str]]:
    """Give each parameter to the launchers that declare it."""
    from rra.errors import UsageError

    given: dict[str, dict[str, str]] = {}
    for key, value in parameters.items():
        takers = [name for name in order if key in artifact.manifest.launchers[name].parameters]
        if not takers:
            names = sorted({p for n in order for p in artifact.manifest.launchers[n].parameters})
            message = f"no launcher of this run has a parameter {key!r}"
            raise UsageError(message, hint=f"parameters: {', '.join(names) or 'none'}")
        for name in takers:
            given.setdefault(name, {})[key] = value
    return given


def _values(artifact: Artifact, order: Sequence[str], failed: set[str]) -> list[ObtainedValue]:
    """Select every outcome of the launchers that ran."""
    found = []
    for name, outcome in artifact.manifest.outcomes().items():
        launcher, reported = outcome.selector.launcher, outcome.reported
        if launcher not in order:
            continue
        value, place, error = (
            (None, None, f"{launcher} did not succeed")
            if launcher in failed
            else _selected(artifact.root / layout.OUTPUTS_DIR / launcher, outcome)
        )
        found.append(
            ObtainedValue(
                outcome=name,
                reported=reported if isinstance(reported, str) else ", ".join(reported),
                unit=outcome.unit,
                value=value,
                place=place,
                error=error,
            )
        )
    return [*found, *_derived(artifact, found)]


def _derived(artifact: Artifact, made: Sequence[ObtainedValue]) -> Iterator[ObtainedValue]:
    """Yield the outcomes that follow from those of this run alone."""
    from rra.values.derive import derive

    manifest = artifact.manifest
    known = {one.outcome: one for one in made}
    waiting = {
        name: outcome
        for name, outcome in manifest.derived_outcomes().items()
        if all(source in known for source in manifest.sources(name))
    }
    while waiting:
        name = next(
            name
            for name, outcome in waiting.items()
            if not any(one in waiting for one in outcome.operands(name.partition("/")[0]))
        )
        outcome = waiting.pop(name)
        experiment = name.partition("/")[0]
        operands = [known[one] for one in outcome.operands(experiment)]
        value, error = None, next((one.error for one in operands if one.error), None)
        if error is None:
            pairs = [(Decimal(str(one.value)), one.unit) for one in operands]
            try:
                value = str(derive(outcome.derived, pairs, outcome.unit))
            except SelectError as failed:
                error = failed.message
        known[name] = ObtainedValue(
            outcome=name,
            reported=str(outcome.reported),
            unit=outcome.unit,
            value=value,
            place=outcome.describe(experiment) if error is None else None,
            error=error,
        )
        yield known[name]


def _selected(
    outputs: Path, outcome: Outcome
) -> tuple[str | list[str] | None, str | None, str | None]:
    """Return value, place and error of an outcome; a value that is no number is an error too."""
    from rra.values import select_outcome

    try:
        selected = select_outcome([outputs], outcome)
    except SelectError as fault:
        return None, None, f"{fault.message} ({fault.hint})" if fault.hint else fault.message
    place = f"{selected.parts[0].file}, {selected.parts[0].place}"
    value = selected.value
    if isinstance(value, Decimal) and not value.is_finite():
        return str(value), place, f"{place} is {value}, which is not a number"
    return _plain(value), place, None


def _plain(value: Value) -> str | list[str]:
    """Return a value of any outcome type as JSON has it."""
    return list(value) if isinstance(value, tuple) else str(value)


def _skipped(artifact: Artifact, order: Sequence[str], runs: list[LauncherRun]) -> list[Problem]:
    ran = {run.launcher for run in runs}
    return [
        artifact.document.problem(
            ("launchers", name),
            f"{name} did not run: a launcher it needs failed",
            clause="launch/needs",
            hint="mend the failing launcher first",
        )
        for name in order
        if name not in ran
    ]
