"""The recorded runs whose outputs are searched: for each launcher the newest that succeeded."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from rra._base.files import sha256_file
from rra.artifact import Artifact, layout
from rra.errors import CorruptError, Problem
from rra.evidence import EvidenceStore, StoredRecord
from rra.values.leaves import OutputIndex, Skipped, index_outputs

_CHANGED = "was changed after the run, so it is not searched"


@dataclasses.dataclass(frozen=True)
class SearchedRun:
    """One run and the numbers that it left.

    Attributes:
        launcher: Id of the launcher.
        record: Digest of the execution record.
        outputs: Its output directory in the evidence.
        names: Texts that name all its numbers: the launcher, and its parameters.
        index: The numbers.
    """

    launcher: str
    record: str
    outputs: Path
    names: tuple[str, ...]
    index: OutputIndex


def searched_runs(
    artifact: Artifact, *, evidence: Path | None = None
) -> tuple[list[SearchedRun], list[Problem]]:
    """Index the outputs of the newest successful run of each launcher.

    A run with the launcher's own parameters comes before one with others. A file whose digest is
    not the one in the record is left out.

    Args:
        artifact: The artifact.
        evidence: Folder of the records; that of the artifact by default.

    Returns:
        The runs in the order of the manifest, and warnings about launchers without one.
    """
    store = EvidenceStore(evidence or artifact.root / layout.EVIDENCE_DIR)
    runs: list[SearchedRun] = []
    problems: list[Problem] = []
    for launcher in artifact.manifest.launchers:
        stored = _newest(artifact, store, launcher, problems)
        if stored is not None:
            runs.append(_indexed(launcher, stored))
    return runs, problems


def _newest(
    artifact: Artifact, store: EvidenceStore, launcher: str, problems: list[Problem]
) -> StoredRecord | None:
    place = f"{layout.EVIDENCE_DIR}/{launcher}"
    try:
        stored = [one for one in store.records(launcher) if one.record.ok]
    except CorruptError as error:
        problems.append(_warning(str(error.message), place, error.hint))
        return None
    if not stored:
        problems.append(
            _warning("no successful run is recorded", place, f"record one with: rra run {launcher}")
        )
        return None
    usual = [one for one in stored if _is_usual(artifact, launcher, one)]
    if not usual:
        text = "only runs with other parameters than the launcher's own are recorded"
        problems.append(_warning(text, place, f"run it as it is: rra run {launcher}"))
    return (usual or stored)[-1]


def _warning(message: str, place: str, hint: str) -> Problem:
    return Problem(message, place, clause="claims/runs", hint=hint, severity="warning")


def _is_usual(artifact: Artifact, launcher: str, stored: StoredRecord) -> bool:
    """Tell whether a run had the defaults of its launcher; a seed may be any."""
    declared = artifact.manifest.launchers[launcher]
    free = declared.seeds.parameter if declared.seeds is not None else None
    return all(
        stored.record.parameters.get(name, parameter.default) == parameter.default
        for name, parameter in declared.parameters.items()
        if name != free and parameter.default is not None
    )


def _indexed(launcher: str, stored: StoredRecord) -> SearchedRun:
    index = index_outputs(stored.outputs)
    digests = {output.path: output.sha256 for output in stored.record.outputs}
    changed = [
        one.file
        for one in index.files
        if digests.get(one.file) != sha256_file(stored.outputs / one.file)
    ]
    index = dataclasses.replace(
        index,
        files=tuple(one for one in index.files if one.file not in changed),
        skipped=(*index.skipped, *(Skipped(file, _CHANGED) for file in changed)),
    )
    values = [str(v) for v in stored.record.parameters.values() if isinstance(v, str)]
    return SearchedRun(launcher, stored.digest, stored.outputs, (launcher, *values), index)
