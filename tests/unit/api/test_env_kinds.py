"""Every verb about environments asks the kind, and says what a kind cannot do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rra import api
from rra.errors import EnvironmentBuildError, UnavailableError, UsageError
from tests.support.artifacts import COMPUTES, make_artifact
from tests.support.runtimes import MINOR

PACKAGES = {"jsonlite": "1.8.0", "data.table": "1.14.2"}


def renv(packages: dict[str, str]) -> str:
    entries = {name: {"Package": name, "Version": version} for name, version in packages.items()}
    return json.dumps({"R": {"Version": "4.2.1"}, "Packages": entries})


def artifact(root: Path, packages: dict[str, str] | None = None, **more: Any) -> Path:
    """An artifact with an environment of R and one of the system."""
    environments = {"paper": {"kind": "renv", "lock": "environment/paper/renv.lock"}, **more}
    files = {"main.py": COMPUTES, "environment/paper/renv.lock": renv(packages or PACKAGES)}
    make_artifact(
        root, {"main.py": COMPUTES}, environments={"cpu": {"kind": "system"}, **environments}
    )
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    api.lock(root)
    return root


def test_a_lock_of_another_tool_is_checked_by_its_digest(tmp_path: Path) -> None:
    root = artifact(tmp_path / "a")
    done = api.env_check(root)
    assert [(one.id, one.kind, one.packages) for one in done.environments] == [
        ("cpu", "system", 0),
        ("paper", "renv", 2),
    ]
    assert [one.can for one in done.environments] == [("build", "lock", "run"), ("lock",)]
    assert done.ok
    lock = root / "environment/paper/renv.lock"
    lock.write_text(renv({**PACKAGES, "jsonlite": "1.9.0"}))
    done = api.env_check(root)
    assert not done.ok
    assert "is not the one that rra.lock names" in str(done.problems[0])
    lock.unlink()
    (problem,) = api.env_check(root, environments=["paper"]).problems
    assert "environment/paper/renv.lock: there is no such lock" in str(problem)


def test_a_package_is_explained_by_the_file_that_names_it(tmp_path: Path) -> None:
    root = artifact(tmp_path / "a")
    (one,) = api.env_explain("data.table", root).environments
    assert (one.id, one.versions, one.manifest) == (
        "paper",
        ("1.14.2",),
        "environment/paper/renv.lock",
    )
    with pytest.raises(UsageError, match="no environment locks jsonlit") as caught:
        api.env_explain("jsonlit", root)
    assert "jsonlite" in caught.value.hint


def test_environments_of_other_kinds_are_compared_package_by_package(tmp_path: Path) -> None:
    left = artifact(tmp_path / "a")
    right = artifact(tmp_path / "b", {"jsonlite": "1.9.0", "Rcpp": "1.0.9"})
    done = api.env_diff(left, right, environment="paper")
    (one,) = done.environments
    assert [(p.name, p.change, p.before, p.after) for p in one.packages] == [
        ("data-table", "removed", ("1.14.2",), ()),
        ("jsonlite", "changed", ("1.8.0",), ("1.9.0",)),
        ("rcpp", "added", (), ("1.0.9",)),
    ]
    assert api.env_diff(left, left).ok


def test_what_a_kind_cannot_do_it_refuses_and_names(tmp_path: Path) -> None:
    root = artifact(tmp_path / "a")
    done = api.env_build(root)
    assert [(one.id, one.kind, one.place, one.image) for one in done.environments] == [
        ("cpu", "system", None, None)
    ]
    assert ["environment paper is of kind renv" in str(one) for one in done.problems] == [True]
    with pytest.raises(EnvironmentBuildError, match="of kind renv") as caught:
        api.env_build(root, environments=["paper"])
    assert "kind: container" in caught.value.hint
    with pytest.raises(UnavailableError, match="environment cpu is of kind system, which locks no"):
        api.env_wheels(root)
    with pytest.raises(UnavailableError, match="of kind renv, which carries no files"):
        api.lock(root, keep=True, wheels=True, environments=["paper"])
    for more in ({"imports": True}, {"into": tmp_path / "place"}):
        with pytest.raises(UsageError, match="environment cpu is of kind system"):
            api.env_build(root, environments=["cpu"], **more)
    assert "for which nothing is searched" in " ".join(api.lock(root, search=True).notes)


def test_launchers_run_with_what_the_system_has(tmp_path: Path) -> None:
    root = artifact(tmp_path / "a", cpu={"kind": "system", "python": MINOR})
    done = api.run(root)
    assert done.ok, [run.message for run in done.runs]
    record = json.loads((root / done.runs[0].evidence / "record.json").read_text())
    assert record["environment"]["id"] == "cpu"
    assert record["platform"]["python"].startswith(f"{MINOR}.")
