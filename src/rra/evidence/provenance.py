"""One run as an in-toto statement with SLSA provenance v1: what it left, and what it was made from.

The form of other supply chain tools, so that they can ask where a file comes from without
knowing this format. Nothing is stated that the record does not say.
"""

from __future__ import annotations

from typing import Any

import rra
from rra.errors import UsageError
from rra.evidence.store import EVENTS, RECORD, STDERR, STDOUT, StoredRecord
from rra.model import ExecutionRecord
from rra.signing.statement import Statement, Subject

PREDICATE_TYPE = "https://slsa.dev/provenance/v1"
BUILD_TYPE = "https://w3id.org/rra/v1/run"
"""What the parameters of a statement mean: those of an execution record."""

BUILDER = "https://w3id.org/rra/v1/recorder/"
"""Start of the builder's id; it ends with the isolation of the run."""

MOST_SUBJECTS = 1000


def provenance(stored: StoredRecord) -> Statement:
    """Return the statement of one successful run.

    Subjects are its outputs. Parameters are external, since who asked for the run chose them.
    Inputs, lock, installed packages and the artifact's core are what it was resolved to, each
    by its digest.

    Raises:
        UsageError: The run failed, was imported, left nothing or more than readers take.
    """
    record = stored.record
    _refuse(stored)
    return Statement(
        subject=tuple(Subject(one.path, _digest(one.sha256)) for one in record.outputs),
        predicate_type=PREDICATE_TYPE,
        predicate={
            "buildDefinition": {
                "buildType": BUILD_TYPE,
                "externalParameters": _external(record),
                "internalParameters": _internal(record),
                "resolvedDependencies": _dependencies(record),
            },
            "runDetails": {
                "builder": {
                    "id": BUILDER + record.sandbox.level,
                    "version": {"rra": rra.__version__},
                },
                "metadata": {
                    "invocationId": stored.digest,
                    "startedOn": record.started,
                    "finishedOn": record.ended,
                },
                "byproducts": [
                    {"name": RECORD, "digest": _digest(stored.digest)},
                    {"name": EVENTS, "digest": _digest(record.events)},
                    {"name": STDOUT, "digest": _digest(record.stdout.sha256)},
                    {"name": STDERR, "digest": _digest(record.stderr.sha256)},
                ],
            },
        },
    )


def _refuse(stored: StoredRecord) -> None:
    record = stored.record
    if not record.ok:
        message = f"{stored.digest} did not succeed ({record.end}): nothing is stated of it"
        raise UsageError(message, hint="name a run that succeeded; rra evidence list shows them")
    if record.recorder.level == "imported":
        message = f"{stored.digest} was imported; nobody here saw how it was made"
        raise UsageError(message, hint="make the run again with rra run, then attest that")
    if not 1 <= len(record.outputs) <= MOST_SUBJECTS:
        count = len(record.outputs)
        message = f"{stored.digest} has {count} outputs, and a statement 1 to {MOST_SUBJECTS}"
        raise UsageError(message, hint="let the launcher leave an archive in place of many files")


def _digest(value: str) -> dict[str, str]:
    algorithm, _, digits = value.partition(":")
    return {algorithm: digits}


def _external(record: ExecutionRecord) -> dict[str, Any]:
    return {
        "artifact": record.artifact,
        "launcher": record.launcher.id,
        "entry": record.launcher.entry,
        "instance": record.instance,
        "parameters": dict(record.parameters),
        "nonce": record.nonce,
        **({} if record.seed.declared is None else {"seed": record.seed.declared}),
    }


def _internal(record: ExecutionRecord) -> dict[str, Any]:
    return {
        "argv": list(record.argv),
        "variables": dict(record.environment.variables),
        "sandbox": record.sandbox.to_json(),
        "recorder": record.recorder.to_json(),
        "platform": record.platform.to_json(),
    }


def _dependencies(record: ExecutionRecord) -> list[dict[str, Any]]:
    environment = record.environment
    found = [
        _described("core", record.core, "artifact"),
        _described(f"environment {environment.id}: lock", environment.lock, "lock"),
        _described(f"environment {environment.id}: installed", environment.installed, "installed"),
    ]
    if environment.interpreter is not None:
        name = f"environment {environment.id}: interpreter"
        found.append(_described(name, environment.interpreter, "interpreter"))
    return found + [_described(one.path, one.sha256, one.role) for one in record.inputs]


def _described(name: str, digest: str, role: str) -> dict[str, Any]:
    return {"name": name, "digest": _digest(digest), "annotations": {"role": role}}
