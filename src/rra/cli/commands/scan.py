"""``rra scan``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from rra import api
from rra.cli.verb import VerbCommand, answer, json_option

if TYPE_CHECKING:
    from rra.api._scan import ScanResult


@click.command(
    "scan", cls=VerbCommand, examples=("rra scan", "rra scan repository --output scan.json")
)
@click.argument("directory", default=".", type=click.Path(path_type=Path), metavar="[DIRECTORY]")
@click.option(
    "--output",
    "-o",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write everything that was found to this file, as JSON.",
)
@json_option
def command(directory: Path, output: Path | None, as_json: bool) -> None:
    """Say what a repository holds, how it is run, and what will get in the way.

    DIRECTORY is a repository that nobody prepared; the current one by default. Nothing of it is
    run, imported or changed.
    """
    answer(
        "scan",
        lambda progress: api.scan(directory, output=output, progress=progress),
        _render,
        as_json=as_json,
    )


def _render(result: ScanResult) -> str:
    from rra.cli.scan_text import scan_text

    return scan_text(result.scan, result.output)
