"""``rra verify``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from rra import api
from rra.cli.text import next_step, number, table
from rra.cli.verb import VerbCommand, answer, json_option, reference_argument, safe

if TYPE_CHECKING:
    from rra.api._verify import VerifyResult
    from rra.verify import OutcomeReproduction, Reproduction

_NEXT_LEVEL = {"none": "L0", "L0": "L1", "L1": "L2", "L2": "L3"}
_NO_COPY = "no-copy-found"
_REASONS_SHOWN = 6


@click.command(
    "verify",
    cls=VerbCommand,
    examples=("rra verify", "rra verify . --references ../references.yaml --accept-documented"),
)
@reference_argument
@click.option(
    "--references",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Values of earlier runs; no launcher sees them.",
)
@click.option(
    "--accept-documented",
    is_flag=True,
    help="Accept outcomes that deviate exactly as the artifact documents.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Folder for plan, records, outputs and result; new or empty.",
)
@click.option(
    "--reports",
    type=click.IntRange(min=1),
    help="Fresh values of launchers that are not deterministic.",
)
@click.option(
    "--sandbox",
    type=click.Choice(["bwrap", "apptainer", "none"]),
    help="Isolation; the best that works by default. Containers bring their own.",
)
@click.option("--keep", is_flag=True, help="Leave the fresh place and environments behind.")
@json_option
def command(
    artifact: str,
    references: Path | None,
    accept_documented: bool,
    out: Path | None,
    reports: int | None,
    sandbox: str | None,
    keep: bool,
    as_json: bool,
) -> None:
    """Re-run an artifact as a stranger and judge every reported value.

    The artifact is copied to a fresh place, its locked environments are built anew, its old
    outputs are not used, and the plan is written before anything runs. Two questions are
    answered for each value: does it agree with the paper, and does it repeat?

    Exits with 0 when every value is reproduced, 1 when not, 3 when it could not be run.
    """
    answer(
        "verify",
        lambda progress: api.verify(
            artifact,
            references=references,
            accept_documented=accept_documented,
            out=out,
            reports=reports,
            sandbox=sandbox,
            keep=keep,
            progress=progress,
        ),
        _render,
        as_json=as_json,
    )


def _render(result: VerifyResult) -> str:
    found = result.reproduction
    rows = [
        (o.outcome, o.reported, _obtained(o), o.agreement, o.repeatability, o.label)
        for o in found.outcomes
    ]
    header = ("outcome", "claimed", "obtained", "agrees", "repeats", "verdict")
    lines = [table(header, rows), ""]
    cleared = [one for one in found.outcomes if _is_cleared(one)]
    for outcome in found.outcomes:
        if outcome.verdict != "reproduced" or (outcome.findings and outcome not in cleared):
            lines += _details(outcome)
    if cleared:
        probed = "outcome was" if len(cleared) == 1 else "outcomes were"
        lines.append(
            f"{len(cleared)} reproduced {probed} probed for copies of the value: none found"
        )
    lines += [f"note: {note}" for note in found.notes]
    lines.append(f"verdict  {found.verdict}")
    lines += _level(found)
    attempt = f"attempt {found.plan.attempt} of {found.attempts}"
    lines += [
        f"python   {one.python}, which environment {one.id} carries"
        for one in found.environments
        if one.interpreter
    ]
    lines.append(f"nonce    {found.nonce} ({attempt}), runs isolated by {found.plan.sandbox}")
    lines.append(f"kept in  {result.directory}")
    lines.append(next_step("rra audit, then rra report"))
    return "\n".join(lines)


def _level(found: Reproduction) -> list[str]:
    """Return the level with what it speaks about, and why it is not the next one."""
    known = found.coverage.startswith(f"{found.level} · ")
    lines = [f"level    {found.coverage if known else f'{found.level}: {found.coverage}'}"]
    above = _NEXT_LEVEL.get(found.level)
    label = f"why not {above}: " if above else "note: "
    return lines + [f"{label}{safe(reason)}" for reason in found.level_reasons[:_REASONS_SHOWN]]


def _is_cleared(outcome: OutcomeReproduction) -> bool:
    """Tell whether an outcome is reproduced, and no more to be said than that no copy was found."""
    codes = {finding.code for finding in outcome.findings}
    return outcome.verdict == "reproduced" and codes == {_NO_COPY}


def _obtained(outcome: OutcomeReproduction) -> str:
    """Return the mean of numbers; for categories and lists each value once."""
    if outcome.mean is not None or not outcome.values:
        return number(outcome.mean)
    return "; ".join(dict.fromkeys(outcome.values))


def _details(outcome: OutcomeReproduction) -> list[str]:
    lines = [f"{outcome.outcome}: {safe(outcome.reason)}"]
    for finding in outcome.findings:
        weight = "" if finding.material else ", immaterial"
        lines.append(f"  {finding.code} ({finding.status}{weight}): {safe(finding.message)}")
    return lines
