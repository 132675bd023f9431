"""Schema and model of a document give one verdict: on what models make, and on what is spoiled."""

from __future__ import annotations

import json
from typing import Any

import pydantic
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from rra.audit.documents import AuditResult
from rra.bundle.config import BundleConfig
from rra.model import (
    ExecutionRecord,
    Lock,
    Manifest,
    Notice,
    ReferencesDocument,
    RepairsDocument,
    Review,
    SettingsDocument,
)
from rra.model.base import validate_document
from rra.verify.documents import Reproduction, VerificationPlan
from tests.conformance.corpus import IN_YAML, cases
from tests.conformance.independent import validator
from tests.conformance.independent_text import from_json, from_yaml
from tests.conformance.model_strategies import documents, spoiled

MODELS: dict[str, type[pydantic.BaseModel]] = {
    "audit": AuditResult,
    "bundle-config": BundleConfig,
    "execution-record": ExecutionRecord,
    "lock": Lock,
    "manifest": Manifest,
    "notice": Notice,
    "plan": VerificationPlan,
    "references": ReferencesDocument,
    "repairs": RepairsDocument,
    "reproduction": Reproduction,
    "review": Review,
    "settings": SettingsDocument,
}
#: Valid documents with words of a newer minor number, which neither knows.
OF_NEWER_WORDS = {
    "valid/versioning/newer-minor-recorder",
    "valid/versioning/newer-minor-unknown-kind",
    "valid/versioning/newer-minor-unknown-locator",
}
#: Documents of the corpus that both have to take: those that are valid by their schema.
TAKEN = {
    name: [
        (from_yaml if name in IN_YAML else from_json)(case.file.read_bytes())
        for case in cases()
        if case.document == name and not case.refused_at and case.name not in OF_NEWER_WORDS
    ]
    for name in MODELS
}


def faults_of_model(name: str, data: Any) -> list[str]:
    try:
        validate_document(MODELS[name], data)
    except pydantic.ValidationError as error:
        return [f"{'/'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors()]
    return []


def faults_of_schema(name: str, data: Any) -> list[str]:
    return [
        f"{'/'.join(map(str, error.absolute_path))}: {error.message}"
        for error in validator(name).iter_errors(data)
    ]


def agree(name: str, data: Any) -> bool:
    """Whether both take the document; fails when only one of them does."""
    model, schema = faults_of_model(name, data), faults_of_schema(name, data)
    text = json.dumps(data, ensure_ascii=True)
    assert bool(model) == bool(schema), f"\nmodel {model}\nschema {schema}\n{text}"
    return not model


def drawn(strategy: st.SearchStrategy[Any], examples: int) -> list[Any]:
    """Return documents of a strategy, the same ones in every run."""
    found: list[Any] = []

    @settings(max_examples=examples, phases=[Phase.generate], suppress_health_check=[*HealthCheck])
    @given(strategy)
    def collect(document: Any) -> None:
        found.append(document)

    collect()
    return found


@pytest.mark.parametrize("name", sorted(MODELS))
def test_what_a_model_makes_its_schema_takes(name: str) -> None:
    made = drawn(documents(MODELS[name]), 12 if name == "manifest" else 50)
    taken = [document for document in made if agree(name, document)]
    assert len(taken) >= len(made) / 2  # else the strategy shows little
    for document in taken:
        model = validate_document(MODELS[name], document)
        dumped = model.model_dump(mode="json", by_alias=True, exclude_unset=True)
        assert dumped == document  # unknown keys and numbers as they came
        assert faults_of_schema(name, dumped) == []


@pytest.mark.parametrize("name", sorted(MODELS))
def test_what_is_spoiled_both_take_or_both_refuse(name: str) -> None:
    made = drawn(spoiled(st.sampled_from(TAKEN[name])), 200)
    made += drawn(spoiled(documents(MODELS[name])), 10 if name == "manifest" else 50)
    answers = [agree(name, document) for document in made]
    assert 0.1 <= sum(answers) / len(answers) <= 0.9  # changes that matter, and some that do not


@pytest.mark.parametrize("name", sorted(MODELS))
def test_both_say_of_the_corpus_what_is_expected(name: str) -> None:
    for data in TAKEN[name]:
        assert agree(name, data)
    for case in cases():
        if case.document == name and case.refused_at == "schema":
            data = case.file.read_bytes()
            assert not agree(name, (from_yaml if name in IN_YAML else from_json)(data)), case.name
