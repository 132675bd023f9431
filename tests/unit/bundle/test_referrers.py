"""Statements on bundles in folders and files: where other tools find them, and what is refused."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from rra.bundle.archive import ArchiveStore
from rra.bundle.layout import LayoutStore
from rra.bundle.referrers import (
    companion_tag,
    fallback_tag,
    is_reserved_tag,
    unlisted_companions,
)
from rra.bundle.store import Descriptor, resolve
from rra.errors import CorruptError, FormatError, UsageError
from tests.support.bundles import blob
from tests.support.statements import AUDIT, REVIEW, put_blobs, statement

KIND = "application/octet-stream"
MANIFEST = b'{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json"}'
Local = LayoutStore | ArchiveStore
Make = Callable[[], Local]


@pytest.fixture(params=["folder", "file"])
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Make:
    """Gives a store over the same place each time, as another process would open it."""
    if request.param == "folder":
        return lambda: LayoutStore(tmp_path / "place")
    return lambda: ArchiveStore(tmp_path / "place")


def digest(data: bytes) -> str:
    return "sha256:" + hashlib.sha256(data).hexdigest()


def bundle(store: Local, tag: str = "1.0", data: bytes = MANIFEST) -> Descriptor:
    with store.writing():
        store.put([b"one blob"], KIND)
        return store.put_manifest(data, tag)


def attach(store: Local, subject: Descriptor, *texts: str, **more: Any) -> list[Descriptor]:
    with store.writing():
        for text in texts:
            put_blobs(store, text)
        return [store.put_referrer(statement(subject, text, **more), subject) for text in texts]


def attach_and_fail(store: Local, subject: Descriptor) -> None:
    with store.writing():
        put_blobs(store)
        store.put_referrer(statement(subject), subject)
        raise RuntimeError


def test_a_statement_is_found_by_what_it_is_about(make: Make) -> None:
    subject = bundle(make())
    assert make().referrers(subject.digest) == []
    data = statement(subject, annotations={"org.example.by": "reader"})
    attach(make(), subject, "fine", annotations={"org.example.by": "reader"})
    (found,) = make().referrers(subject.digest)
    assert (found.digest, found.size, found.artifact_type) == (digest(data), len(data), REVIEW)
    assert found.annotations == {"org.example.by": "reader"}
    assert make().get_manifest(found.digest)[0] == data


@pytest.mark.clause("bundle/only-bundle")
@pytest.mark.clause("bundle/statements-in-layouts")
def test_a_statement_has_no_name_and_the_bundle_stays_the_only_one(make: Make) -> None:
    subject = bundle(make())
    attach(make(), subject, "one", "two")
    assert make().tags() == ["1.0"]
    assert resolve(make(), None, None)[0] == MANIFEST


def test_two_bundles_are_still_two_beside_their_statements(tmp_path: Path) -> None:
    store = LayoutStore(tmp_path / "place")
    attach(store, bundle(store), "one")
    bundle(store, "2.0", MANIFEST.replace(b"}", b',"x":1}'))
    with pytest.raises(UsageError, match="several bundles"):
        store.get_manifest(None)


def test_kinds_are_told_apart(make: Make) -> None:
    subject = bundle(make())
    attach(make(), subject, "one")
    attach(make(), subject, "two", kind=AUDIT)
    assert len(make().referrers(subject.digest)) == 2
    (found,) = make().referrers(subject.digest, AUDIT)
    assert found.digest == digest(statement(subject, "two", AUDIT))


def test_the_kind_of_a_config_counts_where_there_is_no_other(make: Make) -> None:
    subject = bundle(make())
    attach(make(), subject, "one", artifactType=None)
    (found,) = make().referrers(subject.digest)
    assert found.artifact_type == "application/vnd.oci.empty.v1+json"


def test_a_statement_on_a_statement(make: Make) -> None:
    subject = bundle(make())
    (first,) = attach(make(), subject, "fine")
    (second,) = attach(make(), first, "signed")
    assert make().referrers(subject.digest) == [first]
    assert make().referrers(first.digest) == [second]


def test_the_same_statement_twice_is_one(make: Make) -> None:
    subject = bundle(make())
    attach(make(), subject, "fine")
    attach(make(), subject, "fine")
    assert len(make().referrers(subject.digest)) == 1


def test_a_file_keeps_what_it_had(tmp_path: Path) -> None:
    store = ArchiveStore(tmp_path / "place")
    subject = bundle(store)
    with store.writing():
        put_blobs(store)
        store.put_referrer(statement(subject), subject)
    assert store.has(digest(b"one blob"))
    assert resolve(ArchiveStore(tmp_path / "place"), "1.0", subject.digest)[0] == MANIFEST


def test_a_file_without_the_subject_stays_as_it_was(tmp_path: Path) -> None:
    store = ArchiveStore(tmp_path / "place")
    bundle(store)
    before = (tmp_path / "place").read_bytes()
    other = Descriptor(KIND, digest(b"another"), 7)
    with pytest.raises(UsageError, match="holds no manifest"):
        attach(store, other, "fine")
    assert (tmp_path / "place").read_bytes() == before


def test_a_failure_leaves_no_half_of_a_statement(make: Make) -> None:
    subject = bundle(make())
    with pytest.raises(RuntimeError):
        attach_and_fail(make(), subject)
    assert make().referrers(subject.digest) == []
    assert not make().has(digest(b"fine"))
    assert resolve(make(), "1.0", None)[0] == MANIFEST


@pytest.mark.parametrize(
    "data",
    [
        statement(b"another"),
        MANIFEST,
        statement(MANIFEST, mediaType="application/vnd.example"),
        b"no JSON",
    ],
)
def test_what_is_about_something_else_is_not_kept(make: Make, data: bytes) -> None:
    subject = bundle(make())
    store = make()
    with pytest.raises(FormatError), store.writing():
        store.put_referrer(data, subject)
    assert make().referrers(subject.digest) == []


@pytest.mark.clause("bundle/statements-in-layouts")
def test_a_statement_gives_itself_no_name(make: Make) -> None:
    """Otherwise it would take the tag of the bundle."""
    subject = bundle(make())
    name = {"org.opencontainers.image.ref.name": "1.0", "org.example.a": "b"}
    attach(make(), subject, "evil", annotations=name)
    assert resolve(make(), "1.0", None)[0] == MANIFEST
    (found,) = make().referrers(subject.digest)
    assert found.annotations == {"org.example.a": "b"}


def test_a_statement_of_other_bytes_is_corrupt(tmp_path: Path) -> None:
    store = LayoutStore(tmp_path / "place")
    subject = bundle(store)
    (kept,) = attach(store, subject, "fine")
    blob(tmp_path / "place", kept.digest).write_bytes(b"x" * kept.size)
    with pytest.raises(CorruptError, match="other content"):
        LayoutStore(tmp_path / "place").referrers(subject.digest)


def test_what_is_no_manifest_is_passed_over(tmp_path: Path) -> None:
    store = LayoutStore(tmp_path / "place")
    subject = bundle(store)
    attach(store, subject, "fine")
    index = json.loads((tmp_path / "place/index.json").read_bytes())
    for media_type, data in [
        ("application/x", b"text"),
        (index["manifests"][0]["mediaType"], b"["),
    ]:
        entry = {"mediaType": media_type, "digest": digest(data), "size": len(data)}
        blob(tmp_path / "place", entry["digest"]).write_bytes(data)
        index["manifests"].append(entry)
    (tmp_path / "place/index.json").write_text(json.dumps(index))
    assert len(LayoutStore(tmp_path / "place").referrers(subject.digest)) == 1


def test_an_index_that_nobody_would_read_is_not_written(tmp_path: Path) -> None:
    store = LayoutStore(tmp_path / "place")
    subject = bundle(store)
    before = (tmp_path / "place/index.json").read_bytes()
    padding = {"org.example.text": "x" * (1 << 20)}
    with pytest.raises(UsageError, match="would be larger than 4194304 bytes"):
        attach(store, subject, "1", "2", "3", "4", annotations=padding)
    assert (tmp_path / "place/index.json").read_bytes() == before
    assert not store.has(digest(b"1"))


# ------------------------------------------------------------------------------- tags


def test_tags_of_registries_without_the_api() -> None:
    subject, statement_ = "sha256:" + "a" * 64, "sha256:" + "b" * 64
    assert fallback_tag(subject) == "sha256-" + "a" * 64
    companion = companion_tag(subject, statement_)
    assert companion == f"sha256-{'a' * 64}.rra-{'b' * 32}"
    assert len(companion) <= 128
    assert is_reserved_tag(fallback_tag(subject))
    assert is_reserved_tag(companion)
    assert is_reserved_tag(f"sha256-{'a' * 64}.sig")


@pytest.mark.parametrize("tag", ["1.0.0", "sha256", "sha256-abc", "sha256-" + "A" * 64, "latest"])
def test_other_tags_are_of_bundles(tag: str) -> None:
    assert not is_reserved_tag(tag)


def test_which_statements_a_list_lacks() -> None:
    subject, other = "sha256:" + "a" * 64, "sha256:" + "c" * 64
    one, two = "sha256:" + "1" * 64, "sha256:" + "2" * 64
    tags = ["1.0", fallback_tag(subject), companion_tag(subject, one), companion_tag(subject, two)]
    tags += [companion_tag(other, one)]
    assert unlisted_companions(tags, subject, [one]) == [companion_tag(subject, two)]


@pytest.mark.parametrize("again", [False, True])
def test_a_bundle_that_is_put_again_keeps_its_statements(make: Make, *, again: bool) -> None:
    subject = bundle(make())
    (first, second) = attach(make(), subject, "fine", "wrong")
    (above,) = attach(make(), first, "not so fine")
    bundle(make(), "1.0" if again else "1.1")
    assert [one.digest for one in make().referrers(subject.digest)] == sorted(
        [first.digest, second.digest]
    )
    assert [one.digest for one in make().referrers(first.digest)] == [above.digest]
    for one in (first, second, above):
        data, descriptor = resolve(make(), None, one.digest)
        assert (digest(data), descriptor.size) == (one.digest, len(data))
        for blob_ in [json.loads(data)["config"], *json.loads(data)["layers"]]:
            with make().open(Descriptor("x", blob_["digest"], blob_["size"])) as stream:
                assert digest(stream.read()) == blob_["digest"]


def test_a_file_does_not_lose_statements_on_another_bundle(tmp_path: Path) -> None:
    file = tmp_path / "place"
    subject = bundle(ArchiveStore(file))
    attach(ArchiveStore(file), subject, "fine")
    before = file.read_bytes()
    with pytest.raises(UsageError, match="holds 1 statement on another bundle") as caught:
        bundle(ArchiveStore(file), "2.0", MANIFEST + b" ")
    assert subject.digest in caught.value.message
    assert file.read_bytes() == before


def test_writers_at_once_lose_no_statement(make: Make) -> None:
    subject = bundle(make())

    def write(number: int) -> list[str]:
        texts = [f"{number} {turn}" for turn in range(4)]
        return [attach(make(), subject, text)[0].digest for text in texts]

    with ThreadPoolExecutor(4) as pool:
        written = [one for digests in pool.map(write, range(4)) for one in digests]
    assert [one.digest for one in make().referrers(subject.digest)] == sorted(written)


def test_a_file_that_is_replaced_while_it_is_read_is_looked_at_again(tmp_path: Path) -> None:
    file = tmp_path / "place"
    subject = bundle(ArchiveStore(file))
    reader = ArchiveStore(file)
    assert reader.referrers(subject.digest) == []
    (one,) = attach(ArchiveStore(file), subject, "fine")
    assert [found.digest for found in reader.referrers(subject.digest)] == [one.digest]
    assert resolve(reader, "1.0", None)[1].digest == subject.digest
