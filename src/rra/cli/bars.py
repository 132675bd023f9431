"""Progress on a terminal: the lines, a spinner with the newest one, and a bar for transfers."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence

from rich.console import Console, Group
from rich.live import Live
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from rra._base.progress import Activity, Amount, LiveProgress, clock_text, size_text


@contextlib.contextmanager
def bars(safe: Callable[[str], str], console: Console | None = None) -> Iterator[LiveProgress]:
    """Show progress on standard error until the block ends; the lines stay, the rest goes.

    Args:
        safe: Shows control characters of a line, so that no file can steer the terminal.
        console: Where it is shown instead.
    """
    console = console or Console(stderr=True, no_color=bool(os.environ.get("NO_COLOR")))
    shown = _Bars(console, safe)
    with Live(shown.group, console=console, transient=True, refresh_per_second=10):
        yield shown


class _Bars(LiveProgress):
    def __init__(self, console: Console, safe: Callable[[str], str]) -> None:
        self._console, self._safe = console, safe
        self._spinner = Spinner("dots", text="working …")
        self._progress = Progress(BarColumn(), TextColumn("{task.description}"), console=console)
        self._task = self._progress.add_task("", visible=False)
        self._activities: Sequence[Activity] = ()
        self.group = Group(self._spinner, self._progress, self)

    def __call__(self, line: str) -> None:
        """Keep a line above, and name it beside the spinner."""
        text = escape(self._safe(line))
        self._console.print(f"[dim]·[/dim] {text}", highlight=False)
        self._spinner.update(text=text)

    def watch(self, activities: Sequence[Activity]) -> None:
        """Show one line for each of what runs."""
        self._activities = tuple(activities)

    def __rich__(self) -> Table:
        """Return those lines as they are now."""
        shown = Table.grid(padding=(0, 2))
        for number in range(4):
            shown.add_column(no_wrap=True, overflow="ellipsis", ratio=1 if number == 3 else None)
        for one in self._activities:
            shown.add_row(*(Text(self._safe(cell)) for cell in activity_cells(one)))
        return shown

    def show(self, amount: Amount) -> None:
        """Draw the bar as far as it is."""
        self._progress.update(
            self._task,
            total=max(amount.total, 1),
            completed=amount.done,
            description=escape(described(amount)),
            visible=amount.done < amount.total,
        )


def described(amount: Amount) -> str:
    """Return bytes, rate and what is left as text."""
    done, rate = size_text(amount.done), size_text(int(amount.rate))
    text = f"{done} of {size_text(amount.total)} {amount.verb}, {rate}/s"
    left = amount.seconds_left
    if left is None:
        return text
    minutes, seconds = divmod(round(left), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{text}, {hours}:{minutes:02}:{seconds:02} left"


def activity_cells(one: Activity) -> tuple[str, str, str, str]:
    """Return name, time and memory of what runs, beside what was expected; values, newest line."""
    if one.seconds is None:
        return one.name, "waits", "", ""
    time = clock_text(one.seconds)
    if one.expected:
        time += f" of about {clock_text(one.expected)}"
    memory = size_text(one.memory) if one.memory else ""
    if one.memory and one.memory_declared:
        memory += f" of {size_text(one.memory_declared)}"
    metrics = ", ".join(f"{name} {value}" for name, value in one.metrics)
    return one.name, time, memory, " · ".join(filter(None, [metrics, one.line]))
