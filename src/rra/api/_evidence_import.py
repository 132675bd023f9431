"""``rra evidence import``: runs that exist, as records that say that nobody saw them."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rra.api._result import Progress, VerbResult, silent
from rra.artifact import layout, load_artifact
from rra.errors import Problem, UsageError

if TYPE_CHECKING:
    from rra.launch.importing import FoundRun, Kind
    from rra.model import ExecutionRecord


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ImportedRun:
    """One run that is a record now."""

    name: str
    record: str
    ended: str
    ok: bool
    termination: str
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
    outputs: str | None = None,
    stdout: str | None = None,
    progress: Progress = silent,
) -> EvidenceImport:
    """Import runs that were made elsewhere; an audit takes their values as found, not as made.

    Args:
        source: Folder of an MLflow file store, of Weights & Biases, or of the outputs of one run;
            for jobs of Slurm a file with what ``sacct`` printed, or ``slurm`` to ask the cluster.
        artifact: Directory of the artifact.
        launcher: Id of the launcher that they count for.
        kind: What the source is; by default what it looks like.
        names: Names of runs, or numbers of jobs; all by default.
        outputs: Folder of the outputs of a job, with the patterns of Slurm's file names.
        stdout: File of what a job printed, likewise; by default what Slurm names.
        progress: Called with one line for each step.

    Raises:
        UsageError: There is no such artifact, launcher, folder or run, or nothing is locked.
        ToolMissingError: The cluster is asked, and Slurm's commands are not here.
        UnavailableError: The cluster knows nothing of the jobs.
        StorageError: The disk is full or refuses.
    """
    from rra.evidence import EvidenceStore
    from rra.launch.importing import find_runs, import_run
    from rra.launch.importing_slurm import FilesOfJobs, find_jobs, is_jobs

    loaded = load_artifact(artifact)
    store = EvidenceStore(loaded.root / layout.EVIDENCE_DIR)
    problems: list[Problem] = []
    taken_for: Kind
    if kind == "slurm" or (kind is None and is_jobs(source)):
        taken_for = "slurm"
        chosen, problems = find_jobs(source, FilesOfJobs(outputs, stdout), names)
    else:
        if outputs is not None or stdout is not None:
            message = f"{source} holds runs with their files; --outputs and --stdout are for jobs"
            raise UsageError(message, hint="leave them out, or give --format slurm")
        taken_for, found = find_runs(source, kind)
        chosen = _chosen(found, names)
    made = []
    for run in chosen:
        progress(f"importing {run.name}")
        stored = import_run(loaded, launcher, run, store)
        problems += _lacking(run.name, stored.record)
        made.append(
            ImportedRun(
                name=run.name,
                record=stored.digest,
                ended=stored.record.ended,
                ok=stored.record.ok,
                termination=stored.record.termination,
                outputs=len(stored.record.outputs),
            )
        )
    return EvidenceImport(
        root=loaded.root,
        launcher=launcher,
        format=taken_for,
        runs=tuple(made),
        problems=tuple(problems),
    )


def _lacking(name: str, record: ExecutionRecord) -> list[Problem]:
    """Say what of a run is not in its record though it should be."""
    from rra.launch.importing import LINKS, NO_TIME

    told = {
        LINKS: "put the files themselves in their place, and import it again",
        NO_TIME: f"the record has {record.ended} in its place; import it with its times",
    }
    return [
        Problem(f"{name}: {gap}", layout.EVIDENCE_DIR, severity="warning", hint=hint)
        for gap in record.recorder.gaps
        for start, hint in told.items()
        if gap.startswith(start)
    ]


def _chosen(found: list[FoundRun], names: tuple[str, ...]) -> list[FoundRun]:
    chosen = [run for run in found if not names or _names(run).intersection(names)]
    if not chosen:
        hint = f"runs: {', '.join(run.name for run in found[:20])}"
        raise UsageError(f"no run is called {' or '.join(names)}", hint=hint)
    return chosen


def _names(run: FoundRun) -> set[str]:
    return {run.name} if run.files is None else {run.name, run.files.name}
