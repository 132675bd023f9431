"""``rra update``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from rra import api
from rra.cli.text import next_step
from rra.cli.verb import VerbCommand, answer, artifact_argument, json_option, key_values, safe

if TYPE_CHECKING:
    from rra.api._update import UpdateResult
    from rra.author.merge import Conflicts


@click.command(
    "update",
    cls=VerbCommand,
    examples=("rra update --dry-run", "rra update . --conflicts mark"),
)
@artifact_argument
@click.option("--template", metavar="NAME", help="Where the template is now, if it has moved.")
@click.option(
    "--set", "answers", multiple=True, metavar="KEY=VALUE", help="Change a variable's value."
)
@click.option(
    "--conflicts",
    type=click.Choice(["leave", "author", "template", "mark"]),
    default="leave",
    show_default=True,
    help="What becomes of lines that both have changed.",
)
@click.option("--dry-run", is_flag=True, help="Only say what would be written.")
@json_option
def command(
    artifact: Path,
    template: str | None,
    answers: tuple[str, ...],
    conflicts: str,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Merge a newer version of the template that an artifact was made from.

    Each file is merged three ways, as git does it. What you changed stays; a file in which you
    and the template changed the same lines is left as it is and shown, and the answer is no.
    """
    given = key_values("--set", answers)
    answer(
        "update",
        lambda progress: api.update(
            artifact,
            template=template,
            answers=given,
            conflicts=cast("Conflicts", conflicts),
            dry_run=dry_run,
            progress=progress,
        ),
        _render,
        as_json=as_json,
    )


def _render(result: UpdateResult) -> str:
    lines = [f"{result.template}: {result.before} to {result.after}"]
    if not result.updates:
        lines = [f"{result.template} {result.after}: everything is there already"]
    for update in result.updates:
        why = f": {safe(update.why)}" if update.why else ""
        lines.append(f"{update.what:9} {safe(str(update.path))}{why}")
        if update.diff:
            lines.append(safe(update.diff.rstrip("\n")))
    lines += [f"note: {safe(note)}" for note in result.notes]
    if result.dry_run and result.updates:
        lines.append("nothing was written (--dry-run)")
    lines.append(next_step(_next(result)))
    return "\n".join(lines)


def _next(result: UpdateResult) -> str:
    waiting = [update for update in result.updates if update.what == "conflict"]
    marked = " and ".join(safe(str(update.path)) for update in waiting if update.marked)
    others = " and ".join(safe(str(update.path)) for update in waiting if not update.marked)
    if marked and not result.dry_run:
        return f"at each mark in {marked} keep what is right, then rra lint"
    if others and result.conflicts == "mark":
        return f"change {others} towards the template's, or rra update --conflicts author"
    if waiting and result.conflicts == "leave":
        return "change your file towards the template's, or rra update --conflicts mark"
    return "rra lint, then rra lock" if result.updates else "rra lint"
