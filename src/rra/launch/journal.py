"""What is known of a run while it goes on, on the disk, for whoever finds it cut off.

``journal.jsonl`` lies beside the evidence as it is put together, and goes with it. Its lines are
chained as events are:

``begun``     before the launcher starts: what of the record is known by then, and who runs it
``ended``     the launcher has ended: its status, times and use of resources
``kept``      what it left is in order: nothing of a secret is in it any more
``recorded``  digest of the record, which stands beside the outputs next and then in the evidence
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from rra._base import clock
from rra._base.files import sync_folder
from rra._base.owners import Owner, this_process
from rra._base.process import Supervised
from rra.errors import StorageError
from rra.evidence import EventLog, read_log
from rra.launch.request import DEFAULT_INSTANCE, RunRequest
from rra.launch.workspace import Workspace
from rra.model.base import Id
from rra.model.record import Instance

_LAUNCHER, _INSTANCE = TypeAdapter(Id), TypeAdapter(Instance)


class Journal:
    """Writes down one run; one that no evidence is kept of has none."""

    def __init__(self, space: Workspace, *, kept: bool) -> None:
        """Begin in the private folders of a run.

        Args:
            space: The folders.
            kept: Whether evidence of the run is kept.
        """
        self._log = EventLog(space.journal) if kept else None

    def begun(self, request: RunRequest, known: Mapping[str, Any], **more: Any) -> None:
        """Write down that a launcher starts next; nothing of it has run when this fails.

        Args:
            request: What is run.
            known: What its record says of it already.
            more: What else is needed to write the record from here.

        Raises:
            StorageError: The disk is full or refuses.
        """
        if self._log is None:
            return
        declared = request.artifact.manifest.launchers[request.launcher]
        self._log.add(
            {
                "kind": "begun",
                "owner": this_process().to_json(),
                "at": clock.now().timestamp(),
                "record": dict(known),
                "launcher": declared.to_json(),
                "entry_bytes": request.artifact.path(declared.entry).stat().st_size,
                **more,
            }
        )
        sync_folder(self._log.path.parent.parent)

    def ended(self, done: Supervised) -> None:
        """Write down that the launcher has ended, and nothing of it is left running."""
        self._add("ended", at=clock.now().timestamp(), done=dataclasses.asdict(done))

    def kept(self) -> None:
        """Write down that what it left is out of its reach and in order."""
        self._add("kept")

    def recorded(self, digest: str) -> None:
        """Write down the name of the record that is written next."""
        self._add("recorded", record=digest)

    def _add(self, kind: str, **what: Any) -> None:
        """Add a line; where there is no room the run goes on, and its record will tell."""
        if self._log is not None:
            with contextlib.suppress(StorageError):
                self._log.add({"kind": kind, **what})


@dataclasses.dataclass(frozen=True, slots=True)
class RunJournal:
    """What a journal says.

    Attributes:
        begun: Its first line.
        owner: Who ran the launcher.
        ended: What became of the launcher, if that was seen.
        kept: Whether what it left is in order.
        recorded: Digest of its record, if that was written.
        head: Digest of the last line.
    """

    begun: Mapping[str, Any]
    owner: Owner
    ended: Mapping[str, Any] | None
    kept: bool
    recorded: str | None
    head: str

    @property
    def known(self) -> Mapping[str, Any]:
        """What of the record was known before the launcher started."""
        return self.begun["record"]  # type: ignore[no-any-return]

    @property
    def done(self) -> Mapping[str, Any]:
        """What became of the process, by the fields of `Supervised`; empty if nobody saw that."""
        return self.ended["done"] if self.ended is not None else {}

    @property
    def place(self) -> Path:
        """Place of its outputs: the launcher, and the instance where it is named."""
        known = self.known
        launcher, instance = str(known["launcher"]["id"]), str(known["instance"])
        return Path(launcher) if instance == DEFAULT_INSTANCE else Path(launcher) / instance

    @property
    def task(self) -> str:
        """What people call the run."""
        return self.place.as_posix()


def read_journal(space: Workspace) -> RunJournal | None:
    """Return what the journal in the private folders of a run says, or None if that is unclear."""
    events, head = read_log(space.journal)
    by_kind = {event.get("kind"): event for event in events}
    begun, ended, recorded = (by_kind.get(kind) for kind in ("begun", "ended", "recorded"))
    try:
        if begun is None or begun is not events[0]:
            return None
        known = begun["record"]
        # They become parts of paths.
        _INSTANCE.validate_python(known["instance"])
        _LAUNCHER.validate_python(known["launcher"]["id"])
        return RunJournal(
            begun=begun,
            owner=Owner.from_json(begun["owner"]),
            ended=ended,
            kept="kept" in by_kind,
            recorded=str(recorded["record"]) if recorded is not None else None,
            head=head,
        )
    except (KeyError, TypeError, ValueError):
        return None


def is_torn(space: Workspace) -> bool:
    """Tell whether a journal has no whole line: its launcher was not started."""
    with space.journal.open("rb") as file:
        return not file.readline().endswith(b"\n")
