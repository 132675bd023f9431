"""Small parts that several sections of the report share."""

from __future__ import annotations

from collections.abc import Iterable

from rra.report.markup import Content, Markup, join, tag
from rra.report.page import Fact, Found, Tone, Verdict

SIGNS: dict[Tone, str] = {"good": "✓", "mixed": "≈", "bad": "✗", "none": "–"}
"""A sign beside each colour, for who cannot tell the colours."""


def facts(items: Iterable[Fact]) -> Markup:
    """Return facts as a list of labels with values."""
    pairs = [join([tag("dt", item.label), tag("dd", _value(item))]) for item in items if item.value]
    return tag("dl", *pairs, class_="facts")


def _value(item: Fact) -> Content:
    return tag("code", item.value, class_="digest") if item.fixed else item.value


def verdict_chip(verdict: Verdict, text: str | None = None) -> Markup:
    """Return a verdict as a coloured word with its sign."""
    sign = tag("span", SIGNS[verdict.tone], aria_hidden="true")
    return tag("span", sign, " ", text or verdict.text, class_=f"chip {verdict.tone}")


def finding(item: Found, *, headline: bool = False) -> Markup:
    """Return a finding with its places and what was tried."""
    places = [tag("li", tag("code", place)) for place in item.places]
    details = [tag("li", text) for text in item.details]
    return tag(
        "div",
        tag("p", tag("span", item.word, class_=f"word {item.tone}"), " · ", item.message),
        tag("ul", *places, class_="places") if places else None,
        tag("details", tag("summary", "What was tried"), tag("ul", *details)) if details else None,
        class_=f"finding {item.tone}" + (" headline" if headline else ""),
        role="alert" if headline else None,
    )
