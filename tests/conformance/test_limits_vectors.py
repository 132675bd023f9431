"""Documents at the limits of size, which the corpus describes in place of having them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from rra.artifact.checking import check_bytes
from tests.support.source import ROOT

VECTORS = ROOT / "schemas/conformance/v1/vectors/limits/limits.json"
CASES: list[dict[str, Any]] = json.loads(VECTORS.read_text("utf-8"))


@pytest.mark.clause("documents/size", "documents/value-limit", "conformance/validator-is-bounded")
@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["name"]))
def test_documents_at_the_limits(case: dict[str, Any]) -> None:
    data = b"".join(part["text"].encode() * part["times"] for part in case["parts"])
    assert len(data) == case["bytes"]
    checked = check_bytes(data, case["document"], source="x")
    expected = case["expect"]
    assert checked.stage == expected["stage"]
    faults = {(one.clause, one.pointer) for one in checked.errors}
    assert faults == (
        {(expected["clause"], expected["pointer"])} if "clause" in expected else set()
    )
