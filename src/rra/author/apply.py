"""Carrying a plan out: staged beside the artifact, moved into place, the manifest last.

A kill at any moment leaves either nothing, or a staged plan that the next `init` completes.
"""

from __future__ import annotations

import json
from pathlib import Path, PurePosixPath
from typing import Any

from rra._base.files import (
    STAGING_PREFIX,
    atomic_write,
    remove_tree,
    safe_join,
    storage_errors,
)
from rra.artifact import layout
from rra.author.plan import InitPlan, PlannedFile
from rra.errors import CorruptError, UnsafePathError

STAGE = f"{STAGING_PREFIX}init"
"""Folder in which a plan is staged; it is whole once it holds ``plan.json``."""


def apply_init(plan: InitPlan) -> tuple[Path, ...]:
    """Carry out a plan and return the files that were written.

    Raises:
        StorageError: The disk is full or refuses; the directory is as it was, or the next
            `init` completes what was begun.
    """
    if not plan.changes:
        return ()
    stage = plan.root / STAGE
    with storage_errors(plan.root):
        if not (stage / "plan.json").is_file():
            _stage(plan, stage)
        return _carry_out(plan.root, stage)


def resumed_plan(root: Path) -> InitPlan | None:
    """Return the plan that an interrupted `init` staged, or None.

    Raises:
        CorruptError: The staged plan cannot be read.
    """
    stage = root / STAGE
    if not (stage / "plan.json").is_file():
        return None
    document = _read(stage)
    files = {
        PurePosixPath(path): PlannedFile(safe_join(stage / "files", path).read_bytes(), mode)
        for path, mode in document["files"].items()
        if (stage / "files" / path).is_file()
    }
    moves = tuple((PurePosixPath(a), PurePosixPath(b)) for a, b in document["moves"])
    note = "an earlier init was interrupted; what it had planned is completed"
    return InitPlan(root, document["name"], files, moves, notes=(note,))


def _read(stage: Path) -> dict[str, Any]:
    try:
        document = json.loads((stage / "plan.json").read_text("utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        message = f"{stage / 'plan.json'} is not readable: {error}"
        raise CorruptError(message, hint=f"remove {stage} and run rra init again") from error
    try:  # a stranger's repository may hold such a folder
        for name in document["files"]:
            safe_join(stage.parent, name)
        for source, target in document["moves"]:  # a link is moved, whatever it leads to
            safe_join(stage / "nothing", source)
            safe_join(stage / "nothing", target)
    except (KeyError, TypeError, ValueError, UnsafePathError) as error:
        message = f"{stage / 'plan.json'} is no plan of rra"
        raise CorruptError(message, hint=f"remove {stage} and run rra init again") from error
    return dict(document)


def _stage(plan: InitPlan, stage: Path) -> None:
    """Write every file beside its place; the plan itself is written last."""
    if stage.exists():
        remove_tree(stage)
    stage.mkdir(parents=True)
    try:
        if plan.moves:
            (stage / "code").mkdir()
        for path, planned in plan.files.items():
            atomic_write(stage / "files" / path, planned.data, mode=planned.mode)
        document = {
            "name": plan.name,
            "moves": [[str(source), str(target)] for source, target in plan.moves],
            "files": {str(path): planned.mode for path, planned in plan.files.items()},
        }
        atomic_write(stage / "plan.json", json.dumps(document, indent=1))
    except BaseException:
        remove_tree(stage)
        raise


def _carry_out(root: Path, stage: Path) -> tuple[Path, ...]:
    """Move everything into place; what an earlier call moved is passed over."""
    document = _read(stage)
    gathered = stage / "code"
    if gathered.is_dir():
        for source, _ in document["moves"]:
            if (root / source).exists() or (root / source).is_symlink():
                (root / source).rename(gathered / source)
        gathered.rename(root / "code")
    written = []
    for name in sorted(document["files"], key=lambda n: (n == layout.MANIFEST, n)):
        staged, target = stage / "files" / name, root / name
        if staged.is_file():
            target.parent.mkdir(parents=True, exist_ok=True)
            staged.replace(target)
        written.append(target)
    remove_tree(stage)
    return tuple(written)
