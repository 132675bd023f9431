"""``rra init``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from rra import api
from rra._base.counts import counted
from rra.cli.text import next_step
from rra.cli.verb import VerbCommand, answer, json_option, key_values, safe

if TYPE_CHECKING:
    from rra.api._init import InitResult

_BLANKS_SHOWN = 8


@click.command(
    "init",
    cls=VerbCommand,
    examples=("rra init .", "rra init https://example.org/lab/study.git study --ref v1.0"),
)
@click.argument("source", default=".", metavar="[SOURCE]")
@click.argument("directory", required=False, type=click.Path(path_type=Path))
@click.option("--ref", metavar="REF", help="Branch, tag or commit of a repository that is cloned.")
@click.option("--nested", is_flag=True, help="Move the repository into code/.")
@click.option("--template", metavar="NAME", help="Start from a cookiecutter template instead.")
@click.option("--name", metavar="ID", help="Id of the artifact; the directory's name by default.")
@click.option(
    "--set", "answers", multiple=True, metavar="KEY=VALUE", help="Set a variable of the template."
)
@click.option("--force", is_flag=True, help="Replace files that are there and differ.")
@click.option("--dry-run", is_flag=True, help="Only say what would be written.")
@click.option(
    "--no-input", is_flag=True, help="Never ask; init asks nothing, so this changes nothing."
)
@json_option
def command(
    source: str,
    directory: Path | None,
    ref: str | None,
    nested: bool,
    template: str | None,
    name: str | None,
    answers: tuple[str, ...],
    force: bool,
    dry_run: bool,
    no_input: bool,
    as_json: bool,
) -> None:
    """Draft an artifact from a repository, or from a template.

    SOURCE is a directory, in which the draft is written; or an address that git understands or
    an archive (.zip, .tar, .tar.gz …), which is brought into DIRECTORY first.

    Nothing of the repository is run and no file of it is changed; the draft is written beside
    it, with marked blanks for what only the author knows. A second call changes nothing.
    """
    del no_input
    given = key_values("--set", answers)
    from rra.author import SourceRequest, is_elsewhere

    path: Path | SourceRequest = Path(source)
    if template is None and is_elsewhere(source):
        path = SourceRequest(source, directory, ref)
    elif directory is not None or ref is not None:
        option = "DIRECTORY" if directory is not None else "--ref"
        message = f"{option} goes with an address or an archive, and {source} is neither"
        raise click.UsageError(message)
    answer(
        "init",
        lambda progress: api.init(
            path,
            nested=nested,
            template=template,
            name=name,
            answers=given,
            overwrite=force,
            dry_run=dry_run,
            progress=progress,
        ),
        _render,
        as_json=as_json,
    )


def _render(result: InitResult) -> str:
    would = "would write" if result.dry_run else "wrote"
    lines = [f"{would} {counted(len(result.written), 'file')} for {result.name} in {result.root}"]
    lines += [f"  {name}" for name in result.written]
    lines += [f"moved {source} to {target}" for source, target in result.moved]
    for path, diff in result.replaced:
        lines += [f"replaces {path}:", safe(diff.rstrip("\n"))]
    lines += [f"launcher {name}" for name in result.launchers]
    lines += [f"outcome  {name}: {safe(text)}" for name, text in result.outcomes]
    lines += [f"note: {safe(note)}" for note in result.notes]
    if result.blanks:
        lines.append(f"{_blanks(len(result.blanks))} left for the author, first:")
        for blank in result.blanks[:_BLANKS_SHOWN]:
            lines.append(f"  {blank.path}:{blank.line}: {safe(blank.text)}")
    lines.append(next_step(_next(result), _place(result.root)))
    return "\n".join(lines)


def _blanks(count: int) -> str:
    return counted(count, "blank is", "blanks are")


def _place(root: Path) -> Path:
    """Return the artifact as a path from the current directory where it lies in it."""
    here = Path.cwd()
    return root.relative_to(here) if root.is_relative_to(here) else root


def _next(result: InitResult) -> str:
    """Return the commands to type next; blanks that stop them come first."""
    commands = "rra run" if result.locked else "rra lock, then rra run"
    stopping = [f"{blank.path}:{blank.line}" for blank in result.blanks if blank.stops]
    if not stopping:
        return commands
    more = " …" if len(stopping) > _BLANKS_SHOWN else ""
    return f"fill in the blanks {', '.join(stopping[:_BLANKS_SHOWN])}{more}, then {commands}"
