"""An artifact goes to a registry without a copy of it: read twice, and held to the first time."""

from __future__ import annotations

import os
import random
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from rra.api import pack, push
from rra.artifact import Artifact
from rra.bundle import content, measured
from rra.bundle.layers import Thresholds
from rra.bundle.measured import MeasuredBundle
from rra.bundle.pack import pack_bundle
from rra.bundle.reader import read_bundle
from rra.bundle.store import Descriptor, read_blob
from rra.bundle.unpack import unpack_bundle
from rra.errors import CorruptError, RegistryError, UnavailableError, UsageError
from rra.registry import RegistryStore, fetched
from rra.registry.transfer import transfer
from tests.support.bundles import locked_artifact
from tests.support.bundles import pack as packed
from tests.support.http_registry import HttpRegistry, Reply, Seen

Open = Callable[..., RegistryStore]

NOISE = random.Random(5).randbytes(300_000)
BIG = Thresholds(file=100_000)
DATA = {
    "numbers": {
        "access": "bundled",
        "path": "data/numbers.bin",
        "description": "noise",
        "licence": "CC0-1.0",
    }
}


@pytest.fixture
def artifact(tmp_path: Path) -> Artifact:
    """An artifact with a compressed layer that memory does not keep, a bomb, and a raw one."""
    files: dict[str, str | bytes] = {
        "data/numbers.bin": NOISE,
        "pkg/text.txt": random.Random(1).randbytes(200_000).hex(),
        "LICENSE": "MIT\n",
    }
    return locked_artifact(tmp_path / "tiny", files, data=DATA)


def measure(artifact: Artifact, **more: object) -> tuple[MeasuredBundle, str]:
    made = MeasuredBundle(str(artifact.root))
    done = pack_bundle(artifact, made, thresholds=BIG, **more)  # type: ignore[arg-type]
    return made, done.descriptor.digest


def test_it_is_the_bundle_that_pack_makes(
    registry: HttpRegistry, artifact: Artifact, tmp_path: Path
) -> None:
    made = pack(artifact.root, f"oci-layout:{tmp_path / 'layout'}")
    assert made.packed is not None
    pushed = push(str(artifact.root), f"{registry.host}/team/tiny")
    digest = made.packed.descriptor.digest
    assert pushed.target == f"{registry.host}/team/tiny:1.0.0@{digest}"
    assert pushed.source == str(artifact.root)
    blobs = {f"sha256:{path.name}" for path in (tmp_path / "layout/blobs/sha256").iterdir()}
    assert set(registry.blobs) | {digest} == blobs
    again = push(str(artifact.root), f"{registry.host}/team/tiny").pushed
    assert again is not None
    assert again.sent == 0


def test_nothing_is_sent_before_all_is_measured(registry: HttpRegistry, artifact: Artifact) -> None:
    said: list[tuple[str, int]] = []
    push(
        str(artifact.root),
        f"{registry.host}/team/tiny",
        progress=lambda line: said.append((line, len(registry.blobs))),
    )
    packing = [count for line, count in said if line.startswith("packing ")]
    assert packing
    assert set(packing) == {0}


@pytest.mark.parametrize("kept", [0, 4 << 20])
@pytest.mark.parametrize("reuse", [False, True])
def test_blobs_are_made_again(
    artifact: Artifact, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, kept: int, reuse: bool
) -> None:
    monkeypatch.setattr(measured, "KEPT_BLOB", kept)
    made, digest = measure(artifact, reuse=reuse)
    layout = packed(artifact, tmp_path / "b", thresholds=BIG, reuse=False)
    assert digest == layout.descriptor.digest
    bundle = read_bundle(made, digest=digest)
    forms = {layer.descriptor.media_type.partition(".v1.")[2] for layer, _ in bundle.layers}
    assert forms == {"raw", "tar+zstd"}
    for layer, _ in bundle.layers:
        place = tmp_path / "b/blobs/sha256" / layer.descriptor.digest.removeprefix("sha256:")
        for _ in range(2):
            assert read_blob(made, layer.descriptor, 1 << 30) == place.read_bytes()


def test_a_large_file_is_unpacked_without_a_second_copy(
    registry: HttpRegistry,
    opened: Open,
    artifact: Artifact,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("RRA_CACHE", str(tmp_path / "cache"))
    made, digest = measure(artifact)
    store = opened(registry)
    transfer(made, store, wanted=(None, digest), tag="1.0.0")
    bundle = read_bundle(store, digest=digest)
    linked: list[str] = []
    link = os.link

    def watched(source: object, target: object, **how: object) -> None:
        link(source, target, **how)  # type: ignore[arg-type]
        linked.append(os.fsdecode(target))  # type: ignore[arg-type]

    monkeypatch.setattr(os, "link", watched)
    layers = [(layer.title, layer.descriptor) for layer, _ in bundle.layers]
    with fetched(store, layers, lambda _: None) as here:
        unpack_bundle(bundle, here, tmp_path / "out")
    placed = tmp_path / "out/data/numbers.bin"
    assert linked == ["numbers.bin"]
    assert placed.read_bytes() == NOISE
    # The name that it came under is gone, so nothing else changes it.
    assert (placed.stat().st_nlink, stat.S_IMODE(placed.stat().st_mode)) == (1, 0o644)
    assert list((tmp_path / "cache/partial").iterdir()) == []


def test_a_bomb_travels_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rra.bundle.limits.RATIO_FLOOR", 1000)
    monkeypatch.setattr(measured, "KEPT_BLOB", 0)
    artifact = locked_artifact(tmp_path / "bomb", {"pkg/zeros": bytes(3_000_000)})
    made, digest = measure(artifact)
    assert digest == packed(artifact, tmp_path / "b", thresholds=BIG).descriptor.digest
    (code,) = [one for one, _ in read_bundle(made).layers if one.title == "code"]
    assert code.descriptor.media_type == "application/vnd.rra.code.v1.tar"
    assert len(read_blob(made, code.descriptor, 1 << 30)) == code.descriptor.size > 3_000_000


# ---------------------------------------------------------------- files that change in between


def titled(made: MeasuredBundle, title: str) -> Descriptor:
    (found,) = [one.descriptor for one, _ in read_bundle(made).layers if one.title == title]
    return found


@pytest.mark.parametrize(
    ("name", "title"), [("code/pkg/text.txt", "code"), ("data/numbers.bin", "data/numbers.bin")]
)
def test_a_file_that_changes_between_the_two_times(
    registry: HttpRegistry,
    opened: Open,
    artifact: Artifact,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    title: str,
) -> None:
    """It is named, and no tag is written."""
    monkeypatch.setattr(measured, "KEPT_BLOB", 0)
    made, digest = measure(artifact, reuse=False)
    place = artifact.root / name
    place.write_bytes(place.read_bytes()[:-1] + b"x")
    with pytest.raises(UnavailableError, match=f"{name} changed while it was read"):
        transfer(made, opened(registry), wanted=(None, digest), tag="1.0.0")
    assert titled(made, title).digest not in registry.blobs
    assert registry.manifests == {}


@pytest.mark.parametrize("name", ["code/pkg/text.txt", "data/numbers.bin"])
def test_a_file_that_changes_and_keeps_its_length_and_time(
    registry: HttpRegistry,
    opened: Open,
    artifact: Artifact,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
) -> None:
    monkeypatch.setattr(measured, "KEPT_BLOB", 0)
    made, digest = measure(artifact, reuse=False)
    place = artifact.root / name
    status = place.stat()
    changed = bytearray(place.read_bytes())
    changed[100] ^= 1
    with place.open("r+b") as file:
        file.write(changed)
    os.utime(place, ns=(status.st_atime_ns, status.st_mtime_ns))
    before = dict(registry.blobs)
    with pytest.raises(CorruptError, match=r"has other content|is longer|ends after"):
        transfer(made, opened(registry), wanted=(None, digest), tag="1.0.0")
    assert registry.manifests == {}
    assert before == {}


@pytest.mark.parametrize("name", ["code/pkg/text.txt", "data/numbers.bin"])
def test_a_file_that_is_gone_the_second_time(
    registry: HttpRegistry,
    opened: Open,
    artifact: Artifact,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
) -> None:
    monkeypatch.setattr(measured, "KEPT_BLOB", 0)
    made, digest = measure(artifact, reuse=False)
    (artifact.root / name).unlink()
    with pytest.raises(UnavailableError, match=f"{name} cannot be read any more"):
        transfer(made, opened(registry), wanted=(None, digest), tag="1.0.0")
    assert registry.manifests == {}


def test_a_part_of_a_file_that_is_gone_the_first_time(tmp_path: Path) -> None:
    with pytest.raises(UnavailableError, match="x cannot be read any more"):
        content.FilePart(tmp_path, Path("x"), 0, 1)  # type: ignore[arg-type]


def test_a_push_of_a_tree_that_changes_leaves_the_old_tag(
    registry: HttpRegistry, artifact: Artifact, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measured, "KEPT_BLOB", 0)
    monkeypatch.setenv("RRA_CACHE", "/proc/none")
    target = f"{registry.host}/team/tiny"
    old = registry.add_manifest("1.0.0")
    place = artifact.root / "code/pkg/text.txt"

    def change(line: str) -> None:
        if line.startswith("config: "):
            place.write_text("another")

    with pytest.raises(UnavailableError, match="changed while it was read"):
        push(str(artifact.root), target, progress=change)
    assert registry.manifests["1.0.0"][0] == old
    assert push(str(artifact.root), target).exit_code == 1  # rra.lock is that of other files
    assert registry.manifests["1.0.0"][0] == old


# ----------------------------------------------------------------- registries, rules, the rest


def test_what_a_registry_only_says_it_has_is_made_and_sent(
    registry: HttpRegistry, artifact: Artifact, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measured, "KEPT_BLOB", 0)
    refusals = [1]

    def lie(seen: Seen) -> Reply | None:
        if seen.method == "HEAD":
            return Reply(200)
        if seen.method == "PUT" and "/manifests/" in seen.path and refusals:
            refusals.pop()
            return Reply(400, b'{"errors": [{"code": "MANIFEST_BLOB_UNKNOWN"}]}')
        return None

    registry.rules.append(lie)
    pushed = push(str(artifact.root), f"{registry.host}/team/tiny").pushed
    assert pushed is not None
    assert {blob.copied for blob in pushed.blobs} == {True}
    assert {blob.descriptor.digest for blob in pushed.blobs} == set(registry.blobs)
    assert "1.0.0" in registry.manifests


def test_a_connection_that_breaks_once_is_made_good(
    registry: HttpRegistry, opened: Open, artifact: Artifact
) -> None:
    registry.read_limit = 100_000
    made, digest = measure(artifact)
    done = transfer(made, opened(registry), wanted=(None, digest), tag="1.0.0")
    assert {blob.descriptor.digest for blob in done.blobs} == set(registry.blobs)


def test_rules_stop_it_before_anything_is_sent(registry: HttpRegistry, artifact: Artifact) -> None:
    (artifact.root / "guide/GUIDE.md").write_text("TODO\n")
    (artifact.root / "code/key.pem").write_text("-----BEGIN " + "PRIVATE KEY-----\nMIIEvQ\n")
    stopped = push(str(artifact.root), f"{registry.host}/team/tiny")
    assert (stopped.exit_code, stopped.pushed) == (1, None)
    assert stopped.problems
    assert registry.asked("POST") == registry.asked("PUT") == []


def test_a_registry_that_is_not_there_is_said_before_anything_is_read(artifact: Artifact) -> None:
    said: list[str] = []
    with pytest.raises(RegistryError, match="no registry answers"):
        push(str(artifact.root), "127.0.0.1:9/team/tiny", progress=said.append)
    assert said == []


def test_a_measured_bundle_is_no_place_to_look_around_in(artifact: Artifact) -> None:
    made, digest = measure(artifact)
    assert made.tags() == []
    assert made.referrers(digest) == []
    with pytest.raises(UsageError, match="statements are kept beside a bundle"):
        made.put_referrer(b"{}", made.get_manifest(None)[1])
    assert made.get_manifest(None)[1].digest == digest
    with pytest.raises(UsageError, match=r"was not made into a bundle 1\.0\.0"):
        made.get_manifest("1.0.0")
    with pytest.raises(CorruptError, match="is no part of"):
        made.chunks(Descriptor("x", "sha256:" + "0" * 64, 1))
    with pytest.raises(TypeError, match="once more"):
        made.put(iter([b"x"]), "x")
    with pytest.raises(CorruptError, match="where"):
        made.put_blob(Descriptor("x", "sha256:" + "0" * 64, 1), [b"x"])


def test_memory_holds_few_blobs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measured, "KEPT_BLOB", 10)
    monkeypatch.setattr(measured, "KEPT_BYTES", 25)
    made = MeasuredBundle("test")

    class Once:
        """Chunks of which memory keeps a copy, or has to ask for again."""

        def __init__(self, data: bytes) -> None:
            self.data, self.asked = data, 0

        def __iter__(self) -> Iterator[bytes]:
            self.asked += 1
            yield self.data

    blobs = [Once(bytes([n]) * size) for n, size in enumerate((9, 11, 9, 9, 7))]
    found = [made.put(blob, "x") for blob in blobs]
    for descriptor, blob in zip(found, blobs, strict=True):
        assert read_blob(made, descriptor, 100) == blob.data
    assert [blob.asked for blob in blobs] == [1, 2, 1, 2, 1]
    made.discard(found[0].digest)
    assert not made.has(found[0].digest)
    again = Once(b"x" * 8)
    read_blob(made, made.put(again, "x"), 100)
    assert again.asked == 1
