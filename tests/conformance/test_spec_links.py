"""The pages of the specification lead to each other, and the first one to all."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

SPEC = Path(__file__).parents[2] / "spec"
PAGES = sorted(SPEC.rglob("*.md"))


def links(page: Path) -> list[str]:
    """Return the targets of a page's links within the repository, without their fragments."""
    text = re.sub(r"```.*?```", "", page.read_text("utf-8"), flags=re.DOTALL)
    text = re.sub(r"`[^`\n]*`", "", text)
    found = re.findall(r"\]\(([^)\s]+)\)", text)
    return [link.partition("#")[0] for link in found if not re.match(r"https?://|#", link)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_lead_somewhere(page: Path) -> None:
    assert [link for link in links(page) if not (page.parent / link).exists()] == []


def test_the_first_page_leads_to_every_page() -> None:
    first = SPEC / "README.md"
    reached = {(first.parent / link).resolve() for link in links(first)}
    assert [page.name for page in PAGES if page != first and page.resolve() not in reached] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_pages_speak_of_the_format_not_of_a_program(page: Path) -> None:
    text = page.read_text("utf-8")
    assert not re.search(r"`rra [a-z]|\bsrc/rra|\bpydantic\b", text)
