"""Manifests and lists of a repository: small documents, whole and verified in memory.

Source: OCI Distribution Specification 1.1, Pulling manifests, Pushing manifests, Listing tags.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from rra.bundle.reference import is_digest, is_tag
from rra.bundle.store import (
    INDEX_TYPE,
    MANIFEST_TYPE,
    MAX_MANIFEST_BYTES,
    Descriptor,
    check_bytes,
)
from rra.errors import CorruptError, RegistryError
from rra.registry.failures import BrokenAnswerError, small_body
from rra.registry.origin import Origin
from rra.registry.provider import OriginRegistry

if TYPE_CHECKING:
    import requests

_DIGEST_HEADER = "Docker-Content-Digest"
_SUBJECT_HEADER = "OCI-Subject"
_PAGE_BYTES = 4 * 1024 * 1024
LIST_BYTES = 64 * 1024 * 1024
"""Most bytes of all pages of a list, and of all manifests that it names together."""


@dataclasses.dataclass(frozen=True, slots=True)
class Kept:
    """A manifest that the registry took.

    Attributes:
        descriptor: The manifest.
        subject: Digest of the subject that the registry noticed; None where it looks for none.
    """

    descriptor: Descriptor
    subject: str | None


@dataclasses.dataclass(frozen=True, slots=True)
class Manifests:
    """The manifests of one repository.

    Attributes:
        registry: Conversation with the registry.
        repository: Name of the repository.
        name: Host and repository, as messages call them.
    """

    registry: OriginRegistry
    repository: str
    name: str

    def url(self, path: str) -> str:
        """Return an address of the repository."""
        origin = self.registry.origin
        return f"{self.registry.prefix}://{origin.netloc}/v2/{self.repository}/{path}"

    def find(self, wanted: str) -> tuple[bytes, Descriptor] | None:
        """Return the bytes of a manifest and their descriptor, verified; None for none.

        Args:
            wanted: A tag or a digest.

        Raises:
            CorruptError: The bytes are not those of the digest, or of the registry's own.
            RegistryError: The registry does not answer, or with an error.
        """
        for attempt in range(1, self.registry.policy.attempts):
            with contextlib.suppress(BrokenAnswerError):
                return self._find(wanted)
            self.registry.pause(attempt, None)
        return self._find(wanted)

    def _find(self, wanted: str) -> tuple[bytes, Descriptor] | None:
        answer = self.registry.request(
            "GET",
            self.url(f"manifests/{wanted}"),
            headers={"Accept": f"{MANIFEST_TYPE}, {INDEX_TYPE}"},
        )
        with answer:
            if answer.status_code == 404:
                return None
            if answer.status_code != 200:
                raise self.registry.refusal(answer, f"read {self.name}")
            data = small_body(answer, MAX_MANIFEST_BYTES, "a manifest")
        media_type = answer.headers.get("Content-Type", "").partition(";")[0].strip()
        digest = "sha256:" + hashlib.sha256(data).hexdigest()
        descriptor = Descriptor(media_type or MANIFEST_TYPE, digest, len(data))
        self._check(data, descriptor, wanted, answer.headers.get(_DIGEST_HEADER))
        return data, descriptor

    def put(self, data: bytes, tag: str | None, media_type: str) -> Kept:
        """Keep a manifest under a tag, or under its digest alone, after everything it names.

        Raises:
            CorruptError: The registry says that it kept other bytes.
            UnknownBlobError: It does not have all that the manifest names.
            RegistryError: The registry does not answer, or refuses.
        """
        descriptor = Descriptor(media_type, "sha256:" + hashlib.sha256(data).hexdigest(), len(data))
        with self.registry.request(
            "PUT",
            self.url(f"manifests/{tag or descriptor.digest}"),
            headers={"Content-Type": media_type},
            body=data,
        ) as answer:
            if answer.status_code not in {200, 201, 202}:
                raise self.registry.refusal(answer, f"push to {self.name}")
            kept = answer.headers.get(_DIGEST_HEADER, descriptor.digest)
        if kept != descriptor.digest:
            message = f"{self.name} says it kept manifest {kept[:80]}, not {descriptor.digest}"
            raise CorruptError(message, hint="the registry changes what it is given; use another")
        return Kept(descriptor, answer.headers.get(_SUBJECT_HEADER))

    def tags(self) -> set[str]:
        """Return every tag of the repository; none where there is no such repository.

        Raises:
            RegistryError: The registry does not answer, or with something that is no list.
        """

        def exists(answer: requests.Response) -> bool:
            if answer.status_code not in {200, 404}:
                raise self.registry.refusal(answer, f"list {self.name}")
            return answer.status_code == 200

        pages = self.pages(self.url("tags/list"), "tags", exists)
        return {tag for page in pages for tag in self._tag_list(page)}

    def pages(
        self,
        url: str,
        what: str,
        goes_on: Callable[[requests.Response], bool],
        *,
        optional: bool = False,
    ) -> Iterator[bytes]:
        """Yield the pages of a list.

        Args:
            url: Address of the first.
            what: What is listed, for messages.
            goes_on: Looks at each answer before its body is read; False ends the list.
            optional: Not every registry knows the address; see `OriginRegistry.request`.

        Raises:
            RegistryError: The list has no end, goes on elsewhere, or a page is too large.
        """
        left = LIST_BYTES
        for _ in range(self.registry.policy.pages):
            with self.registry.request("GET", url, optional=optional) as answer:
                if not goes_on(answer):
                    return
                page = small_body(answer, _PAGE_BYTES, f"a list of {what}")
                following = answer.links.get("next", {}).get("url")
            left -= len(page)
            if left < 0:
                break
            yield page
            if not following:
                return
            url = self.registry.resolve(answer, following)
            if Origin.of(url) != self.registry.origin:
                message = f"{self.name} continues its list of {what} on another host"
                raise RegistryError(message, hint="nothing was asked there; ask who runs it")
        message = f"{self.name} lists its {what} without an end"
        raise RegistryError(message, hint="name what you want; ask who runs the registry")

    def _tag_list(self, page: bytes) -> list[str]:
        """Return the tags of one page."""
        fault = RegistryError(f"{self.name} answers something that is no list of tags")
        try:
            listed = json.loads(page)["tags"] or []
        except (ValueError, RecursionError, LookupError, TypeError) as error:
            raise fault from error
        if not isinstance(listed, list):
            raise fault
        return [tag for tag in listed if isinstance(tag, str) and is_tag(tag)]

    def _check(self, data: bytes, descriptor: Descriptor, wanted: str, said: str | None) -> None:
        """Hold a manifest against the digest asked for, the registry's word, and its own type."""
        hint = "do not use it; ask who runs the registry"
        if is_digest(wanted):
            check_bytes(data, Descriptor(descriptor.media_type, wanted, len(data)), self.name)
        elif said is not None and said != descriptor.digest:
            message = f"{self.name} calls manifest {descriptor.digest} {said[:80]}"
            raise CorruptError(message, hint=hint)
        try:
            own = json.loads(data).get("mediaType", descriptor.media_type)
        except (ValueError, RecursionError, AttributeError):
            return  # whoever reads the manifest says what is wrong with it
        if own != descriptor.media_type:
            message = f"{self.name} gives a manifest as {descriptor.media_type}, which says {own}"
            raise CorruptError(message[:400], hint=hint)
