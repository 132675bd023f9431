"""Runs whose recorder was cut off: their records, from what was written down while they went on.

A run that ``kill -9`` or a power cut ended leaves its private folder with a journal. Whoever works
on the artifact next makes a record of it: what is known, and gaps that say what is not. It never
counts as a success, unless its own record was complete and only had to be put in its place.
"""

from __future__ import annotations

import contextlib
import dataclasses
import datetime as dt
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rra._base import clock, proctree
from rra._base.deep import shortened
from rra._base.files import STAGING_PREFIX, remove_tree, sha256_file
from rra.artifact import Artifact
from rra.bundle import core_digest
from rra.errors import CorruptError, RraError
from rra.evidence import (
    EVENTS,
    OUTPUTS,
    RECORD,
    EvidenceStore,
    StoredRecord,
    verify_record,
    write_events,
)
from rra.launch import collect
from rra.launch.cells import failed_cells
from rra.launch.collect import LeftOut
from rra.launch.inputs import input_files
from rra.launch.journal import RunJournal, is_torn, read_journal
from rra.launch.limits import output_limit
from rra.launch.recorder import observed_in
from rra.launch.records import (
    observed_seeds,
    output_files,
    reads_of,
    roots_of,
    seen_events,
    writes_elsewhere,
)
from rra.launch.trace import Observation
from rra.launch.workspace import Workspace, abandoned
from rra.model import ExecutionRecord, Launcher
from rra.sandbox import end_container

UNKNOWN_STATUS = -255
"""Exit status in the record of a run whose own nobody saw."""

_BEFORE_INFRASTRUCTURE = frozenset({"timeout", "cancelled", "memory"})
"""Words that are taken before that one where several hold."""

_HIDDEN = "it may hold the value of a secret, and who would have taken that out was ended"


@dataclasses.dataclass(frozen=True, slots=True)
class Recovered:
    """A run that was cut off.

    Attributes:
        task: Its launcher, and the instance where it is named.
        job: Job of a cluster that it ran in; empty outside of one.
        stored: Its record; None where there is none yet.
        why: Why there is none yet.
        whole: Whether the run had written its record itself.
    """

    task: str
    job: str = ""
    stored: StoredRecord | None = None
    why: str = ""
    whole: bool = False

    def __str__(self) -> str:
        """What a person is told."""
        if self.stored is None:
            return f"{self.task}: a run of it has no record yet: {shortened(self.why)}"
        how = (
            "ended, and its record is in its place now"
            if self.whole
            else "was cut off, and is recorded now"
        )
        return f"{self.task}: an earlier run {how}: {self.stored.digest}"


def recover_runs(
    artifact: Artifact,
    outputs_root: Path,
    store: EvidenceStore,
    *,
    ended_jobs: frozenset[str] = frozenset(),
) -> list[Recovered]:
    """Record the runs that were cut off, and remove what they left beside the outputs.

    Runs whose owner lives are left alone. So are those of another machine, whose owner is not
    seen from here, unless their job is known to have ended.

    Args:
        artifact: The artifact.
        outputs_root: Where outputs are published, and runs have their private folders.
        store: The evidence.
        ended_jobs: Jobs of a cluster of which nothing runs any more.
    """
    found: list[Recovered] = []
    for folder in sorted(outputs_root.glob(f"{STAGING_PREFIX}*")):
        with abandoned(folder) as ours:
            space = Workspace(folder.resolve(), folder.resolve() / "tmp")
            if not ours or not space.journal.exists():
                continue
            journal = read_journal(space)
            if journal is not None:
                found += _attended(artifact, space, store, journal, ended_jobs)
            elif is_torn(space):
                remove_tree(space.root)  # its launcher was never started
            else:
                why = f"{space.journal} cannot be read; remove that folder if nothing needs it"
                found.append(Recovered(folder.name, why=why))
    return found


def _attended(
    artifact: Artifact,
    space: Workspace,
    store: EvidenceStore,
    journal: RunJournal,
    ended_jobs: frozenset[str],
) -> Iterator[Recovered]:
    owner, task = journal.owner, journal.task
    state = owner.state
    if state == "alive":
        return
    if state == "elsewhere" and owner.job not in ended_jobs:
        why = f"it runs, or was cut off, on {owner.host}, which is not seen from here"
        yield Recovered(task, owner.job, why=why)
        return
    try:
        whole = _complete(space, store, journal)
        stored = whole or _cut_off(artifact, space, store, journal)
        remove_tree(space.root)
    except (RraError, OSError, ValueError, KeyError, TypeError) as error:
        yield Recovered(task, owner.job, why=f"{shortened(str(error), 120)} ({space.root})")
    else:
        yield Recovered(task, owner.job, stored, whole=whole is not None)


def _complete(space: Workspace, store: EvidenceStore, journal: RunJournal) -> StoredRecord | None:
    """Put the record that the run itself wrote in its place, if it is whole, and return it."""
    if journal.recorded is None:
        return None
    there = store.held(str(journal.known["launcher"]["id"]), journal.recorded)
    if there is not None:
        return there
    if not (space.record / RECORD).is_file():
        return None
    with contextlib.suppress(CorruptError):
        staged = store.read(space.record)
        if staged.digest == journal.recorded and not _damaged(staged):
            _, folder = store.add(space.record, staged.record)
            return store.read(folder)
    return None


def _damaged(staged: StoredRecord) -> bool:
    """Tell whether a record disagrees with what lies beside it; it is not in its place yet."""
    place = {"execution-record/name", "execution-record/launcher-folder"}
    return any(problem.clause not in place for problem in verify_record(staged))


def _cut_off(
    artifact: Artifact, space: Workspace, store: EvidenceStore, journal: RunJournal
) -> StoredRecord:
    """Write the record of a run whose end nobody wrote down, and keep what it left."""
    last = _last_sign(space, journal)
    own = space.outputs / journal.place
    in_container = journal.known["sandbox"]["level"] == "container"
    left_behind = int(in_container and end_container(Path(str(journal.begun.get("private", "")))))
    left_behind += proctree.end_marked(f"RRA_OUTPUT_DIR={own}")
    launcher = Launcher.model_validate_json(json.dumps(journal.begun["launcher"]))
    hidden = bool(journal.begun["secret"]) and not journal.kept
    left_out = _take_over(space, own, launcher, hidden=hidden)
    hook = journal.begun["recorder"] == "audit-hook"
    seen, level = observed_in(space if not hidden else None, hook=hook)
    same = _is_as_it_was(artifact, journal)
    roots = roots_of(artifact, space, None)
    temporary = Path(str(journal.begun["temporary"]))
    isolated = journal.known["sandbox"]["level"] != "none"
    shown = [artifact.root]
    writes = list(writes_elsewhere(seen, space, temporary, roots, shown=shown, isolated=isolated))
    facts = _facts(artifact, space, journal, last, seen, same=same)
    facts["other_writes"] = sorted({path for path, _ in writes})
    facts["missing_outputs"] = collect.missing_outputs(launcher, space.record / OUTPUTS)
    facts["failed_cells"] = failed_cells(artifact, space.record / OUTPUTS) or None
    gaps = list(_gaps(journal, launcher, same=same))
    events = [
        {
            "kind": "started",
            "time": facts["started"],
            "nonce": facts["nonce"],
            "sandbox": facts["sandbox"]["level"],
            "recorder": level,
        },
        *seen_events(seen, roots, reads_of(artifact, space, journal.place, seen)),
        *({"kind": "write", "path": path, "refused": refused} for path, refused in writes),
        *({"kind": "left-out", "path": one.path, "why": one.why} for one in left_out),
        {"kind": "cut-off", "time": facts["ended"], "journal": journal.head},
        {
            "kind": "ended",
            "time": facts["ended"],
            "termination": facts["termination"],
            "exit_code": facts["exit_code"],
            "left_behind": left_behind,
        },
    ]
    record = ExecutionRecord.model_validate(
        {
            **facts,
            "recorder": {"level": level, "gaps": [*gaps, *seen.gaps]},
            "events": write_events(space.record / EVENTS, events),
        }
    )
    _, folder = store.add(space.record, record)
    return store.read(folder)


def _take_over(space: Workspace, own: Path, launcher: Launcher, *, hidden: bool) -> list[LeftOut]:
    """Put what a run left where evidence has it; nothing of it may lead elsewhere."""
    space.record.mkdir(exist_ok=True)
    outputs, left_out = space.record / OUTPUTS, []
    for name in collect.STREAMS:
        stream = space.record / name
        if hidden or stream.is_symlink() or not stream.is_file():
            left_out += [LeftOut(name, _HIDDEN)] if hidden else []
            stream.unlink(missing_ok=True)
            stream.touch()
    if hidden:
        left_out.append(LeftOut(".", _HIDDEN))
        for folder in (own, outputs):
            if folder.exists():
                remove_tree(folder)
        outputs.mkdir()
    elif outputs.is_symlink() or not outputs.is_dir():
        left_out += collect.take_over(own, outputs)
    left_out += collect.make_safe(outputs, space.code, place=own)
    left_out += collect.limit_size(outputs, output_limit(launcher))
    collect.add_streams(space.record, outputs)
    return left_out


def _last_sign(space: Workspace, journal: RunJournal) -> dt.datetime:
    """Return the last moment at which a run is known to have gone on."""
    found = [float(journal.begun["at"])]
    if journal.ended is not None:
        found.append(float(journal.ended["at"]))
    else:
        for path in (space.journal, *(space.record / name for name in collect.STREAMS)):
            with contextlib.suppress(FileNotFoundError):
                found.append(path.lstat().st_mtime)
    return min(dt.datetime.fromtimestamp(max(found), dt.UTC), clock.now())


def _is_as_it_was(artifact: Artifact, journal: RunJournal) -> bool:
    """Tell whether the artifact is still the one that was run."""
    try:
        return bool(core_digest(artifact) == journal.known["core"])
    except RraError:
        return False


def _facts(
    artifact: Artifact,
    space: Workspace,
    journal: RunJournal,
    last: dt.datetime,
    seen: Observation,
    *,
    same: bool,
) -> dict[str, Any]:
    """Return the record as far as it does not depend on its own events."""
    known, done = journal.known, journal.done
    name, entry = str(known["launcher"]["id"]), known["launcher"]
    word = done.get("termination")
    inputs: list[Any] = [
        {"path": entry["entry"], "sha256": entry["sha256"], "role": "launcher", **_size(journal)}
    ]
    if same:
        inputs = list(input_files(artifact, name, space, seen, complete=False))
    passed = max(0.0, last.timestamp() - float(journal.begun["at"]))
    return {
        **known,
        "seed": {**known["seed"], "observed": observed_seeds(seen)},
        "ended": max(clock.iso(last), known["started"]),
        "termination": word if word in _BEFORE_INFRASTRUCTURE else "infrastructure",
        "exit_code": done.get("returncode", UNKNOWN_STATUS),
        "inputs": inputs,
        "outputs": list(output_files(space.record / OUTPUTS)),
        "network_attempts": sorted(seen.connections),
        "resources": {
            "wall": round(float(done.get("seconds", passed)), 3),
            "cpu": round(float(done.get("cpu_seconds", 0.0)), 3),
            "max_rss": done.get("max_rss", 0),
        },
        **{
            name: _stream(space.record / file, done.get(name, {}))
            for name, file in zip(("stdout", "stderr"), collect.STREAMS, strict=True)
        },
        "sandbox": {
            **known["sandbox"],
            "reached": ["wall"] if word == "timeout" else None,
        },
    }


def _size(journal: RunJournal) -> dict[str, int]:
    return {"size": int(journal.begun["entry_bytes"])}


def _stream(path: Path, told: dict[str, Any]) -> dict[str, Any]:
    """Describe what was kept of a stream, and how much there was where that was written down."""
    size = path.stat().st_size
    total = max(size, int(told.get("bytes", size)))
    return {"sha256": sha256_file(path), "bytes": total, "truncated": total > size}


def _gaps(journal: RunJournal, launcher: Launcher, *, same: bool) -> Iterator[str]:
    """Say what is not known of the run."""
    yield "rra was ended before it had recorded the run; this was written later, from its journal"
    if journal.ended is None:
        yield (
            "how and when the launcher ended is not known: the exit status is written as "
            f"{UNKNOWN_STATUS}, the end is the last sign of it"
        )
        yield "the processor time and the memory that it used are not known, and written as 0"
        yield "the last of what it printed may be missing"
    if journal.begun["recorder"] == "strace":
        yield "what strace had seen was lost"
    if journal.begun["secret"] and not journal.kept:
        yield "what it printed, left and reported was not kept, since it may hold a secret"
    if launcher.collect:
        yield "what it wrote into its copy of the code was not collected"
    if journal.known["sandbox"]["level"] == "none":
        yield "whether it changed the artifact itself was not looked at"
    if not same:
        yield "the artifact is another one now: of the inputs only the entry is known"
