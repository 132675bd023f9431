"""Checks that an artifact gives the same bundle when everything around it is different.

Another process copies the files to another place and packs the copy there: with another mask,
locale, time zone and seed of hashes, with directories listed in another order, other times, and
nothing from the cache (`rra.bundle.again`). What it gives is compared while the bundle is made.
"""

from __future__ import annotations

import contextlib
import json
import os
import stat
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import rra
from rra._base.files import atomic_write, sha256_file, storage_errors
from rra._base.process import run
from rra.artifact import Artifact
from rra.bundle.again import ANSWER, COPY, JOB
from rra.bundle.config import LayerRecord
from rra.bundle.layers import PlannedLayer, assign_files
from rra.bundle.names import printable
from rra.errors import CorruptError, InternalError, Problem, StorageError

CONDITIONS = (
    "umask",
    "locale",
    "time zone",
    "path",
    "order of directories",
    "times of files",
    "hash seed",
    "no cache",
)
"""What is different the second time."""

_HINT = "something writes there while it is packed: stop it, run rra lock --keep, and pack again"
_NOBODY = "no file differs now; something changed it and changed it back, or this is a bug of rra"


class DifferentError(CorruptError):
    """Two packings of the same artifact are not the same."""


class Second:
    """What the other packing gave, to be compared with this one (`rra.bundle.pack.Watcher`)."""

    def __init__(self, artifact: Artifact, copy: Path, answer: dict[str, Any]) -> None:
        """Take what came out of the copy."""
        self._artifact = artifact
        self._copy = copy
        self._layers: list[dict[str, Any]] = answer["layers"]
        self._manifest: str = answer["manifest"]
        self._error: str = answer.get("error", "")

    def see_layers(self, plan: Sequence[PlannedLayer], records: Sequence[LayerRecord]) -> None:
        """Compare the layers.

        Raises:
            DifferentError: One of them differs; names it and the first file that does.
        """
        known = {layer["title"]: layer for layer in self._layers}
        for layer, record in zip(plan, records, strict=True):
            own = set(map(str, layer.files))
            other = known.pop(layer.title, None)
            if other is None:
                why = f": {self._error}" if self._error else ""
                raise self._different(layer.title, f"is not there the second time{why}", own)
            files = own | set(other["files"])
            if record.diff_id != other["diff_id"]:
                what = f"is {record.diff_id} and {other['diff_id']}"
                raise self._different(layer.title, what, files)
            if record.digest != other["digest"]:
                what = f"was compressed to {record.digest} and {other['digest']}"
                raise self._different(layer.title, what, files)
        for title, other in known.items():
            raise self._different(title, "is there the second time only", set(other["files"]))

    def see_manifest(self, digest: str) -> None:
        """Compare the manifest.

        Raises:
            DifferentError: It differs, or there was none.
        """
        if digest != self._manifest:
            what = self._error or f"its manifest is {digest} and {self._manifest}"
            message = f"packed twice, and the second time was different: {what}"
            place = str(self._artifact.root)
            clause = "canonical-tar/times-and-owners"
            problem = Problem(message, place, clause=clause, hint=_HINT)
            raise DifferentError(message, hint=_HINT, problems=(problem,))

    def _different(self, title: str, what: str, files: set[str]) -> DifferentError:
        root = self._artifact.root
        ordered = sorted(files, key=os.fsencode)
        names = (name for name in ordered if _shape(root / name) != _shape(self._copy / name))
        first = next(names, "")
        message = f"packed twice, and the layer {title} {what}"
        hint = _HINT if first else _NOBODY
        clause = "canonical-tar/whole-files" if first else "canonical-tar/times-and-owners"
        problem = Problem(message, printable(first or title), clause=clause, hint=hint)
        return DifferentError(message, hint=hint, problems=(problem,))


@contextlib.contextmanager
def packed_elsewhere(artifact: Artifact, created: str | None) -> Iterator[Second]:
    """Pack a copy under other conditions, and give what came out.

    Args:
        artifact: The artifact.
        created: When the artifact was made, which a copy does not know.

    Raises:
        StorageError: There is no room for the copy.
        InternalError: The other process broke.
    """
    with tempfile.TemporaryDirectory(prefix="rra-pack-") as name:
        folder = Path(name)
        files = sorted(map(str, assign_files(artifact)))
        job = {"root": str(artifact.root.absolute()), "files": files, "created": created}
        with storage_errors(folder):
            atomic_write(folder / JOB, json.dumps(job))
        command = [sys.executable, "-m", "rra.bundle.again", str(folder)]
        done = run(command, cwd=folder, env=_other_environment())
        if done.returncode == StorageError.exit_code:
            message = f"no second packing to compare with: {done.last_error(1)}"
            raise StorageError(message, hint=f"free some space in {folder.parent}, or set TMPDIR")
        if not done.ok:
            raise InternalError(f"the second packing broke: {done.last_error()}")
        yield Second(artifact, folder / COPY, json.loads((folder / ANSWER).read_bytes()))


def _other_environment() -> dict[str, str]:
    """Return this environment with another locale, time zone and seed of hashes."""
    own = os.environ
    plain = (own.get("LC_ALL") or own.get("LC_CTYPE") or own.get("LANG") or "C") in {"C", "POSIX"}
    locale = "C.UTF-8" if plain else "C"
    package = str(Path(rra.__file__).parent.parent)
    return {
        **own,
        **dict.fromkeys(("LC_ALL", "LANG", "LANGUAGE"), locale),
        "TZ": "EAST-14" if own.get("TZ") != "EAST-14" else "WEST+11",
        "PYTHONHASHSEED": "1" if own.get("PYTHONHASHSEED") != "1" else "2",
        "PYTHONPATH": os.pathsep.join(filter(None, (package, own.get("PYTHONPATH")))),
    }


def _shape(place: Path) -> tuple[str, str]:
    """Return everything of a file that an archive would hold."""
    try:
        status = place.lstat()
    except OSError:
        return ("nothing", "")
    if stat.S_ISLNK(status.st_mode):
        return ("link", str(place.readlink()))
    kind = "program" if status.st_mode & 0o111 else "file"
    return (kind, sha256_file(place)) if stat.S_ISREG(status.st_mode) else ("other", "")
