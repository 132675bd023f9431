"""``cases.yaml`` and the tests agree: no case without a test, no hostile test without a case."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from tests.support.source import ROOT

TESTS = ROOT / "tests"
TABLE = Path(__file__).with_name("cases.yaml")
GROUPS = ("archive", "bomb", "registry", "push", "launcher")


@pytest.fixture(scope="module")
def document() -> dict[str, dict[str, list[str]]]:
    found: dict[str, dict[str, list[str]]] = YAML(typ="safe").load(TABLE)
    return found


@pytest.fixture(scope="module")
def listed(document: dict[str, dict[str, list[str]]]) -> set[str]:
    return {test for group in GROUPS for tests in document[group].values() for test in tests}


@pytest.fixture(scope="module")
def collected(listed: set[str]) -> set[str]:
    """Every test of the files that are named, as pytest itself finds them."""
    files = sorted({test.partition("::")[0] for test in listed})
    argv = [sys.executable, "-m", "pytest", "-p", "no:xdist", "-p", "no:cacheprovider"]
    argv += ["--collect-only", "-q", "-o", "addopts=--import-mode=importlib"]
    argv += [f"tests/{name}" for name in files]
    run = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout[-2000:] + run.stderr[-2000:]
    return {line.removeprefix("tests/") for line in run.stdout.splitlines() if "::" in line}


def test_every_case_has_a_test_that_is_there(listed: set[str], collected: set[str]) -> None:
    known = collected | {name.partition("[")[0] for name in collected}
    assert sorted(listed - known) == []


def test_every_hostile_test_is_one_of_a_case(
    document: dict[str, dict[str, list[str]]], listed: set[str], collected: set[str]
) -> None:
    complete = tuple(str(name) for name in document["complete"])
    asked = {name for name in collected if name.partition("::")[0] in complete}
    assert asked
    assert (
        sorted(
            name for name in asked if name not in listed and name.partition("[")[0] not in listed
        )
        == []
    )


def test_every_case_says_what_it_is_once(document: dict[str, dict[str, list[str]]]) -> None:
    assert set(document) == {"complete", *GROUPS}
    for group in GROUPS:
        assert all(tests for tests in document[group].values())
        assert all(len(tests) == len(set(tests)) for tests in document[group].values())


def test_no_listed_test_is_without_an_assertion(listed: set[str]) -> None:
    """A test that asserts nothing withstands nothing; helpers of the file may do it for it."""
    words = {
        "raises",
        "refused",
        "refusal",
        "extract",
        "assert_",
        "call",
        "survives",
        "check_hostile",
    }
    for name in sorted({test.partition("[")[0] for test in listed}):
        file, _, function = name.partition("::")
        tree = ast.parse((TESTS / file).read_text(encoding="utf-8"))
        (node,) = [
            node
            for node in ast.walk(tree)
            if isinstance(node, ast.FunctionDef) and node.name == function
        ]
        called = {
            getattr(inner.func, "attr", getattr(inner.func, "id", ""))
            for inner in ast.walk(node)
            if isinstance(inner, ast.Call)
        }
        asserts = any(isinstance(inner, ast.Assert) for inner in ast.walk(node))
        assert asserts or called & words or "HARNESSES" in ast.dump(node), name
