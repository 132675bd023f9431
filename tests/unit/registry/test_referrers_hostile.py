"""What a registry may answer when it is asked for statements, and must not get away with."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from rra.bundle.reference import RegistryReference
from rra.bundle.referrers import MAX_REFERRERS, companion_tag, fallback_tag
from rra.bundle.store import INDEX_TYPE, MANIFEST_TYPE, Descriptor
from rra.errors import CorruptError, FormatError, RegistryError
from rra.registry import Policy, RegistryStore, manifests, open_store, referrers
from tests.support.http_registry import (
    HttpRegistry,
    Reply,
    entry_of,
    index_of,
    sha256,
)
from tests.support.statements import REVIEW, put_blobs, statement

Open = Callable[[HttpRegistry], RegistryStore]
INDEX = {"Content-Type": INDEX_TYPE}


@pytest.fixture(params=["api", "tag"])
def listing(request: pytest.FixtureRequest, registry: HttpRegistry) -> str:
    """How the registry lists statements: by its API, or in a tag."""
    way: str = request.param
    registry.profile = "" if way == "api" else "ghcr"
    return way


def add_bundle(registry: HttpRegistry) -> Descriptor:
    data = registry.add_manifest("1.0", registry.add_blob(b"layer"))
    return Descriptor(MANIFEST_TYPE, sha256(data), len(data))


def add(registry: HttpRegistry, data: bytes) -> dict[str, Any]:
    """Put a manifest; return its entry for a list."""
    registry.manifests[sha256(data)] = (data, MANIFEST_TYPE)
    return entry_of(data)


def answer(registry: HttpRegistry, listing: str, subject: Descriptor, *entries: Any) -> None:
    """Have the registry list what it likes."""
    data = index_of(*entries)
    if listing == "api":
        registry.rules.append(
            lambda seen: Reply(200, data, INDEX) if "/referrers/" in seen.path else None
        )
    else:
        registry.manifests[fallback_tag(subject.digest)] = (data, INDEX_TYPE)


@pytest.mark.clause("bundle/subject-decides")
def test_statement_on_another_manifest(
    registry: HttpRegistry, opened: Open, listing: str, notices: list[str]
) -> None:
    subject = add_bundle(registry)
    other, good = (add(registry, statement(about, "x")) for about in (b"another bundle", subject))
    answer(registry, listing, subject, other, good)
    assert [one.digest for one in opened(registry).referrers(subject.digest)] == [good["digest"]]
    assert f"{other['digest']} is about {sha256(b'another bundle')}" in notices[-1]


@pytest.mark.clause("bundle/subject-decides")
def test_the_bundle_itself_and_a_cycle_of_subjects(
    registry: HttpRegistry, opened: Open, listing: str
) -> None:
    """A list may go in circles; the manifests cannot."""
    subject = add_bundle(registry)
    review = add(registry, statement(subject))
    bundle = {"mediaType": MANIFEST_TYPE, "digest": subject.digest, "size": subject.size}
    answer(registry, listing, subject, bundle, review, review)
    assert [one.digest for one in opened(registry).referrers(subject.digest)] == [review["digest"]]
    assert opened(registry).referrers(review["digest"]) == []


def test_manifest_of_other_bytes(registry: HttpRegistry, opened: Open, listing: str) -> None:
    subject = add_bundle(registry)
    review = add(registry, statement(subject))
    answer(registry, listing, subject, review)
    registry.manifests[review["digest"]] = (statement(subject, "evil"), MANIFEST_TYPE)
    with pytest.raises(CorruptError, match=review["digest"]):
        opened(registry).referrers(subject.digest)


def test_entry_that_is_no_manifest(
    registry: HttpRegistry, opened: Open, listing: str, notices: list[str]
) -> None:
    subject = add_bundle(registry)
    blob = registry.add_blob(statement(subject))
    answer(
        registry,
        listing,
        subject,
        {"mediaType": "application/x-tar", "digest": blob.digest, "size": blob.size},
        {"mediaType": MANIFEST_TYPE, "digest": "sha256:../../x", "size": 1},
        {"mediaType": MANIFEST_TYPE, "digest": sha256(b"x"), "size": -1},
        {"mediaType": MANIFEST_TYPE, "digest": sha256(b"x"), "size": 1 << 40},
        "text",
        None,
    )
    assert opened(registry).referrers(subject.digest) == []
    assert len(notices) == 6
    assert registry.asked("GET", blob.digest) == []


def test_manifest_that_says_another_type(
    registry: HttpRegistry, opened: Open, listing: str
) -> None:
    subject = add_bundle(registry)
    data = statement(subject, mediaType="application/x-evil")
    answer(registry, listing, subject, add(registry, data))
    with pytest.raises(CorruptError, match="application/x-evil"):
        opened(registry).referrers(subject.digest)


@pytest.mark.parametrize(
    "data", [b"[]", b"{" * 100_000, b'{"subject": 1}', b'{"subject": {"digest": "sha256:x"}}']
)
def test_manifest_that_is_none(
    registry: HttpRegistry, opened: Open, listing: str, data: bytes
) -> None:
    subject = add_bundle(registry)
    entry = {"mediaType": MANIFEST_TYPE, "digest": sha256(data), "size": len(data)}
    registry.manifests[sha256(data)] = (data, MANIFEST_TYPE)
    answer(registry, listing, subject, entry)
    assert opened(registry).referrers(subject.digest) == []


def test_statement_that_is_gone(
    registry: HttpRegistry, opened: Open, listing: str, notices: list[str]
) -> None:
    subject = add_bundle(registry)
    answer(registry, listing, subject, entry_of(statement(subject)))
    assert opened(registry).referrers(subject.digest) == []
    assert "listed and not there" in notices[-1]


def test_kind_and_annotations_are_those_of_the_manifest(
    registry: HttpRegistry, opened: Open, listing: str
) -> None:
    subject = add_bundle(registry)
    review = add(registry, statement(subject, annotations={"by": "reader"}))
    lies = {"artifactType": REVIEW, "annotations": {"by": "the editor in chief"}, "size": 7}
    answer(registry, listing, subject, review | lies)
    (found,) = opened(registry).referrers(subject.digest)
    assert found.annotations == {"by": "reader"}
    assert found.size == review["size"]


def test_kind_that_the_list_lies_about(registry: HttpRegistry, opened: Open, listing: str) -> None:
    subject = add_bundle(registry)
    review = add(registry, statement(subject))
    answer(registry, listing, subject, review | {"artifactType": "application/x-wanted"})
    assert opened(registry).referrers(subject.digest, "application/x-wanted") == []


def test_index_of_a_hundred_thousand_entries(
    registry: HttpRegistry, opened: Open, listing: str
) -> None:
    subject = add_bundle(registry)
    entries = [
        {"mediaType": MANIFEST_TYPE, "digest": f"sha256:{number:064x}", "size": 1}
        for number in range(100_000)
    ]
    answer(registry, listing, subject, *entries)
    with pytest.raises(RegistryError, match="is larger than 4194304 bytes"):
        opened(registry).referrers(subject.digest)


def test_more_entries_than_are_read(registry: HttpRegistry, opened: Open, listing: str) -> None:
    subject = add_bundle(registry)
    entries = [
        {"mediaType": MANIFEST_TYPE, "digest": f"sha256:{number:064x}", "size": 1}
        for number in range(MAX_REFERRERS + 1)
    ]
    answer(registry, listing, subject, *entries)
    before = len(registry.seen)
    with pytest.raises(RegistryError, match=f"more than {MAX_REFERRERS} statements") as caught:
        opened(registry).referrers(subject.digest)
    assert "--no-referrers" in str(caught.value.hint)
    assert len([seen for seen in registry.seen[before:] if "/manifests/sha256:" in seen.path]) == 0


def test_many_entries_on_many_pages(registry: HttpRegistry, opened: Open) -> None:
    subject = add_bundle(registry)

    def rule(seen: Any) -> Reply | None:
        if "/referrers/" not in seen.path:
            return None
        page = int(seen.query.get("page", ["0"])[0])
        entries = [
            {"mediaType": MANIFEST_TYPE, "digest": f"sha256:{page:032x}{one:032x}", "size": 1}
            for one in range(500)
        ]
        link = {"Link": f'<{seen.path}?page={page + 1}>; rel="next"'}
        return Reply(200, index_of(*entries), INDEX | link)

    registry.rules.append(rule)
    with pytest.raises(RegistryError, match=f"more than {MAX_REFERRERS} statements"):
        opened(registry).referrers(subject.digest)
    assert len(registry.asked("GET", "/referrers/")) == MAX_REFERRERS // 500 + 1


def test_pages_without_an_end(registry: HttpRegistry) -> None:
    store = open_store(RegistryReference(registry.host, "team/bundle"), policy=Policy(pages=9))
    subject = add_bundle(registry)

    def rule(seen: Any) -> Reply | None:
        link = {"Link": f'<{seen.path}?again=1>; rel="next"'}
        return Reply(200, index_of(), INDEX | link) if "/referrers/" in seen.path else None

    registry.rules.append(rule)
    with pytest.raises(RegistryError, match="lists its statements without an end"):
        store.referrers(subject.digest)
    assert len(registry.asked("GET", "/referrers/")) == 9


def test_pages_that_are_large_and_empty(
    registry: HttpRegistry, opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(manifests, "LIST_BYTES", 10_000)
    subject = add_bundle(registry)
    body = json.dumps({"manifests": [], "annotations": {"x": "x" * 3000}}).encode()

    def rule(seen: Any) -> Reply | None:
        link = {"Link": f'<{seen.path}?again=1>; rel="next"'}
        return Reply(200, body, INDEX | link) if "/referrers/" in seen.path else None

    registry.rules.append(rule)
    with pytest.raises(RegistryError, match="without an end"):
        opened(registry).referrers(subject.digest)
    assert len(registry.asked("GET", "/referrers/")) == 4


def test_manifests_that_are_large_together(
    registry: HttpRegistry, opened: Open, listing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(referrers, "LIST_BYTES", 10_000)
    subject = add_bundle(registry)
    padding = {"x": "x" * 3000}
    entries = [
        add(registry, statement(subject, str(number), annotations=padding)) for number in range(40)
    ]
    answer(registry, listing, subject, *entries[:2])
    assert len(opened(registry).referrers(subject.digest)) == 2
    registry.rules.clear()
    answer(registry, listing, subject, *entries)
    with pytest.raises(RegistryError, match="more than 10000 bytes of statements"):
        opened(registry).referrers(subject.digest)
    read = {seen.path for seen in registry.asked("GET", "/manifests/sha256:")}
    assert len(read) < 20  # the others were stopped


def test_list_that_goes_on_at_another_host(
    registry: HttpRegistry, elsewhere: HttpRegistry, opened: Open
) -> None:
    subject = add_bundle(registry)
    link = {"Link": f'<{elsewhere.url}/v2/team/bundle/referrers/{subject.digest}>; rel="next"'}
    registry.rules.append(
        lambda seen: Reply(200, index_of(), INDEX | link) if "/referrers/" in seen.path else None
    )
    with pytest.raises(RegistryError, match="continues its list of statements on another host"):
        opened(registry).referrers(subject.digest)
    assert elsewhere.seen == []


@pytest.mark.parametrize(
    "reply",
    [
        Reply(404),
        Reply(405),
        Reply(400),
        Reply(403),
        Reply(200, b"<html>no such page</html>", {"Content-Type": "text/html"}),
        Reply(200, b"{}", {"Content-Type": "application/json"}),
    ],
)
def test_answers_of_those_without_the_api(
    registry: HttpRegistry, opened: Open, reply: Reply
) -> None:
    subject = add_bundle(registry)
    review = add(registry, statement(subject))
    registry.rules.append(lambda seen: reply if "/referrers/" in seen.path else None)
    answer(registry, "tag", subject, review)
    assert [one.digest for one in opened(registry).referrers(subject.digest)] == [review["digest"]]


@pytest.mark.parametrize(
    "body", [b"[]", b"", b'{"manifests": 1}', b'{"manifests": {}}', b"[" * 9999]
)
def test_list_that_is_none(registry: HttpRegistry, opened: Open, listing: str, body: bytes) -> None:
    subject = add_bundle(registry)
    if listing == "api":
        registry.rules.append(
            lambda seen: Reply(200, body, INDEX) if "/referrers/" in seen.path else None
        )
    else:
        registry.manifests[fallback_tag(subject.digest)] = (body, INDEX_TYPE)
    with pytest.raises(FormatError):
        opened(registry).referrers(subject.digest)


def test_error_of_the_server(registry: HttpRegistry, opened: Open, listing: str) -> None:
    """It is never taken for an empty list."""
    subject = add_bundle(registry)
    part = "/referrers/" if listing == "api" else fallback_tag(subject.digest)
    registry.rules.append(lambda seen: Reply(500) if part in seen.path else None)
    with pytest.raises(RegistryError, match="500"):
        opened(registry).referrers(subject.digest)


def test_error_of_the_server_on_the_list_that_is_to_be_written(
    registry: HttpRegistry, opened: Open
) -> None:
    """A list that could not be read is not replaced."""
    registry.profile = "ghcr"
    subject = add_bundle(registry)
    tag = fallback_tag(subject.digest)
    registry.rules.append(
        lambda seen: Reply(500) if seen.method == "GET" and seen.path.endswith(tag) else None
    )
    put_blobs(opened(registry))
    with pytest.raises(RegistryError, match="500"):
        opened(registry).put_referrer(statement(subject), subject)
    assert tag not in registry.manifests


def test_tag_of_the_list_that_holds_a_bundle(registry: HttpRegistry, opened: Open) -> None:
    registry.profile = "ghcr"
    subject = add_bundle(registry)
    tag = fallback_tag(subject.digest)
    registry.manifests[tag] = before = registry.manifests["1.0"]
    with pytest.raises(FormatError, match="no list of statements"):
        opened(registry).referrers(subject.digest)
    put_blobs(opened(registry))
    with pytest.raises(FormatError, match="no list of statements"):
        opened(registry).put_referrer(statement(subject), subject)
    assert registry.manifests[tag] == before


@pytest.mark.parametrize("header", ["Docker-Content-Digest", "OCI-Subject"])
def test_header_that_lies_about_what_was_kept(
    registry: HttpRegistry, opened: Open, header: str
) -> None:
    subject = add_bundle(registry)
    registry.profile = "ghcr"

    def lies(seen: Any) -> Reply | None:
        if seen.method != "PUT" or "/manifests/sha256:" not in seen.path:
            return None
        reply = registry.plain(seen)
        reply.headers[header] = sha256(b"something else")
        return reply

    registry.rules.append(lies)
    put_blobs(opened(registry))
    data = statement(subject)
    if header == "OCI-Subject":
        # It noticed another subject: it is not known to list ours, so that we do.
        opened(registry).put_referrer(data, subject)
        assert companion_tag(subject.digest, sha256(data)) in registry.manifests
        assert fallback_tag(subject.digest) in registry.manifests
        return
    with pytest.raises(CorruptError, match="says it kept manifest"):
        opened(registry).put_referrer(data, subject)


def test_list_under_a_tag_that_the_registry_calls_another(
    registry: HttpRegistry, opened: Open
) -> None:
    registry.profile = "ghcr"
    subject = add_bundle(registry)
    answer(registry, "tag", subject, add(registry, statement(subject)))

    def lies(seen: Any) -> Reply | None:
        if not seen.path.endswith(fallback_tag(subject.digest)):
            return None
        reply = registry.plain(seen)
        reply.headers["Docker-Content-Digest"] = sha256(b"x")
        return reply

    registry.rules.append(lies)
    with pytest.raises(CorruptError, match="calls manifest"):
        opened(registry).referrers(subject.digest)


def test_escapes_reach_no_terminal(
    registry: HttpRegistry, opened: Open, listing: str, notices: list[str]
) -> None:
    subject = add_bundle(registry)
    evil = "\x1b]0;owned\x07\u202e"
    review = add(registry, statement(subject, annotations={"by": evil}))
    answer(registry, listing, subject, review, {**review, "mediaType": evil, "digest": sha256(b"")})
    (found,) = opened(registry).referrers(subject.digest)
    assert found.annotations == {"by": evil}  # as it is; whoever shows it makes it harmless
    assert "is listed as" in notices[-1]
    assert not set("".join(notices)) & set("\x1b\x07\u202e")


def test_companion_tag_of_something_else_is_not_listed(
    registry: HttpRegistry, opened: Open
) -> None:
    """Anybody who may push can set such a tag."""
    registry.profile = "ghcr"
    subject = add_bundle(registry)
    for evil in (statement(b"another bundle"), b"[]", b'{"subject": 1}'):
        registry.manifests[companion_tag(subject.digest, sha256(evil))] = (evil, MANIFEST_TYPE)
    put_blobs(opened(registry))
    kept = opened(registry).put_referrer(statement(subject), subject)
    data, _ = registry.manifests[fallback_tag(subject.digest)]
    assert [entry["digest"] for entry in json.loads(data)["manifests"]] == [kept.digest]
