"""``rra registry list``: which bundles there are, from a catalogue or a file of references."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from rra.api._copy import registry_reference
from rra.api._many import Opener, each, references, without_password
from rra.api._result import Progress, VerbResult, silent
from rra.bundle.config import TITLE
from rra.bundle.reference import parse_reference
from rra.errors import Problem, RraError, UsageError

if TYPE_CHECKING:
    from rra.bundle.reference import RegistryReference
    from rra.registry.catalogue import Entry

_INSTEAD = (
    "registries do not say which repositories they have; rra registry tags"
    " HOST/REPOSITORY lists one, --from FILE those that a file names"
)

State = Literal["there", "moved", "gone", "unreachable"]


@dataclasses.dataclass(frozen=True, slots=True)
class Listed:
    """One bundle; what is not known of it is empty.

    Attributes:
        reference: Its reference.
        digest: Digest of its manifest.
        name: Name of the artifact.
        version: Its version.
        title: Its title.
        core: Its core.
        state: Whether it is where the catalogue says; None where that was not looked at.
        error: Why it could not be read: kind of error and message.
    """

    reference: str
    digest: str = ""
    name: str = ""
    version: str = ""
    title: str = ""
    core: str = ""
    state: State | None = None
    error: tuple[str, str] | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the bundle as plain JSON, without what is not known."""
        names = ("reference", "digest", "name", "version", "title", "core", "state")
        plain = {name: value for name in names if (value := getattr(self, name))}
        if self.error is not None:
            plain["error"] = {"slug": self.error[0], "message": self.error[1]}
        return plain


@dataclasses.dataclass(frozen=True, kw_only=True)
class Listing(VerbResult):
    """Bundles of a catalogue or file, in its order.

    Attributes:
        source: The catalogue with its digest, or the file.
        bundles: The bundles.
    """

    source: str
    bundles: tuple[Listed, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the result as plain JSON."""
        return {"source": self.source, "bundles": [bundle.to_json() for bundle in self.bundles]}


def registry_list(
    catalogue: str | None = None,
    *,
    file: Path | None = None,
    check: bool = False,
    jobs: int = 4,
    plain_http: bool = False,
    progress: Progress = silent,
) -> Listing:
    """List bundles; no layer of any is read.

    Args:
        catalogue: ``HOST[:PORT]/REPOSITORY[:TAG]`` that ``rra push --catalog`` keeps.
        file: File of references instead, one a line, or ``-``; manifest and config of each are
            read.
        check: Look whether what a catalogue lists is still there.
        jobs: How many are asked for at once.
        plain_http: Speak to registries without TLS; on this machine that is found out.
        progress: Called with one line for each step.

    Raises:
        UsageError: Neither or both are given, or there is no such catalogue or file.
        LoginError: The registry wants a login, or refuses the one it was given.
        RegistryError: The registry of the catalogue does not answer.
        FormatError: The catalogue is none.
    """
    from rra.registry import Connections

    if (catalogue is None) == (file is None):
        message = "give a catalogue, HOST/REPOSITORY[:TAG], or a file of references"
        raise UsageError(
            message, hint="rra push --catalog keeps a catalogue; --from FILE reads one"
        )
    opener = Opener(Connections(plain_http=plain_http, at_once=jobs))
    if file is not None:
        found = each(lambda text: _read(text, opener), references(file), jobs)
        bundles = tuple(bundle for _, bundle in found)
        unread = sum(bundle.error is not None for bundle in bundles)
        return Listing(source=str(file), bundles=bundles, exit_code=3 if unread else 0)
    return _from_catalogue(catalogue or "", opener, jobs if check else 0, progress)


def _from_catalogue(name: str, opener: Opener, jobs: int, progress: Progress) -> Listing:
    """List a catalogue; look at each bundle where there are jobs for that."""
    from rra.registry.catalogue import CatalogueStore

    named = registry_reference(name, "rra registry list", _INSTEAD)
    if named.digest is not None:
        message = f"{name} pins a digest; a catalogue is what its tag stands for"
        raise UsageError(message, hint=f"give {dataclasses.replace(named, digest=None)}")
    place = CatalogueStore(opener.connections.open(named))
    progress(f"reading {place.name}")
    found = place.read()
    if found.descriptor is None and not found.entries:
        message = f"{place.name} is no catalogue: there is nothing of that name"
        raise UsageError(message, hint=f"rra push DIR HOST/REPOSITORY --catalog {place.name}")
    bundles = [_listed(entry) for entry in found.sorted()]
    if jobs:
        looked = each(lambda bundle: _looked_at(bundle, opener), iter(bundles), jobs)
        bundles = [bundle for _, bundle in looked]
    problems: tuple[Problem, ...] = ()
    if found.unusable:
        what = f"{found.unusable} entries cannot be used and are left out"
        problems = (Problem(what, place.name, severity="warning"),)
    digest = f"@{found.descriptor.digest}" if found.descriptor is not None else ""
    gone = any(bundle.state not in {None, "there"} for bundle in bundles)
    return Listing(
        source=f"{place.name}{digest}",
        bundles=tuple(bundles),
        problems=problems,
        exit_code=1 if gone else 0,
    )


def _listed(entry: Entry) -> Listed:
    return Listed(entry.reference, entry.digest, entry.name, entry.version, entry.title, entry.core)


def _read(text: str, opener: Opener) -> Listed:
    """Read manifest and config of one bundle; what goes wrong is part of the answer."""
    try:
        bundle = opener.bundle(text)
        manifest = bundle.config.artifact_manifest()
    except RraError as error:
        return Listed(without_password(text), error=(error.slug, error.message))
    return Listed(
        text,
        bundle.descriptor.digest,
        manifest.name,
        manifest.version,
        bundle.manifest.annotations.get(TITLE) or manifest.title or manifest.name,
        bundle.config.core,
    )


def _looked_at(bundle: Listed, opener: Opener) -> Listed:
    """Ask what the tag of a listed bundle stands for now."""
    named = cast("RegistryReference", parse_reference(bundle.reference))  # as `Entry` says
    store = opener.connections.open(named)
    state: State
    try:
        _, descriptor = store.get_manifest(named.tag)
        state = "there" if descriptor.digest == bundle.digest else "moved"
    except UsageError:
        state = "gone"
    except RraError as error:
        return dataclasses.replace(bundle, state="unreachable", error=(error.slug, error.message))
    return dataclasses.replace(bundle, state=state)
