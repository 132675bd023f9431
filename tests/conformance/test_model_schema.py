"""Schema and model of a document give one verdict: on what models make, and on what is spoiled."""

from __future__ import annotations

import json
from typing import Any

import pydantic
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rra.audit.documents import AuditResult
from rra.bundle.config import BundleConfig
from rra.model import (
    ExecutionRecord,
    Lock,
    Manifest,
    ReferencesDocument,
    RepairsDocument,
    Review,
    SettingsDocument,
)
from rra.model.base import validate_document
from rra.verify.documents import Reproduction, VerificationPlan
from tests.conformance.independent import validator
from tests.conformance.model_strategies import documents, spoiled

MODELS: dict[str, type[pydantic.BaseModel]] = {
    "audit": AuditResult,
    "bundle-config": BundleConfig,
    "execution-record": ExecutionRecord,
    "lock": Lock,
    "manifest": Manifest,
    "plan": VerificationPlan,
    "references": ReferencesDocument,
    "repairs": RepairsDocument,
    "reproduction": Reproduction,
    "review": Review,
    "settings": SettingsDocument,
}
quick = settings(max_examples=60, suppress_health_check=list(HealthCheck))


@pytest.fixture(params=sorted(MODELS), scope="module")
def name(request: pytest.FixtureRequest) -> str:
    found: str = request.param
    return found


def faults_of_model(name: str, data: Any) -> list[str]:
    try:
        validate_document(MODELS[name], data)
    except pydantic.ValidationError as error:
        return [f"{'/'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors()]
    return []


def faults_of_schema(name: str, data: Any) -> list[str]:
    return [
        f"{'/'.join(map(str, e.absolute_path))}: {e.message}"
        for e in validator(name).iter_errors(data)
    ]


def agree(name: str, data: Any) -> bool:
    """Whether both take the document; fails when only one of them does."""
    model, schema = faults_of_model(name, data), faults_of_schema(name, data)
    text = json.dumps(data, ensure_ascii=True)
    assert bool(model) == bool(schema), f"\nmodel {model}\nschema {schema}\n{text}"
    return not model


@quick
@given(st.data())
def test_what_a_model_makes_both_take(name: str, data: st.DataObject) -> None:
    document = data.draw(documents(MODELS[name]))
    if agree(name, document):
        made = validate_document(MODELS[name], document)
        assert (
            faults_of_schema(name, made.model_dump(mode="json", by_alias=True, exclude_unset=True))
            == []
        )


@quick
@given(st.data())
def test_what_is_spoiled_both_refuse_or_both_take(name: str, data: st.DataObject) -> None:
    agree(name, data.draw(spoiled(MODELS[name])))
