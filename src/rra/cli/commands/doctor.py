"""``rra doctor``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from rra import api
from rra.cli.text import next_step, table
from rra.cli.verb import VerbCommand, answer, json_option

if TYPE_CHECKING:
    from rra.api._doctor import DoctorResult


@click.command("doctor", cls=VerbCommand, examples=("rra doctor", "rra doctor --json"))
@json_option
def command(as_json: bool) -> None:
    """Say what this machine can isolate, record and build, by trying it."""
    answer("doctor", lambda progress: api.doctor(progress=progress), _render, as_json=as_json)


def _render(result: DoctorResult) -> str:
    rows = [
        (
            one.name,
            "works" if one.works else "missing",
            one.detail,
            "" if one.works else f"{one.needed_for}; {one.install}".rstrip("; "),
        )
        for one in result.capabilities
    ]
    text = table(("what", "state", "seen", "without it you lack"), rows)
    return f"{text}\n{next_step('rra init, or rra verify DIRECTORY')}"
