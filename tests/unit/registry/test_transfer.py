"""Blobs travel four at a time, each once, and the first fault ends all of them."""

from __future__ import annotations

import threading
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from rra._base import clock
from rra._base.progress import size_text
from rra.bundle.archive import ArchiveStore
from rra.bundle.layout import LayoutStore
from rra.bundle.store import Descriptor
from rra.errors import CorruptError, RegistryError
from rra.registry import Policy, RegistryStore
from rra.registry.meter import Meter
from rra.registry.parallel import TRANSFERS
from rra.registry.transfer import transfer
from tests.support.http_registry import HttpRegistry, Reply, Rule, Seen, sha256

Open = Callable[..., RegistryStore]
MIB = 1 << 20


def data(number: int, size: int = 1000) -> bytes:
    return bytes([number]) * size


def bundle(registry: HttpRegistry, count: int, size: int = 1000) -> list[Descriptor]:
    layers = [registry.add_blob(data(number, size)) for number in range(count)]
    registry.add_manifest("1.0", *layers)
    return layers


class Crowd:
    """A rule that holds requests until so many are there at once, and counts them."""

    def __init__(self, size: int, method: str, part: str) -> None:
        self.gate = threading.Barrier(size, timeout=30)
        self.method, self.part = method, part
        self.most = self.now = 0
        self.lock = threading.Lock()

    def __call__(self, seen: Seen) -> Reply | None:
        if seen.method == self.method and self.part in seen.target:
            with self.lock:
                self.now += 1
                self.most = max(self.most, self.now)
            self.gate.wait()
            with self.lock:
                self.now -= 1
        return None


def test_four_blobs_come_at_once(registry: HttpRegistry, opened: Open, tmp_path: Path) -> None:
    layers = bundle(registry, 7)  # and the config: two times four
    crowd = Crowd(TRANSFERS, "GET", "/blobs/")
    registry.rules.append(crowd)
    place = LayoutStore(tmp_path / "layout")
    done = transfer(opened(registry), place, wanted=("1.0", None), tag="1.0")
    assert (TRANSFERS, crowd.most) == (4, 4)
    assert [blob.descriptor.digest for blob in done.blobs[1:]] == [one.digest for one in layers]
    for number, layer in enumerate(layers):
        with place.open(layer) as stream:
            assert stream.read() == data(number)


def test_four_blobs_go_at_once(
    registry: HttpRegistry, elsewhere: HttpRegistry, opened: Open
) -> None:
    bundle(registry, 7)
    crowd = Crowd(TRANSFERS, "PUT", "/blobs/uploads/")
    elsewhere.rules.append(crowd)
    transfer(opened(registry), opened(elsewhere), wanted=("1.0", None), tag="1.0")
    assert crowd.most == 4
    assert elsewhere.blobs == registry.blobs
    assert elsewhere.manifests["1.0"] == registry.manifests["1.0"]
    assert elsewhere.seen[-1].target == "/v2/team/bundle/manifests/1.0"  # the manifest is last


def test_a_blob_that_several_send_goes_once_at_a_time(registry: HttpRegistry, opened: Open) -> None:
    store = opened(registry)
    blob = Descriptor("application/x-test", sha256(data(1)), 1000)
    crowd = Crowd(1, "PUT", "/blobs/uploads/")
    registry.rules.append(crowd)
    threads = [
        threading.Thread(target=store.put_blob, args=(blob, [data(1)])) for _ in range(TRANSFERS)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert crowd.most == 1


def test_a_digest_that_is_named_twice_goes_once(
    registry: HttpRegistry, elsewhere: HttpRegistry, opened: Open
) -> None:
    layer = registry.add_blob(data(1))
    registry.add_manifest("1.0", layer, layer, layer)
    transfer(opened(registry), opened(elsewhere), wanted=("1.0", None), tag="1.0")
    assert len(elsewhere.asked("PUT", layer.digest)) == 1


def test_the_first_fault_ends_the_others(
    registry: HttpRegistry, elsewhere: HttpRegistry, opened: Open
) -> None:
    layers = bundle(registry, 40)
    registry.blobs[layers[0].digest] = b"tampered" * 125
    with pytest.raises(CorruptError, match=layers[0].digest):
        transfer(opened(registry), opened(elsewhere), wanted=("1.0", None), tag="1.0")
    assert elsewhere.manifests == {}
    assert len(elsewhere.asked("HEAD")) < 40


def test_a_fault_of_whoever_listens_ends_all(
    registry: HttpRegistry, opened: Open, tmp_path: Path
) -> None:
    bundle(registry, 9)

    def listen(line: str) -> None:
        if ": 1000 B" in line:
            raise RegistryError("nobody listens any more")

    with pytest.raises(RegistryError, match="nobody listens"):
        transfer(
            opened(registry),
            LayoutStore(tmp_path / "x"),
            wanted=("1.0", None),
            tag=None,
            progress=listen,
        )
    assert not (tmp_path / "x").exists()


def test_threads_that_are_challenged_at_once_log_in_once(
    registry: HttpRegistry, opened: Open, tmp_path: Path
) -> None:
    bundle(registry, 3)  # and the config
    crowd = threading.Barrier(TRANSFERS, timeout=30)
    made: list[str] = []

    def guard(seen: Seen) -> Reply | None:
        if seen.path == "/token":
            made.append(f"token-{len(made)}")
            return Reply(200, f'{{"token": "{made[-1]}"}}'.encode())
        if seen.path == "/v2/" or seen.login == "Bearer token-1":
            return None
        if "/manifests/" in seen.path and seen.login == "Bearer token-0":
            return None
        if "/blobs/" in seen.path:
            crowd.wait()  # all four are told at once that their token is too old
        return Reply(401, headers={"WWW-Authenticate": f'Bearer realm="{registry.url}/token"'})

    registry.rules.append(guard)
    store = opened(registry)
    transfer(store, LayoutStore(tmp_path / "layout"), wanted=("1.0", None), tag=None)
    assert made == ["token-0", "token-1"]


def test_a_token_to_read_takes_nothing_from_one_to_write(
    registry: HttpRegistry, opened: Open
) -> None:
    """Threads share a token: whoever renews it asks for all that it was for."""

    def guard(seen: Seen) -> Reply | None:
        if seen.path == "/token":
            scope = seen.query["scope"][0]
            return Reply(200, f'{{"token": "{scope.rpartition(":")[2]}"}}'.encode())
        if seen.path == "/v2/" or seen.login == "Bearer pull,push":
            return None
        wanted = "pull" if seen.method == "HEAD" else "pull,push"
        if seen.login == f"Bearer {wanted}":
            return None
        scope = f"repository:team/bundle:{wanted}"
        header = f'Bearer realm="{registry.url}/token",scope="{scope}"'
        return Reply(401, headers={"WWW-Authenticate": header})

    registry.rules.append(guard)
    store = opened(registry)
    store.put([b"one"], "application/x-test")
    store.registry.auth.token = "expired"  # type: ignore[assignment]
    assert not store.has(sha256(b"two"))
    assert store.registry.auth.token == "pull,push"


# ------------------------------------------------------------------------ memory, progress


def test_memory_stays_flat(registry: HttpRegistry, opened: Open, tmp_path: Path) -> None:
    layers = bundle(registry, 6, 24 * MIB)
    store = opened(registry)
    tracemalloc.start()
    try:
        transfer(store, LayoutStore(tmp_path / "layout"), wanted=("1.0", None), tag="1.0")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert sum(layer.size for layer in layers) == 144 * MIB
    assert peak < 24 * MIB


def test_progress_says_bytes_and_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(clock, "monotonic", lambda: now[0])
    lines: list[str] = []
    meter = Meter(lines.append, 400 * MIB, "sent")
    meter.add(100 * MIB)
    assert lines == []  # less than a second
    now[0] += 2
    meter.add(100 * MIB)
    now[0] += 2
    meter.add(MIB)  # less than a hundredth
    meter.skip(190 * MIB)  # was there
    meter.add(-MIB)  # sent again
    meter.add(10 * MIB)
    now[0] += 1
    meter.finish()
    assert lines == [
        "200.0 MiB of 400.0 MiB sent, 100.0 MiB/s",
        "400.0 MiB of 400.0 MiB sent, 52.8 MiB/s",
        "211.0 MiB sent, 42.2 MiB/s",
    ]


def test_a_long_transfer_says_at_most_a_hundred_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(clock, "monotonic", lambda: now[0])
    lines: list[str] = []
    meter = Meter(lines.append, 5000 * MIB, "copied")
    for _ in range(5000):
        now[0] += 5
        meter.add(MIB)
    assert len(lines) == 100
    assert lines[-1] == "4.9 GiB of 4.9 GiB copied, 204.8 KiB/s"


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1536, "1.5 KiB"),
        (3 * MIB, "3.0 MiB"),
        (1 << 40, "1024.0 GiB"),
    ],
)
def test_sizes_for_people(count: int, text: str) -> None:
    assert size_text(count) == text


# -------------------------------------------------------- what a registry has, or says it has


def test_blobs_of_a_neighbour_are_mounted(registry: HttpRegistry, opened: Open) -> None:
    layers = bundle(registry, 3)
    registry.mounts = True
    registry.split = True
    registry.owned = {("team/bundle", digest) for digest in registry.blobs}
    said: list[str] = []
    done = transfer(
        opened(registry),
        opened(registry, "other/place"),
        wanted=("1.0", None),
        tag="1.0",
        progress=said.append,
    )
    assert {(blob.copied, blob.mounted) for blob in done.blobs} == {(False, True)}
    assert registry.asked("PUT", "/blobs/") == []
    posts = registry.asked("POST", "/v2/other/place/blobs/uploads/")
    assert {(*seen.query["mount"], *seen.query["from"]) for seen in posts} == {
        (blob.digest, "team/bundle") for blob in [*layers, done.blobs[0].descriptor]
    }
    assert f"config: taken over from {registry.host}/team/bundle" in said


@pytest.mark.parametrize("answer", [None, Reply(403), Reply(404), Reply(405)])
def test_a_registry_that_mounts_nothing_is_sent_the_blobs(
    registry: HttpRegistry, opened: Open, answer: Reply | None
) -> None:
    bundle(registry, 3)
    registry.split = True
    registry.owned = {("team/bundle", digest) for digest in registry.blobs}
    registry.rules.append(lambda seen: answer if "mount=" in seen.target else None)
    done = transfer(opened(registry), opened(registry, "other"), wanted=("1.0", None), tag="1.0")
    assert {(blob.copied, blob.mounted) for blob in done.blobs} == {(True, False)}
    assert len(registry.asked("PUT", "/v2/other/blobs/")) == 4


def test_nothing_is_mounted_from_another_registry(
    registry: HttpRegistry, elsewhere: HttpRegistry, opened: Open
) -> None:
    bundle(registry, 2)
    transfer(opened(registry), opened(elsewhere, "other"), wanted=("1.0", None), tag="1.0")
    assert elsewhere.asked("POST", "mount=") == []


def unknown(times: int, code: str) -> Rule:
    """Refuse a manifest because of a blob, so many times."""
    left = [times]

    def rule(seen: Seen) -> Reply | None:
        if seen.method != "PUT" or "/manifests/" not in seen.target or not left[0]:
            return None
        left[0] -= 1
        return Reply(400, f'{{"errors": [{{"code": "X"}}, {{"code": "{code}"}}]}}'.encode())

    return rule


@pytest.mark.parametrize("code", ["MANIFEST_BLOB_UNKNOWN", "BLOB_UNKNOWN"])
def test_what_a_registry_only_says_it_has_is_sent(
    registry: HttpRegistry, elsewhere: HttpRegistry, opened: Open, code: str
) -> None:
    layers = bundle(registry, 3)
    elsewhere.rules += [
        unknown(1, code),
        lambda seen: (
            Reply(200) if seen.method == "HEAD" and layers[1].digest in seen.path else None
        ),
    ]
    done = transfer(opened(registry), opened(elsewhere), wanted=("1.0", None), tag="1.0")
    assert elsewhere.blobs == registry.blobs
    assert [blob.copied for blob in done.blobs] == [True] * 4
    assert len(elsewhere.asked("PUT", layers[0].digest)) == 1  # what was sent is not sent again
    assert elsewhere.manifests["1.0"] == registry.manifests["1.0"]


def test_a_registry_that_goes_on_saying_so_is_asked_once_more(
    registry: HttpRegistry, elsewhere: HttpRegistry, opened: Open
) -> None:
    bundle(registry, 3)
    elsewhere.blobs.update(registry.blobs)
    elsewhere.rules.append(unknown(9, "BLOB_UNKNOWN"))
    with pytest.raises(RegistryError, match="400"):
        transfer(opened(registry), opened(elsewhere), wanted=("1.0", None), tag="1.0")
    assert len(elsewhere.asked("PUT", "/manifests/")) == 2
    assert elsewhere.manifests == {}


def test_how_long_a_registry_may_take() -> None:
    policy = Policy()
    assert (policy.connect_seconds, policy.idle_seconds) == (10, 60)
    assert (policy.attempts, policy.longest_wait) == (4, 30)


@pytest.mark.parametrize("form", ["layout", "archive"])
@pytest.mark.parametrize("damage", ["other", "shorter"])
def test_what_is_damaged_is_named_where_it_lies(
    registry: HttpRegistry, opened: Open, tmp_path: Path, form: str, damage: str
) -> None:
    """The digest is taken once, on the way; the message is still about the source."""
    _, layer = bundle(registry, 2)
    place = tmp_path / form
    local: LayoutStore | ArchiveStore = (
        LayoutStore(place) if form == "layout" else ArchiveStore(place)
    )
    transfer(opened(registry), local, wanted=("1.0", None), tag="1.0")
    file = place / "blobs/sha256" / layer.digest.removeprefix("sha256:")
    if form == "archive":
        whole = place.read_bytes()
        start = whole.index(data(1))
        place.write_bytes(whole[:start] + b"!" + whole[start + 1 :])
    elif damage == "other":
        file.write_bytes(b"!" + data(1)[1:])
    else:
        file.write_bytes(data(1)[1:])
    registry.blobs.clear()
    registry.manifests.clear()
    local = LayoutStore(place) if form == "layout" else ArchiveStore(place)
    with pytest.raises(CorruptError, match=rf"blob {layer.digest} in \S*{form} has") as caught:
        transfer(local, opened(registry), wanted=("1.0", None), tag="1.0")
    assert caught.value.hint == "get the bundle again from where it came"
    assert layer.digest not in registry.blobs
    assert registry.manifests == {}
