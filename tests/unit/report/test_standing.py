"""How a bundle stands: levels, who counts, and what a policy asks for."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from rra.report.standing import in_favour, reproduction_json, review_json
from rra.signing import Policy, Requirement, predicate_type
from tests.support.signed import AUTHOR, LAB, OTHER, STRANGER, Desk, case, desk, policy


@pytest.fixture
def place(tmp_path: Path) -> Desk:
    return desk(tmp_path)


def wanted(kind: str, count: int = 1, names: tuple[str, ...] = ()) -> Requirement:
    return Requirement(predicate_type(kind), count, frozenset(names) or None)


def levels(place: Desk, rules: Policy) -> dict[str, str | None]:
    return {
        group: reached.level if reached else None
        for group, reached in place.standing(rules).levels.items()
    }


READER: dict[str, list[str] | None] = {
    "author": ["bundle"],
    "lab": ["reproduction", "review"],
    "other": ["reproduction"],
}


# -------------------------------------------------------------------------------- levels


@pytest.mark.clause("levels/l4-needs-a-policy")
def test_without_a_policy_it_is_signed_by_unknown_and_no_l4(place: Desk) -> None:
    place.sign()
    place.attach("reproduction", key=LAB)
    assert levels(place, Policy()) == {"trusted": None, "untrusted": None, "unknown": "L3"}
    found = place.standing(Policy()).levels["unknown"]
    assert found is not None
    assert found.signer == f"unknown (says {LAB.public.fingerprint[:19]}…)"
    assert place.standing(Policy()).independent == 0


def test_a_trusted_reproduction_by_another_than_the_author_is_l4(place: Desk) -> None:
    place.sign()
    place.attach("reproduction", key=LAB)
    found = place.standing(policy(READER)).levels["trusted"]
    assert found is not None
    assert (found.level, found.signer) == ("L4", "lab")
    assert found.coverage.startswith("L3 · ")


def test_who_is_known_and_not_trusted_with_it_is_apart(place: Desk) -> None:
    place.attach("reproduction", key=LAB)
    rules = policy({"author": ["bundle"], "lab": ["review"]})
    assert levels(place, rules) == {"trusted": None, "untrusted": "L3", "unknown": None}


@pytest.mark.clause("levels/l4-not-by-the-author")
def test_the_author_is_not_independent(place: Desk) -> None:
    place.sign(AUTHOR)
    place.attach("reproduction", key=AUTHOR)
    rules = policy({"author": ["bundle", "reproduction"]})
    assert levels(place, rules)["trusted"] == "L3"
    assert place.standing(rules).independent == 0


@pytest.mark.clause("levels/l4-not-by-the-author")
def test_an_author_who_withholds_the_signature_is_not_independent(place: Desk) -> None:
    place.attach("reproduction", key=AUTHOR)
    assert levels(place, policy({"author": ["bundle", "reproduction"]}))["trusted"] == "L3"
    place.sign(STRANGER)
    assert levels(place, policy({"author": ["bundle", "reproduction"]}))["trusted"] == "L3"


def test_two_who_may_sign_bundles_when_one_signed_this(place: Desk) -> None:
    place.sign(AUTHOR)
    place.attach("reproduction", key=LAB)
    assert levels(place, policy({"author": None, "lab": None}))["trusted"] == "L4"


def test_a_signature_of_the_bundle_by_the_lab_too_makes_it_an_author(place: Desk) -> None:
    place.sign(AUTHOR)
    place.sign(LAB)
    place.attach("reproduction", key=LAB)
    assert levels(place, policy({"author": None, "lab": ["reproduction"]}))["trusted"] == "L3"


def test_what_nobody_signed_gives_no_level(place: Desk) -> None:
    place.attach("reproduction")
    assert levels(place, policy(READER)) == {
        "trusted": None,
        "untrusted": None,
        "unknown": None,
    }
    assert len(place.standing(policy(READER)).of("reproduction")) == 1


def test_the_highest_level_counts_and_failures_stay_visible(place: Desk) -> None:
    place.attach("reproduction", place.attempt(1, 2, "could-not-run"), LAB)
    place.attach("reproduction", place.attempt(2, 2), LAB)
    standing = place.standing(policy(READER))
    assert levels(place, policy(READER))["trusted"] == "L4"
    shown = [reproduction_json(standing, one) for one in standing.of("reproduction")]
    assert {(one["attempt"], one["attempts"], one["level"]) for one in shown} == {
        (1, 2, case("reproduction", "could-not-run")["level"]),
        (2, 2, "L4"),
    }


@pytest.mark.clause("bundle/one-signer-once")
def test_two_reproductions_by_one_lab_are_one_independent_one(place: Desk) -> None:
    place.sign()
    place.attach("reproduction", place.attempt(1, 2), LAB)
    place.attach("reproduction", place.attempt(2, 2), LAB)
    assert len(place.standing(policy(READER)).of("reproduction")) == 2
    assert place.standing(policy(READER)).independent == 1
    place.attach("reproduction", place.attempt(1, 1), OTHER)
    assert place.standing(policy(READER)).independent == 2


# -------------------------------------------------------------------------- requirements


def met(
    place: Desk, requirement: Requirement, trusted: Mapping[str, list[str] | None] = READER
) -> bool:
    return place.standing(policy(trusted, require=(requirement,))).met


@pytest.mark.clause("bundle/policy-fails-closed")
def test_a_requirement_is_not_met_by_nothing(place: Desk) -> None:
    assert not met(place, wanted("bundle"))
    place.sign(STRANGER)
    assert not met(place, wanted("bundle"))
    place.sign()
    assert met(place, wanted("bundle"))


@pytest.mark.clause("bundle/one-signer-once")
def test_two_are_two_identities(place: Desk) -> None:
    place.attach("reproduction", place.attempt(1, 2), LAB)
    place.attach("reproduction", place.attempt(2, 2), LAB)
    assert met(place, wanted("reproduction"))
    assert not met(place, wanted("reproduction", 2))
    place.attach("reproduction", key=STRANGER)
    assert not met(place, wanted("reproduction", 2))
    place.attach("reproduction", key=OTHER)
    assert met(place, wanted("reproduction", 2))
    assert not met(place, wanted("reproduction", 2, ("lab",)))


def test_what_is_not_signed_meets_nothing(place: Desk) -> None:
    place.attach("reproduction")
    assert not met(place, wanted("reproduction"))


def test_what_is_about_another_core_meets_nothing(place: Desk) -> None:
    place.attach("review", place.document("review", core="sha256:" + "2" * 64), LAB)
    assert not met(place, wanted("review"))


REFUTED = {"verdict": "refuted", "judged_by": "rule", "reason": "it gives 12", "outcome": "a/b"}


@pytest.mark.parametrize(
    ("kind", "name", "changes", "speaks_for_it"),
    [
        ("reproduction", "smallest", {}, True),
        ("reproduction", "could-not-run", {}, False),
        ("reproduction", "documented", {}, False),
        ("reproduction", "partial", {}, False),
        ("review", "smallest", {}, True),
        ("review", "smallest", {"claims": [REFUTED]}, False),
        ("review", "smallest", {"claims": []}, False),
        ("audit", "smallest", {}, True),
        ("audit", "hardcoded", {}, False),
        ("audit", "documented", {}, False),
        ("audit", "smallest", {"values": []}, False),
    ],
)
def test_a_requirement_is_for_what_speaks_for_a_bundle(
    place: Desk, kind: str, name: str, changes: dict[str, Any], *, speaks_for_it: bool
) -> None:
    place.attach(kind, place.document(kind, name, **changes), LAB)
    (one,) = place.read(policy({"lab": None}).trust)
    assert one.counts, one.why_not
    assert in_favour(one) is speaks_for_it
    assert met(place, wanted(kind), {"lab": None}) is speaks_for_it


# --------------------------------------------------------------------------------- views


def test_a_reproduction_is_shown_with_scores_and_without_traces(place: Desk) -> None:
    place.attach("reproduction", place.document("reproduction", "stochastic"), LAB)
    standing = place.standing(policy(READER))
    (one,) = standing.of("reproduction")
    shown = reproduction_json(standing, one)
    source = case("reproduction", "stochastic")
    assert shown["ended"] == source["ended"]
    for outcome, said in zip(shown["outcomes"], source["outcomes"], strict=True):
        kept = {"values", "half_width", "interval", "reported"} & set(said)
        assert {key: outcome[key] for key in kept} == {key: said[key] for key in kept}
        assert set(outcome).isdisjoint({"trace", "findings", "judgement"})
    assert sum(shown["agreement"].values()) == len(source["outcomes"])


@pytest.mark.parametrize(("name", "independent"), [("smallest", True), ("took-part", False)])
def test_who_took_part_is_not_shown_as_independent(
    place: Desk, name: str, *, independent: bool
) -> None:
    place.attach("review", place.document("review", name), LAB)
    (one,) = place.standing(policy(READER)).of("review")
    assert review_json(one)["independent"] is independent


def test_the_newest_is_last(place: Desk) -> None:
    for day in ("30", "28", "29"):
        place.attach("notice", place.document("notice", issued=f"2026-11-{day}T00:00:00Z"))
    found = place.standing(Policy()).of("notice")
    assert [(one.document or {})["issued"][8:10] for one in found] == ["28", "29", "30"]
