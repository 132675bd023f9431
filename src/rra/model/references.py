"""`references.yaml`: scores of earlier runs, for evaluators only (spec: references)."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, RootModel

from rra.model.base import Digest, Object
from rra.model.text import Integer, Prose, distinct

OutcomeName = Annotated[
    str,
    Field(max_length=127, pattern=r"^[a-z0-9][a-z0-9-]{0,62}/[a-z0-9][a-z0-9-]{0,62}$"),
]


class ReferenceScore(Object):
    """One value that an earlier run gave.

    Attributes:
        value: The value as text, at full precision, in the unit of the outcome.
        operator: Who ran it.
    """

    value: Prose | Annotated[list[Prose], Field(min_length=1)]
    record: Digest | None = None
    environment: Prose | None = None
    seed: Integer | None = None
    operator: Prose | None = None


class Reference(Object):
    """The reference scores of one outcome; at least three, five by default."""

    scores: Annotated[list[ReferenceScore], Field(min_length=3)]
    confirmed_by: Annotated[list[Prose], Field(min_length=1), distinct] | None = None
    self_referenced: bool = False


class ReferencesDocument(RootModel[dict[OutcomeName, Reference]]):
    """`references.yaml`: references by ``<experiment>/<outcome>``."""
