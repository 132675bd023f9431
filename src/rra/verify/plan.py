"""The plan of a verification, fixed before anything runs."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from pathlib import Path

from rra._base import canonical, clock
from rra.artifact import Artifact
from rra.audit.agreement import steady
from rra.audit.groups import Group, draw_seed, group_outcomes
from rra.launch import order_launchers
from rra.model import Reference, ReferencesDocument
from rra.values.success import DEFAULT_ALPHA, family_alpha
from rra.verify.documents import PlannedOutcome, PlannedRuns, VerificationPlan

PLAN = "plan.json"
ENOUGH_REFERENCES = 3
OWN_RUNS = 3
"""Fresh values of a launcher that is not deterministic and has no references."""


@dataclasses.dataclass(frozen=True)
class Terms:
    """What a plan is made under.

    Attributes:
        core: Core digest of the artifact.
        nonce: Nonce of the verification.
        sandbox: Name of the isolation.
        references: Values of earlier runs by outcome.
        attempt: How many verifications of this core there have been, this one included.
        alpha: Two-sided level for all outcomes together.
        reports: Fresh values of launchers that are not declared deterministic, instead of the
            rule's number.
    """

    core: str
    nonce: str
    sandbox: str
    references: ReferencesDocument | None = None
    attempt: int = 1
    alpha: float = DEFAULT_ALPHA
    reports: int | None = None

    @property
    def known(self) -> Mapping[str, Reference]:
        """References by outcome."""
        return self.references.root if self.references is not None else {}


def make_plan(artifact: Artifact, terms: Terms) -> VerificationPlan:
    """Decide what is run and how it is judged.

    A deterministic launcher makes one value. Others make three, or one where there are three
    references or more by others than the author. Seeds are drawn from the nonce. Launchers without
    outcomes run once.

    Args:
        artifact: The artifact.
        terms: Nonce, references, level.
    """
    manifest = artifact.manifest
    groups = all_groups(artifact)
    counts = [_reports(artifact, group, terms) for group in groups]
    outcomes = {
        name: _outcome(artifact, name, group, count, terms)
        for group, count in zip(groups, counts, strict=True)
        for name in group.outcomes
    }
    references = terms.references
    return VerificationPlan(
        type="verification-plan/v1",
        artifact=manifest.name,
        version=manifest.version,
        core=terms.core,
        created=clock.iso(clock.now()),
        nonce=terms.nonce,
        attempt=terms.attempt,
        alpha=terms.alpha,
        launchers=order_launchers(manifest, None),
        runs=[
            _runs(artifact, group, count, terms.nonce)
            for group, count in zip(groups, counts, strict=True)
        ],
        outcomes=[
            outcomes[name] if name in outcomes else _derived(artifact, name, outcomes, terms)
            for name in manifest.reported_values()
        ],
        sandbox=terms.sandbox,
        references=canonical.digest(references.model_dump(mode="json", exclude_none=True))
        if references is not None
        else None,
    )


def all_groups(artifact: Artifact) -> list[Group]:
    """Return the groups of runs, launchers that no outcome is read from included."""
    groups = group_outcomes(artifact.manifest)
    used = {group.launcher for group in groups}
    others = [name for name in order_launchers(artifact.manifest, None) if name not in used]
    return [*groups, *(Group(name, {}, 1, ()) for name in others)]


def _reports(artifact: Artifact, group: Group, terms: Terms) -> int:
    if not group.outcomes or steady(artifact.manifest.launchers[group.launcher]):
        return 1
    if terms.reports is not None:
        return terms.reports
    sizes = [_references(terms, name) for name in group.outcomes if not _own(terms, name)]
    enough = len(sizes) == len(group.outcomes) and min(sizes) >= ENOUGH_REFERENCES
    return 1 if enough else OWN_RUNS


def _own(terms: Terms, name: str) -> bool:
    """Tell whether references are the author's own, which say nothing about the paper."""
    return name in terms.known and bool(terms.known[name].self_referenced)


def _references(terms: Terms, name: str) -> int:
    return len(terms.known[name].scores) if name in terms.known else 0


def _runs(artifact: Artifact, group: Group, reports: int, nonce: str) -> PlannedRuns:
    launcher = artifact.manifest.launchers[group.launcher]
    return PlannedRuns(
        launcher=group.launcher,
        instance=group.instance,
        parameters=dict(group.parameters),
        outcomes=list(group.outcomes),
        reports=reports,
        runs_per_report=group.count,
        seeds=[
            draw_seed(group.launcher, launcher, nonce, index)
            for index in range(reports * group.count)
        ],
    )


def _outcome(
    artifact: Artifact, name: str, group: Group, reports: int, terms: Terms
) -> PlannedOutcome:
    outcomes = artifact.manifest.reported_values()
    reported = outcomes[name].reported
    return PlannedOutcome(
        outcome=name,
        launcher=group.launcher,
        reported=reported if isinstance(reported, str) else ", ".join(reported),
        unit=outcomes[name].unit,
        alpha=family_alpha(terms.alpha, len(outcomes)),
        reports=reports,
        runs_per_report=group.count,
        references=_references(terms, name),
        deterministic=steady(artifact.manifest.launchers[group.launcher]),
    )


def _derived(
    artifact: Artifact, name: str, made: Mapping[str, PlannedOutcome], terms: Terms
) -> PlannedOutcome:
    """Plan an outcome that follows from others: as many values as all of them have."""
    sources = [made[source] for source in artifact.manifest.sources(name)]
    outcome = artifact.manifest.derived_outcomes()[name]
    reported = outcome.reported
    states = [source.deterministic for source in sources]
    return sources[0].model_copy(
        update={
            "outcome": name,
            "reported": reported if isinstance(reported, str) else ", ".join(reported),
            "unit": outcome.unit,
            "reports": min(source.reports for source in sources),
            "runs_per_report": max(source.runs_per_report for source in sources),
            "references": _references(terms, name),
            "deterministic": True if all(states) else (False if False in states else None),
        }
    )


def earlier_attempts(history: Path, core: str) -> int:
    """Count the plans for a core that stand below a folder, one or two levels deep."""
    found = [*history.glob(f"*/{PLAN}"), *history.glob(f"*/*/{PLAN}")]
    return sum(_core_of(path) == core for path in found)


def _core_of(path: Path) -> str | None:
    try:
        document = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return None
    return document.get("core") if isinstance(document, dict) else None
