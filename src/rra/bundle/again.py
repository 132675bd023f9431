"""The second packing of a check: a process that does everything differently and keeps no bundle.

``python -m rra.bundle.again FOLDER`` reads ``job.json`` in a folder, copies the files of an
artifact to another place in it, in another order, with another mask, and with other times, packs
the copy while directories are listed backwards, and writes the digests to ``answer.json``.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from rra._base.files import atomic_write, storage_errors
from rra.artifact import load_artifact
from rra.bundle.config import LayerRecord
from rra.bundle.layers import PlannedLayer
from rra.bundle.measured import MeasuredBundle
from rra.bundle.pack import pack_bundle
from rra.errors import InternalError, RraError, StorageError

JOB, ANSWER, COPY = "job.json", "answer.json", "another place"
"""Names in the folder of a check: what to do, what came out, and where the copy lies."""

_DAY = 86_400
_MASK, _OTHER_MASK = 0o077, 0o002


class Noted:
    """What is said of layers and manifest while they are made (`rra.bundle.pack.Watcher`)."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self.layers: list[dict[str, Any]] = []
        self.manifest = ""

    def see_layers(self, plan: Sequence[PlannedLayer], records: Sequence[LayerRecord]) -> None:
        """Take down the digests of the layers."""
        for layer, record in zip(plan, records, strict=True):
            noted = {"title": layer.title, "digest": record.digest, "diff_id": record.diff_id}
            self.layers.append({**noted, "files": list(map(str, layer.files))})

    def see_manifest(self, digest: str) -> None:
        """Take down the digest of the manifest."""
        self.manifest = digest


def main(folder: Path) -> None:
    """Do what the job of a folder says."""
    job: dict[str, Any] = json.loads((folder / JOB).read_bytes())
    if os.umask(_MASK) == _MASK:
        os.umask(_OTHER_MASK)
    noted = Noted()
    answer: dict[str, Any] = {}
    try:
        _copy(Path(job["root"]), folder / COPY, job["files"])
        with _listed_backwards():
            pack_bundle(
                load_artifact(folder / COPY),
                MeasuredBundle("the second packing"),
                created=job["created"],
                reuse=False,
                watcher=noted,
            )
    except (InternalError, StorageError):
        raise
    except RraError as error:
        answer["error"] = error.message
    answer |= {"layers": noted.layers, "manifest": noted.manifest}
    atomic_write(folder / ANSWER, json.dumps(answer))


def _copy(root: Path, target: Path, files: Sequence[str]) -> None:
    """Copy files, the last one first, with modes and times of their own."""
    with storage_errors(target):
        for name in reversed(files):
            source, place = root / name, target / name
            place.parent.mkdir(parents=True, exist_ok=True)
            if source.is_symlink():
                place.symlink_to(source.readlink())
                continue
            shutil.copyfile(source, place)
            if source.stat().st_mode & 0o111:
                place.chmod(0o700)
            os.utime(place, (_DAY, _DAY))


@contextlib.contextmanager
def _listed_backwards() -> Iterator[None]:
    """Have directories listed in the reverse of the order of their names."""
    real: Any = os.scandir

    @contextlib.contextmanager
    def backwards(*place: Any) -> Iterator[Iterator[Any]]:
        with real(*place) as entries:
            yield iter(sorted(entries, key=lambda entry: os.fsencode(entry.name), reverse=True))

    os.scandir = backwards  # type: ignore[assignment]
    try:
        yield
    finally:
        os.scandir = real


if __name__ == "__main__":
    try:
        main(Path(sys.argv[1]))
    except StorageError as error:
        sys.stderr.write(f"{error.message}\n")
        raise SystemExit(StorageError.exit_code) from None
