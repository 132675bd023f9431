"""``rra repair``: upstream tree + patches in order = the tree of the code."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

from rra.api._open import open_artifact
from rra.api._result import Progress, VerbResult, silent
from rra.artifact import Artifact
from rra.artifact.repairs import AppliedRepair, apply_repairs, check_equality, tree_of_folder
from rra.artifact.tree import tree_id
from rra.errors import UsageError


@dataclasses.dataclass(frozen=True, kw_only=True)
class RepairStep:
    """One repair and the tree on its far side."""

    id: str
    title: str
    symptom: str
    category: str
    effect_on_results: str
    tree: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class RepairResult(VerbResult):
    """Whether the equality holds, and how it was seen.

    Attributes:
        direction: ``reversed`` on a copy of the code, or ``applied`` to a folder.
        equal: Whether the trees are equal; None when the manifest names no source tree.
        source: Tree that the manifest names as upstream.
        code: Tree of the code.
        computed: Tree that the other end of the patches gave.
        steps: Repairs in the order in which they were handled.
        message: One sentence.
    """

    direction: str
    equal: bool | None
    source: str | None
    code: str
    computed: str | None
    steps: tuple[RepairStep, ...]
    message: str

    def to_json(self) -> dict[str, Any]:
        """Return the result as plain JSON."""
        fields = ("direction", "equal", "source", "code", "computed", "message")
        steps = [dataclasses.asdict(step) for step in self.steps]
        return {name: getattr(self, name) for name in fields} | {"steps": steps}


def repair(
    artifact: str | Path, *, apply_to: Path | None = None, progress: Progress = silent
) -> RepairResult:
    """Check the equality of an artifact, or apply its repairs to a copy of the upstream.

    Args:
        artifact: Directory of the artifact, or reference of a bundle.
        apply_to: Folder with the upstream files; the patches are applied there in order.
            Without it the patches are reversed on a temporary copy of the code.
        progress: Called with one line for each step.

    Raises:
        PatchError: A patch does not apply to `apply_to`.
        UsageError: `apply_to` is not a folder, or is not the upstream tree.
    """
    with open_artifact(artifact, progress=progress) as opened:
        if apply_to is None:
            return _take_back(opened.artifact, progress).noting(opened.notices)
        return _apply(opened.artifact, apply_to, progress).noting(opened.notices)


def _take_back(artifact: Artifact, progress: Progress) -> RepairResult:
    """Reverse the patches on a copy of the code."""
    progress("taking the repairs back on a copy of the code")
    found = check_equality(artifact)
    by_id = dict(artifact.repairs)
    steps = tuple(_step(AppliedRepair(i, by_id[i], tree)) for i, tree in found.steps)
    return RepairResult(
        direction="reversed",
        equal=found.ok,
        source=found.expected,
        code=found.code,
        computed=found.computed,
        steps=steps,
        message=found.message,
        exit_code=0 if found.ok else 1,
        problems=artifact.warnings,
    )


def _apply(artifact: Artifact, apply_to: Path, progress: Progress) -> RepairResult:
    """Apply the patches to a folder."""
    if not apply_to.is_dir():
        message = f"no such folder: {apply_to}"
        raise UsageError(message, hint="give a folder that holds the upstream files")
    source = artifact.manifest.source
    expected = source.swhid if source else None
    start = tree_of_folder(apply_to)
    if expected is not None and start != expected:
        message = f"{apply_to} is not the upstream tree: it is {start}, the source is {expected}"
        raise UsageError(message, hint="give an untouched copy of the upstream files")
    applied = []
    for step in apply_repairs(artifact, apply_to):
        progress(f"applied {step.id}: {step.repair.title}")
        applied.append(_step(step))
    code = tree_id(artifact.code_root, artifact.code_files())
    computed = applied[-1].tree if applied else start
    equal = computed == code
    word = "equals" if equal else "differs from"
    return RepairResult(
        direction="applied",
        equal=equal,
        source=start,
        code=code,
        computed=computed,
        steps=tuple(applied),
        message=f"upstream with {len(applied)} repairs {word} the code {code}",
        exit_code=0 if equal else 1,
        problems=artifact.warnings,
    )


def _step(applied: AppliedRepair) -> RepairStep:
    return RepairStep(
        id=applied.id,
        title=applied.repair.title,
        symptom=applied.repair.symptom,
        category=applied.repair.category,
        effect_on_results=applied.repair.effect_on_results,
        tree=applied.tree,
    )
