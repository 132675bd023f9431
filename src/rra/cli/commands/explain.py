"""``rra explain``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from rra import api
from rra.cli.verb import VerbCommand, answer, json_option

if TYPE_CHECKING:
    from rra.api._explain import Explanation


@click.command(
    "explain",
    cls=VerbCommand,
    examples=("rra explain HARDCODED", "rra explain manifest/version-is-text"),
)
@click.argument("topic", required=False, metavar="[TOPIC]")
@json_option
def command(topic: str | None, as_json: bool) -> None:
    """Explain a rule, verdict, level, clause or error; without TOPIC, list them.

    A page of the specification, such as manifest, lists its clauses.
    """
    answer(
        "explain", lambda progress: api.explain(topic, progress=progress), _render, as_json=as_json
    )


def _render(result: Explanation) -> str:
    return result.text.rstrip("\n")
