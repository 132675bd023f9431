"""``rra claims suggest`` on a real recorded run: proposals, consent, and what is left alone."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from rra import api
from rra.api._claims_suggest import ClaimsResult
from rra.artifact import load_artifact
from rra.errors import FormatError, UsageError
from tests.support.artifacts import make_artifact, manifest, outcome, record_run

# Hits of 180: 178 (98.888… %), 171 (95 %), 163 (90.555… %).
SCRIPT = """\
import json
hits = {"lda": 178, "qda": 171, "knn": 163}
result = {name: {"accuracy": n / 180, "hits": n} for name, n in hits.items()}
print(json.dumps({"models": result, "best": 178 / 180}))
"""
TABLE = """\
# Study

## Results

| model | accuracy (%) | hits |
|---|---|---|
| LDA | 98.9 | 178 |
| QDA | 95.0 | 171 |
| k-NN | 90.6 | 163 |
| SVM | 97.2 | 175 |

## Options

| option | default |
|---|---|
| folds | 10 |
"""
MANIFEST = """\
# An artifact   (kept as it is)
rra: "1.0"
name: tiny
version: 1.0.0
license: MIT
x-lda: &lda {launcher: main, file: metrics.json, json: /models/lda/accuracy, unit: fraction}
environments: {cpu: {kind: pylock, python: "3.11", lock: environment/cpu/pylock.toml}}
launchers:
  main: {entry: launchers/main.sh, environment: cpu, outputs: [metrics.json]}
experiments:
  table:   # of the paper
    outcomes:
      # found by hand
      lda: {type: number, reported: "98.9", unit: percent, selector: *lda}

x-note: {a: 1,   b: 2}
# the end
"""


LATEX = r"""
\begin{table}\caption{Hits}
\begin{tabular}{lr} model & hits \\ \midrule QDA & \textbf{171} \\ \end{tabular}
\end{table}
"""


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An artifact with one recorded run, to be copied."""
    root = tmp_path_factory.mktemp("recorded") / "tiny"
    artifact = make_artifact(root, {"main.py": SCRIPT, "README.md": TABLE})
    (root / "rra.yaml").write_text(MANIFEST, encoding="utf-8")
    assert record_run(artifact).ok
    return root


@pytest.fixture
def tiny(recorded: Path, tmp_path: Path) -> Path:
    return shutil.copytree(recorded, tmp_path / "tiny")


def standings(result: ClaimsResult) -> dict[str, str]:
    return {one.id: one.standing for one in result.suggestions.proposals}


def test_every_number_of_the_readme_is_found_declared_or_missing(tiny: Path) -> None:
    before = (tiny / "rra.yaml").read_bytes()
    result = api.claims_suggest(tiny)
    assert result.exit_code == 0
    assert standings(result) == {
        "results/lda-hits": "clear",
        "results/qda-accuracy": "clear",
        "results/qda-hits": "clear",
        "results/k-nn-accuracy": "clear",
        "results/k-nn-hits": "clear",
    }
    assert [(d.claim.value.text, d.outcome) for d in result.suggestions.declared] == [
        ("98.9", "table/lda")
    ]
    assert [m.claim.value.text for m in result.suggestions.missing] == ["97.2", "175"]
    assert (tiny / "rra.yaml").read_bytes() == before


def test_the_proposal_is_an_outcome_that_gives_the_number(tiny: Path) -> None:
    document = api.claims_suggest(tiny).to_json()
    proposal = next(one for one in document["proposals"] if one["id"] == "results/qda-accuracy")
    assert proposal["candidates"][0]["outcome"] == {
        "type": "number",
        "reported": "95.0",
        "unit": "percent",
        "metric": "accuracy",
        "location": "README.md:8, row QDA, column accuracy (%)",
        "selector": {
            "launcher": "main",
            "file": "metrics.json",
            "json": "/models/qda/accuracy",
            "unit": "fraction",
        },
    }
    assert proposal["candidates"][0]["value"] == "0.95"
    assert json.loads(json.dumps(document)) == api.claims_suggest(tiny).to_json()


def test_what_is_accepted_is_written_and_nothing_else_changes(tiny: Path) -> None:
    before = (tiny / "rra.yaml").read_text(encoding="utf-8")
    (tiny / "rra.yaml").chmod(0o640)
    result = api.claims_suggest(
        tiny, write=True, accept=["results/qda-accuracy", "lda-hits"], progress=lambda line: None
    )
    assert (result.exit_code, result.accepted) == (0, ("results/lda-hits", "results/qda-accuracy"))
    after = (tiny / "rra.yaml").read_text(encoding="utf-8")
    added = after.removeprefix(before[: before.index("\nx-note")]).removesuffix(
        before[before.index("\nx-note") :]
    )
    assert before == after.replace(added, "", 1)
    assert added.startswith("  results:\n    title: Results\n    outcomes:\n      lda-hits:\n")
    assert (tiny / "rra.yaml").stat().st_mode & 0o777 == 0o640
    found = load_artifact(tiny).manifest.outcomes()
    assert list(found) == ["table/lda", "results/lda-hits", "results/qda-accuracy"]
    assert found["results/lda-hits"].reported == "178"
    again = api.claims_suggest(tiny)
    assert {d.outcome for d in again.suggestions.declared} == set(found)
    assert not set(standings(again)) & set(result.accepted)


def test_writing_without_ids_takes_the_clear_ones(tiny: Path) -> None:
    clear = [name for name, how in standings(api.claims_suggest(tiny)).items() if how == "clear"]
    result = api.claims_suggest(tiny, write=True)
    assert list(result.accepted) == clear
    assert len(clear) >= 3
    rest = api.claims_suggest(tiny, write=True)
    assert (rest.accepted, rest.exit_code) == ((), 1)
    run = api.trace(tiny, "results/qda-accuracy")
    assert run.traces[0].value == "0.95"


@pytest.mark.parametrize(
    ("accept", "message"),
    [
        (["results/svm-hits"], "is not proposed"),
        (["results/lda-hits@7"], "has no candidate '7'"),
        (["results/lda-hits@0"], "has no candidate '0'"),
        (["results/lda-hits@x"], "has no candidate 'x'"),
        (["results/lda-hits", "lda-hits"], "is accepted twice"),
    ],
)
def test_ids_that_are_none_change_nothing(tiny: Path, accept: list[str], message: str) -> None:
    before = (tiny / "rra.yaml").read_bytes()
    with pytest.raises(UsageError, match=message) as refused:
        api.claims_suggest(tiny, write=True, accept=accept)
    assert refused.value.hint
    assert (tiny / "rra.yaml").read_bytes() == before


def test_consent_needs_both_words(tiny: Path) -> None:
    with pytest.raises(UsageError, match="together with writing"):
        api.claims_suggest(tiny, accept=["results/lda-hits"])


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_line_ends_and_byte_order_mark_stay(tiny: Path, end: str, mark: str) -> None:
    text = mark + MANIFEST.replace("\n", end)
    (tiny / "rra.yaml").write_bytes(text.encode())
    api.claims_suggest(tiny, write=True)
    written = (tiny / "rra.yaml").read_bytes().decode()
    assert written.startswith(text[: text.index("x-note") - len(end)])
    assert written.endswith(text[text.index("x-note") :])
    assert written.count("\n") == written.count(end)
    assert len(load_artifact(tiny).manifest.outcomes()) > 1


def test_a_manifest_that_is_a_link_stays_one(tiny: Path) -> None:
    (tiny / "rra.yaml").rename(tiny / "real.yaml")
    (tiny / "rra.yaml").symlink_to("real.yaml")
    assert api.claims_suggest(tiny, write=True).accepted
    assert (tiny / "rra.yaml").is_symlink()


def test_a_manifest_that_nothing_can_be_added_to_is_left_alone(tiny: Path) -> None:
    text = MANIFEST.replace("experiments:\n", "experiments: &all\n") + "x-copy: *all\n"
    (tiny / "rra.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match="nothing can be added"):
        api.claims_suggest(tiny, write=True)
    assert (tiny / "rra.yaml").read_text(encoding="utf-8") == text


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("paper.md", "## Table\n\n| model | hits |\n|--|--|\n| QDA | 171 |\n"),
        ("paper.tex", LATEX),
        ("paper.csv", "model,hits\nQDA,171\n"),
        (
            "paper.html",
            "<table><tr><th>model<th>hits</tr><tr><td>QDA<td>171</tr></table>\n",
        ),
    ],
)
def test_papers_of_every_kind(tiny: Path, tmp_path: Path, name: str, text: str) -> None:
    paper = tmp_path / "elsewhere" / name
    paper.parent.mkdir()
    paper.write_text(text, encoding="utf-8")
    result = api.claims_suggest(tiny, papers=[paper])
    (proposal,) = result.suggestions.proposals
    assert result.suggestions.sources == (name,)
    outcome = proposal.candidates[0].outcome
    assert outcome["selector"]["json"] == "/models/qda/hits"
    assert outcome["location"].startswith(f"{name}:")
    assert str(tmp_path) not in json.dumps(result.to_json()["proposals"])


def test_a_paper_that_is_none_is_refused(tiny: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such file"):
        api.claims_suggest(tiny, papers=[tmp_path / "absent.tex"])
    (tmp_path / "p.csv").write_text("", encoding="utf-8")
    with pytest.raises(FormatError, match="table is empty"):
        api.claims_suggest(tiny, papers=[tmp_path / "p.csv"])


def test_tables_of_settings_are_passed_over_and_named(tiny: Path) -> None:
    result = api.claims_suggest(tiny, papers=[tiny / "README.md"])
    assert [table["heading"] for table in result.to_json()["passed_over"]] == ["Options"]


def test_without_a_run_nothing_is_proposed_and_that_is_said(tmp_path: Path) -> None:
    root = make_artifact(tmp_path, {"main.py": SCRIPT, "README.md": TABLE}).root
    result = api.claims_suggest(root)
    assert result.exit_code == 1
    assert result.suggestions.proposals == ()
    assert [problem.hint for problem in result.problems] == ["record one with: rra run main"]
    assert {one.reason for one in result.suggestions.missing} == {"not found in any output"}


def test_an_artifact_in_json_stays_json(tmp_path: Path) -> None:
    root = make_artifact(tmp_path, {"main.py": SCRIPT, "README.md": TABLE}).root
    record_run(load_artifact(root))
    before = json.loads((root / "rra.yaml").read_text("utf-8"))
    assert api.claims_suggest(root, write=True).accepted
    after = json.loads((root / "rra.yaml").read_text("utf-8"))
    assert after["experiments"].pop("results")["title"] == "Results"
    assert after == before


def test_the_same_numbers_in_two_runs_are_ambiguous(tmp_path: Path) -> None:
    launchers: dict[str, Any] = manifest()["launchers"]
    launchers["second"] = dict(launchers["main"])
    root = make_artifact(
        tmp_path, {"main.py": SCRIPT, "README.md": TABLE}, launchers=launchers
    ).root
    artifact = load_artifact(root)
    record_run(artifact)
    record_run(artifact, "second")
    result = api.claims_suggest(root)
    assert set(standings(result).values()) == {"ambiguous"}
    assert api.claims_suggest(root, write=True).accepted == ()
    chosen = api.claims_suggest(root, write=True, accept=["results/qda-hits@2"])
    assert chosen.accepted == ("results/qda-hits",)
    selector = load_artifact(root).manifest.outcomes()["results/qda-hits"].selector
    assert selector.launcher == "second"


def test_an_outcome_with_another_number_at_that_place_is_shown(tmp_path: Path) -> None:
    there = outcome("98.7", location="README.md:70, row LDA, column accuracy (%)")
    root = make_artifact(
        tmp_path,
        {"main.py": SCRIPT, "README.md": TABLE},
        experiments={"t": {"outcomes": {"x": there}}},
    ).root
    record_run(load_artifact(root))
    declared = api.claims_suggest(root).suggestions.declared
    assert [(d.claim.value.text, d.outcome, d.differs) for d in declared] == [
        ("98.9", "t/x", "98.7")
    ]


def test_a_full_disk_leaves_the_manifest(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = (tiny / "rra.yaml").read_bytes()

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(Exception, match="no space left"):
        api.claims_suggest(tiny, write=True)
    assert (tiny / "rra.yaml").read_bytes() == before
    assert [path.name for path in tiny.iterdir() if path.name.startswith(".rra")] == []


def claims_of(root: Path, table: str) -> list[tuple[str, str, str | None]]:
    (root / "README.md").write_text(f"## Results\n\n{table}", encoding="utf-8")
    found = api.claims_suggest(root).suggestions
    claims = [one.claim for one in found.proposals]
    claims += [one.claim for one in found.missing]
    claims += [one.claim for one in found.declared]
    return sorted((c.value.text, c.value.column, c.unit) for c in claims)


def test_what_came_out_here_is_no_claim_beside_what_is_reported(tiny: Path) -> None:
    table = "| model | reported | this artifact |\n|--|--|--|\n| QDA | 95.1 | 95.0 |\n"
    assert claims_of(tiny, table) == [("95.1", "reported", None)]
    alone = "| model | reproduced accuracy |\n|--|--|\n| QDA | 95.0 |\n"
    assert claims_of(tiny, alone) == [("95.0", "reproduced accuracy", "percent")]


def test_a_squared_error_is_not_in_percent(tiny: Path) -> None:
    table = "| year | squared error | error |\n|--|--|--|\n| 1975 | 17.56 | 17.57 |\n"
    assert claims_of(tiny, table) == [
        ("17.56", "squared error", None),
        ("17.57", "error", "percent"),
    ]


def test_the_same_number_in_two_tables_is_one_claim(tiny: Path) -> None:
    (tiny / "code" / "README.md").write_text(TABLE, encoding="utf-8")
    (proposal,) = [
        one
        for one in api.claims_suggest(tiny).suggestions.proposals
        if one.claim.value.text == "95.0"
    ]
    assert proposal.claim.also == ("code/README.md:8, row QDA, column accuracy (%)",)


def test_a_column_without_meaning_is_no_part_of_the_id(tiny: Path) -> None:
    table = "| model | reported | n |\n|--|--|--|\n| QDA | 0.950 | 171 |\n| k-NN | 0.906 | 163 |\n"
    (tiny / "README.md").write_text(f"## Results\n\n{table}", encoding="utf-8")
    assert list(standings(api.claims_suggest(tiny))) == [
        "results/qda",
        "results/qda-n",
        "results/k-nn",
        "results/k-nn-n",
    ]
