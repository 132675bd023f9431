"""Commands that texts propose, for the artifact that was given: they can be pasted as they are.

The api and the renderers write ``rra lock --keep``; whoever said ``rra env check studies/wine``
reads ``rra lock studies/wine --keep``. How a verb takes its artifact is read from the verb itself.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click

_COMMAND = re.compile(
    r"\brra (?P<verb>[a-z]+)(?P<more> [a-z]+)?(?=$|[,;:)\n]| --| then\b| and\b| or\b| again\b)"
)
"""A command that names no artifact: behind its words comes an option, or the text goes on."""

_GOES_ON = frozenset({"then", "and", "or", "again"})
"""Words behind a command that are none of it."""

_RUNS_NAMED = re.compile(r"\brra run(?= [a-z0-9][\w.-]*$)")
"""``rra run LAUNCHER`` at the end of a text."""


def for_artifact(text: str, place: str | Path | None = None) -> str:
    """Return a text whose commands name an artifact, unless it is the current directory.

    Args:
        text: What to do, with commands that name none.
        place: The artifact, as a path or a reference; by default what the command line was given.
    """
    named = str(given_artifact() if place is None else place)
    if named == ".":
        return text
    text = _RUNS_NAMED.sub(lambda match: f"{match[0]} {_way(('run',), named)}", text)

    def name(match: re.Match[str]) -> str:
        verb, more = match["verb"], match["more"] or ""
        way = _way((verb, more.strip()), named) if more else _way((verb,), named)
        if way:
            return f"{match[0]} {way}"
        way = _way((verb,), named) if more.strip() in _GOES_ON else ""
        return f"rra {verb} {way}{more}" if way else match[0]

    return _COMMAND.sub(name, text)


def given_artifact() -> str:
    """Return the artifact that the command line was given; ``.`` where it was given none."""
    context = click.get_current_context(silent=True)
    found = context.params.get("artifact") if context is not None else None
    return str(found) if found is not None else "."


def _way(words: tuple[str, ...], place: str) -> str:
    """Return what a command needs behind it to work on an artifact; nothing if it cannot."""
    current = click.get_current_context(silent=True)
    if current is None:
        return ""
    context = current.find_root()
    command: click.Command | None = context.command
    for word in words:
        command = command.get_command(context, word) if isinstance(command, click.Group) else None
    takes = next((p for p in command.params if p.name == "artifact"), None) if command else None
    local_only = takes is not None and isinstance(takes.type, click.Path)
    if takes is None or (local_only and not Path(place).is_dir()):
        return ""
    option = f"{min(takes.opts, key=len)} " if isinstance(takes, click.Option) else ""
    return option + shlex.quote(place)
