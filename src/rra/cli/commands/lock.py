"""``rra lock``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from rra import api
from rra._base.counts import counted
from rra.cli.text import next_step, size
from rra.cli.verb import VerbCommand, answer, artifact_argument, json_option

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rra.api._lock import CarriedOne, LockResult, ReachedLevel
    from rra.api._lock_search import Try


@click.command(
    "lock",
    cls=VerbCommand,
    examples=("rra lock . --as-of 2024-12-01", "rra lock . --keep --runtime"),
)
@artifact_argument
@click.option("--environment", "-e", multiple=True, metavar="ID", help="Only this environment.")
@click.option("--as-of", metavar="DATE", help="Resolve as of this date (YYYY-MM-DD).")
@click.option(
    "--keep", is_flag=True, help="Keep environment locks that exist; only renew rra.lock."
)
@click.option(
    "--search",
    is_flag=True,
    help="Install it, import what the code imports, and find the nearest Python and day that work.",
)
@click.option("--wheels", is_flag=True, help="Put every wheel beside the lock, to travel along.")
@click.option(
    "--runtime",
    is_flag=True,
    help="Put the interpreter of this machine beside the lock too; implies --wheels.",
)
@json_option
def command(
    artifact: Path,
    environment: tuple[str, ...],
    as_of: str | None,
    keep: bool,
    search: bool,
    wheels: bool,
    runtime: bool,
    as_json: bool,
) -> None:
    """Resolve and lock the environments, and note what the files are.

    Writes environment/ID/pylock.toml and requirements.txt, both with hashes and without any
    host, and rra.lock with the digests of code, environment, launchers and data. With --search,
    rra.yaml gets the Python and the day that were found, and the packages that others import
    without declaring them; the lock says why. With --runtime a bundle of the artifact verifies
    without an index and without a Python of the machine.

    With --json each step and each try goes to standard error as one line of JSON, as it happens
    (schemas/cli/lock-event).
    """
    answer(
        "lock",
        lambda progress: api.lock(
            artifact,
            environments=environment,
            as_of=as_of,
            keep=keep,
            search=search,
            wheels=wheels,
            runtime=runtime,
            progress=progress,
        ),
        _render,
        as_json=as_json,
        events=True,
    )


def _render(result: LockResult) -> str:
    lines = []
    for one in result.environments:
        date = f" as of {one.as_of}" if one.as_of else ""
        python = f" for Python {one.python}{date}" if one.python else ""
        origin = f" (from {one.origin})" if one.origin else ""
        lines.append(f"{one.id}: {counted(len(one.packages), 'package')}{python}{origin}")
        lines += [f"  {package}" for package in one.packages]
        lines += [f"  tried {_tried(tried)}" for tried in one.tried]
    for carried in result.carried:
        lines += _carried(carried)
    lines += [_reached(one) for one in result.levels]
    lines += [f"note: {note}" for note in result.notes]
    lines.append(f"rra.lock: core {result.core}{'' if result.changed else ' (unchanged)'}")
    lines.append(next_step("rra run"))
    return "\n".join(lines)


def _reached(one: ReachedLevel) -> str:
    if not one.wheels:
        return f"{one.id}: {one.level}: no package is needed"
    if one.level == "bundled":
        return f"{one.id}: bundled: every wheel lies beside the lock; to rebuild it: rra env build"
    return (
        f"{one.id}: locked: {one.wheels - one.beside} of {one.wheels} wheels come from your index; "
        "to bring them along: rra lock --keep --wheels"
    )


def _tried(one: Try) -> str:
    said = {"works": ", "}.get(one.stage, " fails: ")
    why = f"{said}{one.why}" if one.why else ""
    return f"Python {one.python} as of {one.as_of}: {one.stage}{why}"


def _carried(one: CarriedOne) -> Iterator[str]:
    if one.wheels:
        yield f"{one.id}: carries {counted(one.wheels, 'wheel')}, {size(one.wheels_bytes)}"
    if one.interpreter:
        yield (
            f"{one.id}: carries Python {one.python} for {one.platform}, "
            f"{size(one.interpreter_bytes)}: {one.interpreter}"
        )
        needed = ", ".join(one.libraries)
        yield f"  of the system it needs glibc {one.glibc} or newer: {needed}"
