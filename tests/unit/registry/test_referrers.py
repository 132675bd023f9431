"""Statements in registries, with the referrers API and without it."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from rra.bundle.referrers import companion_tag, fallback_tag
from rra.bundle.store import INDEX_TYPE, MANIFEST_TYPE, Descriptor
from rra.errors import FormatError
from rra.registry import RegistryStore
from tests.support.http_registry import QUIRKS, HttpRegistry, sha256
from tests.support.statements import AUDIT, REVIEW, put_blobs, statement

Open = Callable[[HttpRegistry], RegistryStore]
WITHOUT = [profile for profile in QUIRKS if profile]


def add_bundle(registry: HttpRegistry, tag: str = "1.0") -> Descriptor:
    data = registry.add_manifest(tag, registry.add_blob(b"layer"))
    return Descriptor(MANIFEST_TYPE, sha256(data), len(data))


def attach(store: RegistryStore, subject: Descriptor, text: str, **more: Any) -> Descriptor:
    put_blobs(store, text)
    return store.put_referrer(statement(subject, text, **more), subject)


def index(registry: HttpRegistry, subject: Descriptor) -> list[dict[str, Any]]:
    """Return what the list of a subject names, without code of ours."""
    data, kind = registry.manifests["sha256-" + subject.digest.removeprefix("sha256:")]
    assert kind == INDEX_TYPE
    listed: list[dict[str, Any]] = json.loads(data)["manifests"]
    return listed


@pytest.mark.parametrize("profile", QUIRKS)
def test_a_statement_is_found_by_what_it_is_about(
    registry: HttpRegistry, opened: Open, profile: str
) -> None:
    registry.profile = profile
    subject = add_bundle(registry)
    assert opened(registry).referrers(subject.digest) == []
    note = {"org.example.by": "reader"}
    kept = attach(opened(registry), subject, "fine", annotations=note)
    data = statement(subject, "fine", annotations=note)
    assert (kept.digest, kept.size) == (sha256(data), len(data))
    (found,) = opened(registry).referrers(subject.digest)
    assert found == kept
    assert (found.artifact_type, found.annotations) == (REVIEW, note)
    assert opened(registry).get_manifest(found.digest)[0] == data


@pytest.mark.parametrize("profile", QUIRKS)
def test_bundles_are_all_that_is_listed(registry: HttpRegistry, opened: Open, profile: str) -> None:
    registry.profile = profile
    attach(opened(registry), add_bundle(registry), "fine")
    assert opened(registry).tags() == ["1.0"]
    assert opened(registry).get_manifest(None)[0] == registry.manifests["1.0"][0]


def test_with_the_api_no_tag_is_made(registry: HttpRegistry, opened: Open) -> None:
    attach(opened(registry), add_bundle(registry), "fine")
    assert {tag for tag in registry.manifests if ":" not in tag} == {"1.0"}


@pytest.mark.parametrize("profile", WITHOUT)
def test_without_the_api_a_list_and_a_tag_for_each_are_kept(
    registry: HttpRegistry, opened: Open, profile: str
) -> None:
    registry.profile = profile
    subject = add_bundle(registry)
    one, two = (attach(opened(registry), subject, text) for text in ("one", "two"))
    assert [entry["digest"] for entry in index(registry, subject)] == [one.digest, two.digest]
    assert {entry["artifactType"] for entry in index(registry, subject)} == {REVIEW}
    for kept in (one, two):
        data, _ = registry.manifests[companion_tag(subject.digest, kept.digest)]
        assert sha256(data) == kept.digest


def test_the_same_statement_twice_is_one(registry: HttpRegistry, opened: Open) -> None:
    registry.profile = "ghcr"
    subject = add_bundle(registry)
    attach(opened(registry), subject, "fine")
    attach(opened(registry), subject, "fine")
    lists = [s for s in registry.asked("PUT") if s.path.endswith(fallback_tag(subject.digest))]
    assert len(lists) == 1
    assert len(index(registry, subject)) == 1


def test_pages_are_followed(registry: HttpRegistry, opened: Open) -> None:
    registry.page = 2
    subject = add_bundle(registry)
    kept = {attach(opened(registry), subject, str(number)).digest for number in range(5)}
    assert {one.digest for one in opened(registry).referrers(subject.digest)} == kept
    assert len(registry.asked("GET", "/referrers/")) == 3


@pytest.mark.parametrize("filters", ["keeps", "ignores"])
def test_a_kind_is_asked_for_and_checked_here(
    registry: HttpRegistry, opened: Open, filters: str
) -> None:
    """A registry may leave the filter out; what comes is the same."""
    registry.filters = filters == "keeps"
    subject = add_bundle(registry)
    attach(opened(registry), subject, "one")
    audit = attach(opened(registry), subject, "two", kind=AUDIT)
    assert opened(registry).referrers(subject.digest, AUDIT) == [audit]
    assert registry.asked("GET", "/referrers/")[0].query == {"artifactType": [AUDIT]}


def test_what_is_about_something_else_is_not_sent(registry: HttpRegistry, opened: Open) -> None:
    subject = add_bundle(registry)
    with pytest.raises(FormatError, match="is about sha256:"):
        opened(registry).put_referrer(statement(b"another"), subject)
    assert not registry.asked("PUT")
