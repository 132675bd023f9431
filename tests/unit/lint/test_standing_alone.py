"""What an artifact lacks to be verified from its bundle alone (RRA203)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rra.lint import Profile, lint_artifact
from tests.support.artifacts import PYLOCK, make_artifact
from tests.support.runtimes import ELSEWHERE, FULL, HERE, MINOR, description, pretend

PLACE = "environment/cpu/interpreter.tar"
ALPHA = """
[[packages]]
name = "alpha"
version = "1.0"
wheels = [
    { name = "alpha-1.0-py3-none-any.whl", path = "wheels/alpha-1.0-py3-none-any.whl" },
    { name = "alpha-1.0-cp311-cp311-win_amd64.whl", path = "wheels/x.whl" },
]
"""


def artifact(
    root: Path, said: dict[str, Any] | bytes | None = None, **environment: Any
) -> dict[str, Any]:
    """Write an artifact that carries an interpreter, and return its environment."""
    cpu = {
        "kind": "pylock",
        "python": MINOR,
        "lock": "environment/cpu/pylock.toml",
        "interpreter": PLACE,
        **environment,
    }
    given = {key: value for key, value in cpu.items() if value is not None}
    make_artifact(root, {"main.py": ""}, environments={"cpu": given})
    pretend(root / PLACE, said)
    return given


def found(root: Path) -> list[str]:
    result = lint_artifact(root, profile=Profile.ARCHIVAL, select=["RRA203"])
    return [finding.message for finding in result.findings]


@pytest.mark.clause("environment/stands-alone")
def test_an_artifact_with_all_of_it_stands_alone(tmp_path: Path) -> None:
    artifact(tmp_path)
    (tmp_path / "environment/cpu/pylock.toml").write_text(
        PYLOCK.replace("packages = []", "") + ALPHA
    )
    wheels = tmp_path / "environment/cpu/wheels"
    wheels.mkdir()
    for name in ("alpha-1.0-py3-none-any.whl", "alpha-1.0-cp311-cp311-win_amd64.whl"):
        (wheels / name).write_bytes(b"")
    assert found(tmp_path) == []
    (wheels / "alpha-1.0-py3-none-any.whl").unlink()
    assert found(tmp_path) == [
        "wheels of environment cpu are not in the artifact: alpha-1.0-py3-none-any.whl"
    ]


def test_other_profiles_do_not_ask_for_it(tmp_path: Path) -> None:
    artifact(tmp_path, interpreter=None)
    for profile in (Profile.BASIC, Profile.REPRODUCIBLE):
        assert "RRA203" not in lint_artifact(tmp_path, profile=profile).rules
    assert found(tmp_path) == ["environment cpu does not carry its interpreter"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda root: (root / PLACE).unlink(), f"is not there: {PLACE}"),
        (lambda root: (root / PLACE).write_bytes(b"PK"), f"does not say what it is: {PLACE}"),
    ],
)
def test_an_interpreter_that_is_none(
    tmp_path: Path, change: Callable[[Path], object], message: str
) -> None:
    artifact(tmp_path)
    change(tmp_path)
    assert found(tmp_path) == [f"the interpreter of environment cpu {message}"]


def test_an_interpreter_that_is_another(tmp_path: Path) -> None:
    artifact(tmp_path / "a", description(python="3.2.1"))
    assert found(tmp_path / "a") == [
        f"the interpreter of environment cpu is Python 3.2.1, and the environment is for {MINOR}"
    ]
    artifact(tmp_path / "b", platforms=[ELSEWHERE])
    assert found(tmp_path / "b") == [
        f"the interpreter of environment cpu is for {HERE}, and the environment for {ELSEWHERE}"
    ]
    artifact(tmp_path / "c", python=FULL, platforms=[ELSEWHERE, HERE])
    assert found(tmp_path / "c") == []


def test_data_networks_and_other_kinds_are_named_too(tmp_path: Path) -> None:
    make_artifact(
        tmp_path,
        {"main.py": ""},
        environments={
            "cpu": {"kind": "system"},
            "unused": {"kind": "renv", "lock": "environment/unused/renv.lock"},
        },
        launchers={
            "main": {
                "entry": "launchers/main.sh",
                "environment": "cpu",
                "outputs": ["metrics.json"],
                "network": ["example.org"],
            }
        },
        data={"corpus": {"path": "data/corpus.csv", "access": "private"}},
    )
    assert sorted(found(tmp_path)) == [
        "data corpus does not travel with the artifact (access: private)",
        "environment cpu is of kind system, which no bundle carries",
        "launcher main needs a network",
    ]
