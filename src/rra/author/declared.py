"""Which reported numbers an artifact declares already."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from pathlib import PurePosixPath

from rra.artifact import Artifact
from rra.audit.claim_labels import words
from rra.audit.claim_runs import SearchedRun
from rra.audit.claims import ClaimMatches
from rra.author.claim_sources import ReportedClaim, unit_fits
from rra.errors import SelectError
from rra.model import Outcome
from rra.values import ReportedNumber, Selected, select

_LINE = re.compile(r":\d+$")


@dataclasses.dataclass(frozen=True)
class Declared:
    """A reported number and the outcome that declares it.

    Attributes:
        claim: The number.
        outcome: Id of the outcome.
        differs: The outcome's own number, where the document has another one at that place.
    """

    claim: ReportedClaim
    outcome: str
    differs: str | None = None


@dataclasses.dataclass(frozen=True)
class _Known:
    name: str
    outcome: Outcome
    reported: ReportedNumber
    selected: Selected | None


class DeclaredOutcomes:
    """The outcomes of a manifest, asked for the number that a document reports."""

    def __init__(self, artifact: Artifact, runs: Sequence[SearchedRun]) -> None:
        """Read the outcomes that are numbers, and what their selectors give in the runs."""
        by_launcher = {run.launcher: run for run in runs}
        self._known: list[_Known] = []
        for name, outcome in artifact.manifest.outcomes().items():
            if not isinstance(outcome.reported, str):
                continue
            try:
                reported = ReportedNumber.parse(outcome.reported)
            except SelectError:
                continue
            run = by_launcher.get(outcome.selector.launcher)
            self._known.append(_Known(name, outcome, reported, _selected(outcome, run)))

    def find(
        self, claim: ReportedClaim, found: ClaimMatches, claims: Sequence[ReportedClaim]
    ) -> Declared | None:
        """Return the outcome that declares a number.

        It has the same location, or the same number and something else in common: its selector
        gives one of the places that hold the number, its id or location names the row, or no
        other number and no other outcome have that value.
        """
        place = _place(claim.location)
        for known in self._known:
            if known.outcome.location and _place(known.outcome.location) == place:
                same = known.reported == claim.reported or _same(known, claim)
                return Declared(claim, known.name, None if same else known.reported.text)
        equal = [
            known
            for known in self._known
            if _same(known, claim) and not _elsewhere(known.outcome.location, place)
        ]
        for known in equal:
            if _selects(known, found):
                return Declared(claim, known.name)
        for known in equal:
            if _names(known, claim):
                return Declared(claim, known.name)
        alone = sum(other.reported.value == claim.reported.value for other in claims) == 1
        return Declared(claim, equal[0].name) if len(equal) == 1 and alone else None


def _selected(outcome: Outcome, run: SearchedRun | None) -> Selected | None:
    if run is None:
        return None
    try:
        return select(run.outputs, outcome.selector, outcome.type)
    except SelectError:
        return None


def _place(location: str) -> tuple[str, ...]:
    """Return a location without its line and folder: tables move, and folders get names."""
    source, *rest = location.split(", ")
    kept = (part for part in rest if not re.fullmatch(r"Table \d+", part))
    return (PurePosixPath(_LINE.sub("", source)).name, *kept)


def _elsewhere(location: str | None, place: tuple[str, ...]) -> bool:
    """Tell whether a location is another place of the same document."""
    known = _place(location or "")
    return len(known) > 1 and known[0] == place[0] and known != place


def _same(known: _Known, claim: ReportedClaim) -> bool:
    reported = known.reported
    return (
        reported.value == claim.reported.value
        and reported.decimals == claim.reported.decimals
        and unit_fits(known.outcome.unit, claim.unit)
    )


def _selects(known: _Known, found: ClaimMatches) -> bool:
    selected = known.selected
    return selected is not None and any(
        match.run.launcher == known.outcome.selector.launcher
        and match.file.file == selected.file
        and match.leaf.text == selected.text.removesuffix("%").strip()
        and match.evidence == found.matches[0].evidence
        for match in found.matches
    )


def _names(known: _Known, claim: ReportedClaim) -> bool:
    """Tell whether an outcome's id, location or metric names half of a number's row."""
    wanted = words(claim.value.row) or words(claim.value.column)
    texts = (known.name, known.outcome.location or "", known.outcome.metric or "")
    have = frozenset[str]().union(*map(words, texts))
    return bool(wanted) and 2 * len(wanted & have) >= len(wanted)
