"""Everything that rules may look at; the only place of the linter that touches the disk."""

from __future__ import annotations

import bisect
import codecs
import dataclasses
import functools
import stat
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from rra._base.files import sha256_file
from rra._base.yaml import YamlDocument
from rra.artifact import layout
from rra.artifact.checking import check_bytes, parse_document, read_bytes
from rra.artifact.inventory import left_behind
from rra.artifact.repairs import EqualityResult, check_equality
from rra.errors import FormatError, Problem, UnsafePathError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rra.artifact import Artifact
    from rra.environment.runtime import RuntimeDescription
    from rra.evidence import StoredRecord
    from rra.model import Repair

MAX_TEXT = 2 * 1024 * 1024
"""Bytes up to which a file is read as text; larger files are data."""

HEAD = 1024
"""Bytes that tell what kind of file it is."""

_DOCUMENTS = {layout.SETTINGS: "settings", layout.REPAIRS: "repairs", layout.LOCK: "lock"}
_KEEP = 128 * 1024
_ELEMENTS = ("meta", "guide", "environment", "launchers", "code", "data", "evidence")
_BOMS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}


@dataclasses.dataclass(frozen=True)
class TextFile:
    """A text file of the artifact, read once.

    Attributes:
        path: Relative to the artifact.
        text: Content; line ends as they are in the file.
        has_bom: Whether the file starts with a byte order mark.
    """

    path: PurePosixPath
    text: str
    has_bom: bool = False

    @functools.cached_property
    def _starts(self) -> list[int]:
        return [0, *(i + 1 for i, character in enumerate(self.text) if character == "\n")]

    def position(self, offset: int) -> tuple[int, int]:
        """Return line and column, both 1-based, of a character."""
        line = bisect.bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1

    def line_at(self, offset: int) -> str:
        """Return the whole line that a character stands in, without its end."""
        line, _ = self.position(offset)
        start = self._starts[line - 1]
        end = self.text.find("\n", start)
        return self.text[start : end if end >= 0 else len(self.text)].rstrip("\r")


class Context:
    """What rules see of an artifact: documents, files, trees and evidence, each read once.

    Attributes:
        root: Directory of the artifact.
        loaded: The artifact, or None when its manifest cannot be used.
        problems: Faults and warnings of the manifest, settings, repairs and lock.
        expected_guide: The guide as it would be rendered now, if the caller can render it.
        unreadable: Files that could not be read, with why; filled while rules look.
        stage: Where it was decided that the manifest cannot be used; empty when it can.
    """

    def __init__(
        self,
        root: Path,
        loaded: Artifact | None,
        problems: tuple[Problem, ...],
        expected_guide: Callable[[Artifact], str | None] | None = None,
        stage: str = "",
    ) -> None:
        """Keep what the loader found; everything else is read when a rule asks for it."""
        self.root = root
        self.loaded = loaded
        self.problems = problems + tuple(self._document_problems() if loaded else ())
        self.unreadable: dict[PurePosixPath, str] = {}
        self._expected_guide = expected_guide
        self.stage = stage
        self._texts: dict[PurePosixPath, TextFile | None] = {}

    @property
    def artifact(self) -> Artifact:
        """The artifact; rules that need it run only when the manifest can be used."""
        if self.loaded is None:
            raise LookupError("the manifest cannot be used")
        return self.loaded

    @property
    def document(self) -> YamlDocument:
        """The manifest with the place of each value."""
        return self.artifact.document

    # ---------------------------------------------------------------------- documents

    def _document_problems(self) -> Iterator[Problem]:
        for name, schema in _DOCUMENTS.items():
            place = self.root / name
            if place.is_file():
                yield from check_bytes(read_bytes(place, schema), schema, source=name).problems

    def yaml(self, relative: str) -> YamlDocument | None:
        """Return a YAML document of the artifact; None when it is absent or unreadable."""
        place = self.root / relative
        if not place.is_file():
            return None
        try:
            name = _DOCUMENTS[relative]
            return parse_document(read_bytes(place, name), name, source=relative)
        except FormatError:
            return None

    @functools.cached_property
    def repairs_document(self) -> YamlDocument | None:
        """The list of repairs with the place of each value; None when absent or broken."""
        return self.yaml(layout.REPAIRS)

    @functools.cached_property
    def repairs(self) -> list[tuple[str, Repair]]:
        """Repairs in order; empty when there are none or their document is broken."""
        try:
            return self.artifact.repairs
        except FormatError:
            return []

    @functools.cached_property
    def expected_guide(self) -> str | None:
        """The guide as it would be rendered now; None when the caller cannot render it."""
        return self._expected_guide(self.artifact) if self._expected_guide else None

    @property
    def renders_guide(self) -> bool:
        """Whether the caller can render the guide."""
        return self._expected_guide is not None

    @property
    def guide_path(self) -> PurePosixPath:
        """The guide, relative to the artifact."""
        return PurePosixPath(self.artifact.manifest.guide or layout.GUIDE)

    # -------------------------------------------------------------------------- files

    @functools.cached_property
    def elements(self) -> Mapping[str, tuple[PurePosixPath, ...]]:
        """Files of each element that travel, and of the evidence, relative to the artifact."""
        return {name: self.artifact.packed_files(name) for name in _ELEMENTS}

    @functools.cached_property
    def files(self) -> tuple[PurePosixPath, ...]:
        """Every file that would be shared, relative to the artifact."""
        return tuple(sorted({path for files in self.elements.values() for path in files}))

    @functools.cached_property
    def left_behind(self) -> tuple[PurePosixPath, ...]:
        """Files of the directory that belong to no element, relative to the artifact."""
        return left_behind(self.root, self.artifact.manifest)

    @functools.cached_property
    def unpackable(self) -> tuple[Problem, ...]:
        """What is wrong with the names and kinds of the files that travel."""
        from rra.bundle.layers import plan_layers

        try:
            plan_layers(self.artifact)
        except FormatError as error:
            named = ("canonical-tar/", "bundle/links")
            return tuple(one for one in error.problems if one.clause.startswith(named))
        return ()

    @functools.cached_property
    def known_paths(self) -> tuple[str, ...]:
        """Files and their folders as text, for near-miss suggestions."""
        folders = {str(parent) for path in self.files for parent in path.parents}
        return tuple(sorted({str(path) for path in self.files} | folders - {"."}))

    def kind(self, relative: str | PurePosixPath) -> str:
        """Return ``file``, ``folder``, ``outside`` or ``missing`` for a path of the artifact."""
        try:
            place = self.artifact.path(str(relative))
        except UnsafePathError:
            return "outside"
        if place.is_dir():
            return "folder"
        return "file" if place.is_file() else "missing"

    def digest(self, relative: str | PurePosixPath) -> str:
        """Return the digest of a file of the artifact."""
        return sha256_file(self.artifact.path(str(relative)))

    def is_executable(self, relative: str | PurePosixPath) -> bool:
        """Tell whether a file carries the executable bit of its owner."""
        return bool(self.artifact.path(str(relative)).stat().st_mode & stat.S_IXUSR)

    def size(self, relative: PurePosixPath) -> int:
        """Return the size of a regular file in bytes; 0 for links and special files."""
        status = (self.root / relative).lstat()
        return status.st_size if stat.S_ISREG(status.st_mode) else 0

    def head(self, relative: PurePosixPath) -> bytes:
        """Return the first `HEAD` bytes of a regular file; nothing of links and special files."""
        if self.size(relative) == 0:
            return b""
        try:
            with (self.root / relative).open("rb") as file:
                return file.read(HEAD)
        except OSError as error:
            self.unreadable[relative] = error.strerror or str(error)
            return b""

    def carried_interpreter(self, relative: PurePosixPath) -> RuntimeDescription | None:
        """Return what a packed interpreter says of itself; None when it does not say that."""
        from rra.environment.runtime import read_description

        try:
            return read_description(self.artifact.path(str(relative)), str(relative))
        except FormatError:
            return None
        except OSError as error:
            self.unreadable[relative] = error.strerror or str(error)
            return None

    def text(self, relative: PurePosixPath) -> TextFile | None:
        """Return a text file, or None for what is binary, larger than `MAX_TEXT` or absent."""
        if relative in self._texts:
            return self._texts[relative]
        file = self._read(relative)
        if file is None or len(file.text) <= _KEEP:
            self._texts[relative] = file
        return file

    def texts(self, *elements: str) -> Iterator[TextFile]:
        """Yield the text files of elements (of everything when none is named)."""
        names = elements or tuple(self.elements)
        seen: set[PurePosixPath] = set()
        for path in (path for name in names for path in self.elements[name]):
            if path not in seen:
                seen.add(path)
                file = self.text(path)
                if file is not None:
                    yield file

    def _read(self, relative: PurePosixPath) -> TextFile | None:
        place = self.root / relative
        try:
            status = place.lstat()
            if not stat.S_ISREG(status.st_mode) or status.st_size > MAX_TEXT:
                return None
            content = place.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            self.unreadable[relative] = error.strerror or str(error)
            return None
        for mark, encoding in _BOMS.items():
            if content.startswith(mark):
                return TextFile(relative, content.decode(encoding, "replace"), has_bom=True)
        if b"\0" in content[: 8 * HEAD]:
            return None
        return TextFile(relative, content.decode("utf-8", "replace"))

    # ------------------------------------------------------------- trees and evidence

    @functools.cached_property
    def lock_changes(self) -> list[str]:
        """What differs between ``rra.lock`` and the files; nothing when there is no usable lock.

        A file without a place in an archive leaves nothing to compare; other rules name it.
        """
        from rra.bundle.lock_state import changes_since_lock

        try:
            return changes_since_lock(self.artifact)
        except FormatError:
            return []

    @functools.cached_property
    def equality(self) -> EqualityResult:
        """Whether upstream and the repairs give the code.

        Raises:
            ToolMissingError: git is not installed.
        """
        return check_equality(self.artifact)

    @functools.cached_property
    def evidence(self) -> tuple[tuple[StoredRecord, tuple[Problem, ...]], ...]:
        """The execution records that the artifact carries, each with what is wrong with it."""
        folder = self.root / layout.EVIDENCE_DIR
        if not folder.is_dir():
            return ()
        from rra.evidence import EvidenceStore, verify_record

        store = EvidenceStore(folder)
        return tuple((stored, tuple(verify_record(stored))) for stored in store.records())
