"""The day as of which an environment is resolved."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from rra._base import clock
from rra.environment import suggest_as_of, suggest_python
from rra.environment.cutoff import cutoff_timestamp
from rra.environment.interpreter import has_interpreter
from rra.environment.resolve import Resolution
from rra.errors import UsageError
from tests.support.needs import needs


@pytest.mark.parametrize(
    ("as_of", "moment"),
    [
        ("2023-06-01", "2023-06-02T00:00:00Z"),
        ("2023-12-31", "2024-01-01T00:00:00Z"),
        ("2023-06-01T10:00:00Z", "2023-06-01T10:00:00Z"),
        ("2023-06-01T10:00:00+02:00", "2023-06-01T08:00:00Z"),
    ],
)
def test_a_day_is_included_whole_and_in_utc(as_of: str, moment: str) -> None:
    assert cutoff_timestamp(as_of) == moment


@pytest.mark.parametrize("text", ["", "June", "2023-13-01", "9999-12-31", "2023-06-01T10:00:00"])
def test_other_text_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match=r"is not a date|has no time zone"):
        cutoff_timestamp(text)


def commit(root: Path, name: str, moment: str) -> str:
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    with (root / name).open("a") as file:
        file.write("x\n")
    identity = {
        f"GIT_{who}_{what}": "t" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
    }
    dates = {"GIT_AUTHOR_DATE": moment, "GIT_COMMITTER_DATE": moment}
    env = {**os.environ, **identity, **dates}
    subprocess.run(["git", "add", "."], cwd=root, check=True)
    subprocess.run(["git", "commit", "-qm", name], cwd=root, check=True, env=env)
    done = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=root, check=True, capture_output=True, text=True
    )
    return done.stdout[:12]


@needs("git")
def test_the_last_change_of_what_names_packages_wins_over_later_code(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    commit(tmp_path, "main.py", "2019-01-01T00:00:00Z")
    named = commit(tmp_path, "sub/requirements-gpu.txt", "2019-03-05T23:30:00-0500")
    commit(tmp_path, "main.py", "2020-01-01T00:00:00Z")
    commit(tmp_path, "environment/cpu/requirements.txt", "2024-01-01T00:00:00Z")
    day, why = suggest_as_of(tmp_path)
    assert day == "2019-03-06"  # 23:30 in New York is the next day in UTC
    assert why == (
        f"last commit that touched a file that names packages: sub/requirements-gpu.txt in {named}"
    )


@needs("git")
def test_without_such_a_file_the_last_change_of_code_counts(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    code = commit(tmp_path, "main.py", "2019-01-01T12:00:00Z")
    commit(tmp_path, "notes.md", "2021-01-01T12:00:00Z")
    assert suggest_as_of(tmp_path) == (
        "2019-01-01",
        f"last commit that touched a file that is code: main.py in {code}",
    )


@needs("git")
def test_a_file_that_was_removed_names_no_packages(tmp_path: Path) -> None:
    """As yromano/cqr has it: a setup.cfg of the project that it began with, gone since."""
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    commit(tmp_path, "setup.cfg", "2017-01-01T12:00:00Z")
    (tmp_path / "setup.cfg").unlink()
    commit(tmp_path, "notes.md", "2019-04-12T12:00:00Z")
    code = commit(tmp_path, "a [b].py", "2019-10-08T12:00:00Z")
    commit(tmp_path, "old.py", "2022-01-01T12:00:00Z")
    (tmp_path / "old.py").unlink()
    commit(tmp_path, "notes.md", "2022-04-06T12:00:00Z")
    assert suggest_as_of(tmp_path) == (
        "2019-10-08",
        f"last commit that touched a file that is code: a [b].py in {code}",
    )


def test_without_a_history_it_is_today(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    day, why = suggest_as_of(tmp_path)
    assert day == clock.iso(clock.now())[:10]
    assert why.startswith("today")


@pytest.mark.parametrize(
    ("as_of", "python"),
    [
        ("2019-06-26", "3.6"),
        ("2019-06-27", "3.7"),  # 3.7.0 was released on 2018-06-27
        ("2021-09-21", "3.8"),
        ("2024-12-01", "3.12"),
    ],
)
def test_the_python_of_a_day_had_been_out_for_a_year(as_of: str, python: str) -> None:
    _, why = suggest_python(as_of)
    assert why.startswith(f"Python {python} had been out for a year on {as_of}")


def test_before_the_oldest_python_that_is_said() -> None:
    assert suggest_python("2015-01-01")[1].startswith("Python 3.6 is the oldest")


def test_the_suggested_python_is_installed_where_any_is() -> None:
    minor, why = suggest_python("2024-12-01")
    assert has_interpreter(minor)
    assert (minor == "3.12") is ("not installed" not in why)


@pytest.mark.parametrize(
    ("as_of", "excepted"), [("2017-11-18", True), ("2019-04-29", True), ("2019-05-01", False)]
)
def test_before_the_oldest_setuptools_that_builds_it_may_be_newer(
    as_of: str,
    excepted: bool,  # noqa: FBT001
) -> None:
    target = Resolution("3.6", "3.6.99", None, (), as_of)
    assert ("setuptools=2019-05-01T00:00:00Z" in target.cutoff) is excepted
    assert target.cutoff[:2] == ["--exclude-newer", cutoff_timestamp(as_of)]
