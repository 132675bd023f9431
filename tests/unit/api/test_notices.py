"""Notices: every verb that opens a bundle shows them, and none is kept from its work by them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rra import api
from rra.api._result import VerbResult
from rra.bundle.layout import LayoutStore
from rra.errors import Problem, RegistryError
from tests.support.signed import LAB, Desk, desk

SHOWN = "notice/shown"
VERBS: dict[str, Callable[[str, Path], VerbResult]] = {
    "audit": lambda bundle, _: api.audit(bundle, rerun=False, sandbox="none"),
    "copy": lambda bundle, tmp: api.copy(bundle, f"oci-archive:{tmp / 'c.tar'}"),
    "diff": lambda bundle, tmp: api.diff(tmp / "artifact", bundle),
    "inspect": lambda bundle, _: api.inspect(bundle),
    "lint": lambda bundle, _: api.lint(bundle),
    "next": lambda bundle, _: api.next(bundle),
    "repair": lambda bundle, _: api.repair(bundle),
    "report": lambda bundle, tmp: api.report(bundle, output=tmp / "page.html"),
    "trace": lambda bundle, _: api.trace(bundle, "table/accuracy"),
    "unpack": lambda bundle, tmp: api.unpack(bundle, tmp / "u"),
    "verify": lambda bundle, _: api.verify(bundle, sandbox="none"),
}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    monkeypatch.setenv("RRA_STATE", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    return desk(tmp_path)


def notices(result: VerbResult) -> list[Problem]:
    return [problem for problem in result.problems if problem.clause == SHOWN]


def notices_of(place: Desk) -> list[Problem]:
    return notices(api.inspect(place.reference))


@pytest.mark.clause("notice/shown")
@pytest.mark.clause("notice/never-in-the-way")
@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_that_opens_a_bundle_shows_them(place: Desk, tmp_path: Path, verb: str) -> None:
    before = VERBS[verb](place.reference, tmp_path / "one") if verb in {"lint", "next"} else None
    place.attach("notice", place.document("notice", reason="the split was wrong"))
    result = VERBS[verb](place.reference, tmp_path)
    (shown,) = notices(result)
    assert shown.severity == "warning"
    assert shown.message == (
        "wine 1.0.0 is withdrawn: the split was wrong"
        " (2026-11-29 18:00 UTC, not signed: anybody may have written it)"
    )
    if before is not None:
        assert before.exit_code == result.exit_code
        assert notices(before) == []


def test_a_signed_notice_names_the_key_that_it_claims(place: Desk) -> None:
    place.attach("notice", key=LAB)
    (shown,) = notices(api.inspect(place.reference))
    key = LAB.public.fingerprint
    assert shown.message.endswith(f"signed with a key that is not known here {key})")


def test_the_newest_comes_first(place: Desk) -> None:
    moments = [f"2026-11-20T0{hour}:30:00Z" for hour in (3, 1, 4, 2)]
    for moment in moments:
        place.attach("notice", place.document("notice", issued=moment))
    shown = [one.message.partition("(2026-11-20 ")[2][:9] for one in notices_of(place)]
    assert shown == ["04:30 UTC", "03:30 UTC", "02:30 UTC", "01:30 UTC"]


def test_the_kinds_in_words(place: Desk) -> None:
    place.attach("notice", place.document("notice", "superseded"))
    place.attach("notice", place.document("notice", "embargo"))
    said = {one.message.partition(":")[0] for one in notices(api.inspect(place.reference))}
    assert "wine 1.0.0 is under embargo until 2027-03-01" in said
    assert any(text.startswith("wine 1.0.0 is superseded by registry.example.org") for text in said)


@pytest.mark.clause("notice/text-is-only-text")
def test_what_a_notice_says_cannot_steer_a_terminal(place: Desk) -> None:
    reason = "\x1b[2J\x1b]0;owned\x07 gone \u202e\u2028 line\nwarning: all is well"
    place.attach("notice", place.document("notice", reason=reason))
    (shown,) = notices(api.inspect(place.reference))
    assert all(character.isprintable() for character in shown.message)
    assert "\\x1b[2J" in shown.message


def test_a_long_notice_is_cut(place: Desk) -> None:
    place.attach("notice", place.document("notice", reason="x" * 100_000))
    (shown,) = notices(api.inspect(place.reference))
    assert len(shown.message) < 600


@pytest.mark.clause("notice/of-this-bundle")
@pytest.mark.parametrize(
    "changes", [{"core": "sha256:" + "2" * 64}, {"bundle": "sha256:" + "2" * 64}]
)
def test_a_notice_on_something_else_is_not_shown(place: Desk, changes: dict[str, Any]) -> None:
    place.attach("notice", place.document("notice", **changes))
    assert notices(api.inspect(place.reference)) == []


def test_a_notice_that_breaks_its_page_is_not_shown(place: Desk) -> None:
    place.attach("notice", place.document("notice", kind="haunted"))
    assert notices(api.inspect(place.reference)) == []
    (aside,) = api.status(place.reference).standing.set_aside
    assert aside.problems[0].clause == "notice/kind-words"


@pytest.mark.clause("notice/never-in-the-way")
def test_a_place_that_cannot_be_asked_is_a_warning(
    place: Desk, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def refuse(*_: Any, **__: Any) -> Any:
        raise RegistryError("registry.example.org answered 500 Internal Server Error")

    monkeypatch.setattr(LayoutStore, "referrers", refuse)
    result = api.unpack(place.reference, tmp_path / "u")
    assert result.ok
    (shown,) = notices(result)
    assert shown.message.startswith("could not be asked for notices: registry.example.org")
    with pytest.raises(RegistryError):
        api.status(place.reference)


def test_a_directory_has_none(place: Desk, tmp_path: Path) -> None:
    place.attach("notice")
    assert notices(api.lint(tmp_path / "artifact")) == []


def test_a_check_of_many_bundles_names_them(place: Desk, tmp_path: Path) -> None:
    place.attach("notice", place.document("notice", reason="the split was wrong"))
    (tmp_path / "references.txt").write_text(f"{place.reference}\n", "utf-8")
    report = api.registry_check(tmp_path / "references.txt", tmp_path / "lines.jsonl")
    (line,) = (tmp_path / "lines.jsonl").read_text("utf-8").splitlines()
    assert report.noticed == 1
    assert ["is withdrawn: the split" in said for said in json.loads(line)["notices"]] == [True]
