"""Is there a run of a task already, and does it still stand?"""

from __future__ import annotations

import contextlib
import dataclasses
import datetime as dt
import itertools
import json
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Literal

from rra._base.files import STAGING_PREFIX
from rra.artifact import Artifact, layout
from rra.errors import CorruptError
from rra.evidence import (
    EVENTS,
    OUTPUTS,
    RECORD,
    STDERR,
    STDOUT,
    EvidenceStore,
    StoredRecord,
    check_events,
    printable,
)
from rra.launch.inputs import digest_and_size
from rra.launch.inventory import regular_files
from rra.launch.keys import differences
from rra.launch.tasks import Plan, Task

_SHOWN = 3
_COMPARED = 5
"""Most earlier runs that what is due is compared with, to name what changed."""

State = Literal["current", "kept", "due"]


@dataclasses.dataclass(frozen=True, slots=True)
class Standing:
    """Whether a task has to run.

    Attributes:
        state: ``current``: a run of the same key succeeded and its outputs are in place.
            ``kept``: its outputs are whole in the evidence, but not in place.
            ``due``: it has to run.
        reason: Why, in words.
        stored: The record of that run; for a task that is due, of the newest that succeeded.
    """

    state: State
    reason: str
    stored: StoredRecord | None = None


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    """What a record says of itself."""

    folder: Path
    instance: str
    key: str | None
    nonce: str
    ok: bool
    ended: str
    written: int


class Standings:
    """Looks up the runs of an artifact; its records are read once for each launcher."""

    def __init__(self, artifact: Artifact, plan: Plan, outputs_root: Path) -> None:
        """Prepare.

        Args:
            artifact: The artifact.
            plan: The plan whose tasks are looked up.
            outputs_root: Where outputs are published.
        """
        self._artifact = artifact
        self._plan = plan
        self._outputs_root = outputs_root
        self._store = EvidenceStore(artifact.root / layout.EVIDENCE_DIR)
        self._known: dict[Path, _Entry | None] = {}

    def of(self, task: Task) -> Standing:
        """Say whether a task has to run, as things stand now."""
        entries = self._entries(task)
        newest: StoredRecord | None = None
        same: StoredRecord | None = None
        kept: StoredRecord | None = None
        for entry in entries:
            if not entry.ok or (newest is not None and entry.key not in {None, task.key}):
                continue
            stored = self._read(entry)
            newest = newest or stored
            if stored is None or not self._same(stored, task):
                continue
            same = same or stored
            if self._changed_inputs(stored, task) or _damaged(stored):
                continue
            if not _lacks(stored, self._outputs_root / task.id):
                return Standing("current", "up to date", stored)
            kept = kept or stored
        if kept is not None:
            return Standing("kept", "up to date; its outputs are put back", kept)
        if same is not None:
            changed = self._changed_inputs(same, task)
            place = f"{layout.EVIDENCE_DIR}/{task.launcher}/{same.directory.name}"
            harm = f"its evidence was changed: {place}/{_damaged(same)}"
            return Standing("due", f"{_listed(changed)} changed" if changed else harm, same)
        if newest is not None:
            return Standing("due", self._why_due(entries, task), newest)
        why = "no run of it succeeded" if entries else "it has not run yet"
        return Standing("due", why)

    def static(self, forced: Collection[str]) -> dict[str, Standing]:
        """Say of every task, before anything runs, whether it will have to."""
        standings: dict[str, Standing] = {}
        for task in self._plan:
            late = [n.task for n in task.needs if standings[n.task].state == "due"]
            standing = self.of(task)
            if task.id in forced:
                standing = Standing("due", "forced", standing.stored)
            elif late and standing.state != "due":
                why = f"{_listed(late)} {'runs' if len(late) == 1 else 'run'} first"
                standing = Standing("due", why, standing.stored)
            standings[task.id] = standing
        return standings

    def made_by_plan(self, task: Task) -> bool:
        """Tell whether a run of a task that succeeded belongs to this very plan."""
        nonce = self._plan.nonce
        return any(entry.ok and entry.nonce == nonce for entry in self._entries(task))

    def _entries(self, task: Task) -> list[_Entry]:
        """Return what is known of the records of a task, the newest first."""
        found = []
        for path in (self._store.root / task.launcher).glob(f"*/{RECORD}"):
            if path not in self._known:  # a record never changes
                self._known[path] = _look(path)
            entry = self._known[path]
            if entry is not None and entry.instance == task.instance:
                found.append(entry)
        return sorted(found, key=lambda one: (one.ended, one.written), reverse=True)

    def _read(self, entry: _Entry) -> StoredRecord | None:
        try:
            return self._store.read(entry.folder)
        except CorruptError:
            return None

    def _same(self, stored: StoredRecord, task: Task) -> bool:
        """Tell whether a run was asked to do what the task asks for.

        A record without a key, of an earlier version, is compared by the core, which more than
        what decides this run is part of.
        """
        record = stored.record
        if record.key is not None:
            return record.key == task.key
        return (
            record.core == self._plan.core
            and dict(record.parameters) == dict(task.parameters)
            and record.seed.declared == task.seed
            and not self._plan.asked.smoke
        )

    def _changed_inputs(self, stored: StoredRecord, task: Task) -> list[str]:
        """Return the outputs of other runs that this one read and that are others now."""
        places = {f"{layout.OUTPUTS_DIR}/{need.place}/": need.task for need in task.needs}
        changed = []
        for one in stored.record.inputs:
            for prefix, source in places.items():
                if one.path.startswith(prefix):
                    now = self._outputs_root / source / one.path.removeprefix(prefix)
                    if not now.is_file() or digest_and_size(now)[0] != one.sha256:
                        changed.append(one.path)
                    break
        return changed

    def _why_due(self, entries: Iterable[_Entry], task: Task) -> str:
        """Name what changed since the run that succeeded and is nearest to what is asked for.

        That is the newest, unless an earlier one lacks less: what was changed, run and changed
        back is as it was then.
        """
        read = (self._read(entry) for entry in entries if entry.ok)
        compared = [one for one in itertools.islice(read, _COMPARED) if one is not None]
        found = [(self._why_stale(one, task), one) for one in compared]
        reasons, nearest = min(found, key=lambda one: len(one[0]))
        if reasons:
            return "; ".join(reasons)
        why = "its code, data, environment or definition changed"
        if any(need.task for need in task.needs):
            why = "what it needs, its code, data or definition changed"
        written = self._written_since(nearest)
        return f"{why}; written since: {_listed(written)}" if written else why

    def _written_since(self, stored: StoredRecord) -> list[str]:
        """Return the files that decide what a run does and were written or made after it began.

        A file that the run read and that is as it was does not count.
        """
        record, root = stored.record, self._artifact.root
        began = dt.datetime.fromisoformat(record.started).timestamp()
        same = {one.path for one in record.inputs if self._now(one.path) == one.sha256}
        found = []
        for element in ("code", "launchers", "data", "environment"):
            for path in self._artifact.element_files(element):
                with contextlib.suppress(OSError):
                    if (root / path).lstat().st_ctime > began and printable(path) not in same:
                        found.append(printable(path))
        return found

    def _why_stale(self, stored: StoredRecord, task: Task) -> list[str]:
        """Name what changed since a run that succeeded, as far as its record tells."""
        record, reasons = stored.record, []
        launcher = self._artifact.manifest.launchers[task.launcher]
        entry = self._artifact.path(launcher.entry)
        if entry.is_file() and digest_and_size(entry)[0] != record.launcher.sha256:
            reasons.append(f"{launcher.entry} changed")
        reasons += differences(record.parameters, task.parameters)
        by = launcher.seeds.parameter if launcher.seeds is not None else None
        if record.seed.declared != task.seed and by not in task.parameters:
            was, now = record.seed.declared, task.seed
            reasons.append(
                f"it had no seed and has {now}" if was is None else f"the seed was {was}"
            )
        environment = self._artifact.manifest.environments[launcher.environment]
        lock = self._artifact.path(environment.lock) if environment.lock else None
        if record.environment.id != launcher.environment:
            reasons.append(f"the environment was {record.environment.id}")
        elif lock and lock.is_file() and digest_and_size(lock)[0] != record.environment.lock:
            reasons.append(f"environment {launcher.environment} was locked again")
        changed = [
            one.path
            for one in record.inputs
            if one.role not in {"output", "launcher"} and self._now(one.path) != one.sha256
        ]
        if changed:
            reasons.append(f"{_listed(changed)} changed")
        return reasons

    def _now(self, path: str) -> str | None:
        place = self._artifact.root / path
        return digest_and_size(place)[0] if place.is_file() else None


def still_forced(artifact: Artifact, plan: Plan) -> set[str]:
    """Return the tasks of an earlier plan that were forced and have not succeeded in it.

    Args:
        artifact: The artifact.
        plan: The plan that is taken up.
    """
    standings = Standings(artifact, plan, artifact.root / layout.OUTPUTS_DIR)
    forced = (task for task in plan if task.id in plan.forced)
    return {task.id for task in forced if not standings.made_by_plan(task)}


def _look(path: Path) -> _Entry | None:
    """Return what a record says of itself, without checking it; None for what is no record."""
    if path.parent.name.startswith(STAGING_PREFIX):
        return None
    try:
        plain = json.loads(path.read_bytes())
        return _Entry(
            folder=path.parent,
            instance=plain["instance"],
            key=plain.get("key"),
            nonce=plain["nonce"],
            ok=plain["termination"] == "ok"
            and not plain["missing_outputs"]
            and not plain.get("failed_cells"),
            ended=plain["ended"],
            written=path.stat().st_mtime_ns,
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _damaged(stored: StoredRecord) -> str:
    """Return the first file of a record that is not as the run left it; empty if all are.

    It is what `verify_record` checks, but a large file that was not touched is not read again.
    """
    folder, record = stored.directory, stored.record
    if not stored.digest.removeprefix("sha256:").startswith(folder.name):
        return RECORD
    for name, stream in ((STDOUT, record.stdout), (STDERR, record.stderr)):
        path = folder / name
        if not path.is_file() or digest_and_size(path)[0] != stream.sha256:
            return name
    if check_events(folder / EVENTS, record.events, source=EVENTS):
        return EVENTS
    there = {printable(path): folder / OUTPUTS / path for path, _ in regular_files(stored.outputs)}
    listed = {one.path: one.sha256 for one in record.outputs}
    for name in sorted(there.keys() | listed.keys()):
        if name not in there or digest_and_size(there[name])[0] != listed.get(name):
            return f"{OUTPUTS}/{name}"
    return ""


def _lacks(stored: StoredRecord, folder: Path) -> bool:
    """Tell whether a folder lacks an output that a record lists, or has another in its place."""
    there = {printable(path): path for path, _ in regular_files(folder)}
    return any(
        one.path not in there or digest_and_size(folder / there[one.path])[0] != one.sha256
        for one in stored.record.outputs
    )


def _listed(names: Iterable[str]) -> str:
    found = list(names)
    more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    return ", ".join(found[:_SHOWN]) + more
