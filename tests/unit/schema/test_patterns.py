from __future__ import annotations

import json
import re

import pytest
import regress
from hypothesis import given
from hypothesis import strategies as st

from rra._base.jsontext import parse_json
from rra.schema import check_document
from rra.schema.patterns import compiled
from tests.support.source import ROOT

PATTERNS = sorted(
    {
        json.loads(written)
        for path in (ROOT / "schemas/v1").glob("*.schema.json")
        for written in re.findall(r'"pattern": ("(?:[^"\\]|\\.)*")', path.read_text("utf-8"))
    }
)


@pytest.mark.parametrize(
    ("pattern", "text", "fits"),
    [
        ("^a$", "a", True),
        ("^a$", "a\n", False),
        ("^[$]$", "$", True),
        (r"^\$$", "$", True),
        (r"^\\$", "\\\n", False),
        (r"^[\]$]$", "]", True),
        ("^a(/|$)", "a", True),
        ("^a(/|$)", "a\n", False),
    ],
)
def test_the_end_is_the_end_of_the_text(pattern: str, text: str, *, fits: bool) -> None:
    assert bool(compiled(pattern).search(text)) is fits
    assert bool(regress.Regex(pattern, "u").find(text)) is fits


@given(st.sampled_from(PATTERNS), st.data())
def test_the_patterns_of_the_schemas_mean_what_ecma_262_says(
    pattern: str, data: st.DataObject
) -> None:
    text = data.draw(st.text("ab/.-_:1 0\n\r\u2028x\\é", max_size=6) | st.from_regex(pattern))
    assert bool(compiled(pattern).search(text)) is bool(regress.Regex(pattern, "u").find(text))


@pytest.mark.clause("conformance/schema-dialect")
def test_an_id_with_a_line_feed_at_its_end_is_none() -> None:
    outcome = {"scores": [{"value": "1"}]}
    document = parse_json(json.dumps({"t/a\n": outcome}).encode(), source="references.json")
    assert [str(p.clause) for p in check_document(document, "references") if p.severity == "error"]
