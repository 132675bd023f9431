"""Keeping a catalogue while pushing: it is looked at first, and gets its entry last."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rra.api._copy import registry_reference
from rra.api._open import open_bundle
from rra.api._result import Progress
from rra.bundle.config import TITLE
from rra.errors import RraError, UsageError

if TYPE_CHECKING:
    from rra.registry.catalogue import CatalogueStore, Entry


def open_catalogue(name: str, *, plain_http: bool, progress: Progress) -> CatalogueStore:
    """Open a catalogue that is to get an entry, and insist that it is one, or nothing yet.

    Raises:
        UsageError: It is no place in a registry, or something else has its tag.
        RegistryError: The registry does not answer, or refuses.
    """
    from rra.registry import open_store
    from rra.registry.catalogue import CatalogueStore

    named = registry_reference(name, "--catalog", "nothing: a folder is listed by its index.json")
    if named.digest is not None:
        message = f"{name} pins a digest; that follows from what is in the catalogue"
        raise UsageError(message, hint="give HOST[:PORT]/REPOSITORY[:TAG]")
    catalogue = CatalogueStore(open_store(named, plain_http=plain_http, notice=progress))
    catalogue.read()
    return catalogue


def add_to_catalogue(
    catalogue: CatalogueStore, pushed: str, *, plain_http: bool, progress: Progress
) -> str:
    """Put the bundle that was pushed into a catalogue; return the catalogue with its digest.

    What the entry says is read from the bundle as it is there now.

    Args:
        catalogue: As `open_catalogue` gave it.
        pushed: Reference of the bundle with its tag and digest.
        plain_http: Speak to the registry without TLS.
        progress: Called with one line.

    Raises:
        RraError: The catalogue could not be written; says that the bundle is there.
    """
    progress(f"listing it in {catalogue.name}")
    try:
        done = catalogue.add(_entry(pushed, plain_http=plain_http))
    except RraError as error:
        message = f"{pushed} is there, but not listed in {catalogue.name}: {error.message}"
        hint = "push once more: what is there is not sent again"
        raise type(error)(message, hint=hint) from error
    return f"{catalogue.name}@{done.descriptor.digest}" if done.descriptor else catalogue.name


def _entry(pushed: str, *, plain_http: bool) -> Entry:
    """Return the entry of a bundle, from its manifest and config."""
    from rra.registry.catalogue import Entry

    named = registry_reference(pushed, "--catalog", "rra push")
    _, bundle = open_bundle(named, plain_http=plain_http, ask=False)
    manifest = bundle.config.artifact_manifest()
    return Entry(
        reference=f"{named.origin}/{named.repository}:{named.tag}",
        digest=bundle.descriptor.digest,
        name=manifest.name,
        version=manifest.version,
        title=bundle.manifest.annotations.get(TITLE) or manifest.title or manifest.name,
        core=bundle.config.core,
    )
