"""The second packing: what is different about it, and what is said when its result is."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path

import pytest

from rra.artifact import Artifact, load_artifact
from rra.bundle import again
from rra.bundle.layout import LayoutStore
from rra.bundle.measured import MeasuredBundle
from rra.bundle.pack import pack_bundle
from rra.bundle.repack import DifferentError, Second, packed_elsewhere
from rra.errors import StorageError
from tests.support.bundles import locked_artifact, pack
from tests.support.disks import mounted_disk
from tests.support.needs import needs


@pytest.fixture
def artifact(tmp_path: Path) -> Artifact:
    """An artifact with some code."""
    return locked_artifact(tmp_path / "a", {"pkg/a.py": "1\n", "pkg/z.sh": "true\n"})


def second_pack(artifact: Artifact, second: Second, place: Path) -> None:
    pack_bundle(load_artifact(artifact.root), LayoutStore(place), watcher=second)


def test_an_added_file_is_named(artifact: Artifact, tmp_path: Path) -> None:
    with packed_elsewhere(artifact, None) as second:
        (artifact.root / "code" / "pkg" / "new.py").write_text("1\n")
        with pytest.raises(DifferentError, match="layer code is sha256:") as caught:
            second_pack(artifact, second, tmp_path / "b")
    assert [problem.path for problem in caught.value.problems] == ["code/pkg/new.py"]
    assert not (tmp_path / "b").exists()


def test_a_file_that_is_gone_is_named(artifact: Artifact, tmp_path: Path) -> None:
    with packed_elsewhere(artifact, None) as second:
        (artifact.root / "code" / "pkg" / "z.sh").unlink()
        with pytest.raises(DifferentError, match="layer code is sha256:") as caught:
            second_pack(artifact, second, tmp_path / "b")
    assert [problem.path for problem in caught.value.problems] == ["code/pkg/z.sh"]


def test_a_layer_that_is_there_once_is_named(artifact: Artifact, tmp_path: Path) -> None:
    place = artifact.root / "evidence" / "main" / "0123456789abcdef" / "record.json"
    with packed_elsewhere(artifact, None) as second:
        place.parent.mkdir(parents=True)
        place.write_text("{}")
        with pytest.raises(DifferentError, match="evidence-main is not there the second time"):
            second_pack(artifact, second, tmp_path / "b")
    with packed_elsewhere(artifact, None) as second:
        place.unlink()
        with pytest.raises(DifferentError, match="evidence-main is there the second time only"):
            second_pack(artifact, second, tmp_path / "b")


@needs("tmpfs")
@pytest.mark.parametrize("size", ["16k", "64k"])
def test_no_room_for_a_second_packing(
    artifact: Artifact, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: str
) -> None:
    (artifact.root / "code" / "pkg" / "large.py").write_text("x = 1\n" * 40_000)
    with mounted_disk(tmp_path / "disk", size) as disk:
        monkeypatch.setattr(tempfile, "tempdir", str(disk))
        with (
            pytest.raises(StorageError, match=r"no space left|second packing"),
            packed_elsewhere(artifact, None),
        ):
            pytest.fail("there was room for it")
        assert list(disk.iterdir()) == []


def test_another_time_gives_another_manifest(artifact: Artifact, tmp_path: Path) -> None:
    said = "the second time was different: its manifest"
    with (
        packed_elsewhere(artifact, "2024-02-29T11:00:00Z") as second,
        pytest.raises(DifferentError, match=said),
    ):
        second_pack(artifact, second, tmp_path / "b")
    assert not (tmp_path / "b").exists()


def test_another_compression_is_told_from_other_files(artifact: Artifact, tmp_path: Path) -> None:
    noted = again.Noted()
    pack(artifact, tmp_path / "b", watcher=noted)
    noted.layers[0]["digest"] = f"sha256:{0:064}"
    second = Second(artifact, artifact.root, {"layers": noted.layers, "manifest": noted.manifest})
    with pytest.raises(DifferentError, match="was compressed to sha256:") as caught:
        second_pack(artifact, second, tmp_path / "c")
    assert [problem.path for problem in caught.value.problems] == [noted.layers[0]["title"]]
    assert "no file differs now" in caught.value.hint


def test_a_second_packing_that_fails_is_no_agreement(artifact: Artifact, tmp_path: Path) -> None:
    second = Second(artifact, artifact.root, {"layers": [], "manifest": "", "error": "no room"})
    with pytest.raises(DifferentError, match="is not there the second time: no room"):
        second_pack(artifact, second, tmp_path / "b")


def test_the_other_process_works_on_a_copy_with_other_modes_and_times(
    artifact: Artifact, tmp_path: Path
) -> None:
    (artifact.root / "code" / "pkg" / "z.sh").chmod(0o755)
    (artifact.root / "code" / "latest").symlink_to("pkg/a.py")
    files = ["code/latest", "code/pkg/a.py", "code/pkg/z.sh"]
    again._copy(artifact.root, tmp_path / "copy", files)
    assert (tmp_path / "copy/code/latest").readlink() == Path("pkg/a.py")
    status = (tmp_path / "copy/code/pkg/z.sh").stat()
    assert (status.st_mode & 0o777, status.st_mtime) == (0o700, 86_400)
    assert not (tmp_path / "copy/code/pkg/a.py").stat().st_mode & 0o111
    with again._listed_backwards(), os.scandir(tmp_path / "copy/code/pkg") as entries:
        assert [entry.name for entry in entries] == ["z.sh", "a.py"]


def test_what_is_thrown_away_has_the_digests_of_what_is_kept(
    artifact: Artifact, tmp_path: Path
) -> None:
    kept = pack(artifact, tmp_path / "b")
    thrown = pack_bundle(artifact, MeasuredBundle("nowhere"), reuse=False)
    assert thrown.config == kept.config
    assert thrown.descriptor.digest == kept.descriptor.digest


def test_the_answer_is_a_document(artifact: Artifact, tmp_path: Path) -> None:
    job = {"root": str(artifact.root), "files": ["rra.yaml"], "created": None}
    (tmp_path / again.JOB).write_text(json.dumps(job))
    mask = os.umask(0o077)
    try:
        again.main(tmp_path)
    finally:
        os.umask(mask)
    answer = json.loads((tmp_path / again.ANSWER).read_bytes())
    assert answer["layers"] == []
    assert "is not locked" in answer["error"]
