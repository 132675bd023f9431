"""Patches between blanked trees.

A patch quotes code, so it is not blanked as a text: its lines would no longer be those of the
code. The patches are taken back on the code as it is, each tree on the way is blanked, and the
patch between two blanked trees is what git says it is. That the upstream and the patches give
the code stays true, and can be checked without knowing the upstream.
"""

from __future__ import annotations

import dataclasses
import tempfile
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from rra._base import process
from rra._base.files import atomic_write, copy_files, walk_files
from rra.artifact import Artifact
from rra.artifact.repairs import reverse_repairs
from rra.artifact.tree import tree_id
from rra.author.anonymous.blank import blank_text, is_text
from rra.author.anonymous.identifier import Finder
from rra.author.anonymous.records import Digests
from rra.errors import PatchError

_WHY = "patches between blanked trees are written by it"
_ATTRIBUTES = "* -text -ident -filter -working-tree-encoding !diff !merge !eol\n"


@dataclasses.dataclass(frozen=True, slots=True)
class BlankedPatches:
    """Patches between blanked trees.

    Attributes:
        patches: Content of each patch by its path in the artifact; nothing where all stay.
        source: Tree of the blanked upstream; None where it is the one that is named already.
    """

    patches: dict[str, bytes]
    source: str | None


def blank_patches(artifact: Artifact, finder: Finder, digests: Digests) -> BlankedPatches:
    """Return the patches of an artifact between blanked trees.

    Args:
        artifact: The artifact, as it is.
        finder: Finds what identifies.
        digests: What digests became; files of the trees on the way are added.

    Raises:
        PatchError: The patches do not lead from the source to the code, or git fails.
        ToolMissingError: git is not installed.
        StorageError: No space for the copy.
    """
    if not artifact.repairs and artifact.manifest.source is None:
        return BlankedPatches({}, None)
    git = process.require_tool("git", why=_WHY, install="install git")
    with tempfile.TemporaryDirectory(prefix="rra-anonymous-") as name:
        folder = Path(name)
        plain, blanked = folder / "plain", folder / "blanked"
        copy_files(artifact.code_root, plain, artifact.code_files())
        blanked.mkdir()
        work = _Trees(git, folder / "git", blanked)
        trees = [work.take(plain, finder, digests)]
        names = []
        for repair_id, repair in reverse_repairs(artifact, plain):
            names.append((repair_id, repair.patch))
            trees.append(work.take(plain, finder, digests))
        _insist_on_source(artifact, plain)
        changed = work.changed
        if not changed:
            return BlankedPatches({}, None)
        patches = {
            patch: work.diff(before, after)
            for (_, patch), after, before in zip(names, trees[:-1], trees[1:], strict=True)
        }
        source = artifact.manifest.source
        named = source is not None and source.swhid is not None
        return BlankedPatches(patches, tree_id(blanked, walk_files(blanked)) if named else None)


def _insist_on_source(artifact: Artifact, plain: Path) -> None:
    source = artifact.manifest.source
    if source is None or source.swhid is None:
        return
    found = tree_id(plain, walk_files(plain))
    if found != source.swhid:
        message = f"the code with its repairs taken back is {found}, not {source.swhid}"
        raise PatchError(message, hint="run rra repair, and correct what it names")


class _Trees:
    """A repository of git that knows nothing of this machine's settings."""

    def __init__(self, git: Path, repository: Path, work: Path) -> None:
        self._git = git
        self._work = work
        self.changed = False
        self._env = {
            "PATH": "/usr/bin:/bin",
            "LC_ALL": "C",
            "GIT_DIR": str(repository),
            "GIT_WORK_TREE": str(work),
            "GIT_CONFIG_GLOBAL": "/dev/null",
            "GIT_CONFIG_SYSTEM": "/dev/null",
            "HOME": str(repository.parent),
        }
        self._run(["init", "--quiet"])
        atomic_write(repository / "info" / "attributes", _ATTRIBUTES)

    def take(self, plain: Path, finder: Finder, digests: Digests) -> str:
        """Blank the files of a folder into the working tree and return what git calls it."""
        paths = list(walk_files(plain))
        wanted = set(paths)
        for path in list(walk_files(self._work)):
            if path not in wanted:
                (self._work / path).unlink()
        for path in paths:
            self._one(plain, path, finder, digests)
        self._run(["add", "--all", "--force", "."])
        return self._run(["write-tree"]).decode().strip()

    def _one(self, plain: Path, relative: PurePosixPath, finder: Finder, digests: Digests) -> None:
        source, target = plain / relative, self._work / relative
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_symlink():
            target.unlink(missing_ok=True)
            target.symlink_to(source.readlink())
            return
        data = source.read_bytes()
        after = blank_text(relative, data, finder) if is_text(data) else data
        if after != data:
            self.changed = True
            digests.note(data, after)
        atomic_write(target, after, mode=source.stat().st_mode & 0o777)

    def diff(self, before: str, after: str) -> bytes:
        """Return the patch between two trees."""
        form = ["--binary", "--full-index", "--no-renames", "--no-color", "--no-ext-diff"]
        return self._run(["diff-tree", "-p", *form, before, after])

    def _run(self, argv: Sequence[str]) -> bytes:
        done = process.run([self._git, *argv], cwd=self._work, env=self._env)
        if not done.ok:
            raise PatchError(f"git {argv[0]} failed: {done.last_error(3)}", hint="look at the code")
        return done.stdout_bytes
