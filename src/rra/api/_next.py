"""``rra next``: what stands between an artifact and its next level."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rra.api import _ledger
from rra.api._open import open_artifact
from rra.api._result import Progress, VerbResult, silent
from rra.artifact import Artifact, layout
from rra.errors import CorruptError

if TYPE_CHECKING:
    from rra.lint import Finding

_SHOWN = 8
_COMMAND = re.compile(r"(?:^|: )(rra [a-z][^`;]*)$")
_ALL_REASONS = "level_reasons of that verification names them all"
_DOCUMENTED = (
    "L3 asks for agreement, and the artifact documents why there is none: L2 is what it can reach, "
    "unless the cause is found in code, data or environment and repaired; then: rra verify"
)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Step:
    """One thing to do.

    Attributes:
        what: What is missing or wrong.
        command: What to type, or what to edit.
        minutes: Expected machine time; None when nothing of the kind ran yet.
    """

    what: str
    command: str
    minutes: float | None = None


@dataclasses.dataclass(frozen=True, kw_only=True)
class NextResult(VerbResult):
    """The level that the newest verification earned, and the steps to the next one.

    Attributes:
        level: ``none``, or L0 to L3.
        next_level: The level that the steps lead to; None at L3.
        steps: In the order in which to take them.
        basis: What the answer rests on.
    """

    level: str
    next_level: str | None
    steps: tuple[Step, ...]
    basis: str

    @property
    def documented_only(self) -> bool:
        """Whether nothing but documented deviations stands before the next level."""
        return bool(self.steps) and self.steps[0].command == _DOCUMENTED

    def to_json(self) -> dict[str, Any]:
        """Return the result as plain JSON."""
        return {
            "level": self.level,
            "next_level": self.next_level,
            "basis": self.basis,
            "steps": [dataclasses.asdict(step) for step in self.steps],
        }


def next(  # noqa: A001 - the verb's name
    artifact: str | Path, *, progress: Progress = silent
) -> NextResult:
    """Say what stands between an artifact and its next level; nothing is run.

    Levels above L0 come from the newest verification of the artifact exactly as it is now.

    Args:
        artifact: Directory of the artifact, or reference of a bundle.
        progress: Called with one line for each step.
    """
    with open_artifact(artifact, progress=progress) as opened:
        return _next(opened.artifact, progress).noting(opened.notices)


def _next(artifact: Artifact, progress: Progress) -> NextResult:
    from rra.bundle import core_digest
    from rra.lint import Severity, lint_artifact

    progress("checking the artifact against the rules")
    errors = [f for f in lint_artifact(artifact.root).findings if f.severity is Severity.ERROR]
    steps = _unlocked(artifact)
    steps += [
        Step(what=f"{e.place}: {e.message}{_aside(e.hint)}", command=_action(e))
        for e in errors
        if not (steps and e.rule == "RRA201")
    ]
    if steps:
        basis = "the rules, which find errors"
        return _result(artifact, "none", steps, basis)
    found = _ledger.newest(_ledger.VERIFICATIONS, core_digest(artifact), _ledger.REPRODUCTION)
    if found is None:
        steps = [*_unrun(artifact), _verify_step(artifact)]
        basis = "the rules alone: as it is now it was never verified"
        return _result(artifact, "L0", steps, basis)
    file, document = found
    level = str(document["level"])
    basis = f"the verification {document['plan']['nonce']} ({file})"
    if level == "none":
        steps = [_verify_step(artifact)]
        basis = f"the rules, which found errors when it was verified ({file}) and find none now"
        return _result(artifact, "L0", steps, basis)
    if level != "L3":
        steps = _lacking(document, _minutes(artifact))
    return _result(artifact, level, steps, basis)


def _aside(hint: str) -> str:
    return f" ({hint})" if hint and _COMMAND.search(hint) is None else ""


def _action(finding: Finding) -> str:
    """Return what to type about a finding: the command that its hint gives, else its page."""
    found = _COMMAND.search(finding.hint)
    return found[1] if found else f"rra explain {finding.rule}"


def _lacking(document: Mapping[str, Any], minutes: float | None) -> list[Step]:
    """Return what a verification's level lacks; what the artifact documents comes last."""
    documented = _outcomes(document, verdict="deviates_as_documented")
    stochastic = _outcomes(document["plan"], deterministic=False)
    mend, more, known = [], [], []
    for reason in document.get("level_reasons", []):
        if reason.startswith(tuple(f"{name} deviates_as_documented" for name in documented)):
            known.append(Step(what=reason, command=_DOCUMENTED))
        elif reason.startswith(tuple(f"{name} is stochastic" for name in stochastic)):
            more.append(Step(what=reason, command="rra verify --reports 5", minutes=minutes))
        else:
            mend.append(Step(what=reason, command="mend it, then: rra verify", minutes=minutes))
    return [*mend, *more, *known]


def _outcomes(document: Mapping[str, Any], **wanted: object) -> list[str]:
    """Return the ids of the outcomes that have the wanted values."""
    return [
        one["outcome"]
        for one in document["outcomes"]
        if all(one.get(key) == value for key, value in wanted.items())
    ]


def _result(artifact: Artifact, level: str, steps: list[Step], basis: str) -> NextResult:
    following = {"none": "L0", "L0": "L1", "L1": "L2", "L2": "L3"}.get(level)
    shown = steps[:_SHOWN]
    if len(steps) > len(shown):
        more = f"and {len(steps) - len(shown)} more"
        command = "rra lint shows them all" if level == "none" else _ALL_REASONS
        shown.append(Step(what=more, command=command))
    return NextResult(
        level=level,
        next_level=following,
        steps=tuple(shown),
        basis=basis,
        problems=artifact.warnings,
    )


def _unlocked(artifact: Artifact) -> list[Step]:
    return [
        Step(what=f"environment {name} is not locked", command=f"rra lock --environment {name}")
        for name, environment in artifact.manifest.environments.items()
        if not (environment.lock and artifact.path(environment.lock).is_file())
    ]


def _unrun(artifact: Artifact) -> list[Step]:
    """Return a step for each launcher without a successful record."""
    return [
        Step(
            what=f"launcher {name} has no successful record",
            command=f"rra run {name}",
            minutes=_launcher_minutes(artifact, name),
        )
        for name in artifact.manifest.launchers
        if _seconds_recorded(artifact, name) is None
    ]


def _verify_step(artifact: Artifact) -> Step:
    return Step(
        what="levels above L0 are earned only by a verification",
        command="rra verify",
        minutes=_minutes(artifact),
    )


def _minutes(artifact: Artifact) -> float | None:
    """Return the minutes that all launchers together are known to take."""
    known = [_launcher_minutes(artifact, name) for name in artifact.manifest.launchers]
    if any(minutes is None for minutes in known):
        return None
    return round(sum(minutes or 0.0 for minutes in known), 4)


def _launcher_minutes(artifact: Artifact, name: str) -> float | None:
    seconds = _seconds_recorded(artifact, name)
    hint = artifact.manifest.launchers[name].hint
    if seconds is None and hint is not None:
        seconds = hint.wall
    return None if seconds is None else round(seconds / 60, 4)


def _seconds_recorded(artifact: Artifact, name: str) -> float | None:
    from rra.evidence import EvidenceStore

    try:
        stored = EvidenceStore(artifact.root / layout.EVIDENCE_DIR).latest(name)
    except CorruptError:
        return None
    return stored.record.resources.wall if stored else None
