"""`references.yaml`: scores of earlier runs, for evaluators only (spec: references)."""

from __future__ import annotations

from pydantic import RootModel

from rra.model.base import Digest, Object


class ReferenceScore(Object):
    """One value that an earlier run gave.

    Attributes:
        value: The value as text, at full precision, in the unit of the outcome.
        operator: Who ran it.
    """

    value: str | list[str]
    record: Digest | None = None
    environment: str | None = None
    seed: int | None = None
    operator: str | None = None


class Reference(Object):
    """The reference scores of one outcome; at least three, five by default."""

    scores: list[ReferenceScore]
    confirmed_by: list[str] = []
    self_referenced: bool = False


class ReferencesDocument(RootModel[dict[str, Reference]]):
    """`references.yaml`: references by ``<experiment>/<outcome>``."""
