"""Lists and categories: printed ones are found with the place, computed ones are not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rra.audit import Budget, Options, ValueAudit, audit_artifact
from rra.sandbox import best_sandbox
from rra.verify import Options as VerifyOptions
from rra.verify import verify_artifact
from tests.support.artifacts import make_artifact, outcome

ORDER = ["3", "9", "4", "7", "2"]
JSON = '{"order": [3, 9, 4, 7, 2]}\n'
PRINT = "import json\n{0}\nprint(json.dumps({{'order': order}}))\n"
SCORES = "scores = {2: .1, 3: .9, 4: .7, 7: .6, 9: .8}\n"
COMPUTES = PRINT.format(SCORES + "order = sorted(scores, key=scores.get, reverse=True)")

Files = dict[str, str | bytes]


def experiments(kind: str, reported: Any, key: str, **more: Any) -> dict[str, Any]:
    return {"table": {"outcomes": {key: outcome(reported, json=f"/{key}", type=kind, **more)}}}


def audit(
    tmp_path: Path,
    files: Files,
    declared: dict[str, Any] | None = None,
    budget: Budget | None = None,
    **changes: Any,
) -> ValueAudit:
    declared = declared or experiments("list", ORDER, "order")
    artifact = make_artifact(tmp_path / "a", files, experiments=declared, **changes)
    options = Options(sandbox=best_sandbox("none"), budget=budget)
    return audit_artifact(artifact, options).values[0]


def category(tmp_path: Path, code: str, files: Files | None = None, **more: Any) -> ValueAudit:
    declared = experiments("category", "lda", "winner", **more)
    return audit(tmp_path, {"main.py": code, **(files or {})}, declared)


def codes(value: ValueAudit) -> list[str]:
    return [finding.code for finding in value.findings if finding.code != "UNEXECUTED"]


def message(value: ValueAudit) -> str:
    return next(finding.message for finding in value.findings if finding.code != "UNEXECUTED")


COPIES: dict[str, tuple[Files, str]] = {
    "literal": ({"main.py": PRINT.format("order = [3, 9, 4, 7, 2]")}, "code/main.py:2"),
    "split text": (
        {"main.py": PRINT.format("order = [int(x) for x in '3 9 4 7 2'.split()]")},
        "code/main.py:2",
    ),
    "several lines": (
        {"main.py": PRINT.format("order = [\n    3,\n    9,\n    4,\n    7,\n    2,\n]")},
        "code/main.py:3",
    ),
    "line feeds": (
        {"main.py": PRINT.format("order = '3\\n9\\n4\\n7\\n2'.split()")},
        "code/main.py:2",
    ),
    "json": ({"main.py": "print(open('r.json').read())\n", "r.json": JSON}, "code/r.json:1"),
    "utf-16": (
        {
            "main.py": "print(open('r.json', encoding='utf-16').read())\n",
            "r.json": JSON.encode("utf-16"),
        },
        "code/r.json:1",
    ),
    "column": (
        {
            "main.py": PRINT.format(
                "import csv\norder = [row['entry'] for row in csv.DictReader(open('r.csv'))]"
            ),
            "r.csv": "entry,cp\n3,8.2\n9,7.1\n4,6.6\n7,5.9\n2,5.2\n",
        },
        "code/r.csv:2",
    ),
    "one per line": (
        {"main.py": PRINT.format("order = open('r.txt').read().split()"), "r.txt": "3\n9\n4\n7\n2"},
        "code/r.txt:1",
    ),
    "two copies that are compared": (
        {
            "main.py": PRINT.format(
                "a = [3, 9, 4, 7, 2]\norder = json.load(open('r.json'))['order']\nassert a == order"
            ),
            "r.json": JSON,
        },
        "code/main.py:2, code/r.json:1",
    ),
}


@pytest.mark.parametrize("name", [*COPIES])
def test_a_copied_list_is_hardcoded_with_its_place(name: str, tmp_path: Path) -> None:
    files, place = COPIES[name]
    value = audit(tmp_path, files)
    assert (value.verdict, value.findings[-1].code) == ("HARDCODED", "HARDCODED")
    assert message(value).startswith(f"copied from {place}, which holds 3, 9, 4, 7, 2: ")
    confirming = value.findings[-1].trials[-1]
    assert confirming.obtained["table/order"] == confirming.replaced[0].decoy


def test_other_copies_do_not_hide_the_source(tmp_path: Path) -> None:
    others: Files = {"README.md": "Order 3, 9, 4, 7, 2.\n", "results/old.json": JSON}
    value = audit(tmp_path, {**COPIES["literal"][0], **others})
    assert value.verdict == "HARDCODED"
    assert value.findings[-1].places == ["code/main.py:2"]


def test_a_computed_order_is_supported_although_it_stands_in_files(tmp_path: Path) -> None:
    files: Files = {
        "main.py": COMPUTES,
        "README.md": "# Order of entry: 3 9 4 7 2\n",
        "results/old.json": JSON,
    }
    value = audit(tmp_path, files)
    assert (value.verdict, codes(value)) == ("SUPPORTED", ["no-copy-found"])
    assert "README.md:1" in message(value)
    assert "code/results/old.json:1" in message(value)
    assert "did not change with them" in message(value)


def test_a_list_that_stands_nowhere_is_not_copied(tmp_path: Path) -> None:
    declared = experiments("list", ["3", "9", "4", "7", "2"], "order")
    value = audit(tmp_path, {"main.py": COMPUTES}, declared)
    assert codes(value) == ["no-copy-found"]


SORTS = PRINT.format(
    "import csv\nrows = list(csv.DictReader(open('r.csv')))\n"
    "order = [r['n'] for r in sorted(rows, key=lambda r: -float(r['score']))]"
)


def test_a_table_that_is_sorted_already_is_left_open(tmp_path: Path) -> None:
    rows = "n,score\n3,8.2\n9,7.1\n4,6.6\n7,5.9\n2,5.2\n"
    value = audit(tmp_path, {"main.py": SORTS, "r.csv": rows})
    assert (value.verdict, codes(value)) == ("SUPPORTED", ["copy-not-excluded"])
    assert "its rows can change places without any effect" in message(value)


def test_the_head_of_a_wider_table_is_left_open(tmp_path: Path) -> None:
    code = PRINT.format("head = 'age,bmi,map,ldl,tch,glu'.split(',')\norder = head[:4]")
    declared = experiments("list", ["age", "bmi", "map", "ldl"], "order")
    value = audit(tmp_path, {"main.py": code}, declared)
    assert codes(value) == ["copy-not-excluded"]
    assert "a part of a longer list" in message(value)


def test_a_list_that_is_an_input_is_not_called_copied(tmp_path: Path) -> None:
    code = PRINT.format("given = [3, 9, 4, 7, 2]\norder = [10 - x for x in given]")
    value = audit(tmp_path, {"main.py": code}, experiments("list", list("71638"), "order"))
    assert codes(value) == ["no-copy-found"]


def test_a_set_is_found_in_any_order(tmp_path: Path) -> None:
    code = PRINT.format("order = ['map', 'age', 'bmi']")
    declared = experiments("list", ["age", "bmi", "map"], "order", order="set")
    assert audit(tmp_path, {"main.py": code}, declared).verdict == "HARDCODED"


def test_a_chosen_set_of_names_is_left_open(tmp_path: Path) -> None:
    code = PRINT.format(
        "names = ['map', 'age', 'bmi']\norder = [n for i, n in enumerate(names) if i < 9]"
    )
    declared = experiments("list", ["age", "bmi", "map"], "order", order="set")
    assert codes(audit(tmp_path, {"main.py": code}, declared)) == ["copy-not-excluded"]


def test_a_budget_that_ends_is_said(tmp_path: Path) -> None:
    value = audit(tmp_path, COPIES["two copies that are compared"][0], budget=Budget(runs=1))
    assert value.verdict == "NOT_ASSESSED"
    assert message(value).startswith("not settled within 1 runs")


WINNER = "import json\n{0}\nprint(json.dumps({{'winner': best}}))\n"


@pytest.mark.parametrize(
    ("code", "files", "place"),
    [
        ("import json\nprint(json.dumps({'winner': 'lda'}))\n", {}, "code/main.py:2"),
        ('print(\'{"winner": "lda"}\')\n', {}, "code/main.py:1"),
        (WINNER.format("best = 'lda'"), {}, "code/main.py:2"),
        ("print(open('r.json').read())\n", {"r.json": '{"winner": "lda"}'}, "code/r.json:1"),
        (
            "import json\nprint(json.dumps({'winner': 'lda'}))\nassert 'lda' and 'lda'\n",
            {},
            "code/main.py:2",
        ),
    ],
)
def test_a_printed_category_is_hardcoded(
    code: str, files: Files, place: str, tmp_path: Path
) -> None:
    value = category(tmp_path, code, files)
    assert value.verdict == "HARDCODED"
    assert message(value).startswith(f"copied from {place}, which holds lda: ")


@pytest.mark.parametrize(
    "choice",
    [
        "scores = {'lda': 98.9, 'qda': 97.2}\nbest = max(scores, key=scores.get)",
        "best = 'lda' if sum(range(9)) > 30 else 'qda'",
        "if sum(range(9)) > 30:\n    best = 'lda'\nelse:\n    best = 'qda'",
        "names = ['lda', 'qda']\nbest = names[sum(range(9)) % 2]",
        (
            "class LDA:\n    name = 'lda'\nclass QDA:\n    name = 'qda'\n"
            "best = max([LDA, QDA], key=lambda one: one.name < 'p').name"
        ),
        "def of(n):\n    return names[n]\nnames = {\n    0: 'lda',\n    1: 'qda',\n}\nbest = of(0)",
    ],
)
def test_the_name_of_a_choice_is_left_open_and_said(choice: str, tmp_path: Path) -> None:
    value = category(tmp_path, WINNER.format(choice))
    assert (value.verdict, codes(value)) == ("SUPPORTED", ["copy-not-excluded"])
    assert "whether it is chosen or copied cannot be told" in message(value)


def test_a_computed_category_is_not_copied(tmp_path: Path) -> None:
    code = WINNER.format("best = chr(108) + chr(100) + chr(97)")
    value = category(tmp_path, code, {"results/old.json": '{"winner": "lda"}'})
    assert codes(value) == ["no-copy-found"]


def test_a_word_that_stands_everywhere_is_bounded_and_said(tmp_path: Path) -> None:
    code = "\n".join(
        [
            "import json\ndef yes():\n    return chr(121) + 'es'",
            *(["yes()"] * 40),
            "print(json.dumps({'winner': yes()}))",
        ]
    )
    declared = experiments("category", "yes", "winner")
    value = audit(tmp_path, {"main.py": code}, declared)
    assert codes(value) == ["copy-not-excluded"]
    assert message(value).startswith("a text as common as yes stands in code/main.py:")


def verdict(tmp_path: Path, files: Files, budget: Budget | None = None) -> tuple[str, str]:
    artifact = make_artifact(tmp_path / "a", files, experiments=experiments("list", ORDER, "order"))
    options = VerifyOptions(sandbox=best_sandbox("none"), budget=budget)
    result = verify_artifact(artifact, tmp_path / "v", options)
    assert "there is no rra.lock to compare the files with; run: rra lock --keep" in result.notes
    return result.outcomes[0].verdict, result.outcomes[0].reason


def test_verify_says_not_reproduced_of_a_copied_list(tmp_path: Path) -> None:
    found, reason = verdict(tmp_path, COPIES["split text"][0])
    assert found == "not_reproduced"
    assert reason.startswith("HARDCODED: copied from code/main.py:2")


def test_verify_reproduces_a_computed_list(tmp_path: Path) -> None:
    files: Files = {"main.py": COMPUTES, "README.md": "3 9 4 7 2\n", "results/old.json": JSON}
    assert verdict(tmp_path, files)[0] == "reproduced"


def test_verify_is_inconclusive_when_the_budget_ends(tmp_path: Path) -> None:
    files = COPIES["two copies that are compared"][0]
    found, reason = verdict(tmp_path, files, Budget(runs=1))
    assert found == "inconclusive"
    assert "not settled within 1 runs" in reason
