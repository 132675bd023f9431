"""An anonymous bundle goes to a registry as it goes to a folder, and nothing else goes along."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from rra.api import pack, push
from rra.api._anonymous import Anonymity
from rra.bundle.layout import LayoutStore
from rra.errors import UsageError
from tests.support.bundles import locked_artifact, tree
from tests.support.http_registry import HttpRegistry

AUTHORS = [{"name": "Käthe Müßiggang"}]
DATA = {"numbers": {"access": "bundled", "path": "data/numbers.bin"}}
NOISE = random.Random(5).randbytes(1_300_000)


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the private mapping goes."""
    monkeypatch.setenv("RRA_STATE", str(tmp_path / "state"))
    return tmp_path / "state"


def artifact(root: Path, **more: str) -> Path:
    files: dict[str, str | bytes] = {"README.md": "# By Käthe Müßiggang\n", **more}
    return locked_artifact(
        root / "study", {"data/numbers.bin": NOISE, **files}, authors=AUTHORS, data=DATA
    ).root


def test_it_is_the_bundle_that_pack_makes(
    registry: HttpRegistry, tmp_path: Path, state: Path
) -> None:
    root = artifact(tmp_path)
    before = tree(root)
    made = pack(root, f"oci-layout:{tmp_path / 'out'}", anonymous=Anonymity())
    assert made.packed is not None
    sent = push(str(root), f"{registry.host}/venue/p1", anonymous=Anonymity())
    digest = made.packed.descriptor.digest
    assert sent.target == f"{registry.host}/venue/p1:1.0.0@{digest}"
    manifest, _ = LayoutStore(tmp_path / "out").get_manifest(None)
    assert registry.manifests["1.0.0"][0] == manifest
    assert tree(root) == before
    assert sent.anonymous is not None
    assert sent.anonymous.mapping == state / "anonymous" / "tiny-1.0.0.private.json"
    mapping = json.loads(sent.anonymous.mapping.read_bytes())
    assert mapping["anonymous"]["digest"] == digest
    bodies = b"".join(seen.body for seen in registry.seen)
    heads = " ".join(f"{seen.target} {seen.headers}" for seen in registry.seen)
    for text in ("Müßiggang", "Muessiggang", str(root), str(tmp_path)):
        assert text.encode() not in bodies
        assert text not in heads


def test_a_find_stops_it_before_anything_is_sent(registry: HttpRegistry, tmp_path: Path) -> None:
    root = artifact(tmp_path, **{"main.py": "who = 'Müßiggang'\nprint(1)\n"})
    stopped = push(str(root), f"{registry.host}/venue/p1", anonymous=Anonymity())
    assert (stopped.exit_code, stopped.pushed) == (1, None)
    assert [(one.path, one.line) for one in stopped.problems] == [("code/main.py", 1)]
    assert registry.blobs == {}
    assert registry.manifests == {}


def test_a_mapping_that_cannot_be_written_stops_it_before_anything_is_sent(
    registry: HttpRegistry, tmp_path: Path
) -> None:
    root = artifact(tmp_path)
    wanted = Anonymity(mapping=root / "private.json")
    with pytest.raises(UsageError, match="private mapping"):
        push(str(root), f"{registry.host}/venue/p1", anonymous=wanted)
    assert registry.blobs == {}


def test_a_bundle_is_not_rewritten(registry: HttpRegistry, tmp_path: Path) -> None:
    root = artifact(tmp_path)
    pack(root, f"oci-layout:{tmp_path / 'out'}")
    with pytest.raises(UsageError, match="a bundle is not rewritten"):
        push(f"oci-layout:{tmp_path / 'out'}", f"{registry.host}/v/p1", anonymous=Anonymity())
    assert registry.blobs == {}


def test_large_files_are_not_copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = artifact(tmp_path)
    seen: list[int] = []
    data = root / "data" / "numbers.bin"
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))

    def look(line: str) -> None:
        if line.startswith("searching"):
            seen.append(data.stat().st_nlink)

    made = pack(root, f"oci-layout:{tmp_path / 'out'}", anonymous=Anonymity(), progress=look)
    assert made.ok
    assert seen == [2]
    assert data.stat().st_nlink == 1
    assert data.read_bytes() == NOISE
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".rra-")] == []
