"""Sending a large blob so that a connection that breaks costs only what was under way.

The blob goes in one PATCH. When that breaks, the registry is asked how much it has, and the rest
goes in another; nothing is ever sent again on a guess, since some registries append whatever
comes. Registries that take no PATCH, or none of that size, get the blob in one PUT.

Source: OCI Distribution Specification 1.1, Pushing a blob in chunks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from rra.bundle.store import Descriptor
from rra.errors import RegistryError
from rra.registry.body import Body
from rra.registry.failures import broke
from rra.registry.policy import RETRIED
from rra.registry.provider import OriginRegistry, challenged

if TYPE_CHECKING:
    import requests

_OCTETS = "application/octet-stream"
_RANGE = re.compile(r"(?:bytes=)?0-(\d{1,18})")
_ACCEPTED = {200, 201, 202, 204}


class PiecesRefusedError(Exception):
    """This registry wants the blob in one PUT; never leaves this package."""


class PiecewiseUpload:
    """One upload of one blob.

    Args:
        registry: Conversation with the registry.
        location: Where the upload goes, as the answer to its POST says.
        descriptor: The blob.
        chunks: Its bytes; they can be iterated again.
        where: What messages call the repository.
    """

    def __init__(
        self,
        registry: OriginRegistry,
        location: str,
        descriptor: Descriptor,
        chunks: Iterable[bytes],
        where: str,
    ) -> None:
        self._registry, self._location = registry, location
        self._descriptor, self._chunks, self._where = descriptor, chunks, where
        self._offset = 0

    def send(self) -> str:
        """Send all bytes; return where the upload is to be ended.

        Raises:
            PiecesRefusedError: The registry wants another kind of upload.
            CorruptError: The chunks are not that blob.
            RegistryError: The registry does not answer, refuses, or breaks off for good.
        """
        size, failures = self._descriptor.size, 0
        while self._offset < size:
            before = self._offset
            answer = self._patch()
            if answer is not None and answer.status_code in _ACCEPTED:
                self._move(answer)
                self._offset = size
                return self._location
            renewed = answer is not None and challenged(answer) and self._registry.renew(answer)
            if answer is not None and not renewed and answer.status_code not in RETRIED:
                answer.close()
                raise PiecesRefusedError
            if not renewed:
                failures += 1
                if failures >= self._registry.policy.attempts:
                    raise self._given_up(answer)
                self._registry.pause(failures, answer)
            self._ask()
            failures = 0 if self._offset > before else failures
        return self._location

    def _patch(self) -> requests.Response | None:
        """Send what is missing; None when the connection broke."""
        size = self._descriptor.size
        headers = {"Content-Type": _OCTETS, "Content-Range": f"{self._offset}-{size - 1}"}
        body = Body(self._descriptor, self._chunks, self._where, skip=self._offset)
        try:
            return self._registry.request("PATCH", self._location, headers=headers, body=body)
        except RegistryError as error:
            if not broke(error):
                raise
            return None
        finally:
            body.close()

    def _ask(self) -> None:
        """Find out how much the registry has.

        Raises:
            PiecesRefusedError: It does not say, or the upload is gone.
        """
        with self._registry.request("GET", self._location) as answer:
            if answer.status_code not in _ACCEPTED:
                raise PiecesRefusedError
            said = _RANGE.fullmatch(answer.headers.get("Range", "0-0").strip())
            self._move(answer)
        last = int(said[1]) if said else 0
        # Many say 0-0 for an empty upload, so one byte is as good as none, and none as one.
        self._offset = last + 1 if last else 0
        if said is None or self._offset > self._descriptor.size or last == 0:
            raise PiecesRefusedError

    def _move(self, answer: requests.Response) -> None:
        """Go on where an answer says."""
        if answer.headers.get("Location"):
            self._location = self._registry.elsewhere(answer)
        answer.close()

    def _given_up(self, answer: requests.Response | None) -> Exception:
        if answer is not None:
            return self._registry.refusal(answer, f"push to {self._where}")
        message = f"the connection to {self._registry.origin.netloc} broke again and again"
        return RegistryError(message, hint="run the same command again; nothing is half-written")
