"""James–Stein: what comes out by name, what was repaired, and what each repair changes."""

from __future__ import annotations

import csv
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.acceptance.command import PATIENCE_SECONDS, rra
from tests.acceptance.example import (
    Example,
    audited,
    ended_well,
    outcomes,
    rounded,
    verdicts,
)
from tests.support.needs import needs

EXAMPLE = Example("james-stein")
REPRODUCED = {
    "sciam-1977/grand-average": "0.265",
    "sciam-1977/shrinkage": "0.212",
    "sciam-1977/closer": "16",
    "sciam-1977/ratio": "3.5",
}
DEVIATING = {"sciam-1977/mle-error": "0.075", "sciam-1977/js-error": "0.021"}


def test_the_bundle_gives_the_outcomes_that_agree_repeat_and_deviate(tmp_path: Path) -> None:
    answer = EXAMPLE.verify_bundle(tmp_path).expect(1)

    assert verdicts(answer.result) == {
        **dict.fromkeys(REPRODUCED, ("reproduced", "pass", "pass")),
        **dict.fromkeys(DEVIATING, ("deviates_as_documented", "fail", "pass")),
    }
    found = outcomes(answer.result)
    for name, wanted in {**REPRODUCED, **DEVIATING}.items():
        (text,) = found[name]["texts"]
        assert rounded(text, wanted) == wanted, name


def test_the_shipped_verify_script_ends_well_from_any_folder(tmp_path: Path) -> None:
    done = EXAMPLE.verify(tmp_path)

    assert done.returncode == 0, done.stdout + done.stderr
    assert "sciam-1977/shrinkage reproduced pass pass 0.212\n" in done.stdout
    assert "sciam-1977/mle-error deviates_as_documented fail pass 0.0753\n" in done.stdout
    assert list(tmp_path.iterdir()) == []


def test_the_audit_traces_every_value_and_supports_those_that_agree(tmp_path: Path) -> None:
    artifact = EXAMPLE.copy(tmp_path / "artifact")

    answer = rra("audit", artifact, "--accept-documented", "--json").expect(0)

    found = audited(answer.result)
    assert {n for n, v in found.items() if v["verdict"] == "SUPPORTED"} == set(REPRODUCED)
    assert {n for n, v in found.items() if v["verdict"] == "CONTRADICTED"} == set(DEVIATING)
    assert all(found[name]["documented"] for name in DEVIATING)


# ------------------------------------------------------------------------------ the data


def test_the_data_are_the_published_ones() -> None:
    with (EXAMPLE.artifact / "data" / "batting-1970.csv").open(encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))

    assert [int(row["hits"]) for row in rows] == [
        *(18, 17, 16, 15, 14, 14, 13, 12, 11, 11, 10, 10, 10, 10, 10, 9, 8, 7)
    ]
    assert [row["remaining_average"] for row in rows] == [
        *(".346", ".298", ".276", ".222", ".273", ".270", ".263", ".210", ".269"),
        *(".230", ".264", ".256", ".303", ".264", ".226", ".285", ".316", ".200"),
    ]
    for row in rows:
        hits = round(int(row["remaining_at_bats"]) * float(row["remaining_average"]))
        average = f"{hits / int(row['remaining_at_bats']):.3f}".removeprefix("0")
        assert average == row["remaining_average"], row["player"]


def test_the_wrong_williams_is_noticed(tmp_path: Path) -> None:
    artifact = EXAMPLE.copy(tmp_path / "artifact")
    data = artifact / "data" / "batting-1970.csv"
    text = data.read_text(encoding="utf-8")
    assert text.count("Williams,10,45,270,.256") == 1
    data.write_text(text.replace("270,.256", "591,.330"), encoding="utf-8")

    answer = rra("verify", artifact, "--accept-documented", "--json").expect(1)

    found = outcomes(answer.result)
    assert found["sciam-1977/ratio"]["verdict"] == "not_reproduced"
    assert rounded(found["sciam-1977/ratio"]["texts"][0], "3.20") == "3.20"
    assert found["sciam-1977/mle-error"]["verdict"] == "not_reproduced"
    assert rounded(found["sciam-1977/mle-error"]["texts"][0], ".0858") == "0.0858"
    assert found["sciam-1977/grand-average"]["verdict"] == "reproduced"


def test_the_launcher_works_with_nothing_of_ours(tmp_path: Path) -> None:
    artifact = EXAMPLE.copy(tmp_path / "artifact")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python").symlink_to(sys.executable)

    done = subprocess.run(
        ["bash", artifact / "launchers" / "batting.sh"],
        cwd=tmp_path,
        env={"PATH": f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    made = artifact / "outputs" / "batting"
    assert sorted(path.name for path in made.iterdir()) == [
        *("estimates.csv", "stdout.txt", "summary.csv")
    ]
    with (made / "estimates.csv").open(encoding="utf-8") as stream:
        clemente = next(csv.DictReader(stream))
    assert rounded(clemente["stein"], ".294") == "0.294"


# --------------------------------------------------------------------------- the repairs


@needs("git")
@pytest.mark.parametrize(
    ("without", "said"),
    [
        ("0001", "cannot import name 'izip' from 'itertools'"),
        ("0002", "/Users/hanna/Dropbox/statistics2/sheet7/batting-1970.csv"),
        ("0003", "invalid mode: 'rU'"),
        ("0005", "summary.csv"),
    ],
)
def test_a_run_without_the_repair_fails(without: str, said: str, tmp_path: Path) -> None:
    place = EXAMPLE.without(without, tmp_path / "artifact")

    assert said in rra("run", cwd=place).expect(1).said


@needs("git")
def test_without_the_corrected_constant_other_numbers_come_out(tmp_path: Path) -> None:
    place = EXAMPLE.without("0004", tmp_path / "artifact")

    values = rra("run", "--json", cwd=place).expect(0).result["values"]

    obtained = {value["outcome"]: value["value"] for value in values}
    assert rounded(obtained["sciam-1977/shrinkage"], ".159") == "0.159"
    assert obtained["sciam-1977/closer"] == "14"
    assert rounded(obtained["sciam-1977/ratio"], "3.51") == "3.51"


def test_each_repair_names_a_run_without_it_and_a_working_run() -> None:
    runs = EXAMPLE.repair_runs()

    assert [f"{name}.patch" for name in runs] == [patch.name for patch in EXAMPLE.patches]
    for name, (before, after) in runs.items():
        assert before is not None, name
        assert ended_well(before) is name.startswith("0004"), name
        assert ended_well(after), name
