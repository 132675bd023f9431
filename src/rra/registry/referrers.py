"""Statements on a bundle in a registry: listed, checked, and kept where no API lists them.

Where a registry has no referrers API, a tag holds the list, which every writer replaces. So that
nothing is lost, each statement also has a tag of its own: collection of garbage leaves it alone
(distribution 2.8 takes what only an index names), and whoever writes the list next to another
writer sees what is missing in it and writes once more.

Source: OCI Distribution Specification 1.1, Listing Referrers, Referrers Tag Schema, Pushing
Manifests with Subject.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import threading
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from rra.bundle.jsonio import parse_json
from rra.bundle.names import printable
from rra.bundle.referrers import (
    MAX_REFERRERS,
    Referring,
    companion_tag,
    fallback_tag,
    is_manifest,
    read_referring,
    referrer_of,
    unlisted_companions,
)
from rra.bundle.store import (
    INDEX_TYPE,
    MAX_MANIFEST_BYTES,
    Descriptor,
    parse_descriptor,
)
from rra.errors import FormatError, LoginError, RegistryError
from rra.registry.failures import UnknownBlobError
from rra.registry.manifests import LIST_BYTES, Manifests
from rra.registry.parallel import Stop, run_all

if TYPE_CHECKING:
    import requests

WRITES = 3
"""How often the list of a registry without the API is written before we give up."""


Unlisted = dict[str, list[Descriptor]]
"""Statements that are to be listed, by the digest of what they are about."""


class _NoListError(Exception):
    """The registry has no referrers API; never leaves this module."""


@dataclasses.dataclass(frozen=True, slots=True)
class Referrers:
    """The statements in one repository.

    Attributes:
        manifests: Its manifests.
    """

    manifests: Manifests

    @property
    def _name(self) -> str:
        return self.manifests.name

    def of(self, digest: str, artifact_type: str | None) -> list[Descriptor]:
        """Return the statements on a manifest, sorted by digest; see `BlobStore.referrers`.

        Raises:
            CorruptError: A manifest is not what its digest says.
            FormatError: A list is none.
            RegistryError: The registry does not answer, refuses, or lists without measure.
        """
        try:
            entries = [
                entry
                for entry in self._ask(digest, artifact_type)
                if None in {artifact_type, entry.artifact_type}
                or entry.artifact_type == artifact_type
            ]
        except _NoListError:
            # What clients write there about a kind is not to be relied on: cosign 2.5 puts the
            # type of the config. Each manifest is asked.
            entries = list(self._distinct(self._fallback(digest).get("manifests"), digest))
        budget = _Budget(Stop())
        calls = [functools.partial(self._checked, digest, entry, budget) for entry in entries]
        found = [one for one in run_all(calls, budget.stop) if one is not None]
        wanted = [one for one in found if artifact_type in {None, one.artifact_type}]
        return sorted(wanted, key=lambda one: one.digest)

    def put(self, data: bytes, subject: Descriptor) -> Descriptor:
        """Keep a statement; where the registry lists none, in a list and under a tag of its own.

        Raises:
            FormatError: The bytes name another subject, or are no manifest.
            UnknownBlobError: The registry does not have all that the manifest names.
            RegistryError: The registry does not answer, refuses, or others write all the time.
        """
        unlisted: Unlisted = {}
        descriptor = self.keep(data, subject, unlisted)
        self.enter(unlisted)
        return descriptor

    def keep(self, data: bytes, subject: Descriptor, unlisted: Unlisted) -> Descriptor:
        """Keep a statement, under a tag of its own where the registry lists none.

        Args:
            data: Bytes of its manifest.
            subject: What it is about.
            unlisted: Gets the statement in the second case; `enter` has to follow.

        Raises:
            FormatError: The bytes name another subject, or are no manifest.
            UnknownBlobError: The registry does not have all that the manifest names.
            RegistryError: The registry does not answer, or refuses.
        """
        descriptor = referrer_of(data, subject)
        kept = self.manifests.put(data, None, descriptor.media_type)
        if kept.subject != subject.digest:
            tag = companion_tag(subject.digest, descriptor.digest)
            self.manifests.put(data, tag, descriptor.media_type)
            unlisted.setdefault(subject.digest, []).append(descriptor)
        return descriptor

    def enter(self, unlisted: Unlisted) -> None:
        """Have statements in the lists that tags hold: read, modify, write, and look again.

        A list is good when it has ours and all that have a tag of their own. That tag was there
        before its writer read the list, so of two writers the later one sees the other's.

        Raises:
            FormatError: What the tag of a list holds is none.
            RegistryError: The registry does not answer, refuses, or others write all the time.
        """
        for subject, ours in unlisted.items():
            self._list(subject, ours)

    # -------------------------------------------------------------------------- reading

    def _ask(self, digest: str, artifact_type: str | None) -> list[Descriptor]:
        """Return what the referrers API lists."""

        def goes_on(answer: requests.Response) -> bool:
            kind = answer.headers.get("Content-Type", "").partition(";")[0].strip()
            if answer.status_code == 200 and kind == INDEX_TYPE:
                return True
            # Also a login refused: the repository was read before, so it is the address that
            # the registry does not know. 408 and 429 are asked again and then refused.
            if answer.status_code in {200, *range(400, 500)} - {408, 429}:
                raise _NoListError
            raise self.manifests.registry.refusal(answer, f"list the statements in {self._name}")

        query = f"?artifactType={quote(artifact_type, safe='')}" if artifact_type else ""
        url = self.manifests.url(f"referrers/{digest}{query}")
        found: dict[str, Descriptor] = {}
        for page in self.manifests.pages(url, "statements", goes_on, optional=True):
            listed = parse_json(page, f"{self._name}: list of statements").get("manifests")
            found |= {entry.digest: entry for entry in self._distinct(listed, digest)}
            self._limit(len(found), digest)
        return list(found.values())

    def _distinct(self, listed: object, digest: str) -> Iterator[Descriptor]:
        """Yield the descriptors of a list, each digest once; what is none is left out."""
        if not isinstance(listed, list):
            message = f"{self._name}: the list of statements on {digest} is none"
            raise FormatError(message, hint="ask who runs the registry")
        self._limit(len(listed), digest)
        seen: set[str] = set()
        for number, value in enumerate(listed):
            try:
                entry = parse_descriptor(value, f"/manifests/{number}", "list of statements")
            except FormatError as error:
                self._leave(error.message)
                continue
            if entry.digest not in seen:
                seen.add(entry.digest)
                yield entry

    def _limit(self, count: int, digest: str) -> None:
        if count > MAX_REFERRERS:
            message = f"{self._name} lists more than {MAX_REFERRERS} statements on {digest}"
            hint = "nobody attaches that many; rra copy --no-referrers leaves them behind"
            raise RegistryError(message, hint=hint)

    def _checked(self, digest: str, entry: Descriptor, budget: _Budget) -> Descriptor | None:
        """Read an entry's manifest; None, and a line, where it is no statement on the subject."""
        budget.stop.check()
        if not is_manifest(entry):
            self._leave(f"{entry.digest} is listed as {entry.media_type}")
            return None
        if entry.size > MAX_MANIFEST_BYTES:
            self._leave(f"{entry.digest} has {entry.size} bytes")
            return None
        found = self.manifests.find(entry.digest)
        if found is None:
            self._leave(f"{entry.digest} is listed and not there")
            return None
        if not budget.spend(len(found[0])):
            message = f"{self._name} has more than {LIST_BYTES} bytes of statements on {digest}"
            raise RegistryError(message, hint="rra copy --no-referrers leaves them behind")
        try:
            said = read_referring(*found)
        except FormatError as error:
            self._leave(error.message)
            return None
        if said.subject != digest:
            self._leave(f"{entry.digest} is about {said.subject or 'nothing'}, not about {digest}")
            return None
        return said.descriptor

    def _leave(self, why: str) -> None:
        line = f"{self._name}: left out of the statements: {why}"
        self.manifests.registry.notice(printable(line[:400]))

    def _fallback(self, digest: str) -> dict[str, Any]:
        """Return the list that a tag holds; an empty one where there is none."""
        tag = fallback_tag(digest)
        found = self.manifests.find(tag)
        if found is None:
            return {"schemaVersion": 2, "mediaType": INDEX_TYPE, "manifests": []}
        data, descriptor = found
        document = parse_json(data, f"{self._name}:{tag}")
        if descriptor.media_type != INDEX_TYPE or not isinstance(document.get("manifests"), list):
            message = f"{self._name}:{tag} is no list of statements, which that tag is for"
            raise FormatError(message, hint="remove the tag, or ask who put it there")
        return document

    # -------------------------------------------------------------------------- writing

    def _list(self, subject: str, ours: Sequence[Descriptor]) -> None:
        for attempt in range(WRITES + 1):
            document = self._fallback(subject)
            missing = self._missing(document, subject, ours)
            if not missing:
                return
            if attempt == WRITES:
                break
            self._write(document, [entry.to_json() for entry in missing], subject)
        message = (
            f"{self._name}:{fallback_tag(subject)} was replaced by somebody else {WRITES} times,"
            f" without {missing[0].digest}"
        )
        raise RegistryError(message, hint="run the same command again when they are done")

    def _missing(
        self, document: dict[str, Any], subject: str, ours: Sequence[Descriptor]
    ) -> Sequence[Descriptor]:
        """Return the statements that a list should have and has not."""
        listed = {entry.digest for entry in self._distinct(document["manifests"], subject)}
        missing = {one.digest: one for one in ours if one.digest not in listed}
        try:
            tags = self.manifests.tags()
        except (RegistryError, LoginError):
            tags = set()  # not everybody who may push may list; then ours is what counts
        unlisted = unlisted_companions(tags, subject, {*listed, *missing})
        for tag in unlisted[:MAX_REFERRERS]:
            said = self._companion(tag)
            if said is not None and said.subject == subject:
                missing[said.descriptor.digest] = said.descriptor
        return [one for one in missing.values() if one.digest not in listed]

    def _companion(self, tag: str) -> Referring | None:
        """Return what the manifest under a tag says; anybody who may push can set such a tag."""
        found = self.manifests.find(tag)
        try:
            return None if found is None else read_referring(*found)
        except FormatError:
            return None

    def _write(self, document: dict[str, Any], missing: list[dict[str, Any]], subject: str) -> None:
        """Write a list with more entries; those of the old one that are gone are dropped."""
        kept = document["manifests"]
        self._limit(len(kept) + len(missing), subject)
        try:
            self._put_list(document, [*kept, *missing], subject)
        except UnknownBlobError:
            there = [
                raw
                for raw, entry in zip(kept, map(_loosely, kept), strict=True)
                if entry is not None and self.manifests.find(entry.digest) is not None
            ]
            if len(there) == len(kept):
                raise
            self._put_list(document, [*there, *missing], subject)

    def _put_list(
        self, document: dict[str, Any], entries: list[dict[str, Any]], subject: str
    ) -> None:
        text = json.dumps({**document, "manifests": entries}, ensure_ascii=False, sort_keys=True)
        data = text.encode()
        if len(data) > MAX_MANIFEST_BYTES:
            message = f"{self._name}:{fallback_tag(subject)} would have {len(data)} bytes"
            raise RegistryError(message, hint="remove statements that nobody needs")
        self.manifests.put(data, fallback_tag(subject), INDEX_TYPE)


class _Budget:
    """What manifests that are read together may have in bytes.

    Args:
        stop: Ends the reading of the others.
    """

    def __init__(self, stop: Stop) -> None:
        self.stop = stop
        self._left = LIST_BYTES
        self._lock = threading.Lock()

    def spend(self, size: int) -> bool:
        """Take so many bytes; tell whether they were there."""
        with self._lock:
            self._left -= size
            return self._left >= 0


def _loosely(value: object) -> Descriptor | None:
    try:
        return parse_descriptor(value, "", "list of statements")
    except FormatError:
        return None
