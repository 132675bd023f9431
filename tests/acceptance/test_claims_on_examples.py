"""Taken the outcomes away, the clear proposals for the examples are what their authors wrote."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from rra import api
from rra.artifact import load_artifact
from tests.support.source import ROOT

EXAMPLES = sorted(path.parent for path in (ROOT / "examples").glob("*/artifact/rra.yaml"))
FILES = ("README.md", "code", "evidence")


def without_outcomes(example: Path, target: Path) -> Path:
    """Copy what is read, with one outcome that has nothing to do with the documents."""
    target.mkdir()
    for name in FILES:
        source = example / name
        (shutil.copytree if source.is_dir() else shutil.copy2)(source, target / name)
    document = dict(load_artifact(example).document.data)
    launcher = next(iter(document["launchers"]))
    selector = {"launcher": launcher, "file": "stdout.txt", "regex": "(?P<value>x)"}
    outcome = {"type": "number", "reported": "0.123456", "selector": selector}
    document["experiments"] = {"none": {"outcomes": {"none": outcome}}}
    (target / "rra.yaml").write_text(json.dumps(document), encoding="utf-8")
    return target


def plain(selector: Any) -> dict[str, Any]:
    usual = {"pick": "only", "aggregate": "single"}
    return {key: value for key, value in selector.to_json().items() if usual.get(key) != value}


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: str(path.parent.name))
def test_clear_proposals_are_the_authors_selectors(example: Path, tmp_path: Path) -> None:
    original = load_artifact(example)
    declared = {
        one.claim.location: one.outcome for one in api.claims_suggest(example).suggestions.declared
    }
    bare = without_outcomes(example, tmp_path / "bare")
    result = api.claims_suggest(bare, write=True)
    assert result.accepted
    outcomes = load_artifact(bare).manifest.outcomes()
    written = {outcomes[name].location: outcomes[name] for name in result.accepted}
    known = {place: one for place, one in written.items() if place in declared}
    assert known
    for place, outcome in known.items():
        author = original.manifest.outcomes()[declared[str(place)]]
        assert plain(outcome.selector) == plain(author.selector), place
        assert outcome.reported == author.reported
