"""``rra guide``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from rra import api
from rra.cli.text import next_step
from rra.cli.verb import VerbCommand, answer, artifact_argument, json_option

if TYPE_CHECKING:
    from rra.api._guide import GuideUpdate


@click.command("guide", cls=VerbCommand, examples=("rra guide", "rra guide . --json"))
@artifact_argument
@json_option
def command(artifact: Path, as_json: bool) -> None:
    """Bring the tables of guide/GUIDE.md up to date.

    Tables stand between markers and are made from rra.yaml, settings.yaml and repairs.yaml.
    Everything else in the guide stays byte for byte as it is.
    """
    answer(
        "guide", lambda progress: api.guide(artifact, progress=progress), _render, as_json=as_json
    )


def _render(result: GuideUpdate) -> str:
    state = "brought up to date" if result.changed else "is up to date"
    lines = [f"{result.guide}: {state} ({', '.join(result.tables) or 'no tables'})"]
    lines += [f"note: {note}" for note in result.notes]
    lines += [f"blank at line {line}: {text}" for line, text in result.blanks]
    lines.append(next_step("fill the blanks" if result.blanks else "rra lint"))
    return "\n".join(lines)
