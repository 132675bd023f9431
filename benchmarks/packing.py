"""Packs one folder in a process of its own: bundle.py, which starts it, imports much more."""

from __future__ import annotations

import sys
from pathlib import Path


def inside(what: str, root: Path, target: Path) -> None:
    """Pack in this process, with rra or with the tarfile and zstandard of Python."""
    if what == "rra":
        from rra.artifact import load_artifact
        from rra.bundle.layout import LayoutStore
        from rra.bundle.pack import pack_bundle

        pack_bundle(load_artifact(root), LayoutStore(target))
        return
    import tarfile

    import zstandard

    with (
        target.open("wb") as file,
        zstandard.ZstdCompressor(level=3).stream_writer(file) as encoder,
        tarfile.open(fileobj=encoder, mode="w|") as tar,
    ):
        tar.add(root, arcname=".")


if __name__ == "__main__":
    inside(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))
