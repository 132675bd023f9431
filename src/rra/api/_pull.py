"""``rra pull``: a bundle comes from a registry or the web, as a directory or as it is."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection
from pathlib import Path
from typing import Any, Literal

from rra.api._copy import copy_bundle, registry_reference, target_reference
from rra.api._result import Progress, VerbResult, silent
from rra.api._unpack import unpack
from rra.bundle.reference import ARCHIVE, LAYOUT, WebReference, parse_reference
from rra.errors import UsageError

Form = Literal["directory", "oci-layout", "oci-archive"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class PullReport(VerbResult):
    """A bundle that came from a registry or the web.

    Attributes:
        reference: The bundle, with its digest.
        digest: Digest of its manifest.
        core: Core of the artifact.
        target: Directory, or reference of the copy with its digest.
        form: What the target is.
        complete: Whether it is the whole artifact.
        size: Bytes that were unpacked, or bytes of the blobs of the copy.
        referrers: How many statements on it came along; none into a directory.
    """

    reference: str
    digest: str
    core: str
    target: str
    form: Form
    complete: bool
    size: int
    referrers: int = 0

    def to_json(self) -> dict[str, Any]:
        """Return the result as plain JSON."""
        names = ("reference", "digest", "core", "target", "form", "complete", "size", "referrers")
        return {name: getattr(self, name) for name in names}


def pull(
    reference: str,
    target: str | None = None,
    *,
    only: Collection[str] = (),
    plain_http: bool = False,
    progress: Progress = silent,
) -> PullReport:
    """Bring a bundle from a registry or the web; everything is verified before it gets its name.

    The tag is looked up once; from then on everything is asked for by digest.

    Args:
        reference: ``HOST[:PORT]/REPOSITORY[:TAG][@sha256:…]``, or the address of an archive with
            its digest, ``https://…#sha256:…``.
        target: New directory to unpack into, ``oci-layout:DIR[:TAG]`` or
            ``oci-archive:FILE[:TAG]`` for a copy; a directory called as the artifact by default.
        only: Elements to unpack; all of them by default.
        plain_http: Speak to a registry without TLS; on this machine that is found out.
        progress: Called with one line for each step.

    Raises:
        UsageError: There is no such bundle or element, or the directory is in use.
        CorruptError: Bytes are not what vouches for them; nothing is kept.
        UnsafePathError: A file would lie where it may not.
        LoginError: The registry wants a login, or refuses the one it was given.
        RegistryError: The registry does not answer, refuses, or breaks off.
        StorageError: The disk is full or refuses.
    """
    named = parse_reference(reference)
    if not isinstance(named, WebReference):
        named = registry_reference(reference, "rra pull", "rra unpack, rra copy")
    if target is not None and target.startswith((LAYOUT, ARCHIVE)):
        if only:
            message = "--only takes parts of a bundle; a copy is the whole of it"
            raise UsageError(message, hint="name a directory to unpack them into")
        place = target_reference(target)
        copied = copy_bundle(named, place, plain_http=plain_http, progress=progress)
        return PullReport(
            reference=copied.source,
            digest=copied.digest,
            core=copied.core,
            target=copied.target,
            form="oci-layout" if target.startswith(LAYOUT) else "oci-archive",
            complete=True,
            size=sum(blob.descriptor.size for blob in copied.blobs),
            referrers=copied.referrers,
            problems=copied.problems,
        )
    directory = Path(target) if target is not None else None
    found = unpack(reference, directory, only=only, plain_http=plain_http, progress=progress)
    return PullReport(
        reference=found.reference,
        digest=found.digest,
        core=found.core,
        target=str(found.unpacked.target),
        form="directory",
        complete=found.unpacked.complete,
        size=found.unpacked.size,
        problems=found.problems,
    )
