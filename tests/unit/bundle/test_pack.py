"""Packing: the same bytes from the same files, or nothing."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import tarfile
from pathlib import Path
from typing import Any

import pytest

from rra.artifact import load_artifact
from rra.bundle import compress, core_digest
from rra.bundle.annotations import creation_time
from rra.bundle.archive import ArchiveStore
from rra.bundle.compress import compressed, rechunked
from rra.bundle.layers import Thresholds
from rra.bundle.pack import pack_bundle
from rra.errors import CorruptError, FormatError, UnavailableError, UsageError
from tests.support.bundles import blob, lock, locked_artifact, pack, tree, unpack
from tests.support.needs import needs

DATA = {"d": {"path": "data"}}


@needs("zstd")
def test_a_layer_is_the_canonical_archive_compressed(tmp_path: Path) -> None:
    packed = pack(locked_artifact(tmp_path / "a"), tmp_path / "b")
    for record in packed.config.layers:
        zstd = blob(tmp_path / "b", record.digest)
        plain = subprocess.run(["zstd", "-dc", zstd], capture_output=True, check=True).stdout
        assert record.diff_id == "sha256:" + hashlib.sha256(plain).hexdigest()
        assert record.uncompressed_size == len(plain)
        assert record.size == zstd.stat().st_size


def test_the_core_is_that_of_the_files_and_of_the_lock(tmp_path: Path) -> None:
    artifact = locked_artifact(tmp_path / "a", {"data/x.bin": os.urandom(9000)}, data=DATA)
    packed = pack(artifact, tmp_path / "b", thresholds=Thresholds(file=4000))
    assert artifact.lock is not None
    assert packed.config.core == artifact.lock.core == core_digest(artifact)


@pytest.mark.clause("bundle/tag-of-a-version")
def test_the_version_is_the_tag(tmp_path: Path) -> None:
    artifact = locked_artifact(tmp_path / "a", version="1.2.0+cu128")
    assert pack(artifact, tmp_path / "b").tag == "1.2.0_cu128"
    assert pack(artifact, tmp_path / "b", "mine").tag == "mine"
    index = json.loads((tmp_path / "b/index.json").read_bytes())
    names = {e["annotations"]["org.opencontainers.image.ref.name"] for e in index["manifests"]}
    assert names == {"1.2.0_cu128", "mine"}
    assert packed_annotations(tmp_path / "b")["org.opencontainers.image.version"] == "1.2.0+cu128"


def packed_annotations(place: Path) -> dict[str, str]:
    entry = json.loads((place / "index.json").read_bytes())["manifests"][0]
    notes: dict[str, str] = json.loads(blob(place, entry["digest"]).read_bytes())["annotations"]
    return notes


@pytest.mark.clause("privacy/no-times-in-bundles")
def test_b3_times_modes_and_order_do_not_reach_the_bytes(tmp_path: Path) -> None:
    artifact = locked_artifact(tmp_path / "a", {"z.py": "1", "b/c.py": "2"})
    first = pack(artifact, tmp_path / "b").descriptor
    for path in (tmp_path / "a").rglob("*"):
        os.utime(path, (1, 1))
        if path.is_file():
            path.chmod(0o700 if path.stat().st_mode & 0o100 else 0o600)
    # Written again in another order, so that the file system lists it in another one too.
    again = tmp_path / "elsewhere" / "copy"
    for name, (kind, content) in sorted(tree(tmp_path / "a").items(), reverse=True):
        (again / name).parent.mkdir(parents=True, exist_ok=True)
        (again / name).write_bytes(content)
        (again / name).chmod(0o777 if kind == "program" else 0o666)
    assert pack(load_artifact(tmp_path / "a"), tmp_path / "c").descriptor == first
    assert pack(load_artifact(again), tmp_path / "d").descriptor == first


def test_a_folder_and_a_file_hold_the_same_manifest(tmp_path: Path) -> None:
    artifact = locked_artifact(tmp_path / "a")
    folder = pack(artifact, tmp_path / "b").descriptor
    assert pack_bundle(artifact, ArchiveStore(tmp_path / "b.tar")).descriptor == folder
    with tarfile.open(tmp_path / "b.tar") as tar:
        inside = {member.name for member in tar if member.isfile()}
    outside = {p.relative_to(tmp_path / "b").as_posix() for p in (tmp_path / "b").rglob("*")}
    assert inside <= outside


@pytest.mark.clause("lock/packed")
def test_an_artifact_without_lock_is_not_packed(tmp_path: Path) -> None:
    artifact = locked_artifact(tmp_path / "a")
    (tmp_path / "a" / "rra.lock").unlink()
    with pytest.raises(UsageError, match=r"has no rra\.lock") as caught:
        pack(load_artifact(artifact.root), tmp_path / "b")
    assert "rra lock" in caught.value.hint
    assert not (tmp_path / "b").exists()


@pytest.mark.clause("lock/packed")
def test_a_lock_of_other_files_is_noticed(tmp_path: Path) -> None:
    artifact = locked_artifact(tmp_path / "a")
    (tmp_path / "a" / "code" / "main.py").write_text("print(2)\n")
    with pytest.raises(CorruptError, match=r"code has changed \(1 file; locked with 1\)"):
        pack(artifact, tmp_path / "b")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a"]


@pytest.mark.clause("lock/packed")
def test_a_lock_of_other_definitions_is_noticed(tmp_path: Path) -> None:
    root = locked_artifact(tmp_path / "a").root
    text = (root / "rra.yaml").read_text()
    (root / "rra.yaml").write_text(text.replace("98.9", "99.9"))
    with pytest.raises(CorruptError, match=r"what rra\.yaml defines has changed"):
        pack(load_artifact(root), tmp_path / "b")


def test_b15_a_file_that_vanishes_while_packing_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    artifact = locked_artifact(tmp_path / "a")

    def vanish(line: str) -> None:
        if line.startswith("packing code"):
            (tmp_path / "a" / "code" / "main.py").unlink()

    with pytest.raises(FormatError, match=r"code/main\.py cannot be read") as caught:
        pack(artifact, tmp_path / "b", progress=vanish)
    assert [problem.path for problem in caught.value.problems] == ["code/main.py"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a"]


def test_a_file_that_changes_while_packing_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    artifact = locked_artifact(tmp_path / "a", {"big.bin": bytes(3 << 20)})
    real = compress.rechunked

    def meanwhile(blocks: Any, size: int = 1 << 20) -> Any:
        for block in real(blocks, size):
            with (tmp_path / "a" / "code" / "big.bin").open("ab") as file:
                file.write(b"more")
            yield block

    monkeypatch.setattr(compress, "rechunked", meanwhile)
    with pytest.raises(UnavailableError, match=r"code/big\.bin changed while it was read"):
        pack(artifact, tmp_path / "b")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a"]


@pytest.mark.clause("bundle/bomb-travels-plain")
def test_what_compresses_like_a_bomb_travels_as_it_is(tmp_path: Path) -> None:
    root = locked_artifact(tmp_path / "a").root
    with (root / "code" / "zeros.bin").open("wb") as file:
        file.truncate(65 << 20)
    packed = pack(lock(root), tmp_path / "b")
    (code,) = [record for record in packed.config.layers if record.element == "code"]
    assert code.compressor is None
    assert code.size == code.uncompressed_size > 65 << 20
    blobs = {path.name for path in (tmp_path / "b/blobs/sha256").iterdir()}
    named = {record.digest[7:] for record in packed.config.layers}
    assert len(blobs - named) == 2  # config and manifest, and nothing left of the attempt
    unpack(tmp_path / "b", tmp_path / "out")
    assert (tmp_path / "out/code/zeros.bin").stat().st_size == 65 << 20


def test_a_number_without_canonical_form_is_refused(tmp_path: Path) -> None:
    root = locked_artifact(tmp_path / "a").root
    manifest = json.loads((root / "rra.yaml").read_bytes())
    manifest["x-note"] = 1e300
    (root / "rra.yaml").write_text(json.dumps(manifest))
    with pytest.raises(FormatError, match="without a canonical form"):
        pack(lock(root), tmp_path / "b")
    assert not (tmp_path / "b").exists()


def test_compression_does_not_depend_on_how_the_bytes_come() -> None:
    data = os.urandom(1 << 20) + bytes(4 << 20) + b"reproducible " * 100_000
    whole = b"".join(compressed([data]))
    pieces = [data[start : start + 777] for start in range(0, len(data), 777)]
    assert b"".join(compressed(pieces)) == whole
    assert b"".join(rechunked(pieces, 1000)) == data
    assert {len(block) for block in list(rechunked(pieces, 1000))[:-1]} == {1000}
    assert list(rechunked([])) == []


# --------------------------------------------------------------------------------- created


@pytest.mark.clause("annotations/created")
def test_created_is_source_date_epoch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    assert creation_time(tmp_path) == "2023-11-14T22:13:20Z"
    for wrong in ("yesterday", "-1", "1e9", "99999999999999"):
        monkeypatch.setenv("SOURCE_DATE_EPOCH", wrong)
        with pytest.raises(UsageError, match="not a number of seconds"):
            creation_time(tmp_path)


@pytest.mark.clause("annotations/created")
@needs("git")
def test_created_is_the_newest_commit_of_an_artifact_that_is_a_repository(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    repository = tmp_path / "study"
    artifact = repository / "artifact"
    artifact.mkdir(parents=True)
    assert creation_time(artifact) is None
    env = {**os.environ, "GIT_COMMITTER_DATE": "2024-02-29T12:00:00+0100"}
    for place in (repository, artifact):
        subprocess.run(["git", "init", "-q"], cwd=place, check=True)
    assert creation_time(artifact) is None
    commit = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-q"]
    subprocess.run([*commit, "--allow-empty", "-m", "x"], cwd=repository, env=env, check=True)
    assert creation_time(artifact) is None, "the time of another repository is none of ours"
    assert creation_time(repository) == "2024-02-29T11:00:00Z"
