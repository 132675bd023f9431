"""`guide/settings.yaml` and `guide/repairs.yaml` (spec: settings, repairs)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, RootModel

from rra.model.base import Digest, Id, Object

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


class Alternative(Object):
    """Another value of a setting that was tried, and what it gave."""

    value: Scalar
    result: str | None = None
    run: Digest | None = None


class Setting(Object):
    """One setting of the experiment: its value, where it comes from, and why."""

    value: Scalar | list[Scalar] | None
    launchers: list[Id] = []
    source: SettingSource
    where: str
    rationale: str
    alternatives: list[Alternative] = []


class Repair(Object):
    """One change of the code that was needed, as a patch with its reason."""

    title: str
    symptom: str
    cause: str
    patch: str
    category: RepairCategory
    effect_on_results: ResultEffect
    rationale: str
    before: Digest | None = None
    after: Digest | None = None
    verified: bool | None = None


RepairId = Annotated[str, Field(pattern=r"^[0-9]{4}[a-z0-9-]{0,58}$")]


class SettingsDocument(RootModel[dict[str, Setting]]):
    """`settings.yaml`: settings by name."""


class RepairsDocument(RootModel[dict[RepairId, Repair]]):
    """`repairs.yaml`: repairs by id, applied in the order of their ids."""

    def ordered(self) -> list[tuple[str, Repair]]:
        """Return the repairs in the order in which they apply."""
        return sorted(self.root.items())
