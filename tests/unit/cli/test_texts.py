"""What the verbs print for people, on tiny artifacts."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from rra.artifact.tree import tree_id
from rra.cli.commands import next as next_verb
from rra.cli.text import table, word
from tests.support.artifacts import DEVIATES, make_artifact, outcome
from tests.support.needs import needs

BIN = Path(sys.executable).with_name("rra")
ORDER = ["b, c", "a", "d"]
PRINTS_A_LIST = f"import json\nprint(json.dumps({{'accuracy': {ORDER!r}}}))\n"
KINDS = {
    "order": outcome(ORDER, type="list"),
    "best": outcome("b, c", type="category", json="/accuracy/0"),
}


def call(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [BIN, *words], cwd=cwd, capture_output=True, text=True, check=False, timeout=120
    )


def experiments(**outcomes: Any) -> dict[str, Any]:
    return {"table": {"outcomes": outcomes}}


def row(text: str, start: str) -> list[str]:
    """The cells of the table's row that starts with a word."""
    line = next(line for line in text.splitlines() if line.strip().startswith(start))
    return [cell.strip() for cell in line.split("  ") if cell.strip()]


def test_a_list_goes_from_run_into_references_and_comes_back_from_verify(tmp_path: Path) -> None:
    make_artifact(tmp_path / "a", {"main.py": PRINTS_A_LIST}, experiments=experiments(**KINDS))

    said = call("run", "a", cwd=tmp_path)
    document = json.loads(call("run", "--json", "-C", "a", cwd=tmp_path).stdout)

    assert row(said.stdout, "table/order")[1:3] == ["b, c, a, d", "b, c, a, d"]
    values = {value["outcome"]: value for value in document["result"]["values"]}
    assert values["table/order"]["value"] == ORDER
    assert values["table/order"]["reported"] == "b, c, a, d"
    assert values["table/best"]["value"] == "b, c"

    known = {name: {"scores": [{"value": v["value"]}] * 3} for name, v in values.items()}
    (tmp_path / "references.yaml").write_text(json.dumps(known))
    verified = call("verify", "a", "--references", "references.yaml", cwd=tmp_path)

    wanted = ["pass", "pass"]
    assert row(verified.stdout, "table/order")[2:5] == ["b, c, a, d", *wanted], verified.stdout
    assert row(verified.stdout, "table/best")[2:5] == ["b, c", *wanted]


def test_run_takes_a_directory_unless_a_launcher_has_its_name(tmp_path: Path) -> None:
    for name in ("a", "a/main", "b"):
        make_artifact(tmp_path / name, {"main.py": DEVIATES})

    from_outside = call("run", "a", "main", "--json", cwd=tmp_path)
    inside = call("run", ".", "--json", cwd=tmp_path / "a")
    launcher = call("run", "main", "--json", cwd=tmp_path / "a")
    two = call("run", "a", "b", cwd=tmp_path)

    for done in (from_outside, inside, launcher):
        assert done.returncode == 0, done.stderr
        result = json.loads(done.stdout)["result"]
        assert Path(result["artifact"]).resolve() == (tmp_path / "a").resolve()
        assert [run["launcher"] for run in result["runs"]] == ["main"]
    assert two.returncode == 2
    assert "one artifact at a time: a and b are directories of artifacts" in two.stderr


def test_next_does_not_ask_to_mend_what_the_artifact_documents(tmp_path: Path) -> None:
    deviation = {"observed": "95.5", "explanation": "Four of 89 are classified otherwise."}
    root = make_artifact(
        tmp_path / "a",
        {"main.py": DEVIATES, "LICENSE": "MIT\n", "guide/GUIDE.md": "# Guide\n\nRun it.\n"},
        experiments=experiments(accuracy=outcome("98.9", deviation=deviation)),
    ).root
    assert call("lock", "--keep", cwd=root).returncode == 0
    assert call("run", cwd=root).returncode == 0
    verified = call("verify", "--json", cwd=root)
    reproduction = json.loads(verified.stdout)["result"]["reproduction"]
    assert reproduction["verdict"] == "deviates_as_documented", verified.stderr

    said = call("next", cwd=root).stdout

    assert said.startswith("level L2, by the verification "), said
    assert "mend it" not in said
    assert "the artifact documents why there is none: L2 is what it can reach, unless" in said
    assert said.endswith("next: hand it on as it is: rra report, rra pack\n")


@pytest.mark.parametrize(
    ("minutes", "said"),
    [
        (None, ""),
        (0.0, "  (about 1 s)"),
        (0.0667, "  (about 4 s)"),
        (0.1, "  (about 0.1 min)"),
        (12.3456, "  (about 12.3 min)"),
    ],
)
def test_less_than_a_tenth_of_a_minute_is_said_in_seconds(minutes: float | None, said: str) -> None:
    from rra.api._next import Step

    assert next_verb._time(Step(what="x", command="y", minutes=minutes)) == said


@needs("git")
def test_repairs_are_listed_in_the_order_in_which_they_apply(tmp_path: Path) -> None:
    upstream = tmp_path / "upstream"
    upstream.mkdir()
    (upstream / "main.py").write_text("one\n")
    source = tree_id(upstream, [PurePosixPath("main.py")])
    patches, before = {}, "one"
    for number, after in (("0001-first", "two"), ("0002-second", "three")):
        patches[f"guide/repairs/{number}.patch"] = (
            "diff --git a/main.py b/main.py\n--- a/main.py\n+++ b/main.py\n"
            f"@@ -1 +1 @@\n-{before}\n+{after}\n"
        )
        before = after
    repairs = {
        Path(name).stem: {
            "title": Path(name).stem,
            "symptom": "it stops",
            "cause": "age",
            "category": "api-compatibility",
            "rationale": "the smallest change",
            "effect_on_results": "none",
            "patch": name,
        }
        for name in patches
    }
    make_artifact(
        tmp_path / "a",
        {"main.py": "three\n", "guide/repairs.yaml": json.dumps(repairs), **patches},
        source={"swhid": source},
    )

    text = call("repair", "a", cwd=tmp_path)
    document = json.loads(call("repair", "a", "--json", cwd=tmp_path).stdout)

    assert text.returncode == 0, text.stdout + text.stderr
    assert text.stdout.index("0001-first") < text.stdout.index("0002-second")
    happened = [step["id"] for step in document["result"]["steps"]]
    assert happened == ["0002-second", "0001-first"]


@pytest.mark.parametrize(
    ("variable", "verb"), [("RRA_STATE", "verify"), ("RRA_STATE", "audit"), ("RRA_CACHE", "run")]
)
def test_a_place_that_cannot_be_made_is_said_with_its_variable(
    variable: str, verb: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_artifact(tmp_path / "a", {"main.py": DEVIATES})
    monkeypatch.setenv(variable, str(tmp_path / "a" / "rra.yaml" / "x"))

    done = call(verb, "a", cwd=tmp_path)

    assert done.returncode == 3, done.stderr
    assert "can be " in done.stderr
    assert f" {tmp_path / 'a' / 'rra.yaml' / 'x'}" in done.stderr
    assert ": Not a directory" in done.stderr
    assert f"set {variable} to a folder that can be written" in done.stderr
    assert "Traceback" not in done.stderr


def test_run_names_at_most_five_results_that_no_collect_takes(tmp_path: Path) -> None:
    writes = f"{DEVIATES}\nfor i in range(7):\n    open(f'r{{i}}.json', 'w').write(str(i))\n"
    make_artifact(tmp_path / "a", {"main.py": writes})
    note = (
        "the run wrote r0.json, r1.json, r2.json, r3.json, r4.json and 2 more "
        "in its copy of the code, which no collect takes"
    )

    said = call("run", "a", cwd=tmp_path)
    document = json.loads(call("run", "--json", "--force", "a", cwd=tmp_path).stdout)

    assert f"note: main: {note}\n" in said.stdout
    assert document["result"]["runs"][0]["notes"] == [note]


def test_a_table_in_a_pipe_keeps_every_cell_whole() -> None:
    path = "evidence/" + "x" * 300 + "/record.json"
    text = table(("launcher", "evidence"), [("m" * 120, path), ("b", "c d " * 60)])
    assert [line.split() for line in text.splitlines()[2:3]] == [["m" * 120, path]]
    assert len(text.splitlines()) == 4


def test_a_table_on_a_terminal_folds_to_its_width(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")
    text = table(("launcher", "evidence"), [("main", "x" * 300)])
    assert max(len(line) for line in text.splitlines()) <= 80
    assert text.count("x") == 300
    assert "\x1b" not in text


def test_verify_says_what_keeps_it_from_the_next_level(tmp_path: Path) -> None:
    make_artifact(tmp_path / "a", {"main.py": DEVIATES})

    said = call("verify", "a", cwd=tmp_path).stdout

    level = next(line for line in said.splitlines() if line.startswith("level "))
    assert level.startswith("level    none: 0 of 1 declared outcomes reproduced (")
    assert "\nwhy not L0: " in said


def test_init_of_nothing_asks_to_fill_in_what_stops_a_run_first(tmp_path: Path) -> None:
    (tmp_path / "new").mkdir()
    said = call("init", "new", cwd=tmp_path).stdout
    lines = (tmp_path / "new" / "rra.yaml").read_text().splitlines()
    blank = [
        number
        for number, line in enumerate(lines, 1)
        if "⟦fill" in line and ("reported" in line or "launchers/main.sh" in line)
    ]
    assert len(blank) == 2
    places = ", ".join(f"rra.yaml:{number}" for number in blank)
    assert said.endswith(f"next: fill in the blanks {places}, then rra run -C new\n"), said


def test_init_with_all_that_a_run_needs_goes_straight_on(tmp_path: Path) -> None:
    root = tmp_path / "new"
    root.mkdir()
    (root / "main.py").write_text("print('accuracy', 98.9)\n")
    (root / "README.md").write_text(
        "# New\n\n    python main.py\n\n| model | accuracy |\n|---|---|\n| lda | 98.9 |\n"
    )
    said = call("init", "new", cwd=tmp_path).stdout
    assert said.endswith("next: rra run -C new\n"), said


def test_a_path_in_the_next_command_can_be_pasted() -> None:
    assert word("näme mit ☃") == "'näme mit ☃'"
    assert word("oci-layout:a/b:1.0@sha256:00") == "oci-layout:a/b:1.0@sha256:00"
    assert word("a\x1b[2Jb") == "'a\\x1b[2Jb'"


@pytest.mark.parametrize("verb", [("pull", "localhost:5000/x:1"), ("unpack", "oci-layout:x")])
def test_no_element_is_not_all_of_them(verb: tuple[str, str], tmp_path: Path) -> None:
    done = call(*verb, "there", "--only", "", cwd=tmp_path)
    assert done.returncode == 2
    assert "names no element" in done.stderr
