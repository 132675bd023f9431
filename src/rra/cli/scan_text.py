"""What a scan found, as text for people: what is there, how it is run, what is missing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from rra.cli.text import next_step, size, word
from rra.cli.verb import safe
from rra.environment.names import distribution_of_import
from rra.scan import Command, Scan

_MOST = 8
_RUNS = ("run", "test")


def scan_text(scan: Scan, output: Path | None) -> str:
    """Return the findings in sections, each cut to what fits on a screen.

    Args:
        scan: What was found.
        output: The file that has all of it; None when none was written.
    """
    more = " at least" if scan.truncated else ""
    counted = f"{len(scan.files)} files, {size(sum(scan.files.values()))}"
    lines = [f"{scan.root.name}:{more} {counted}; nothing of it was run"]
    for title, rows in _sections(scan):
        shown = list(rows)
        if shown:
            lines += ["", title, *(f"  {row}" for row in _cut(shown))]
    missing = list(dict.fromkeys(_missing(scan)))
    lines += ["", "Missing, or in the way" if missing else "Nothing seems to be missing"]
    lines += [f"  - {line}" for line in _cut(missing, most=2 * _MOST)]
    if output is not None:
        lines += ["", f"all of it: {output}"]
    lines += ["", next_step(f"rra init {word(scan.root)}")]
    return "\n".join(safe(line) for line in lines)


def _cut(rows: list[str], *, most: int = _MOST) -> Iterator[str]:
    yield from rows[:most]
    if len(rows) > most:
        yield f"… and {len(rows) - most} more (--json has them all)"


def _sections(scan: Scan) -> Iterator[tuple[str, Iterable[str]]]:
    yield "Documented commands", _commands(scan)
    yield "Scripts that no document starts", _undocumented(scan)
    yield (
        "Must run before",
        (f"{one.first} writes {one.file}, {one.then} reads it" for one in scan.order_issues),
    )
    yield "Needs", _needs(scan)
    yield (
        "Data",
        (
            f"{one.path} ({size(one.size)}), read by {_names(map(str, one.readers))}"
            for one in scan.data_files
        ),
    )
    yield (
        "Writes",
        (
            f"{one.pattern}, by {one.writer}:{one.line}"
            + (" (is committed)" if one.committed else "")
            for one in scan.outputs
        ),
    )
    yield (
        "Results that documents report",
        (
            f"{one.source}:{one.line} {one.heading or 'no heading'}: {len(one.values)} numbers"
            for one in scan.results
        ),
    )


def _names(names: Iterable[str], most: int = 3) -> str:
    shown = list(names)
    rest = f" and {len(shown) - most} more" if len(shown) > most else ""
    return ", ".join(shown[:most]) + rest


def _commands(scan: Scan) -> Iterator[str]:
    for command in scan.commands:
        if command.kind in _RUNS or command.script is not None:
            yield f"{command.text}  ({command.source}:{command.line}{_why_not(command)})"


def _why_not(command: Command) -> str:
    if command.target:
        return f"; {command.target} is not there"
    if command.placeholders:
        return f"; replace {_names(command.placeholders)}"
    return ""


def _undocumented(scan: Scan) -> Iterator[str]:
    for entry in scan.entry_points:
        if not entry.documented:
            counted = f", {len(entry.arguments)} arguments" if entry.arguments else ""
            yield f"{entry.path} ({entry.kind}{counted})"


def _needs(scan: Scan) -> Iterator[str]:
    if scan.manifests:
        yield f"declared in {_names(map(str, scan.manifests), most=6)}"
    if scan.imports:
        known = [distribution_of_import(name) or f"{name} (unknown)" for name in scan.imports]
        yield f"imports {_names(known, most=20)}"
    for hint in scan.python:
        yield f"Python {hint.text} ({hint.source})"


def _missing(scan: Scan) -> Iterator[str]:
    """Yield what a reader will miss, the worst first."""
    if scan.licence is None:
        yield "no licence: nobody may use it"
    if not scan.manifests and scan.imports:
        yield "no file declares what has to be installed"
    if not any(command.kind == "run" for command in scan.commands):
        yield "no document gives a command to run"
    counts = Counter(problem.clause for problem in scan.problems)
    told: Counter[str] = Counter()
    for problem in scan.problems:
        told[problem.clause] += 1
        if told[problem.clause] <= 3:
            place = f"{problem.path}:{problem.line}" if problem.line else problem.path
            yield f"{place}: {problem.message}"
        elif told[problem.clause] == 4:
            yield f"… {counts[problem.clause] - 3} more of this kind ({problem.clause})"
