"""The notice: what readers of a bundle have to know that the bundle itself cannot say."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from rra.model.base import Digest, Object, Timestamp

Text = Annotated[str, Field(min_length=1)]

_REFERENCE = re.compile(
    r"(?!([A-Za-z][A-Za-z0-9+.-]*://)?[^/]*@)[^\x00-\x20\x7f]+\Z",
)


def _safe(text: str) -> str:
    if not _REFERENCE.match(text):
        raise ValueError("the reference has a user name, a blank or a control character")
    return text


NoticeKind = Literal["withdrawn", "superseded", "embargo"]


class Issuer(Object):
    """Who issued a notice, as the notice says it.

    Attributes:
        name: Name of the person or organisation.
        orcid: ORCID iD of the person.
        program: Program and version that the notice was made with.
    """

    name: Text | None = None
    orcid: Annotated[str, Field(pattern=r"^[0-9]{4}-[0-9]{4}-[0-9]{4}-[0-9]{3}[0-9X]$")] | None = (
        None
    )
    program: Text | None = None


class Successor(Object):
    """What takes the place of an artifact.

    Attributes:
        reference: Where it is: a reference of a bundle, an address or a DOI.
        version: Its version.
        core: Its core digest.
        bundle: Digest of its manifest.
    """

    reference: Annotated[str, AfterValidator(_safe)]
    version: Text | None = None
    core: Digest | None = None
    bundle: Digest | None = None


class Notice(Object):
    """A notice that a bundle was withdrawn, is superseded, or is under embargo."""

    type: Literal["notice/v1"]
    artifact: Text
    version: Text
    core: Digest
    bundle: Digest | None = None
    kind: NoticeKind
    issued: Timestamp
    reason: Text
    issuer: Issuer | None = None
    superseded_by: Successor | None = None
    until: (
        Annotated[str, Field(pattern=r"^[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])$")]
        | None
    ) = None
