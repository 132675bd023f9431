from __future__ import annotations

from typing import Any

import pytest

from rra.errors import UsageError
from rra.launch import order_launchers
from rra.model import Manifest


def manifest(needs: dict[str, list[str]]) -> Manifest:
    launchers: dict[str, Any] = {
        name: {"entry": f"launchers/{name}.sh", "environment": "cpu", "needs": needed}
        for name, needed in needs.items()
    }
    outcome = {
        "type": "number",
        "reported": "1",
        "selector": {"launcher": "a", "file": "x", "regex": "(?P<value>.)"},
    }
    document = {
        "rra": "1.0",
        "name": "small",
        "version": "1.0.0",
        "license": "MIT",
        "environments": {"cpu": {"kind": "pylock"}},
        "launchers": launchers,
        "experiments": {"table": {"outcomes": {"one": outcome}}},
    }
    return Manifest.model_validate(document)


DIAMOND = {"report": ["left", "right"], "left": ["prepare"], "right": ["prepare"], "prepare": []}


@pytest.mark.clause("launcher/needs-run-first")
def test_each_launcher_comes_after_those_it_needs() -> None:
    assert order_launchers(manifest(DIAMOND)) == ["prepare", "left", "right", "report"]


def test_what_is_not_asked_for_runs_only_when_it_is_needed() -> None:
    assert order_launchers(manifest(DIAMOND), ["right"]) == ["prepare", "right"]
    assert order_launchers(manifest(DIAMOND), []) == []


def test_the_order_of_the_manifest_is_kept_where_it_can_be() -> None:
    assert order_launchers(manifest({"b": [], "a": [], "c": ["a"]})) == ["b", "a", "c"]


def test_a_circle_is_shown() -> None:
    with pytest.raises(UsageError, match="a → b → c → a"):
        order_launchers(manifest({"a": ["b"], "b": ["c"], "c": ["a"]}))


def test_unknown_launchers_are_named_with_a_near_one() -> None:
    with pytest.raises(UsageError, match="no launcher 'rihgt'") as caught:
        order_launchers(manifest(DIAMOND), ["rihgt"])
    assert caught.value.hint == "did you mean right?"
    with pytest.raises(UsageError, match="'none', which a needs") as caught:
        order_launchers(manifest({"a": ["none"]}))
    assert caught.value.hint == "launchers: a"
