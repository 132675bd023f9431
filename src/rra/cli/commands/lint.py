"""``rra lint``."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import click

from rra import api
from rra.cli.text import next_step
from rra.cli.verb import VerbCommand, answer, json_option, reference_argument

if TYPE_CHECKING:
    from rra.api._lint import LintReport
    from rra.cli.verb import Progress


@click.command(
    "lint",
    cls=VerbCommand,
    examples=(
        "rra lint . --profile reproducible --format github",
        "rra lint guide/settings.yaml",
    ),
)
@reference_argument
@click.option(
    "--profile",
    type=click.Choice(["basic", "reproducible", "archival"]),
    default="basic",
    show_default=True,
    help="How much is asked.",
)
@click.option(
    "--document",
    metavar="NAME",
    help="ARTIFACT is one file: this document (manifest, settings, …), whatever its name.",
)
@click.option("--select", multiple=True, metavar="CODE", help="Only this rule or family (RRA1).")
@click.option("--ignore", multiple=True, metavar="CODE", help="Leave this rule or family out.")
@click.option(
    "--format",
    "style",
    type=click.Choice(["text", "json", "github", "sarif"]),
    default="text",
    show_default=True,
    help="Form of the findings.",
)
@json_option
def command(
    artifact: str,
    profile: str,
    document: str | None,
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    style: str,
    as_json: bool,
) -> None:
    """Check an artifact against the rules; nothing of it is run.

    A document by itself, such as guide/settings.yaml or a record.json, is checked alone.
    Exits with 1 when a finding is an error, with 4 when the text is not YAML or JSON; the
    findings are printed either way. Findings are advice about the artifact, never a
    level: only a run shows whether a result comes out.
    """

    def look(progress: Progress) -> LintReport:
        report = api.lint(
            artifact,
            profile=profile,
            document=document,
            select=select,
            ignore=ignore,
            progress=progress,
        )
        # The findings say the faults of a text that cannot be read; the envelope has both.
        notices = tuple(one for one in report.problems if one.severity == "warning")
        return report if as_json else dataclasses.replace(report, problems=notices)

    answer(
        "lint",
        look,
        lambda result: _render(result, style),
        as_json=as_json,
    )


def _render(result: LintReport, style: str) -> str:
    from rra.lint import format_result

    text = format_result(result.found, style).rstrip("\n")
    if style != "text":
        return text
    if result.ok and "RRA003" in result.found.skipped:
        return text  # one document by itself
    step = "rra verify" if result.ok else "rra explain CODE, correct it, and rra lint again"
    return f"{text}\n{next_step(step)}"
