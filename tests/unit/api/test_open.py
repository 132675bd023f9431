from __future__ import annotations

from pathlib import Path

import pytest

from rra.api._open import open_artifact
from rra.api._unpack import bundle_reference
from rra.bundle.archive import ArchiveStore
from rra.bundle.layout import LayoutStore
from rra.errors import NotAnArtifactError, UsageError


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    Path("x.tar").write_bytes(b"\0" * 1024)
    Path("folder").mkdir()
    return "x.tar"


def test_a_file_without_its_scheme_is_called_a_file(file: str) -> None:
    with pytest.raises(UsageError, match=r"^x\.tar is a file without its scheme$") as caught:
        bundle_reference(file)
    assert caught.value.hint.endswith("give oci-archive:x.tar")


@pytest.mark.usefixtures("file")
def test_a_folder_without_its_scheme_is_called_a_directory() -> None:
    with pytest.raises(UsageError, match=r"^folder is a directory, not a bundle$") as caught:
        bundle_reference("folder")
    assert caught.value.hint.endswith("give oci-layout:folder")


@pytest.mark.usefixtures("file")
def test_what_is_not_there_is_called_neither() -> None:
    with pytest.raises(UsageError, match=r"^no such file or folder: nowhere$"):
        bundle_reference("nowhere")


def test_a_file_in_the_place_of_an_artifact_may_be_a_bundle(file: str) -> None:
    with (
        pytest.raises(NotAnArtifactError, match=r"^x\.tar is a file$") as caught,
        open_artifact(file),
    ):
        pytest.fail("it was opened")
    assert (
        caught.value.hint
        == "give the directory that holds rra.yaml, or a bundle: oci-archive:x.tar"
    )


def test_a_layout_that_is_a_file_and_an_archive_that_is_a_folder(file: str) -> None:
    with pytest.raises(UsageError, match=r"^x\.tar is a file, not a folder$") as caught:
        LayoutStore(Path(file)).get_manifest(None)
    assert caught.value.hint.endswith("give oci-archive:x.tar")
    with pytest.raises(UsageError, match=r"^folder is a folder, not a file$") as caught:
        ArchiveStore(Path("folder")).get_manifest(None)
    assert caught.value.hint.endswith("give oci-layout:folder")
