from __future__ import annotations

from pathlib import PurePosixPath

import pytest

from rra.scan import ResultsTable
from rra.scan.documents import markdown_lines
from rra.scan.results import document_results


def tables(text: str, name: str = "README.md") -> list[ResultsTable]:
    return document_results(text, PurePosixPath(name), markdown_lines(text))[0]


def sentences(text: str) -> list[ResultsTable]:
    return document_results(text, PurePosixPath("README.md"), markdown_lines(text))[1]


def values(found: list[ResultsTable]) -> list[tuple[str, str, str, str | None, int]]:
    return [(v.row, v.column, v.text, v.unit, v.line) for table in found for v in table.values]


def test_decimals_and_units_are_kept_as_written() -> None:
    text = "## Results\n\n| m | Accuracy (%) | F1 |\n|--|--|--|\n| LDA | **98.90** | 0.9 |\n"
    found = tables(text)
    assert found[0].heading == "Results"
    assert values(found) == [
        ("LDA", "Accuracy (%)", "98.90", "%", 5),
        ("LDA", "F1", "0.9", None, 5),
    ]


def test_tables_of_options_and_data_sets_are_no_results() -> None:
    text = (
        "## Options\n\n| argument | default |\n|--|--|\n| lr | 0.1 |\n\n"
        "## Results\n\n| data | error |\n|--|--|\n| wine | 0.05 |\n"
    )
    assert values(tables(text)) == [("wine", "error", "0.05", None, 11)]


def test_a_table_without_a_telling_word_still_counts() -> None:
    text = "# Four regressions\n\n| set | slope |\n|--|--|\n| I | 0.500 |\n| II | 0.500 |\n"
    (table,) = tables(text)
    assert [value.row_name for value in table.values] == ["set", "set"]


def test_settings_in_the_first_column_label_rows() -> None:
    text = "## Results\n\n| epochs | accuracy |\n|--|--|\n| 10 | 0.91 |\n| 20 | 0.93 |\n"
    assert [v[:3] for v in values(tables(text))] == [
        ("10", "accuracy", "0.91"),
        ("20", "accuracy", "0.93"),
    ]


def test_html_tables_are_read_with_their_lines() -> None:
    text = (
        "<h2>Results</h2>\n<table>\n<tr><th>m<th>accuracy</tr>\n"
        "<tr><td>A &amp; B</td><td><b>98.9</b>%</td></tr>\n</table>\n"
    )
    assert values(tables(text)) == [("A & B", "accuracy", "98.9", "%", 4)]


def test_restructured_text_tables() -> None:
    text = (
        "Results\n=======\n\n=====  ========\nmodel  accuracy\n=====  ========\nLDA    98.9\n"
        "=====  ========\n\n+-----+------+\n| m   | loss |\n+=====+======+\n| net | 0.25 |\n"
        "+-----+------+\n"
    )
    assert values(tables(text, "README.rst")) == [
        ("LDA", "accuracy", "98.9", None, 7),
        ("net", "loss", "0.25", None, 13),
    ]


def test_spread_is_kept_beside_the_value() -> None:
    text = "| m | accuracy |\n|--|--|\n| a | 91.2 ± 0.3 |\n"
    (table,) = tables(text)
    assert (table.values[0].text, table.values[0].uncertainty) == ("91.2", "0.3")


def test_sentences_and_shown_output() -> None:
    text = (
        "# x\n\nWe reach an accuracy of 98.9 % with 10-fold validation.\n\n"
        "```\n$ python main.py --accuracy 5\nBest C = 0.5, CV accuracy = 83.3333%\n```\n"
        "See https://example.org/accuracy/12.5\n"
    )
    assert values(sentences(text)) == [
        ("", "accuracy", "98.9", "%", 3),
        ("", "CV accuracy", "83.3333", "%", 7),
    ]


def test_counts_and_versions_are_no_claims() -> None:
    text = "Accuracy is computed on 150 flowers. Needs score 3 or F1 of 2 folds. loss()\n"
    assert sentences(text) == []


def test_whole_numbers_in_the_first_column_label_rows() -> None:
    text = "## Results\n\n| article | ratio |\n|--|--|\n| 1975 | 3.50 |\n| 1977 | 3.5 |\n"
    (table,), _ = document_results(text, PurePosixPath("README.md"), [])
    assert [(v.row, v.column, v.text) for v in table.values] == [
        ("1975", "ratio", "3.50"),
        ("1977", "ratio", "3.5"),
    ]
    counts = text.replace("article", "accuracy")
    (table,), _ = document_results(counts, PurePosixPath("README.md"), [])
    assert [v.text for v in table.values] == ["1975", "3.50", "1977", "3.5"]


def test_a_first_column_beside_a_metric_is_a_setting() -> None:
    text = "## Results\n\n| ratio | top-1 |\n|--|--|\n| 0.5 | 92.18 |\n"
    assert [v[:3] for v in values(tables(text))] == [("0.5", "top-1", "92.18")]


def test_numbers_of_sections_are_no_results() -> None:
    text = "# Suite\n\n| folder | section |\n|--|--|\n| `shift` | 4.3 |\n"
    assert tables(text) == []


@pytest.mark.parametrize(
    ("sentence", "metric", "number"),
    [
        ("FID on CelebA-64: **2.87** (large)", "FID", "2.87"),
        ("Validation loss after 2000 steps: `3.4e-4`.", "loss", "3.4e-4"),
        ("P@L on the hard split is 0.412.", "P@L", "0.412"),
        ("Perplexity should come out near 1180.", "Perplexity", "1180"),
        ("Test deviance of the fitted model: 0.4821 (paper)", "deviance", "0.4821"),
    ],
)
def test_a_sentence_with_one_result(sentence: str, metric: str, number: str) -> None:
    assert [(v[1], v[2]) for v in values(sentences(sentence))] == [(metric, number)]


def test_defaults_are_no_results() -> None:
    assert sentences("set the epsilon in loss function of SVR (default 0.1)") == []
