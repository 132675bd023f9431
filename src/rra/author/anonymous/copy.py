"""The anonymous copy of an artifact: blanked, its digests made again, and searched.

Small files are written again, large ones are linked; the artifact itself is only read. The copy
follows from the files of the artifact and the texts that its author names alone, so it is the
same whoever makes it, and wherever.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from rra._base.files import STAGING_PREFIX, atomic_write, remove_tree, storage_errors
from rra.artifact import Artifact, layout, load_artifact
from rra.artifact.lockfile import build_lock, write_lock
from rra.author.anonymous.blank import MAX_TEXT, blank_file, is_text
from rra.author.anonymous.identifier import Finder, Identifier
from rra.author.anonymous.identity import collect
from rra.author.anonymous.machine import machine_identifiers
from rra.author.anonymous.manifest import blank_manifest
from rra.author.anonymous.patches import BlankedPatches, blank_patches
from rra.author.anonymous.records import Digests, RenamedRecord, blank_records
from rra.author.anonymous.search import Findings, Search, Unsearched
from rra.author.guide import render_guide
from rra.bundle import core_digest, element_locks
from rra.bundle.layers import assign_files
from rra.bundle.lock_state import changes_since_lock
from rra.environment import read_entry
from rra.errors import CorruptError, Problem, SelectError, UnavailableError, UsageError
from rra.evidence import EvidenceStore
from rra.model import Outcome
from rra.values.selectors import select_outcome

Progress = Callable[[str], None]

_LINK_FROM = 1 << 20
_PIECE = 4 << 20
_WATCHED = {"strace", "audit-hook"}
_DIGESTED = {"guide", "meta"}


@dataclasses.dataclass(frozen=True, slots=True)
class AnonymousOptions:
    """What an author says of who they are.

    Attributes:
        also: Texts that identify them and that no file says.
        keep: Texts that identify nobody, whatever they look like.
        keep_paper: Whether the paper is somebody else's, and stays named.
    """

    also: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    keep_paper: bool = False


@dataclasses.dataclass(frozen=True, slots=True)
class AnonymousCopy:
    """An artifact without what identifies its authors.

    Attributes:
        root: Where the copy lies, as long as the block lasts.
        before: Core of the artifact.
        core: Core of the copy; nothing where something stands against it.
        identifiers: What was replaced and looked for.
        files: Path of each file that was rewritten, with how many texts were replaced.
        records: What became of the records.
        findings: What the search found; nothing when it is clean.
        problems: What stands against the copy; it may be packed only without any.
        notes: What the author should know.
    """

    root: Path
    before: str
    core: str
    identifiers: tuple[Identifier, ...]
    files: Mapping[str, int]
    records: tuple[RenamedRecord, ...]
    findings: Findings
    problems: tuple[Problem, ...]
    notes: tuple[str, ...]

    @property
    def unsearched(self) -> tuple[Unsearched, ...]:
        """What could be searched only in part."""
        return tuple(self.findings.unsearched)


@contextlib.contextmanager
def anonymous_copy(
    artifact: Artifact, options: AnonymousOptions, *, progress: Progress
) -> Iterator[AnonymousCopy]:
    """Give an anonymous copy of an artifact; it goes when the block ends.

    Args:
        artifact: The artifact; it is only read.
        options: What its author says.
        progress: Called with one line for each step.

    Raises:
        UsageError: The artifact is not locked.
        CorruptError: ``rra.lock`` is that of other files, or a record cannot be read.
        PatchError: The repairs do not lead from the source to the code.
        StorageError: There is no room for the copy.
        UnavailableError: A file cannot be read.
    """
    if artifact.lock is None:
        message = f"{artifact.root} is not locked: it has no {layout.LOCK}"
        raise UsageError(message, hint="run: rra lock")
    folder = _staging(artifact.root)
    try:
        try:
            made = _Maker(artifact, folder / "artifact", options, progress).make()
        except OSError as error:
            message = f"{error.filename or artifact.root} cannot be read: {error.strerror or error}"
            hint = "make it readable, and let nothing change there while it is packed"
            raise UnavailableError(message, hint=hint) from error
        yield made
    finally:
        remove_tree(folder)


def _staging(root: Path) -> Path:
    """Make a private folder, where large files can be linked if there is one."""
    device = root.stat().st_dev
    usual = Path(tempfile.gettempdir())
    beside = root.parent
    for place in (usual, beside):
        if place.stat().st_dev == device and os.access(place, os.W_OK):
            return Path(tempfile.mkdtemp(prefix=STAGING_PREFIX, dir=place))
    return Path(tempfile.mkdtemp(prefix=STAGING_PREFIX, dir=usual))


class _Maker:
    """Makes one copy, step by step."""

    def __init__(
        self, artifact: Artifact, root: Path, options: AnonymousOptions, progress: Progress
    ) -> None:
        self._artifact = artifact
        self._root = root
        self._options = options
        self._progress = progress
        self._owners = assign_files(artifact)
        self._digests = Digests()
        self._problems: list[Problem] = []
        self._files: dict[str, int] = {}
        self._records: tuple[RenamedRecord, ...] = ()
        self._read = _seen_read(artifact)
        self._unread: list[str] = []

    def make(self) -> AnonymousCopy:
        """Make the copy."""
        lock = self._artifact.lock
        before = lock.core if lock is not None else ""
        self._progress("collecting what identifies the authors")
        known = collect(
            self._artifact.manifest,
            self._texts(),
            also=self._options.also,
            keep=self._options.keep,
            keep_paper=self._options.keep_paper,
        )
        finder = Finder(known)
        patches = blank_patches(self._artifact, finder, self._digests)
        self._progress("blanking a copy")
        with storage_errors(self._root):
            self._copy(finder, patches)
        self._manifest(finder, patches)
        _insist_on_lock(self._artifact)
        core = "" if self._problems else self._finish(finder, before)
        looked_for = [*known, *machine_identifiers(self._artifact.root, known, self._options.keep)]
        findings = self._search(looked_for)
        self._problems += findings.problems
        return AnonymousCopy(
            self._root,
            before,
            core,
            tuple(looked_for),
            self._files,
            self._records,
            findings,
            tuple(dict.fromkeys(self._problems)),
            tuple(self._notes(patches, same_core=core == before)),
        )

    def _search(self, looked_for: list[Identifier]) -> Findings:
        """Search what was copied, also where the copy is no artifact because of a problem."""
        owners = self._owners if self._problems else assign_files(load_artifact(self._root))
        there = [path for path in sorted(owners) if os.path.lexists(self._root / path)]
        self._progress(f"searching {len(there)} files")
        return Search(Finder(looked_for)).files(self._root, there)

    def _texts(self) -> Iterator[tuple[PurePosixPath, str]]:
        """Yield the files that are text, in the order of their names; long ones in pieces."""
        for path in sorted(self._owners):
            place = self._artifact.root / path
            if place.is_symlink() or place.stat().st_size > MAX_TEXT:
                continue
            data = place.read_bytes()
            if is_text(data):
                for start in range(0, len(data), _PIECE):
                    yield path, data[start : start + _PIECE].decode("utf-8", "replace")

    def _copy(self, finder: Finder, patches: BlankedPatches) -> None:
        for path, element in self._owners.items():
            source, target = self._artifact.root / path, self._root / path
            target.parent.mkdir(parents=True, exist_ok=True)
            if source.is_symlink():
                target.symlink_to(source.readlink())
            elif str(path) in patches.patches:
                self._write(path, source.read_bytes(), patches.patches[str(path)], 1)
            elif source.stat().st_size > MAX_TEXT:
                _link(source, target)
            else:
                self._one(path, element, finder)

    def _one(self, path: PurePosixPath, element: str, finder: Finder) -> None:
        source, target = self._artifact.root / path, self._root / path
        if str(path) in {layout.MANIFEST, layout.LOCK}:
            return
        data = source.read_bytes()
        read = None if self._read is None else str(path) in self._read
        blanked = blank_file(path, data, finder, element=element, read=read)
        self._problems += blanked.problems
        if blanked.unread:
            self._unread.append(str(path))
        if blanked.data == data and len(data) >= _LINK_FROM:
            _link(source, target)
        else:
            self._write(path, data, blanked.data, blanked.hits)

    def _write(self, path: PurePosixPath, before: bytes, after: bytes, hits: int) -> None:
        mode = (self._artifact.root / path).stat().st_mode & 0o777
        target = self._root / path
        target.write_bytes(after)
        target.chmod(mode | 0o600)
        if before != after:
            self._files[str(path)] = hits
            self._digests.note(before, after)

    def _manifest(self, finder: Finder, patches: BlankedPatches) -> None:
        text = self._artifact.document.text
        after, problems = blank_manifest(
            text, finder, keep_paper=self._options.keep_paper, source=patches.source
        )
        atomic_write(self._root / layout.MANIFEST, after)
        self._files[layout.MANIFEST] = 1
        self._problems += problems

    def _finish(self, finder: Finder, before: str) -> str:
        """Make records, references to digests, tables and lock again; return the core."""
        core = core_digest(load_artifact(self._root))
        named = self._artifact.manifest.source
        now = load_artifact(self._root).manifest.source
        if named and now and named.swhid and now.swhid:
            self._digests.texts[named.swhid] = now.swhid
        self._digests.texts[before] = core
        for digest, (blanked, _) in self._digests.files.items():
            self._digests.texts[digest] = blanked
        renamed = blank_records(self._artifact.root, self._root, finder, self._digests)
        self._records = tuple(renamed)
        for path, element in self._owners.items():
            place = self._root / path
            if element not in _DIGESTED or str(path) in {layout.MANIFEST, layout.LOCK}:
                continue
            if not place.is_symlink() and place.is_file():
                data = place.read_bytes()
                after = self._digests.replace(data) if is_text(data) else data
                if after != data:
                    place.write_bytes(after)
                    self._files.setdefault(str(path), 0)
        copy = load_artifact(self._root)
        render_guide(copy)
        _lock(copy, core)
        self._problems += _changed_values(self._artifact, copy)
        return core

    def _notes(self, patches: BlankedPatches, *, same_core: bool) -> Iterator[str]:
        for path in self._unread:
            yield f"{path}: replaced in code that no recorded run reads"
        if same_core:
            yield (
                "the core is that of the artifact, since nothing that decides results had to be "
                "blanked: whoever knows another bundle of it knows this one"
            )
        source = self._artifact.manifest.source
        if source is not None and source.swhid and patches.source is None:
            yield (
                "the code comes, byte for byte, from the source tree: where that is public, an "
                "archive finds it by its digest"
            )
        if not self._options.keep_paper and self._artifact.manifest.paper is not None:
            yield "title and year of the paper stay; its authors and identifiers are gone"


def _insist_on_lock(artifact: Artifact) -> None:
    """Insist that what was copied is what is locked, as for every other bundle.

    Raises:
        CorruptError: It is not; names what has changed.
    """
    changes = changes_since_lock(artifact)
    if changes:
        message = f"{layout.LOCK} is not that of the files as they are now: {'; '.join(changes)}"
        raise CorruptError(message, hint="run: rra lock --keep, look at it, and pack again")


def _seen_read(artifact: Artifact) -> frozenset[str] | None:
    """Return the files that recorded runs were seen to read; None unless all were watched."""
    stored = EvidenceStore(artifact.root / layout.EVIDENCE_DIR).records()
    watched = [one.record for one in stored if one.record.recorder.level in _WATCHED]
    lock = artifact.lock
    ran = {one.launcher.id for one in watched if one.ok and lock and one.core == lock.core}
    if ran < set(artifact.manifest.launchers):
        return None
    return frozenset(item.path for record in watched for item in record.inputs)


def _changed_values(artifact: Artifact, copy: Artifact) -> Iterator[Problem]:
    """Yield the outcomes whose values are not in the blanked evidence as they were before."""
    stores = [EvidenceStore(one.root / layout.EVIDENCE_DIR) for one in (artifact, copy)]
    for name, outcome in artifact.manifest.outcomes().items():
        before, after = (_value(store, outcome) for store in stores)
        if before != after:
            message = f"the evidence gives {after or 'no value'} when blanked, {before} before"
            hint = "a text that is replaced is part of what the value is read from: --keep it"
            place = artifact.place_of(name)
            yield artifact.document.problem(
                place, f"{name}: {message}", clause="privacy/anonymous-copy", hint=hint
            )


def _value(store: EvidenceStore, outcome: Outcome) -> tuple[str, ...]:
    stored = store.latest(outcome.selector.launcher)
    if stored is None:
        return ()
    try:
        found = select_outcome([stored.outputs], outcome)
    except SelectError:
        return ()
    return tuple(part.text for part in found.parts)


def _lock(copy: Artifact, core: str) -> None:
    environments: dict[str, Any] = {
        name: read_entry(copy.path(environment.lock))
        for name, environment in copy.manifest.environments.items()
        if environment.lock and copy.path(environment.lock).is_file()
    }
    elements = element_locks(copy)
    write_lock(copy, build_lock(copy, core=core, elements=elements, environments=environments))


def _link(source: Path, target: Path) -> None:
    """Have a file in two places at once; copy it where that cannot be."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)
