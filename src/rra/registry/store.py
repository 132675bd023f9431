"""Bundles in a registry: blobs and manifests over HTTP, verified and streamed.

Source: OCI Distribution Specification 1.1.
"""

from __future__ import annotations

import contextlib
import hashlib
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO
from urllib.parse import quote

import urllib3.exceptions
from oras.container import Container

from rra._base.files import storage_errors
from rra.bundle.reference import RegistryReference, is_digest
from rra.bundle.referrers import is_reserved_tag
from rra.bundle.store import MANIFEST_TYPE, Descriptor, verified
from rra.errors import CorruptError, RegistryError, UsageError
from rra.registry.body import Body
from rra.registry.failures import DAMAGED, broke, host_of, plain_body, unreachable
from rra.registry.manifests import Manifests
from rra.registry.parallel import DigestLocks
from rra.registry.pieces import PiecesRefusedError, PiecewiseUpload
from rra.registry.policy import BLOCK, RETRIED
from rra.registry.provider import OriginRegistry, challenged
from rra.registry.referrers import Referrers, Unlisted

if TYPE_CHECKING:
    import requests

_OCTETS = "application/octet-stream"
_TAGS_SHOWN = 8


class RegistryStore:
    """One repository of a registry as a `rra.bundle.store.BlobStore`.

    A tag is looked up once; from then on the digest that it gave is what is read.

    Args:
        reference: Repository, and the tag or digest that `get_manifest` falls back to.
        registry: Conversation with the registry.
    """

    def __init__(self, reference: RegistryReference, registry: OriginRegistry) -> None:
        self.reference = reference
        self.registry = registry
        self._locks = DigestLocks()
        netloc = registry.origin.netloc
        self._container = Container(f"{netloc}/{reference.repository}")
        if (self._container.registry, self._container.api_prefix) != (netloc, reference.repository):
            message = f"{reference} cannot be said to a registry"
            raise UsageError(message, hint="write HOST[:PORT]/REPOSITORY:TAG")
        self._manifests = Manifests(registry, reference.repository, self.name)

    @property
    def name(self) -> str:
        """Host and repository."""
        return f"{self.reference.origin}/{self.reference.repository}"

    @property
    def _reading(self) -> str:
        return f"read {self.name}"

    @property
    def _pushing(self) -> str:
        return f"push to {self.name}"

    def has(self, digest: str) -> bool:
        """Tell whether the repository has a blob; its bytes are not looked at.

        Raises:
            RegistryError: The registry does not answer, or with an error.
        """
        url = self._url(self._container.get_blob_url(_digest(digest)))
        with self.registry.request("HEAD", url) as answer:
            if answer.status_code not in {200, 404}:
                raise self.registry.refusal(answer, f"use {self.name}")
            return answer.status_code == 200

    @contextlib.contextmanager
    def open(self, descriptor: Descriptor) -> Iterator[BinaryIO]:
        """Give the bytes of a blob, verified by the time the context ends without error.

        Raises:
            CorruptError: The blob is missing, or not of that size and digest.
            RegistryError: The registry does not answer, or breaks off.
        """
        with (
            self.read_from(descriptor, 0) as (_, wire),
            verified(wire, descriptor, self.name) as stream,
        ):
            yield stream

    @contextlib.contextmanager
    def read_from(self, descriptor: Descriptor, offset: int) -> Iterator[tuple[int, Wire]]:
        """Give the bytes of a blob from a place on, and the place they really begin at.

        That is the start where the registry takes no ranges. Nothing is verified, except what
        the registry itself says of the size.

        Raises:
            CorruptError: The blob is missing, or said to be of another size.
            BrokenOffError: The connection breaks while the bytes are read.
            RegistryError: The registry does not answer, or refuses.
        """
        url = self._url(self._container.get_blob_url(_digest(descriptor.digest)))
        wanted = {"Range": f"bytes={offset}-"} if offset else {}
        answer = self.registry.request("GET", url, headers=wanted)
        if wanted and not is_rest(answer, offset):
            if answer.status_code in {206, 416}:
                answer.close()
                answer = self.registry.request("GET", url)
            offset = 0
        with answer:
            if answer.status_code == 404:
                message = f"blob {descriptor.digest} is missing in {self.name}"
                raise CorruptError(message, hint="push the bundle again from where it is whole")
            if answer.status_code != (206 if offset else 200):
                raise self.registry.refusal(answer, self._reading)
            plain_body(answer, "a blob")
            _check_length(answer, descriptor, offset, self.name)
            yield offset, Wire(answer)

    def put(self, chunks: Iterable[bytes], media_type: str) -> Descriptor:
        """Keep a blob whose digest is not known yet, unless the repository has it.

        It passes through a temporary file, since a registry wants its digest and size first.

        Raises:
            RegistryError: The registry does not answer, refuses, or breaks off.
        """
        with storage_errors(Path(tempfile.gettempdir())), tempfile.TemporaryFile() as spool:
            state, size = hashlib.sha256(), 0
            for chunk in chunks:
                state.update(chunk)
                size += spool.write(chunk)
            descriptor = Descriptor(media_type, "sha256:" + state.hexdigest(), size)
            if not self.has(descriptor.digest):
                self.put_blob(descriptor, _Spooled(spool))
        return descriptor

    def mount(self, descriptor: Descriptor, chunks: Iterable[bytes], repository: str) -> bool:
        """Keep a blob that another repository of the registry has.

        Args:
            descriptor: What the chunks are.
            chunks: The bytes, which are sent where the registry does not take them over itself.
            repository: The other repository.

        Returns:
            Whether nothing had to be sent.

        Raises:
            CorruptError: The chunks are not that blob; nothing is kept.
            RegistryError: The registry does not answer, refuses, or breaks off.
        """
        url = self._url(self._container.upload_blob_url())
        query = f"mount={_digest(descriptor.digest)}&from={quote(repository, safe='')}"
        with self._locks.holding(descriptor.digest):
            answer = self.registry.request("POST", f"{url}?{query}")
            answer.close()
        if answer.status_code == 201:
            return True
        # Otherwise an upload was begun or refused; put_blob begins its own.
        self.put_blob(descriptor, chunks)
        return False

    def put_blob(self, descriptor: Descriptor, chunks: Iterable[bytes]) -> None:
        """Keep a blob whose digest is known; whether the repository has it is not asked.

        Args:
            descriptor: What the chunks are.
            chunks: The bytes. An iterable that can be iterated again is sent again where the
                connection broke; an iterator cannot be.

        Raises:
            CorruptError: The chunks are not that blob; nothing is kept.
            RegistryError: The registry does not answer, refuses, or breaks off.
        """
        _digest(descriptor.digest)
        once = iter(chunks) is chunks
        attempts = 1 if once else self.registry.policy.attempts
        with self._locks.holding(descriptor.digest):
            large = descriptor.size >= self.registry.policy.pieces_from
            if large and not once and self._upload_in_pieces(descriptor, chunks):
                return
            for attempt in range(1, attempts + 1):
                if self._upload(descriptor, chunks, attempt, last=attempt == attempts):
                    return

    def get_manifest(self, reference: str | None) -> tuple[bytes, Descriptor]:
        """Return the bytes of a manifest and their descriptor, verified.

        Args:
            reference: A tag or a digest; None for what the store was opened with, or else the
                only tag.

        Raises:
            UsageError: There is none, or more than one, of that name.
            CorruptError: The bytes are not those of the digest, or of the registry's own.
            RegistryError: The registry does not answer, or with an error.
        """
        wanted = reference or self.reference.digest or self.reference.tag or self._only_tag()
        found = self._manifests.find(wanted)
        if found is None:
            raise self._no_manifest(wanted)
        if not is_digest(wanted):
            self.registry.notice(f"{self.name}:{wanted} is {found[1].digest}")
        return found

    def put_manifest(
        self, data: bytes, tag: str | None, *, media_type: str = MANIFEST_TYPE
    ) -> Descriptor:
        """Keep a manifest under a tag, or under its digest alone, after everything it names.

        Raises:
            CorruptError: The registry says that it kept other bytes.
            UnknownBlobError: It does not have all that the manifest names.
            RegistryError: The registry does not answer, or refuses.
        """
        return self._manifests.put(data, tag, media_type).descriptor

    def tags(self) -> list[str]:
        """Return the tags of bundles, sorted; none where there is no such repository.

        Raises:
            RegistryError: The registry does not answer, or with something that is no list.
        """
        return sorted(tag for tag in self._manifests.tags() if not is_reserved_tag(tag))

    def referrers(self, digest: str, artifact_type: str | None = None) -> list[Descriptor]:
        """Return the statements on a manifest; see `BlobStore.referrers`.

        What a list names and is no statement on it is left out, and said to the user.

        Raises:
            CorruptError: A manifest is not what its digest says.
            FormatError: A list is none.
            RegistryError: The registry does not answer, refuses, or lists without measure.
        """
        return Referrers(self._manifests).of(_digest(digest), artifact_type)

    def put_referrer(self, data: bytes, subject: Descriptor) -> Descriptor:
        """Keep a statement on a manifest; see `rra.registry.referrers`.

        Raises:
            FormatError: The bytes name another subject, or are no manifest.
            UnknownBlobError: The registry does not have all that the manifest names.
            RegistryError: The registry does not answer, refuses, or others write all the time.
        """
        return Referrers(self._manifests).put(data, subject)

    def keep_referrer(self, data: bytes, subject: Descriptor, unlisted: Unlisted) -> Descriptor:
        """Keep one of several statements, which `enter_referrers` has to list in the end.

        Raises:
            FormatError: The bytes name another subject, or are no manifest.
            UnknownBlobError: The registry does not have all that the manifest names.
            RegistryError: The registry does not answer, or refuses.
        """
        return Referrers(self._manifests).keep(data, subject, unlisted)

    def enter_referrers(self, unlisted: Unlisted) -> None:
        """List statements where the registry does not do so by itself.

        Raises:
            FormatError: What the tag of a list holds is none.
            RegistryError: The registry does not answer, refuses, or others write all the time.
        """
        Referrers(self._manifests).enter(unlisted)

    @contextlib.contextmanager
    def writing(self) -> Iterator[None]:
        """Bracket all writes of one bundle.

        A registry shows nothing before the manifest is there, which comes last, and collects
        blobs that no manifest names.
        """
        yield

    def _url(self, path: str) -> str:
        return f"{self.registry.prefix}://{path}"

    def _begin(self) -> str:
        """Begin an upload; return where it goes."""
        start = self.registry.request("POST", self._url(self._container.upload_blob_url()))
        if start.status_code not in {201, 202}:
            raise self.registry.refusal(start, self._pushing)
        start.close()
        return self.registry.elsewhere(start)

    def _upload_in_pieces(self, descriptor: Descriptor, chunks: Iterable[bytes]) -> bool:
        """Send a large blob so that it can go on where it broke; False where that is refused."""
        upload = PiecewiseUpload(self.registry, self._begin(), descriptor, chunks, self.name)
        try:
            target = _ending(upload.send(), descriptor)
        except PiecesRefusedError:
            return False
        try:
            answer = self.registry.request("PUT", target, headers={"Content-Type": _OCTETS})
        except RegistryError as error:
            if not broke(error):
                raise
        else:
            answer.close()
            if answer.status_code in {201, 204}:
                return True
        # The answer may have been lost, or the registry had ended the upload by itself.
        return self.has(descriptor.digest)

    def _upload(
        self, descriptor: Descriptor, chunks: Iterable[bytes], attempt: int, *, last: bool
    ) -> bool:
        """Send a blob once (POST, then PUT); False when it is worth another attempt."""
        target = _ending(self._begin(), descriptor)
        body = Body(descriptor, chunks, self.name)
        answer: requests.Response | None = None
        try:
            answer = self.registry.request(
                "PUT",
                target,
                headers={"Content-Type": _OCTETS},
                body=body if body.len else body.read(),
            )
        except RegistryError as error:
            if last or not broke(error):
                raise
        finally:
            body.close()
        if answer is not None:
            if answer.status_code in {201, 204}:
                answer.close()
                return True
            if challenged(answer) and not last and self.registry.renew(answer):
                return False
            if last or answer.status_code not in RETRIED:
                raise self.registry.refusal(answer, self._pushing)
        self.registry.pause(attempt, answer)
        return False

    def _only_tag(self) -> str:
        tags = self.tags()
        if len(tags) == 1:
            return tags[0]
        if not tags:
            raise UsageError(f"{self.name} has no tags", hint="check the name of the repository")
        hint = f"name one of its tags: {_few(tags)}"
        raise UsageError(f"{self.name} has {len(tags)} tags", hint=hint)

    def _no_manifest(self, wanted: str) -> UsageError:
        """Return the error for a tag or digest that the registry does not know."""
        tags = self.tags()
        hint = f"its tags: {_few(tags)}" if tags else "there is no such repository, or it is empty"
        return UsageError(f"{self.name} has no bundle {wanted}", hint=hint)


class _Spooled:
    """The chunks of a file, from its start each time."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def __iter__(self) -> Iterator[bytes]:
        self._file.seek(0)
        while block := self._file.read(BLOCK):
            yield block


class BrokenOffError(RegistryError):
    """A connection broke, or stalled, while bytes came."""


class Wire:
    """The bytes of an answer as they come; a broken connection is an error, never an end."""

    def __init__(self, answer: requests.Response) -> None:
        self._answer = answer

    def break_off(self) -> None:
        """End a read that another thread waits in; one that has just ended is left alone."""
        with contextlib.suppress(ValueError, OSError, AttributeError, RuntimeError):
            self._answer.raw.shutdown()

    def read(self, size: int, /) -> bytes:
        """Return the next bytes; nothing at the end.

        Raises:
            BrokenOffError: The connection broke, or stalled.
        """
        try:
            block: bytes = self._answer.raw.read(size, decode_content=False)
        except (urllib3.exceptions.HTTPError, OSError) as error:
            fault = unreachable(host_of(self._answer), error)
            raise BrokenOffError(fault.message, hint=fault.hint) from error
        return block


def _ending(location: str, descriptor: Descriptor) -> str:
    """Return the address that ends an upload."""
    return f"{location}{'&' if '?' in location else '?'}digest={descriptor.digest}"


def _digest(text: str) -> str:
    """Return a digest that may stand in an address."""
    if not is_digest(text):
        raise UsageError(f"{text[:80]!r} is not a digest")
    return text


def is_rest(answer: requests.Response, offset: int) -> bool:
    """Tell whether an answer begins at a place of the blob and says so (RFC 9110, 206)."""
    said = answer.headers.get("Content-Range", "").strip().lower()
    return answer.status_code == 206 and said.startswith(f"bytes {offset}-")


def _check_length(
    answer: requests.Response, descriptor: Descriptor, offset: int, where: str
) -> None:
    """Refuse a blob whose length is said to be another, before any of it is read."""
    length = answer.headers.get("Content-Length")
    if length is not None and length.strip() != str(descriptor.size - offset):
        rest = f" after {offset}" if offset else ""
        message = (
            f"blob {descriptor.digest} in {where} has another size: {length.strip()[:20]} bytes"
            f"{rest} where the manifest says {descriptor.size}"
        )
        raise CorruptError(message, hint=DAMAGED)


def _few(tags: list[str]) -> str:
    more = f" and {len(tags) - _TAGS_SHOWN} more" if len(tags) > _TAGS_SHOWN else ""
    return ", ".join(tags[:_TAGS_SHOWN]) + more
