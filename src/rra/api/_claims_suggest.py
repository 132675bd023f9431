"""``rra claims suggest``: propose outcomes for reported numbers, and add those accepted."""

from __future__ import annotations

import dataclasses
import difflib
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rra._base.files import atomic_write
from rra.api._result import Progress, VerbResult, silent
from rra.artifact import layout, load_artifact
from rra.errors import RraError, UsageError

if TYPE_CHECKING:
    from rra.author.claim_sources import ReportedClaim
    from rra.author.claims import Candidate, Proposal, Suggestions

_BOM = "\ufeff"


@dataclasses.dataclass(frozen=True, kw_only=True)
class ClaimsResult(VerbResult):
    """What a search for reported numbers gave, and what was added to the manifest.

    Attributes:
        root: The artifact.
        suggestions: What was found, declared and missing.
        accepted: Ids of the outcomes that were added.
    """

    root: Path
    suggestions: Suggestions
    accepted: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the result as plain JSON."""
        from rra.audit.claim_chance import DECOYS
        from rra.author.claims import CLEAR_P, expected_by_chance

        found = self.suggestions
        clear = [one for one in found.proposals if one.standing == "clear"]
        return {
            "artifact": str(self.root),
            "sources": list(found.sources),
            "decoys": DECOYS,
            "clear_p": CLEAR_P,
            "runs": [_run_json(run) for run in found.runs],
            "proposals": [_proposal_json(one) for one in found.proposals],
            "clear_by_chance": round(expected_by_chance(clear), 3),
            "declared": [
                _without_none(
                    claim=_claim_json(one.claim), outcome=one.outcome, differs=one.differs
                )
                for one in found.declared
            ],
            "not_found": [
                {"claim": _claim_json(one.claim), "reason": one.reason} for one in found.missing
            ],
            "passed_over": [
                {
                    "source": str(table.source),
                    "line": table.line,
                    "heading": table.heading,
                    "numbers": len(table.values),
                }
                for table in found.passed_over
            ],
            "accepted": list(self.accepted),
        }


def _without_none(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _run_json(run: Any) -> dict[str, Any]:
    skipped = [{"file": one.file, "reason": one.reason} for one in run.index.skipped]
    return {
        "launcher": run.launcher,
        "record": run.record,
        "numbers": run.index.count,
        "skipped": skipped,
    }


def _claim_json(claim: ReportedClaim) -> dict[str, Any]:
    value = claim.value
    return _without_none(
        text=value.text,
        unit=claim.unit,
        uncertainty=value.uncertainty or None,
        row=value.row,
        column=value.column,
        heading=claim.heading,
        location=claim.location,
        also=list(claim.also) or None,
    )


def _proposal_json(proposal: Proposal) -> dict[str, Any]:
    return {
        "id": proposal.id,
        "claim": _claim_json(proposal.claim),
        "standing": proposal.standing,
        "places": proposal.found.total,
        "p_anywhere": round(proposal.found.p_anywhere, 4),
        "candidates": [
            _candidate_json(proposal, rank, candidate)
            for rank, candidate in enumerate(proposal.candidates, start=1)
        ],
    }


def _candidate_json(proposal: Proposal, rank: int, candidate: Candidate) -> dict[str, Any]:
    match = candidate.match
    words = ("none", "part", "full")
    return _without_none(
        id=proposal.id if rank == 1 else f"{proposal.id}@{rank}",
        record=match.run.record,
        value=match.leaf.text,
        place=candidate.place,
        line=candidate.line,
        p=round(match.p, 4),
        decoys=match.decoys,
        decoys_found=match.found,
        row=words[match.row],
        column=words[match.column],
        neighbours=round(match.support / 2, 3),
        truncated=match.truncated,
        outcome=candidate.outcome,
    )


def claims_suggest(
    path: Path,
    *,
    papers: Sequence[Path] = (),
    write: bool = False,
    accept: Sequence[str] = (),
    progress: Progress = silent,
) -> ClaimsResult:
    """Search every number of the results tables in recorded outputs, and propose selectors.

    Without `write` nothing is changed. With it the accepted outcomes are added to ``rra.yaml``;
    everything that is there stays, byte for byte.

    Args:
        path: Directory of the artifact.
        papers: Documents whose tables are read (Markdown, reStructuredText, HTML, LaTeX, CSV);
            the READMEs of the artifact by default.
        write: Add outcomes to the manifest.
        accept: Ids of proposals, ``experiment/outcome``, with ``@2`` behind it for the second
            candidate; all that are clear by default.
        progress: Called with one line for each step.

    Raises:
        UsageError: A document or an id is not there, or nothing can be added to the manifest.
        FormatError: A document cannot be read.
        StorageError: The disk is full or refuses; the manifest is as it was.
    """
    from rra.author.claims import suggest_outcomes

    if accept and not write:
        message = "proposals are accepted only together with writing them"
        raise UsageError(message, hint="add --write")
    artifact = load_artifact(path)
    before = (artifact.root / layout.MANIFEST).read_bytes()
    found = suggest_outcomes(artifact, papers, progress=progress)
    accepted: tuple[str, ...] = ()
    if write:
        chosen = _chosen(found.proposals, accept)
        if chosen:
            _write(artifact.root, before, chosen)
        accepted = tuple(proposal.id for proposal, _ in chosen)
    good = bool(accepted) if write else bool(found.proposals)
    return ClaimsResult(
        root=artifact.root,
        suggestions=found,
        accepted=accepted,
        exit_code=0 if good else 1,
        problems=(*artifact.warnings, *found.problems),
    )


def _chosen(proposals: Sequence[Proposal], accept: Sequence[str]) -> list[tuple[Proposal, int]]:
    """Return the proposals to add, each with the rank of its candidate."""
    if not accept:
        return [(one, 1) for one in proposals if one.standing == "clear"]
    chosen: dict[str, tuple[Proposal, int]] = {}
    for name in accept:
        proposal, rank = _named(proposals, name)
        if proposal.id in chosen:
            message = f"{proposal.id} is accepted twice"
            raise UsageError(message, hint="an outcome has one selector: name one candidate")
        chosen[proposal.id] = (proposal, rank)
    return [chosen[one.id] for one in proposals if one.id in chosen]


def _named(proposals: Sequence[Proposal], name: str) -> tuple[Proposal, int]:
    plain, mark, number = name.partition("@")
    found = [one for one in proposals if plain in {one.id, one.id.split("/")[1]}]
    exact = [one for one in found if one.id == plain]
    if len(exact or found) != 1:
        known = [one.id for one in (found or proposals)]
        near = difflib.get_close_matches(plain, known, n=3, cutoff=0.4) or known[:8]
        what = "names several proposals" if found else "is not proposed"
        hint = f"proposals: {', '.join(near)}" if near else "nothing is proposed"
        raise UsageError(f"{plain} {what}", hint=hint)
    proposal = (exact or found)[0]
    rank = int(number) if number.isdigit() and len(number) < 4 else 0
    if mark and not 1 <= rank <= len(proposal.candidates):
        message = f"{plain} has no candidate {number!r}"
        raise UsageError(message, hint=f"it has {len(proposal.candidates)}, counted from 1")
    return proposal, rank or 1


def _write(root: Path, before: bytes, chosen: Sequence[tuple[Proposal, int]]) -> None:
    """Add outcomes to the manifest: checked as a whole first, then written at once."""
    from rra.author.splice import splice_outcomes

    manifest = (root / layout.MANIFEST).resolve()
    text = before.decode("utf-8-sig")
    mark = _BOM if before.startswith(_BOM.encode()) else ""
    result = splice_outcomes(text, [proposal.new_outcome(rank) for proposal, rank in chosen])
    content = (mark + result).encode()
    with tempfile.TemporaryDirectory() as folder:
        trial = Path(folder) / layout.MANIFEST
        trial.write_bytes(content)
        load_artifact(trial.parent, tables=False)
    if manifest.read_bytes() != before:
        message = f"{layout.MANIFEST} was changed meanwhile; nothing is written"
        raise UsageError(message, hint="run the command again")
    mode = manifest.stat().st_mode & 0o777
    atomic_write(manifest, content, mode=mode)
    try:
        load_artifact(root)
    except RraError:
        atomic_write(manifest, before, mode=mode)
        raise
