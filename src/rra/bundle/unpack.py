"""Unpacking: a bundle becomes a directory that is the artifact that was packed, or nothing.

Everything is staged beside the target. Every blob is checked against its size and digest, every
archive against its ``diff_id``, every file against the element that its layer claims; of a whole
bundle also that manifest, lock and core are those of the config. Only then does the directory
get its name.
"""

from __future__ import annotations

import contextlib
import dataclasses
import difflib
import errno
import io
from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from rra._base.files import storage_errors
from rra.artifact import Artifact, load_artifact
from rra.bundle.belonging import foreign_files, references_among
from rra.bundle.config import (
    ELEMENTS,
    LayerDescriptor,
    LayerRecord,
    archive_lock,
    table_outcomes,
)
from rra.bundle.decompress import decompressed
from rra.bundle.extract import Extracted, Extraction, Limits
from rra.bundle.identity import core_digest, core_locks
from rra.bundle.layers import claimed_names
from rra.bundle.names import printable
from rra.bundle.reader import Bundle
from rra.bundle.staging import claimed
from rra.bundle.store import BlobReader, Descriptor, FileReader
from rra.errors import CorruptError, FormatError, UnsafePathError, UsageError
from rra.model import Manifest

Layer = tuple[LayerDescriptor, LayerRecord]
Progress = Callable[[str], None]

_HINT = "get the bundle again from where it came; when it stays so, tell who packed it"
_DEFAULT = Limits()


@dataclasses.dataclass(frozen=True, slots=True)
class UnpackResult:
    """A directory that came out of a bundle.

    Attributes:
        target: The directory.
        elements: Number of files of each element that was unpacked.
        size: Bytes that the layers unpacked to.
        complete: Whether it is the whole artifact.
    """

    target: Path
    elements: Mapping[str, int]
    size: int
    complete: bool


def unpack_bundle(
    bundle: Bundle,
    store: BlobReader,
    target: Path,
    *,
    only: Collection[str] = (),
    limits: Limits = _DEFAULT,
    progress: Progress | None = None,
    checked: Callable[[], None] | None = None,
) -> UnpackResult:
    """Unpack a bundle, or some of its elements, into a new directory.

    Args:
        bundle: The bundle, as `rra.bundle.reader.read_bundle` gave it.
        store: Where its blobs lie.
        target: New or empty directory.
        only: Elements to unpack; all of them by default.
        limits: How much may come out.
        progress: Called with one line for each layer.
        checked: Called when nothing is left to be read, before the directory gets its name.

    Raises:
        UsageError: The target is in use, or there is no such element.
        CorruptError: A blob or archive is not what vouches for it, or the whole is not what the
            config says.
        UnsafePathError: A file would lie where it may not.
        StorageError: The disk is full or refuses; the target is as it was.
    """
    wanted = wanted_layers(bundle, only)
    refuse_to_overwrite(target)
    manifest = bundle.config.artifact_manifest()
    done: list[tuple[LayerRecord, Extracted]] = []
    with storage_errors(target), claimed(target.parent) as staging:
        with Extraction(staging, limits) as extraction:
            for group in _groups(wanted):
                layer, record = group[0]
                if progress is not None:
                    progress(f"unpacking {layer.title or record.element}")
                found = _extract(extraction, store, group)
                _check_layer(manifest, layer, record, found)
                done.append((record, found))
        complete = len(wanted) == len(bundle.layers)
        if complete:
            _check_whole(bundle, staging, done)
        if checked is not None:
            checked()
        _place(staging, target)
    counts: dict[str, int] = {}
    for record, found in done:
        counts[record.element] = counts.get(record.element, 0) + found.files
    return UnpackResult(target, counts, sum(found.size for _, found in done), complete)


def refuse_to_overwrite(target: Path) -> None:
    """Insist that a directory is new or empty.

    Raises:
        UsageError: It is not.
    """
    if target.is_symlink():
        message = f"{target} is a link, and only a real folder takes an artifact"
        raise UsageError(message, hint="name a new directory, or the one that the link leads to")
    if target.exists() and not target.is_dir():
        message = f"{target} is not a directory"
        raise UsageError(message, hint="name a new directory")
    if target.is_dir() and any(target.iterdir()):
        message = f"{target} is not empty"
        raise UsageError(message, hint="name a new directory")


def wanted_layers(bundle: Bundle, only: Collection[str]) -> list[Layer]:
    """Return the layers of some elements, or all of them, in the order in which they are read.

    Raises:
        UsageError: The bundle holds no such element.
    """
    present = list(dict.fromkeys(record.element for _, record in bundle.layers))
    for name in only:
        if name in present:
            continue
        near = difflib.get_close_matches(name, present, n=1)
        what = f"the bundle holds no {name}" if name in ELEMENTS else f"no element is called {name}"
        hint = f"it holds {', '.join(present)}"
        raise UsageError(what, hint=f"did you mean {near[0]}? {hint}" if near else hint)
    return [layer for layer in bundle.layers if not only or layer[1].element in only]


def _place(staging: Path, target: Path) -> None:
    """Give a directory its name; an empty one of that name makes way.

    Raises:
        UsageError: Somebody else has put something there meanwhile.
    """
    try:
        staging.rename(target)
    except OSError as error:
        if error.errno not in {errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR}:
            raise
        message = f"{target} was written to meanwhile"
        raise UsageError(message, hint="name a new directory") from error


def _groups(layers: Sequence[Layer]) -> Iterator[list[Layer]]:
    """Yield single layers, and the parts of each large file together.

    Raises:
        CorruptError: Parts are missing.
    """
    parts: dict[str, list[Layer]] = {}
    for layer, record in layers:
        if record.part is None or record.path is None:
            yield [(layer, record)]
        else:
            parts.setdefault(record.path, []).append((layer, record))
    for path, group in parts.items():
        group.sort(key=lambda item: item[1].part.number if item[1].part else 0)
        numbers = [(r.part.number, r.part.of) for _, r in group if r.part is not None]
        elements = {r.element for _, r in group}
        if numbers != [(n, len(group)) for n in range(1, len(group) + 1)] or len(elements) != 1:
            raise CorruptError(f"parts of {path} are missing", hint=_HINT)
        yield group


def _extract(extraction: Extraction, store: BlobReader, group: list[Layer]) -> Extracted:
    layer, record = group[0]
    if record.path is None:
        with store.open(layer.descriptor) as blob:
            stream = decompressed(
                blob,
                layer.compression,
                compressed_size=record.size,
                limit=record.uncompressed_size,
                what=f"layer {layer.title or record.element}",
            )
            return extraction.add(stream, expected_diff_id=record.diff_id)
    if len(group) == 1:
        with store.open(layer.descriptor) as blob:
            here = store.verified_file(layer.descriptor) if isinstance(store, FileReader) else None
            return extraction.add_file(blob, record.path, executable=False, here=here)
    parts = [one.descriptor for one, _ in group]
    with contextlib.closing(_blocks(store, parts)) as blocks:
        stream = io.BufferedReader(_Blocks(blocks))
        return extraction.add_file(stream, record.path, executable=False)


def _blocks(store: BlobReader, parts: Sequence[Descriptor]) -> Generator[bytes, None, None]:
    """Yield the bytes of blobs one behind the other, each verified at its end."""
    for descriptor in parts:
        with store.open(descriptor) as blob:
            while block := blob.read(1 << 20):
                yield block


class _Blocks(io.RawIOBase):
    """A stream over blocks of bytes."""

    def __init__(self, blocks: Iterator[bytes]) -> None:
        super().__init__()
        self._blocks = blocks
        self._view = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        if not self._view:
            self._view = memoryview(next(self._blocks, b""))
        room = memoryview(buffer).cast("B")
        piece = self._view[: len(room)]
        room[: len(piece)] = piece
        self._view = self._view[len(piece) :]
        return len(piece)


def _check_layer(
    manifest: Manifest, layer: LayerDescriptor, record: LayerRecord, found: Extracted
) -> None:
    name = layer.title or record.element
    if record.path is None and (found.files, found.size) != (
        record.files,
        record.uncompressed_size,
    ):
        message = (
            f"layer {name} holds {found.files} files in {found.size} bytes, not"
            f" {record.files} in {record.uncompressed_size} as the config says"
        )
        raise CorruptError(message, hint=_HINT)
    problems = tuple(foreign_files(manifest, record.element, found.paths))
    if problems:
        message = f"layer {name}: {problems[0].path} {problems[0].message}"
        raise UnsafePathError(message, hint=_HINT, problems=problems)


def _check_whole(
    bundle: Bundle, staging: Path, done: Sequence[tuple[LayerRecord, Extracted]]
) -> None:
    """Insist that the directory is the artifact that the config describes."""
    config = bundle.config
    owners: dict[str, str | None] = {
        path: record.element for record, found in done for path in found.paths
    }
    archives = [(found.paths, archive_lock(record)) for record, found in done if not record.path]
    try:
        artifact = load_artifact(staging)
        lock = artifact.lock
        core = core_digest(artifact, core_locks(artifact, archives))
    except (UsageError, FormatError) as error:
        message = f"the bundle unpacks to no artifact: {error.message}"
        raise CorruptError(message, hint=_HINT, problems=error.problems) from error
    if artifact.document.data != config.manifest:
        raise CorruptError("rra.yaml is not what the bundle's config says", hint=_HINT)
    if table_outcomes(artifact) != config.outcomes:
        message = "the reported tables are not what the bundle's config says"
        raise CorruptError(message, hint=_HINT)
    if lock is None or lock.to_json() != config.lock:
        raise CorruptError("rra.lock is not what the bundle's config says", hint=_HINT)
    references = tuple(references_among(staging, map(PurePosixPath, owners)))
    if references:
        raise CorruptError(str(references[0]), hint=_HINT, problems=references)
    strange = _misplaced(artifact, owners)
    if strange:
        message = f"{printable(min(strange))} is not in the layer of its element"
        raise CorruptError(message, hint=_HINT)
    if not core == config.core == lock.core:
        message = f"the files give core {core}, the bundle says {config.core}"
        raise CorruptError(message, hint=_HINT)


def _misplaced(artifact: Artifact, owners: dict[str, str | None]) -> list[str]:
    """Return the files that lie in no layer, or in another one than that of their element.

    Args:
        artifact: What was unpacked.
        owners: The element of the layer that each file came in; None takes the place of those
            that are where they belong.
    """
    strange = []
    for name, element in claimed_names(artifact):
        found = owners.get(name, "")
        if found == element:
            owners[name] = None
        elif found is not None:
            strange.append(name)
    return strange + [name for name, left in owners.items() if left is not None]
