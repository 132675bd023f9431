from __future__ import annotations

import re
import textwrap
from pathlib import Path
from typing import Any

import pytest

from rra._base.yaml import parse_yaml
from rra.artifact import Artifact, load_artifact
from rra.errors import FormatError, Problem
from tests.support.artifacts import make_artifact
from tests.support.source import ROOT

TABLE = """\
Model,Accuracy (%),F1
Linear SVM,98.90,0.981
"Forest, 100 trees",**97.2** %,0.97
"""


def table(text: str = TABLE, *, path: str = "guide/reported/t.csv", **more: Any) -> dict[str, Any]:
    """Return a declared table; `reported_file` carries its content to `load`."""
    declared = {"reported": path, "launcher": "main", "file": "metrics.json", **more}
    return {"declared": declared, "files": {path.partition("#")[0]: text}}


def load(root: Path, made: dict[str, Any], **experiment: Any) -> Artifact:
    return make_artifact(
        root,
        {"main.py": "print('{}')\n", **made["files"]},
        experiments={"t2": {"table": made["declared"], **experiment}},
    )


def faults(root: Path, made: dict[str, Any], **experiment: Any) -> list[Problem]:
    with pytest.raises(FormatError) as caught:
        load(root, made, **experiment)
    return list(caught.value.problems)


@pytest.mark.clause("outcome/digits-survive")
def test_every_cell_becomes_an_outcome_with_its_text_as_reported(tmp_path: Path) -> None:
    outcomes = load(tmp_path, table()).manifest.outcomes()
    assert {name: (one.reported, one.unit) for name, one in outcomes.items()} == {
        "t2/linear-svm-accuracy": ("98.90", "percent"),
        "t2/linear-svm-f1": ("0.981", None),
        "t2/forest-100-trees-accuracy": ("97.2", "percent"),
        "t2/forest-100-trees-f1": ("0.97", None),
    }
    first = outcomes["t2/linear-svm-accuracy"]
    assert first.type == "number"
    assert first.location == "guide/reported/t.csv row 1, row Linear SVM, column Accuracy (%)"
    assert first.selector.json_pointer == "/Linear SVM/Accuracy (%)"


def test_the_place_in_the_paper_begins_with_that_of_the_table(tmp_path: Path) -> None:
    artifact = load(tmp_path, table(location="Table 2"))
    assert artifact.outcome("linear-svm-f1")[1].location == "Table 2, row Linear SVM, column F1"


def test_a_csv_file_is_read_like_the_reported_table(tmp_path: Path) -> None:
    outcome = load(tmp_path, table(file="results.csv")).outcome("linear-svm-f1")[1]
    assert outcome.selector.locators()["csv"] == {"where": {"Model": "Linear SVM"}, "column": "F1"}


def test_names_in_the_output_go_into_the_selector_as_it_needs_them(tmp_path: Path) -> None:
    def selector(name: str, **said: Any) -> Any:
        rows = {"svm": {"reported": "Linear SVM", "output": "a/b(1)"}}
        made = table(rows=rows, columns={"f1": "F1"}, file="{row}.txt", selector=said)
        made["declared"]["rows"]["svm"]["file"] = "x.json" if name == "json" else "log.txt"
        return load(tmp_path, made).outcome("svm-f1")[1].selector

    assert selector("json", json="/{row}/{column}/mean").json_pointer == "/a~1b(1)/F1/mean"
    assert selector("regex", regex=r"{row}: (?P<value>[0-9]{2})").regex == (
        r"a/b\(1\): (?P<value>[0-9]{2})"
    )
    where = {"where": {"model": "{row}", "split": "test"}, "column": "{column}"}
    assert selector("csv", csv=where).locators()["csv"] == {
        "where": {"model": "a/b(1)", "split": "test"},
        "column": "F1",
    }
    assert selector("npz", npz={"key": "{row}-{column}", "index": 0}).locators()["npz"] == {
        "key": "a/b(1)-F1",
        "index": 0,
    }


@pytest.mark.clause("table/particular-counts")
def test_what_is_said_of_cell_row_and_column_comes_before_what_is_said_of_the_table(
    tmp_path: Path,
) -> None:
    made = table(
        metric="score",
        n_items=10,
        split="test",
        selector={"json": "/{row}/{column}", "unit": "fraction", "pick": "last"},
        rows={"svm": {"reported": "Linear SVM", "n_items": 30, "file": "svm.json"}},
        columns={
            "acc": {"reported": "Accuracy (%)", "n_items": 20, "metric": "accuracy"},
            "f1": {"reported": "F1", "n_items": 20},
        },
        cells={
            "svm-f1": {
                "n_items": 40,
                "location": "page 7",
                "deviation": {"observed": "0.979", "explanation": "other split"},
                "selector": {"regex": "{column}=(?P<value>.*)"},
                "file": "log.txt",
            }
        },
    )
    made["declared"]["x-lab"] = 3
    outcomes = load(tmp_path, made).manifest.outcomes()
    acc, f1 = outcomes["t2/svm-acc"], outcomes["t2/svm-f1"]
    assert (acc.metric, acc.n_items, acc.split) == ("accuracy", 30, "test")
    assert (f1.metric, f1.n_items, f1.location) == ("score", 40, "page 7")
    assert f1.deviation is not None
    assert f1.deviation.observed == "0.979"
    assert acc.selector.to_json() == {
        "launcher": "main",
        "file": "svm.json",
        "json": "/Linear SVM/Accuracy (%)",
        "unit": "fraction",
        "pick": "last",
        "aggregate": "single",
    }
    assert f1.selector.regex == "F1=(?P<value>.*)"
    assert f1.selector.json_pointer is None
    assert acc.to_json()["x-lab"] == 3


def test_a_spread_is_kept_as_written_with_what_it_is(tmp_path: Path) -> None:
    text = "m,acc,err\nA,98.9 ± 0.30,1\nB,97.1 (0.5),2\nC,96.0,\n"
    spread = {"kind": "sd", "runs": 10}
    outcomes = load(tmp_path, table(text, columns=["acc"], reported_uncertainty=spread)).manifest
    kept = {k: o.reported_uncertainty for k, o in outcomes.outcomes().items()}
    assert kept["t2/a-acc"] is not None
    assert kept["t2/a-acc"].to_json() == {"value": "0.30", "kind": "sd", "runs": 10}
    assert kept["t2/b-acc"] is not None
    assert kept["t2/b-acc"].value == "0.5"
    assert kept["t2/c-acc"] is None
    with_column = {**spread, "kind": "se", "column": "err"}
    artifact = load(tmp_path, table(text, reported_uncertainty=with_column))
    assert list(artifact.manifest.outcomes()) == ["t2/a-acc", "t2/b-acc", "t2/c-acc"]
    found = artifact.outcome("b-acc")[1].reported_uncertainty
    assert found is not None
    assert found.to_json() == {"value": "2", "kind": "se", "runs": 10}
    assert artifact.outcome("c-acc")[1].reported_uncertainty is None


def test_a_spread_that_nobody_explained_is_not_used_and_said(tmp_path: Path) -> None:
    artifact = load(tmp_path, table("m,acc\nA,98.9 ± 0.3\n"))
    assert artifact.outcome("a-acc")[1].reported_uncertainty is None
    assert artifact.notes == (
        "t2: what the ± of guide/reported/t.csv is has not been declared, so it is not used: a-acc",
    )


def test_a_digit_in_brackets_can_be_read_in_two_ways(tmp_path: Path) -> None:
    made = table("m,acc\nA,98.9(3)\n", reported_uncertainty={"kind": "sd", "runs": 5})
    (problem,) = faults(tmp_path, made)
    assert str(problem).startswith("guide/reported/t.csv:2:3: a-acc: '98.9(3)' can be read in two")


@pytest.mark.clause("table/left-out-is-said")
def test_cells_without_a_value_are_left_out_and_said(tmp_path: Path) -> None:
    text = "m,p,r,note\nA,1.0,–,best\nB,,n/a,\nC,0.5,0.7,\n"
    artifact = load(tmp_path, table(text))
    assert list(artifact.manifest.outcomes()) == ["t2/a-p", "t2/c-p", "t2/c-r"]
    assert artifact.notes == (
        "t2: row B of guide/reported/t.csv is empty",
        "t2: column note of guide/reported/t.csv holds no number",
        "t2: empty in guide/reported/t.csv, so not compared: a-r",
    )


def test_rows_columns_and_cells_can_be_left_out_with_a_reason(tmp_path: Path) -> None:
    made = table(
        rows={"svm": "Linear SVM", "rf": {"reported": "Forest, 100 trees", "skip": "too\nslow"}},
        columns=["F1"],
        cells={"svm-f1": {"tolerance": "0.01"}},
    )
    artifact = load(tmp_path, made)
    assert list(artifact.manifest.outcomes()) == ["t2/svm-f1"]
    assert artifact.notes == (
        "t2: columns that are not declared: Accuracy (%)",
        "t2: rf-f1 is not compared: too slow",
    )


def test_rows_named_by_several_columns(tmp_path: Path) -> None:
    text = "set,model,F1\niris,LDA,1\n,QDA,2\nwine,LDA,3\n"
    artifact = load(tmp_path, table(text, row_label=["set", "model"], file="out.csv"))
    assert [o.reported for o in artifact.manifest.outcomes().values()] == ["1", "2", "3"]
    found = artifact.outcome("iris-qda-f1")[1].selector.locators()["csv"]
    assert found == {"where": {"set": "iris", "model": "QDA"}, "column": "F1"}
    rows = {"x": {"reported": {"set": "wine", "model": "LDA"}, "output": "w"}}
    picked = load(tmp_path, table(text, rows=rows, columns=["F1"])).outcome("x-f1")[1]
    assert picked.reported == "3"
    assert picked.selector.json_pointer == "/w/F1"


def test_categories_are_kept_as_text(tmp_path: Path) -> None:
    artifact = load(tmp_path, table("m,best\nA,ridge\nB,-\n", type="category"))
    assert artifact.outcome("a-best")[1].reported == "ridge"
    assert list(artifact.manifest.outcomes()) == ["t2/a-best"]


def test_tables_of_markdown_are_named_by_number_or_heading(tmp_path: Path) -> None:
    text = (
        "# One\n\n| m | F1 |\n|---|---|\n| A | 1 |\n\n# Two\n\n| m | F1 |\n|---|---|\n| A | 2 |\n"
    )
    for fragment, value in (("1", "1"), ("two", "2")):
        made = table(text, path=f"code/README.md#{fragment}")
        assert load(tmp_path / fragment, made).outcome("a-f1")[1].reported == value


def test_a_table_of_the_papers_own_source(tmp_path: Path) -> None:
    text = (
        "\\begin{table}\\caption{Results}\\label{tab:2}\n"
        "\\begin{tabular}{lcc}\\toprule\n & \\multicolumn{2}{c}{Iris}\\\\\n"
        "Model & Accuracy (\\%) & F1\\\\\\midrule\n"
        "LDA & $98.90 \\pm 0.30$ & \\textbf{0.981}\\\\\n"
        "QDA~\\cite{q} & 97.2 & --\\\\\\bottomrule\n\\end{tabular}\\end{table}\n"
    )
    spread = {"kind": "sd", "runs": 10}
    made = table(text, path="guide/paper.tex#tab:2", reported_uncertainty=spread)
    outcomes = load(tmp_path, made).manifest.outcomes()
    assert {name: one.reported for name, one in outcomes.items()} == {
        "t2/lda-iris-accuracy": "98.90",
        "t2/lda-iris-f1": "0.981",
        "t2/qda-iris-accuracy": "97.2",
    }
    first = outcomes["t2/lda-iris-accuracy"]
    assert first.unit == "percent"
    assert first.reported_uncertainty is not None
    assert first.reported_uncertainty.value == "0.30"


@pytest.mark.parametrize(
    ("more", "place", "message", "hint"),
    [
        (
            {"rows": ["Linear SVN"]},
            "/experiments/t2/table/rows/0",
            "guide/reported/t.csv:1 has no row 'Linear SVN'",
            "did you mean Linear SVM?",
        ),
        (
            {"columns": {"f1": "F1-score"}},
            "/experiments/t2/table/columns/f1",
            "guide/reported/t.csv:1 has no column 'F1-score'",
            "there are: Accuracy (%), F1",
        ),
        (
            {"cells": {"linear-svm-f2": {"n_items": 3}}},
            "/experiments/t2/table/cells/linear-svm-f2",
            "the table has no cell 'linear-svm-f2'",
            "did you mean linear-svm-f1",
        ),
        (
            {"row_label": "Modell"},
            "/experiments/t2/table/row_label",
            "guide/reported/t.csv:1 has no column 'Modell'",
            "columns: Model, Accuracy (%), F1",
        ),
        (
            {"rows": {"a": {"reported": {"Model": "x"}}}},
            "/experiments/t2/table/rows/a",
            "no rows of guide/reported/t.csv:1 have Model: x",
            "compare with the file",
        ),
        (
            {"reported_uncertainty": {"column": "sd", "kind": "sd", "runs": 3}},
            "/experiments/t2/table/reported_uncertainty/column",
            "guide/reported/t.csv:1 has no column 'sd'",
            "columns: Model",
        ),
        (
            {"file": "log.txt"},
            "/experiments/t2/table",
            "where in log.txt the cells stand is not said",
            "add a selector with {row} and {column}",
        ),
        (
            {"selector": {"json": "/{row}"}, "rows": ["Linear SVM"]},
            "/experiments/t2/table",
            "linear-svm-accuracy and linear-svm-f1 are read from the same place",
            "put {row} and {column} into the selector",
        ),
        (
            {"selector": {"json": "/{row}", "regex": "x"}},
            "/experiments/t2/table/selector",
            "the selector has several locators",
            "keep one",
        ),
        (
            {"selector": {"launcher": "main", "json": "/{row}/{column}"}},
            "/experiments/t2/table/selector/launcher",
            "launcher stands beside the selector of a table, not in it",
            "move it one level up",
        ),
        (
            {"launcher": "mian"},
            "/experiments/t2/table/launcher",
            "no launcher is called 'mian'",
            "did you mean main?",
        ),
    ],
)
def test_faults_of_the_declaration_have_their_place_in_the_manifest(
    more: dict[str, Any], place: str, message: str, hint: str, tmp_path: Path
) -> None:
    problem = faults(tmp_path, table(**more))[0]
    assert (problem.path, problem.pointer) == ("rra.yaml", place)
    assert problem.line is not None
    assert problem.line > 20
    assert message in problem.message
    assert hint in problem.hint


@pytest.mark.parametrize(
    ("text", "more", "place", "message"),
    [
        (
            "m,acc,acc 2\nA,1,best\nB,2,3\n",
            {},
            "guide/reported/t.csv:2:5",
            "a-acc-2: 'best' is not a number",
        ),
        (
            "m,acc\nA+,1\nA,2\n",
            {},
            "guide/reported/t.csv:3:3",
            "guide/reported/t.csv:2:4 and this cell both give the id a-acc",
        ),
        ("m,acc\nα,1\n", {}, "guide/reported/t.csv:2:1", "the name 'α' gives no id"),
        (
            "m,acc (%)\nA,98.9\n",
            {"unit": "fraction"},
            "guide/reported/t.csv:2:3",
            "a-acc: the table is in %, and the manifest says fraction",
        ),
        (
            f"m,acc\n{'A' * 60},1\n",
            {},
            "guide/reported/t.csv:2:62",
            "-acc is longer than 63 characters",
        ),
    ],
)
def test_faults_of_the_table_have_their_place_in_its_file(
    text: str, more: dict[str, Any], place: str, message: str, tmp_path: Path
) -> None:
    (problem,) = faults(tmp_path, table(text, **more))
    assert problem.place == place
    assert message in problem.message


def test_a_cell_and_an_outcome_of_one_name_are_both_named(tmp_path: Path) -> None:
    own = {
        "a-acc": {
            "type": "number",
            "reported": "1",
            "selector": {"launcher": "main", "file": "metrics.json", "json": "/x"},
        }
    }
    (problem,) = faults(tmp_path, table("m,acc\nA,1\n"), outcomes=own)
    assert problem.pointer == "/experiments/t2/outcomes/a-acc"
    assert "by the cell at guide/reported/t.csv:2:3" in problem.message


def test_faults_are_collected(tmp_path: Path) -> None:
    found = faults(tmp_path, table(rows=["X", "Linear SVM", "Y"], columns=["F1", "Z"]))
    assert [problem.message.rsplit(" ", 1)[1] for problem in found] == ["'X'", "'Y'", "'Z'"]


@pytest.mark.parametrize(
    ("path", "files", "message"),
    [
        ("guide/none.csv", {}, "there is no file guide/none.csv"),
        ("outputs/t.csv", {"outputs/t.csv": TABLE}, "outputs/t.csv is in none of the artifact's"),
        ("guide/t.csv", {"guide/t.csv": b"m,a\n\xff,1\n"}, "guide/t.csv is not UTF-8"),
        ("guide/t.csv", {"guide/t.csv": "m,a\n"}, "the table in guide/t.csv has no rows"),
        ("guide/t.csv", {"guide/t.csv": 'm,a\n"x"y,1\n'}, "line 2 is not valid CSV"),
        ("guide/t.pdf", {"guide/t.pdf": "x"}, "guide/t.pdf is not a file that a table"),
        ("guide/t.csv", {"guide/t.csv": "m,a\nA,–\n"}, "no cell of guide/t.csv:1 is compared"),
        (
            "guide/t.csv",
            {"guide/t.csv": "m\n" + "A\n" * 3 + "x" * (4 << 20)},
            "guide/t.csv is larger than 4 MiB",
        ),
    ],
)
def test_files_that_cannot_be_read_as_a_table(
    path: str, files: dict[str, str | bytes], message: str, tmp_path: Path
) -> None:
    made = {"declared": table(path=path)["declared"], "files": files}
    problem = faults(tmp_path, made)[0]
    assert problem.path == "rra.yaml"
    assert message in problem.message


def test_a_path_out_of_the_artifact_is_refused(tmp_path: Path) -> None:
    made = {"declared": table(path="../t.csv")["declared"], "files": {}}
    (problem,) = faults(tmp_path, made)
    assert "a path that climbs out of the artifact" in problem.message
    (tmp_path / "guide").mkdir()
    (tmp_path / "guide" / "t.csv").symlink_to("/etc/hostname")
    made = {"declared": table(path="guide/t.csv")["declared"], "files": {}}
    (problem,) = faults(tmp_path, made)
    assert problem.pointer == "/experiments/t2/table/reported"


def test_an_experiment_needs_outcomes_or_a_table(tmp_path: Path) -> None:
    with pytest.raises(FormatError) as caught:
        make_artifact(tmp_path, {}, experiments={"t2": {"title": "nothing"}})
    (problem,) = caught.value.problems
    assert problem.message == "t2 lacks outcomes or table"
    assert problem.hint == "add one of them under t2"


def test_unknown_keys_of_a_row_are_warned_about(tmp_path: Path) -> None:
    rows = {"svm": {"reported": "Linear SVM", "n_itemz": 3}}
    (warning,) = load(tmp_path, table(rows=rows, columns=["F1"])).warnings
    assert warning.pointer == "/experiments/t2/table/rows/svm/n_itemz"
    assert "nearest known key n_items" in warning.message


@pytest.mark.clause("table/size")
def test_a_large_table_is_read(tmp_path: Path) -> None:
    text = "m," + ",".join(f"c{n}" for n in range(100)) + "\n"
    text += "".join(f"r{n}," + ",".join(["0.5"] * 100) + "\n" for n in range(100))
    assert len(load(tmp_path, table(text)).manifest.outcomes()) == 10_000
    made = table(text + text.replace("m,", "M,").replace("r", "s") + text.replace("r", "u"))
    (problem,) = faults(tmp_path, made)
    assert "more than 20000" in problem.message
    assert problem.pointer == "/experiments/t2/table"


@pytest.mark.clause("outcome/operand-units")
def test_operands_that_are_cells_convert_to_the_first_one(tmp_path: Path) -> None:
    of = ["linear-svm-accuracy", "a"]
    gain = {"type": "number", "reported": "1", "derived": {"op": "difference", "of": of}}
    selector = {"launcher": "main", "file": "metrics.json", "json": "/a"}
    seconds = {"type": "number", "reported": "1", "unit": "s", "selector": selector}
    (problem,) = faults(tmp_path, table(), outcomes={"a": seconds, "gain": gain})
    assert problem.pointer == "/experiments/t2/outcomes/gain/derived/of/1"


def test_a_copy_can_be_read_without_its_tables(tmp_path: Path) -> None:
    load(tmp_path, table())
    (tmp_path / "guide/reported/t.csv").write_text("broken", encoding="utf-8")
    assert load_artifact(tmp_path, tables=False).manifest.outcomes() == {}


def test_the_tables_of_the_how_to_page_are_what_it_says(tmp_path: Path) -> None:
    page = (ROOT / "docs/how-to/tables.md").read_text(encoding="utf-8")
    reported, first, *others = [
        textwrap.dedent(block)
        for block in re.findall(r"^ *```(?:yaml|text)\n(.*?)^ *```", page, re.MULTILINE | re.DOTALL)
    ]
    declared = parse_yaml(first, source="tables.md").data["experiments"]["table-2"]["table"]
    declared["launcher"] = "main"

    def outcomes(**more: Any) -> Artifact:
        made = {"declared": declared | more, "files": {declared["reported"]: reported}}
        return load(tmp_path, made)

    plain = outcomes()
    accuracy = plain.outcome("lda-accuracy")[1]
    assert (accuracy.reported, accuracy.unit) == ("98.90", "percent")
    assert accuracy.reported_uncertainty is not None
    assert accuracy.reported_uncertainty.value == "0.30"
    assert plain.outcome("lda-f1")[1].reported == "0.981"
    assert "random-forest-f1" in plain.notes[0]
    for block in others[:3]:
        outcomes(**parse_yaml(block, source="tables.md").data)
    rows = parse_yaml(others[3], source="tables.md").data
    rows["rows"].pop("boosting")
    assert list(outcomes(**rows).manifest.outcomes()) == ["t2/lda-accuracy", "t2/forest-accuracy"]
