"""A forest grown from seeds: a whole table by name, what was repaired, and that it was needed."""

from __future__ import annotations

import csv
import dataclasses
from pathlib import Path

import pytest

from rra.artifact import load_artifact, read_document
from rra.model import ReferencesDocument
from tests.acceptance.command import rra
from tests.acceptance.example import Example, audited, ended_well, verdicts
from tests.support.needs import needs

EXAMPLE = Example("digits-forest")
NONCE = "0123456789abcdef" * 2


def printed() -> dict[str, str]:
    """The book's table, read without rra: id of each outcome and what the cell says."""
    path = EXAMPLE.artifact / "guide/reported/classification-report.csv"
    with path.open(encoding="utf-8", newline="") as stream:
        _, *rows = csv.reader(stream)
    columns = ("precision", "recall", "f1", "support")
    return {
        f"report/{row[0].replace(' ', '-')}-{column}": cell
        for row in rows
        for column, cell in zip(columns, row[1:], strict=True)
        if cell
    }


def with_trees(artifact: Path, count: int) -> Path:
    """Have an artifact grow fewer trees, where it is not the forest of the book that matters."""
    config = artifact / "code/config.py"
    text = config.read_text(encoding="utf-8")
    assert text.count("N_TREES = 1000\n") == 1
    config.write_text(text.replace("1000", str(count)), encoding="utf-8")
    return artifact


def make(folder: Path) -> Path:
    folder.mkdir()
    return folder


def test_every_cell_of_the_books_table_is_an_outcome() -> None:
    outcomes = load_artifact(EXAMPLE.artifact).manifest.outcomes()

    assert {name: one.reported for name, one in outcomes.items()} == printed()
    assert len(outcomes) == 50


@pytest.mark.slow
def test_the_shipped_script_finds_all_cells_of_the_bundle_from_seeds_that_a_nonce_gives(
    tmp_path: Path,
) -> None:
    # The nonce is fixed, so that this test grows the same ten forests each time: with seeds of its
    # own, one verification in 400 calls a cell deviating (README of the artifact).
    done, answer = EXAMPLE.verify_bundle_by_script(make(tmp_path / "bundle"), nonce=NONCE)

    assert done.returncode == 0, done.stdout + done.stderr
    assert "report/0-recall reproduced pass pass 0.973684210526\n" in done.stdout
    assert "report/macro-avg-support reproduced pass pass 450\n" in done.stdout
    assert answer.argv[2:] == (
        *("--references", str(EXAMPLE.references)),
        *("--reports", "10", "--json"),
    )
    assert verdicts(answer.result) == dict.fromkeys(printed(), ("reproduced", "pass", "pass"))
    found = answer.result["reproduction"]
    assert found["verdict"] == "reproduced"
    answer.expect(0)
    assert found["plan"]["nonce"] == NONCE
    (runs,) = found["plan"]["runs"]
    assert len(set(runs["seeds"])) == 10
    assert not {1, 2, 3, 4, 5}.intersection(runs["seeds"])
    assert found["notes"][0] == (
        "report: empty in guide/reported/classification-report.csv, so not compared: "
        "accuracy-precision, accuracy-recall"
    )

    # Without a reference it is the folder beside the script, from any folder.
    beside = EXAMPLE.verify_as_said(make(tmp_path / "beside"), answer)
    assert beside.returncode == 0, beside.stdout + beside.stderr
    assert beside.stdout == done.stdout
    deviating = dataclasses.replace(answer, out=answer.out.replace('"reproduced"', '"deviates"'))
    assert EXAMPLE.verify_as_said(make(tmp_path / "other"), deviating).returncode == 1


def test_the_references_are_five_recorded_runs_with_five_seeds() -> None:
    records = EXAMPLE.records()
    references = read_document(EXAMPLE.references, "references", ReferencesDocument).root

    assert set(references) == set(printed())
    for reference in references.values():
        assert reference.self_referenced
        made = [(score.seed, score.record) for score in reference.scores]
        assert [seed for seed, _ in made] == [1, 2, 3, 4, 5]
        for seed, record in made:
            assert record is not None
            assert records[record[:23]]["seed"]["declared"] == seed
            assert records[record[:23]]["termination"] == "ok"


@pytest.mark.slow
def test_a_changed_cell_is_contradicted(tmp_path: Path) -> None:
    artifact = EXAMPLE.copy(tmp_path / "artifact")
    table = artifact / "guide/reported/classification-report.csv"
    text = table.read_text(encoding="utf-8")
    table.write_text(text.replace("0,1.00,0.97,", "0,1.00,0.93,"), encoding="utf-8")
    # With so many trees too, 37 of the 38 digits that are a 0 are called one.
    with_trees(artifact, 100)

    answer = rra("audit", artifact, "-o", "report/0-recall", "--json").expect(1)

    (value,) = audited(answer.result).values()
    assert (value["reported"], value["verdict"]) == ("0.93", "CONTRADICTED")


# --------------------------------------------------------------------------- the repairs


@needs("git")
@pytest.mark.parametrize(
    ("without", "said"),
    [
        ("0001", "No module named 'sklearn.cross_validation'"),
        ("0002", "got an unexpected keyword argument 'min_impurity_split'"),
        ("0003", "No such file or directory: '/srv/courses/ml17/models/forest.pkl'"),
        ("0005", "report.csv"),
    ],
)
def test_no_repair_can_be_left_out(without: str, said: str, tmp_path: Path) -> None:
    place = EXAMPLE.without(without, tmp_path / "artifact")
    with_trees(place, 20)

    assert said in rra("run", "--seed", "1", cwd=place).expect(1).said


@pytest.mark.slow
@needs("git")
def test_one_seed_gives_one_table_only_with_the_repair(tmp_path: Path) -> None:
    def tables(place: Path) -> set[str]:
        made = set()
        for _ in range(2):
            rra("run", "--seed", "3", "--force", cwd=place).expect(0)
            made.add((place / "outputs/forest/report.csv").read_text(encoding="utf-8"))
        return made

    few = with_trees(EXAMPLE.copy(tmp_path / "artifact"), 50)
    assert len(tables(few)) == 1
    # Without it the clock decides; two forests are alike only by chance, so look at the source.
    unrepaired = EXAMPLE.repaired(tmp_path / "code", without="0004")
    assert "time.time()" in (unrepaired / "train.py").read_text(encoding="utf-8")


def test_each_repair_names_a_run_without_it_and_a_working_run() -> None:
    runs = EXAMPLE.repair_runs()

    assert [f"{name}.patch" for name in runs] == [patch.name for patch in EXAMPLE.patches]
    for name, (before, after) in runs.items():
        assert before is not None, name
        assert ended_well(before) is (name == "0004-seed-from-outside"), name
        assert ended_well(after), name
