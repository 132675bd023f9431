"""Options of the verbs that can make an artifact anonymous, and what they say of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rra.cli.text import size

if TYPE_CHECKING:
    from rra.api._anonymous import Anonymity, AnonymousReport

_SHOWN = 5


def anonymous_options(function: Callable[..., None]) -> Callable[..., None]:
    """Add ``--anonymous`` and what goes with it; they arrive as one argument `anonymous`."""
    options = (
        click.option(
            "--anonymous",
            is_flag=True,
            help="Blank what identifies the authors, and search for it.",
        ),
        click.option(
            "--also", multiple=True, metavar="TEXT", help="Another text that identifies them."
        ),
        click.option(
            "--keep", multiple=True, metavar="TEXT", help="A text that identifies nobody."
        ),
        click.option("--keep-paper", is_flag=True, help="The paper is by others: keep it named."),
        click.option(
            "--mapping",
            type=click.Path(path_type=Path, dir_okay=False),
            metavar="FILE",
            help="Where the private list of replacements goes.",
        ),
    )
    for option in reversed(options):
        function = option(function)
    return function


def anonymity(options: dict[str, Any]) -> Anonymity | None:
    """Return what the options ask for.

    Raises:
        click.UsageError: One of them needs ``--anonymous``, or names no text.
    """
    wanted = {name: options[name] for name in ("also", "keep", "keep_paper", "mapping")}
    if not options["anonymous"]:
        for name, value in wanted.items():
            if value:
                raise click.UsageError(f"--{name.replace('_', '-')} needs --anonymous")
        return None
    from rra.api._anonymous import Anonymity
    from rra.errors import UsageError

    try:
        return Anonymity(**wanted)
    except UsageError as error:
        raise click.UsageError(f"{error.message}; {error.hint}") from error


def anonymous_lines(report: AnonymousReport) -> list[str]:
    """Return what people are told of an artifact that was made anonymous."""
    files, length = report.searched
    lines = [
        f"blanked {report.files} files, {report.records} records with new digests",
        f"searched {files} files, {size(length)}: nothing is left of what is known"
        if report.mapping
        else f"searched {files} files, {size(length)}",
    ]
    for path, why in report.unsearched[:_SHOWN]:
        lines.append(f"not searched whole: {path}: {why}")
    if len(report.unsearched) > _SHOWN:
        lines.append(f"and {len(report.unsearched) - _SHOWN} more (--json names all)")
    lines += [f"note: {note}" for note in report.notes]
    if report.mapping:
        lines.append(f"PRIVATE {report.mapping}: says who you are; keep it to yourself")
    return lines
