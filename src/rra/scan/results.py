"""Finding the results that documents report: tables first, sentences where there are none."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from rra.errors import SelectError
from rra.scan.documents import DocumentLine, starts_program
from rra.scan.htmltables import html_tables
from rra.scan.objects import ResultsTable, ResultValue
from rra.scan.rsttables import rst_tables
from rra.values.numbers import ReportedNumber
from rra.values.tables import Cell, Table, markdown_tables

METRIC = re.compile(
    r"(?<![a-z])(?:accurac(?:y|ies)|acc|top-?[15]|precision|recall|f-?1|f1-?score|f-?score|"
    r"auc|auroc|auprc|roc|map|miou|iou|dice|bleu|rouge(?:-?[l12])?|meteor|wer|cer|perplexity|ppl|"
    r"p@(?:k|l|\d+)|deviance|"
    r"loss|error(?: rate)?|rmse|mse|mae|mape|r2|r\^2|r²|nll|elbo|log-?likelihood|psnr|ssim|fid|"
    r"coverage|width|interval length|length|score|correlation|spearman|pearson|kappa|mcc|"
    r"ndcg|mrr|hit(?:s|@\d+)|fdr|tpr|fpr|shd|nnz|sensitivity|specificity|silhouette|regret|reward|"
    r"return|runtime|time|speedup|energy|deviation|bias|variance|distance|cv accuracy)(?![a-z])",
    re.IGNORECASE,
)
"""Words that name a measured quantity."""

_HEADING = re.compile(r"^ {0,3}(#{1,6})\s+(.+?)\s*#*\s*$")
_HTML_HEADING = re.compile(
    r"<(?:h[1-6]|caption)\b[^>]{0,200}>(?P<text>.{1,300}?)</(?:h[1-6]|caption)>"
)
_RESULT_HEADING = re.compile(
    r"result|performance|accurac|benchmark|evaluation|reproduc|table|score|comparison|expected"
    r"|experiment",
    re.IGNORECASE,
)
_OTHER_HEADING = re.compile(
    r"option|argument|parameter|setting|requirement|install|dependenc|dataset|data set|hardware|"
    r"content|structure|licen[cs]e|changelog|release|roadmap",
    re.IGNORECASE,
)
_OTHER_HEADER = re.compile(
    r"^(?:argument|option|parameter|param|default|flag|version|file|size|type|description|name|"
    r"section|chapter|figure|fig\.?|page|folder|#?\s*samples|samples|instances|features|classes|n|d|year|epochs?|lr|batch.*|layers?|seed)$",
    re.IGNORECASE,
)
_NUMBER = r"[-+−]?(?:\d+(?:,\d{3})+|\d+)(?:\.\d+)?(?:[eE][-+]?\d+)?|[-+−]?\.\d+"
_SENTENCE = re.compile(
    rf"(?P<metric>{METRIC.pattern})"
    r"(?P<between>[^\n.;|:=%]{0,60}[:=][ *_`]{1,4}|[^\d\n.;|]{0,40}?)"
    rf"(?P<number>{_NUMBER})(?P<unit>\s*(?:%|percent\b)|)(?!\s*(?:-?\s*fold|/|x\b)|[\w.]*\w\()",
    re.IGNORECASE,
)
_ABOUT = re.compile(r"(?:[:=≈~]|\b(?:near|about|around|approximately|roughly))\s*[*_`]*\s*$")
_CITED = re.compile(r"https?://|arxiv|doi|\]\(|import |==|>=|--\w")


def document_results(
    text: str, source: PurePosixPath, lines: list[DocumentLine]
) -> tuple[list[ResultsTable], list[ResultsTable]]:
    """Return the results of one document: (tables, sentences).

    Args:
        text: The document.
        source: Its place in the repository.
        lines: Lines of its code blocks, of which shown output is read too.
    """
    headings = _headings(text)
    likely = [table for table in document_tables(text, source) if is_results(table)]
    return likely, _sentences(text, source, lines, headings)


def document_tables(text: str, source: PurePosixPath) -> list[ResultsTable]:
    """Return every table with numbers of a Markdown, reStructuredText or HTML document.

    Args:
        text: The document.
        source: Its name; the suffix says what it is.
    """
    found = rst_tables(text) if source.suffix == ".rst" else markdown_tables(text)
    found = sorted([*found, *html_tables(text)], key=lambda table: table.line)
    headings = _headings(text)
    tables = [results_table(table, source, _heading_above(headings, table.line)) for table in found]
    return [table for table in tables if table.values]


def results_table(table: Table, source: PurePosixPath, heading: str) -> ResultsTable:
    """Return the numbers of a table with the labels of their rows and columns."""
    return ResultsTable(source, table.line, heading, tuple(_values(table)))


def _headings(text: str) -> list[tuple[int, str]]:
    lines = text.split("\n")
    found = []
    for number, line in enumerate(lines, start=1):
        mark = _HEADING.match(line)
        html = _HTML_HEADING.search(line)
        below = lines[number] if number < len(lines) else ""
        if mark:
            found.append((number, mark[2]))
        elif html:
            found.append((number, re.sub(r"<[^<>]{0,200}>", "", html["text"]).strip()))
        elif line.strip() and re.match(r"^(?:=|-|~|\^|\*){3,}\s*$", below) and "|" not in line:
            found.append((number, line.strip()))
    return found


def _heading_above(headings: list[tuple[int, str]], line: int) -> str:
    above = [text for number, text in headings if number <= line]
    return re.sub(r"[*_`]+", "", above[-1]).strip() if above else ""


def _values(table: Table) -> list[ResultValue]:
    values = []
    labels = _label_columns(table)
    named = [table.header[index] for index in labels]
    for row in table.rows:
        label = " ".join(row[index].text for index in labels if row[index].text)
        for index, (name, cell) in enumerate(zip(table.header, row, strict=True)):
            if cell.number is not None and index not in labels:
                values.append(_value(cell, label, name, " ".join(named)))
    return values


def _label_columns(table: Table) -> list[int]:
    """Return the leading columns that label rows: those of text, and a first one of settings.

    Whole numbers in the first column (years, sizes, counts of trees) are settings too, and so is
    what stands beside a measured quantity without being one (``Ratio | Top-1``).
    """
    labels: list[int] = []
    for index, name in enumerate(table.header):
        cells = [row[index] for row in table.rows if row[index].text]
        numeric = [cell for cell in cells if cell.number is not None]
        measured = bool(METRIC.search(name)) or "%" in name
        is_label = len(numeric) * 2 <= len(cells) and not (numeric and measured)
        whole = len(table.header) > 1 and all(
            cell.number is not None and cell.number.decimals == 0 and cell.unit is None
            for cell in cells
        )
        named = bool(_OTHER_HEADER.match(name.strip())) or whole
        beside = any(METRIC.search(other) for other in table.header[1:])
        is_setting = index == 0 and (named or beside) and not measured
        if not (is_label or is_setting):
            break
        labels.append(index)
    return labels


def _value(cell: Cell, row: str, column: str, row_name: str) -> ResultValue:
    assert cell.number is not None  # noqa: S101 - the caller looked
    spread = cell.uncertainty.text if cell.uncertainty else ""
    return ResultValue(cell.number.text, cell.unit, row, column, spread, cell.line, row_name)


def is_results(table: ResultsTable) -> bool:
    """Tell results from tables of options, requirements and data sets."""
    labels = [label for value in table.values for label in (value.row, value.column)]
    if any(METRIC.search(label) or "%" in label for label in labels):
        return True
    if any(value.unit is not None for value in table.values):
        return True
    if _RESULT_HEADING.search(table.heading):
        return True
    if _OTHER_HEADING.search(table.heading):
        return False
    return not all(_OTHER_HEADER.match(value.column.strip()) for value in table.values)


def _sentences(
    text: str, source: PurePosixPath, lines: list[DocumentLine], headings: list[tuple[int, str]]
) -> list[ResultsTable]:
    """Read ``accuracy: 98.9 %`` and the like in running text and in shown output."""
    commands = {line.line for line in lines if not line.output}
    tables: dict[str, list[ResultValue]] = {}
    first: dict[str, int] = {}
    for number, line in enumerate(text.split("\n"), start=1):
        if number in commands and _is_command_like(number, lines):
            continue
        if "|" in line or _HEADING.match(line) or _CITED.search(line):
            continue
        for found in _SENTENCE.finditer(line):
            value = _sentence_value(found, number)
            if value is not None:
                heading = _heading_above(headings, number)
                first.setdefault(heading, number)
                tables.setdefault(heading, []).append(value)
    return [
        ResultsTable(source, first[heading], heading, tuple(values), prose=True)
        for heading, values in tables.items()
    ]


def _is_command_like(number: int, lines: list[DocumentLine]) -> bool:
    return any(line.line == number and starts_program(line.text) for line in lines)


def _sentence_value(found: re.Match[str], line: int) -> ResultValue | None:
    try:
        number = ReportedNumber.parse(found["number"])
    except SelectError:
        return None
    unit = "%" if found["unit"].strip() else None
    whole = unit is None and "." not in number.text and "e" not in number.text.lower()
    if "default" in found["between"] or (whole and not _ABOUT.search(found["between"])):
        return None
    metric = " ".join(found["metric"].split())
    return ResultValue(number.text, unit, "", metric, "", line)
