from __future__ import annotations

import html

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rra.report.diff import MAX_LINES, count_changes, render_diff
from rra.report.markdown import text
from rra.report.markup import escape, join, raw, tag, visible
from rra.report.outcome_view import short, with_unit


@given(st.text())
def test_escaped_text_holds_no_markup_and_comes_back(value: str) -> None:
    escaped = escape(value)
    assert not set("<>\"'") & set(escaped)
    assert html.unescape(escaped) == visible(value)


def test_markup_is_not_escaped_twice() -> None:
    assert tag("p", tag("b", "a & b"), " < ") == "<p><b>a &amp; b</b> &lt; </p>"
    assert join(["a", None, raw("<br>")], " ") == "a <br>"


def test_attributes() -> None:
    assert tag("a", "x", href='"><script>', class_="k", data_label=None, open="") == (
        '<a href="&quot;&gt;&lt;script&gt;" class="k" open>x</a>'
    )
    assert tag("meta", charset="utf-8") == '<meta charset="utf-8">'


@pytest.mark.parametrize("name", ["a b", "", "script>", "1a"])
def test_a_name_that_is_none_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="not a name"):
        tag(name)


def test_a_diff_marks_each_line() -> None:
    patch = "--- a/x\n+++ b/x\n@@ -1 +1,2 @@\n same\n-<old>\n+new\n+more\n"
    block = render_diff(patch, "x.patch")
    assert '<span class="removed">-&lt;old&gt;\n</span>' in block
    assert '<span class="hunk">@@ -1 +1,2 @@\n</span>' in block
    assert '<span class="meta">--- a/x\n</span>' in block
    assert count_changes(patch) == (2, 1)


def test_a_long_diff_says_what_is_left_out() -> None:
    block = render_diff("+x\n" * (MAX_LINES + 7), "x.patch")
    assert block.count('class="added"') == MAX_LINES
    assert "7 more lines in x.patch" in block


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("98.87640449438202", "98.876404"),
        ("0.98876404494382", "0.98876404"),
        ("98.90", "98.90"),
        ("1234567890123", "1234567890123"),
        ("0.000000123456789", "1.2345679e-7"),
        ("QDA", "QDA"),
        ("NaN", "NaN"),
    ],
)
def test_numbers_are_short_for_people(value: str, expected: str) -> None:
    assert short(value) == expected


def test_units_are_written_as_one_writes_them() -> None:
    assert with_unit("98.9", "percent") == "98.9\u202f%"
    assert with_unit("0.5", "fraction") == "0.5"
    assert with_unit("3", "nats") == "3\u202fnats"
    assert with_unit("3", None) == "3"


@given(st.text())
def test_markdown_text_stays_on_its_line(value: str) -> None:
    assert "\n" not in text(value)
    assert "<" not in text(value).replace("\\<", "")
    assert "|" not in text(value).replace("\\|", "")
