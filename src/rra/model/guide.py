"""`guide/settings.yaml` and `guide/repairs.yaml` (spec: settings, repairs)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, RootModel

from rra.model.base import Digest, Id, Object
from rra.model.text import Prose, distinct

SettingSource = Literal["paper", "code", "default", "correspondence", "inferred"]
RepairCategory = Literal[
    "environment",
    "path",
    "packaging",
    "missing-file",
    "api-compatibility",
    "determinism",
    "capture",
    "bug",
    "protocol",
]
ResultEffect = Literal["none", "possible", "changes"]
Scalar = str | int | float | bool
SettingName = Annotated[
    str, Field(min_length=1, max_length=200, pattern=r"^[^\u0000-\u001f\u007f]*$")
]
PatchPath = Annotated[
    str,
    Field(
        max_length=255,
        pattern=r"^guide/repairs/[^/\\\u0000-\u001f\u007f]+\.(patch|diff)$",
    ),
]


class Alternative(Object):
    """Another value of a setting that was tried, and what it gave."""

    value: Scalar
    result: str | None = None
    run: Digest | None = None


class Setting(Object):
    """One setting of the experiment: its value, where it comes from, and why.

    Attributes:
        launchers: Launchers that it acts on; all of them when not given.
    """

    value: Scalar | list[Scalar] | None
    launchers: Annotated[list[Id], Field(min_length=1), distinct] | None = None
    source: SettingSource
    where: Prose
    rationale: Prose
    alternatives: list[Alternative] = []


class Repair(Object):
    """One change of the code that was needed, as a patch with its reason."""

    title: Annotated[str, Field(pattern=r"^[^\n\r]*[^ \t\n\r][^\n\r]*$")]
    symptom: Prose
    cause: Prose
    patch: PatchPath
    category: RepairCategory
    effect_on_results: ResultEffect
    rationale: Prose
    before: Digest | None = None
    after: Digest | None = None
    verified: bool | None = None


RepairId = Annotated[str, Field(max_length=63, pattern=r"^[0-9]{4}(-[a-z0-9-]{1,58})?$")]


class SettingsDocument(RootModel[dict[SettingName, Setting]]):
    """`settings.yaml`: settings by name."""


class RepairsDocument(RootModel[dict[RepairId, Repair]]):
    """`repairs.yaml`: repairs by id, applied in the order of their ids."""

    def ordered(self) -> list[tuple[str, Repair]]:
        """Return the repairs in the order in which they apply."""
        return sorted(self.root.items())
