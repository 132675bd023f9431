"""Plain text for people: tables that fold on a terminal, and keep every cell whole in a pipe."""

from __future__ import annotations

import io
import itertools
import os
import shlex
import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from decimal import Context, Decimal, InvalidOperation

from rra.cli.hints import for_artifact
from rra.cli.verb import safe

PART = "read what is there; to run it, the whole is needed, without --only"
"""What to do with a part of an artifact."""

_MIN_WIDTH = 60
_GAP = "   "
_DIGITS = 8
_STYLES = {
    "reproduced": "green",
    "supported": "green",
    "deviates_as_documented": "yellow",
    "inconclusive": "yellow",
    "not_reproduced": "red",
    "deviates": "red",
    "could_not_run": "red",
    "error": "red",
    "warning": "yellow",
}


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table as text.

    On a terminal it folds to the width, in colours unless `NO_COLOR` is set. Elsewhere nothing is
    folded, so that ids and paths can be searched for and copied.
    """
    kept = [[safe(cell) for cell in row] for row in rows]
    if not sys.stdout.isatty():
        return _columns(header, kept)
    from rich.box import SIMPLE
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    grid = Table(box=SIMPLE, show_edge=False, pad_edge=False)
    for name in header:
        grid.add_column(name, overflow="fold")
    for row in kept:
        grid.add_row(*(Text(cell, style=_style(cell)) for cell in row))
    width = max(shutil.get_terminal_size().columns, _MIN_WIDTH)
    buffer = io.StringIO()
    console = Console(file=buffer, width=width, force_terminal=not os.environ.get("NO_COLOR"))
    console.print(grid)
    return "\n".join(line.rstrip() for line in buffer.getvalue().splitlines())


def _columns(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table whose cells are whole, without what only a terminal needs to be loaded."""
    from rich.cells import cell_len

    lines = [tuple(header)]
    for row in rows:
        parts = (cell.expandtabs().split("\n") for cell in row)
        lines += itertools.zip_longest(*parts, fillvalue="")
    widths = [max(map(cell_len, column)) for column in zip(*lines, strict=True)]
    rule = "─" * (sum(widths) + len(_GAP) * (len(widths) - 1))
    texts = [
        _GAP.join(
            cell + " " * (width - cell_len(cell)) for cell, width in zip(line, widths, strict=True)
        ).rstrip()
        for line in lines
    ]
    return "\n".join([texts[0], rule, *texts[1:]])


def _style(cell: str) -> str:
    words = cell.lower().replace("(", " ").split()
    return _STYLES.get(words[0], "") if words else ""


def number(text: str | None) -> str:
    """Return a number in at most eight significant digits; other text as it is, None as –."""
    if text is None:
        return "–"
    try:
        value = Decimal(text)
    except InvalidOperation:
        return text
    if not value.is_finite() or value == value.to_integral_value():
        return text
    rounded = Context(prec=_DIGITS).plus(value).normalize()
    return f"{rounded:f}" if -6 < rounded.adjusted() < 16 else str(rounded)


def size(count: int) -> str:
    """Return a number of bytes in the largest unit that leaves at least one."""
    value, unit = float(count), "B"
    for larger in ("KiB", "MiB", "GiB", "TiB"):
        if value < 1024:
            break
        value, unit = value / 1024, larger
    return f"{count} B" if unit == "B" else f"{value:.1f} {unit}"


def word(text: object) -> str:
    """Return a path or reference as one word of a shell, so that a command can be pasted."""
    return safe(shlex.quote(str(text)))


def settings_text(parameters: Mapping[str, object], seed: int | None) -> str:
    """Return what a run was given in one line; empty where that is nothing."""
    given = [f"{name}={value}" for name, value in parameters.items()]
    named = f"seed={seed}"
    given += [named] if seed is not None and named not in given else []
    return ", ".join(given)


def next_step(command: str, place: object = None) -> str:
    """Return the line that names the next sensible commands, for the artifact at hand.

    Args:
        command: The commands, without an artifact where they are about the one at hand.
        place: Path or reference of that; by default what the command line was given.
    """
    return safe(f"next: {for_artifact(command, None if place is None else str(place))}")
