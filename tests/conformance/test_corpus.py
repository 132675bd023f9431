"""The corpus that ships: every case is found as it expects, and lies where it belongs."""

from __future__ import annotations

import re

import pytest

from rra import api
from rra.lint.conformance import EXPECT, read_cases
from tests.support.source import ROOT

CORPUS = ROOT / "schemas/conformance/v1"
CASES = read_cases()
PAGES = {path.stem for path in (ROOT / "spec").rglob("*.md")}


@pytest.mark.clause("conformance/validator-corpus", "conformance/validator-stages")
def test_every_case_is_found_as_expected() -> None:
    report = api.spec_conformance()
    assert [f"{one.case.name}: {one.difference}" for one in report.disagreeing] == []
    assert report.exit_code == 0
    assert len(report.outcomes) == len(CASES) >= 250


def test_each_case_lies_in_the_folder_of_a_page() -> None:
    faults = [
        case.name
        for case in CASES
        if len(case.name.split("/")) != 3
        or case.page not in PAGES
        or not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", case.folder.name)
    ]
    assert faults == []


def test_each_folder_is_a_case_or_holds_cases() -> None:
    cases = {case.folder for case in CASES}
    kinds = [CORPUS / "valid", CORPUS / "invalid"]
    found = {folder for kind in kinds for page in kind.iterdir() for folder in page.iterdir()}
    assert sorted(str(path) for path in found - cases) == []
    assert {path.parent for kind in kinds for path in kind.rglob(EXPECT)} == cases


def test_cases_are_small() -> None:
    sizes = {path: path.stat().st_size for path in CORPUS.rglob("*") if path.is_file()}
    assert [str(path) for path, size in sizes.items() if size > 128 * 1024] == []


def test_every_document_has_a_smallest_valid_case() -> None:
    smallest = {case.document for case in CASES if case.folder.name.startswith("smallest")}
    assert {case.document for case in CASES} - {"artifact"} <= smallest
