"""The results tables of one document that somebody names: a paper, an appendix, a table."""

from __future__ import annotations

import dataclasses
from pathlib import Path, PurePosixPath

from rra.errors import FormatError, SelectError, UsageError
from rra.scan.objects import ResultsTable
from rra.scan.results import document_tables, is_results, results_table
from rra.values.latextables import LatexTable, latex_tables
from rra.values.tables import csv_table

MAX_BYTES = 16 * 1024 * 1024
"""Largest document that is read."""

SUFFIXES = (".md", ".markdown", ".rst", ".html", ".htm", ".tex", ".csv", ".tsv")
"""Kinds of documents that are read."""

_CAPTION = 80


@dataclasses.dataclass(frozen=True, slots=True)
class PaperTables:
    """The tables of a document.

    Attributes:
        results: Those that report results.
        others: Those with numbers that look like settings, sizes or data.
    """

    results: tuple[ResultsTable, ...]
    others: tuple[ResultsTable, ...]


def read_paper(path: Path, name: PurePosixPath | None = None) -> PaperTables:
    """Read the tables of a document.

    Args:
        path: Markdown, reStructuredText, HTML, LaTeX, CSV or TSV.
        name: Name that the tables give as their source; that of the file by default.

    Raises:
        UsageError: There is no such file, or it is of another kind.
        FormatError: It is too large, or is not a table.
    """
    suffix = path.suffix.lower()
    if not path.is_file():
        raise UsageError(f"no such file: {path}", hint="give the paper's source or a table")
    if suffix not in SUFFIXES:
        raise UsageError(
            f"{path.name} is of no kind that tables are read from",
            hint=f"give one of: {' '.join(SUFFIXES)}; a PDF has to be turned into one of them",
        )
    if path.stat().st_size > MAX_BYTES:
        raise FormatError(
            f"{path.name} is larger than {MAX_BYTES} bytes", hint="give the tables alone"
        )
    text = path.read_bytes().decode("utf-8-sig", "replace").replace("\r\n", "\n")
    source = name or PurePosixPath(path.name)
    tables = _tables(text, source, suffix)
    likely = tuple(table for table in tables if suffix in {".csv", ".tsv"} or is_results(table))
    return PaperTables(likely, tuple(table for table in tables if table not in likely))


def _tables(text: str, source: PurePosixPath, suffix: str) -> list[ResultsTable]:
    if suffix == ".tex":
        found = [results_table(one.table, source, _heading(one)) for one in latex_tables(text)]
        return [table for table in found if table.values]
    if suffix in {".csv", ".tsv"}:
        try:
            table = csv_table(text, delimiter="\t" if suffix == ".tsv" else ",")
        except SelectError as error:
            raise FormatError(f"{source}: {error.message}", hint=error.hint) from error
        return [results_table(table, source, source.stem)]
    return document_tables(text, source)


def _heading(table: LatexTable) -> str:
    """Return the caption, cut at a word, with the number that the paper gives the table."""
    caption = table.caption
    if len(caption) > _CAPTION:
        caption = caption[:_CAPTION].rsplit(" ", 1)[0] + " …"
    return f"Table {table.number}: {caption}" if table.number else caption
