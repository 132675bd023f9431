"""Environments of a manifest (spec: environment)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from rra.model.base import Object
from rra.model.parts import SafePath, Size, Text, Variables, distinct

Dotted = Annotated[str, Field(pattern=r"^[0-9]+(?:\.[0-9]+)*$")]
"""Version of numbers and dots."""


class Accelerator(Object):
    """The accelerator that results were made on, and the least that they need.

    Attributes:
        kind: ``none``, or the interface, such as ``cuda``.
        memory: Least memory of one device.
    """

    kind: Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]*$")]
    runtime: Dotted | None = None
    min_driver: Dotted | None = None
    compute_capability: Annotated[str, Field(pattern=r"^[0-9A-Za-z][0-9A-Za-z._-]*$")] | None = None
    memory: Size | None = None


class Environment(Object):
    """One software environment and its lock."""

    kind: Literal["pylock", "conda", "container", "renv", "system"]
    python: Annotated[str, Field(pattern=r"^[0-9]+\.[0-9]+(?:\.[0-9]+)?$")] | None = None
    platforms: (
        Annotated[
            list[Annotated[str, Field(pattern=r"^[a-z][a-z0-9]*-[a-z0-9_]+$")]],
            Field(min_length=1),
            distinct,
        ]
        | None
    ) = None
    lock: SafePath | None = None
    requirements: list[Text] | None = None
    as_of: (
        Annotated[
            str,
            Field(pattern=r"^[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])$"),
        ]
        | None
    ) = None
    as_of_why: Literal["manifest-commit", "paper-date", "bisected", "author"] | None = None
    system_packages: (
        dict[Annotated[str, Field(pattern=r"^[a-z][a-z0-9.-]*$")], list[Text]] | None
    ) = None
    variables: Variables | None = None
    accelerator: Accelerator | None = None
    wheels: SafePath | None = None
    interpreter: SafePath | None = None
    rootfs: SafePath | None = None
    base_image: (
        Annotated[str, Field(pattern=r"^[^@\x00-\x20\x7f]+@sha256:[0-9a-f]{64}$")] | None
    ) = None
