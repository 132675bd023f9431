"""Proposing outcomes: every number that a README or a paper reports, found in recorded outputs.

Nothing is decided here. A number with one place and a small chance of a match is called clear;
all others are shown with what speaks for and against each place, and the author chooses.
"""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Callable, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal

from rra.artifact import Artifact
from rra.audit.claim_labels import words
from rra.audit.claim_runs import SearchedRun, searched_runs
from rra.audit.claims import Claim, ClaimMatches, Match, find_claims
from rra.author.claim_sources import ReportedClaim, read_claims
from rra.author.declared import Declared, DeclaredOutcomes
from rra.author.draft_outcomes import metric_of, outcome_id
from rra.author.names import slug, unique
from rra.author.splice import NewOutcome, open_experiments
from rra.errors import Problem, SelectError
from rra.model import Outcome
from rra.scan import ResultsTable, ResultValue
from rra.values import rounds_to, select_outcome, truncates_to
from rra.values.leaves import Locator

MAX_CANDIDATES = 5
"""Most places that are proposed for one number."""

_CLEAR_CANDIDATES = 2

CLEAR_P = 0.05
"""Largest chance of a match at which a number counts as found."""

Standing = Literal["clear", "ambiguous", "weak", "truncated"]


@dataclasses.dataclass(frozen=True)
class Candidate:
    """One selector for a reported number; it has been tried, and gives the number.

    Attributes:
        match: The place.
        outcome: The outcome as `rra.yaml` would have it, as plain data.
        place: The place in the file's own terms.
        line: 1-based line, for files that have lines.
    """

    match: Match
    outcome: dict[str, Any]
    place: str
    line: int | None


@dataclasses.dataclass(frozen=True)
class Proposal:
    """An outcome that can be added.

    Attributes:
        id: Id that it would have, ``<experiment>/<outcome>``.
        title: Title of its experiment.
        claim: The reported number.
        standing: ``clear``: one place, p ≤ 0.05. ``ambiguous``: several places are named equally
            well. ``weak``: a number of this form is found too often. ``truncated``: only cutting
            digits off gives the number.
        candidates: Selectors, the best first.
        found: What was found of the number.
    """

    id: str
    title: str
    claim: ReportedClaim
    standing: Standing
    candidates: tuple[Candidate, ...]
    found: ClaimMatches

    def new_outcome(self, rank: int = 1) -> NewOutcome:
        """Return what is added to the manifest for one of the candidates, counted from 1."""
        chosen = self.candidates[rank - 1]
        experiment, _, name = self.id.partition("/")
        return NewOutcome(experiment, self.title, name, chosen.outcome, _notes(self, chosen))


@dataclasses.dataclass(frozen=True)
class Missing:
    """A reported number that nothing can be proposed for, and why."""

    claim: ReportedClaim
    reason: str


@dataclasses.dataclass(frozen=True)
class Suggestions:
    """Everything that a search gave.

    Attributes:
        runs: The runs whose outputs were searched.
        sources: Documents that were read.
        passed_over: Tables with numbers that look like settings, sizes or data.
        proposals: Numbers that are found, in the order of the documents.
        declared: Numbers that ``rra.yaml`` declares already.
        missing: Numbers that are not found in any output.
        problems: Warnings about runs and documents.
    """

    runs: tuple[SearchedRun, ...]
    sources: tuple[str, ...]
    passed_over: tuple[ResultsTable, ...]
    proposals: tuple[Proposal, ...]
    declared: tuple[Declared, ...]
    missing: tuple[Missing, ...]
    problems: tuple[Problem, ...]


def suggest_outcomes(
    artifact: Artifact,
    papers: Sequence[Path] = (),
    *,
    progress: Callable[[str], None] | None = None,
) -> Suggestions:
    """Search the numbers of tables in the outputs of recorded runs; nothing is written.

    Args:
        artifact: The artifact.
        papers: Documents whose tables are read; the READMEs of the artifact by default.
        progress: Called with one line for each step.

    Raises:
        UsageError: A document is not there or is of another kind.
        FormatError: A document cannot be read.
    """
    tell = progress or _silent
    read = read_claims(artifact, papers)
    tell(f"{len(read.claims)} reported numbers in {', '.join(read.sources) or 'no document'}")
    runs, problems = searched_runs(artifact)
    count = sum(run.index.count for run in runs)
    tell(f"searching {count} numbers of {len(runs)} recorded runs")
    asked = [Claim(c.reported, c.unit, c.value.row, c.value.column, c.key) for c in read.claims]
    found = find_claims(asked, runs, progress=progress)
    declared = DeclaredOutcomes(artifact, runs)
    sorted_out = _Sorting(artifact)
    for claim, matches in zip(read.claims, found, strict=True):
        known = declared.find(claim, matches, read.claims)
        if known is not None:
            sorted_out.declared.append(known)
        else:
            sorted_out.take(claim, matches)
    return Suggestions(
        runs=tuple(runs),
        sources=read.sources,
        passed_over=read.passed_over,
        proposals=tuple(sorted_out.proposals),
        declared=tuple(sorted_out.declared),
        missing=tuple(sorted_out.missing),
        problems=(*read.problems, *problems),
    )


def _silent(line: str) -> None:
    del line


class _Sorting:
    """Proposals with ids that are free, and numbers without one."""

    def __init__(self, artifact: Artifact) -> None:
        self.proposals: list[Proposal] = []
        self.declared: list[Declared] = []
        self.missing: list[Missing] = []
        manifest = artifact.manifest
        self._taken = {name: set(one.outcomes) for name, one in manifest.experiments.items()}
        self._open = open_experiments(artifact.document.text)
        self._experiments: dict[str, str] = {}
        self._titles = {name: one.title or "" for name, one in manifest.experiments.items()}

    def take(self, claim: ReportedClaim, found: ClaimMatches) -> None:
        """Propose what a number is found as, or note that it is not found."""
        if not found.matches:
            self.missing.append(Missing(claim, "not found in any output"))
            return
        candidates = _candidates(claim, found)
        if not candidates:
            reason = f"{found.total} places hold it, but no selector can name one of them alone"
            self.missing.append(Missing(claim, reason))
            return
        experiment = self._experiment(claim)
        wanted = _wanted_id(claim)
        name = unique(wanted, self._taken[experiment])
        self._taken[experiment].add(name)
        self.proposals.append(
            Proposal(
                id=f"{experiment}/{name}",
                title=self._titles[experiment],
                claim=claim,
                standing=_standing(found, candidates),
                candidates=candidates,
                found=found,
            )
        )

    def _experiment(self, claim: ReportedClaim) -> str:
        """Return the experiment of a table: one of that name that is there, or a new one."""
        if claim.key not in self._experiments:
            heading = claim.heading
            wanted = slug(heading.split(":")[0], otherwise=slug(claim.table.source.stem))
            used = set(self._experiments.values()) | (set(self._taken) - self._open)
            name = unique(wanted, used)
            self._experiments[claim.key] = name
            self._taken.setdefault(name, set())
            self._titles.setdefault(name, heading or f"Table in {claim.table.source}")
        return self._experiments[claim.key]


def _wanted_id(claim: ReportedClaim) -> str:
    """Return the id for a number; a column such as ``reported`` adds nothing to it."""
    row = slug(claim.value.row, otherwise="")
    if row and not words(claim.value.column):
        return row
    return outcome_id(claim.value, claim.table.values)


def _standing(found: ClaimMatches, candidates: Sequence[Candidate]) -> Standing:
    best = candidates[0].match
    if best.truncated:
        return "truncated"
    if found.rivals or best is not found.matches[0]:
        return "ambiguous"
    return "clear" if best.p <= CLEAR_P else "weak"


def _candidates(claim: ReportedClaim, found: ClaimMatches) -> tuple[Candidate, ...]:
    """Return the places that a selector can name, each tried with the reader of selectors."""
    candidates: list[Candidate] = []
    best = found.matches[0]
    sure = not found.rivals and best.p <= CLEAR_P and not best.truncated
    wanted = _CLEAR_CANDIDATES if sure else MAX_CANDIDATES
    for match in found.matches[: 4 * MAX_CANDIDATES]:
        if len(candidates) == wanted:
            break
        locator = match.file.locate(match.leaf)
        candidate = _tried(claim, match, locator) if locator is not None else None
        if candidate is not None:
            candidates.append(candidate)
    return tuple(candidates)


def _tried(claim: ReportedClaim, match: Match, locator: Locator) -> Candidate | None:
    body = _body(claim, match, locator)
    agrees = truncates_to if match.truncated else rounds_to
    try:
        found = select_outcome([match.run.outputs], Outcome.model_validate(body))
    except SelectError:
        return None
    if not isinstance(found.value, Decimal) or not agrees(found.value, claim.reported):
        return None
    return Candidate(match, body, found.parts[0].place, found.parts[0].line)


def _body(claim: ReportedClaim, match: Match, locator: Locator) -> dict[str, Any]:
    """Return the outcome as plain data, in the order in which it is written."""
    body: dict[str, Any] = {"type": "number", "reported": claim.value.text}
    unit = match.reading.reported_unit or claim.unit
    if unit is not None:
        body["unit"] = unit
    if words(claim.value.column) or words(claim.value.row):
        body["metric"] = metric_of(_telling(claim.value))
    body["location"] = claim.location
    selector: dict[str, Any] = {"launcher": match.run.launcher, "file": match.file.file}
    selector |= locator.to_json()
    if match.reading.unit is not None:
        selector["unit"] = match.reading.unit
    body["selector"] = selector
    return body


def _telling(value: ResultValue) -> ResultValue:
    """Return a number with the label of its column only where that says something."""
    return value if words(value.column) else dataclasses.replace(value, column="")


def _notes(proposal: Proposal, chosen: Candidate) -> tuple[str, ...]:
    match = chosen.match
    record = match.run.record.removeprefix("sha256:")[:16]
    notes = [
        f"found by rra claims suggest: {match.leaf.text} in record {record}",
        f"chance of such a match: {match.p:.3f} ({match.decoys} decoys)",
    ]
    if proposal.standing == "ambiguous":
        notes.append(f"one of {proposal.found.total} places that hold the number")
    if match.truncated:
        notes.append("the number is cut to the reported digits, not rounded")
    spread = proposal.claim.value.uncertainty
    if spread:
        notes.append(
            f"reported as {proposal.claim.value.text} ± {spread}: add reported_uncertainty "
            "{value, kind, runs} when you know over how many runs"
        )
    return tuple(notes)


def expected_by_chance(proposals: Sequence[Proposal]) -> float:
    """Return how many of these numbers would be found although they are wrong."""
    return sum(one.candidates[0].match.p for one in proposals)


def count_by_standing(proposals: Sequence[Proposal]) -> dict[str, int]:
    """Return how many proposals have each standing."""
    return dict(collections.Counter(one.standing for one in proposals))
