"""Registries that people use, with their habits; and large blobs that go on where they broke."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from rra.bundle.layout import LayoutStore
from rra.bundle.reference import RegistryReference
from rra.bundle.store import Descriptor
from rra.errors import CorruptError, LoginError, RegistryError
from rra.registry import Policy, RegistryStore, open_store
from rra.registry.transfer import transfer
from tests.support.http_registry import (
    QUIRKS,
    BreakOffError,
    HttpRegistry,
    Reply,
    Seen,
    sha256,
)

MIB = 1 << 20
DATA = bytes(range(256)) * (6 * MIB // 256)
BLOB = Descriptor("application/x-test", sha256(DATA), len(DATA))
Open = Callable[[HttpRegistry], RegistryStore]


@pytest.fixture
def large(waits: list[float]) -> Open:
    """Opens a repository for which 5 MiB are large."""

    def open_it(server: HttpRegistry, repository: str = "team/bundle") -> RegistryStore:
        policy = Policy(idle_seconds=5, sleep=waits.append, pieces_from=5 * MIB)
        return open_store(RegistryReference(server.host, repository), policy=policy)

    return open_it


def sent(registry: HttpRegistry) -> list[tuple[str, int]]:
    """Return the requests of uploads, with the bytes that each brought."""
    found = [seen for seen in registry.seen if "/uploads/" in seen.path]
    return [(seen.method, len(seen.body)) for seen in found]


@pytest.mark.parametrize("profile", QUIRKS)
def test_every_registry_gets_and_gives_the_same(
    registry: HttpRegistry, elsewhere: HttpRegistry, large: Open, tmp_path: Path, profile: str
) -> None:
    registry.add_manifest("1.0", registry.add_blob(DATA), registry.add_blob(b"small"))
    elsewhere.profile = profile
    first = transfer(large(registry), large(elsewhere), wanted=("1.0", None), tag="1.0")
    assert elsewhere.blobs == registry.blobs
    assert elsewhere.manifests["1.0"] == registry.manifests["1.0"]
    place = LayoutStore(tmp_path / "back")
    back = transfer(large(elsewhere), place, wanted=("1.0", None), tag="1.0")
    assert back.descriptor.digest == first.descriptor.digest
    with place.open(BLOB) as stream:
        assert stream.read() == DATA


@pytest.mark.parametrize(
    ("profile", "requests"),
    [
        ("", [("POST", 0), ("PATCH", len(DATA)), ("PUT", 0)]),
        ("ecr", [("POST", 0), ("PATCH", len(DATA)), ("PUT", 0)]),
        ("distribution-2.8", [("POST", 0), ("PATCH", len(DATA)), ("PUT", 0)]),
        ("ghcr", [("POST", 0), ("PATCH", len(DATA)), ("POST", 0), ("PUT", len(DATA))]),
        ("gar", [("POST", 0), ("PATCH", len(DATA)), ("POST", 0), ("PUT", len(DATA))]),
    ],
)
def test_how_a_large_blob_goes(
    registry: HttpRegistry, large: Open, profile: str, requests: list[tuple[str, int]]
) -> None:
    registry.profile = profile
    large(registry).put_blob(BLOB, [DATA])
    assert registry.blobs == {BLOB.digest: DATA}
    assert sent(registry) == requests


def test_a_small_blob_goes_in_one_put(registry: HttpRegistry, opened: Open) -> None:
    opened(registry).put_blob(BLOB, [DATA])
    assert sent(registry) == [("POST", 0), ("PUT", len(DATA))]
    assert Policy().pieces_from == 256 * MIB


@pytest.mark.parametrize("profile", ["", "ecr", "distribution-2.8"])
def test_a_large_blob_that_drops_at_ninety_percent_goes_on(
    registry: HttpRegistry, large: Open, profile: str, waits: list[float]
) -> None:
    registry.profile = profile
    registry.read_limit = len(DATA) * 9 // 10
    rest = len(DATA) - registry.read_limit
    large(registry).put_blob(BLOB, [DATA])
    assert registry.blobs == {BLOB.digest: DATA}
    assert sent(registry) == [("POST", 0), ("GET", 0), ("PATCH", rest), ("PUT", 0)]
    patch = registry.asked("PATCH")[0]
    assert patch.headers["content-range"] == f"{len(DATA) - rest}-{len(DATA) - 1}"
    assert waits == [0.5]


@pytest.mark.parametrize("profile", ["", "distribution-2.8"])
def test_a_patch_that_was_taken_is_not_sent_twice(
    registry: HttpRegistry, large: Open, profile: str
) -> None:
    """The answer is lost: a second PATCH on a guess would be appended to the first."""
    registry.profile = profile
    lost: list[Seen] = []

    def lose(seen: Seen) -> Reply | None:
        if seen.method == "PATCH" and not lost:
            lost.append(seen)
            registry.upload(seen)
            raise BreakOffError
        return None

    registry.rules.append(lose)
    large(registry).put_blob(BLOB, [DATA])
    assert registry.blobs == {BLOB.digest: DATA}
    assert sent(registry) == [("POST", 0), ("PATCH", len(DATA)), ("GET", 0), ("PUT", 0)]


def test_the_last_answer_that_is_lost_costs_nothing(registry: HttpRegistry, large: Open) -> None:
    lost: list[Seen] = []

    def lose(seen: Seen) -> Reply | None:
        if seen.method == "PUT" and not lost:
            lost.append(seen)
            registry.upload(seen)
            raise BreakOffError
        return None

    registry.rules.append(lose)
    large(registry).put_blob(BLOB, [DATA])
    assert registry.blobs == {BLOB.digest: DATA}
    assert len(registry.asked("PATCH")) == 1


@pytest.mark.parametrize("status", [400, 404, 405, 413, 416, 501])
def test_a_registry_without_pieces_gets_the_whole(
    registry: HttpRegistry, large: Open, status: int
) -> None:
    registry.rules.append(lambda seen: Reply(status) if seen.method == "PATCH" else None)
    large(registry).put_blob(BLOB, [DATA])
    assert registry.blobs == {BLOB.digest: DATA}


@pytest.mark.parametrize("said", ["", "0-99999999999", "x", "5-6", "0-" + "9" * 4000])
def test_a_registry_that_does_not_know_what_it_has_gets_the_whole(
    registry: HttpRegistry, large: Open, said: str
) -> None:
    registry.read_limit = MIB
    registry.rules.append(
        lambda seen: (
            Reply(204, headers={"Range": said})
            if seen.method == "GET" and "/uploads/" in seen.path
            else None
        )
    )
    large(registry).put_blob(BLOB, [DATA])
    assert registry.blobs == {BLOB.digest: DATA}


def test_a_large_blob_that_is_another_is_never_ended(registry: HttpRegistry, large: Open) -> None:
    with pytest.raises(CorruptError, match="other content"):
        large(registry).put_blob(BLOB, [DATA[:-1] + b"!"])
    assert (registry.blobs, registry.asked("PUT")) == ({}, [])


def test_a_registry_that_breaks_every_time_is_given_up(registry: HttpRegistry, large: Open) -> None:
    def drop(seen: Seen) -> Reply | None:
        if seen.method in {"PATCH", "PUT"}:
            raise BreakOffError
        return None

    registry.rules.append(drop)
    with pytest.raises(RegistryError, match="broke"):
        large(registry).put_blob(BLOB, [DATA])


def test_the_hub_refuses_names_of_other_depth(registry: HttpRegistry, opened: Open) -> None:
    registry.profile = "hub"
    store: Callable[..., RegistryStore] = opened
    with pytest.raises(LoginError, match="denied"):
        store(registry, "one").put_blob(BLOB, [DATA])
    with pytest.raises(LoginError, match="denied"):
        store(registry, "one/two/three").put_manifest(b"{}", "1.0")


def test_tags_in_any_order_are_sorted(registry: HttpRegistry, opened: Open) -> None:
    registry.profile = "distribution-2.8"
    for tag in ("2.0", "1.0", "3.0"):
        registry.add_manifest(tag)
    assert opened(registry).tags() == ["1.0", "2.0", "3.0"]
