from __future__ import annotations

from decimal import Decimal

import pytest

from rra.errors import SelectError
from rra.values.tables import csv_table, markdown_tables, read_cell

README = """\
# Wine

| Method | Accuracy (%) | Time | `p\\|q` |
|:-------|-------------:|:----:|---|
| LDA    | **98.9**     | 12 ms | 0.5 ± 0.1 |
| [QDA](q.md) | 99.4%   | 1,234 |
| ResNet 50 | ~96.1 (0.3) | -- | x | surplus |

```
| a | b |
|---|---|
| 1 | 2 |
```

Method | AUC
--- | ---
A | −0.5
"""


def test_the_tables_of_a_readme() -> None:
    first, second = markdown_tables(README)
    assert first.header == ("Method", "Accuracy (%)", "Time", "p|q")
    assert (first.line, second.line) == (3, 15)
    lda, qda, resnet = first.rows
    assert lda[1].number is not None
    assert (lda[1].text, lda[1].number.value, lda[1].unit) == ("98.9", Decimal("98.9"), "%")
    assert (lda[1].line, lda[1].column) == (5, 12)
    assert README.splitlines()[4][lda[1].column - 1 :].startswith("**98.9**")
    assert (lda[2].unit, str(lda[2].number)) == ("ms", "12")
    assert (str(lda[3].number), str(lda[3].uncertainty)) == ("0.5", "0.1")
    assert qda[0].text == "QDA"
    assert (str(qda[1].number), qda[1].unit) == ("99.4", "%")
    assert qda[2].number is None  # 1,234 can be read in two ways
    assert qda[3].text == ""
    assert resnet[0].number is None
    assert (str(resnet[1].number), str(resnet[1].uncertainty)) == ("96.1", "0.3")
    assert len(resnet) == 4
    assert second.rows[0][1].number is not None
    assert second.rows[0][1].number.value == Decimal("-0.5")


def test_no_table_without_a_matching_delimiter_row() -> None:
    assert markdown_tables("| a | b |\n|---|\n| 1 | 2 |\n") == []
    assert markdown_tables("a | b\nc | d\n") == []


@pytest.mark.parametrize(
    ("text", "number", "unit"),
    [
        ("98.9", "98.9", None),
        ("$98.9\\%$", "98.9", "%"),
        ("<b>98.9</b>", "98.9", None),
        ("0.12 s", "0.12", "s"),
        ("1.5e-3", "1.5e-3", None),
        ("98.9 ± 0.3 %", "98.9", "%"),
        ("98.9 % ± 0.3", "98.9", "%"),
        ("*98.9*†", "98.9", None),
        ("ResNet 50", None, None),
        ("50 layers", None, None),
        ("", None, None),
        ("-", None, None),
        ("nan", None, None),
    ],
)
def test_a_cell(text: str, number: str | None, unit: str | None) -> None:
    cell = read_cell(text)
    assert (None if cell.number is None else cell.number.text) == number
    assert cell.unit == unit


def test_a_spread_may_have_an_exponent() -> None:
    cell = read_cell("**3.5928e-02 +/- 1.8328e-03**")
    assert (str(cell.number), str(cell.uncertainty)) == ("3.5928e-02", "1.8328e-03")


@pytest.mark.parametrize(
    ("header", "unit"),
    [("Accuracy (%)", "%"), ("Accuracy [percent]", "percent"), ("time, ms", "ms"), ("Acc%", "%")],
)
def test_the_unit_of_a_column(header: str, unit: str) -> None:
    assert read_cell("98.9", header=header).unit == unit


def test_a_csv_table() -> None:
    table = csv_table('\ufeffmethod,accuracy\nLDA,98.9\n"a, b",99.4\n')
    assert table.header == ("method", "accuracy")
    assert [row[0].text for row in table.rows] == ["LDA", "a, b"]
    assert [str(row[1].number) for row in table.rows] == ["98.9", "99.4"]
    assert [row[1].line for row in table.rows] == [2, 3]
    assert table.has_numbers


def test_broken_csv_is_said() -> None:
    with pytest.raises(SelectError, match="not valid CSV"):
        csv_table('a,b\n"1"x,2\n')
    with pytest.raises(SelectError, match="the table is empty"):
        csv_table("\n")
