"""Runs that were made before anybody recorded them: their files, as records of level ``imported``.

Nothing of such a run was seen. Its record holds what its files say, and the gaps say the rest; an
audit takes a value in it as found, not as made (evidence level E2 at most).
"""

from __future__ import annotations

import contextlib
import dataclasses
import datetime as dt
import json
import secrets
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any, Literal

from rra._base import canonical, clock
from rra._base.files import STAGING_PREFIX, remove_tree, sha256_file, storage_errors, walk_files
from rra._base.termination import Termination
from rra.artifact import Artifact
from rra.bundle import core_digest
from rra.environment.kinds.system import system_digest
from rra.errors import UsageError
from rra.evidence import (
    EVENTS,
    OUTPUTS,
    STDERR,
    STDOUT,
    EvidenceStore,
    StoredRecord,
    printable,
    write_events,
)
from rra.launch.cells import failed_cells
from rra.launch.parameters import settle
from rra.launch.request import DEFAULT_INSTANCE
from rra.model import ExecutionRecord

Kind = Literal["directory", "mlruns", "wandb", "slurm"]

GAPS = (
    "the run was imported: nothing of it was seen, neither what it read nor how it was made",
    "core, launcher and lock are those of the artifact when it was imported, not of the run",
)
LINKS = "links are not imported: "
NO_TIME = "when it ran is not known"
"""Starts of notes on what a record lacks, of which whoever imports the run is told."""

_SHOWN = 5
_ENDED_WELL = {"FINISHED", "3", "finished"}
_NONCE = "imported"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class FoundRun:
    """A run that lies on the disk.

    Attributes:
        name: What it is called there.
        files: Folder of its files; None where nothing but what it printed is known.
        place: Folder in the outputs that they go to, so that selectors find them.
        started: When it began, as far as that is known.
        ended: When it ended.
        ok: Whether it ended well.
        parameters: What it says that it was given.
        printed: File with what it printed.
        errors: File with what it printed to standard error, where that is another.
        instance: Its name among the runs of the launcher.
        end: Word and exit status of its end, where more is known than `ok`.
        seconds: How long it took, where that is known by itself.
        cpu: Seconds of processor.
        max_rss: Bytes of its largest process.
        notes: What else is known, or not known, of it.
    """

    name: str
    files: Path | None
    place: PurePosixPath = dataclasses.field(default_factory=PurePosixPath)
    started: dt.datetime | None = None
    ended: dt.datetime | None = None
    ok: bool = True
    parameters: Mapping[str, str] = dataclasses.field(default_factory=dict)
    printed: Path | None = None
    errors: Path | None = None
    instance: str = DEFAULT_INSTANCE
    end: tuple[Termination, int] | None = None
    seconds: float | None = None
    cpu: float = 0.0
    max_rss: int = 0
    notes: tuple[str, ...] = ()


def find_runs(source: Path, kind: Kind | None = None) -> tuple[Kind, list[FoundRun]]:
    """Return the runs in a folder: an MLflow file store, Weights & Biases', or outputs of one run.

    Args:
        source: The folder.
        kind: What it is; by default what it looks like.

    Raises:
        UsageError: There is no such folder, or there are no runs in it.
    """
    if not source.is_dir():
        raise UsageError(f"no such directory: {source}", hint="name the folder of the runs")
    readers = {"mlruns": _mlruns, "wandb": _wandb}
    for name in ("mlruns", "wandb"):
        if kind in {None, name}:
            found = list(readers[name](source))
            if found:
                return name, found
    if kind not in {None, "directory"}:
        raise UsageError(f"{source} holds no runs of {kind}", hint="give another --format")
    if not any(True for _ in walk_files(source)):
        raise UsageError(f"{source} holds no files", hint="name the folder that a run left")
    return "directory", [FoundRun(name=source.resolve().name, files=source)]


def _mlruns(source: Path) -> Iterator[FoundRun]:
    for folder in sorted(path.parent for path in source.glob("*/*/meta.yaml")):
        meta = _plain_yaml(folder / "meta.yaml")
        if "run_id" not in meta and "run_uuid" not in meta:
            continue
        params = folder / "params"
        names = walk_files(params) if params.is_dir() else ()
        given = {str(name): _text(params / name) for name in names}
        yield FoundRun(
            name=_text(folder / "tags" / "mlflow.runName") or folder.name,
            files=folder,
            place=PurePosixPath("mlruns", folder.parent.name, folder.name),
            started=_milliseconds(meta.get("start_time")),
            ended=_milliseconds(meta.get("end_time")),
            ok=meta.get("status") in _ENDED_WELL,
            parameters=given,
        )


def _wandb(source: Path) -> Iterator[FoundRun]:
    for summary in sorted(source.glob("*run-*/files/wandb-summary.json")):
        files = summary.parent
        metadata = _json(files / "wandb-metadata.json")
        began = None
        with contextlib.suppress(ValueError, TypeError):
            began = dt.datetime.fromisoformat(str(metadata.get("startedAt")))
        runtime = _json(summary).get("_runtime")
        ended = None
        if began is not None and isinstance(runtime, int | float):
            ended = began + dt.timedelta(seconds=runtime)
        printed = files / "output.log"
        yield FoundRun(
            name=files.parent.name,
            files=files,
            started=began,
            ended=ended,
            printed=printed if printed.is_file() else None,
        )


def import_run(
    artifact: Artifact, launcher: str, run: FoundRun, store: EvidenceStore
) -> StoredRecord:
    """Put a run into the evidence.

    Args:
        artifact: The artifact.
        launcher: Id of the launcher that it counts for.
        run: The run; its files are copied, links are left out.
        store: The evidence.

    Raises:
        UsageError: There is no such launcher, or its environment is not locked.
        StorageError: The disk is full or refuses; nothing of the run is in the evidence.
    """
    known = _known(artifact, launcher)
    staged = store.root / f"{STAGING_PREFIX}{secrets.token_hex(6)}"
    with storage_errors(store.root):
        try:
            links = _copy(run, staged / OUTPUTS)
            if links:
                more = f" and {len(links) - _SHOWN} more" if len(links) > _SHOWN else ""
                note = f"{LINKS}{', '.join(links[:_SHOWN])}{more}"
                run = dataclasses.replace(run, notes=(*run.notes, note))
            for place in (staged, staged / OUTPUTS):
                _print(place / STDOUT, run.printed)
                _print(place / STDERR, run.errors)
            known["parameters"] = _given(artifact, launcher, run)
            record = _record(artifact, run, staged, known)
            digest, place = store.add(staged, record)
        finally:
            if staged.exists():
                remove_tree(staged)
    return StoredRecord(record, digest, place)


def _known(artifact: Artifact, launcher: str) -> dict[str, Any]:
    """Return what is taken from the artifact as it is."""
    manifest = artifact.manifest
    if launcher not in manifest.launchers:
        hint = f"launchers: {', '.join(manifest.launchers)}"
        raise UsageError(f"there is no launcher {launcher!r}", hint=hint)
    declared = manifest.launchers[launcher]
    return {
        "rra": manifest.rra,
        "type": "execution-record/v1",
        "artifact": manifest.name,
        "core": core_digest(artifact),
        "launcher": {
            "id": launcher,
            "entry": declared.entry,
            "sha256": sha256_file(artifact.path(declared.entry)),
        },
        "argv": [declared.entry],
        "environment": {
            "id": declared.environment,
            "lock": _lock_of(artifact, declared.environment),
            "installed": canonical.digest([]),
            "variables": {},
        },
    }


def _lock_of(artifact: Artifact, name: str) -> str:
    """Return the digest of an environment's lock; of a system, what a run has in its place.

    Raises:
        UsageError: It is not locked.
    """
    environment = artifact.manifest.environments[name]
    if environment.kind == "system":
        return system_digest(name, environment)
    lock = artifact.path(environment.lock) if environment.lock else None
    if lock is None or not lock.is_file():
        raise UsageError(f"environment {name} is not locked", hint="lock it first: rra lock")
    return sha256_file(lock)


def _given(artifact: Artifact, launcher: str, run: FoundRun) -> dict[str, Any]:
    """Return the parameters of the launcher that a run says it was given, where they are values."""
    declared = artifact.manifest.launchers[launcher]
    given = {name: run.parameters[name] for name in declared.parameters if name in run.parameters}
    values = {}
    for name, text in given.items():
        with contextlib.suppress(UsageError):
            values[name] = settle(declared, {name: text}, seed=None, smoke=False).values[name]
    return values


def _copy(run: FoundRun, outputs: Path) -> list[str]:
    """Copy the files of a run; return its links, which may lead anywhere and are left out."""
    links: list[str] = []
    (outputs / run.place).mkdir(parents=True)
    if run.files is None:
        return links
    for path in walk_files(run.files):
        source, target = run.files / path, outputs / run.place / path
        if source.is_file() and not source.is_symlink():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)
        elif source.is_symlink():
            links.append(printable(path))
    return sorted(links)


def _print(path: Path, source: Path | None) -> None:
    if path.exists():
        return
    if source is None:
        path.touch()
    else:
        shutil.copyfile(source, path)


def _record(
    artifact: Artifact, run: FoundRun, staged: Path, known: dict[str, Any]
) -> ExecutionRecord:
    outputs = staged / OUTPUTS
    began, ended = _times(run)
    word, status = run.end or (("ok", 0) if run.ok else ("exit", 1))
    end = {"termination": word, "exit_code": status}
    level = {"sandbox": "none", "recorder": "imported"}
    head = write_events(
        staged / EVENTS,
        [
            {"kind": "started", "time": clock.iso(began), "nonce": _NONCE, **level},
            {"kind": "ended", "time": clock.iso(ended), **end, "left_behind": 0},
        ],
    )
    files = sorted(walk_files(outputs), key=lambda path: printable(path).encode())
    if (outputs / STDOUT).read_bytes() != (staged / STDOUT).read_bytes():
        shutil.copyfile(outputs / STDOUT, staged / STDOUT)  # the run left its own
    if (outputs / STDERR).read_bytes() != (staged / STDERR).read_bytes():
        shutil.copyfile(outputs / STDERR, staged / STDERR)
    cells = failed_cells(artifact, outputs)
    document = {
        **known,
        **end,
        "instance": run.instance,
        "nonce": _NONCE,
        "seed": {},
        "started": clock.iso(began),
        "ended": clock.iso(ended),
        "missing_outputs": [],
        **({"failed_cells": cells} if cells else {}),
        "inputs": [],
        "outputs": [
            {"path": printable(path), **_digest_and_size(outputs / path, "size")} for path in files
        ],
        "other_writes": [],
        "network_attempts": [],
        "platform": {},
        "resources": {
            "wall": (ended - began).total_seconds() if run.seconds is None else run.seconds,
            "cpu": round(run.cpu, 3),
            "max_rss": run.max_rss,
        },
        "stdout": {**_digest_and_size(staged / STDOUT, "bytes"), "truncated": False},
        "stderr": {**_digest_and_size(staged / STDERR, "bytes"), "truncated": False},
        "sandbox": {"level": "none", "gaps": []},
        "recorder": {
            "level": "imported",
            "gaps": [
                *GAPS,
                *(
                    []
                    if run.ended or run.seconds is not None
                    else ["how long it took is not known"]
                ),
                *run.notes,
            ],
        },
        "events": head,
    }
    return ExecutionRecord.model_validate(document)


def _digest_and_size(path: Path, name: str) -> dict[str, Any]:
    return {"sha256": sha256_file(path), name: path.stat().st_size}


def _times(run: FoundRun) -> tuple[dt.datetime, dt.datetime]:
    """Return when a run began and ended; the newest of its files where it says neither.

    One that says only when it began is taken to have ended then: the times of files are often
    those of a copy.
    """
    known = () if run.files is None else walk_files(run.files)
    files = [run.files / path for path in known if run.files is not None]
    files += [path for path in (run.printed, run.errors) if path is not None]
    newest = max((path.lstat().st_mtime for path in files), default=0.0)
    ended = run.ended or run.started or dt.datetime.fromtimestamp(newest, dt.UTC)
    began = run.started or ended
    began, ended = (
        moment if moment.tzinfo else moment.replace(tzinfo=dt.UTC) for moment in (began, ended)
    )
    return began, max(began, ended)


def _milliseconds(value: Any) -> dt.datetime | None:
    try:
        return dt.datetime.fromtimestamp(int(value) / 1000, dt.UTC)
    except (TypeError, ValueError, OverflowError, OSError):
        return None


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8", "replace").strip()
    except OSError:
        return ""


def _json(path: Path) -> dict[str, Any]:
    try:
        document = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return document if isinstance(document, dict) else {}


def _plain_yaml(path: Path) -> dict[str, str]:
    """Return the plain values at the top of what MLflow writes: one ``key: value`` a line."""
    pairs = (line.partition(":") for line in _text(path).splitlines() if line[:1].isalpha())
    return {key: value.strip().strip("'\"") for key, _, value in pairs}
