"""From an outcome to its selector, output, record, launcher and scripts."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path, PurePosixPath

from rra._base.files import sha256_file
from rra.artifact import Artifact, layout
from rra.audit.documents import FileRef, Trace
from rra.errors import RraError, SelectError
from rra.evidence import EvidenceStore, StoredRecord
from rra.launch.inputs import role_of
from rra.launch.instances import is_shortened
from rra.launch.request import DEFAULT_INSTANCE
from rra.model import ExecutionRecord, Manifest, Outcome, RunSelection
from rra.values.selectors import OutcomeValue, Selected, locator_of, select_outcome

MAX_INPUTS = 200
_READ_FIRST = {"reference": 0, "unknown": 1, "config": 2, "data": 3, "model": 4, "launcher": 5}


@dataclasses.dataclass(frozen=True)
class Found:
    """A value that the evidence of an artifact gives, or why it gives none.

    Attributes:
        value: The value with its place; None when the selector finds none.
        stored: The record that the value belongs to; of several runs, the first.
        others: The records of the other runs that the value is made of.
        edited: The working copy of the output is not what the newest record left.
        error: Why there is no value.
    """

    value: OutcomeValue | None = None
    stored: StoredRecord | None = None
    others: tuple[StoredRecord, ...] = ()
    edited: bool = False
    error: SelectError | None = None


def trace_value(artifact: Artifact, outcome_id: str, *, evidence: Path | None = None) -> Trace:
    """Return the way from a reported value to what made it, as far as the evidence goes.

    Args:
        artifact: The artifact.
        outcome_id: Full id of an outcome, or a part that is unique.
        evidence: Folder of the records; that of the artifact by default.

    Raises:
        UsageError: There is no such outcome.
    """
    name, outcome = artifact.outcome(outcome_id)
    store = EvidenceStore(evidence or artifact.root / layout.EVIDENCE_DIR)
    found = find_value(artifact, outcome, store)
    record = found.stored.record if found.stored is not None else None
    digest = found.stored.digest if found.stored is not None else None
    selected = found.value.parts[0] if found.value is not None else None
    return build_trace(artifact, name, outcome, selected, record, digest)


def find_value(artifact: Artifact, outcome: Outcome, store: EvidenceStore) -> Found:
    """Look for an outcome's value in the working outputs, then in the newest successful record.

    One that is read from several runs is looked for in the newest record of each, where all are
    there. A record that cannot be read counts as none here; `rra.audit.integrity` reports it.
    """
    launcher = outcome.selector.launcher
    runs = _several(artifact, outcome, store)
    if runs:
        try:
            together = select_outcome([run.outputs for run in runs], outcome)
            return Found(together, runs[0], runs[1:])
        except SelectError as raised:
            return Found(stored=runs[0], others=runs[1:], error=raised)
    stored = newest(artifact, store, launcher)
    working = artifact.root / layout.OUTPUTS_DIR / launcher
    error: SelectError | None = None
    try:
        if (working / outcome.selector.file).exists():
            value = select_outcome([working], outcome)
            return _with_record(value, stored, store, launcher)
    except SelectError as raised:
        error = raised
    if stored is None:
        return Found(error=error)
    try:
        return Found(select_outcome([stored.outputs], outcome), stored)
    except SelectError as raised:
        return Found(stored=stored, error=raised)


def newest(artifact: Artifact, store: EvidenceStore, launcher: str) -> StoredRecord | None:
    """Return the newest successful record of a launcher's usual run, or of any in full.

    The usual run is that of no instance with the default parameters.
    """
    good = [
        one
        for one in store.intact(launcher)
        if one.record.ok and not is_shortened(one.record.instance)
    ]
    whole = [one for one in good if one.record.instance == DEFAULT_INSTANCE]
    usual = [one for one in whole if _has_defaults(artifact, one)]
    return next(reversed(usual or whole or good), None)


def _has_defaults(artifact: Artifact, stored: StoredRecord) -> bool:
    """Tell whether a run had the parameters that the manifest gives it; a seed may be any."""
    launcher = artifact.manifest.launchers[stored.record.launcher.id]
    taken = launcher.seeds.parameter if launcher.seeds is not None else None
    return all(
        stored.record.parameters.get(name) == parameter.default
        for name, parameter in launcher.parameters.items()
        if name != taken
    )


def _several(
    artifact: Artifact, outcome: Outcome, store: EvidenceStore
) -> tuple[StoredRecord, ...]:
    """Return the newest record of each seed that an outcome is read from; none if one lacks."""
    runs = outcome.selector.runs
    launcher = artifact.manifest.launchers[outcome.selector.launcher]
    named = runs.seeds if isinstance(runs, RunSelection) else None
    seeds = named or (launcher.seeds.values if runs == "all" and launcher.seeds else [])
    if len(seeds) < 2:
        return ()
    wanted = dict(runs.parameters or {}) if isinstance(runs, RunSelection) else {}
    taken = launcher.seeds.parameter if launcher.seeds is not None else None
    usual = {
        name: parameter.default
        for name, parameter in launcher.parameters.items()
        if parameter.default is not None and name != taken
    }
    records = [
        one
        for one in store.intact(outcome.selector.launcher)
        if one.record.ok and not is_shortened(one.record.instance)
    ]
    newest_of = {
        one.record.seed.declared: one
        for one in records
        if {k: v for k, v in one.record.parameters.items() if k != taken} == {**usual, **wanted}
    }
    return tuple(newest_of[seed] for seed in seeds) if set(seeds) <= newest_of.keys() else ()


def _with_record(
    value: OutcomeValue, stored: StoredRecord | None, store: EvidenceStore, launcher: str
) -> Found:
    """Find the record whose output the working copy is."""
    if stored is None:
        return Found(value)
    part = value.parts[0]
    candidates = [stored, *reversed(store.intact(launcher))]
    for candidate in candidates:
        if candidate.record.ok and any(
            output.path == part.file and output.sha256 == part.sha256
            for output in candidate.record.outputs
        ):
            return Found(value, candidate)
    return Found(value, stored, edited=True)


def build_trace(
    artifact: Artifact,
    name: str,
    outcome: Outcome,
    selected: Selected | None,
    record: ExecutionRecord | None,
    record_digest: str | None,
) -> Trace:
    """Put together what is known of where a value comes from."""
    launcher = artifact.manifest.launchers[outcome.selector.launcher]
    reported = outcome.reported
    facts: dict[str, object] = {}
    if selected is not None:
        facts |= {"value": selected.text, "file": selected.file, "sha256": selected.sha256}
        facts |= {"place": selected.place, "line": selected.line}
    if record is not None:
        facts |= {"record": record_digest, "inputs": _inputs(record)}
        facts |= {"inputs_total": len(record.inputs), "recorder": record.recorder.level}
        facts |= {"started": record.started}
    return Trace.model_validate(
        {
            "outcome": name,
            "reported": reported if isinstance(reported, str) else ", ".join(reported),
            "unit": outcome.unit,
            "selector": describe_selector(outcome),
            "launcher": outcome.selector.launcher,
            "entry": _file(artifact, PurePosixPath(launcher.entry), "launcher"),
            "scripts": scripts_of(artifact, launcher.entry),
            **facts,
        }
    )


def derived_trace(manifest: Manifest, name: str) -> Trace:
    """Return what is known of where a derived outcome comes from: what it follows from."""
    outcome = manifest.derived_outcomes()[name]
    source = manifest.outcomes()[manifest.sources(name)[0]]
    return Trace(
        outcome=name,
        reported=outcome.reported
        if isinstance(outcome.reported, str)
        else ", ".join(outcome.reported),
        unit=outcome.unit,
        selector=outcome.describe(name.partition("/")[0]),
        launcher=source.selector.launcher,
    )


def describe_selector(outcome: Outcome) -> str:
    """Return a selector in one line: file, locator, pick and aggregate where they are not usual."""
    selector = outcome.selector
    try:
        kind, content = locator_of(selector)
    except SelectError as error:
        return f"{selector.file}: {error.message}"
    parts = [f"{selector.file} {kind} {_shown(content)}"]
    if selector.pick != "only":
        parts.append(f"pick {_shown(selector.to_json()['pick'])}")
    if selector.aggregate != "single":
        parts.append(f"aggregate {selector.aggregate}")
    if selector.unit:
        parts.append(f"in {selector.unit}")
    return ", ".join(parts)


def _shown(content: object) -> str:
    if isinstance(content, dict):
        return " ".join(f"{key}={_shown(value)}" for key, value in content.items())
    return str(content)


def scripts_of(artifact: Artifact, entry: str) -> list[FileRef]:
    """Return the source files that a launcher's commands name, in the order they name them."""
    try:
        lines = artifact.path(entry).read_text("utf-8", "replace").splitlines()
    except (OSError, RraError):
        return []
    text = "\n".join(line for line in lines if not line.lstrip().startswith("#"))
    prefix = PurePosixPath(artifact.manifest.code.root)
    places: dict[PurePosixPath, int] = {}
    bare = [path.name for path in artifact.code_files()]
    for path in artifact.code_files():
        module = ".".join(path.with_suffix("").parts)
        names = [str(path), str(prefix / path), f"-m {module}"]
        if bare.count(path.name) == 1:
            names.append(path.name)
        for name in names:
            found = re.search(rf"(?<![\w/.-]){re.escape(name)}(?![\w/-]|\.\w)", text)
            if found is not None and role_of(artifact, prefix / path) == "code":
                places.setdefault(prefix / path, found.start())
    ordered = sorted(places, key=lambda path: places[path])
    return [ref for path in ordered if (ref := _file(artifact, path, "code")) is not None]


def _inputs(record: ExecutionRecord) -> list[FileRef]:
    """Return what a run read, what is not code first."""
    ordered = sorted(record.inputs, key=lambda item: (_READ_FIRST.get(item.role, 9), item.path))
    return [
        FileRef(path=item.path, sha256=item.sha256, role=item.role) for item in ordered[:MAX_INPUTS]
    ]


def _file(artifact: Artifact, path: PurePosixPath, role: str) -> FileRef | None:
    place = artifact.root / path
    if not place.is_file():
        return None
    return FileRef(path=str(path), sha256=sha256_file(place), role=role)
