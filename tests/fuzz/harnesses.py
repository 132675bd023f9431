"""What is fuzzed: readers of bytes that somebody else wrote, each with what has to hold.

A harness takes any bytes and tells whether they were accepted. It lets no error pass but those of
`rra.errors`, and none that says the fault is ours; it insists that nothing outside of the place
that was given is touched; and where something is accepted, it compares with a second opinion.
Memory and time are bounded by who runs it (`tools/fuzz.py`, `test_fuzz.py`).
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import gzip
import io
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import zstandard

from rra._base.files import walk_files
from rra.artifact.checking import check_bytes
from rra.bundle import write_archive
from rra.bundle.archive import ArchiveStore
from rra.bundle.config import parse_config, parse_manifest
from rra.bundle.decompress import Compression, decompressed
from rra.bundle.extract import Limits, extract_archive
from rra.bundle.index import Index
from rra.bundle.names import printable
from rra.bundle.reader import read_bundle
from rra.bundle.reference import (
    ArchiveReference,
    DirectoryReference,
    LayoutReference,
    RegistryReference,
    parse_reference,
)
from rra.errors import InternalError, RraError
from rra.signing import SignatureState, trust_keys, verify
from tests.fuzz.seeds import SIGNERS, STATEMENT, SUBJECT, manifest_of

SECRET = b"do not touch\n"
SMALL = Limits(members=400, file_bytes=1 << 18, total_bytes=1 << 20, names_bytes=1 << 16)
MOST = 1 << 20
"""Bytes that a layer may unpack to."""


class FaultError(AssertionError):
    """A reader did what it must not do."""


def insist_on_fit_to_show(message: str) -> None:
    """Let a message be words that steer no terminal.

    Raises:
        FaultError: It is not.
    """
    plain = message.replace("\n", " ").replace("\t", " ")
    if not plain or printable(plain) != plain:
        raise FaultError(f"not fit to be shown: {message!r}")


def judged(read: Callable[[bytes], bool]) -> Callable[[bytes], bool]:
    """Take a refusal for an answer, if it is one that a user can do something with.

    Raises:
        FaultError: The error blames ourselves, has no words, or would steer a terminal.
    """

    @functools.wraps(read)
    def judge(data: bytes) -> bool:
        try:
            return read(data)
        except InternalError as error:
            raise FaultError(f"refused as a fault of ours: {error.message}") from error
        except RraError as error:
            insist_on_fit_to_show(error.message)
            return False

    return judge


class Ground:
    """A folder to unpack into, beside things that nobody may touch."""

    def __init__(self) -> None:
        memory = Path("/dev/shm")
        self.root = Path(
            tempfile.mkdtemp(prefix="rra-fuzz-", dir=memory if memory.is_dir() else None)
        )
        self.out = self.root / "target"
        (self.root / "target-evil").mkdir()
        victim = self.root / "victim"
        victim.mkdir()
        (victim / "secret").write_bytes(SECRET)
        (self.root / "victim-link").symlink_to("victim")
        self._before = self._look()

    def _look(self) -> list[tuple[str, int, int, int]]:
        found = []
        for folder in (self.root, self.root / "victim", self.root / "target-evil"):
            for entry in os.scandir(folder):
                status = entry.stat(follow_symlinks=False)
                if entry.path != str(self.out):
                    found.append((entry.path, status.st_mode, status.st_nlink, status.st_size))
        return sorted(found)

    @contextlib.contextmanager
    def fresh(self) -> Iterator[Path]:
        """Give the empty folder; afterwards insist on everything else being as it was.

        Raises:
            FaultError: It is not.
        """
        self.out.mkdir()
        try:
            yield self.out
        finally:
            shutil.rmtree(self.out)
            secret = (self.root / "victim" / "secret").read_bytes()
            if self._look() != self._before or secret != SECRET:
                raise FaultError(f"something beside the target has changed: {self._look()}")


_GROUND: list[Ground] = []


def ground() -> Ground:
    """Return the one place of this process."""
    if not _GROUND:
        _GROUND.append(Ground())
    return _GROUND[0]


def sweep() -> None:
    """Remove the place of this process."""
    while _GROUND:
        shutil.rmtree(_GROUND.pop().root)


@judged
def tar(data: bytes) -> bool:
    """The archive of a layer: one that is accepted is the one that packing the result gives.

    Raises:
        FaultError: It is another one.
    """
    with ground().fresh() as out:
        found = extract_archive(io.BytesIO(data), out, limits=SMALL)
        again = io.BytesIO()
        try:
            locked = write_archive(out, list(walk_files(out)), again)
        except RraError as error:
            raise FaultError(f"what was accepted cannot be packed: {error.message}") from error
        if again.getvalue() != data or locked.diff_id != found.diff_id:
            raise FaultError("an archive was accepted that is not the canonical one")
        return True


@judged
def layer(data: bytes) -> bool:
    """A compressed layer, its kind in the first byte: what comes out is what others get.

    Raises:
        FaultError: It is something else, or more than allowed.
    """
    kinds: tuple[Compression, ...] = ("zstd", "gzip")
    kind, blob = kinds[data[0] % 2 if data else 0], data[1:]
    stream = decompressed(io.BytesIO(blob), kind, compressed_size=len(blob), limit=MOST)
    content = b"".join(iter(lambda: stream.read(1 << 16), b""))
    if len(content) > MOST:
        raise FaultError(f"{len(content)} bytes came out")
    if kind == "gzip" and gzip.decompress(blob) != content:
        raise FaultError("gzip gives something else")
    if kind == "zstd":
        reader = zstandard.ZstdDecompressor().stream_reader(blob, read_across_frames=True)
        if reader.read(MOST + 1) != content:
            raise FaultError("zstd gives something else")
    return True


@judged
def archive(data: bytes) -> bool:
    """A bundle in one file, as other tools may write it: tar, index, manifest and config."""
    with ground().fresh() as out:
        file = out / "x.oci.tar"
        file.write_bytes(data)
        store = ArchiveStore(file)
        store.tags()
        read_bundle(store)
        return True


@judged
def index(data: bytes) -> bool:
    """``index.json`` of a layout, and what stands under each of its tags."""
    found = Index.parse(data, "layout")
    Index.parse(found.to_bytes(), "layout")
    answers = [_found(found, tag) for tag in (None, *found.tags())]
    return all(answers)


def _found(where: Index, tag: str | None) -> bool:
    return judged(lambda _: where.find(tag) in where.entries)(b"")


@judged
def manifest(data: bytes) -> bool:
    """The OCI manifest of a bundle."""
    found = parse_manifest(data, "bundle")
    if not found.layers:
        raise FaultError("a bundle without layers was accepted")
    return True


@judged
def config(data: bytes) -> bool:
    """The typed config of a bundle, beside a manifest that fits as far as one can."""
    beside = parse_manifest(manifest_of(data), "bundle")
    found = parse_config(data, beside, "bundle")
    found.artifact_manifest()
    return True


@judged
def definition(data: bytes) -> bool:
    """``rra.yaml``, by all stages that need no other file."""
    found = check_bytes(data, "manifest", source="rra.yaml")
    for problem in found.problems:
        insist_on_fit_to_show(str(problem))
    return not any(problem.severity == "error" for problem in found.problems)


@judged
def reference(data: bytes) -> bool:
    """What a user names: what is accepted reads back as the same.

    Raises:
        FaultError: It reads back as something else.
    """
    text = data.decode("utf-8", "surrogateescape")
    found = parse_reference(text)
    if isinstance(found, DirectoryReference):
        return True
    if isinstance(found, RegistryReference | LayoutReference | ArchiveReference):
        # What is printed is the tag, not the version that it was written as.
        found = dataclasses.replace(found, version=None)
    if parse_reference(str(found)) != found:
        raise FaultError(f"{text!r} reads back as {parse_reference(str(found))!r}")
    return True


def signature(data: bytes) -> bool:
    """A Sigstore bundle: nothing makes it raise, and only what was signed is accepted.

    Raises:
        FaultError: It is something else, or the reason is not fit to be shown.
    """
    found = verify(data, subject=SUBJECT, trust=trust_keys(key.public for key in SIGNERS))
    insist_on_fit_to_show(found.reason)
    if found.state is not SignatureState.VALID:
        return False
    if found.statement != STATEMENT:
        raise FaultError("a statement was accepted that nobody signed")
    return True


HARNESSES: dict[str, Callable[[bytes], bool]] = {
    "tar": tar,
    "layer": layer,
    "archive": archive,
    "index": index,
    "manifest": manifest,
    "config": config,
    "definition": definition,
    "reference": reference,
    "signature": signature,
}
