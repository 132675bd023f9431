"""Blobs and manifests of a registry: nothing is believed, nothing is half-written."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from rra.bundle.layout import LayoutStore
from rra.bundle.reference import RegistryReference
from rra.bundle.store import INDEX_TYPE, MANIFEST_TYPE, Descriptor, resolve
from rra.errors import CorruptError, FormatError, RegistryError, UsageError
from rra.registry import Policy, RegistryStore, open_store
from rra.registry.transfer import transfer
from tests.support.http_registry import (
    BreakOffError,
    HttpRegistry,
    Reply,
    Rule,
    Seen,
    chunked,
    sha256,
)

Open = Callable[[HttpRegistry], RegistryStore]
DATA = b"the numbers of the paper\n" * 100_000


def when(method: str, part: str, *replies: Reply) -> Rule:
    """Answer the first requests of a kind with these replies, one each."""
    left = list(replies)

    def rule(seen: Seen) -> Reply | None:
        return left.pop(0) if left and seen.method == method and part in seen.target else None

    return rule


def read(store: RegistryStore, descriptor: Descriptor) -> bytes:
    with store.open(descriptor) as stream:
        return stream.read()


# ------------------------------------------------------------------------------- reading


def test_a_blob_comes_back(registry: HttpRegistry, opened: Open) -> None:
    blob = registry.add_blob(DATA)
    store = opened(registry)
    assert read(store, blob) == DATA
    assert store.has(blob.digest)
    assert not store.has(sha256(b"another"))


def test_a_blob_is_asked_for_as_it_is_stored(registry: HttpRegistry, opened: Open) -> None:
    read(opened(registry), registry.add_blob(b"x"))
    assert registry.asked("GET", "/blobs/")[0].headers["accept-encoding"] == "identity"


def test_an_empty_blob_goes_there_and_back(registry: HttpRegistry, opened: Open) -> None:
    store = opened(registry)
    blob = store.put([], "application/x-test")
    assert (blob.size, registry.blobs[blob.digest], read(store, blob)) == (0, b"", b"")


def test_a_tampered_blob_is_refused(registry: HttpRegistry, opened: Open) -> None:
    blob = registry.add_blob(DATA)
    registry.blobs[blob.digest] = DATA[:-1] + b"!"
    with pytest.raises(CorruptError, match="has other content") as caught:
        read(opened(registry), blob)
    assert blob.digest in caught.value.message
    assert registry.host in caught.value.message


@pytest.mark.parametrize("change", [b"", DATA[:-1], DATA + b"x"], ids=["empty", "short", "long"])
def test_a_blob_of_another_declared_length_is_refused(
    registry: HttpRegistry, opened: Open, change: bytes
) -> None:
    blob = registry.add_blob(DATA)
    registry.blobs[blob.digest] = change
    with pytest.raises(CorruptError, match=f"{len(change)} bytes where the manifest says"):
        read(opened(registry), blob)


@pytest.mark.parametrize(
    ("change", "fault"),
    [(DATA[:-1], f"ends after {len(DATA) - 1} of {len(DATA)} bytes"), (DATA + b"x", "is longer")],
    ids=["short", "long"],
)
def test_a_blob_of_another_undeclared_length_is_refused(
    registry: HttpRegistry, opened: Open, change: bytes, fault: str
) -> None:
    blob = registry.add_blob(DATA)
    reply = Reply(200, chunked(change), {"Transfer-Encoding": "chunked"})
    registry.rules.append(when("GET", "/blobs/", reply))
    with pytest.raises(CorruptError, match=fault):
        read(opened(registry), blob)


def test_a_blob_without_an_end_is_not_read_to_it(registry: HttpRegistry, opened: Open) -> None:
    blob = registry.add_blob(b"x" * 10)
    reply = Reply(200, DATA, {"Transfer-Encoding": "identity"}, stalls=True)
    registry.rules.append(when("GET", "/blobs/", reply))
    with pytest.raises(CorruptError, match="longer than the 10 bytes"):
        read(opened(registry), blob)


def test_a_connection_that_breaks_is_no_end_of_a_blob(registry: HttpRegistry, opened: Open) -> None:
    blob = registry.add_blob(DATA)
    reply = Reply(200, DATA[:-1], {"Content-Length": str(len(DATA))}, breaks=True)
    registry.rules.append(when("GET", "/blobs/", reply))
    with pytest.raises(RegistryError, match="broke") as caught:
        read(opened(registry), blob)
    assert caught.value.exit_code == 3
    assert registry.host in caught.value.message


def test_a_registry_that_stalls_is_given_up(registry: HttpRegistry) -> None:
    blob = registry.add_blob(DATA)
    reply = Reply(200, DATA[:1000], {"Content-Length": str(len(DATA))}, stalls=True)
    registry.rules.append(when("GET", "/blobs/", reply))
    reference = RegistryReference(registry.host, "x")
    store = open_store(reference, policy=Policy(idle_seconds=0.2))
    with pytest.raises(RegistryError, match="does not answer in time"):
        read(store, blob)


def test_a_missing_blob_is_named(registry: HttpRegistry, opened: Open) -> None:
    blob = Descriptor("application/x-test", sha256(b"gone"), 4)
    with pytest.raises(CorruptError, match=f"{blob.digest} is missing"):
        read(opened(registry), blob)


def test_a_compressed_answer_is_refused(registry: HttpRegistry, opened: Open) -> None:
    blob = registry.add_blob(b"x" * 1000)
    packed = gzip.compress(b"x" * 1000)
    reply = Reply(200, packed, {"Content-Encoding": "gzip"})
    registry.rules.append(when("GET", "/blobs/", reply))
    with pytest.raises(RegistryError, match="Content-Encoding gzip"):
        read(opened(registry), blob)


@pytest.mark.parametrize(
    "digest",
    ["sha256:../../x", "sha256:" + "A" * 64, "sha256:abc", "md5:" + "0" * 32, "sha256:" + "0" * 65],
)
def test_what_is_no_digest_is_never_asked_for(
    registry: HttpRegistry, opened: Open, digest: str
) -> None:
    store = opened(registry)
    before = len(registry.seen)
    with pytest.raises(UsageError, match="not a digest"):
        store.has(digest)
    with pytest.raises(UsageError, match="not a digest"):
        read(store, Descriptor("application/x-test", digest, 1))
    assert len(registry.seen) == before


# ----------------------------------------------------------------------------- manifests


def test_a_tag_gives_its_manifest(registry: HttpRegistry, opened: Open, notices: list[str]) -> None:
    data = registry.add_manifest("1.0")
    assert opened(registry).get_manifest("1.0") == (
        data,
        Descriptor(MANIFEST_TYPE, sha256(data), len(data)),
    )
    assert notices == [f"{registry.host}/team/bundle:1.0 is {sha256(data)}"]


def test_a_manifest_that_is_not_the_digest_asked_for(registry: HttpRegistry, opened: Open) -> None:
    data = registry.add_manifest("1.0")
    wanted = sha256(b"another manifest")
    registry.manifests[wanted] = (data, MANIFEST_TYPE)
    store = opened(registry)
    with pytest.raises(CorruptError, match=wanted):
        store.get_manifest(wanted)
    with pytest.raises(CorruptError, match=wanted):
        resolve(store, "1.0", wanted)


def test_a_lying_content_digest(registry: HttpRegistry, opened: Open) -> None:
    data = registry.add_manifest("1.0")
    lie = sha256(b"a lie")
    headers = {"Content-Type": MANIFEST_TYPE, "Docker-Content-Digest": lie}
    registry.rules.append(when("GET", "/manifests/", Reply(200, data, headers)))
    with pytest.raises(CorruptError, match=lie):
        opened(registry).get_manifest("1.0")


def test_a_manifest_of_another_type_than_it_says(registry: HttpRegistry, opened: Open) -> None:
    data = registry.add_manifest("1.0")
    registry.manifests["1.0"] = (data, INDEX_TYPE)
    with pytest.raises(CorruptError, match="which says"):
        opened(registry).get_manifest("1.0")


def test_a_manifest_larger_than_any(registry: HttpRegistry, opened: Open) -> None:
    huge = b'{"mediaType": "' + b"x" * (4 << 20) + b'"}'
    registry.manifests["1.0"] = (huge, MANIFEST_TYPE)
    with pytest.raises(RegistryError, match="larger than 4194304 bytes"):
        opened(registry).get_manifest("1.0")


def test_a_tag_that_is_not_there_names_those_that_are(registry: HttpRegistry, opened: Open) -> None:
    registry.add_manifest("2.0")
    registry.add_manifest("1.0")
    with pytest.raises(UsageError, match=r"has no bundle 3\.0") as caught:
        opened(registry).get_manifest("3.0")
    assert caught.value.hint == "its tags: 1.0, 2.0"


def test_the_only_tag_is_meant_when_none_is_named(registry: HttpRegistry, opened: Open) -> None:
    data = registry.add_manifest("1.0")
    assert opened(registry).get_manifest(None)[0] == data
    registry.add_manifest("2.0")
    with pytest.raises(UsageError, match="has 2 tags") as caught:
        opened(registry).get_manifest(None)
    assert caught.value.hint == "name one of its tags: 1.0, 2.0"


def test_a_tag_that_moves_meanwhile_changes_nothing(
    registry: HttpRegistry, opened: Open, tmp_path: Path
) -> None:
    old = registry.add_manifest("1.0", registry.add_blob(b"old"))

    def moves(seen: Seen) -> Reply | None:
        if "/blobs/" in seen.target:
            registry.add_manifest("1.0", registry.add_blob(b"new"))
        return None

    registry.rules.append(moves)
    store = opened(registry)
    other = LayoutStore(tmp_path / "layout")
    result = transfer(store, other, wanted=("1.0", None), tag="1.0")
    assert result.descriptor.digest == sha256(old)
    assert other.get_manifest("1.0")[0] == old
    assert [seen.path for seen in registry.asked("GET", "/manifests/")] == [
        "/v2/team/bundle/manifests/1.0"
    ]


def test_a_registry_that_keeps_another_manifest(registry: HttpRegistry, opened: Open) -> None:
    lie = {"Docker-Content-Digest": sha256(b"rewritten")}
    registry.rules.append(when("PUT", "/manifests/", Reply(201, headers=lie)))
    with pytest.raises(CorruptError, match="says it kept manifest"):
        opened(registry).put_manifest(b"{}", "1.0")


def test_a_manifest_goes_under_its_digest_without_a_tag(
    registry: HttpRegistry, opened: Open
) -> None:
    kept = opened(registry).put_manifest(b"{}", None)
    assert registry.manifests == {sha256(b"{}"): (b"{}", MANIFEST_TYPE)}
    assert kept.digest == sha256(b"{}")


def test_an_index_is_not_taken_for_a_bundle(
    registry: HttpRegistry, opened: Open, tmp_path: Path
) -> None:
    data = json.dumps({"schemaVersion": 2, "mediaType": INDEX_TYPE, "manifests": []}).encode()
    registry.manifests["1.0"] = (data, INDEX_TYPE)
    with pytest.raises(FormatError, match="not one bundle"):
        transfer(opened(registry), LayoutStore(tmp_path / "x"), wanted=("1.0", None), tag=None)
    assert not (tmp_path / "x").exists()


# ------------------------------------------------------------------------------- writing


def test_a_push_asks_before_it_sends(registry: HttpRegistry, opened: Open) -> None:
    store = opened(registry)
    first = store.put([b"abc", b"def"], "application/x-test")
    again = store.put([b"abcdef"], "application/x-test")
    assert first == again == Descriptor("application/x-test", sha256(b"abcdef"), 6)
    assert [(seen.method, seen.path) for seen in registry.seen if seen.path != "/v2/"] == [
        ("HEAD", f"/v2/team/bundle/blobs/{first.digest}"),
        ("POST", "/v2/team/bundle/blobs/uploads/"),
        ("PUT", "/v2/team/bundle/blobs/uploads/session"),
        ("HEAD", f"/v2/team/bundle/blobs/{first.digest}"),
    ]
    put = registry.asked("PUT")[0]
    assert put.query == {"state": ["a+b"], "digest": [first.digest]}
    assert put.headers["content-length"] == "6"
    assert put.headers["content-type"] == "application/octet-stream"
    assert "transfer-encoding" not in put.headers


@pytest.mark.parametrize(
    ("chunks", "fault"),
    [
        ([DATA[:-1], b"!"], "has other content"),
        ([DATA[:-1]], "ends after"),
        ([DATA, b"!"], "is longer"),
    ],
    ids=["other", "short", "long"],
)
def test_a_wrong_blob_is_never_completed(
    registry: HttpRegistry, opened: Open, chunks: list[bytes], fault: str
) -> None:
    blob = Descriptor("application/x-test", sha256(DATA), len(DATA))
    with pytest.raises(CorruptError, match=fault):
        opened(registry).put_blob(blob, chunks)
    assert registry.blobs == {}


def test_a_push_that_is_cut_off_is_sent_again(
    registry: HttpRegistry, opened: Open, waits: list[float]
) -> None:
    registry.read_limit = len(DATA) * 9 // 10
    blob = Descriptor("application/x-test", sha256(DATA), len(DATA))
    opened(registry).put_blob(blob, [DATA])
    assert registry.blobs == {blob.digest: DATA}
    assert len(registry.asked("POST")) == 2
    assert waits == [0.5]


def test_chunks_that_pass_only_once_are_not_sent_again(
    registry: HttpRegistry, opened: Open, waits: list[float]
) -> None:
    registry.read_limit = 1000
    blob = Descriptor("application/x-test", sha256(DATA), len(DATA))
    with pytest.raises(RegistryError, match="broke") as caught:
        opened(registry).put_blob(blob, iter([DATA]))
    assert caught.value.exit_code == 3
    assert (registry.blobs, waits) == ({}, [])


def test_a_blob_too_large_for_the_registry(registry: HttpRegistry, opened: Open) -> None:
    registry.rules.append(when("PUT", "/uploads/", Reply(413)))
    with pytest.raises(RegistryError, match="413") as caught:
        opened(registry).put([b"x"], "application/x-test")
    assert "no blob of this size" in caught.value.hint


# -------------------------------------------------------------------------- busy, failing


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504])
def test_a_busy_registry_is_asked_again(
    registry: HttpRegistry, opened: Open, waits: list[float], notices: list[str], status: int
) -> None:
    blob = registry.add_blob(DATA)
    registry.rules.append(when("GET", "/blobs/", Reply(status), Reply(status)))
    assert read(opened(registry), blob) == DATA
    assert waits == [0.5, 1.0]
    assert notices[0] == f"{registry.host} answers {status}; asking again in 0.5 s"


@pytest.mark.parametrize(
    ("header", "wait"),
    [("2", 2.0), ("0", 0.0), ("86400", 30.0), ("9" * 5000, 30.0), ("soon", 0.5), ("-1", 0.5)],
)
def test_retry_after_is_kept_within_bounds(
    registry: HttpRegistry, opened: Open, waits: list[float], header: str, wait: float
) -> None:
    blob = registry.add_blob(DATA)
    registry.rules.append(when("GET", "/blobs/", Reply(429, headers={"Retry-After": header})))
    assert read(opened(registry), blob) == DATA
    assert waits == [wait]


def test_a_registry_that_stays_busy_is_given_up(
    registry: HttpRegistry, opened: Open, waits: list[float]
) -> None:
    blob = registry.add_blob(DATA)
    said = b'{"errors": [{"code": "TOOMANYREQUESTS", "message": "slow\\u001b[31m down"}]}'
    registry.rules.append(lambda seen: Reply(429, said) if "/blobs/" in seen.target else None)
    with pytest.raises(RegistryError, match=r"429 .*TOOMANYREQUESTS: slow") as caught:
        read(opened(registry), blob)
    assert caught.value.exit_code == 3
    assert "wait a while" in caught.value.hint
    assert (len(registry.asked("GET", "/blobs/")), len(waits)) == (4, 3)


def test_an_upload_that_fails_starts_anew(
    registry: HttpRegistry, opened: Open, waits: list[float]
) -> None:
    registry.rules.append(when("PUT", "/uploads/", Reply(503, headers={"Retry-After": "3"})))
    blob = opened(registry).put([DATA], "application/x-test")
    assert registry.blobs == {blob.digest: DATA}
    assert (len(registry.asked("POST")), len(registry.asked("PUT")), waits) == (2, 2, [3.0])


def test_a_dropped_question_is_asked_again(
    registry: HttpRegistry, opened: Open, waits: list[float]
) -> None:
    blob = registry.add_blob(DATA)
    dropped: list[Seen] = []

    def drop_once(seen: Seen) -> None:
        if "/blobs/" in seen.target and not dropped:
            dropped.append(seen)
            raise BreakOffError

    registry.rules.append(drop_once)
    assert read(opened(registry), blob) == DATA
    assert waits == [0.5]


def test_other_refusals_are_not_asked_again(
    registry: HttpRegistry, opened: Open, waits: list[float]
) -> None:
    registry.rules.append(when("HEAD", "/blobs/", Reply(400)))
    with pytest.raises(RegistryError, match="400"):
        opened(registry).has(sha256(b""))
    assert waits == []


# ---------------------------------------------------------------------------------- tags


def test_tags_of_all_pages_are_sorted(registry: HttpRegistry, opened: Open) -> None:
    link = {"Link": '</v2/team/bundle/tags/list?last=b>; rel="next"'}
    registry.rules.append(
        when(
            "GET",
            "/tags/list",
            Reply(200, b'{"tags": ["b", "2.0"]}', link),
            Reply(200, b'{"tags": ["1.0", "b", "../x", 7]}'),
        )
    )
    assert opened(registry).tags() == ["1.0", "2.0", "b"]
    assert registry.asked("GET", "/tags/list")[1].query == {"last": ["b"]}


@pytest.mark.parametrize("body", [b'{"tags": null}', b'{"tags": []}'])
def test_no_tags_at_all(registry: HttpRegistry, opened: Open, body: bytes) -> None:
    registry.rules.append(when("GET", "/tags/list", Reply(200, body)))
    assert opened(registry).tags() == []


@pytest.mark.parametrize("body", [b"<html>", b"[]", b"{}", b'{"tags": {"a": 1}}', b"[" * 100_000])
def test_a_list_of_tags_that_is_none(registry: HttpRegistry, opened: Open, body: bytes) -> None:
    registry.rules.append(when("GET", "/tags/list", Reply(200, body)))
    with pytest.raises(RegistryError, match="no list of tags"):
        opened(registry).tags()


def test_pages_without_an_end(registry: HttpRegistry) -> None:
    link = {"Link": '</v2/x/tags/list?last=a>; rel="next"'}
    registry.rules.append(
        lambda seen: Reply(200, b'{"tags": ["a"]}', link) if "/tags/" in seen.target else None
    )
    store = open_store(RegistryReference(registry.host, "x"), policy=Policy(pages=7))
    with pytest.raises(RegistryError, match="without an end"):
        store.tags()
    assert len(registry.asked("GET", "/tags/list")) == 7


def test_pages_on_another_host_are_not_read(
    registry: HttpRegistry, elsewhere: HttpRegistry, opened: Open
) -> None:
    link = {"Link": f'<{elsewhere.url}/v2/team/bundle/tags/list>; rel="next"'}
    registry.rules.append(when("GET", "/tags/list", Reply(200, b'{"tags": ["a"]}', link)))
    with pytest.raises(RegistryError, match="another host"):
        opened(registry).tags()
    assert elsewhere.seen == []
