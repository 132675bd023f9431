"""The tables of the guide, made from the manifest, the settings and the repairs."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence

from rra.artifact import layout
from rra.model import Launcher, Manifest, Repair, ReportedValue, Setting


@dataclasses.dataclass(frozen=True)
class GuideFacts:
    """What the tables are made from.

    Attributes:
        manifest: The manifest.
        settings: Settings by name.
        repairs: Repairs in order.
        notes: What of the reported tables is not compared.
    """

    manifest: Manifest
    settings: Mapping[str, Setting]
    repairs: Sequence[tuple[str, Repair]]
    notes: Sequence[str] = ()


def render_tables(facts: GuideFacts) -> dict[str, str]:
    """Return the Markdown of each table by its name, without a final line end.

    Args:
        facts: Manifest, settings and repairs.
    """
    return {name: render(facts) for name, render in _TABLES.items()}


def _environments(facts: GuideFacts) -> str:
    rows = [
        (
            _code(name),
            environment.python or "",
            environment.as_of or "",
            _code(f"{layout.ENVIRONMENT_DIR}/{name}/README.md"),
        )
        for name, environment in facts.manifest.environments.items()
    ]
    return _table(("environment", "Python", "versions as of", "how to set it up"), rows)


def _launchers(facts: GuideFacts) -> str:
    manifest = facts.manifest
    rows = [
        (
            _code(_command(launcher)),
            _code(launcher.environment),
            ", ".join(_code(manifest.data[i].path) for i in launcher.inputs if i in manifest.data),
            ", ".join(_code(f"{name}={p.default}") for name, p in launcher.parameters.items()),
            _minutes(launcher),
        )
        for launcher in manifest.launchers.values()
    ]
    return _table(("command", "environment", "reads", "parameters", "takes"), rows)


def _command(launcher: Launcher) -> str:
    program = {".sh": "bash", ".py": "python"}.get(launcher.entry[launcher.entry.rfind(".") :], "")
    return f"{program} {launcher.entry}".strip()


def _minutes(launcher: Launcher) -> str:
    if launcher.hint is None or launcher.hint.wall is None:
        return ""
    machine = f" ({launcher.hint.measured_on})" if launcher.hint.measured_on else ""
    return f"{launcher.hint.wall:g} s{machine}"


def _results(facts: GuideFacts) -> str:
    rows = [
        (
            _code(name),
            _reported(outcome),
            outcome.location or "",
            _code(outcome.selector.launcher),
            _code(outcome.selector.file),
            _deviation(outcome),
        )
        for name, outcome in facts.manifest.outcomes().items()
    ]
    rows += [
        (
            _code(name),
            _reported(outcome),
            outcome.location or "",
            "",
            outcome.describe(name.partition("/")[0]),
            _deviation(outcome),
        )
        for name, outcome in facts.manifest.derived_outcomes().items()
    ]
    header = ("outcome", "reported", "where", "launcher", "file", "known deviation")
    notes = "".join(f"\n- {_cell(note)}" for note in facts.notes)
    return _table(header, rows) + (f"\n\nNotes on the reported tables:\n{notes}" if notes else "")


def _reported(outcome: ReportedValue) -> str:
    text = outcome.reported if isinstance(outcome.reported, str) else ", ".join(outcome.reported)
    spread = outcome.reported_uncertainty
    if spread is not None:
        text += f" ± {spread.value}"
    unit = "%" if outcome.unit == "percent" else outcome.unit or ""
    return f"{text} {unit}".strip()


def _deviation(outcome: ReportedValue) -> str:
    if outcome.deviation is None:
        return ""
    return f"gives {outcome.deviation.observed}: {outcome.deviation.explanation}"


def _settings(facts: GuideFacts) -> str:
    rows = [
        (
            _code(name),
            _code(_plain(setting.value)),
            setting.source,
            setting.where,
            setting.rationale,
            "; ".join(_alternative(a.value, a.result) for a in setting.alternatives),
        )
        for name, setting in facts.settings.items()
    ]
    return _table(("setting", "value", "source", "where", "why", "also tried"), rows)


def _plain(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(_plain(item) for item in value)
    if isinstance(value, bool):
        return "true" if value else "false"
    return "none" if value is None else str(value)


def _alternative(value: object, result: str | None) -> str:
    return f"{_plain(value)}: {result}" if result else _plain(value)


def _repairs(facts: GuideFacts) -> str:
    rows = [
        (
            _code(repair_id),
            repair.title,
            repair.symptom,
            repair.category,
            repair.effect_on_results,
            repair.rationale,
        )
        for repair_id, repair in facts.repairs
    ]
    header = ("repair", "what", "without it", "category", "effect on results", "why so")
    return _table(header, rows)


_TABLES: dict[str, Callable[[GuideFacts], str]] = {
    "environments": _environments,
    "launchers": _launchers,
    "results": _results,
    "settings": _settings,
    "repairs": _repairs,
}

TABLES = tuple(_TABLES)
"""Names of the tables, as the markers of the guide give them."""


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table without the columns that are empty throughout."""
    if not rows:
        return "None."
    used = [i for i in range(len(header)) if any(row[i] for row in rows)]
    lines = [
        _row(header[i] for i in used),
        _row("---" for _ in used),
        *(_row(_cell(row[i]) for i in used) for row in rows),
    ]
    return "\n".join(lines)


def _row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _cell(text: str) -> str:
    """Keep a text inside its cell: one line, no pipe, no markup of HTML."""
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")


def _code(text: str) -> str:
    plain = " ".join(text.split())
    return f"`{plain}`" if plain and "`" not in plain else plain
