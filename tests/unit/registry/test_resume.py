"""A pull that broke off goes on where it ended, and what lies here is never believed."""

from __future__ import annotations

import fcntl
import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from rra.bundle.layout import LayoutStore
from rra.bundle.reference import RegistryReference
from rra.bundle.store import Descriptor
from rra.errors import CorruptError, RegistryError
from rra.registry import Policy, RegistryStore, fetched, open_store
from rra.registry.transfer import transfer
from tests.support.http_registry import HttpRegistry, Reply, Rule, Seen, sha256

Open = Callable[..., RegistryStore]
MIB = 1 << 20
DATA = bytes(range(256)) * (12 * MIB // 256)
HALF = len(DATA) // 2


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The cache; returns the folder of blobs that are on their way."""
    monkeypatch.setenv("RRA_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "partial"


@pytest.fixture
def blob(registry: HttpRegistry) -> Descriptor:
    return registry.add_blob(DATA)


def left(cache: Path, blob: Descriptor, data: bytes) -> Path:
    """Leave what an earlier process would have."""
    cache.mkdir(parents=True, exist_ok=True)
    file = cache / blob.digest.removeprefix("sha256:")
    file.write_bytes(data)
    return file


def breaks(count: int, times: int = 1) -> Rule:
    """Break the connection after so many bytes of a blob, the first times it is asked for."""
    remaining = [times]

    def rule(seen: Seen) -> Reply | None:
        if seen.method == "GET" and "/blobs/" in seen.target and remaining[0]:
            remaining[0] -= 1
            return Reply(200, DATA[:count], {"Content-Length": str(len(DATA))}, breaks=True)
        return None

    return rule


def bring(store: RegistryStore, *blobs: Descriptor) -> list[bytes]:
    titled = [(f"blob-{number}", blob) for number, blob in enumerate(blobs)]
    found = []
    with fetched(store, titled, lambda _: None) as here:
        for blob in blobs:
            with here.open(blob) as stream:
                found.append(stream.read())
    return found


def ranges(registry: HttpRegistry) -> list[str | None]:
    return [seen.headers.get("range") for seen in registry.asked("GET", "/blobs/")]


def impatient(registry: HttpRegistry) -> RegistryStore:
    """A store that asks once."""
    return open_store(RegistryReference(registry.host, "x"), policy=Policy(attempts=1))


# ------------------------------------------------------------------------------ going on


def test_a_connection_that_breaks_is_taken_up_where_it_ended(
    registry: HttpRegistry, opened: Open, cache: Path, blob: Descriptor, waits: list[float]
) -> None:
    registry.rules.append(breaks(HALF))
    assert bring(opened(registry), blob) == [DATA]
    assert ranges(registry) == [None, f"bytes={HALF}-"]
    assert waits == [0.5]
    assert list(cache.iterdir()) == []


def test_the_next_attempt_goes_on(
    registry: HttpRegistry, opened: Open, cache: Path, blob: Descriptor
) -> None:
    registry.rules.append(breaks(HALF))
    with pytest.raises(RegistryError, match="broke"):
        bring(impatient(registry), blob)
    (file,) = cache.iterdir()
    assert file.name == blob.digest.removeprefix("sha256:")
    assert file.read_bytes() == DATA[:HALF]
    assert (file.stat().st_mode & 0o777, cache.stat().st_mode & 0o777) == (0o600, 0o700)
    assert bring(opened(registry), blob) == [DATA]
    assert ranges(registry) == [None, f"bytes={HALF}-"]
    assert list(cache.iterdir()) == []


def test_a_registry_that_takes_no_ranges_starts_anew(
    registry: HttpRegistry, opened: Open, cache: Path, blob: Descriptor
) -> None:
    registry.ranges = False
    left(cache, blob, DATA[:HALF])
    assert bring(opened(registry), blob) == [DATA]
    assert ranges(registry) == [f"bytes={HALF}-"]


@pytest.mark.parametrize(
    "reply",
    [
        Reply(416),
        Reply(206, DATA[5:], {"Content-Range": f"bytes 5-{len(DATA) - 1}/{len(DATA)}"}),
        Reply(206, DATA[HALF:]),
        Reply(206, DATA[HALF:], {"Content-Range": "bytes */5"}),
    ],
    ids=["416", "elsewhere", "unsaid", "nonsense"],
)
def test_a_registry_with_ranges_of_its_own_starts_anew(
    registry: HttpRegistry, opened: Open, cache: Path, blob: Descriptor, reply: Reply
) -> None:
    left(cache, blob, DATA[:HALF])
    registry.rules.append(lambda seen: reply if "range" in seen.headers else None)
    assert bring(opened(registry), blob) == [DATA]
    assert ranges(registry) == [f"bytes={HALF}-", None]


def test_a_rest_of_another_length_is_refused(
    registry: HttpRegistry, opened: Open, cache: Path, blob: Descriptor
) -> None:
    left(cache, blob, DATA[:HALF])
    more = {"Content-Range": f"bytes {HALF}-{len(DATA)}/{len(DATA) + 1}"}
    registry.rules.append(
        lambda seen: Reply(206, DATA[HALF:] + b"!", more) if "range" in seen.headers else None
    )
    with pytest.raises(CorruptError, match="has another size"):
        bring(opened(registry), blob)
    assert list(cache.iterdir()) == []


@pytest.mark.parametrize(
    ("there", "asked"),
    [
        (b"", [None]),
        (DATA, []),
        (DATA + b"more", [None]),
        (b"\0" * len(DATA), [None]),
        (DATA[: HALF - 1] + b"!", [f"bytes={HALF}-", None]),
        (b"\0" * (len(DATA) - 1), [f"bytes={len(DATA) - 1}-", None]),
    ],
    ids=["empty", "whole", "longer", "zeros", "changed", "torn"],
)
def test_what_lies_here_is_hashed_before_it_counts(
    registry: HttpRegistry,
    opened: Open,
    cache: Path,
    blob: Descriptor,
    there: bytes,
    asked: list[str | None],
) -> None:
    left(cache, blob, there)
    assert bring(opened(registry), blob) == [DATA]
    assert ranges(registry) == asked
    assert list(cache.iterdir()) == []


def test_somewhat_further_each_time_arrives(
    registry: HttpRegistry, opened: Open, blob: Descriptor, waits: list[float]
) -> None:
    def two_mib(seen: Seen) -> Reply | None:
        if "/blobs/" not in seen.target:
            return None
        start = int(seen.headers.get("range", "bytes=0-")[6:-1])
        headers = {"Content-Length": str(len(DATA) - start)}
        if start:
            headers["Content-Range"] = f"bytes {start}-{len(DATA) - 1}/{len(DATA)}"
        part = DATA[start : start + 2 * MIB]
        return Reply(206 if start else 200, part, headers, breaks=start + 2 * MIB < len(DATA))

    registry.rules.append(two_mib)
    assert bring(opened(registry), blob) == [DATA]
    assert waits == [0.5] * 5  # more often than one request is repeated


def test_a_registry_that_gives_nothing_is_given_up(
    registry: HttpRegistry, opened: Open, blob: Descriptor, waits: list[float]
) -> None:
    registry.rules.append(breaks(0, times=100))
    with pytest.raises(RegistryError, match="broke"):
        bring(opened(registry), blob)
    assert waits == [0.5, 1.0, 2.0]


# ---------------------------------------------------------------------------- side by side


def test_what_another_process_fills_is_left_alone(
    registry: HttpRegistry, opened: Open, cache: Path, blob: Descriptor
) -> None:
    file = left(cache, blob, DATA[:HALF])
    number = os.open(file, os.O_RDWR)
    fcntl.flock(number, fcntl.LOCK_EX)
    assert bring(opened(registry), blob) == [DATA]
    assert ranges(registry) == [None]
    os.close(number)
    assert [(one, one.read_bytes()) for one in cache.iterdir()] == [(file, DATA[:HALF])]


def test_two_pulls_at_once(registry: HttpRegistry, opened: Open, cache: Path) -> None:
    blobs = [registry.add_blob(bytes([number]) * MIB) for number in range(6)]
    found: list[list[bytes]] = []

    def pull() -> None:
        found.append(bring(opened(registry), *blobs))

    threads = [threading.Thread(target=pull) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [[bytes([number]) * MIB for number in range(6)]] * 3
    assert list(cache.iterdir()) == []


def test_without_a_cache_nothing_is_kept(
    registry: HttpRegistry, opened: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blob = registry.add_blob(DATA)
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("RRA_CACHE", str(tmp_path / "file"))
    registry.rules.append(breaks(HALF))
    assert bring(opened(registry), blob) == [DATA]
    assert ranges(registry) == [None, f"bytes={HALF}-"]


def test_what_nobody_came_back_for_goes(
    registry: HttpRegistry, opened: Open, cache: Path, blob: Descriptor
) -> None:
    old = left(cache, Descriptor("x", sha256(b"old"), 3), b"ol")
    young = left(cache, Descriptor("x", sha256(b"young"), 5), b"you")
    held = left(cache, Descriptor("x", sha256(b"held"), 4), b"he")
    for file in (old, held):
        os.utime(file, (1, 1))
    number = os.open(held, os.O_RDWR)
    fcntl.flock(number, fcntl.LOCK_EX)
    bring(opened(registry), blob)
    os.close(number)
    assert sorted(cache.iterdir()) == sorted([young, held])


# ------------------------------------------------------------------------------- the end


@pytest.mark.parametrize(
    ("change", "fault"),
    [(DATA[:-1] + b"!", "has other content"), (DATA[:-1], "bytes where the manifest says")],
    ids=["other", "short"],
)
def test_a_wrong_blob_leaves_nothing(
    registry: HttpRegistry,
    opened: Open,
    cache: Path,
    blob: Descriptor,
    change: bytes,
    fault: str,
) -> None:
    registry.blobs[blob.digest] = change
    with pytest.raises(CorruptError, match=fault) as caught:
        bring(opened(registry), blob)
    assert blob.digest in caught.value.message
    assert registry.host in caught.value.message
    assert list(cache.iterdir()) == []


def test_the_fault_that_counts_is_said_at_once(
    registry: HttpRegistry, opened: Open, cache: Path, blob: Descriptor
) -> None:
    """A blob that never ends does not keep the fault of a later one from being said."""
    missing = Descriptor("application/x-test", sha256(b"gone"), 4)
    stalls = Reply(200, DATA[:MIB], {"Content-Length": str(len(DATA))}, stalls=True)
    registry.rules.append(lambda seen: stalls if blob.digest in seen.target else None)
    with pytest.raises(CorruptError, match=f"{missing.digest} is missing"):
        bring(opened(registry), blob, missing)
    assert list(cache.iterdir()) == []


def test_an_interrupt_ends_what_stalls_and_keeps_what_came(
    registry: HttpRegistry, opened: Open, cache: Path, blob: Descriptor
) -> None:
    stalls = Reply(200, DATA[: 3 * MIB], {"Content-Length": str(len(DATA))}, stalls=True)
    registry.rules.append(lambda seen: stalls if "/blobs/" in seen.target else None)
    came = threading.Event()

    def interrupted() -> None:
        with fetched(opened(registry), [("x", blob)], lambda _: came.set()):
            came.wait()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    (file,) = cache.iterdir()
    assert DATA.startswith(file.read_bytes())


def test_into_a_folder_without_a_second_copy(
    registry: HttpRegistry, opened: Open, cache: Path, blob: Descriptor, tmp_path: Path
) -> None:
    registry.add_manifest("1.0", blob)
    place = LayoutStore(tmp_path / "layout")
    transfer(opened(registry), place, wanted=("1.0", None), tag="1.0")
    with place.open(blob) as stream:
        assert stream.read() == DATA
    file = tmp_path / "layout/blobs/sha256" / blob.digest.removeprefix("sha256:")
    assert (file.stat().st_nlink, file.stat().st_mode & 0o777) == (1, 0o644)
    assert list(cache.iterdir()) == []


def test_a_folder_that_shares_a_file_with_the_cache_keeps_it(
    registry: HttpRegistry, opened: Open, cache: Path, blob: Descriptor, tmp_path: Path
) -> None:
    """A kill between the two leaves one file with two names; only ours is taken away."""
    file = left(cache, blob, DATA[:-1] + b"!")
    theirs = tmp_path / "theirs"
    theirs.hardlink_to(file)
    assert bring(opened(registry), blob) == [DATA]
    assert theirs.read_bytes() == DATA[:-1] + b"!"
    assert list(cache.iterdir()) == []
