"""``rra spec``."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rra import api
from rra.cli.text import next_step, table
from rra.cli.verb import VerbCommand, answer, json_option

if TYPE_CHECKING:
    from rra.api._spec_conformance import ConformanceReport
    from rra.api._spec_migrate import Migration
    from rra.api._spec_schema import SpecSchema
    from rra.api._spec_versions import SpecVersions
    from rra.lint.conformance import Answer, Outcome

_STAGES = ("yaml", "schema", "semantic", "artifact")
_SHOWN = 50


@click.group("spec")
def command() -> None:
    """The format itself: its versions, its schemas, and cases to try a validator on."""


@command.command(
    "conformance",
    cls=VerbCommand,
    examples=("rra spec conformance --corpus", "rra spec conformance my-cases --json"),
)
@click.argument("folder", required=False, metavar="[DIR]", type=click.Path(path_type=Path))
@click.option("--corpus", is_flag=True, help="Run the corpus that ships; so does no DIR.")
@json_option
def conformance(folder: Path | None, corpus: bool, as_json: bool) -> None:
    """Run conformance cases against this implementation.

    A case is a folder with a document and an expect.yaml that says what a validator finds in it:
    verdict, stage, clause and pointer. DIR holds cases at any depth. Exits with 0 only when
    everything is found as expected.
    """
    if corpus and folder is not None:
        raise click.UsageError("give DIR or --corpus, not both")
    answer(
        "spec-conformance",
        lambda progress: api.spec_conformance(folder, progress=progress),
        _render_conformance,
        as_json=as_json,
    )


def _render_conformance(result: ConformanceReport) -> str:
    counts: dict[str, Counter[str]] = {}
    wrong: Counter[str] = Counter()
    for outcome in result.outcomes:
        case = outcome.case
        counts.setdefault(case.page, Counter())[case.expected.stage] += 1
        wrong[case.page] += not outcome.agrees
    rows = [
        [page, *(str(counts[page][stage] or "") for stage in _STAGES), str(wrong[page] or "")]
        for page in sorted(counts)
    ]
    lines = [table(["page", *_STAGES, "not as expected"], rows), ""]
    for outcome in result.disagreeing[:_SHOWN]:
        lines += _difference(outcome)
    if len(result.disagreeing) > _SHOWN:
        lines.append(f"… and {len(result.disagreeing) - _SHOWN} more; --json has all")
    total = len(result.outcomes)
    agree = total - len(result.disagreeing)
    cases = "case is" if total == 1 else "cases are"
    return "\n".join([*lines, f"{agree} of {total} {cases} found as expected"])


def _difference(outcome: Outcome) -> list[str]:
    case = outcome.case
    lines = [
        f"{case.name}: another {outcome.difference} than expected",
        f"    expected: {_said(case.expected)}",
        f"    found:    {_said(outcome.found)}",
    ]
    return lines + [f"        {problem}" for problem in outcome.problems[:3]]


def _said(answer: Answer) -> str:
    marks = [f"{clause} at {pointer or 'the document'}" for clause, pointer in answer.faults]
    warnings = [
        f"warning {clause} at {pointer or 'the document'}"
        for clause, pointer in answer.warnings or ()
    ]
    return "; ".join([f"{answer.verdict} ({answer.stage})", *marks, *warnings])


@command.command(
    "versions", cls=VerbCommand, examples=("rra spec versions", "rra spec versions --json")
)
@json_option
def versions(as_json: bool) -> None:
    """Say which versions of the format are read and written, and which schemas there are."""
    answer(
        "spec-versions",
        lambda progress: api.spec_versions(progress=progress),
        _render_versions,
        as_json=as_json,
    )


def _render_versions(result: SpecVersions) -> str:
    steps = [f"migrates {a} to {b}: {about}" for a, b, about in result.steps]
    rows = [[name, title, identifier] for name, (identifier, title) in result.schemas.items()]
    return "\n".join(
        [
            f"writes {result.writes}",
            f"reads  {result.reads}",
            *(steps or ["no migration is needed: this is the first version"]),
            "",
            table(["schema", "document", "id"], rows),
            next_step("rra spec schema NAME"),
        ]
    )


@command.command(
    "schema",
    cls=VerbCommand,
    examples=("rra spec schema manifest", "rra spec schema manifest --editor > rra.schema.json"),
)
@click.argument("name", metavar="NAME")
@click.option("--editor", is_flag=True, help="The draft-07 form for editors.")
@json_option
def schema(name: str, editor: bool, as_json: bool) -> None:
    """Print the JSON Schema of a document, such as manifest; rra spec versions lists them."""
    answer(
        "spec-schema",
        lambda progress: api.spec_schema(name, editor=editor, progress=progress),
        _render_schema,
        as_json=as_json,
    )


def _render_schema(result: SpecSchema) -> str:
    return result.text.rstrip("\n")


@command.command(
    "migrate",
    cls=VerbCommand,
    examples=("rra spec migrate --check", "rra spec migrate ../wine --to 1.0"),
)
@click.argument("path", default=".", metavar="[PATH]", type=click.Path(path_type=Path))
@click.option("--to", metavar="VERSION", help="The version wanted; the latest by default.")
@click.option("--check", is_flag=True, help="Write nothing; exit with 1 if something would change.")
@json_option
def migrate(path: Path, to: str | None, check: bool, as_json: bool) -> None:
    """Bring an artifact, or one of its YAML documents, to a later version of the format.

    Comments, order and all that no step is about stay, byte for byte. A step that would lose
    something that you wrote stops and names it; then nothing is written.
    """
    answer(
        "spec-migrate",
        lambda progress: api.spec_migrate(path, to=to, check=check, progress=progress),
        _render_migration,
        as_json=as_json,
    )


def _render_migration(result: Migration) -> str:
    if not result.changes:
        return f"{result.path} follows version {result.target} of the format: nothing to change"
    lines = [f"{name}: {sentence}" for name, said in result.changes.items() for sentence in said]
    done = "written" if result.written else "nothing is written: --check"
    return "\n".join([*lines, f"from {result.source} to {result.target}; {done}"])
