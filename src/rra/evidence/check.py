"""Is a record, with all that belongs to it, as it was when the run ended?"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from rra._base.files import sha256_file
from rra.errors import Problem
from rra.evidence.events import check_events
from rra.evidence.names import printable
from rra.evidence.store import EVENTS, OUTPUTS, RECORD, STDERR, STDOUT, StoredRecord

_HINT = "the evidence was changed after the run; run the launcher again"


def verify_record(stored: StoredRecord) -> list[Problem]:
    """Check a record against the files beside it; an empty list means that all agree.

    Checked are the name of the folder, the chain of events, the digests of both streams, and
    path, size and digest of every output, none more and none less. Somebody who writes their
    own record passes; only a new run tells.
    """
    return list(_check(stored))


def _check(stored: StoredRecord) -> Iterator[Problem]:
    folder, record = stored.directory, stored.record
    place = f"evidence/{folder.parent.name}/{folder.name}"
    if not stored.digest.removeprefix("sha256:").startswith(folder.name):
        message = f"the record's digest is {stored.digest}, its folder is named {folder.name}"
        yield Problem(message, f"{place}/{RECORD}", clause="execution-record/name", hint=_HINT)
    if folder.parent.name != record.launcher.id:
        message = f"the record is one of launcher {record.launcher.id}"
        clause = "execution-record/launcher-folder"
        yield Problem(message, f"{place}/{RECORD}", clause=clause, hint=_HINT)
    yield from check_events(folder / EVENTS, record.events, source=f"{place}/{EVENTS}")
    for name, stream in ((STDOUT, record.stdout), (STDERR, record.stderr)):
        yield from _file(folder / name, stream.sha256, f"{place}/{name}")
    yield from _outputs(stored, f"{place}/{OUTPUTS}")


def _outputs(stored: StoredRecord, place: str) -> Iterator[Problem]:
    found = (path for path in stored.outputs.rglob("*") if path.is_symlink() or not path.is_dir())
    there = {printable(path.relative_to(stored.outputs)): path for path in found}
    named = {output.path: output for output in stored.record.outputs}
    for name in sorted(there.keys() | named.keys()):
        if name not in named:
            message = f"{name} is no output of this run"
            yield Problem(
                message, f"{place}/{name}", clause="execution-record/no-other-outputs", hint=_HINT
            )
        else:
            yield from _file(there.get(name), named[name].sha256, f"{place}/{name}")


def _file(path: Path | None, digest: str, place: str) -> Iterator[Problem]:
    if path is None or not path.is_file() or path.is_symlink():
        message = "the file is not there"
        yield Problem(message, place, clause="execution-record/files-present", hint=_HINT)
        return
    found = sha256_file(path)
    if found != digest:
        message = f"the file has digest {found}, the record says {digest}"
        yield Problem(message, place, clause="execution-record/file-digests", hint=_HINT)
