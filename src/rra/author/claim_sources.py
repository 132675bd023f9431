"""Which numbers are reported, and where: in the READMEs, or in documents that are named."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path, PurePosixPath

from rra.artifact import Artifact
from rra.audit.claim_labels import words
from rra.author.draft_outcomes import location_of
from rra.author.unit_guess import outcome_unit
from rra.errors import Problem
from rra.scan import ResultsTable, ResultValue
from rra.scan.documents import markdown_lines, rst_lines
from rra.scan.papers import MAX_BYTES, read_paper
from rra.scan.results import METRIC, document_results
from rra.values import ReportedNumber
from rra.values.units import same_unit

MAX_CLAIMS = 5_000
"""Most reported numbers that are looked for."""

_README = re.compile(r"(?i)readme(?:\.(?:md|markdown|rst|txt))?")
_PAPER = re.compile(r"(?i)\b(?:reported|paper|published|original|claimed)\b")
_HERE = re.compile(r"(?i)\b(?:this artifact|reproduced|reproduction|obtained|re-?run|here)\b")
_TABLE = re.compile(r"Table \d+(?=:)")


@dataclasses.dataclass(frozen=True)
class ReportedClaim:
    """A number that a document reports.

    Attributes:
        value: The number with its labels and line.
        table: Its table.
        reported: The number.
        unit: Its unit, as written or as its kind has it.
        key: What tells its table from others.
        location: Where it is reported, in one line.
        also: Where the same number stands under the same labels again.
    """

    value: ResultValue
    table: ResultsTable
    reported: ReportedNumber
    unit: str | None
    key: str
    location: str
    also: tuple[str, ...] = ()

    @property
    def heading(self) -> str:
        """Heading or caption of the table."""
        return self.table.heading


@dataclasses.dataclass(frozen=True)
class ReadClaims:
    """The numbers of some documents.

    Attributes:
        claims: The numbers.
        sources: The documents.
        passed_over: Tables with numbers that look like settings, sizes or data.
        problems: What was left out.
    """

    claims: tuple[ReportedClaim, ...]
    sources: tuple[str, ...]
    passed_over: tuple[ResultsTable, ...]
    problems: tuple[Problem, ...]


def read_claims(artifact: Artifact, papers: Sequence[Path] = ()) -> ReadClaims:
    """Read the results tables of an artifact's READMEs, or of the documents that are named.

    READMEs without a results table are read for sentences such as ``accuracy: 98.9 %``.

    Args:
        artifact: The artifact.
        papers: Documents that are read instead.

    Raises:
        UsageError: A document is not there or is of another kind.
        FormatError: A document cannot be read.
    """
    tables: list[ResultsTable] = []
    passed_over: list[ResultsTable] = []
    sources: list[str] = []
    if papers:
        for path in papers:
            name = _name(artifact, path)
            found = read_paper(path, name)
            tables += found.results
            passed_over += found.others
            sources.append(str(name))
    else:
        sources = [str(name) for name in _readmes(artifact)]
        tables = list(_readme_tables(artifact, map(PurePosixPath, sources)))
    claims = _merged(_claims(tables))
    problems: tuple[Problem, ...] = ()
    if len(claims) > MAX_CLAIMS:
        message = f"{len(claims)} numbers are reported; the first {MAX_CLAIMS} are looked for"
        problems = (Problem(message, sources[0], clause="claims/many", severity="warning"),)
    return ReadClaims(tuple(claims[:MAX_CLAIMS]), tuple(sources), tuple(passed_over), problems)


def _name(artifact: Artifact, path: Path) -> PurePosixPath:
    """Return a document's place in the artifact; of one elsewhere only its name is kept."""
    resolved = path.resolve()
    if resolved.is_relative_to(artifact.root):
        return PurePosixPath(resolved.relative_to(artifact.root))
    return PurePosixPath(path.name)


def _readmes(artifact: Artifact) -> list[PurePosixPath]:
    """Return the READMEs of the artifact and of its code, by their place in the artifact."""
    folders = list(dict.fromkeys((artifact.root, artifact.code_root)))
    found = [
        PurePosixPath(path.relative_to(artifact.root))
        for folder in folders
        if folder.is_dir()
        for path in sorted(folder.iterdir())
        if _README.fullmatch(path.name) and path.is_file() and path.stat().st_size <= MAX_BYTES
    ]
    return list(dict.fromkeys(found))


def _readme_tables(artifact: Artifact, names: Iterable[PurePosixPath]) -> Iterator[ResultsTable]:
    sentences: list[ResultsTable] = []
    empty = True
    for name in names:
        text = (artifact.root / name).read_bytes().decode("utf-8-sig", "replace")
        text = text.replace("\r\n", "\n")
        lines = rst_lines(text) if name.suffix == ".rst" else markdown_lines(text)
        tables, said = document_results(text, name, lines)
        empty = empty and not tables
        sentences += said
        yield from tables
    if empty:
        yield from sentences


def _claims(tables: Iterable[ResultsTable]) -> Iterator[ReportedClaim]:
    for number, table in enumerate(tables):
        named = _TABLE.match(table.heading)
        for value in _of_the_paper(table):
            location = location_of(table, value)
            if named is not None:
                place, comma, rest = location.partition(", ")
                location = f"{place}, {named[0]}{comma}{rest}"
            yield ReportedClaim(
                value,
                table,
                ReportedNumber.parse(value.text),
                _unit(value, table.heading),
                f"{number} {table.source}:{table.line}",
                location,
            )


def _of_the_paper(table: ResultsTable) -> list[ResultValue]:
    """Leave out columns of what came out here, where a column beside them has what is reported."""
    columns = {value.column for value in table.values}
    if not any(_PAPER.search(column) for column in columns):
        return list(table.values)
    return [value for value in table.values if not _HERE.search(value.column)]


def _unit(value: ResultValue, heading: str) -> str | None:
    """Return a number's unit; the caption counts where neither row nor column name a metric."""
    unit = outcome_unit(value)
    named = METRIC.search(f"{value.row} {value.column}") is not None
    if unit is not None or named or "." not in value.text:
        return unit
    return outcome_unit(dataclasses.replace(value, row="", column=_metric_in(heading)))


def _metric_in(heading: str) -> str:
    found = METRIC.search(heading)
    return found[0] if found is not None else ""


def _merged(claims: Iterable[ReportedClaim]) -> list[ReportedClaim]:
    """Join numbers that are reported several times under labels that say the same."""
    merged: list[ReportedClaim] = []
    places: dict[tuple[object, ...], int] = {}
    for claim in claims:
        value = claim.value
        labels = (words(value.row), words(value.column))
        key = (value.text, claim.unit, *labels) if any(labels) else (claim.location,)
        at = places.setdefault(key, len(merged))
        if at == len(merged):
            merged.append(claim)
        else:
            also = (*merged[at].also, claim.location)
            merged[at] = dataclasses.replace(merged[at], also=also)
    return merged


def unit_fits(first: str | None, second: str | None) -> bool:
    """Tell whether two numbers can be in the same unit; one that is not known fits all."""
    return first is None or second is None or same_unit(first, second)
