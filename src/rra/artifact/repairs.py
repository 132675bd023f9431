"""Equality: upstream tree + patches in order = the tree of the code.

Always provable without the source at hand: the patches are reversed on a copy of the code
and the tree that remains is compared with ``source.swhid``.
"""

from __future__ import annotations

import dataclasses
import tempfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from rra._base import process
from rra._base.files import copy_files, walk_files
from rra.artifact.reader import Artifact
from rra.artifact.tree import tree_id
from rra.artifact.upstream import files_that_differ, shown
from rra.errors import PatchError
from rra.model import Repair

_GIT = "patches are written and applied in git's form"


@dataclasses.dataclass(frozen=True)
class AppliedRepair:
    """One repair after it was applied: its id, its text, and the tree it leads to."""

    id: str
    repair: Repair
    tree: str


@dataclasses.dataclass(frozen=True)
class EqualityResult:
    """Whether upstream plus repairs gives the code.

    Attributes:
        ok: Whether they are equal; None when the manifest names no ``source.swhid``.
        expected: Tree of the source as the manifest says.
        computed: Tree that is left when all patches are reversed.
        code: Tree of the code.
        steps: Repair id and the tree before it, from the last repair back to the first.
        message: One sentence.
        differing: Files that differ from the source and how, as far as its repository is here.
    """

    ok: bool | None
    expected: str | None
    computed: str | None
    code: str
    steps: tuple[tuple[str, str], ...]
    message: str
    differing: tuple[str, ...] = ()


def check_equality(artifact: Artifact) -> EqualityResult:
    """Reverse the patches on a copy of the code and compare with the source's tree.

    Without repairs there is nothing to reverse, and nothing is copied.

    Raises:
        ToolMissingError: git is not installed.
        StorageError: No space for the copy.
    """
    files = artifact.code_files()
    code = tree_id(artifact.code_root, files)
    source = artifact.manifest.source
    expected = source.swhid if source else None
    steps: list[tuple[str, str]] = []
    differing: tuple[str, ...] = ()
    with tempfile.TemporaryDirectory(prefix="rra-equality-") as folder:
        copy = Path(folder) / "code"
        if artifact.repairs:
            copy_files(artifact.code_root, copy, files)
        for repair_id, repair in reversed(artifact.repairs):
            try:
                _apply(artifact.path(repair.patch), copy, reverse=True)
            except PatchError as error:
                message = f"repair {repair_id} cannot be taken back from the code: {error.message}"
                return EqualityResult(
                    ok=False,
                    expected=expected,
                    computed=None,
                    code=code,
                    steps=tuple(steps),
                    message=message,
                )
            steps.append((repair_id, tree_id(copy, walk_files(copy))))
        computed = steps[-1][1] if steps else code
        if source is not None and expected not in {None, computed}:
            left, named = (copy, walk_files(copy)) if steps else (artifact.code_root, files)
            differing = files_that_differ(artifact.code_root, source, left, named)
    if expected is None:
        message = "the manifest names no source.swhid, so equality cannot be checked"
        return EqualityResult(None, None, computed, code, tuple(steps), message)
    equal = computed == expected
    word = "equals" if equal else "differs from"
    count = "1 repair" if len(steps) == 1 else f"{len(steps)} repairs"
    message = f"code with its {count} taken back {word} the source tree {expected}"
    if not equal:
        message += f" (it is {computed})"
    if differing:
        message += f": {shown(differing)}"
    return EqualityResult(equal, expected, computed, code, tuple(steps), message, differing)


def apply_repairs(artifact: Artifact, target: Path) -> Iterator[AppliedRepair]:
    """Apply the repairs one after the other to a copy of the upstream tree.

    Args:
        artifact: Artifact whose repairs are applied.
        target: Folder that holds the upstream files; it is changed.

    Yields:
        Each repair as soon as it is applied.

    Raises:
        PatchError: A patch does not apply; the patches before it stay applied.
        ToolMissingError: git is not installed.
    """
    for repair_id, repair in artifact.repairs:
        try:
            _apply(artifact.path(repair.patch), target, reverse=False)
        except PatchError as error:
            message = f"repair {repair_id} does not apply to {target}: {error.message}"
            raise PatchError(message, hint=error.hint) from error
        yield AppliedRepair(repair_id, repair, tree_id(target, _plain_files(target)))


def reverse_repairs(artifact: Artifact, copy: Path) -> Iterator[tuple[str, Repair]]:
    """Take the repairs back on a copy of the code, the last one first.

    Args:
        artifact: Artifact whose repairs are taken back.
        copy: Folder with the code; it is changed.

    Yields:
        Each repair as soon as it is taken back.

    Raises:
        PatchError: A patch cannot be taken back.
        ToolMissingError: git is not installed.
    """
    for repair_id, repair in reversed(artifact.repairs):
        try:
            _apply(artifact.path(repair.patch), copy, reverse=True)
        except PatchError as error:
            message = f"repair {repair_id} cannot be taken back from the code: {error.message}"
            raise PatchError(message, hint=error.hint) from error
        yield repair_id, repair


def tree_of_folder(folder: Path) -> str:
    """Return the tree id of a plain folder, a ``.git`` in it left out."""
    return tree_id(folder, _plain_files(folder))


def _plain_files(folder: Path) -> Iterator[PurePosixPath]:
    return (path for path in walk_files(folder) if path.parts[0] != ".git")


def _apply(patch: Path, target: Path, *, reverse: bool) -> None:
    """Apply one patch with git, whatever repository the folder may lie in."""
    git = process.require_tool("git", why=_GIT, install="install git")
    if not patch.is_file():
        message = f"the patch {patch.name} is not there"
        raise PatchError(message, hint="restore the file, or remove the repair's entry")
    if not patch.read_bytes().strip():
        return
    direction = ["--reverse"] if reverse else []
    with tempfile.TemporaryDirectory(prefix="rra-git-") as outside:
        done = process.run(
            [git, "apply", "--whitespace=nowarn", *direction, patch.resolve()],
            cwd=target,
            env={
                "PATH": "/usr/bin:/bin",
                "GIT_CEILING_DIRECTORIES": str(target.resolve().parent),
                "GIT_DIR": str(Path(outside) / "none"),
                "LC_ALL": "C",
            },
        )
    if not done.ok:
        hint = "write the patch again with: git diff --binary --full-index"
        raise PatchError(done.last_error(3), hint=hint)
