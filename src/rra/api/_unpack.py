"""``rra unpack``: a bundle becomes a directory."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rra._base.files import plain
from rra.api._open import open_bundle
from rra.api._result import Progress, VerbResult, silent
from rra.api._room import say_room
from rra.bundle.reference import (
    EXAMPLES,
    BundleReference,
    DirectoryReference,
    RegistryReference,
    WebReference,
    parse_reference,
)
from rra.errors import UsageError

if TYPE_CHECKING:
    from rra.bundle.store import BlobReader
    from rra.bundle.unpack import UnpackResult


@dataclasses.dataclass(frozen=True, kw_only=True)
class UnpackReport(VerbResult):
    """A directory and the bundle that it came from.

    Attributes:
        reference: The bundle, with its digest.
        digest: Digest of its manifest.
        core: Core of the artifact.
        unpacked: What came out.
    """

    reference: str
    digest: str
    core: str
    unpacked: UnpackResult

    def to_json(self) -> dict[str, Any]:
        """Return the result as plain JSON."""
        return {
            "reference": self.reference,
            "digest": self.digest,
            "core": self.core,
            "directory": str(self.unpacked.target),
            "complete": self.unpacked.complete,
            "elements": dict(self.unpacked.elements),
            "files": sum(self.unpacked.elements.values()),
            "size": self.unpacked.size,
        }


def unpack(
    reference: str,
    directory: Path | None = None,
    *,
    only: Collection[str] = (),
    plain_http: bool = False,
    progress: Progress = silent,
) -> UnpackReport:
    """Unpack a bundle, or some of its elements, into a new directory.

    Every blob, archive and file is checked before the directory gets its name. Of a whole
    bundle also manifest, lock and core are those that its config names.

    Args:
        reference: The bundle.
        directory: New or empty directory; one called as the artifact by default.
        only: Elements to unpack; all of them by default.
        plain_http: Speak to a registry without TLS.
        progress: Called with one line for each step.

    Raises:
        UsageError: There is no such bundle or element, or the directory is in use.
        CorruptError: Bytes are not what vouches for them.
        UnsafePathError: A file would lie where it may not.
        UnavailableError: The disk is full, or a registry does not answer.
    """
    from rra.bundle.unpack import refuse_to_overwrite, unpack_bundle, wanted_layers

    named = bundle_reference(reference)
    if directory is not None:
        refuse_to_overwrite(directory)
    store, bundle = open_bundle(named, progress=progress, plain_http=plain_http)
    target = directory or Path(bundle.config.name)
    refuse_to_overwrite(target)
    wanted = wanted_layers(bundle, only)
    if isinstance(named, RegistryReference | WebReference):
        say_room(wanted, target, progress, unpacked=True)
    layers = [(layer.title or record.element, layer.descriptor) for layer, record in wanted]
    with contextlib.ExitStack() as stack:
        here: BlobReader = store
        checked: Callable[[], None] | None = None
        if isinstance(named, RegistryReference):
            from rra.registry import fetched

            # Nobody comes back for what lies in the cache once the directory has its name.
            ahead = stack.enter_context(fetched(store, layers, progress))
            here, checked = ahead, ahead.forget
        found = unpack_bundle(bundle, here, target, only=only, progress=progress, checked=checked)
    digest = bundle.descriptor.digest
    return UnpackReport(
        reference=str(dataclasses.replace(named, digest=digest)),
        digest=digest,
        core=bundle.config.core,
        unpacked=dataclasses.replace(found, target=plain(target)),
        problems=bundle.notices,
    )


def bundle_reference(text: str) -> BundleReference:
    """Read the reference of a bundle.

    Raises:
        UsageError: It is a directory or file without its scheme, or no reference.
    """
    named = parse_reference(text)
    if isinstance(named, DirectoryReference):
        if named.path.is_file():
            message = f"{text} is a file without its scheme"
            raise UsageError(message, hint=f"for a bundle in a file give oci-archive:{text}")
        if not named.path.exists():
            raise UsageError(f"no such file or folder: {text}", hint=EXAMPLES)
        message = f"{text} is a directory, not a bundle"
        raise UsageError(message, hint=f"for a bundle in a folder give oci-layout:{text}")
    return named
