"""The wine example, re-run as a stranger: which numbers agree, repeat and deviate, by name."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from rra.artifact import Artifact, load_artifact
from rra.environment import Built, materialise
from rra.launch import build_environment
from rra.verify import Options, verify_artifact
from tests.acceptance.command import PATIENCE_SECONDS, rra
from tests.acceptance.example import (
    WINE_VERDICTS,
    Example,
    ended_well,
    outcomes,
    verdicts,
)

if TYPE_CHECKING:
    from collections.abc import Callable

EXAMPLE = Example("wine-discriminant")
COUNTS = {"lda": 176, "qda": 177, "1nn": 170}
WINES = 178


@pytest.fixture
def artifact(tmp_path: Path) -> Path:
    """A copy of the artifact, without evidence and outputs."""
    return EXAMPLE.copy(tmp_path / "artifact")


def by_hand(artifact: Path, path: str) -> subprocess.CompletedProcess[str]:
    """Start the launcher with nothing of ours around it."""
    return subprocess.run(
        ["/bin/bash", "launchers/table1.sh"],
        cwd=artifact,
        env={"PATH": path},
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )


def shared_environment(artifact: Artifact, env_id: str, *, target: Path | None = None) -> Built:
    """Build an environment where all tests of this session have it."""
    del target
    return build_environment(artifact, env_id)


def test_the_bundle_gives_the_outcomes_that_agree_repeat_and_deviate(tmp_path: Path) -> None:
    answer = EXAMPLE.verify_bundle(tmp_path)

    answer.expect(1)  # a documented deviation is no success unless the reader says so
    assert verdicts(answer.result) == WINE_VERDICTS
    found = outcomes(answer.result)
    for name, count in COUNTS.items():
        obtained = float(found[f"table1/{name}"]["mean"])
        assert obtained == pytest.approx(100 * count / WINES, abs=1e-6)
    assert answer.result["reproduction"]["verdict"] == "deviates_as_documented"


def test_the_shipped_verify_script_ends_well(tmp_path: Path) -> None:
    done = EXAMPLE.verify(tmp_path)

    assert done.returncode == 0, done.stdout + done.stderr
    assert "table1/1nn deviates_as_documented fail pass 170" in done.stdout


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('observed: "95.5"', 'observed: "95.4"'),
        ('observed: "95.5"', 'observed: "95.6"'),
        ("        deviation:\n", None),
    ],
    ids=["95.4", "95.6", "deleted"],
)
def test_an_undocumented_deviation_is_not_accepted(
    before: str, after: str | None, artifact: Path, tmp_path: Path
) -> None:
    manifest = artifact / "rra.yaml"
    text = manifest.read_text(encoding="utf-8")
    assert text.count(before) == 1
    if after is None:
        start = text.index(before)
        after, before = "", text[start : text.index("\nx-lint", start)]
    manifest.write_text(text.replace(before, after), encoding="utf-8")
    rra("lock", artifact, "--keep").expect(0)

    # The environment is the same each time, so it is not built anew each time.
    accepting = Options(accept_documented=True, build=shared_environment)
    made = verify_artifact(load_artifact(artifact), tmp_path / "verified", accepting)

    found = {one.outcome: one.verdict for one in made.outcomes}
    assert found["table1/1nn"] in {"not_reproduced", "deviates"}
    assert found["table1/lda"] == found["table1/qda"] == "reproduced"
    assert made.exit_code == 1


def test_the_launcher_works_with_nothing_of_ours(artifact: Path) -> None:
    environment = materialise(load_artifact(artifact), "cpu")
    before = {path: path.read_bytes() for path in artifact.rglob("*") if path.is_file()}

    done = by_hand(artifact, f"{environment.bin}:/usr/bin:/bin")

    assert done.returncode == 0, done.stderr
    metrics = json.loads((artifact / "outputs" / "table1" / "metrics.json").read_bytes())
    assert {name: value["correct"] for name, value in metrics.items()} == COUNTS
    assert {value["wines"] for value in metrics.values()} == {WINES}
    assert {path: path.read_bytes() for path in before} == before


def test_without_python_the_launcher_names_what_to_do(
    artifact: Path, tools_left: Callable[..., str]
) -> None:
    done = by_hand(artifact, tools_left("python", "python3"))

    assert done.returncode == 69
    assert "environment/cpu/README.md" in done.stderr
    assert not list((artifact / "outputs" / "table1").iterdir())


def test_the_repairs_name_a_failed_and_a_working_run() -> None:
    runs = EXAMPLE.repair_runs()

    for name, (before, after) in runs.items():
        assert ended_well(after), name
        assert before is None or not ended_well(before), name
    assert sum(before is not None for before, _ in runs.values()) == 5


@pytest.mark.slow
def test_the_demonstration_ends_in_a_verified_report(tmp_path: Path) -> None:
    env = {**os.environ, "TMPDIR": str(tmp_path)}

    done = subprocess.run(
        [sys.executable, EXAMPLE.folder / "demo.py"],
        env=env,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=3 * PATIENCE_SECONDS,
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    shown = dict(line.split(None, 1) for line in done.stdout.splitlines()[-5:])
    assert shown["table1/lda"] == shown["table1/qda"] == "reproduced"
    assert shown["table1/1nn"] == "deviates_as_documented"
    assert shown["nonce"] in Path(shown["report"]).read_text(encoding="utf-8")
