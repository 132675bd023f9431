"""``rra report``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from rra import api
from rra.cli.text import next_step
from rra.cli.verb import VerbCommand, answer, json_option, reference_argument

if TYPE_CHECKING:
    from rra.api._report import ReportResult


@click.command(
    "report",
    cls=VerbCommand,
    examples=("rra report", "rra report . --output page.html"),
)
@reference_argument
@click.option(
    "--output",
    "-o",
    type=click.Path(path_type=Path, dir_okay=False),
    help="File to write; report.html in the artifact's outputs/ by default.",
)
@click.option(
    "--reproduction",
    type=click.Path(path_type=Path, exists=True),
    metavar="DIR",
    help="Folder of the verification to show; the newest of this artifact by default.",
)
@click.option(
    "--format",
    "style",
    type=click.Choice(["html", "markdown", "badge"]),
    default="html",
    show_default=True,
    help="A page, a summary for a pull request, or a badge.",
)
@json_option
def command(
    artifact: str,
    output: Path | None,
    reproduction: Path | None,
    style: str,
    as_json: bool,
) -> None:
    """Write one self-contained page: claimed, obtained, traced, repaired.

    It shows the newest verification and audit of the artifact exactly as it is now; without
    one it says that nothing was verified.
    """
    answer(
        "report",
        lambda progress: api.report(
            artifact, output, reproduction=reproduction, style=style, progress=progress
        ),
        _render,
        as_json=as_json,
    )


def _render(result: ReportResult) -> str:
    shown = f"verification {result.nonce}" if result.nonce else "no verification: claims only"
    audit = "with its audit" if result.audit else "no audit"
    step = "open it in a browser" if result.nonce else "rra verify, then rra report again"
    return f"{result.file}\nshows {shown}, {audit}\n{next_step(step)}"
