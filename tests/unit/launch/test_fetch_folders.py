"""Folders of data, fetched as archives: unpacked safely, whole and by digest, or not at all."""

from __future__ import annotations

import io
import shutil
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from rra import api
from rra._base.files import STAGING_PREFIX
from rra.artifact import load_artifact
from rra.errors import UnavailableError
from rra.launch import fetch, fetch_data
from rra.launch.fetch import is_folder
from rra.model import DataItem, DataSource
from rra.registry import Policy
from tests.support.http_registry import HttpRegistry, Reply, Seen, http_registry, sha256
from tests.support.runs import write_artifact
from tests.unit.registry.test_download import Web

FILES = {"a.csv": b"1\n", "deep/b.csv": b"2\n"}
LINES = "".join(f"{sha256(data)}  data/images/{name}\n" for name, data in FILES.items())
QUICK = Policy(connect_seconds=5, idle_seconds=5, sleep=lambda _: None)
READS = 'cat "$RRA_DATA_DIR"/images/*.csv > "$RRA_OUTPUT_DIR/metrics.json"\n'


def zipped(files: dict[str, bytes]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return made.getvalue()


def tarred(files: dict[str, bytes], link: str = "") -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz") as archive:
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
        if link:
            member = tarfile.TarInfo("link")
            member.type, member.linkname = tarfile.SYMTYPE, link
            archive.addfile(member)
    return made.getvalue()


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[HttpRegistry]:
    monkeypatch.setenv("RRA_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("RRA_OFFLINE", raising=False)
    with http_registry() as found:
        yield found


def place(root: Path, server: HttpRegistry, name: str, archive: bytes) -> Path:
    """Write an artifact whose folder of data comes from an archive of a server."""
    server.rules.append(Web(server, {f"/{name}": archive}))
    source = {"url": f"{server.url}/{name}"}
    data = {"images": {"path": "data/images", "access": "fetch", "sources": [source]}}
    launchers = {"main": {"outputs": ["metrics.json"], "inputs": ["images"]}}
    write_artifact(root, {"launchers/main.sh": READS}, launchers=launchers, data=data)
    return root


def get(root: Path) -> list[str]:
    artifact = load_artifact(root)
    return [
        one.sha256 for one in fetch_data(artifact, ["main"], progress=lambda _: None, policy=QUICK)
    ]


@pytest.mark.parametrize(
    ("name", "archive"),
    [
        ("images.zip", zipped(FILES)),
        ("images.zip", zipped({f"images-1.0/{name}": data for name, data in FILES.items()})),
        ("images.tar.gz", tarred(FILES)),
        ("IMAGES.TGZ", tarred({f"x/{name}": data for name, data in FILES.items()})),
    ],
    ids=["zip", "zip-enclosed", "tar", "tar-enclosed"],
)
def test_a_folder_is_locked_by_its_files_and_fetched_again(
    tmp_path: Path, server: HttpRegistry, name: str, archive: bytes
) -> None:
    root = place(tmp_path / "a", server, name, archive)
    api.lock(root, keep=True)
    lock = load_artifact(root).lock
    assert lock is not None
    assert (lock.data["images"].sha256, lock.data["images"].size) == (sha256(LINES.encode()), 4)
    shutil.rmtree(root / "data")
    assert get(root) == [lock.data["images"].sha256]
    images = root / "data/images"
    assert {path.relative_to(images).as_posix() for path in images.rglob("*.csv")} == set(FILES)
    assert get(root) == [], "it is there"
    done = api.run(root, sandbox="none")
    assert (root / "outputs/main/metrics.json").read_text() == "1\n", done


def test_another_folder_leaves_nothing(tmp_path: Path, server: HttpRegistry) -> None:
    root = place(tmp_path / "a", server, "images.zip", zipped(FILES))
    api.lock(root, keep=True)
    shutil.rmtree(root / "data")
    server.rules.clear()
    server.rules.append(Web(server, {"/images.zip": zipped({**FILES, "a.csv": b"7\n"})}))
    why = f"the archive holds sha256:.*, not {sha256(LINES.encode())}"
    with pytest.raises(UnavailableError, match=why):
        get(root)
    assert not (root / "data/images").exists()


@pytest.mark.parametrize(
    ("name", "archive", "why"),
    [
        ("images.zip", zipped({"../out.csv": b"1"}), "out.csv"),
        ("images.zip", zipped({"/tmp/out.csv": b"1"}), "out.csv"),
        ("images.tgz", tarred(FILES, link="../../../outside"), "link"),
        ("images.tgz", tarred(FILES)[:90], "cannot be read"),
        ("images.zip", zipped({}), "holds no file"),
        ("images.zip", b"<html>", "cannot be"),
    ],
    ids=["parent", "absolute", "link", "cut", "empty", "none"],
)
def test_an_archive_that_is_hostile_or_none_leaves_nothing(
    tmp_path: Path, server: HttpRegistry, name: str, archive: bytes, why: str
) -> None:
    root = place(tmp_path / "a", server, name, archive)
    with pytest.raises(UnavailableError, match=why):
        get(root)
    assert not (root / "data/images").exists()
    assert not (tmp_path / "out.csv").exists()
    assert list(root.rglob(f"{STAGING_PREFIX}*")) == []


def test_a_doi_is_asked_for_the_archive_of_that_name(
    tmp_path: Path, server: HttpRegistry, monkeypatch: pytest.MonkeyPatch
) -> None:
    def repository(seen: Seen) -> Reply | None:
        if seen.path == "/10.5281/zenodo.42":
            return Reply(302, headers={"Location": f"{server.url}/records/42"})
        if seen.path == "/records/42":
            return Reply(200, b"<html></html>", {"Content-Type": "text/html"})
        wanted = seen.path.endswith("/42/files/images.zip/content")
        return Reply(200, zipped(FILES)) if wanted else None

    server.rules.append(repository)
    monkeypatch.setattr(fetch, "_RESOLVER", f"{server.url}/")
    source = {"doi": "10.5281/zenodo.42"}
    data = {"images": {"path": "data/images", "access": "fetch", "sources": [source]}}
    launchers = {"main": {"outputs": ["metrics.json"], "inputs": ["images"]}}
    root = tmp_path / "a"
    write_artifact(root, {"launchers/main.sh": READS}, launchers=launchers, data=data)
    assert get(root) == [sha256(LINES.encode())]


@pytest.mark.parametrize(
    ("path", "source", "folder"),
    [
        ("data/images", {"url": "https://h.example/i.zip?x=1"}, True),
        ("data/images", {"url": "https://h.example/i.bin"}, False),
        ("data/images.zip", {"url": "https://h.example/images.zip"}, False),
        ("data/images", {"doi": "10.5281/zenodo.1"}, True),
        ("data/x.csv", {"doi": "10.5281/zenodo.1"}, False),
    ],
)
def test_what_is_unpacked(path: str, source: dict[str, str], *, folder: bool) -> None:
    item = DataItem.model_validate({"path": path, "access": "fetch", "sources": [source]})
    assert is_folder(DataSource.model_validate(source), item) == folder
