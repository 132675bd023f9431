"""Blanking evidence: records, events and what runs left, with every digest that follows.

What changes in a record are texts that identify, the digests and sizes of files that were
blanked, the core, and addresses of the network. How a run ended, what it read and wrote, how
long it took and how closely it was watched stay. A record is named by its digest, so it gets
another name, and everything that refers to it is told.
"""

from __future__ import annotations

import dataclasses
import ipaddress
import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from rra._base import canonical
from rra._base.files import atomic_write, sha256_bytes, sha256_file
from rra.artifact import layout
from rra.author.anonymous.identifier import Finder
from rra.evidence import EVENTS, RECORD, EvidenceStore, read_events, write_events

_KERNEL = re.compile(r"^(\S+ \d+(?:\.\d+)*).*$", re.DOTALL)
_LOCAL = {"localhost", "0.0.0.0", "::", "::1"}  # noqa: S104 - compared, never bound to
_HEX = re.compile(rb"(?<![0-9a-zA-Z])(?:[0-9a-f]{64}|[0-9a-f]{40}|[0-9a-f]{16})(?![0-9a-zA-Z])")
_PORT = re.compile(r":\d+$")


@dataclasses.dataclass(slots=True)
class Digests:
    """What digests became.

    Attributes:
        files: Digest and size of blanked files, by the digest before.
        texts: Anything that is named by a digest, as text: records, the core, trees.
    """

    files: dict[str, tuple[str, int]] = dataclasses.field(default_factory=dict)
    texts: dict[str, str] = dataclasses.field(default_factory=dict)

    def note(self, before: bytes, after: bytes) -> None:
        """Take down what became of a file."""
        if before != after:
            self.files[sha256_bytes(before)] = (sha256_bytes(after), len(after))

    def replace(self, data: bytes) -> bytes:
        """Return a text with digests replaced, written in full or without their algorithm."""
        known = {
            before.rpartition(":")[2].encode(): after.rpartition(":")[2].encode()
            for before, after in self.texts.items()
        }
        return _HEX.sub(lambda match: known.get(match[0], match[0]), data)


@dataclasses.dataclass(frozen=True, slots=True)
class RenamedRecord:
    """A record before and after.

    Attributes:
        launcher: Its launcher.
        before: Its digest in the artifact.
        after: Its digest in the copy.
    """

    launcher: str
    before: str
    after: str


def blank_records(
    source: Path, target: Path, finder: Finder, digests: Digests
) -> list[RenamedRecord]:
    """Blank the evidence of an artifact into that of its copy.

    Args:
        source: Root of the artifact.
        target: Root of the copy, whose files are blanked already, those of the evidence too.
        finder: Finds what identifies.
        digests: What digests became; the records are added.

    Raises:
        CorruptError: A record cannot be read.
    """
    store = EvidenceStore(source / layout.EVIDENCE_DIR)
    copied = EvidenceStore(target / layout.EVIDENCE_DIR)
    addresses: dict[str, str] = {}
    renamed = []
    for stored in store.records():
        place = stored.directory.relative_to(source)
        folder = target / place
        record = json.loads((stored.directory / RECORD).read_bytes())
        texts = _texts(finder, addresses)
        changed = _record(record, digests, texts)
        events = [_event(event, texts) for event in read_events(stored.directory / EVENTS)]
        changed["events"] = write_events(folder / EVENTS, events)
        _streams(changed, folder)
        after = canonical.digest(changed)
        (folder / RECORD).unlink(missing_ok=True)
        if after == stored.digest:
            atomic_write(folder / RECORD, canonical.dumps(changed) + b"\n")
            continue
        moved = _new_place(copied.root / record["launcher"]["id"], after)
        atomic_write(folder / RECORD, canonical.dumps(changed) + b"\n")
        folder.rename(moved)
        renamed.append(RenamedRecord(record["launcher"]["id"], stored.digest, after))
        digests.texts[stored.digest] = after
        digests.texts.setdefault(place.name, moved.name)
    return renamed


def _new_place(folder: Path, digest: str) -> Path:
    name = digest.removeprefix("sha256:")
    short = folder / name[:16]
    return folder / name if short.exists() else short


def _texts(finder: Finder, addresses: dict[str, str]) -> Callable[[str, str], str]:
    """Return what blanks one text of a record, by the key that it stands under."""

    def blank(key: str, text: str) -> str:
        if key in {"network_attempts", "address"}:
            return _address(text, addresses)
        if key == "kernel":
            text = _KERNEL.sub(r"\1", text)
        return finder.replace(text.encode("utf-8", "surrogatepass")).decode(
            "utf-8", "surrogatepass"
        )

    return blank


def _address(text: str, known: dict[str, str]) -> str:
    """Return a neutral word for an address of the network; this machine itself is none."""
    port = _PORT.search(text)
    host = _PORT.sub("", text).strip("[]")
    if host in _LOCAL or host.startswith(("/", "@", "unix:")):
        return text
    try:
        if ipaddress.ip_address(host).is_loopback:
            return text
    except ValueError:
        pass
    word = known.setdefault(host, f"address{len(known) + 1}")
    return word + (port[0] if port else "")


def _record(record: Mapping[str, Any], digests: Digests, texts: Callable[[str, str], str]) -> Any:
    changed = _walk(record, "", texts)
    changed["core"] = digests.texts.get(record["core"], record["core"])
    for entry in (changed["launcher"], *changed["inputs"], *changed["outputs"]):
        after = digests.files.get(entry["sha256"])
        if after is not None:
            entry["sha256"] = after[0]
            if "size" in entry:
                entry["size"] = after[1]
    lock = digests.files.get(changed["environment"]["lock"])
    if lock is not None:
        changed["environment"]["lock"] = lock[0]
    for name in ("inputs", "outputs"):
        changed[name].sort(key=lambda entry: entry["path"].encode())
    return changed


def _streams(record: dict[str, Any], folder: Path) -> None:
    """Give the record the digests of its streams as they are now."""
    for name in ("stdout", "stderr"):
        path, stream = folder / f"{name}.txt", record[name]
        if not path.is_file():
            continue
        now = sha256_file(path)
        if now != stream["sha256"]:
            stream["sha256"] = now
            if not stream["truncated"]:
                stream["bytes"] = path.stat().st_size


def _event(event: Mapping[str, Any], texts: Callable[[str, str], str]) -> dict[str, Any]:
    kept = {key: value for key, value in event.items() if key not in {"seq", "prev"}}
    changed: dict[str, Any] = _walk(kept, "", texts)
    return changed


def _walk(value: Any, key: str, texts: Callable[[str, str], str]) -> Any:
    """Blank every text of a value, keys of free maps included."""
    if isinstance(value, dict):
        return {
            (texts("", name) if key == "parameters" else name): _walk(inner, name, texts)
            for name, inner in value.items()
        }
    if isinstance(value, list):
        return [_walk(item, key, texts) for item in value]
    return texts(key, value) if isinstance(value, str) else value
