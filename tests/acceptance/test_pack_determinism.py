"""The same artifact gives the same digest: packed again under everything that may differ (B3)."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from rra import api
from tests.support.bundles import locked_artifact, tree
from tests.support.needs import needs
from tests.support.pythons import OTHERS, environment_with, find_python
from tests.support.source import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

NOBODY = 65534


@pytest.fixture(scope="module")
def artifact(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An artifact with everything that could be written down in more than one way."""
    root = tmp_path_factory.mktemp("determinism") / "a"
    (root / "code" / "pkg").mkdir(parents=True)
    (root / "code" / "latest.txt").symlink_to("pkg/é.txt")
    files: dict[str, str | bytes] = {
        "code/pkg/é.txt": "façade ıİ ß\n",
        "code/pkg/Z.py": "Z = 1\n",
        "code/pkg/a.py": "a = 1\n",
        "code/" + "/".join(["long-folder-name"] * 12) + "/file.txt": "deep\n",
        "code/tool.sh": "#!/bin/sh\necho 1\n",
        "data/table.csv": "".join(f"{n},{n * n}\n" for n in range(20_000)),
        "data/ÿ.bin": bytes(range(256)) * 40,
    }
    locked_artifact(
        root,
        files,
        data={"all": {"path": "data"}},
        title="Äther, ıİ and 1e21",
        description="numbers: 1.0, 1e21, 0.1",
    )
    (root / "code" / "tool.sh").chmod(0o755)
    subprocess.run([sys.executable, "-m", "rra", "lock", "--keep", root], check=True)
    return root


def packed(
    artifact: Path,
    target: Path,
    *,
    python: str | Path = sys.executable,
    prefix: Sequence[str] = (),
    env: Mapping[str, str] | None = None,
    umask: int = 0o022,
) -> str:
    """Pack with the command and return the digest of the manifest."""
    own = {"PYTHONPATH": str(ROOT / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [
            *prefix,
            str(python),
            "-m",
            "rra",
            "pack",
            str(artifact),
            f"oci-layout:{target}",
            "--json",
        ],
        env={**os.environ, **own, **(env or {})},
        capture_output=True,
        text=True,
        encoding="utf-8",
        umask=umask,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    digest: str = json.loads(done.stdout)["result"]["digest"]
    return digest


@pytest.fixture(scope="module")
def expected(artifact: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The digest as whoever runs the tests gets it."""
    return packed(artifact, tmp_path_factory.mktemp("expected") / "b")


@needs("root")
@needs("setpriv")
def test_b3_another_user(artifact: Path, expected: str, tmp_path: Path) -> None:
    tmp_path.chmod(0o777)
    for parent in tmp_path.parents[:2]:
        parent.chmod(parent.stat().st_mode | 0o011)
    ids = [f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
    reads = ["--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search"]
    own = {"HOME": str(tmp_path), "RRA_CACHE": str(tmp_path / "c"), "RRA_STATE": str(tmp_path)}
    found = packed(artifact, tmp_path / "b", prefix=["setpriv", *ids, *reads], env=own)
    assert (tmp_path / "b" / "index.json").stat().st_uid == NOBODY
    assert found == expected


@pytest.mark.parametrize("umask", [0o000, 0o027, 0o077])
def test_b3_another_umask(artifact: Path, expected: str, tmp_path: Path, umask: int) -> None:
    assert packed(artifact, tmp_path / "b", umask=umask) == expected


def test_b3_files_that_came_with_another_umask(
    artifact: Path, expected: str, tmp_path: Path
) -> None:
    copy = Path(shutil.copytree(artifact, tmp_path / "a", symlinks=True))
    for path in copy.rglob("*"):
        if path.is_file() and not path.is_symlink():
            path.chmod(path.stat().st_mode & 0o700 | 0o006)
    assert packed(copy, tmp_path / "b") == expected


LOCALES = ("tr_TR", "de_DE", "ja_JP")


@pytest.mark.parametrize("name", ["C", "POSIX", *LOCALES])
def test_b3_another_locale(artifact: Path, expected: str, tmp_path: Path, name: str) -> None:
    env = {"LC_ALL": name, "LANG": name, "LANGUAGE": name}
    if name in LOCALES:
        make = ["localedef", "-i", name, "-f", "UTF-8", str(tmp_path / f"{name}.UTF-8")]
        if shutil.which("localedef") is None or subprocess.run(make, check=False).returncode:
            name = "C.UTF-8"
        env = dict.fromkeys(env, f"{name}.UTF-8") | {"LOCPATH": str(tmp_path)}
    assert packed(artifact, tmp_path / "b", env=env) == expected


@pytest.mark.parametrize("zone", ["Pacific/Kiritimati", "America/St_Johns", "UTC"])
def test_b3_another_time_zone(artifact: Path, expected: str, tmp_path: Path, zone: str) -> None:
    env = {"TZ": zone, "PYTHONHASHSEED": "12345"}
    assert packed(artifact, tmp_path / "b", env=env) == expected


def test_b3_another_path_another_order_another_time(
    artifact: Path, expected: str, tmp_path: Path
) -> None:
    copy = tmp_path / "ein anderer Ort ß" / "with spaces"
    for name, (kind, content) in sorted(tree(artifact).items(), reverse=True):
        place = copy / name
        place.parent.mkdir(parents=True, exist_ok=True)
        if kind == "link":
            place.symlink_to(content.decode())
            continue
        place.write_bytes(content)
        place.chmod(0o755 if kind == "program" else 0o644)
        os.utime(place, (86_400, 86_400))
    assert packed(copy, tmp_path / "b") == expected


def test_b3_into_one_file(artifact: Path, expected: str, tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "rra",
        "pack",
        str(artifact),
        f"oci-archive:{tmp_path / 'b.tar'}",
    ]
    done = subprocess.run([*command, "--json"], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["result"]["digest"] == expected


@pytest.mark.slow
@needs("other-python")
def test_b3_every_other_minor_version_of_python(
    artifact: Path, expected: str, tmp_path: Path
) -> None:
    found = {minor: python for minor in OTHERS if (python := find_python(minor))}
    for minor, python in found.items():
        interpreter = environment_with(python, tmp_path / f"env-{minor}")
        version = [str(interpreter), "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]
        done = subprocess.run(version, capture_output=True, text=True, check=True)
        assert done.stdout.strip() == minor
        assert packed(artifact, tmp_path / minor, python=interpreter) == expected


@pytest.mark.parametrize("epoch", ["0", "1700000000"])
def test_b3_source_date_epoch_is_honoured(
    artifact: Path, expected: str, tmp_path: Path, epoch: str
) -> None:
    env = {"SOURCE_DATE_EPOCH": epoch}
    first = packed(artifact, tmp_path / "b", env=env)
    assert packed(artifact, tmp_path / "c", env={**env, "TZ": "Asia/Tokyo"}) == first
    assert first != expected
    blob = tmp_path / "b" / "blobs" / "sha256" / first.removeprefix("sha256:")
    created = json.loads(blob.read_bytes())["annotations"]["org.opencontainers.image.created"]
    assert created == {"0": "1970-01-01T00:00:00Z", "1700000000": "2023-11-14T22:13:20Z"}[epoch]


# ----------------------------------------------------------------------------------- check


@pytest.mark.parametrize("umask", [0o022, 0o077])
@pytest.mark.parametrize("kind", ["oci-layout:b", "oci-archive:b.tar"])
def test_a_check_packs_twice_and_gives_the_digest_of_a_plain_pack(
    artifact: Path, expected: str, tmp_path: Path, kind: str, umask: int
) -> None:
    before = tree(artifact)
    done = subprocess.run(
        [sys.executable, "-m", "rra", "pack", artifact, kind, "--check", "--json"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        umask=umask,
        check=True,
    )
    result = json.loads(done.stdout)["result"]
    assert result["checked"] is True
    assert result["digest"] == expected
    assert [path.name for path in tmp_path.iterdir()] == [kind.partition(":")[2]], "and no copy"
    assert tree(artifact) == before


def changing(place: Path, when: str, change: Callable[[Path], object]) -> Callable[[str], None]:
    """Return a progress function that changes a file when a line is said."""

    def meanwhile(line: str) -> None:
        if line.startswith(when):
            change(place)

    return meanwhile


def link_to_the_licence(place: Path) -> None:
    place.unlink()
    place.symlink_to("LICENSE")


CHANGES: dict[str, tuple[str, str, Callable[[Path], object]]] = {
    "content": ("guide", "guide/GUIDE.md", lambda place: place.write_text("# Another guide\n")),
    "mode": ("guide", "guide/GUIDE.md", lambda place: place.chmod(0o755)),
    "code": ("code", "code/pkg/a.py", lambda place: place.write_text("a = 2\n")),
    "program": ("code", "code/tool.sh", lambda place: place.chmod(0o644)),
    "link": ("meta", "README.md", link_to_the_licence),
}


@pytest.mark.parametrize("kind", CHANGES)
def test_a_check_names_what_changed_between_the_two(
    artifact: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    layer, name, change = CHANGES[kind]
    copy = Path(shutil.copytree(artifact, tmp_path / "a", symlinks=True))
    progress = changing(copy / name, "packing guide (", change)
    report = api.pack(copy, f"oci-layout:{tmp_path / 'b'}", check=True, progress=progress)
    assert report.exit_code == 1
    assert report.packed is None
    assert report.checked is False
    (problem,) = report.problems
    assert problem.path == name
    assert f"packed twice, and the layer {layer} is sha256:" in problem.message
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a"], "nothing was written"


def test_a_check_does_not_hide_that_the_lock_is_old(artifact: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(artifact, tmp_path / "a", symlinks=True))
    (copy / "code" / "pkg" / "a.py").write_text("a = 2\n")
    done = subprocess.run(
        [sys.executable, "-m", "rra", "pack", "a", "oci-layout:b", "--check"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in {1, 4}
    assert "code has changed" in done.stdout + done.stderr
    assert not (tmp_path / "b").exists()
