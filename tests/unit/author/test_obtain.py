from __future__ import annotations

import io
import json
import os
import stat
import subprocess
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from rra import api
from rra._base import process
from rra._base.unarchive import Limits, unarchive
from rra.artifact import load_artifact
from rra.author import SourceRequest, apply_init, is_elsewhere, obtain, plan_init
from rra.errors import (
    ArchiveError,
    CorruptError,
    RraError,
    UnavailableError,
    UnsafePathError,
    UsageError,
)
from tests.support.lookalikes import write
from tests.support.needs import needs

FILES: dict[str, str | bytes] = {
    "README.md": "# Study\n\n```\nbash run.sh\n```\n\n| m | acc |\n|-|-|\n| a | 0.5 |\n",
    "run.sh": "#!/bin/sh\necho acc 0.5\n",
    "LICENSE": "Permission is hereby granted, free of charge\n",
}
Members = list[tuple[str, bytes, dict[str, object]]]


def git(root: Path, *arguments: str) -> str:
    who = {
        f"GIT_{w}_{x}": "a@example.org" for w in ("AUTHOR", "COMMITTER") for x in ("NAME", "EMAIL")
    }
    env = {**os.environ, **who, "GIT_CONFIG_GLOBAL": "/dev/null"}
    done = subprocess.run(
        ["git", *arguments], cwd=root, env=env, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = write(tmp_path / "up" / "study", FILES)
    git(root, "init", "-q", "-b", "main")
    git(root, "add", ".")
    git(root, "commit", "-qm", "one")
    git(root, "tag", "v1")
    git(root, "checkout", "-qb", "paper")
    (root / "run.sh").write_text("#!/bin/sh\necho acc 0.7\n")
    git(root, "commit", "-qam", "two")
    git(root, "checkout", "-q", "main")
    return root


def tar(path: Path, members: Members) -> Path:
    with tarfile.open(path, "w:gz") as archive:
        for name, data, fields in members:
            info = tarfile.TarInfo(name)
            info.size = len(data)
            for key, value in fields.items():
                setattr(info, key, value)
            archive.addfile(info, io.BytesIO(data))
    return path


# ------------------------------------------------------------------------------------ git


@needs("git")
@pytest.mark.parametrize("bare", [False, True])
def test_a_repository_is_cloned_and_drafted(
    repository: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    bare: bool,  # noqa: FBT001
) -> None:
    monkeypatch.chdir(tmp_path)
    source = f"file://{repository}"
    if bare:
        git(tmp_path, "clone", "-q", "--bare", str(repository), "mirror.git")
        source = "mirror.git"
    assert is_elsewhere(source)
    result = api.init(SourceRequest(source))
    root = tmp_path / ("mirror" if bare else "study")
    assert result.root == root
    assert any(note.startswith("cloned from ") for note in result.notes)
    artifact = load_artifact(root)
    assert artifact.manifest.source is not None
    assert artifact.manifest.source.commit == git(repository, "rev-parse", "main")
    assert git(root, "status", "--porcelain", "--untracked-files=no") == ""
    with pytest.raises(UsageError, match="is there already"):
        api.init(SourceRequest(source))


@needs("git")
@pytest.mark.parametrize("ref", ["v1", "paper", "commit"])
def test_a_branch_a_tag_or_a_commit(repository: Path, tmp_path: Path, ref: str) -> None:
    name = "paper" if ref == "commit" else ref
    commit = git(repository, "rev-parse", f"{name}^{{commit}}")
    wanted = commit[:12] if ref == "commit" else ref
    obtain(SourceRequest(str(repository), ref=wanted), tmp_path / "x")
    assert git(tmp_path / "x", "rev-parse", "HEAD") == commit


@needs("git")
def test_what_cannot_be_fetched_is_said_and_leaves_nothing(
    repository: Path, tmp_path: Path
) -> None:
    wrong: list[tuple[SourceRequest, type[RraError], str]] = [
        (SourceRequest(f"file://{tmp_path}/nothing"), UnavailableError, "git cannot get"),
        (SourceRequest(str(repository), ref="--upload-pack=x"), UsageError, "no branch, tag or"),
        (SourceRequest("ftp://example.org/x"), UsageError, "does not fetch ftp"),
        (SourceRequest("ext::sh -c id", None), UnavailableError, "not allowed"),
        (SourceRequest("https://example.org/x.tar.gz"), UsageError, "download it first"),
    ]
    for request, kind, said in wrong:
        with pytest.raises(kind) as caught:
            obtain(request, tmp_path / "x")
        assert said in f"{caught.value.message} {caught.value.hint}"
        assert sorted(path.name for path in tmp_path.iterdir()) == ["up"]


@needs("git")
def test_a_password_in_an_address_is_written_nowhere(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = "https://user:sesame@127.0.0.1:1/lab/study.git"
    with pytest.raises(UnavailableError) as caught:
        obtain(SourceRequest(address), tmp_path / "x")
    assert "sesame" not in f"{caught.value.message}{caught.value.hint}"
    real = process.run

    def run(argv: list[str], **options: object) -> process.Completed:
        words = [str(repository) if word == address else word for word in map(str, argv)]
        done = real(words, **options)  # type: ignore[arg-type]
        if "clone" in words:
            real(["git", "remote", "set-url", "origin", address], cwd=options["cwd"])  # type: ignore[arg-type]
        return done

    monkeypatch.setattr(process, "run", run)
    found = obtain(SourceRequest(address), tmp_path / "x")
    assert found.notes[0] == "cloned from https://127.0.0.1:1/lab/study.git"
    kept = b"".join(path.read_bytes() for path in (tmp_path / "x").rglob("*") if path.is_file())
    assert b"sesame" not in kept


def test_what_is_elsewhere(tmp_path: Path) -> None:
    write(tmp_path, {"d/x": "", "a.zip": ""})
    for source in ("https://h/x", "ssh://git@h/x", "git@h:lab/x.git", str(tmp_path / "a.zip")):
        assert is_elsewhere(source)
    for source in (".", str(tmp_path / "d"), "nothing-there", "C"):
        assert not is_elsewhere(source)


@needs("git")
def test_one_that_has_files_of_ours_is_put_into_code(tmp_path: Path) -> None:
    members: Members = [(f"study/{n}", str(d).encode(), {}) for n, d in FILES.items()]
    members.append(("study/environment/Dockerfile", b"FROM x\n", {}))
    result = api.init(SourceRequest(str(tar(tmp_path / "s.tgz", members)), tmp_path / "out"))
    assert "put into code/, since it has its own environment/" in result.notes
    assert (tmp_path / "out/code/environment/Dockerfile").is_file()
    assert load_artifact(tmp_path / "out").manifest.code.root == "code"


def test_a_dry_run_leaves_nothing(tmp_path: Path) -> None:
    members: Members = [(f"study/{n}", str(d).encode(), {}) for n, d in FILES.items()]
    archive = tar(tmp_path / "s.tgz", members)
    result = api.init(SourceRequest(str(archive), tmp_path / "out"), dry_run=True)
    assert result.root == tmp_path / "out"
    assert "rra.yaml" in result.written
    assert list(tmp_path.iterdir()) == [archive]


# ------------------------------------------------------------------------------- archives


def zipped(path: Path) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in FILES.items():
            info = zipfile.ZipInfo(f"study-main/{name}")
            info.external_attr = (0o100755 if name == "run.sh" else 0o100644) << 16
            archive.writestr(info, data)
        link = zipfile.ZipInfo("study-main/start")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(link, "run.sh")
        archive.writestr("__MACOSX/study-main/._run.sh", "x")
        archive.writestr("study-main/.git/config", "[core]\n fsmonitor = touch pwned\n")
    return path


def test_a_zip_archive_with_one_folder_around_everything(tmp_path: Path) -> None:
    found = obtain(SourceRequest(str(zipped(tmp_path / "s.zip"))), tmp_path / "x")
    assert found.notes[0].startswith("unpacked from s.zip, sha256:")
    assert found.notes[1] == "left out of the archive: .git, __MACOSX"
    names = sorted(path.name for path in (tmp_path / "x").iterdir())
    assert names == ["LICENSE", "README.md", "run.sh", "start"]
    assert (tmp_path / "x/run.sh").stat().st_mode & 0o777 == 0o755
    assert (tmp_path / "x/LICENSE").stat().st_mode & 0o777 == 0o644
    assert (tmp_path / "x/start").readlink() == Path("run.sh")


@pytest.mark.parametrize("suffix", ["tar", "tar.gz", "tar.bz2", "tar.xz"])
def test_tar_archives_of_every_compression(tmp_path: Path, suffix: str) -> None:
    write(tmp_path / "study", FILES)
    path = tmp_path / f"s.{suffix}"
    mode = "w" if suffix == "tar" else f"w:{suffix[4:]}"
    with tarfile.open(path, mode) as archive:  # type: ignore[call-overload]
        archive.add(tmp_path / "study", "study")
        hard = tarfile.TarInfo("study/again.sh")
        hard.type, hard.linkname = tarfile.LNKTYPE, "study/run.sh"
        archive.addfile(hard)
    obtain(SourceRequest(str(path)), tmp_path / "x")
    assert (tmp_path / "x/again.sh").read_bytes() == str(FILES["run.sh"]).encode()
    assert sorted(p.name for p in (tmp_path / "x").iterdir()) == sorted([*FILES, "again.sh"])


HOSTILE: dict[str, Members] = {
    "climbs out": [("../evil", b"x", {})],
    "absolute": [("/tmp/evil", b"x", {})],
    "backslash": [("..\\evil", b"x", {})],
    "link out": [("l", b"", {"type": tarfile.SYMTYPE, "linkname": "../../etc/passwd"})],
    "absolute link": [("l", b"", {"type": tarfile.SYMTYPE, "linkname": "/etc/passwd"})],
    "hard link out": [("l", b"", {"type": tarfile.LNKTYPE, "linkname": "../evil"})],
    "hard link to nothing": [("l", b"", {"type": tarfile.LNKTYPE, "linkname": "nothing"})],
    "hard link to a link": [
        ("a", b"", {"type": tarfile.SYMTYPE, "linkname": "b"}),
        ("l", b"", {"type": tarfile.LNKTYPE, "linkname": "a"}),
    ],
    "through a link": [
        ("d", b"", {"type": tarfile.SYMTYPE, "linkname": "."}),
        ("d/evil", b"x", {}),
    ],
    "link behind a link": [
        ("d", b"", {"type": tarfile.SYMTYPE, "linkname": "e"}),
        ("d/l", b"", {"type": tarfile.SYMTYPE, "linkname": "../x"}),
    ],
    "device": [("d", b"", {"type": tarfile.CHRTYPE})],
    "pipe": [("d", b"", {"type": tarfile.FIFOTYPE})],
    "twice": [("a", b"1", {}), ("a", b"2", {})],
    "file and folder": [("a", b"1", {}), ("a/b", b"2", {})],
}


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_archives_are_refused_and_leave_nothing(tmp_path: Path, case: str) -> None:
    path = tar(tmp_path / "s.tgz", HOSTILE[case])
    with pytest.raises((UnsafePathError, ArchiveError)):
        obtain(SourceRequest(str(path)), tmp_path / "x")
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    "spoil",
    [lambda data: data[: len(data) // 2], lambda data: data[:60] + b"\xff" * 40 + data[100:]],
)
def test_damaged_archives_are_said_to_be(tmp_path: Path, spoil: Callable[[bytes], bytes]) -> None:
    path = tar(tmp_path / "s.tgz", [("a", os.urandom(50_000), {})])
    path.write_bytes(spoil(path.read_bytes()))
    with pytest.raises((ArchiveError, UsageError)):
        obtain(SourceRequest(str(path)), tmp_path / "x")
    assert list(tmp_path.iterdir()) == [path]


def test_a_bomb_is_bounded_by_what_is_read(tmp_path: Path) -> None:
    path = tmp_path / "s.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("zeros", b"\0" * 3_000_000)
    (tmp_path / "x").mkdir()
    with pytest.raises(ArchiveError, match="larger than is unpacked"):
        unarchive(path, tmp_path / "x", Limits(size=2_000_000))
    assert (tmp_path / "x/zeros").stat().st_size <= 2_000_000
    many = tar(tmp_path / "s.tgz", [(f"f{i}", b"", {}) for i in range(6)])
    (tmp_path / "y").mkdir()
    with pytest.raises(ArchiveError, match="more than 5 entries"):
        unarchive(many, tmp_path / "y", Limits(files=5))


def test_an_archive_that_is_cut_off_is_called_so(tmp_path: Path) -> None:
    whole = zipped(tmp_path / "whole.zip").read_bytes()
    cut = tmp_path / "cut.zip"
    cut.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ArchiveError, match="is a zip archive that is cut off") as caught:
        obtain(SourceRequest(str(cut)), tmp_path / "out")
    assert f"its first {len(whole) // 2:,} bytes are here" in caught.value.message
    assert caught.value.hint.startswith("get it again")
    cut.write_bytes(b"")
    with pytest.raises(UsageError, match="is empty"):
        obtain(SourceRequest(str(cut)), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_file_that_is_no_archive(tmp_path: Path) -> None:
    write(tmp_path, {"paper.pdf": "%PDF"})
    with pytest.raises(UsageError, match="not an archive that is known"):
        obtain(SourceRequest(str(tmp_path / "paper.pdf")), tmp_path / "x")


# --------------------------------------------------------- what a repository may bring along


def test_a_staged_plan_of_a_stranger_writes_nothing_outside(tmp_path: Path) -> None:
    plan = {"name": "x", "moves": [], "files": {"../victim": 0o644}}
    root = write(
        tmp_path / "r",
        {**FILES, ".rra-staging-init/plan.json": json.dumps(plan), ".rra-staging-victim": "evil"},
    )
    (root / ".rra-staging-init/files").mkdir()
    with pytest.raises(CorruptError, match="no plan of rra"):
        apply_init(plan_init(root))
    assert not (tmp_path / "victim").exists()
    members: Members = [("r/a.py", b"print(1)\n", {}), ("r/.rra-staging-init/plan.json", b"{}", {})]
    result = api.init(SourceRequest(str(tar(tmp_path / "s.tgz", members)), tmp_path / "out"))
    assert not any("interrupted" in note for note in result.notes)
