from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from pathlib import Path

from rra.artifact.layout import EVIDENCE_DIR
from rra.errors import CorruptError
from rra.lint.context import Context
from rra.lint.finding import Finding, Profile, Severity
from rra.lint.rule import Rule
from rra.model import ExecutionRecord


class EvidenceStale(Rule):
    """The evidence is of another state of the artifact, or is broken.

    ## What it does

    Checks that the files of each execution record have the digests that the record gives, and
    compares the newest successful record of each launcher with the artifact: the launcher's
    entry, the lock of its environment, and the core digest in `rra.lock`.

    ## Why is this bad?

    Evidence of other code says nothing about this code. Evidence whose files were changed
    after the run says nothing at all.

    ## How to fix

    Run the launcher again with `rra run`. Remove a broken record; it cannot be mended.

    ## Example

    After an edit of a launcher that has been run:

    ```text
    evidence/lda/0123456789abcdef/record.json: warning RRA502 the launcher has changed since this run
    ```
    """  # noqa: E501 - one line of output

    code = "RRA502"
    name = "evidence-stale"
    severity = Severity.WARNING
    profile = Profile.BASIC
    since = "0.1"
    clause = "execution-record/current"

    def check(self, context: Context) -> Iterable[Finding]:
        """Yield broken records, then stale ones."""
        newest: dict[str, tuple[str, ExecutionRecord]] = {}
        try:
            evidence = context.evidence
        except CorruptError as error:
            yield from self._unreadable(context, error)
            return
        for stored, problems in evidence:
            record = stored.record
            place = f"{EVIDENCE_DIR}/{record.launcher.id}/{stored.directory.name}/record.json"
            for problem in problems:
                hint = "remove this record and run the launcher again"
                broken = self.at(problem.path, problem.message, hint=hint, severity=Severity.ERROR)
                yield dataclasses.replace(broken, clause=problem.clause)
            key = record.launcher.id
            if record.ok and (key not in newest or newest[key][1].ended < record.ended):
                newest[key] = (place, record)
        for key, (place, record) in sorted(newest.items()):
            for reason in _changes(context, record):
                yield self.at(place, f"{reason} since this run", hint=f"run: rra run {key}")

    def _unreadable(self, context: Context, error: CorruptError) -> Iterator[Finding]:
        """Yield what keeps a record from being read, at the places in it."""
        if not error.problems:
            yield self.at(EVIDENCE_DIR, error.message, hint=error.hint, severity=Severity.ERROR)
        for one in error.problems:
            if one.severity != "error":
                continue
            path = Path(one.path)
            place = path.relative_to(context.root) if path.is_absolute() else path
            message = f"not an execution record: {one.message}"
            found = self.at(place.as_posix(), message, line=one.line, hint=error.hint)
            yield dataclasses.replace(
                found,
                severity=Severity.ERROR,
                column=one.column,
                pointer=one.pointer or None,
                clause=one.clause or self.clause,
            )


def _changes(context: Context, record: ExecutionRecord) -> Iterator[str]:
    """Yield what has changed since a run; the core digest only when nothing else says it."""
    manifest = context.artifact.manifest
    launcher = manifest.launchers.get(record.launcher.id)
    if launcher is None:
        yield f"launcher {record.launcher.id} was removed"
        return
    changed = []
    entry = context.kind(launcher.entry)
    if entry == "file" and context.digest(launcher.entry) != record.launcher.sha256:
        changed.append("the launcher has changed")
    environment = manifest.environments.get(record.environment.id)
    lock = environment.lock if environment else None
    if lock and context.kind(lock) == "file" and context.digest(lock) != record.environment.lock:
        changed.append("the environment was locked again")
    known = context.artifact.lock
    if not changed and known is not None and known.core != record.core:
        changed.append("code, data, what the environment carries, or a definition has changed")
    yield from changed
