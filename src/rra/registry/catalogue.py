"""Catalogues: a repository that says which bundles there are, since hosted registries do not.

The list is one JSON document under a tag. Registries have no compare-and-swap, so two pushes at
once can each replace what the other wrote. Therefore each entry also has a tag of its own, which
is written first and never replaced by another entry: the list is what can be read at once, and
what it lacks is taken from those tags by the next reader and the next writer.
"""

from __future__ import annotations

import dataclasses
import hashlib
import re
from collections.abc import Iterable, Mapping
from typing import Any

from rra._base import canonical
from rra._base.files import sha256_bytes
from rra.bundle.jsonio import parse_json
from rra.bundle.reference import RegistryReference, is_digest, parse_reference
from rra.bundle.store import MANIFEST_TYPE, Descriptor, parse_descriptor, read_blob
from rra.errors import FormatError, RegistryError, UsageError
from rra.registry.failures import UnknownBlobError
from rra.registry.manifests import Manifests
from rra.registry.store import RegistryStore

CATALOG_TYPE = "application/vnd.rra.catalog.v1+json"
DEFAULT_TAG = "catalog"

_TYPE = "rra-catalog/v1"
_EMPTY = ("application/vnd.oci.empty.v1+json", b"{}")
_MAX_BYTES = 64 << 20
_MAX_TEXT = 1000
_UNLISTED = 1000
_WRITES = 5
_SENDINGS = 4
_ENTRY_TAG = re.compile(r"rra-entry-([0-9a-f]{32})-([1-9][0-9]{0,8})")


@dataclasses.dataclass(frozen=True, slots=True)
class Entry:
    """One bundle as a catalogue has it: a hint where to look, never a proof of anything.

    Attributes:
        reference: ``HOST[:PORT]/REPOSITORY:TAG``.
        digest: Digest of its manifest when it was pushed.
        name: Name of the artifact.
        version: Its version.
        title: Its title; the name where it has none.
        core: Its core.
        number: How often an entry for the reference was written.
    """

    reference: str
    digest: str
    name: str
    version: str
    title: str
    core: str
    number: int = 1

    def to_json(self) -> dict[str, Any]:
        """Return the entry as a catalogue has it."""
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}

    def says_the_same(self, other: Entry | None) -> bool:
        """Tell whether two entries differ in nothing but their number."""
        return other is not None and dataclasses.replace(other, number=self.number) == self


@dataclasses.dataclass(frozen=True, slots=True)
class Catalogue:
    """What a catalogue says.

    Attributes:
        entries: The entries by reference.
        unusable: How many entries are none.
        descriptor: Manifest of the list; None where there is no list yet.
    """

    entries: Mapping[str, Entry]
    unusable: int = 0
    descriptor: Descriptor | None = None

    def sorted(self) -> list[Entry]:
        """Return the entries by reference."""
        return [self.entries[reference] for reference in sorted(self.entries)]


class CatalogueStore:
    """A catalogue in a repository of a registry.

    Args:
        store: The repository; its reference names the tag, `DEFAULT_TAG` by default.
    """

    def __init__(self, store: RegistryStore) -> None:
        self._store = store
        self.tag = store.reference.tag or DEFAULT_TAG
        repository = store.reference.repository
        self._manifests = Manifests(store.registry, repository, store.name)

    @property
    def name(self) -> str:
        """Host, repository and tag."""
        return f"{self._store.name}:{self.tag}"

    def read(self) -> Catalogue:
        """Return all entries: those of the list, and those that it lacks.

        Raises:
            UsageError: What has the tag is no catalogue.
            FormatError: The list is larger than any, or no JSON.
            CorruptError: It is not what its digest says.
            RegistryError: The registry does not answer, or refuses.
        """
        return self._completed(self._list(), self._entry_tags())

    def add(self, entry: Entry) -> Catalogue:
        """Put an entry in, in the place of one for the same reference; none is lost.

        Raises:
            UsageError: What has the tag is no catalogue; nothing is changed.
            RegistryError: The registry does not answer, or refuses.
        """
        listed = self._list()
        tags = self._entry_tags()
        known = self._completed(listed, tags)
        old = known.entries.get(entry.reference)
        if entry.says_the_same(old) and entry.says_the_same(listed.entries.get(entry.reference)):
            return listed
        number = max(tags.get(_key(entry.reference), 0), old.number if old else 0) + 1
        entry = dataclasses.replace(entry, number=number)
        self._write([entry], f"rra-entry-{_key(entry.reference)}-{number}")
        for _ in range(_WRITES):
            merged = {**self.read().entries, entry.reference: entry}
            self._write(merged.values(), self.tag)
            now = self._list()
            found = now.entries.get(entry.reference)
            if found is not None and found.number >= number:
                return now
        self._store.registry.notice(
            f"{self.name} is written by others all the time; the entry has a tag of its own"
        )
        return self._list()

    def _list(self) -> Catalogue:
        """Return what the list says; no entries where there is none."""
        found = self._document(self.tag)
        if found is None:
            return Catalogue({})
        entries, unusable, descriptor = found
        return Catalogue({entry.reference: entry for entry in entries}, unusable, descriptor)

    def _entry_tags(self) -> dict[str, int]:
        """Return the highest number of each entry that has a tag, by the key of its reference."""
        try:
            tags = self._manifests.tags()
        except RegistryError as error:
            self._store.registry.notice(f"{error.message}; the list of entries has to do")
            return {}
        found: dict[str, int] = {}
        for tag in tags:
            if named := _ENTRY_TAG.fullmatch(tag):
                found[named[1]] = max(found.get(named[1], 0), int(named[2]))
        return found

    def _completed(self, listed: Catalogue, tags: Mapping[str, int]) -> Catalogue:
        """Add to a list the entries that have a tag and that it lacks."""
        known = {_key(entry.reference): entry.number for entry in listed.entries.values()}
        lacking = sorted(key for key, number in tags.items() if number > known.get(key, 0))
        if len(lacking) > _UNLISTED:
            message = f"{self.name} lacks {len(lacking)} entries; the first {_UNLISTED} are read"
            self._store.registry.notice(message)
        entries, unusable = dict(listed.entries), listed.unusable
        for key in lacking[:_UNLISTED]:
            found = self._document(f"rra-entry-{key}-{tags[key]}")
            for entry in found[0] if found is not None else ():
                if _key(entry.reference) == key:
                    entries[entry.reference] = entry
        return Catalogue(entries, unusable, listed.descriptor)

    def _document(self, tag: str) -> tuple[list[Entry], int, Descriptor] | None:
        """Return the usable entries of a document, how many are not, and its manifest."""
        manifest = self._manifests.find(tag)
        if manifest is None:
            return None
        data, descriptor = manifest
        name = f"{self._store.name}:{tag}"
        layer = _layer(data, name)
        listed = parse_json(read_blob(self._store, layer, _MAX_BYTES), name).get("entries")
        if not isinstance(listed, list):
            raise FormatError(f"{name} lists no entries", hint="it was not written by rra push")
        entries = [entry for value in listed if (entry := _entry(value)) is not None]
        return entries, len(listed) - len(entries), descriptor

    def _write(self, entries: Iterable[Entry], tag: str) -> None:
        """Write a document of entries, sorted, and the manifest that names it."""
        ordered = sorted(entries, key=lambda entry: entry.reference)
        document = {"type": _TYPE, "entries": [entry.to_json() for entry in ordered]}
        blobs = [_EMPTY, (CATALOG_TYPE, canonical.dumps(document))]
        config, layer = [Descriptor(kind, sha256_bytes(data), len(data)) for kind, data in blobs]
        manifest = {
            "schemaVersion": 2,
            "mediaType": MANIFEST_TYPE,
            "artifactType": CATALOG_TYPE,
            "config": config.to_json(),
            "layers": [layer.to_json()],
        }
        for attempt in range(1, _SENDINGS + 1):
            for descriptor, (_, data) in zip((config, layer), blobs, strict=True):
                if attempt > 1 or not self._store.has(descriptor.digest):
                    self._store.put_blob(descriptor, [data])
            try:
                self._manifests.put(canonical.dumps(manifest), tag, MANIFEST_TYPE)
            except UnknownBlobError:
                # distribution 2.8 forgets a blob for a moment while somebody else sends it too.
                if attempt == _SENDINGS:
                    raise
            else:
                return


def _key(reference: str) -> str:
    """Return what stands for a reference in the tag of its entry."""
    return hashlib.sha256(reference.encode()).hexdigest()[:32]


def _layer(data: bytes, name: str) -> Descriptor:
    """Return the document of a catalogue's manifest."""
    manifest = parse_json(data, f"manifest of {name}")
    layers = manifest.get("layers")
    if manifest.get("artifactType") != CATALOG_TYPE:
        message = f"{name} holds something else than a catalogue"
        raise UsageError(message, hint="name another repository or tag; nothing was changed")
    if not isinstance(layers, list) or len(layers) != 1:
        raise FormatError(f"{name} has no single document", hint="it was not written by rra push")
    return parse_descriptor(layers[0], "/layers/0", f"manifest of {name}")


def _entry(value: Any) -> Entry | None:
    """Read an entry; None for one that cannot be used."""
    if not isinstance(value, dict):
        return None
    texts = {
        name: value.get(name)
        for name in ("reference", "digest", "name", "version", "title", "core")
    }
    number = value.get("number", 1)
    if not all(isinstance(text, str) and len(text) <= _MAX_TEXT for text in texts.values()):
        return None
    if not isinstance(number, int) or isinstance(number, bool) or not 0 < number < 10**9:
        return None
    entry = Entry(**{name: str(text) for name, text in texts.items()}, number=number)
    if not (is_digest(entry.digest) and is_digest(entry.core)):
        return None
    try:
        named = parse_reference(entry.reference)
    except UsageError:
        return None
    whole = isinstance(named, RegistryReference) and named.tag and not named.digest
    return entry if whole and str(named) == entry.reference else None
