"""``rra evidence import``: runs that exist, as records that say that nobody saw them."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rra.api._result import Progress, VerbResult, silent
from rra.artifact import layout, load_artifact
from rra.errors import UsageError

if TYPE_CHECKING:
    from rra.launch.importing import FoundRun, Kind


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ImportedRun:
    """One run that is a record now."""

    name: str
    record: str
    ended: str
    ok: bool
    outputs: int


@dataclasses.dataclass(frozen=True, kw_only=True)
class EvidenceImport(VerbResult):
    """The runs that were imported.

    Attributes:
        root: The artifact.
        launcher: Id of the launcher that they count for.
        format: What the folder was taken for.
        runs: The runs.
    """

    root: Path
    launcher: str
    format: str
    runs: tuple[ImportedRun, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the result as plain JSON."""
        return {
            "artifact": str(self.root),
            "launcher": self.launcher,
            "format": self.format,
            "runs": [dataclasses.asdict(one) for one in self.runs],
        }


def evidence_import(
    source: Path,
    artifact: Path,
    *,
    launcher: str,
    kind: Kind | None = None,
    names: tuple[str, ...] = (),
    progress: Progress = silent,
) -> EvidenceImport:
    """Import runs that were made elsewhere; an audit takes their values as found, not as made.

    Args:
        source: Folder of an MLflow file store, of Weights & Biases, or of the outputs of one run.
        artifact: Directory of the artifact.
        launcher: Id of the launcher that they count for.
        kind: What the folder is; by default what it looks like.
        names: Names of runs; all by default.
        progress: Called with one line for each step.

    Raises:
        UsageError: There is no such artifact, launcher, folder or run, or nothing is locked.
        StorageError: The disk is full or refuses.
    """
    from rra.evidence import EvidenceStore
    from rra.launch.importing import find_runs, import_run

    loaded = load_artifact(artifact)
    store = EvidenceStore(loaded.root / layout.EVIDENCE_DIR)
    taken_for, found = find_runs(source, kind)
    made = []
    for run in _chosen(found, names):
        progress(f"importing {run.name}")
        stored = import_run(loaded, launcher, run, store)
        made.append(
            ImportedRun(
                name=run.name,
                record=stored.digest,
                ended=stored.record.ended,
                ok=stored.record.ok,
                outputs=len(stored.record.outputs),
            )
        )
    return EvidenceImport(root=loaded.root, launcher=launcher, format=taken_for, runs=tuple(made))


def _chosen(found: list[FoundRun], names: tuple[str, ...]) -> list[FoundRun]:
    chosen = [run for run in found if not names or {run.name, run.files.name}.intersection(names)]
    if not chosen:
        hint = f"runs: {', '.join(run.name for run in found[:20])}"
        raise UsageError(f"no run is called {' or '.join(names)}", hint=hint)
    return chosen
