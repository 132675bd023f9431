"""``rra run``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from rra import api
from rra.cli.text import next_step, number, table
from rra.cli.verb import VerbCommand, answer, json_option, safe

if TYPE_CHECKING:
    from rra.api._run import ObtainedValue, RunSetResult


@click.command(
    "run",
    cls=VerbCommand,
    examples=("rra run .", "rra run lda --set folds=178 --seed 3"),
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
@click.option("--smoke", is_flag=True, help="Use the launchers' short parameters.")
@click.option(
    "--sandbox", type=click.Choice(["bwrap", "none"]), help="Isolation; the best by default."
)
@json_option
def command(
    launchers: tuple[str, ...],
    artifact: Path | None,
    settings: tuple[str, ...],
    seed: int | None,
    smoke: bool,
    sandbox: str | None,
    as_json: bool,
) -> None:
    """Run launchers, isolated and recorded; all of them by default.

    `rra run DIRECTORY` runs those of the artifact there; a launcher of that name goes first.

    Each run works in a private copy of the code. Its outputs go to outputs/LAUNCHER, its
    record with a copy of them to evidence/LAUNCHER.
    """
    place, launchers = _place(artifact, launchers)
    parameters = {}
    for setting in settings:
        name, found, value = setting.partition("=")
        if not found:
            message = f"--set {setting}: give NAME=VALUE"
            raise click.UsageError(message)
        parameters[name] = value
    answer(
        "run",
        lambda progress: api.run(
            place,
            launchers=launchers,
            parameters=parameters,
            seed=seed,
            smoke=smoke,
            sandbox=sandbox,
            progress=progress,
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


def _obtained(value: ObtainedValue) -> str:
    return ", ".join(value.value) if isinstance(value.value, list) else number(value.value)


def _render(result: RunSetResult) -> str:
    parts = [
        table(
            ("launcher", "ended", "seconds", "isolated by", "recorded by", "evidence"),
            [
                (
                    run.launcher,
                    "ok" if run.ok else f"error: {run.message}",
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
        parts.append(
            table(
                ("outcome", "claimed", "obtained", "where"),
                [
                    (
                        value.outcome,
                        value.reported,
                        f"error: {value.error}" if value.error else _obtained(value),
                        value.place or "",
                    )
                    for value in result.values
                ],
            )
        )
    notes = [f"note: {run.launcher}: {safe(note)}" for run in result.runs for note in run.notes]
    if notes:
        parts.append("\n".join(notes))
    parts.append(next_step("rra guide, then rra verify" if result.ok else "mend it and rra run"))
    return "\n\n".join(parts)
