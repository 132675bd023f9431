"""Which files of the artifact a run read, or could read, and what they are."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path, PurePosixPath

from rra._base import places
from rra.artifact import Artifact, layout
from rra.evidence import printable
from rra.launch.digests import Digests
from rra.launch.inventory import regular_files
from rra.launch.trace import Observation
from rra.launch.workspace import Workspace
from rra.model import InputFile, Launcher
from rra.model.record import Role

_SUFFIXES: dict[Role, frozenset[str]] = {
    "code": frozenset(
        {".py", ".pyx", ".pxd", ".ipynb", ".sh", ".bash", ".r", ".rmd", ".jl", ".m", ".lua"}
        | {".c", ".h", ".cc", ".cpp", ".hpp", ".cu", ".cuh", ".f", ".f90", ".rs", ".go", ".java"}
        | {".pl", ".so", ".js", ".ts", ".sql", ".mk", ".cmake", ".smk"}
    ),
    "config": frozenset({".yaml", ".yml", ".toml", ".ini", ".cfg", ".conf"}),
    "model": frozenset(
        {".pt", ".pth", ".ckpt", ".safetensors", ".onnx", ".h5", ".keras", ".joblib", ".pkl"}
    ),
}
_NAMES = {"makefile": "code", "snakefile": "code", "dockerfile": "code"}

_DIGESTS = Digests(lambda: places.cache_root() / "digests.json")
"""Shared by the runs of this machine, so that large data is read once."""


def digest_and_size(path: Path) -> tuple[str, int]:
    """Return digest and size of a file, reading it once as long as it does not change."""
    return _DIGESTS.of(path)


Before = Mapping[PurePosixPath, tuple[str, int]]
"""Digest and size of files of the artifact before a run, by their place in it."""


def inputs_before(artifact: Artifact, name: str, space: Workspace) -> Before:
    """Return what a run could read, before it could change that.

    Args:
        artifact: The artifact.
        name: Id of the launcher.
        space: The folders of the run; the outputs of those that it needs are there.
    """
    launcher = artifact.manifest.launchers[name]
    paths = {*_possible(artifact, launcher, space), PurePosixPath(launcher.entry)}
    places = {path: _place(artifact, launcher, space, path) for path in paths}
    return {path: digest_and_size(place) for path, place in places.items() if place.is_file()}


def changed_inputs(
    artifact: Artifact, name: str, space: Workspace, before: Before, used: Collection[str]
) -> list[str]:
    """Return the inputs, of those that a record lists, that are others now than before the run."""
    launcher = artifact.manifest.launchers[name]
    found = []
    for path, content in before.items():
        place = _place(artifact, launcher, space, path)
        same = place.is_file() and digest_and_size(place) == content
        if printable(path) in used and not same:
            found.append(printable(path))
    return sorted(found)


def _place(artifact: Artifact, launcher: Launcher, space: Workspace, path: PurePosixPath) -> Path:
    """Return where a launcher finds a file: outputs of others lie in the folders of the run."""
    above, needed = path.parts[:1], path.parts[1:2]
    if above == (layout.OUTPUTS_DIR,) and needed and needed[0] in launcher.needs:
        return space.outputs / path.relative_to(layout.OUTPUTS_DIR)
    return artifact.root / path


def input_files(
    artifact: Artifact,
    name: str,
    space: Workspace,
    seen: Observation,
    *,
    complete: bool,
    before: Before | None = None,
) -> list[InputFile]:
    """Return the inputs of a run, sorted by path, with digests of the artifact's own files.

    Args:
        artifact: The artifact.
        name: Id of the launcher.
        space: The folders of the run.
        seen: What the recorder saw.
        complete: Whether it saw every read; if not, all files that could be read are listed.
        before: What they were before the run, where it could change them.
    """
    launcher = artifact.manifest.launchers[name]
    entry = PurePosixPath(launcher.entry)
    paths = set(_seen(artifact, space, seen) if complete else _possible(artifact, launcher, space))
    known = before or {}
    found = []
    for path in sorted({*paths, entry}, key=os.fsencode):
        place = _place(artifact, launcher, space, path)
        if path in known or place.is_file():
            sha256, size = known.get(path) or digest_and_size(place)
            role: Role = "launcher" if path == entry else role_of(artifact, path)
            found.append(InputFile(path=printable(path), sha256=sha256, size=size, role=role))
    _DIGESTS.save()
    return sorted(found, key=lambda one: one.path.encode())


def _seen(artifact: Artifact, space: Workspace, seen: Observation) -> Iterator[PurePosixPath]:
    """Yield what was read of the artifact; a file of the copy counts by its original."""
    for name in seen.reads:
        path = artifact_path(artifact, space, name)
        if path is not None:
            yield path


def artifact_path(artifact: Artifact, space: Workspace, name: str) -> PurePosixPath | None:
    """Return the place in the artifact that an absolute path of the run stands for, or None.

    Outputs of earlier launchers are ``outputs/…``. The run's own outputs, what lies outside
    the artifact, and caches stand for nothing.
    """
    path = PurePosixPath(name)
    if "__pycache__" in path.parts:
        return None
    if path.is_relative_to(space.code):
        return PurePosixPath(artifact.manifest.code.root) / path.relative_to(space.code)
    if path.is_relative_to(space.outputs):
        return PurePosixPath(layout.OUTPUTS_DIR) / path.relative_to(space.outputs)
    if path.is_relative_to(space.root) or not path.is_relative_to(artifact.root):
        return None
    return path.relative_to(artifact.root)


def _possible(artifact: Artifact, launcher: Launcher, space: Workspace) -> Iterator[PurePosixPath]:
    yield from artifact.element_files("code")
    items = launcher.inputs or list(artifact.manifest.data)
    places = [PurePosixPath(artifact.manifest.data[name].path) for name in items]
    for path in artifact.element_files("data"):
        if any(path.is_relative_to(place) for place in places):
            yield path
    for name in launcher.needs:
        for path, _ in regular_files(space.outputs / name):
            yield PurePosixPath(layout.OUTPUTS_DIR) / name / path


def role_of(artifact: Artifact, path: PurePosixPath) -> Role:
    """Return what a file is: by the manifest first, by its name where that says nothing.

    A file of the code that is neither source nor settings nor a model is ``unknown``: it may
    be data that nobody declared, or a result.
    """
    manifest = artifact.manifest
    if any(path.is_relative_to(item.path) for item in manifest.data.values()):
        return "data"
    if path.parts[0] == layout.OUTPUTS_DIR:
        return "output"
    entries = {one.entry for one in manifest.launchers.values()}
    if path.parts[0] == layout.LAUNCHERS_DIR or str(path) in entries:
        return "launcher"
    if path.name.lower().startswith("references"):
        return "reference"
    suffix = path.suffix.lower()
    for role, suffixes in _SUFFIXES.items():
        if suffix in suffixes:
            return role
    return "code" if path.name.lower() in _NAMES else "unknown"
