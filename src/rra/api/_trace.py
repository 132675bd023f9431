"""``rra trace``: which file, run and script a number comes from."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

from rra.api._open import open_artifact
from rra.api._result import Progress, VerbResult, silent
from rra.artifact import Artifact, layout
from rra.audit import Trace, trace_value
from rra.errors import SelectError, UsageError
from rra.evidence import EvidenceStore
from rra.model import Outcome


@dataclasses.dataclass(frozen=True, slots=True)
class RunSettings:
    """What a run was started with, as its record says it.

    Attributes:
        instance: Name of the run among those of its launcher.
        seed: Seed that it was given; None where it was given none.
        parameters: Values of the launcher's parameters, by name.
    """

    instance: str
    seed: int | None
    parameters: Mapping[str, Any]


@dataclasses.dataclass(frozen=True, kw_only=True)
class TraceResult(VerbResult):
    """The traces that the question leads to; the answer is yes when each reaches a record.

    Attributes:
        asked: The number or name that was asked for.
        traces: One for each outcome that fits.
        settings: For each trace, what its run was started with; None where it has no record.
    """

    asked: str
    traces: tuple[Trace, ...]
    settings: tuple[RunSettings | None, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the result as plain JSON."""
        traces = []
        for trace, settings in zip(self.traces, self.settings, strict=True):
            more = {} if settings is None else {"settings": dataclasses.asdict(settings)}
            traces.append({**trace.to_json(), **more})
        return {"asked": self.asked, "traces": traces}


def trace(artifact: str | Path, what: str, *, progress: Progress = silent) -> TraceResult:
    """Follow a reported or obtained number, or an outcome, back to what made it.

    Args:
        artifact: Directory of the artifact, or reference of a bundle.
        what: A number as the paper or an output has it, or the name of an outcome.
        progress: Called with one line for each step.

    Raises:
        UsageError: Nothing in the artifact is called so or has that value.
    """
    with open_artifact(artifact, progress=progress) as opened:
        loaded = opened.artifact
        progress(f"looking for {what}")
        names = _named(loaded, what) or _valued(loaded, what)
        if not names:
            claims = ", ".join(f"{n} ({_text(o)})" for n, o in loaded.manifest.outcomes().items())
            message = f"no outcome is called {what}, and none has that value"
            raise UsageError(message, hint=f"outcomes: {claims}")
        traces = tuple(trace_value(loaded, name) for name in names)
        settings = tuple(_settings(loaded, trace) for trace in traces)
    reached = all(found.record is not None for found in traces)
    return TraceResult(
        asked=what,
        traces=traces,
        settings=settings,
        exit_code=0 if reached else 1,
        problems=(*opened.notices, *loaded.warnings),
    )


def _settings(artifact: Artifact, trace: Trace) -> RunSettings | None:
    store = EvidenceStore(artifact.root / layout.EVIDENCE_DIR)
    stored = store.held(trace.launcher, trace.record) if trace.record is not None else None
    if stored is None:
        return None
    record = stored.record
    return RunSettings(record.instance, record.seed.declared, dict(record.parameters))


def _named(artifact: Artifact, what: str) -> list[str]:
    """Return the outcomes that a name stands for; an ambiguous name stands for all of them."""
    return [
        name for name in artifact.manifest.outcomes() if what == name or what in name.split("/")
    ]


def _valued(artifact: Artifact, what: str) -> list[str]:
    """Return the outcomes that report a value, or whose evidence gives it."""
    from rra.values.numbers import ReportedNumber, parse_value, rounds_to

    outcomes = artifact.manifest.outcomes()
    exact = [name for name, outcome in outcomes.items() if _text(outcome) == what.strip(" %")]
    if exact:
        return exact
    try:
        wanted = ReportedNumber.parse(what.strip(" %"))
    except SelectError:
        return []
    found = []
    for name, outcome in outcomes.items():
        candidates: list[Decimal] = []
        for text in (_text(outcome), trace_value(artifact, name).value):
            try:
                candidates.append(parse_value(text or ""))
            except SelectError:
                continue
        if any(rounds_to(value * scale, wanted) for value in candidates for scale in (1, 100)):
            found.append(name)
    return found


def _text(outcome: Outcome) -> str:
    reported = outcome.reported
    return reported if isinstance(reported, str) else " ".join(reported)
