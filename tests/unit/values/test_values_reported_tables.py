from __future__ import annotations

from pathlib import PurePosixPath

import pytest

from rra.errors import SelectError
from rra.values.reported_tables import find_table, heading_slug
from rra.values.tables import csv_table, without_unit

PAPER = """\
# Our method

| a | b |
|---|---|
| 1 | 2 |

## Results (*Table 2*)

```
| not | this |
|-----|------|
| 1   | 2    |
```

| model | F1 |
|-------|----|
| LDA   | 98 |

## Two tables

| x | y |
|---|---|
| 1 | 2 |

| x | z |
|---|---|
| 3 | 4 |
"""
PATH = PurePosixPath("paper.md")


@pytest.mark.parametrize(
    ("fragment", "header"),
    [
        ("1", ("a", "b")),
        ("our-method", ("a", "b")),
        ("2", ("model", "F1")),
        ("results-table-2", ("model", "F1")),
        ("4", ("x", "z")),
    ],
)
def test_a_table_is_found_by_its_number_or_its_heading(
    fragment: str, header: tuple[str, ...]
) -> None:
    assert find_table(PATH, PAPER, fragment).header == header


def test_a_table_that_is_not_there_names_those_that_are() -> None:
    with pytest.raises(SelectError, match=r"there is no table #5 in paper\.md") as caught:
        find_table(PATH, PAPER, "5")
    assert caught.value.hint.startswith("there are #1 (line 3, #our-method), #2 (line 15, #results")
    with pytest.raises(SelectError, match=r"there are 2 tables under #two-tables of paper\.md"):
        find_table(PATH, PAPER, "two-tables")
    with pytest.raises(SelectError, match=r"there are 4 tables in paper\.md"):
        find_table(PATH, PAPER, "")
    with pytest.raises(SelectError, match=r"there is no table in paper\.md"):
        find_table(PATH, "# Nothing\n", "")
    with pytest.raises(SelectError, match="no table #0"):
        find_table(PATH, PAPER, "0")


def test_the_only_table_needs_no_name() -> None:
    assert find_table(PATH, "| a | b |\n|---|---|\n| 1 | 2 |\n", "").rows[0][1].text == "2"


LATEX = r"""
\begin{table}\caption{One \label{tab:one}}
\begin{tabular}{lc} m & F1 \\ \midrule A & 98.9 $\pm$ 0.3 \\ \end{tabular}\end{table}
\begin{table*}
\begin{tabular}{lc} m & AUC \\ \midrule A & \textbf{97.2} \\ \end{tabular}
\caption{Two}\label{tab:two}\end{table*}
\begin{table}\label{tab:both}
\begin{tabular}{lc} m & x \\ \midrule A & 1 \\ \end{tabular}
\begin{tabular}{lc} m & y \\ \midrule A & 2 \\ \end{tabular}
\end{table}
"""


@pytest.mark.parametrize(
    ("fragment", "column"), [("tab:one", "F1"), ("tab:two", "AUC"), ("2", "AUC"), ("4", "y")]
)
def test_a_table_of_latex_is_found_by_its_number_or_its_label(fragment: str, column: str) -> None:
    assert find_table(PurePosixPath("p.tex"), LATEX, fragment).header == ("m", column)


def test_a_label_of_two_tables_is_not_enough() -> None:
    with pytest.raises(SelectError, match="there are 2 tables under #tab:both") as caught:
        find_table(PurePosixPath("p.tex"), LATEX, "tab:both")
    assert "#3 (line 8, #tab:both)" in caught.value.hint


def test_files_of_separated_values_hold_one_table() -> None:
    assert find_table(PurePosixPath("t.tsv"), "a\tb\n1\t2\n", "").header == ("a", "b")
    with pytest.raises(SelectError, match=r"t\.csv holds one table, so #2 says nothing"):
        find_table(PurePosixPath("t.csv"), "a,b\n1,2\n", "2")


def test_a_kind_of_file_that_is_not_read_is_refused() -> None:
    with pytest.raises(SelectError, match=r"t\.xlsx is not a file that a table is read from"):
        find_table(PurePosixPath("t.xlsx"), "", "")


def test_cells_of_a_csv_line_know_their_column() -> None:
    table = csv_table('model,"F1, macro",n\nLDA,"98.9",178\n"a, ""b""",,3\n"two\nlines",1,2\n')
    assert [[(c.text, c.line, c.column) for c in row] for row in table.rows] == [
        [("LDA", 2, 1), ("98.9", 2, 5), ("178", 2, 12)],
        [('a, "b"', 3, 1), ("", 3, 12), ("3", 3, 13)],
        [("two\nlines", 5, 1), ("1", 5, 1), ("2", 5, 1)],
    ]


@pytest.mark.parametrize(
    ("heading", "slug"),
    [
        # As github.com renders these headings.
        ("Results", "results"),
        ("Table 2: F1 (macro)", "table-2-f1-macro"),
        ("[Linked](x.md) text", "linked-text"),
        ("snake_case & more", "snake_case--more"),
        ("Größe", "größe"),
    ],
)
def test_headings_become_the_anchors_of_github(heading: str, slug: str) -> None:
    assert heading_slug(heading) == slug


@pytest.mark.parametrize(
    ("header", "name"),
    [("Accuracy (%)", "Accuracy"), ("F1 (macro)", "F1 (macro)"), ("Time, s", "Time"), ("n", "n")],
)
def test_the_unit_is_no_part_of_a_columns_name(header: str, name: str) -> None:
    assert without_unit(header) == name
