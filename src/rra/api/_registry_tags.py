"""``rra registry tags``: the tags of a repository."""

from __future__ import annotations

import dataclasses
from typing import Any

from rra.api._copy import registry_reference
from rra.api._open import open_store
from rra.api._result import Progress, VerbResult, silent
from rra.errors import UsageError


@dataclasses.dataclass(frozen=True, kw_only=True)
class TagList(VerbResult):
    """Tags of one repository, sorted.

    Attributes:
        repository: ``HOST[:PORT]/REPOSITORY``.
        tags: Its tags.
    """

    repository: str
    tags: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the result as plain JSON."""
        return {"repository": self.repository, "tags": list(self.tags)}


def registry_tags(
    repository: str, *, plain_http: bool = False, progress: Progress = silent
) -> TagList:
    """List the tags of a repository.

    Args:
        repository: ``HOST[:PORT]/REPOSITORY``.
        plain_http: Speak to the registry without TLS; on this machine that is found out.
        progress: Called with a line when the registry makes us wait.

    Raises:
        UsageError: It is no repository of a registry, or there are no tags.
        LoginError: The registry wants a login, or refuses the one it was given.
        RegistryError: The registry does not answer, or with something that is no list.
    """
    named = registry_reference(repository, "rra registry tags", "rra inspect")
    if named.tag is not None or named.digest is not None:
        message = f"{repository} names one bundle, not a repository"
        raise UsageError(message, hint=f"give {named.origin}/{named.repository}")
    store = open_store(named, progress=progress, plain_http=plain_http)
    tags = store.tags()
    if not tags:
        hint = "there is no such repository, or nothing in it has a tag"
        raise UsageError(f"{named} has no tags", hint=hint)
    return TagList(repository=str(named), tags=tuple(tags))
