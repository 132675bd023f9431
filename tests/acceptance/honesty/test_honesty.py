"""A script that only prints a committed number is found out; its honest twin is not accused.

Straight from ``rra init . --no-input``, with and without bubblewrap and strace on PATH. The
mechanism is general: whatever committed place holds the value is changed, and the launcher runs
again.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.acceptance.command import rra
from tests.acceptance.honesty.repositories import DISHONEST, HONEST, Repository
from tests.support.needs import needs

if TYPE_CHECKING:
    from collections.abc import Callable

OUTCOME = "results/accuracy"

#: Programs that are hidden, then what isolates and what records then.
VARIANTS = [
    pytest.param((), "bwrap", "strace", id="all", marks=[needs("bwrap"), needs("strace")]),
    pytest.param(
        ("bwrap",), "none", "strace", id="no-bwrap", marks=[needs("strace"), pytest.mark.slow]
    ),
    pytest.param(
        ("strace",), "bwrap", "audit-hook", id="no-strace", marks=[needs("bwrap"), pytest.mark.slow]
    ),
    pytest.param(("bwrap", "strace"), "none", "audit-hook", id="neither", marks=pytest.mark.slow),
]


def names(repository: Repository) -> str:
    return repository.name


def accusations(findings: list[dict[str, Any]]) -> list[str]:
    """The places that a material HARDCODED finding names; empty for none."""
    return [
        place
        for finding in findings
        if finding["code"] == "HARDCODED" and finding["status"] == "refuted"
        for place in finding["places"]
        if finding["material"]
    ]


def verified(place: Path, path: str, sandbox: str, recorder: str) -> tuple[int, dict[str, Any]]:
    """Verify and return exit code and outcome; check that the variant is what it should be."""
    answer = rra("verify", "--json", cwd=place, env={"PATH": path})
    reproduction = answer.result["reproduction"]
    assert reproduction["plan"]["sandbox"] == sandbox
    assert {run["recorder"] for run in reproduction["runs"]} == {recorder}
    (outcome,) = reproduction["outcomes"]
    assert outcome["outcome"] == OUTCOME
    return answer.code, outcome


def audited(place: Path, path: str) -> tuple[int, dict[str, Any]]:
    """Audit and return exit code and value."""
    answer = rra("audit", "--json", cwd=place, env={"PATH": path})
    (value,) = answer.result["audit"]["values"]
    assert value["outcome"] == OUTCOME
    return answer.code, value


@pytest.mark.parametrize(("hidden", "sandbox", "recorder"), VARIANTS)
@pytest.mark.parametrize("repository", DISHONEST, ids=names)
def test_a_printed_number_is_found_out(
    repository: Repository,
    hidden: tuple[str, ...],
    sandbox: str,
    recorder: str,
    drafted: Callable[[Repository], Path],
    tools_left: Callable[..., str],
    tmp_path: Path,
) -> None:
    place = Path(shutil.copytree(drafted(repository), tmp_path / "nearest-mean", symlinks=True))
    path = tools_left(*hidden)

    code, outcome = verified(place, path, sandbox, recorder)

    assert (code, outcome["verdict"]) == (1, "not_reproduced")
    (accused,) = accusations(outcome["findings"])
    assert accused.startswith(repository.culprit)
    code, value = audited(place, path)
    assert (code, value["verdict"]) == (1, "HARDCODED")
    (accused,) = accusations(value["findings"])
    assert accused.startswith(repository.culprit)


@pytest.mark.parametrize(("hidden", "sandbox", "recorder"), VARIANTS)
@pytest.mark.parametrize("repository", HONEST, ids=names)
def test_a_computed_number_is_reproduced(
    repository: Repository,
    hidden: tuple[str, ...],
    sandbox: str,
    recorder: str,
    drafted: Callable[[Repository], Path],
    tools_left: Callable[..., str],
    tmp_path: Path,
) -> None:
    place = Path(shutil.copytree(drafted(repository), tmp_path / "nearest-mean", symlinks=True))
    path = tools_left(*hidden)

    code, outcome = verified(place, path, sandbox, recorder)

    assert (code, outcome["verdict"]) == (0, "reproduced")
    assert float(outcome["mean"]) == pytest.approx(100 * 41 / 48)
    assert accusations(outcome["findings"]) == []
    code, value = audited(place, path)
    assert (code, value["verdict"]) == (0, "SUPPORTED")
    assert accusations(value["findings"]) == []


def test_the_value_is_in_the_declared_data_of_one_twin(
    drafted: Callable[[Repository], Path],
) -> None:
    (twin,) = [repository for repository in HONEST if repository.name == "value-in-data"]

    manifest = (drafted(twin) / "rra.yaml").read_text(encoding="utf-8")

    assert "data:\n" in manifest
    assert "path: measurements.csv\n" in manifest
    assert twin.files["measurements.csv"].count(b"85.4,") == 2
