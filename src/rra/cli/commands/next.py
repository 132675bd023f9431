"""``rra next``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from rra import api
from rra.cli.hints import for_artifact
from rra.cli.text import next_step
from rra.cli.verb import VerbCommand, answer, json_option, reference_argument, safe

if TYPE_CHECKING:
    from rra.api._next import NextResult, Step


@click.command("next", cls=VerbCommand, examples=("rra next", "rra next . --json"))
@reference_argument
@json_option
def command(artifact: str, as_json: bool) -> None:
    """Say what stands between this artifact and its next level, with minutes.

    Nothing is run. Levels above L0 come from the newest verification of the artifact exactly
    as it is now.
    """
    answer("next", lambda progress: api.next(artifact, progress=progress), _render, as_json=as_json)


def _render(result: NextResult) -> str:
    lines = [f"level {result.level}, by {result.basis}"]
    if result.next_level is None:
        lines.append("nothing is left that this machine can do: L4 takes somebody independent")
        lines.append(next_step("let somebody else run rra verify"))
        return "\n".join(lines)
    lines.append(f"to reach {result.next_level}:")
    for number, step in enumerate(result.steps, 1):
        lines += [
            f"{number:3}. {safe(step.what)}",
            f"     {safe(for_artifact(step.command))}{_time(step)}",
        ]
    lines.append(next_step(_first(result)))
    return "\n".join(lines)


def _first(result: NextResult) -> str:
    """Return the first command; where only documented deviations are left, what else to do."""
    if not result.steps:
        return "rra verify"
    if result.documented_only:
        return "hand it on as it is: rra report, rra pack"
    return result.steps[0].command


def _time(step: Step) -> str:
    """Return the expected time, less than a tenth of a minute in seconds."""
    if step.minutes is None:
        return ""
    if step.minutes < 0.1:
        return f"  (about {max(1, round(step.minutes * 60))} s)"
    return f"  (about {round(step.minutes, 1):g} min)"
