"""``rra repair``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from rra import api
from rra.cli.text import next_step, table
from rra.cli.verb import VerbCommand, answer, json_option, reference_argument

if TYPE_CHECKING:
    from rra.api._repair import RepairResult


@click.command(
    "repair",
    cls=VerbCommand,
    examples=("rra repair", "rra repair . --apply-to ../upstream-copy"),
)
@reference_argument
@click.option(
    "--apply-to",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Apply the repairs to this copy of the upstream files.",
)
@json_option
def command(artifact: str, apply_to: Path | None, as_json: bool) -> None:
    """Check or apply the repairs: upstream + patches in order = code.

    Without options the patches are taken back on a copy of the code, and the tree that is
    left is compared with the source that rra.yaml names. Trees are numbered as git does it.
    """
    answer(
        "repair",
        lambda progress: api.repair(artifact, apply_to=apply_to, progress=progress),
        _render,
        as_json=as_json,
    )


def _render(result: RepairResult) -> str:
    steps = result.steps[::-1] if result.direction == "reversed" else result.steps
    rows = [(step.id, step.title, step.category, step.effect_on_results) for step in steps]
    parts = [table(("repair", "what", "kind", "effect on results"), rows)] if rows else []
    parts.append(("yes: " if result.ok else "no: ") + result.message)
    parts.append(next_step("rra lint" if result.ok else "write the missing patch, or correct it"))
    return "\n".join(parts)
