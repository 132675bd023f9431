"""The review: whether each claim, setting and repair stands, and where that can be seen."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from rra.model.base import BundlePath, Digest, Id, Object, OutcomeId, Timestamp

Text = Annotated[str, Field(min_length=1)]

JsonPointer = Annotated[str, Field(pattern=r"^(/([^~/]|~[01])*)*$")]
"""Place in a JSON document (RFC 6901)."""

Orcid = Annotated[str, Field(pattern=r"^[0-9]{4}-[0-9]{4}-[0-9]{4}-[0-9]{3}[0-9X]$")]

ReviewVerdict = Literal["supported", "refuted", "unsupported"]
RunOutcome = Literal["failed", "passed", "not_run"]


class Pointer(Object):
    """A place where something can be seen.

    Attributes:
        file: Path relative to the artifact.
        sha256: Digest of the file.
        line: Line, counted from 1.
        pointer: Place in a JSON document.
        value: What stands there.
    """

    file: BundlePath
    sha256: Digest | None = None
    line: Annotated[int, Field(ge=1)] | None = None
    pointer: JsonPointer | None = None
    value: Text


class Judged(Object):
    """What every entry of a review says.

    Attributes:
        verdict: Whether it stands.
        reason: One or two sentences.
        judged_by: Who judged it: a fixed check, a model, or a person.
        pointers: Places that show it.
    """

    verdict: ReviewVerdict
    reason: Text
    judged_by: Literal["rule", "model", "person"]
    pointers: list[Pointer] = []


class ReviewedClaim(Judged):
    """The verdict on one outcome."""

    outcome: OutcomeId


class ReviewedSetting(Judged):
    """The verdict on one setting."""

    setting: Text


class ReviewedRepair(Judged):
    """The verdict on one repair, with what the runs before and after it gave."""

    repair: Text
    before: RunOutcome | None = None
    after: RunOutcome | None = None


class ReviewedCommand(Judged):
    """The verdict on one command of the guide, with the launcher that it is."""

    command: Text
    launcher: Id | None = None


class Reviewer(Object):
    """Who reviewed; a program and a model where they took part."""

    name: Text | None = None
    orcid: Orcid | None = None
    anonymous: bool = False
    program: Text | None = None
    model: Text | None = None


class Independence(Object):
    """What the reviewer declares.

    Attributes:
        fresh_place: Worked in a place that held nothing of the builder's.
        saw_builder: Saw what the builder said or wrote beyond the bundle.
        took_part: Took part in the research or in building the artifact.
    """

    fresh_place: bool
    saw_builder: bool
    took_part: bool


class ReviewBasis(Object):
    """Documents that the reviewer made for the review, by digest."""

    audit: Digest | None = None
    reproduction: Digest | None = None


class Review(Object):
    """An independent review of a bundle."""

    type: Literal["review/v1"]
    artifact: Text
    version: Text
    core: Digest
    bundle: Digest | None = None
    started: Timestamp
    ended: Timestamp
    reviewer: Reviewer
    independence: Independence
    basis: ReviewBasis | None = None
    claims: list[ReviewedClaim]
    settings: list[ReviewedSetting] = []
    repairs: list[ReviewedRepair] = []
    guide: list[ReviewedCommand] = []
    notes: list[str] = []
