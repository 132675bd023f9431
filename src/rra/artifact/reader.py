"""Reading an artifact: the manifest and the documents beside it, every fault with its place."""

from __future__ import annotations

import dataclasses
import difflib
import functools
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar

import pydantic

from rra._base.files import missing, safe_join
from rra._base.yaml import Key, YamlDocument
from rra.artifact import inventory, layout
from rra.artifact.checking import ARTIFACT, SCHEMA, SEMANTIC, parse_document, read_bytes
from rra.artifact.semantics import check_semantics
from rra.errors import FormatError, NotAnArtifactError, Problem, UsageError
from rra.model import Lock, Manifest, Outcome, Repair, RepairsDocument, Setting, SettingsDocument
from rra.model.base import validate_document
from rra.schema import FORMAT, UNKNOWN_WORDS, check_document, is_newer_minor

Model = TypeVar("Model", bound=pydantic.BaseModel)

_BUNDLE = re.compile(
    r"oci-(?:layout|archive):"
    r"|(?P<away>https?:/|(?:localhost|[\w-]+(?:\.[\w-]+)+)(?::\d+)?/.+(?::[\w.-]+|@sha256:\w+)$"
    r"|[\w-]+:\d+/)"
)
"""What names a bundle in the places where bundles are (`rra.bundle.reference` has the grammar)."""


@dataclasses.dataclass(frozen=True)
class Artifact:
    """An RRA directory, read and checked against the schema.

    Attributes:
        root: Absolute path of the directory that holds ``rra.yaml``.
        manifest: The manifest.
        document: Its source with the place of each value.
        warnings: Unknown keys and other things that do not stop a reader.
        notes: What of the declared tables is not compared, and why.
        table_levels: For each outcome of a table, where the manifest speaks of it.
    """

    root: Path
    manifest: Manifest
    document: YamlDocument
    warnings: tuple[Problem, ...] = ()
    notes: tuple[str, ...] = ()
    table_levels: Mapping[str, tuple[tuple[Key, ...], ...]] = dataclasses.field(
        default_factory=dict
    )

    def path(self, relative: str) -> Path:
        """Return the path of a file that a document names.

        Raises:
            UnsafePathError: The path leads outside the artifact.
        """
        return safe_join(self.root, relative)

    @property
    def code_root(self) -> Path:
        """Folder of the code: ``code/``, or the root itself when the code is in place."""
        return self.root if self.manifest.code.root == "." else self.path(self.manifest.code.root)

    def code_files(self) -> tuple[PurePosixPath, ...]:
        """Return the files of the code, relative to `code_root`, byte-sorted."""
        return inventory.code_files(self.root, self.manifest)

    def element_files(self, element: str) -> tuple[PurePosixPath, ...]:
        """Return the files of an element, relative to `root`, byte-sorted."""
        return inventory.element_files(self.root, self.manifest, element)

    def packed_files(self, element: str) -> tuple[PurePosixPath, ...]:
        """Return the files of an element that travel with the artifact: no data that others own."""
        return inventory.packed_files(self.root, self.manifest, element)

    def packed_names(self, element: str) -> Iterator[str]:
        """Yield what `packed_files` returns as text: there may be many files."""
        return inventory.packed_names(self.root, self.manifest, element)

    @functools.cached_property
    def lock(self) -> Lock | None:
        """What ``rra.lock`` says, or None when there is none.

        Raises:
            FormatError: The file is there but is not a lock.
        """
        path = self.root / layout.LOCK
        return read_document(path, "lock", Lock) if path.is_file() else None

    @functools.cached_property
    def settings(self) -> dict[str, Setting]:
        """Settings by name; empty when there is no file.

        Raises:
            FormatError: The file breaks its schema.
        """
        path = self.root / layout.SETTINGS
        return read_document(path, "settings", SettingsDocument).root if path.is_file() else {}

    @functools.cached_property
    def repairs(self) -> list[tuple[str, Repair]]:
        """Repairs in the order in which they apply; empty when there is no file.

        Raises:
            FormatError: The file breaks its schema.
        """
        path = self.root / layout.REPAIRS
        return read_document(path, "repairs", RepairsDocument).ordered() if path.is_file() else []

    def outcome(self, name: str) -> tuple[str, Outcome]:
        """Find an outcome by ``<experiment>/<outcome>`` or by a part that is unique.

        Raises:
            UsageError: No outcome or several have that name.
        """
        outcomes = self.manifest.outcomes()
        if name in outcomes:
            return name, outcomes[name]
        found = [full for full in outcomes if name in full.split("/")]
        if len(found) == 1:
            return found[0], outcomes[found[0]]
        if found:
            message = f"{name} names several outcomes: {', '.join(found)}"
            raise UsageError(message, hint="give one of them in full")
        derived = self.manifest.derived_outcomes()
        if name in derived:
            message = f"{name} follows from others and stands in no output"
            whole = derived[name].describe(name.partition("/")[0])
            raise UsageError(message, hint=f"it is the {whole}; name one of those")
        near = difflib.get_close_matches(name, list(outcomes), n=3, cutoff=0.4)
        message = f"no outcome is called {name}"
        raise UsageError(message, hint=f"outcomes: {', '.join(near or outcomes)}")

    def place_of(self, name: str, *keys: Key) -> tuple[Key, ...]:
        """Return where the manifest says something of an outcome, as a path of keys.

        For the cell of a table that is its own entry, its row, its column or the table.

        Args:
            name: The outcome, ``<experiment>/<outcome>``.
            keys: Keys inside the outcome, such as ``"selector", "file"``.
        """
        experiment, _, outcome = name.partition("/")
        if name not in self.table_levels:
            return ("experiments", experiment, "outcomes", outcome, *keys)
        for level in self.table_levels[name]:
            for inner in (keys, keys[1:]):
                if inner and (*level, *inner) in self.document.positions:
                    return (*level, *inner)
        return self.table_levels[name][0]


_BELOW = 3
"""Artifacts below a folder that are named at most."""


def _below(root: Path) -> str:
    """Return what to do where a folder is no artifact and holds one; nothing where it does not."""
    found = sorted(path.parent for path in root.glob(f"*/{layout.MANIFEST}"))[:_BELOW]
    return f"give the directory that holds it: {' or '.join(map(str, found))}" if found else ""


def load_artifact(path: Path, *, tables: bool = True) -> Artifact:
    """Read an artifact from its directory (or from the path of its ``rra.yaml``).

    Args:
        path: The directory.
        tables: Whether results tables are expanded into outcomes. A copy whose numbers were
            changed on purpose is read without: what is reported plays no part in its runs.

    Raises:
        NotAnArtifactError: There is no such directory, or it holds no ``rra.yaml``.
        FormatError: The manifest cannot be used; carries every problem.
    """
    root = path.parent if path.name == layout.MANIFEST and path.is_file() else path
    manifest_path = root / layout.MANIFEST
    if not root.is_dir():
        is_file = root.is_file()
        message = f"{root} is a file" if is_file else missing(root)
        if not is_file and (bundle := _BUNDLE.match(str(root))):
            verb = "pull" if bundle["away"] else "unpack"
            named = re.sub(r"^(https?:)/(?!/)", r"\1//", str(root))
            message = f"{named} is a bundle, and this needs the directory of an artifact"
            hint = f"make one of it first: rra {verb} {named} DIRECTORY"
            raise NotAnArtifactError(message, hint=hint)
        raise NotAnArtifactError(message, hint="give the directory that holds rra.yaml")
    if not manifest_path.is_file():
        message = f"{root} holds no {layout.MANIFEST}"
        raise NotAnArtifactError(message, hint=_below(root) or f"make one with: rra init {root}")
    document = _read(manifest_path, "manifest", layout.MANIFEST)
    problems = check_document(document, "manifest")
    _raise_faults(problems, layout.MANIFEST, SCHEMA)
    manifest = _build(document, "manifest", Manifest)
    warnings = tuple(p for p in problems if p.severity == "warning")
    artifact = Artifact(root.resolve(), manifest, document, warnings)
    faults: list[Problem] = []
    if tables and any(one.table is not None for one in manifest.experiments.values()):
        artifact, faults = _expanded(artifact)
    linked = check_semantics(document, "manifest")
    _raise_faults([*linked, *faults], layout.MANIFEST, SEMANTIC if linked else ARTIFACT)
    return artifact


def _expanded(artifact: Artifact) -> tuple[Artifact, list[Problem]]:
    from rra.artifact.tables import expand_tables

    expansion = expand_tables(artifact.root, artifact.document, artifact.manifest)
    changed = dataclasses.replace(
        artifact,
        manifest=expansion.manifest,
        notes=expansion.notes,
        table_levels=expansion.levels,
    )
    return changed, list(expansion.problems)


def read_document(path: Path, schema: str, model: type[Model]) -> Model:
    """Read another document of the format (YAML or JSON) and check it against its schema.

    Raises:
        UsageError: There is no such file.
        FormatError: It breaks its schema; carries every problem.
    """
    if not path.is_file():
        message = f"no such file: {path}"
        raise UsageError(message, hint="check the path")
    document = _read(path, schema, str(path))
    _raise_faults(check_document(document, schema), str(path), SCHEMA)
    _raise_faults(check_semantics(document, schema), str(path), SEMANTIC)
    return _build(document, schema, model)


def _read(path: Path, schema: str, source: str) -> YamlDocument:
    return parse_document(read_bytes(path, schema), schema, source=source)


def _raise_faults(problems: list[Problem], source: str, stage: str) -> None:
    faults = tuple(p for p in problems if p.severity == "error")
    if faults:
        count = "1 problem" if len(faults) == 1 else f"{len(faults)} problems"
        message = f"{source} breaks the format: {count}"
        hint = "correct the places named and run again"
        error = FormatError(message, problems=tuple(problems), hint=hint)
        error.stage = stage
        raise error


def _build(document: YamlDocument, schema: str, model: type[Model]) -> Model:
    """Build the model; the schema has passed, so a fault here is said with the same places."""
    try:
        return validate_document(model, document.data)
    except pydantic.ValidationError as error:
        if is_newer_minor(document.data):
            raise _too_new(document, schema) from error
        problems = [
            document.problem(
                _inside(fault["loc"], document.data),
                fault["msg"],
                clause=f"{schema}/schema",
            )
            for fault in error.errors()
        ]
        _raise_faults(problems, document.source, SCHEMA)
        raise


def _too_new(document: YamlDocument, schema: str) -> FormatError:
    """Return the error of a document with words that only its own minor version knows."""
    problems = [one for one in check_document(document, schema) if one.clause == UNKNOWN_WORDS]
    version = document.data["rra"]
    message = f"{document.source} uses words of version {version} of the format; {FORMAT} is known"
    hint = f"use a version of rra that reads version {version} of the format"
    error = FormatError(message, problems=tuple(problems), hint=hint)
    error.stage = SCHEMA
    return error


def _inside(keys: Iterable[Key], data: Any) -> list[Key]:
    """Return those of pydantic's keys that lead into a value; it names branches of unions too."""
    path: list[Key] = []
    for key in keys:
        has = isinstance(data, dict) and key in data
        if has or (isinstance(data, list) and isinstance(key, int) and key < len(data)):
            data = data[key]
            path.append(key)
    return path
