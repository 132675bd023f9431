"""Bundles in folders and files through the command: round trips, gates, bad input, kills."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from rra.bundle.archive import ArchiveStore
from rra.bundle.layout import LayoutStore
from rra.bundle.reader import read_bundle
from rra.bundle.store import BlobStore
from rra.bundle.unpack import unpack_bundle
from tests.acceptance.command import Answer, killed, rra
from tests.support.artifacts import record_run
from tests.support.bundles import MIT, blob, lock, locked_artifact, put, tree
from tests.support.disks import mounted_disk
from tests.support.needs import needs

#: How many points of a verb are tried.
POINTS = 5


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A locked artifact to which no rule objects."""
    return locked_artifact(tmp_path / "a", {"data/wine.csv": "1,2\n"}, data=DATA).root


DATA = {"wine": {"path": "data/wine.csv"}}


def beside(root: Path) -> list[str]:
    """What lies beside the artifact."""
    return sorted(path.name for path in root.parent.iterdir() if path != root)


def refused(root: Path, code: int, *said: str, target: str = "oci-layout:../b") -> Answer:
    """Pack, expect that it is refused, and see that nothing was written."""
    before = beside(root)
    answer = rra("pack", ".", target, cwd=root).expect(code)
    for words in said:
        assert words in answer.said, answer.said
    assert beside(root) == before
    assert "--force" not in answer.said
    return answer


# ----------------------------------------------------------------------------- round trip


@pytest.mark.parametrize("kind", ["oci-layout:b", "oci-archive:b.tar"])
def test_pack_inspect_unpack_and_diff(root: Path, kind: str) -> None:
    outside = root.parent
    made = rra("pack", "a", kind, "--json", cwd=outside).expect(0).result
    assert made["target"] == f"{kind}:1.0.0@{made['digest']}"
    assert made["tag"] == "1.0.0"
    assert {layer["element"] for layer in made["layers"]} == {
        "meta",
        "guide",
        "environment",
        "launchers",
        "code",
        "data",
    }

    shown = rra("inspect", kind, "--json", cwd=outside).expect(0).result
    assert shown["digest"] == made["digest"]
    assert shown["outcomes"] == {"table/accuracy": "98.9"}
    assert shown["manifest"]["name"] == "tiny"
    assert shown["lock"] == json.loads((root / "rra.lock").read_bytes())

    back = rra("unpack", kind, "--json", cwd=outside).expect(0).result
    assert back["directory"] == str(outside / "tiny")
    assert back["complete"] is True
    assert tree(outside / "tiny") == tree(root)

    assert rra("diff", "a", kind, "--json", cwd=outside).expect(0).result["same"] is True
    again = rra("pack", "tiny", "oci-layout:again", "--json", cwd=outside).expect(0).result
    assert again["digest"] == made["digest"]


def test_a_digest_pins_a_bundle(root: Path) -> None:
    first = rra("pack", ".", "oci-layout:../b", "--json", cwd=root).expect(0).result["digest"]
    (root / "guide" / "GUIDE.md").write_text("# Another guide\n")
    second = rra("pack", ".", "oci-layout:../b:2", "--json", cwd=root).expect(0).result["digest"]
    assert first != second
    pinned = rra("inspect", f"oci-layout:../b@{first}", "--json", cwd=root).expect(0).result
    assert pinned["digest"] == first
    answer = rra("inspect", f"oci-layout:../b:2@{first}", "--json", cwd=root).expect(0)
    assert answer.result["digest"] == first, "the digest decides"
    missing = rra("inspect", f"oci-layout:../b@sha256:{'0' * 64}", cwd=root).expect(2)
    assert "tags: 1.0.0, 2" in missing.said
    several = rra("unpack", "oci-layout:../b", "../out", cwd=root).expect(2)
    assert "name one of the tags: 1.0.0, 2" in several.said


def test_only_some_elements(root: Path) -> None:
    rra("pack", ".", "oci-layout:../b", cwd=root).expect(0)
    rra("unpack", "oci-layout:../b", "../out", "--only", "guide,launchers", cwd=root).expect(0)
    assert set(tree(root.parent / "out")) == {"guide/GUIDE.md", "launchers/main.sh"}
    wrong = rra("unpack", "oci-layout:../b", "../no", "--only", "lunchers", cwd=root).expect(2)
    assert "did you mean launchers?" in wrong.said
    assert not (root.parent / "no").exists()


def test_diff_names_what_differs(root: Path) -> None:
    rra("pack", ".", "oci-layout:../b", cwd=root).expect(0)
    (root / "code" / "new.py").write_text("1\n")
    (root / "data" / "wine.csv").unlink()
    (root / "launchers" / "main.sh").chmod(0o644)
    text = (root / "rra.yaml").read_text()
    (root / "rra.yaml").write_text(text.replace('"reported": "98.9"', '"reported": "98.8"'))
    answer = rra("diff", "oci-layout:../b", ".", "--json", cwd=root).expect(1)
    found = answer.result
    files = {one["path"]: (one["element"], one["change"]) for one in found["files"]}
    assert files == {
        "code/new.py": ("code", "added"),
        "data/wine.csv": ("data", "removed"),
        "launchers/main.sh": ("launchers", "changed"),
        "rra.yaml": ("meta", "changed"),
    }
    assert {name for name, one in found["elements"].items() if one["same"]} == {
        "environment",
        "evidence",
        "guide",
    }
    (outcome,) = found["outcomes"]
    assert outcome == {
        "outcome": "table/accuracy",
        "change": "changed",
        "before": {"reported": "98.9"},
        "after": {"reported": "98.8"},
    }
    said = rra("diff", "oci-layout:../b", ".", cwd=root).expect(1).said
    assert "+ code/new.py" in said
    assert "- data/wine.csv" in said
    assert 'reported: "98.9" → "98.8"' in said


def test_verbs_that_read_take_bundles_from_an_empty_folder(root: Path, tmp_path: Path) -> None:
    record_run(lock(root))
    (root / "outputs").rename(tmp_path / "outputs-elsewhere")
    rra("pack", root, f"oci-archive:{tmp_path / 'b.tar'}").expect(0)
    shutil.move(root, tmp_path / "gone")
    empty = tmp_path / "empty"
    empty.mkdir()
    name = f"oci-archive:{tmp_path / 'b.tar'}"

    verified = rra("verify", name, "--json", cwd=empty).expect(0).result
    assert verified["reproduction"]["verdict"] == "reproduced"
    assert verified["artifact"].startswith(f"{name}@sha256:")
    audited = rra("audit", name, "--json", cwd=empty).expect(0).result
    assert audited["artifact"] == verified["artifact"]
    assert audited["audit"]["core"] == verified["reproduction"]["core"]
    assert rra("lint", name, "--json", cwd=empty).expect(0).result["ok"] is True
    traced = rra("trace", "98.9", name, "--json", cwd=empty).expect(0).result
    assert traced["traces"][0]["file"] == "metrics.json"
    assert rra("next", name, "--json", cwd=empty).expect(0).result["level"] == "L3"
    assert rra("repair", name, cwd=empty).code in {0, 1}
    assert list(empty.iterdir()) == []
    page = rra("report", name, "--json", cwd=empty).expect(0).result
    assert page["file"] == str(empty / "report.html")
    assert page["nonce"] in (empty / "report.html").read_text("utf-8")


# --------------------------------------------------------------------------------- usage


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (("pack", ".", "../b"), "does not say what is to be made"),
        (("pack", ".", "../b.oci.tar"), "give oci-archive:../b.oci.tar for one file"),
        (("pack", ".", "r.example/a:1"), "rra push"),
        (("pack", ".", f"oci-layout:../b@sha256:{'0' * 64}"), "leave the digest out"),
        (("pack", "oci-layout:x", "oci-layout:../b"), "is a bundle already"),
        (("pack", "nowhere", "oci-layout:../b"), "nowhere"),
        (("unpack", "."), "is a directory, not a bundle"),
        (("unpack", "oci-layout:nowhere"), "no such folder: nowhere"),
        (("unpack", "oci-archive:nowhere"), "no such file: nowhere"),
        (("inspect", "oci-layout:code"), "is not an OCI image layout"),
        (("inspect", "oci-archive:rra.yaml"), "rra.yaml"),
        (("verify", "oci-layout:nowhere"), "no such folder: nowhere"),
        (("diff", ".", "nowhere"), "nowhere"),
    ],
)
def test_calls_that_are_off(root: Path, argv: tuple[str, ...], said: str) -> None:
    answer = rra(*argv, cwd=root)
    assert answer.code in {2, 4}, answer
    assert said in answer.said
    assert beside(root) == []


def test_an_artifact_that_is_not_locked(root: Path) -> None:
    (root / "rra.lock").unlink()
    refused(root, 2, "it has no rra.lock", "rra lock")


# ---------------------------------------------------------------------------------- gate


def test_b1_paths_outside_are_refused_while_packing(root: Path) -> None:
    text = (root / "rra.yaml").read_text()
    faulty = text.replace("launchers/main.sh", "/opt/x/run.py").replace(
        "data/wine.csv", "../shared/u.py"
    )
    (root / "rra.yaml").write_text(faulty)
    inside = "copy the file into the artifact and name it by its place there"
    refused(root, 4, "/opt/x/run.py", "../shared/u.py", inside)


def test_b1_links_outside_are_refused_while_packing(root: Path) -> None:
    for place in ("opt/x", "shared"):
        (root.parent / place).mkdir(parents=True)
    (root.parent / "opt/x/run.py").write_text("1\n")
    (root.parent / "shared/u.py").write_text("1\n")
    (root / "code" / "run.py").symlink_to(root.parent / "opt/x/run.py")
    (root / "code" / "u.py").symlink_to("../../shared/u.py")
    answer = rra("pack", ".", "oci-layout:../b", cwd=root)
    assert answer.code in {1, 4}, answer
    assert "code/run.py" in answer.said
    assert "code/u.py" in answer.said
    assert "copy of the file" in answer.said
    assert beside(root) == ["opt", "shared"]


def test_b6_a_link_across_elements_is_refused_with_what_to_do(root: Path) -> None:
    (root / "data" / "latest").symlink_to("../code/main.py")
    text = (root / "rra.yaml").read_text()
    (root / "rra.yaml").write_text(text.replace('"data/wine.csv"', '"data"'))
    said = "data/latest: is a symbolic link from data into code: ../code/main.py"
    refused(root, 1, said, "replace the link by a copy of the file", "RRA602")


def test_b9_a_misspelt_name_stops_the_packing_and_is_mended(root: Path) -> None:
    text = (root / "rra.yaml").read_text()
    (root / "rra.yaml").write_text(text.replace("data/wine.csv", "LICENSE.txt"))
    refused(root, 1, "LICENSE.txt is not there", "did you mean LICENSE?", "RRA003")
    (root / "rra.yaml").write_text(text.replace("launchers/main.sh", "launchers/mian.sh"))
    refused(root, 1, "launchers/mian.sh is not there", "did you mean launchers/main.sh?")


def test_b15_an_output_that_vanished_after_the_run_is_named(root: Path) -> None:
    record_run(lock(root))
    rra("pack", ".", "oci-layout:../whole", cwd=root).expect(0)
    (output,) = root.glob("evidence/main/*/outputs/metrics.json")
    output.unlink()
    refused(root, 1, str(output.relative_to(root)), "metrics.json")


def test_b15_files_that_vanished_after_the_lock_are_noticed(root: Path) -> None:
    (root / "code" / "extra.py").write_text("1\n")
    lock(root)
    (root / "code" / "extra.py").unlink()
    refused(root, 1, "rra.lock: code has changed", "rra lock --keep", "RRA005")


SECRETS = {
    ".env": "DATABASE_PASSWORD=correct-horse\n",
    ".netrc": "machine x login y password z\n",
    ".ssh/id_rsa": "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaA==\n",
    "settings.py": 'TOKEN = "ghp_' + "a1B2" * 9 + '"\n',
}
LEFT_BY_TOOLS = {
    ".git/config": "[remote]\nurl = https://agnes:hunter22@host.example/x.git\n",
    "wandb/run-1/files/config.yaml": "api_key: x\n",
    ".ipynb_checkpoints/a-checkpoint.ipynb": "{}",
    "__pycache__/main.cpython-311.pyc": "x",
    ".venv/bin/activate": "x",
}


@pytest.mark.clause("bundle/no-secrets")
@pytest.mark.parametrize("where", ["code", "."])
def test_b35_secrets_are_never_packed(tmp_path: Path, where: str) -> None:
    if where == ".":
        changes: dict[str, object] = {"code": {"root": "."}}
        root = locked_artifact(tmp_path / "a", {}, **changes).root
    else:
        root = locked_artifact(tmp_path / "a").root
    for name, content in {**SECRETS, **LEFT_BY_TOOLS}.items():
        path = root / where / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    lock(root)

    answer = refused(root, 1, *SECRETS, "RRA701")

    assert "correct-horse" not in answer.said
    assert "a1B2a1B2" not in answer.said
    for name in SECRETS:
        (root / where / name).unlink()
    lock(root)
    rra("pack", ".", "oci-layout:../b", cwd=root).expect(0)
    rra("unpack", "oci-layout:../b", "../out", cwd=root).expect(0)
    names = set(tree(tmp_path / "out"))
    assert "code/main.py" in names
    assert not {name for name in names if name.endswith(tuple(LEFT_BY_TOOLS))}
    for path in (tmp_path / "b").rglob("*"):
        assert not path.is_file() or b"hunter22" not in path.read_bytes()


@pytest.mark.parametrize("name", ["code/model.bin", "data/wine.csv", "guide/paper.pdf"])
def test_b36_a_pointer_in_place_of_data_is_refused(root: Path, name: str) -> None:
    pointer = (
        "version https://git-lfs.github.com/spec/v1\n"
        "oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\n"
        "size 1234567\n"
    )
    (root / name).write_text(pointer)
    lock(root)
    refused(root, 1, name, "is a Git LFS pointer in place of its content of 1,234,567 bytes")


def test_blanks_are_refused(root: Path) -> None:
    (root / "guide" / "GUIDE.md").write_text("# Guide\n\n⟦fill: why⟧\n")
    refused(root, 1, "guide/GUIDE.md", "RRA401")


def test_all_that_stands_against_an_artifact_is_said_at_once(root: Path) -> None:
    (root / "guide" / "GUIDE.md").write_text("⟦fill: why⟧\n")
    (root / "code" / ".env").write_text("X=1\n")
    text = (root / "rra.yaml").read_text()
    (root / "rra.yaml").write_text(text.replace("data/wine.csv", "data/win.csv"))
    answer = rra("pack", ".", "oci-layout:../b", "--json", cwd=root).expect(1)
    assert answer.result["packed"] is False
    assert {p["clause"] for p in answer.envelope["problems"]} >= {"RRA003", "RRA401", "RRA701"}


def test_data_that_others_own_stays_at_home(root: Path, tmp_path: Path) -> None:
    text = (root / "rra.yaml").read_text()
    private = text.replace(
        '"path": "data/wine.csv"', '"path": "data/wine.csv", "access": "private"'
    )
    (root / "rra.yaml").write_text(private)
    lock(root)
    rra("pack", ".", "oci-layout:../b", cwd=root).expect(0)
    rra("unpack", "oci-layout:../b", "../out", cwd=root).expect(0)
    assert not (tmp_path / "out" / "data").exists()
    assert (root / "data" / "wine.csv").exists()


# ------------------------------------------------------------------------------ bad input


@pytest.mark.parametrize("verb", ["unpack", "verify", "lint", "inspect"])
def test_a_damaged_bundle_is_refused_by_every_verb(root: Path, verb: str) -> None:
    made = rra("pack", ".", "oci-layout:../b", "--json", cwd=root).expect(0).result
    place = root.parent / "b"
    manifest = json.loads(blob(place, made["digest"]).read_bytes())
    digest = manifest["config" if verb == "inspect" else "layers"]
    digest = (digest if verb == "inspect" else digest[-1])["digest"]
    path = blob(place, digest)
    path.write_bytes(path.read_bytes()[:-1] + b"\0")
    answer = rra(verb, "oci-layout:../b", cwd=root).expect(4)
    assert digest in answer.said
    assert beside(root) == ["b"]


def test_an_image_of_another_kind_is_no_bundle(root: Path) -> None:
    made = rra("pack", ".", "oci-layout:../b", "--json", cwd=root).expect(0).result
    place = root.parent / "b"
    document = json.loads(blob(place, made["digest"]).read_bytes())
    del document["artifactType"]
    index = json.loads((place / "index.json").read_bytes())
    index["manifests"][0] |= put(place, json.dumps(document).encode())
    (place / "index.json").write_text(json.dumps(index))
    answer = rra("unpack", "oci-layout:../b", "../out", cwd=root).expect(2)
    assert "is not a bundle of a refined reproducible artifact" in answer.said


@needs("root")
@needs("tmpfs")
@pytest.mark.parametrize("target", ["oci-layout:b", "oci-archive:b.tar"])
def test_a_full_disk_leaves_nothing(root: Path, tmp_path: Path, target: str) -> None:
    (root / "code" / "noise.bin").write_bytes(os.urandom(2 << 20))
    lock(root)
    rra("pack", root, "oci-layout:whole", cwd=tmp_path).expect(0)
    with mounted_disk(tmp_path / "disk", "1m") as disk:
        answer = rra("pack", root, target, cwd=disk).expect(3)
        assert "no space left" in answer.said
        assert list(disk.iterdir()) == []
        answer = rra("unpack", "oci-layout:../whole", "out", cwd=disk).expect(3)
        assert "no space left" in answer.said
        assert list(disk.iterdir()) == []


def read_whole(store: BlobStore, tag: str | None, target: Path) -> None:
    """Unpack a bundle, which fails when anything of it is not as it was packed."""
    unpack_bundle(read_bundle(store, tag), store, target)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("verb", "argv"),
    [
        ("pack", ("a", "oci-layout:new")),
        ("pack", ("a", "oci-layout:b:2")),
        ("pack", ("a", "oci-archive:b.tar")),
        ("unpack", ("oci-layout:b:1", "out")),
    ],
    ids=["new", "add", "archive", "unpack"],
)
def test_a_kill_in_the_middle_leaves_what_was_there(
    root: Path, tmp_path: Path, verb: str, argv: tuple[str, str]
) -> None:
    start = tmp_path / "start"
    start.mkdir()
    shutil.move(root, start / "a")
    rra("pack", "a", "oci-layout:b:1", cwd=start).expect(0)
    rra("pack", "a", "oci-archive:b.tar:1", cwd=start).expect(0)
    (start / "a" / "guide" / "GUIDE.md").write_text("# Another guide\n")
    counts = tmp_path / "counts"
    whole = Path(shutil.copytree(start, tmp_path / "whole", symlinks=True))
    assert killed(whole, 0, counts, verb, *argv) == 0
    changes = int(counts.read_text())
    assert changes > POINTS

    for point in sorted({1 + (changes - 1) * i // (POINTS - 1) for i in range(POINTS)}):
        place = Path(shutil.copytree(start, tmp_path / f"at-{point}", symlinks=True))
        assert killed(place, point, counts, verb, *argv) in {-9, 0}
        read_whole(LayoutStore(place / "b"), "1", place / "from-folder")
        read_whole(ArchiveStore(place / "b.tar"), None, place / "from-file")
        new = place / ("new" if verb == "pack" else "out")
        if new.exists():
            assert tree(new).keys() == tree(whole / new.name).keys()
        if verb == "pack" or not new.exists():
            rra(verb, *argv, cwd=place).expect(0)
        shutil.rmtree(place)


def test_the_licence_travels(root: Path, tmp_path: Path) -> None:
    rra("pack", ".", "oci-layout:../b", cwd=root).expect(0)
    rra("unpack", "oci-layout:../b", "../out", cwd=root).expect(0)
    assert (tmp_path / "out" / "LICENSE").read_text() == MIT
