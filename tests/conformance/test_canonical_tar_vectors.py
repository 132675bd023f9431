"""The test vectors of the canonical tar, by an independent writer, by GNU tar, and by ours."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import re
import subprocess
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from rra._base.files import staged_directory, walk_files
from rra.bundle import diff_id, write_archive
from rra.bundle.extract import extract_archive
from rra.errors import ArchiveError, FormatError, RraError, UnsafePathError
from tests.conformance.plain_tar import archive

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "schemas" / "conformance" / "v1" / "vectors" / "canonical-tar"
VECTORS = {path.stem: json.loads(path.read_text("utf-8")) for path in FOLDER.glob("*.json")}
GOOD = sorted(name for name, vector in VECTORS.items() if "sha256" in vector)
REFUSED = sorted(name for name, vector in VECTORS.items() if "refused" in vector)


def make(root: Path, files: list[dict[str, Any]]) -> list[PurePosixPath]:
    """Write a vector's files to disk."""
    for file in files:
        path = root / file["path"]
        path.parent.mkdir(parents=True, exist_ok=True)
        if "link" in file:
            path.symlink_to(file["link"])
            continue
        content = file.get("text", "").encode()
        path.write_bytes(base64.b64decode(file["base64"]) if "base64" in file else content)
        path.chmod(0o755 if file.get("executable") else 0o644)
    return [PurePosixPath(file["path"]) for file in files]


def test_there_are_vectors_of_both_kinds() -> None:
    assert len(GOOD) >= 10
    assert len(REFUSED) >= 25


@pytest.mark.parametrize("name", GOOD)
def test_the_independent_writer_gives_the_vector(name: str) -> None:
    vector = VECTORS[name]
    data, members = archive(vector["files"])
    assert members == vector["members"]
    assert (len(data), hashlib.sha256(data).hexdigest()) == (vector["size"], vector["sha256"])


@pytest.mark.clause("canonical-tar/diff-id")
@pytest.mark.clause("canonical-tar/padding")
@pytest.mark.clause("canonical-tar/modes")
@pytest.mark.clause("canonical-tar/long-paths")
@pytest.mark.clause("canonical-tar/pax-header")
@pytest.mark.clause("canonical-tar/pax-only-when-needed")
@pytest.mark.parametrize("name", GOOD)
def test_our_writer_gives_the_vector(name: str, tmp_path: Path) -> None:
    vector = VECTORS[name]
    files = make(tmp_path, vector["files"])
    stream = io.BytesIO()
    locked = write_archive(tmp_path, files, stream)
    assert stream.getvalue() == archive(vector["files"])[0]
    assert locked.diff_id == "sha256:" + vector["sha256"]
    assert (locked.size, locked.files) == (vector["size"], len(files))


@pytest.mark.parametrize("name", GOOD)
def test_our_reader_gives_the_files_back(name: str, tmp_path: Path) -> None:
    vector = VECTORS[name]
    with staged_directory(tmp_path / "out") as staging:
        expected = "sha256:" + vector["sha256"]
        stream = io.BytesIO(archive(vector["files"])[0])
        extract_archive(stream, staging, expected_diff_id=expected)
    out = tmp_path / "out"
    assert diff_id(out, walk_files(out)).diff_id == expected
    assert {str(path) for path in walk_files(out)} == {f["path"] for f in vector["files"]}


@pytest.mark.parametrize("name", [name for name in GOOD if name != "smallest"])
def test_gnu_tar_lists_the_members_of_the_vector(name: str, tmp_path: Path) -> None:
    vector = VECTORS[name]
    (tmp_path / "a.tar").write_bytes(archive(vector["files"])[0])
    command = ["tar", "--quoting-style=literal", "--show-transformed-names", "-tf"]
    done = subprocess.run([*command, tmp_path / "a.tar"], capture_output=True, check=True)
    assert done.stderr == b""
    assert [line.rstrip("/") for line in done.stdout.decode().splitlines()] == vector["members"]


@pytest.mark.clause("canonical-tar/names")
@pytest.mark.clause("canonical-tar/name-ends")
@pytest.mark.clause("canonical-tar/device-names")
@pytest.mark.clause("canonical-tar/name-lengths")
@pytest.mark.clause("canonical-tar/no-collisions")
@pytest.mark.clause("canonical-tar/links")
@pytest.mark.parametrize("name", REFUSED)
def test_our_reader_refuses_the_vector(name: str, tmp_path: Path) -> None:
    data, _ = archive(VECTORS[name]["files"])
    with (
        pytest.raises((UnsafePathError, ArchiveError)) as caught,
        staged_directory(tmp_path / "out") as staging,
    ):
        extract_archive(io.BytesIO(data), staging)
    assert caught.value.exit_code == 4
    assert not (tmp_path / "out").exists()


ON_DISK = [
    name
    for name in REFUSED
    if all(str(PurePosixPath(f["path"])) == f["path"] for f in VECTORS[name]["files"])
    and not any(
        ".." in PurePosixPath(f["path"]).parts or f["path"].startswith("/")
        for f in VECTORS[name]["files"]
    )
    and name not in {"refused-long-part", "refused-long-path", "refused-link-not-plain"}
]
"""Sets of files that a file system can hold; a producer mends a target that is not plain."""


@pytest.mark.parametrize("name", ON_DISK)
def test_our_writer_refuses_the_vector_and_names_the_clause(name: str, tmp_path: Path) -> None:
    vector = VECTORS[name]
    try:
        files = make(tmp_path, vector["files"])
    except OSError:
        pytest.fail("a file system holds these names")
    with pytest.raises(FormatError) as caught:
        diff_id(tmp_path, files)
    assert vector["refused"] in {problem.clause for problem in caught.value.problems}


@pytest.mark.clause("canonical-tar/plain-targets")
@pytest.mark.parametrize("target", ["d//x", "./d/x", "d/./x", "d/x/."])
def test_a_target_is_brought_into_its_plain_form(target: str, tmp_path: Path) -> None:
    files: list[dict[str, Any]] = [{"path": "d/x", "text": ""}, {"path": "l", "link": "d/x"}]
    names = make(tmp_path, [files[0], {"path": "l", "link": target}])
    expected = hashlib.sha256(archive(files)[0]).hexdigest()
    assert diff_id(tmp_path, names).diff_id == f"sha256:{expected}"


def test_the_vector_of_the_page() -> None:
    page = (ROOT / "spec" / "v1" / "canonical-tar.md").read_text("utf-8")
    fence = re.search(
        r"```json example=test test=\S+test_the_vector_of_the_page\n(.*?)```", page, re.DOTALL
    )
    assert fence is not None
    assert json.loads(fence[1]) == VECTORS["two-files"]


def test_the_digest_of_nothing_on_the_page() -> None:
    page = (ROOT / "spec" / "v1" / "canonical-tar.md").read_text("utf-8")
    assert VECTORS["smallest"]["sha256"] == hashlib.sha256(bytes(1024)).hexdigest()
    assert f"sha256:{VECTORS['smallest']['sha256']}" in page


def test_an_archive_of_a_vector_with_any_byte_changed_is_refused(tmp_path: Path) -> None:
    """Of the headers, the padding and the end: contents are told apart by the digest alone."""
    vector = VECTORS["links"]
    data, _ = archive(vector["files"])
    expected = "sha256:" + vector["sha256"]
    for offset in range(0, len(data), 7):
        changed = data[:offset] + bytes([data[offset] ^ 1]) + data[offset + 1 :]
        with pytest.raises(RraError), staged_directory(tmp_path / "out") as staging:
            extract_archive(io.BytesIO(changed), staging, expected_diff_id=expected)
