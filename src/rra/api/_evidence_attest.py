"""``rra evidence attest``: in-toto statements with SLSA provenance about recorded runs."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rra.api._result import Progress, VerbResult, silent
from rra.artifact import layout, load_artifact
from rra.errors import CorruptError

if TYPE_CHECKING:
    from rra.evidence import StoredRecord
    from rra.signing import PrivateKey


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Attested:
    """One statement that was written."""

    record: str
    launcher: str
    file: Path
    subjects: int


@dataclasses.dataclass(frozen=True, kw_only=True)
class EvidenceAttestations(VerbResult):
    """The statements that were written.

    Attributes:
        signer: Fingerprint of the key; None where nothing was signed.
        statements: One for each run.
    """

    signer: str | None
    statements: tuple[Attested, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the result as plain JSON."""
        return {
            "signer": self.signer,
            "statements": [
                {**dataclasses.asdict(one), "file": str(one.file)} for one in self.statements
            ],
        }


def evidence_attest(
    artifact: Path,
    *,
    records: tuple[str, ...] = (),
    key: PrivateKey | None = None,
    output: Path | None = None,
    progress: Progress = silent,
) -> EvidenceAttestations:
    """Write a statement with SLSA provenance v1 for each run, signed when a key is given.

    Args:
        artifact: Directory of the artifact.
        records: Names of records (see `rra.evidence.choose`); by default the newest successful
            run of each launcher that was made here in full.
        key: Key to sign with; the statement is then the payload of a Sigstore bundle.
        output: Folder of the files; the current one by default.
        progress: Called with one line for each step.

    Raises:
        UsageError: There is no such artifact or record, a run did not succeed or was imported.
        CorruptError: A record is not as the run left it: nothing is stated of it.
        StorageError: A file cannot be written.
    """
    from rra.evidence import EvidenceStore, choose, verify_record

    loaded = load_artifact(artifact)
    store = EvidenceStore(loaded.root / layout.EVIDENCE_DIR)
    chosen = [choose(store, name) for name in records] or _newest(store, loaded.manifest.launchers)
    for one in chosen:
        if problems := verify_record(one):
            message = f"{one.digest} is not as the run left it: {problems[0].message}"
            raise CorruptError(message, hint=problems[0].hint, problems=tuple(problems))
    folder = output or Path()
    written = tuple(_written(one, key, folder, progress) for one in chosen)
    return EvidenceAttestations(
        signer=key.public.fingerprint if key is not None else None, statements=written
    )


def _newest(store: Any, launchers: Any) -> list[StoredRecord]:
    from rra.errors import UsageError
    from rra.launch.instances import is_shortened

    good = [
        one
        for one in store.records()
        if one.record.ok
        and one.record.recorder.level != "imported"
        and not is_shortened(one.record.instance)
    ]
    by_launcher = {one.record.launcher.id: one for one in good}
    newest = [by_launcher[name] for name in launchers if name in by_launcher]
    if not newest:
        message = "no run of this artifact that was made here in full has succeeded yet"
        hint = "run it first: rra run; nothing is stated of runs that were imported"
        raise UsageError(message, hint=hint)
    return newest


def _written(
    stored: StoredRecord, key: PrivateKey | None, folder: Path, progress: Progress
) -> Attested:
    from rra._base.files import atomic_write
    from rra.evidence.provenance import provenance
    from rra.signing import sign

    statement = provenance(stored)
    name = f"{stored.record.launcher.id}-{stored.digest.removeprefix('sha256:')[:16]}"
    if key is not None:
        file, data = folder / f"{name}.sigstore.json", sign(statement, key)
    else:
        file, data = folder / f"{name}.intoto.json", statement.to_bytes()
    progress(f"writing {file}")
    atomic_write(file, data + b"\n")
    return Attested(
        record=stored.digest,
        launcher=stored.record.launcher.id,
        file=file,
        subjects=len(statement.subject),
    )
