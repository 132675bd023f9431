"""Drafting outcomes from the results that documents report."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal

from rra.author.code_hints import LauncherHints, read_hints
from rra.author.draft_launchers import DraftLauncher
from rra.author.names import blank, slug, unique
from rra.author.patterns import is_mentioned, label_pattern, value_pattern
from rra.author.unit_guess import outcome_unit, selector_unit
from rra.scan import ResultsTable, ResultValue, Scan
from rra.scan.results import METRIC

MAX_OUTCOMES = 80
"""More reported numbers than these are named in a note only."""


_DESCRIBES = re.compile(
    r"\b(?:usage|options?|parameters?|arguments?|synopsis|syntax|install\w*|data format)\b",
    re.IGNORECASE,
)
"""Headings under which a number in a sentence is a default and no result."""


@dataclasses.dataclass(frozen=True)
class DraftOutcome:
    """An outcome as the draft will write it.

    Attributes:
        id: Its id.
        reported: The number as written, or a marked blank.
        unit: Unit of the reported number, if one is known.
        location: Where it is reported.
        metric: Name of the metric.
        launcher: Launcher that makes it.
        file: File of the selector.
        locator: The selector's locator as key and YAML-ready value.
        pick: Which of several matches.
        selector_unit: Unit in the file, if it has to be said.
        notes: Lines for the author, written as comments.
    """

    id: str
    reported: str
    unit: str | None
    location: str
    metric: str
    launcher: str
    file: str
    locator: tuple[str, object]
    pick: str | None
    selector_unit: str | None
    notes: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class DraftExperiment:
    """A group of outcomes: one results table."""

    id: str
    title: str
    outcomes: tuple[DraftOutcome, ...]


@dataclasses.dataclass(frozen=True)
class _Place:
    """One reported value with its table and the launcher that is taken to make it."""

    table: ResultsTable
    value: ResultValue
    launcher: DraftLauncher
    sure: bool


def draft_experiments(
    scan: Scan, launchers: Sequence[DraftLauncher]
) -> tuple[list[DraftExperiment], list[str]]:
    """Return the experiments of a draft, one for each results table, and notes.

    Where documents report nothing there is one outcome with a blank in place of the number.
    """
    hints = {launcher.id: read_hints(scan, launcher) for launcher in launchers}
    places = [
        _Place(table, value, *_launcher_of(table, value, launchers, hints))
        for table in scan.results
        if not (table.prose and _DESCRIBES.search(table.heading))
        for value in table.values
    ]
    notes = []
    if len(places) > MAX_OUTCOMES:
        notes.append(f"{len(places)} numbers are reported; the first {MAX_OUTCOMES} are drafted")
        places = places[:MAX_OUTCOMES]
    if not places:
        notes.append("no results table was found; write the reported value into rra.yaml")
        return [_blank_experiment(launchers[0])], notes
    return _experiments(places, hints), notes


def _launcher_of(
    table: ResultsTable,
    value: ResultValue,
    launchers: Sequence[DraftLauncher],
    hints: Mapping[str, LauncherHints],
) -> tuple[DraftLauncher, bool]:
    """Return the launcher that makes a value, and whether that is more than a guess."""
    if len(launchers) == 1:
        return launchers[0], True
    row, column = label_pattern(value.row), label_pattern(value.column)
    scores = []
    for launcher in launchers:
        texts = hints[launcher.id]
        score = 8 * is_mentioned(row, [launcher.text]) + 4 * is_mentioned(row, texts.code)
        score += 3 * is_mentioned(column, texts.printed) + 2 * is_mentioned(column, texts.code)
        score += is_mentioned(label_pattern(table.heading), [launcher.text])
        scores.append(score)
    best = max(scores)
    found = launchers[scores.index(best)]
    return found, best > 0 and scores.count(best) == 1


def _experiments(places: list[_Place], hints: Mapping[str, LauncherHints]) -> list[DraftExperiment]:
    tables: dict[int, list[_Place]] = {}
    for place in places:
        tables.setdefault(id(place.table), []).append(place)
    experiments: dict[str, DraftExperiment] = {}
    for number, group in enumerate(tables.values(), start=1):
        table = group[0].table
        wanted = slug(table.heading, otherwise=f"table-{number}")
        name = unique(wanted, experiments)
        outcomes: dict[str, DraftOutcome] = {}
        for place in group:
            outcome = _outcome(place, group, places, hints[place.launcher.id], outcomes)
            outcomes[outcome.id] = outcome
        title = table.heading or f"Table in {table.source}"
        experiments[name] = DraftExperiment(name, title, tuple(outcomes.values()))
    return list(experiments.values())


def _outcome(
    place: _Place,
    table: list[_Place],
    places: list[_Place],
    hints: LauncherHints,
    taken: Mapping[str, DraftOutcome],
) -> DraftOutcome:
    value = place.value
    unit = outcome_unit(value)
    metric = metric_of(value)
    found = _selector(place, places, hints)
    in_file, why = selector_unit(value, unit, hints, found.scale)
    notes = [*found.notes]
    if why:
        notes.append(f"unit in the file is a guess: {why}")
    if value.uncertainty:
        notes.append(
            f"reported as {value.text} ± {value.uncertainty}: add reported_uncertainty "
            "{value, kind, runs} when you know over how many runs"
        )
    if not place.sure:
        notes.append(f"{blank('check that this launcher makes this value, or name another one')}")
    return DraftOutcome(
        id=unique(outcome_id(value, [p.value for p in table]), taken),
        reported=value.text,
        unit=unit,
        location=location_of(place.table, value),
        metric=metric,
        launcher=place.launcher.id,
        file=found.file,
        locator=found.locator,
        pick=found.pick,
        selector_unit=in_file,
        notes=tuple(notes),
    )


def metric_of(value: ResultValue) -> str:
    """Return the name of the metric: the column, unless only the row names one."""
    column, row = _bare(value.column), _bare(value.row)
    if row and METRIC.search(row) and not METRIC.search(column):
        return row
    return column or row or "value"


def _bare(label: str) -> str:
    return " ".join(re.sub(r"\([^()]*\)|\[[^\[\]]*\]|%", " ", label).split())


def outcome_id(value: ResultValue, table: Sequence[ResultValue]) -> str:
    """Return an id for a reported number: its row and column, as far as they tell it apart."""
    rows = {v.row for v in table}
    columns = {v.column for v in table}
    parts = [value.row] if len(rows) > 1 else []
    if len(columns) > 1 or not parts:
        parts.append(_bare(value.column) or value.row)
    return slug(" ".join(parts), otherwise="value")


def location_of(table: ResultsTable, value: ResultValue) -> str:
    """Return where a number is reported: document, line, row, column."""
    parts = [f"{table.source}:{value.line}"]
    if value.row:
        parts.append(f"row {value.row}")
    if value.column:
        parts.append(("column " if not table.prose else "") + value.column)
    return ", ".join(parts)


@dataclasses.dataclass(frozen=True)
class _Found:
    file: str
    locator: tuple[str, object]
    pick: str | None
    scale: Decimal | None = None
    notes: tuple[str, ...] = ()


def _selector(place: _Place, places: list[_Place], hints: LauncherHints) -> _Found:
    """Draft a selector: what is printed first, else a file that the code writes."""
    siblings = [p.value for p in places if p.launcher is place.launcher]
    labels, position = _labels(place.value, siblings, hints)
    printed = bool(labels) and is_mentioned(labels[-1], hints.printed)
    if not printed:
        in_file = hints.locate(place.value, siblings)
        if in_file is not None:
            notes = (in_file.why,)
            return _Found(in_file.file, in_file.locator, None, in_file.scale, notes)
    several = "several lines may match: the last one counts; make the pattern narrower if not"
    pattern = value_pattern(labels, bare=not printed and len(siblings) == 1, position=position)
    return _Found("stdout.txt", ("regex", pattern), "last", notes=(several,))


def _labels(
    value: ResultValue, siblings: list[ResultValue], hints: LauncherHints
) -> tuple[list[str], int]:
    """Return the labels that tell a value from the launcher's others, and its position."""
    rows = list(dict.fromkeys(v.row for v in siblings))
    columns = list(dict.fromkeys(v.column for v in siblings))
    row, column = label_pattern(value.row), label_pattern(value.column)
    labels = [row] if len(rows) > 1 and row else []
    position = 0
    if len(columns) > 1 and column:
        if is_mentioned(column, hints.printed) or not labels:
            labels.append(column)
        else:
            position = columns.index(value.column)
    if not labels:
        choices = [c for c in (column, row) if is_mentioned(c, hints.printed)]
        metric = [c for c in (column, row) if c]
        labels = choices[:1] or metric[:1]
    return labels, position


def _blank_experiment(launcher: DraftLauncher) -> DraftExperiment:
    outcome = DraftOutcome(
        id="result",
        reported=blank("the number that the paper reports, such as 98.9"),
        unit=None,
        location=blank("where the paper reports it, such as Table 1, row LDA"),
        metric="value",
        launcher=launcher.id,
        file="stdout.txt",
        locator=("regex", value_pattern([], bare=False)),
        pick="last",
        selector_unit=None,
        notes=("takes the first number of the last printed line that has one",),
    )
    return DraftExperiment("results", "Results", (outcome,))


def launchers_in_use(experiments: Iterable[DraftExperiment]) -> set[str]:
    """Return the ids of launchers that some outcome is read from."""
    return {outcome.launcher for e in experiments for outcome in e.outcomes}
