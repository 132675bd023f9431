from __future__ import annotations

import json
from pathlib import Path

import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rra.artifact import load_artifact
from rra.model import ExecutionRecord, Manifest, Outcome
from rra.schema import load_schema
from tests.support.artifacts import manifest
from tests.support.source import ROOT

EXAMPLE = ROOT / "examples" / "wine-discriminant" / "artifact"


def test_objects_are_frozen() -> None:
    found = Manifest.model_validate(manifest())
    with pytest.raises(pydantic.ValidationError, match="frozen"):
        found.name = "other"  # type: ignore[misc]


@pytest.mark.clause("versioning/unknown-fields")
@given(st.dictionaries(st.from_regex(r"x-[a-z]{1,8}", fullmatch=True), st.text(), max_size=3))
def test_unknown_fields_come_back_as_they_went_in(extra: dict[str, str]) -> None:
    document = manifest() | extra
    document["launchers"]["main"] |= {"surprise": [1, {"deep": True}]}
    again = Manifest.model_validate(document).to_json()
    assert {key: again[key] for key in extra} == extra
    assert again["launchers"]["main"]["surprise"] == [1, {"deep": True}]


def test_the_json_form_of_a_selector_uses_the_key_of_the_format() -> None:
    again = Manifest.model_validate(manifest()).to_json()
    selector = again["experiments"]["table"]["outcomes"]["accuracy"]["selector"]
    assert selector["json"] == "/accuracy"
    assert "json_pointer" not in selector


def test_outcomes_are_named_by_experiment_in_the_order_of_the_manifest() -> None:
    assert list(load_artifact(EXAMPLE).manifest.outcomes()) == [
        "table1/lda",
        "table1/qda",
        "table1/1nn",
    ]


@pytest.mark.parametrize(
    ("model", "schema", "pointer"),
    [
        (Manifest, "manifest", ()),
        (Outcome, "manifest", ("$defs", "outcome")),
        (ExecutionRecord, "execution-record", ()),
    ],
)
def test_every_field_of_a_model_is_in_the_schema(
    model: type[pydantic.BaseModel], schema: str, pointer: tuple[str, ...]
) -> None:
    node = load_schema(schema)
    for key in pointer:
        node = node[key]
    names = {field.alias or name for name, field in model.model_fields.items()}
    assert names <= set(node["properties"])


def test_required_keys_are_those_of_the_smallest_manifest() -> None:
    # format.md: the smallest valid manifest has these keys and no others.
    assert load_schema("manifest")["required"] == [
        "rra",
        "name",
        "version",
        "license",
        "environments",
        "launchers",
        "experiments",
    ]


def test_a_record_is_ok_only_with_status_0_and_all_outputs(tmp_path: Path) -> None:
    from tests.support.artifacts import make_artifact, record_run

    artifact = make_artifact(tmp_path, {"main.py": "print('{}')\n"})
    record = record_run(artifact).record
    assert record.ok
    assert not record.model_copy(update={"missing_outputs": ["metrics.json"]}).ok
    assert not record.model_copy(update={"exit_code": 1, "termination": "exit"}).ok
    assert json.loads(json.dumps(record.to_json())) == record.to_json()
