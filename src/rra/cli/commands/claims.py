"""``rra claims``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from rra import api
from rra.cli.text import next_step, number
from rra.cli.verb import VerbCommand, answer, artifact_argument, json_option, safe

if TYPE_CHECKING:
    from rra.api._claims_suggest import ClaimsResult
    from rra.author.claims import Candidate, Proposal

_MISSING_SHOWN = 20
_NAMED = ("not named", "named in part", "named")


@click.group("claims")
def command() -> None:
    """Find reported numbers in what recorded runs left.

    A claim is a number that a README or a paper reports.
    """


@command.command(
    "suggest",
    cls=VerbCommand,
    examples=("rra claims suggest", "rra claims suggest . --paper paper.tex --write"),
)
@artifact_argument
@click.option(
    "--paper",
    "papers",
    multiple=True,
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Read these tables instead of the READMEs': .md, .rst, .html, .tex, .csv or .tsv.",
)
@click.option("--write", is_flag=True, help="Add outcomes to rra.yaml: those that are clear.")
@click.option(
    "--accept",
    multiple=True,
    metavar="ID",
    help="With --write: add these instead; ID@2 takes the second candidate.",
)
@json_option
def suggest(
    artifact: Path, papers: tuple[Path, ...], write: bool, accept: tuple[str, ...], as_json: bool
) -> None:
    """Propose a selector for every reported number.

    Each number of the results tables is searched in the outputs of the newest recorded run of
    each launcher. p is the chance that a wrong number of the same form is found as well. A number
    is clear when one place fits and p is at most 0.05.

    Without --write nothing is changed. Exits with 1 when nothing is proposed, or nothing written.
    """
    answer(
        "claims-suggest",
        lambda progress: api.claims_suggest(
            artifact, papers=papers, write=write, accept=accept, progress=progress
        ),
        _render,
        as_json=as_json,
    )


def _render(result: ClaimsResult) -> str:
    found = result.suggestions
    parts = [_proposal(one, accepted=one.id in result.accepted) for one in found.proposals]
    if found.declared:
        lines = ["declared in rra.yaml already:"]
        for known in found.declared:
            differs = f", which has {known.differs}" if known.differs else ""
            lines.append(f"  {known.claim.value.text}  {known.outcome}{differs}")
        parts.append("\n".join(lines))
    if found.missing:
        lines = ["not found in any output:"]
        for missing in found.missing[:_MISSING_SHOWN]:
            why = "" if missing.reason.startswith("not found") else f" ({missing.reason})"
            lines.append(f"  {missing.claim.value.text}  {missing.claim.location}{why}")
        if len(found.missing) > _MISSING_SHOWN:
            lines.append(f"  and {len(found.missing) - _MISSING_SHOWN} more (--json shows them)")
        parts.append("\n".join(lines))
    parts += [
        f"passed over as no results: {table.source}:{table.line} {table.heading}"
        for table in found.passed_over
    ]
    parts.append(_summary(result))
    return "\n\n".join("\n".join(safe(line) for line in part.split("\n")) for part in parts)


def _proposal(proposal: Proposal, *, accepted: bool) -> str:
    claim = proposal.claim
    unit = f" {claim.unit}" if claim.unit else ""
    state = "added" if accepted else proposal.standing
    lines = [f"{proposal.id}: {claim.value.text}{unit}  [{state}]", f"  reported  {claim.location}"]
    shown = proposal.candidates[:1] if proposal.standing == "clear" else proposal.candidates
    for rank, candidate in enumerate(shown, start=1):
        lines += _candidate(rank, candidate)
    more = proposal.found.total - len(shown)
    if more:
        lines.append(f"  and {more} more place{'s' if more > 1 else ''} (--json shows the best)")
    if proposal.found.p_anywhere > 0.05:
        share = round(100 * proposal.found.p_anywhere)
        lines.append(f"  a wrong number of this form is found somewhere {share} % of the time")
    return "\n".join(lines)


def _candidate(rank: int, candidate: Candidate) -> list[str]:
    match = candidate.match
    selector = candidate.outcome["selector"]
    skipped = {"launcher", "file", "unit"}
    where = ", ".join(
        f"{key} {_shown(value)}" for key, value in selector.items() if key not in skipped
    )
    unit = f" {match.reading.unit}" if match.reading.unit else ""
    cut = ", cut to the reported digits" if match.truncated else ""
    named = f"row {_NAMED[match.row]}, column {_NAMED[match.column]}"
    return [
        f"  {rank}. {selector['launcher']}: {selector['file']} {where}",
        f"     {number(match.leaf.text)}{unit}{cut}; p = {match.p:.3f}; {named}",
    ]


def _shown(value: object) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_shown(item)}" for key, item in value.items()) + "}"
    return str(value)


def _summary(result: ClaimsResult) -> str:
    from rra.author.claims import count_by_standing, expected_by_chance

    found = result.suggestions
    counts = count_by_standing(found.proposals)
    numbers = len(found.proposals) + len(found.declared) + len(found.missing)
    told = ", ".join(f"{count} {name}" for name, count in counts.items()) or "none"
    rest = f"{len(found.declared)} declared, {len(found.missing)} not found"
    lines = [f"{numbers} reported numbers: {len(found.proposals)} found ({told}), {rest}"]
    clear = [one for one in found.proposals if one.standing == "clear"]
    if clear:
        lines.append(
            f"by chance alone {expected_by_chance(clear):.2g} of the {len(clear)} clear ones "
            "would be found as well"
        )
    if result.accepted:
        lines.append(f"added to rra.yaml: {len(result.accepted)}")
        lines.append(next_step("rra lock --keep, then rra audit"))
    elif clear:
        lines.append(next_step("rra claims suggest --write"))
    elif not numbers:
        lines.append(next_step("rra claims suggest --paper FILE"))
    elif found.proposals:
        lines.append(next_step(f"rra claims suggest --write --accept {found.proposals[0].id}"))
    else:
        lines.append(next_step("rra run" if not found.runs else "rra audit"))
    return "\n".join(lines)
