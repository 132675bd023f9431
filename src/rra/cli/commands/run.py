"""``rra run``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rra import api
from rra.cli.text import next_step, number, table
from rra.cli.verb import VerbCommand, answer, json_option, key_values, safe

if TYPE_CHECKING:
    from rra.api._run import LauncherRun, PlannedRun, RunSetResult
    from rra.api._run_values import ObtainedValue


@click.command(
    "run",
    cls=VerbCommand,
    examples=("rra run .", "rra run lda --set folds=178 --seeds 0:5 --jobs 2"),
)
@click.argument("launchers", nargs=-1, metavar="[LAUNCHER]...")
@click.option(
    "--artifact",
    "-C",
    type=click.Path(path_type=Path),
    help="Directory of the artifact; the current one by default.",
)
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="Set a parameter.")
@click.option("--seed", type=int, help="Seed given to the launchers.")
@click.option(
    "--seeds",
    metavar="SEEDS",
    help="One run for each seed, of launchers with seeds: 0:5 (0 to 4), 1,2,7, or declared.",
)
@click.option("--matrix", is_flag=True, help="One run for each combination of the matrix.")
@click.option("--smoke", is_flag=True, help="Use the launchers' short parameters.")
@click.option("--reduced", is_flag=True, help="Use the launchers' reduced parameters.")
@click.option(
    "--jobs",
    type=click.IntRange(min=1),
    help="Most launchers at a time, within what they declare to need; 1 by default here.",
)
@click.option("--force", is_flag=True, help="Also run what is up to date.")
@click.option("--resume", is_flag=True, help="Take up the last run, as it was asked for.")
@click.option("--dry-run", is_flag=True, help="Only say what would run, and why.")
@click.option(
    "--backend", default="local", help="Where launchers run: local (the default) or slurm."
)
@click.option(
    "--sandbox",
    type=click.Choice(["bwrap", "apptainer", "none"]),
    help="Isolation; the best that works by default. Containers bring their own.",
)
@click.option(
    "--export",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Only write a file that runs the plan without rra, such as outputs/runs.mk: Makefile or "
    "*.mk, Snakefile or *.smk, or *.sbatch, which submits to Slurm.",
)
@click.option("--task", nargs=2, hidden=True, help="Folder of a plan, and one task of it.")
@json_option
def command(
    launchers: tuple[str, ...],
    artifact: Path | None,
    settings: tuple[str, ...],
    task: tuple[str, str] | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Run launchers, isolated and recorded; all of them by default.

    `rra run DIRECTORY` runs those of the artifact there; a launcher of that name goes first.

    Each run works in a private copy of the code. Its outputs go to outputs/LAUNCHER, those of
    one seed or combination to outputs/LAUNCHER/INSTANCE, its record with a copy of them to
    evidence/LAUNCHER. What is up to date is not run again.
    """
    if task is not None:
        directory, name = task
        answer(
            "run",
            lambda progress: api.run(Path(directory), task=name, progress=progress),
            _render,
            as_json=as_json,
        )
    place, launchers = _place(artifact, launchers)
    parameters = key_values("--set", settings, "NAME=VALUE")
    answer(
        "run",
        lambda progress: api.run(
            place, launchers=launchers, parameters=parameters, progress=progress, **options
        ),
        _render,
        as_json=as_json,
    )


def _place(artifact: Path | None, words: tuple[str, ...]) -> tuple[Path, tuple[str, ...]]:
    """Return the artifact's directory and the launchers: `rra run DIRECTORY` names the first."""
    if artifact is not None:
        return artifact, words
    from rra.artifact import layout

    here = Path()
    places = [word for word in words if (Path(word) / layout.MANIFEST).is_file()]
    if not places or set(places) & set(_launchers(here)):
        return here, words
    if len(places) > 1:
        message = f"one artifact at a time: {' and '.join(places)} are directories of artifacts"
        raise click.UsageError(message)
    return Path(places[0]), tuple(word for word in words if word != places[0])


def _launchers(place: Path) -> tuple[str, ...]:
    """Return the ids of an artifact's launchers; none where there is no artifact."""
    from rra.artifact import load_artifact
    from rra.errors import RraError

    try:
        return tuple(load_artifact(place).manifest.launchers)
    except RraError:
        return ()


def _render(result: RunSetResult) -> str:
    if result.plan is not None:
        return _rendered_plan(result.plan)
    if result.exported is not None:
        made = result.exported
        count = f"{len(made.tasks)} run{'' if len(made.tasks) == 1 else 's'}"
        written = f"wrote {safe(made.file)}: {count}, for {made.kind}"
        return f"{written}\n\n{next_step(f'in the directory of the artifact: {made.start}')}"
    parts = [
        table(
            ("launcher", "ended", "seconds", "isolated by", "recorded by", "evidence"),
            [
                (
                    run.task,
                    _ended(run),
                    f"{run.seconds:.1f}",
                    run.sandbox,
                    run.recorder,
                    run.evidence,
                )
                for run in result.runs
            ],
        )
    ]
    if result.values:
        parts.append(_rendered_values(result.values))
    notes = [f"note: {run.task}: {safe(note)}" for run in result.runs for note in run.notes]
    notes += [f"note: {one.outcome}: {safe(one.note)}" for one in result.values if one.note]
    if notes:
        parts.append("\n".join(notes))
    parts.append(next_step("rra guide, then rra verify" if result.ok else "mend it and rra run"))
    return "\n\n".join(parts)


def _ended(run: LauncherRun) -> str:
    if not run.ok:
        return f"error: {run.message}"
    return "ok" if run.state == "ran" else f"ok, {run.reason}"


def _rendered_values(values: tuple[ObtainedValue, ...]) -> str:
    """Return the table of values; which run gave one stands there where several did."""
    names = [value.outcome for value in values]
    several = {name for name in names if names.count(name) > 1}
    return table(
        ("outcome", "claimed", "obtained", "where"),
        [
            (
                value.outcome,
                value.reported,
                f"error: {value.error}" if value.error else _obtained(value),
                _where(value, name_run=value.outcome in several),
            )
            for value in values
        ],
    )


def _obtained(value: ObtainedValue) -> str:
    return ", ".join(value.value) if isinstance(value.value, list) else number(value.value)


def _where(value: ObtainedValue, *, name_run: bool) -> str:
    if value.place is None:
        return ""
    if len(value.runs) > 1:
        return f"{value.place} of {len(value.runs)} runs"
    return f"{value.place} of {value.runs[0]}" if name_run and value.runs else value.place


def _rendered_plan(plan: tuple[PlannedRun, ...]) -> str:
    rows = [
        (
            one.task,
            ("runs: " if one.due else "") + one.reason,
            ", ".join(one.needs),
            _needed(one),
            "" if one.seconds is None else f"{one.seconds:g}",
        )
        for one in plan
    ]
    due = [one for one in plan if one.due]
    hints = [one.seconds for one in due if one.seconds is not None]
    said = f"{len(due)} of {len(plan)} would run"
    if hints:
        unknown = len(due) - len(hints)
        said += f", about {sum(hints):g} s by their hints"
        said += f" and {unknown} without one" if unknown else ""
    shown = table(("launcher", "runs or not", "needs", "takes", "hint, seconds"), rows)
    step = "the same without --dry-run" if due else "rra verify; --force runs all the same"
    return f"{shown}\n\n{said}\n\n{next_step(step)}"


def _needed(one: PlannedRun) -> str:
    parts = [f"{one.cpu:g} core{'' if one.cpu == 1 else 's'}"]
    parts += [f"{one.memory / 2**30:.3g} GiB of memory"] if one.memory else []
    parts += [f"{one.gpu} GPU{'' if one.gpu == 1 else 's'}"] if one.gpu else []
    parts += [f"{one.disk / 2**30:.3g} GiB on disk"] if one.disk else []
    return ", ".join(parts)
