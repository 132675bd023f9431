"""LaTeX tables as papers write them, and sources that no paper should be."""

from __future__ import annotations

from decimal import Decimal
from pathlib import PurePosixPath

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rra.scan.results import results_table
from rra.values.latextables import MAX_COLUMNS, latex_tables
from rra.values.latextext import MAX_CELL, blank_comments, plain_text
from rra.values.tables import Table, read_cell


def only(text: str) -> Table:
    (found,) = latex_tables(text)
    return found.table


def tabular(body: str, columns: str = "lcc") -> str:
    return f"\\begin{{tabular}}{{{columns}}}\n{body}\n\\end{{tabular}}\n"


def texts(table: Table) -> list[list[str]]:
    return [[cell.text for cell in row] for row in table.rows]


PAPER = r"""
\newcommand{\ours}{\textsc{Wine}Net}
% \begin{tabular}{ll} A & B \\ x & 1.0 \\ \end{tabular}
\begin{table}[t]
\caption[short]{Accuracy (\%), mean $\pm$ sd.}\label{tab:a}
\centering\resizebox{\textwidth}{!}{%
\begin{tabular}{@{}l*{2}{c}rr@{}}
\toprule
 & \multicolumn{2}{c}{CIFAR-10} & \multirow{2}{*}{Params} & Time \\
\cmidrule(lr){2-3}
Method & Top-1 & Top-5 & & (s) \\
\midrule
\multicolumn{5}{l}{\emph{Baselines}} \\
LDA~\cite{fisher} & 91.3 & 98.9$_{\pm 0.3}$ & 1{,}234 & $1.2\times 10^{-3}$ \\[2pt]
\multirow{2}{*}{QDA} & \textbf{99.4}\% & $98.90 \pm 0.12$ & -- & 12 \\
  & 99.5$^{*}$ & \cellcolor[gray]{.9} 98.8 & \num{12} & \frac{1}{2} \\ \hline
\multicolumn{5}{l}{Proposed} \\
\ours{} & \underline{\textbf{99.9}} & {\bf 97.1} {\scriptsize $\pm$ 0.2} & 1\,234\,567
  & \SI{4.5}{\second} \\
\bottomrule
\end{tabular}}
\end{table}
"""


def test_a_table_as_papers_have_it() -> None:
    (found,) = latex_tables(PAPER)
    assert (found.caption, found.number) == ("Accuracy (%), mean ± sd.", 1)
    assert found.labels == ("tab:a",)
    assert found.table.header == (
        "Method",
        "CIFAR-10 Top-1",
        "CIFAR-10 Top-5",
        "Params",
        "Time (s)",
    )
    values = results_table(found.table, PurePosixPath("p.tex"), "").values
    assert [(v.row, v.column, v.text, v.uncertainty, v.unit) for v in values] == [
        ("Baselines LDA", "CIFAR-10 Top-1", "91.3", "", None),
        ("Baselines LDA", "CIFAR-10 Top-5", "98.9", "0.3", None),
        ("Baselines LDA", "Params", "1234", "", None),
        ("Baselines LDA", "Time (s)", "1.2e-3", "", "s"),
        ("Baselines QDA", "CIFAR-10 Top-1", "99.4", "", "%"),
        ("Baselines QDA", "CIFAR-10 Top-5", "98.90", "0.12", None),
        ("Baselines QDA", "Time (s)", "12", "", "s"),
        ("Baselines QDA", "CIFAR-10 Top-1", "99.5", "", None),
        ("Baselines QDA", "CIFAR-10 Top-5", "98.8", "", None),
        ("Baselines QDA", "Params", "12", "", None),
        ("Proposed WineNet", "CIFAR-10 Top-1", "99.9", "", None),
        ("Proposed WineNet", "CIFAR-10 Top-5", "97.1", "0.2", None),
        ("Proposed WineNet", "Params", "1234567", "", None),
        ("Proposed WineNet", "Time (s)", "4.5", "", "s"),
    ]
    assert PAPER.split("\n")[values[0].line - 1].startswith("LDA")


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        (r"98.9", "98.9"),
        (r"$98.9 \pm 0.3$", "98.9 ± 0.3"),
        (r"98.9{\tiny$\pm$0.3}", "98.9 ± 0.3"),
        (r"$98.9^{\dagger}$", "98.9"),
        (r"$98.9_{\text{best}}$", "98.9"),
        (r"98.9\textsuperscript{a}", "98.9"),
        (r"$-3.2$", "-3.2"),
        (r"\textcolor{red}{98.9}", "98.9"),
        (r"\textcolor[rgb]{.1,.2,.3}{98.9}", "98.9"),
        (r"\hl{98.9}\footnote{see 5.1}", "98.9"),
        (r"98.9\,\%", "98.9 %"),
        (r"12\,345", "12345"),
        (r"$1.5 \cdot 10^{3}$", "1.5e3"),
        (r"$2\times10^{-16}$", "2e-16"),
        (r"\makecell{98.9\\(0.3)}", "98.9 (0.3)"),
        (r"R$^2$", "R2"),
        (r"a \& b", "a & b"),
        (r"train\_acc", "train_acc"),
        (r"\alpha = 0.5", "α= 0.5"),
        (r"1 -- 2", "1 -- 2"),
        (r"\verb", ""),
        ("\\", ""),
        ("", ""),
    ],
)
def test_what_a_cell_shows(cell: str, text: str) -> None:
    assert plain_text(cell) == text


@pytest.mark.parametrize(
    "cell",
    [r"\frac{1}{2}", r"98{5}", r"{98}5", r"\textbf{98}\textbf{5}", r"1/2", r"98.9\\97.1", r"9^8"],
)
def test_two_numbers_never_become_one(cell: str) -> None:
    number = read_cell(plain_text(cell)).number
    assert number is None or number.value not in {Decimal(n) for n in ("12", "985", "98.997", "98")}


@pytest.mark.parametrize(
    ("body", "header", "rows"),
    [
        (r"a & b \\ \hline x & 1.5 \\", ("a", "b"), [["x", "1.5"]]),
        (r"a & b \\ x & 1.5 \\ y & 2.5", ("a", "b"), [["x", "1.5"], ["y", "2.5"]]),
        (
            r"\hline a & b \\ \hline\hline x & 1.5 \\ \hline y & 2.5 \\ \hline",
            ("a", "b"),
            [["x", "1.5"], ["y", "2.5"]],
        ),
        (r"a & b \tabularnewline x & 1.5 \tabularnewline", ("a", "b"), [["x", "1.5"]]),
        (r"a & b \\* x & 1.5 \\[1ex] y & \\", ("a", "b"), [["x", "1.5"], ["y", ""]]),
        (r"k & 1 & 5 \\ \midrule x & 0.5 & 0.6 \\", ("k", "1", "5"), [["x", "0.5", "0.6"]]),
        (r"a & b \\ x & \begin{tabular}{c} 1 \\ 2 \end{tabular} \\", ("a", "b"), None),
        (r"a & b \\ x & {1 & 2 \\ 3} \\", ("a", "b"), None),
        (r"a & 50\% \\ x & 1.5 % no & 9 \\" + "\n" + r"\\ y & 2.5 \\", ("a", "50%"), None),
    ],
)
def test_rows_and_headers(body: str, header: tuple[str, ...], rows: list[list[str]] | None) -> None:
    table = only(tabular(body))
    assert table.header == header
    if rows is not None:
        assert texts(table) == rows


def test_captions_belong_to_their_floats() -> None:
    first = r"\begin{table}\begin{tabular}{l}a & b \\ x & 1.5 \end{tabular}\caption{One}\end{table}"
    loose = tabular(r"a & b \\ y & 2.5", "ll")
    second = r"\begin{table*}\caption{Two}" + loose + loose + r"\end{table*}"
    found = latex_tables(first + loose + r"\caption{stray}" + second)
    assert [(one.caption, one.number) for one in found] == [
        ("One", 1),
        ("", None),
        ("Two", 2),
        ("Two", 2),
    ]


def test_tables_with_a_width_and_long_tables() -> None:
    wide = r"\begin{tabularx}{\textwidth}{lX} a & b \\ x & 1.5 \end{tabularx}"
    long = (
        r"\begin{longtable}[c]{ll}\caption{Long}\\ \hline a & b \\ \endfirsthead "
        r"a & b \\ \endhead x & 1.5 \\ \end{longtable}"
    )
    assert texts(only(wide)) == [["x", "1.5"]]
    (found,) = latex_tables(long)
    assert found.caption == "Long"
    assert texts(found.table)[-1] == ["x", "1.5"]


HOSTILE = {
    "nothing": "",
    "no body": r"\begin{tabular}{ll}\end{tabular}",
    "only a head": tabular(r"a & b \\"),
    "no end": r"\begin{tabular}{ll} a & b \\ x & 1 \\",
    "no begin": r"a & b \\ \end{tabular}",
    "crossed": r"\begin{tabular}{l}\begin{table} a \\ 1 \end{tabular}\end{table}",
    "open group": tabular("a & b \\\\ x & {1.5 \\\\"),
    "closed too often": tabular("a & b}} \\\\ x & }1.5 \\\\"),
    "span of a million": tabular(r"\multicolumn{1000000}{c}{a} \\ x & 1 \\"),
    "span of no number": tabular(r"\multicolumn{x}{c}{a} & b \\ x & \multirow{}{}{1} \\"),
    "macro of itself": r"\newcommand{\a}{\a\a\a\a}" + tabular(r"\a & b \\ \a & 1 \\"),
    "macros that double": "".join(
        f"\\newcommand{{\\{chr(98 + i)}}}{{{chr(92)}{chr(97 + i)}{chr(92)}{chr(97 + i)}}}"
        for i in range(20)
    )
    + tabular(r"\u & b \\ x & 1 \\"),
    "verbatim": r"\begin{verbatim}" + tabular(r"a & b \\ x & 1 \\") + r"\end{verbatim}",
    "ends in a backslash": tabular("a & b \\\\ x & 1 \\\\") + "\\",
    "null": "\0" * 100,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_sources_are_read_without_harm(name: str) -> None:
    for found in latex_tables(HOSTILE[name]):
        assert len({len(row) for row in found.table.rows} | {len(found.table.header)}) == 1


@pytest.mark.parametrize(
    "piece",
    [
        "{",
        "\\begin{tabular}",
        "\\begin{table}\\caption{",
        "\\begin{tabular}{l}&",
        "\\end{tabular}",
        "\\multirow{2}{",
        "\\newcommand{\\a}{",
        "\\frac{",
        "^{",
        "$_{\\pm",
        "%",
        "\\\\",
        "&",
        "\\hline[",
        "\\begin{verbatim}",
    ],
)
def test_a_hundred_thousand_of_anything_come_to_an_end(piece: str) -> None:
    source = "\\begin{tabular}{ll} a & b \\\\ x & 1.5 \\\\ " + piece * 100_000 + " \\end{tabular}"
    for found in latex_tables(source):
        assert len(found.table.header) <= MAX_COLUMNS
    assert len(plain_text(piece * 100_000)) <= MAX_CELL


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [
                *(
                    "{",
                    "}",
                    "&",
                    "\\\\",
                    "$",
                    "^",
                    "_",
                    "%",
                    "\n",
                    "~",
                    "98.9",
                    "a",
                    "\\pm",
                    "[",
                    "]",
                ),
                *("\\begin{tabular}{l}", "\\end{tabular}", "\\begin{table}", "\\end{table}"),
                *("\\multicolumn{2}{c}{", "\\multirow{2}{*}{", "\\midrule", "\\caption{", "\\"),
            ]
        ),
        max_size=40,
    )
)
def test_any_mixture_gives_tables_whose_rows_are_as_long_as_their_header(parts: list[str]) -> None:
    for found in latex_tables("".join(parts)):
        assert {len(row) for row in found.table.rows} == {len(found.table.header)}


@given(st.text(alphabet="a%\\\n{}", max_size=60))
def test_comments_go_and_every_offset_stays(source: str) -> None:
    shown = blank_comments(source)
    assert len(shown) == len(source)
    assert "%" not in shown.replace("\\%", "")
    assert [i for i, c in enumerate(shown) if c == "\n"] == [
        i for i, c in enumerate(source) if c == "\n"
    ]


LABELS = st.from_regex(r"[A-Za-z][A-Za-z ]{0,8}[A-Za-z]", fullmatch=True)
NUMBERS = st.decimals(-999, 999, places=2).map(str)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(LABELS, min_size=2, max_size=5),
    st.lists(st.tuples(LABELS, st.lists(NUMBERS, min_size=4, max_size=4)), min_size=1, max_size=4),
    st.sampled_from(["{}", "\\textbf{{{}}}", "${}$", "{{\\bf {}}}", "{} \\pm 0.1", "{}$^*$"]),
)
def test_numbers_written_as_latex_come_back(
    header: list[str], rows: list[tuple[str, list[str]]], form: str
) -> None:
    width = len(header) - 1
    body = " & ".join(header) + " \\\\ \\midrule\n"
    for label, numbers in rows:
        cells = [form.format(number) for number in numbers[:width]]
        body += " & ".join([label, *cells]) + " \\\\\n"
    table = only(tabular(body))
    assert [[str(cell.number) for cell in row[1:]] for row in table.rows] == [
        numbers[:width] for _, numbers in rows
    ]
