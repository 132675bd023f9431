"""Small locked artifacts, their bundles, and damage done to those."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rra import api
from rra.artifact import Artifact, load_artifact
from rra.bundle.layout import LayoutStore
from rra.bundle.pack import PackResult, pack_bundle
from rra.bundle.reader import read_bundle
from rra.bundle.unpack import UnpackResult, unpack_bundle
from tests.support.artifacts import COMPUTES, make_artifact

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

MIT = "MIT License\n\nPermission is hereby granted, free of charge, to any person.\n"
GUIDE = "# Guide\n\nRun `bash launchers/main.sh`.\n"


def locked_artifact(
    root: Path, files: Mapping[str, str | bytes] | None = None, **changes: Any
) -> Artifact:
    """Write an artifact with guide, licence and ``rra.lock``, to which no rule objects."""
    written: dict[str, str | bytes] = {"main.py": COMPUTES, "guide/GUIDE.md": GUIDE}
    make_artifact(root, {**written, **(files or {})}, **changes)
    (root / "LICENSE").write_text(MIT)
    (root / "launchers" / "main.sh").chmod(0o755)
    return lock(root)


def lock(root: Path) -> Artifact:
    """Write ``rra.lock`` as ``rra lock --keep`` does, and load the artifact."""
    api.lock(root, keep=True)
    return load_artifact(root)


def pack(artifact: Artifact, place: Path, tag: str | None = None, **more: Any) -> PackResult:
    """Pack into an OCI layout, without asking any rule."""
    return pack_bundle(artifact, LayoutStore(place), tag, **more)


def unpack(place: Path, target: Path, *only: str, tag: str | None = None) -> UnpackResult:
    """Unpack from an OCI layout."""
    store = LayoutStore(place)
    return unpack_bundle(read_bundle(store, tag), store, target, only=only)


def tree(root: Path) -> dict[str, tuple[str, bytes]]:
    """Return kind and content of everything below a folder."""
    found = {}
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root).as_posix()
        if path.is_symlink():
            found[name] = ("link", str(path.readlink()).encode())
        elif path.is_file():
            kind = "program" if path.stat().st_mode & 0o111 else "file"
            found[name] = (kind, path.read_bytes())
    return found


def blob(place: Path, digest: str) -> Path:
    """Return the file of a blob of a layout."""
    return place / "blobs" / "sha256" / digest.removeprefix("sha256:")


def put(place: Path, data: bytes) -> dict[str, Any]:
    """Write a blob and return digest and size as a descriptor has them."""
    digest = "sha256:" + hashlib.sha256(data).hexdigest()
    blob(place, digest).write_bytes(data)
    return {"digest": digest, "size": len(data)}


def forge(
    place: Path,
    *,
    manifest: Callable[[dict[str, Any]], None] = lambda document: None,
    config: Callable[[dict[str, Any]], None] = lambda document: None,
    layers: Mapping[str, bytes] | None = None,
) -> None:
    """Change a bundle as somebody would who makes their own: all digests fit again.

    Args:
        place: Layout with one bundle.
        manifest: Changes the manifest, after everything else.
        config: Changes the config.
        layers: New bytes of layers, by title; their media type becomes that of a plain tar.
    """
    index = json.loads((place / "index.json").read_bytes())
    (entry,) = index["manifests"]
    document = json.loads(blob(place, entry["digest"]).read_bytes())
    settings = json.loads(blob(place, document["config"]["digest"]).read_bytes())
    for layer, record in zip(document["layers"], settings["layers"], strict=True):
        title = layer["annotations"]["org.opencontainers.image.title"]
        if title in (layers or {}):
            data = (layers or {})[title]
            layer.update(put(place, data))
            layer["mediaType"] = layer["mediaType"].replace("tar+zstd", "tar")
            record.update(put(place, data), uncompressed_size=len(data))
            record["diff_id"] = record["digest"]
            record.pop("compressor", None)
    config(settings)
    document["config"] |= put(place, json.dumps(settings).encode())
    manifest(document)
    entry |= put(place, json.dumps(document).encode())
    (place / "index.json").write_text(json.dumps(index))
