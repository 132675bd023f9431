"""Statements in registries, with the referrers API and without it."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from rra.bundle.referrers import companion_tag, fallback_tag
from rra.bundle.store import INDEX_TYPE, MANIFEST_TYPE, Descriptor
from rra.errors import FormatError, RegistryError
from rra.registry import RegistryStore
from tests.support.http_registry import (
    QUIRKS,
    HttpRegistry,
    Reply,
    Seen,
    entry_of,
    index_of,
    sha256,
)
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


@pytest.mark.clause("bundle/reserved-tags")
@pytest.mark.parametrize("profile", QUIRKS)
def test_bundles_are_all_that_is_listed(registry: HttpRegistry, opened: Open, profile: str) -> None:
    registry.profile = profile
    attach(opened(registry), add_bundle(registry), "fine")
    assert opened(registry).tags() == ["1.0"]
    assert opened(registry).get_manifest(None)[0] == registry.manifests["1.0"][0]


def test_with_the_api_no_tag_is_made(registry: HttpRegistry, opened: Open) -> None:
    attach(opened(registry), add_bundle(registry), "fine")
    assert {tag for tag in registry.manifests if ":" not in tag} == {"1.0"}


@pytest.mark.clause("bundle/companion-tag")
@pytest.mark.clause("bundle/fallback-tag")
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


# ------------------------------------------------------------- two writers of one list


class Turns:
    """Answers as the registry does, and runs something right after chosen writes of the list."""

    def __init__(
        self, registry: HttpRegistry, subject: Descriptor, *after: Callable[[], None]
    ) -> None:
        self.registry, self.path = registry, f"/{fallback_tag(subject.digest)}"
        self.after = list(after)
        self.writes = 0
        registry.rules.append(self)

    def __call__(self, seen: Seen) -> Reply | None:
        if seen.method != "PUT" or not seen.path.endswith(self.path):
            return None
        self.writes += 1
        reply = self.registry.plain(seen)
        if self.after:
            self.after.pop(0)()
        return reply


@pytest.fixture
def plain(registry: HttpRegistry) -> HttpRegistry:
    """A registry without the referrers API."""
    registry.profile = "distribution-2.8"
    return registry


def overwrite(registry: HttpRegistry, subject: Descriptor, *entries: dict[str, Any]) -> None:
    """Write the list as somebody does who did not read it again."""
    data = index_of(*entries)
    tag = fallback_tag(subject.digest)
    registry.manifests[tag] = registry.manifests[sha256(data)] = (data, INDEX_TYPE)


@pytest.mark.clause("bundle/fallback-verified")
def test_a_list_that_another_writer_replaced_is_written_again(
    plain: HttpRegistry, opened: Open
) -> None:
    subject = add_bundle(plain)
    theirs = entry_of(statement(subject, "theirs"))
    turns = Turns(plain, subject, lambda: overwrite(plain, subject, theirs))
    ours = attach(opened(plain), subject, "ours")
    assert turns.writes == 2
    assert [entry["digest"] for entry in index(plain, subject)] == [theirs["digest"], ours.digest]


def test_after_three_writes_it_is_said_that_others_write(plain: HttpRegistry, opened: Open) -> None:
    subject = add_bundle(plain)
    turns = Turns(plain, subject, *[lambda: overwrite(plain, subject)] * 9)
    with pytest.raises(RegistryError, match="replaced by somebody else 3 times") as caught:
        attach(opened(plain), subject, "ours")
    assert "again" in str(caught.value.hint)
    assert turns.writes == 3


@pytest.mark.clause("bundle/fallback-verified")
def test_a_writer_that_read_too_early_sees_what_came_meanwhile(
    plain: HttpRegistry, opened: Open
) -> None:
    """The other one is done, and content, before the first one writes without its statement."""
    subject = add_bundle(plain)
    kept: list[Descriptor] = []

    def other(seen: Seen) -> Reply | None:
        if seen.method == "PUT" and seen.path.endswith(f"/{fallback_tag(subject.digest)}"):
            plain.rules.remove(other)
            kept.append(attach(opened(plain), subject, "theirs"))
        return None

    plain.rules.append(other)
    kept.append(attach(opened(plain), subject, "ours"))
    assert {entry["digest"] for entry in index(plain, subject)} == {one.digest for one in kept}
    assert {one.digest for one in opened(plain).referrers(subject.digest)} == {
        one.digest for one in kept
    }


def test_two_writers_at_once_lose_nothing(plain: HttpRegistry, opened: Open) -> None:
    """Both read the empty list before either writes."""
    subject = add_bundle(plain)
    gate = threading.Barrier(2, timeout=30)
    waited = threading.local()

    def together(seen: Seen) -> Reply | None:
        lists = seen.method == "PUT" and seen.path.endswith(f"/{fallback_tag(subject.digest)}")
        if lists and not getattr(waited, "once", False) and not gate.broken:
            waited.once = True
            with contextlib.suppress(threading.BrokenBarrierError):
                gate.wait()
                gate.abort()
        return None

    plain.rules.append(together)
    with ThreadPoolExecutor(2) as pool:
        kept = list(pool.map(lambda text: attach(opened(plain), subject, text), ["one", "two"]))
    assert {entry["digest"] for entry in index(plain, subject)} == {one.digest for one in kept}


def test_a_statement_that_a_list_lost_comes_back_with_the_next(
    plain: HttpRegistry, opened: Open
) -> None:
    subject = add_bundle(plain)
    first = attach(opened(plain), subject, "first")
    overwrite(plain, subject)
    second = attach(opened(plain), subject, "second")
    listed = {entry["digest"] for entry in index(plain, subject)}
    assert listed == {first.digest, second.digest}


@pytest.mark.clause("bundle/fallback-tag")
def test_entries_of_others_stay_as_they_came(plain: HttpRegistry, opened: Open) -> None:
    subject = add_bundle(plain)
    data = statement(subject, "theirs")
    plain.manifests[sha256(data)] = (data, MANIFEST_TYPE)
    theirs = {**entry_of(data), "platform": {"os": "linux"}, "x": [1]}
    overwrite(plain, subject, theirs)
    attach(opened(plain), subject, "ours")
    assert index(plain, subject)[0] == theirs


def test_entries_that_are_gone_are_dropped_where_the_registry_minds(
    plain: HttpRegistry, opened: Open
) -> None:
    subject = add_bundle(plain)
    overwrite(plain, subject, entry_of(statement(subject, "gone")))

    def minds(seen: Seen) -> Reply | None:
        if seen.method == "PUT" and seen.path.endswith(f"/{fallback_tag(subject.digest)}"):
            named = [entry["digest"] for entry in json.loads(seen.body)["manifests"]]
            if not set(named) <= set(plain.manifests):
                return Reply(400, b'{"errors": [{"code": "MANIFEST_BLOB_UNKNOWN"}]}')
        return None

    plain.rules.append(minds)
    ours = attach(opened(plain), subject, "ours")
    assert [entry["digest"] for entry in index(plain, subject)] == [ours.digest]


def test_who_may_not_list_tags_may_still_attach(plain: HttpRegistry, opened: Open) -> None:
    subject = add_bundle(plain)
    plain.rules.append(lambda seen: Reply(403) if "/tags/" in seen.target else None)
    ours = attach(opened(plain), subject, "ours")
    assert [entry["digest"] for entry in index(plain, subject)] == [ours.digest]
