"""Statements travel with their bundle, between any two places, and the digests stay."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from rra.api import copy
from rra.bundle.archive import ArchiveStore
from rra.bundle.layout import LayoutStore
from rra.bundle.referrers import fallback_tag
from rra.bundle.store import (
    INDEX_TYPE,
    MANIFEST_TYPE,
    BlobStore,
    Descriptor,
    read_blob,
    resolve,
)
from rra.errors import CorruptError, FormatError, RegistryError, UsageError
from rra.registry import RegistryStore, graph
from rra.registry.transfer import transfer
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

Open = Callable[..., RegistryStore]
Places = Callable[[str, str], BlobStore]
FORMS = ["folder", "file", "api", "tag"]
BUNDLE = (
    b'{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json","config":%s,'
    b'"layers":[]}'
)


@pytest.fixture
def places(registry: HttpRegistry, elsewhere: HttpRegistry, opened: Open, tmp_path: Path) -> Places:
    """Gives a store of some form; each name is a place of its own."""
    registry.profile, elsewhere.profile = "", "distribution-2.8"

    def give(form: str, name: str) -> BlobStore:
        if form == "folder":
            return LayoutStore(tmp_path / name)
        if form == "file":
            return ArchiveStore(tmp_path / f"{name}.tar")
        # Each place has a server of its own: this double keeps manifests of all repositories.
        return opened(registry if form == "api" else elsewhere, f"team/{name}")

    return give


def fill(store: BlobStore, tag: str = "1.0") -> tuple[Descriptor, list[bytes]]:
    """Put a bundle with a review that is signed, and an audit; return them."""
    with store.writing():
        config = store.put([b"{}"], "application/x-config")
        data = BUNDLE % str(config.to_json()).replace("'", '"').encode()
        subject = store.put_manifest(data, tag)
        manifests = []
        for text, kind in [("fine", REVIEW), ("passed", AUDIT)]:
            put_blobs(store, text)
            manifests.append(statement(subject, text, kind))
            store.put_referrer(manifests[-1], subject)
        put_blobs(store, "signed")
        manifests.append(statement(manifests[0], "signed", "application/x-signature"))
        review = Descriptor(MANIFEST_TYPE, sha256(manifests[0]), len(manifests[0]))
        store.put_referrer(manifests[-1], review)
    return subject, manifests


def check(store: BlobStore, subject: Descriptor, manifests: list[bytes]) -> None:
    """See that all is there, found by what it is about, with its blobs."""
    review, audit, signature = (sha256(data) for data in manifests)
    assert {one.digest for one in store.referrers(subject.digest)} == {review, audit}
    assert [one.digest for one in store.referrers(review)] == [signature]
    for data, text in zip(manifests, [b"fine", b"passed", b"signed"], strict=True):
        assert store.get_manifest(sha256(data))[0] == data
        assert read_blob(store, Descriptor(REVIEW, sha256(text), len(text)), 100) == text
    assert store.tags() == ["1.0"]


@pytest.mark.clause("bundle/statements-travel")
@pytest.mark.parametrize("target", FORMS)
@pytest.mark.parametrize("source", FORMS)
def test_statements_go_from_every_form_to_every_other(
    places: Places, source: str, target: str
) -> None:
    subject, manifests = fill(places(source, "one"))
    done = transfer(places(source, "one"), places(target, "two"), wanted=("1.0", None), tag="1.0")
    assert {one.digest for one in done.referrers} == {sha256(data) for data in manifests}
    assert done.descriptor.digest == subject.digest
    check(places(target, "two"), subject, manifests)


@pytest.mark.parametrize("target", FORMS)
def test_again_sends_nothing(places: Places, target: str) -> None:
    subject, manifests = fill(places("folder", "one"))
    for _ in range(2):
        done = transfer(
            places("folder", "one"), places(target, "two"), wanted=("1.0", None), tag="1.0"
        )
    assert len(done.referrers) == 3
    if target != "file":  # which is made anew
        assert not any(blob.copied for blob in done.blobs)
    check(places(target, "two"), subject, manifests)


@pytest.mark.parametrize("target", ["folder", "api", "tag"])
def test_statements_that_are_there_stay(places: Places, target: str) -> None:
    subject, manifests = fill(places("folder", "one"))
    transfer(places("folder", "one"), places(target, "two"), wanted=("1.0", None), tag="1.0")
    with places(target, "two").writing():
        pass
    store = places(target, "two")
    with store.writing():
        put_blobs(store, "theirs")
        theirs = store.put_referrer(statement(subject, "theirs"), subject)
    transfer(places("folder", "one"), places(target, "two"), wanted=("1.0", None), tag="1.0")
    found = {one.digest for one in places(target, "two").referrers(subject.digest)}
    assert found == {theirs.digest, sha256(manifests[0]), sha256(manifests[1])}


def test_the_list_is_written_once(elsewhere: HttpRegistry, opened: Open, tmp_path: Path) -> None:
    elsewhere.profile = "ghcr"
    subject, manifests = fill(LayoutStore(tmp_path / "one"))
    transfer(LayoutStore(tmp_path / "one"), opened(elsewhere), wanted=("1.0", None), tag="1.0")
    for about in (subject.digest, sha256(manifests[0])):
        lists = [s for s in elsewhere.asked("PUT") if s.path.endswith(f"/{fallback_tag(about)}")]
        assert len(lists) == 1


def test_without_statements(places: Places) -> None:
    subject, _ = fill(places("folder", "one"))
    place = places("folder", "two")
    done = transfer(
        places("folder", "one"), place, wanted=("1.0", None), tag="1.0", referrers=False
    )
    assert done.referrers == ()
    assert place.referrers(subject.digest) == []
    assert not place.has(sha256(b"fine"))


@pytest.mark.clause("bundle/tag-comes-last")
@pytest.mark.parametrize("profile", QUIRKS)
def test_in_a_registry_the_tag_comes_last(
    elsewhere: HttpRegistry, opened: Open, tmp_path: Path, profile: str
) -> None:
    elsewhere.profile = profile
    fill(LayoutStore(tmp_path / "one"))
    transfer(LayoutStore(tmp_path / "one"), opened(elsewhere), wanted=("1.0", None), tag="1.0")
    assert elsewhere.seen[-1].target == "/v2/team/bundle/manifests/1.0"
    puts = [seen.target for seen in elsewhere.asked("PUT", "/manifests/")]
    assert puts.count("/v2/team/bundle/manifests/1.0") == 1


@pytest.mark.parametrize("profile", ["", "distribution-2.8"])
def test_a_push_that_ends_anywhere_moves_no_tag_and_can_be_repeated(
    elsewhere: HttpRegistry, opened: Open, tmp_path: Path, profile: str
) -> None:
    """Each request in turn is the last that the registry answers."""
    elsewhere.profile = profile
    subject, manifests = fill(LayoutStore(tmp_path / "one"))
    old = elsewhere.add_manifest("1.0", elsewhere.add_blob(b"old"))
    start = len(elsewhere.seen)
    begin = elsewhere.blobs.copy(), elsewhere.manifests.copy()

    def push() -> None:
        source = LayoutStore(tmp_path / "one")
        transfer(source, opened(elsewhere), wanted=("1.0", None), tag="1.0")

    push()
    total = len(elsewhere.seen) - start
    assert total >= 15
    for last in range(1, total):
        elsewhere.blobs, elsewhere.manifests = begin[0].copy(), begin[1].copy()
        elsewhere.rules[:] = [after(last)]
        with pytest.raises(RegistryError):
            push()
        assert elsewhere.manifests["1.0"][0] == old
        elsewhere.rules.clear()
        for one in opened(elsewhere).referrers(subject.digest):
            assert one.digest in {sha256(data) for data in manifests}
            body, _ = opened(elsewhere).get_manifest(one.digest)
            for _, blob in graph.blobs_of(body, one, "test"):
                assert blob.digest in elsewhere.blobs
    push()
    check(opened(elsewhere), subject, manifests)


def after(count: int) -> Callable[[Seen], Reply | None]:
    """Answer so many requests; then the registry refuses everything."""
    lock, left = threading.Lock(), [count]

    def rule(_: Seen) -> Reply | None:
        with lock:
            left[0] -= 1
            return Reply(410) if left[0] < 0 else None

    return rule


@pytest.mark.parametrize("target", ["folder", "file"])
def test_a_pull_that_fails_leaves_no_half(
    registry: HttpRegistry, opened: Open, places: Places, target: str
) -> None:
    subject, _ = fill(opened(registry, "team/one"))
    transfer(opened(registry, "team/one"), places(target, "two"), wanted=("1.0", None), tag="0.9")
    registry.blobs[sha256(b"signed")] = b"tamper"
    store = opened(registry, "team/one")
    put_blobs(store, "another")
    store.put_referrer(statement(subject, "another"), subject)
    registry.blobs[sha256(b"another")] = b"tamper!"
    with pytest.raises(CorruptError):
        transfer(store, places(target, "two"), wanted=("1.0", None), tag="1.0")
    place = places(target, "two")
    assert place.tags() == ["0.9"]
    assert len(place.referrers(subject.digest)) == 2
    assert not place.has(sha256(b"another"))


def test_blobs_that_a_registry_only_says_it_has_are_sent_for_statements_too(
    elsewhere: HttpRegistry, opened: Open, tmp_path: Path
) -> None:
    subject, manifests = fill(LayoutStore(tmp_path / "one"))
    lies = sha256(b"fine")
    elsewhere.rules += [
        lambda seen: Reply(200) if seen.method == "HEAD" and lies in seen.path else None,
        lambda seen: (
            Reply(400, b'{"errors": [{"code": "MANIFEST_BLOB_UNKNOWN"}]}')
            if seen.method == "PUT" and lies.encode() in seen.body and lies not in elsewhere.blobs
            else None
        ),
    ]
    transfer(LayoutStore(tmp_path / "one"), opened(elsewhere), wanted=("1.0", None), tag="1.0")
    check(opened(elsewhere), subject, manifests)


def test_within_one_registry_blobs_of_statements_are_taken_over(
    registry: HttpRegistry, opened: Open
) -> None:
    registry.split = registry.mounts = True
    fill(opened(registry, "team/one"))
    done = transfer(
        opened(registry, "team/one"), opened(registry, "two"), wanted=("1.0", None), tag="1.0"
    )
    assert all(blob.mounted for blob in done.blobs)
    assert len(done.blobs) == 4  # {} twice is one


@pytest.mark.clause("bundle/reserved-tags")
@pytest.mark.parametrize("more", ["", ".sig", f".rra-{'0' * 32}"])
def test_a_bundle_gets_no_tag_of_statements(
    registry: HttpRegistry, tmp_path: Path, more: str
) -> None:
    for place in (f"{registry.host}/team/bundle", f"oci-layout:{tmp_path}/b"):
        with pytest.raises(UsageError, match="where registries keep statements"):
            copy(f"oci-layout:{tmp_path}/a", f"{place}:sha256-{'a' * 64}{more}")
    assert registry.seen == []


# ---------------------------------------------------------------------------- hostile


def flip(folder: Path, digest: str) -> None:
    """Damage a blob of a folder."""
    blob = folder / "blobs" / "sha256" / digest.removeprefix("sha256:")
    blob.chmod(0o644)
    data = bytearray(blob.read_bytes())
    data[0] ^= 1
    blob.write_bytes(data)


@pytest.mark.parametrize("form", ["file", "api"])
@pytest.mark.parametrize("part", ["manifest", "layer"])
def test_a_damaged_statement_is_told_from_a_damaged_bundle(
    places: Places, tmp_path: Path, form: str, part: str
) -> None:
    source = places("folder", "one")
    subject, _ = fill(source)
    (first, *_) = source.referrers(subject.digest)
    (found,) = (
        one for one in graph.statements(source, subject, lambda _: None) if one.descriptor == first
    )
    flip(tmp_path / "one", first.digest if part == "manifest" else found.blobs[-1][1].digest)
    with pytest.raises(CorruptError, match="a statement on the bundle is damaged: ") as caught:
        transfer(places("folder", "one"), places(form, "two"), wanted=("1.0", None), tag="1.0")
    assert "--no-referrers" in caught.value.hint
    transfer(
        places("folder", "one"),
        places(form, "two"),
        wanted=("1.0", None),
        tag="1.0",
        referrers=False,
    )
    assert resolve(places(form, "two"), "1.0", None)[1].digest == subject.digest


def test_statements_deeper_than_is_carried(places: Places) -> None:
    store = places("folder", "one")
    subject, _ = fill(store)
    with store.writing():
        for number in range(graph.MAX_DEPTH + 1):
            text = f"deep {number}"
            put_blobs(store, text)
            subject = store.put_referrer(statement(subject, text), subject)
    with pytest.raises(FormatError, match=f"deeper than {graph.MAX_DEPTH}") as caught:
        transfer(store, places("folder", "two"), wanted=("1.0", None), tag="1.0")
    assert "--no-referrers" in str(caught.value.hint)


def test_more_statements_than_are_carried(places: Places, monkeypatch: pytest.MonkeyPatch) -> None:
    subject, _ = fill(places("folder", "one"))
    monkeypatch.setattr(graph, "MAX_REFERRERS", 2)
    with pytest.raises(FormatError, match="more than 2 statements"):
        graph.statements(places("folder", "one"), subject, lambda _: None)


def test_larger_manifests_than_are_carried(places: Places, monkeypatch: pytest.MonkeyPatch) -> None:
    subject, _ = fill(places("folder", "one"))
    monkeypatch.setattr(graph, "MAX_BYTES", 1000)
    with pytest.raises(FormatError, match="1000 bytes"):
        graph.statements(places("folder", "one"), subject, lambda _: None)


def test_lists_that_go_in_circles(registry: HttpRegistry, opened: Open, tmp_path: Path) -> None:
    """Whatever is asked for, the registry lists the bundle and both statements."""
    subject, manifests = fill(opened(registry))
    bundle = registry.manifests[subject.digest][0]
    entries = [entry_of(data) for data in [bundle, *manifests]]
    registry.rules.append(
        lambda seen: (
            Reply(200, index_of(*entries), {"Content-Type": INDEX_TYPE})
            if "/referrers/" in seen.path
            else None
        )
    )
    place = LayoutStore(tmp_path / "two")
    transfer(opened(registry), place, wanted=("1.0", None), tag="1.0")
    check(place, subject, manifests)


def test_a_statement_that_is_an_index_stays_behind_and_is_said(
    registry: HttpRegistry, opened: Open, tmp_path: Path
) -> None:
    data = registry.add_manifest("1.0", registry.add_blob(b"layer"))
    subject = Descriptor(MANIFEST_TYPE, sha256(data), len(data))
    index = statement(subject, mediaType=INDEX_TYPE, manifests=[])
    registry.manifests[sha256(index)] = (index, INDEX_TYPE)
    lines: list[str] = []
    done = transfer(
        opened(registry),
        LayoutStore(tmp_path / "two"),
        wanted=("1.0", None),
        tag="1.0",
        progress=lines.append,
    )
    assert done.referrers == ()
    assert any(sha256(index) in line and "stays behind" in line for line in lines)


def test_a_statement_takes_no_name_in_a_folder(
    registry: HttpRegistry, opened: Open, tmp_path: Path
) -> None:
    data = registry.add_manifest("1.0", registry.add_blob(b"layer"))
    subject = Descriptor(MANIFEST_TYPE, sha256(data), len(data))
    put_blobs(opened(registry), "evil")
    name = {"org.opencontainers.image.ref.name": "1.0"}
    opened(registry).put_referrer(statement(subject, "evil", annotations=name), subject)
    place = LayoutStore(tmp_path / "two")
    transfer(opened(registry), place, wanted=("1.0", None), tag="1.0")
    assert resolve(place, "1.0", None)[0] == data
    assert place.tags() == ["1.0"]


def test_the_list_of_a_registry_is_no_part_of_a_copy(places: Places) -> None:
    """It is made by the target, where it needs one."""
    subject, _ = fill(places("tag", "one"))
    place = places("folder", "two")
    transfer(places("tag", "one"), place, wanted=("1.0", None), tag="1.0")
    assert fallback_tag(subject.digest) not in place.tags()
    assert isinstance(place, LayoutStore)
    assert len(place.referrers(subject.digest)) == 2
