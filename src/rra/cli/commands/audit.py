"""``rra audit``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from rra import api
from rra.cli.text import next_step, number, table
from rra.cli.verb import VerbCommand, answer, json_option, reference_argument, safe

if TYPE_CHECKING:
    from rra.api._audit import AuditReport


@click.command("audit", cls=VerbCommand, examples=("rra audit", "rra audit . --no-rerun --json"))
@reference_argument
@click.option("--outcome", "-o", multiple=True, metavar="NAME", help="Only this outcome.")
@click.option("--no-rerun", is_flag=True, help="Run nothing; look at what is there.")
@click.option(
    "--accept-documented",
    is_flag=True,
    help="Accept values that deviate exactly as the artifact documents.",
)
@click.option(
    "--sandbox",
    type=click.Choice(["bwrap", "apptainer", "none"]),
    help="Isolation; the best that works by default. Containers bring their own.",
)
@json_option
def command(
    artifact: str,
    outcome: tuple[str, ...],
    no_rerun: bool,
    accept_documented: bool,
    sandbox: str | None,
    as_json: bool,
) -> None:
    """Trace every reported value to file, record, launcher and script.

    The artifact is never changed. Unless --no-rerun is given, launchers run in a temporary
    place, and numbers that look like the result are replaced there: a result that follows
    was copied, not computed.
    """
    answer(
        "audit",
        lambda progress: api.audit(
            artifact,
            outcomes=outcome,
            rerun=not no_rerun,
            accept_documented=accept_documented,
            sandbox=sandbox,
            progress=progress,
        ),
        _render,
        as_json=as_json,
    )


def _render(result: AuditReport) -> str:
    rows = []
    lines = []
    for value in result.audit.values:
        verdict = value.verdict + (" (as documented)" if value.documented else "")
        rows.append(
            (value.outcome, value.reported, number(value.obtained), value.evidence_level, verdict)
        )
        for finding in value.findings:
            if finding.status == "supported" and not finding.material:
                continue
            weight = "" if finding.material else ", immaterial"
            message = f"{finding.code} ({finding.status}{weight}): {finding.message}"
            lines.append(f"{value.outcome}: {safe(message)}")
    header = ("outcome", "claimed", "obtained", "evidence", "verdict")
    notes = [f"note: {safe(note)}" for note in result.audit.notes]
    kept = f"kept in  {result.file}"
    step = next_step("rra report" if result.ok else "rra explain VERDICT")
    return "\n".join([table(header, rows), "", *lines, *notes, kept, step])
