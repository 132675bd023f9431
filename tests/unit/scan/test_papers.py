"""Documents that somebody names: what is read from them, and what is refused."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

import pytest

from rra.errors import FormatError, UsageError
from rra.scan.papers import MAX_BYTES, read_paper

MARKDOWN = "## Results\n\n| model | accuracy |\n|--|--|\n| LDA | 98.9 % |\n"
HTML = (
    "<table><caption>Results</caption>\n"
    "<tr><th>model</th><th>accuracy</th></tr><tr><td>LDA</td><td>98.9&nbsp;%</td></tr></table>\n"
)
LATEX = (
    "\\begin{table}\\caption{Results}\\begin{tabular}{lr}\n"
    "model & accuracy \\\\ \\midrule\nLDA & 98.9\\,\\% \\\\\n\\end{tabular}\\end{table}\n"
)
RULE = "===== ========\n"
RST = f"Results\n=======\n\n{RULE}model accuracy\n{RULE}LDA   98.9 %\n{RULE}"


@pytest.mark.parametrize(
    ("name", "text", "heading"),
    [
        ("p.md", MARKDOWN, "Results"),
        ("p.html", HTML, "Results"),
        ("p.rst", RST, "Results"),
        ("p.tex", LATEX, "Table 1: Results"),
        ("results.csv", "model,accuracy\nLDA,98.9 %\n", "results"),
        ("results.tsv", "model\taccuracy\r\nLDA\t98.9 %\r\n", "results"),
    ],
)
def test_every_kind_of_document(tmp_path: Path, name: str, text: str, heading: str) -> None:
    (tmp_path / name).write_bytes(text.encode())
    (table,) = read_paper(tmp_path / name).results
    assert (table.source, table.heading) == (PurePosixPath(name), heading)
    assert [(v.row, v.column, v.text, v.unit) for v in table.values] == [
        ("LDA", "accuracy", "98.9", "%")
    ]


def test_tables_of_settings_are_told_apart(tmp_path: Path) -> None:
    settings = "## Options\n\n| option | default |\n|--|--|\n| folds | 10 |\n"
    (tmp_path / "p.md").write_text(settings + MARKDOWN, encoding="utf-8")
    paper = read_paper(tmp_path / "p.md")
    assert [table.heading for table in paper.results] == ["Results"]
    assert [table.heading for table in paper.others] == ["Options"]


def test_a_long_caption_is_cut_at_a_word(tmp_path: Path) -> None:
    text = LATEX.replace("Results", "Word " * 40)
    (tmp_path / "p.tex").write_text(text, encoding="utf-8")
    heading = read_paper(tmp_path / "p.tex").results[0].heading
    assert heading.startswith("Table 1: Word Word")
    assert heading.endswith("Word …")
    assert len(heading) < 100


def test_what_is_no_document_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such file"):
        read_paper(tmp_path / "absent.md")
    (tmp_path / "p.pdf").write_bytes(b"%PDF-1.7")
    with pytest.raises(UsageError, match="no kind that tables are read from") as refused:
        read_paper(tmp_path / "p.pdf")
    assert ".tex" in refused.value.hint
    (tmp_path / "p.csv").write_text('a,b\n"1\n', encoding="utf-8")
    with pytest.raises(FormatError, match=r"p\.csv: .*not valid CSV"):
        read_paper(tmp_path / "p.csv")
    with (tmp_path / "p.md").open("wb") as file:
        file.truncate(MAX_BYTES + 1)
    with pytest.raises(FormatError, match="larger"):
        read_paper(tmp_path / "p.md")


def test_bytes_that_are_no_text_do_no_harm(tmp_path: Path) -> None:
    (tmp_path / "p.tex").write_bytes(LATEX.encode() + b"\xff\xfe\0")
    assert len(read_paper(tmp_path / "p.tex").results) == 1
