"""What a scan found, as text for people: what is there, how it is run, what is missing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from rra.cli.text import next_step, size, word
from rra.cli.verb import safe
from rra.environment.names import distribution_of_import
from rra.scan import Command, Scan
from rra.scan.traits.objects import Checkpoint, Seed

_MOST = 8
_RUNS = ("run", "test")


def scan_text(scan: Scan, output: Path | None) -> str:
    """Return the findings in sections, each cut to what fits on a screen.

    Args:
        scan: What was found.
        output: The file that has all of it; None when none was written.
    """
    more = " at least" if scan.truncated else ""
    counted = f"{_count(len(scan.files), 'file')}, {size(sum(scan.files.values()))}"
    lines = [f"{scan.root.name}:{more} {counted}; nothing of it was run", _languages(scan)]
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
        (f"{one.first} before {one.then}, because of {one.file}" for one in scan.order_issues),
    )
    yield "Needs", _needs(scan)
    yield (
        "Data that is not here",
        (f"{one.path}, read by {_names(map(str, one.readers))}" for one in scan.traits.absent_data),
    )
    yield (
        "Data",
        (
            f"{one.path} ({size(one.size)}), read by {_names(map(str, one.readers))}"
            for one in scan.data_files
        ),
    )
    yield (
        "Brings from elsewhere",
        (f"{one.what}, by {one.by} ({one.path}:{one.line})" for one in scan.traits.downloads),
    )
    yield "Trained models", (_model(one) for one in scan.traits.checkpoints)
    yield "Chance and machine", _chance(scan)
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
            f"{_count(len(one.values), 'number')} in {one.source}:{one.line}"
            + (f", {one.heading}" if one.heading else "")
            for one in scan.results
        ),
    )


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _model(one: Checkpoint) -> str:
    there = "is there" if one.committed else "is not there"
    place = f"{one.path}:{one.line}" if one.line else "nothing names it"
    return f"{one.name} ({there}; {place})"


def _languages(scan: Scan) -> str:
    named = [f"{one.name} ({one.files} files, {size(one.size)})" for one in scan.traits.languages]
    return _names(named, most=6) or "no code in a language that is known here"


def _chance(scan: Scan) -> Iterator[str]:
    """Yield one line each on seeds, on draws that nothing seeds, and on the GPU."""
    traits = scan.traits
    if traits.seeds:
        yield f"seeded: {_places(traits.seeds)}"
    if traits.unseeded:
        yield f"not seeded: {_places(traits.unseeded)}"
    words = {"needed": "a GPU is needed", "optional": "a GPU is used when there is one"}
    if traits.gpu.need in words:
        yield f"{words[traits.gpu.need]}: {_names(traits.gpu.why)}"


def _places(seeds: Iterable[Seed]) -> str:
    """Return each library with the first places of its calls."""
    by: dict[str, list[str]] = {}
    for seed in seeds:
        value = f" = {seed.value}" if seed.value else ""
        by.setdefault(seed.library, []).append(f"{seed.path}:{seed.line}{value}")
    return "; ".join(f"{library} ({_names(places, most=2)})" for library, places in by.items())


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
            takes = f", {_count(len(entry.arguments), 'argument')}" if entry.arguments else ""
            yield f"{entry.path} ({entry.kind}{takes})"


def _needs(scan: Scan) -> Iterator[str]:
    if scan.manifests:
        yield f"declared in {_names(map(str, scan.manifests), most=6)}"
    if scan.imports:
        known = [distribution_of_import(name) or f"{name} (unknown)" for name in scan.imports]
        yield f"imports {_names(known, most=20)}"
    bounds = scan.traits.python
    if bounds.minimum or bounds.below:
        low = f" {bounds.minimum} or later" if bounds.minimum else ""
        high = f" below {bounds.below}" if bounds.below else ""
        yield f"Python{low}{',' if low and high else ''}{high}: {'; '.join(bounds.why)}"
    for hint in scan.python:
        if not any(why.startswith(f"{hint.source} ") for why in bounds.why):
            yield f"Python {hint.text}, says {hint.source}"
    for language in scan.traits.languages:
        if language.environment:
            yield f"{language.name}: declared in {_names(map(str, language.environment))}"
    builds = {path: None for one in scan.traits.languages for path in one.build}
    if builds:
        yield f"built by {_names(map(str, builds))}"


def _missing(scan: Scan) -> Iterator[str]:
    """Yield what a reader will miss, the worst first."""
    for command in scan.commands:
        if command.target and command.script is None:
            yield f"{command.source}:{command.line}: starts {command.target}, which is not there"
    if scan.licence is None:
        yield "no licence: nobody may use it"
    yield from _loose(scan)
    if scan.traits.unseeded and not scan.traits.seeds:
        yield "numbers are drawn at random, and nothing sets a seed"
    if not scan.manifests and scan.imports:
        yield "no file declares what has to be installed"
    if not any(command.kind == "run" for command in scan.commands):
        yield "no document gives a command to run"
    yield from _problems(scan)


def _loose(scan: Scan) -> Iterator[str]:
    for pins in scan.traits.pins:
        if pins.requirements > pins.pinned:
            loose = pins.requirements - pins.pinned
            since = f" (last committed {pins.committed})" if pins.committed else ""
            yield f"{pins.path}{since}: {loose} of {pins.requirements} have no exact version"


def _problems(scan: Scan) -> Iterator[str]:
    """Yield the first three problems of each kind, and how many more there are."""
    counts = Counter(problem.clause for problem in scan.problems)
    told: Counter[str] = Counter()
    for problem in scan.problems:
        told[problem.clause] += 1
        if told[problem.clause] <= 3:
            place = f"{problem.path}:{problem.line}" if problem.line else problem.path
            yield f"{place}: {problem.message}"
        elif told[problem.clause] == 4:
            yield f"… {counts[problem.clause] - 3} more of this kind ({problem.clause})"
