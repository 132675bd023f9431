"""The pages of the specification lead to each other, and the first one to all."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

SPEC = Path(__file__).parents[2] / "spec"
PAGES = sorted(SPEC.rglob("*.md"))


def prose(page: Path) -> str:
    """Return the text of a page without its examples."""
    return re.sub(r"```.*?```", "", page.read_text("utf-8"), flags=re.DOTALL)


def targets(page: Path) -> list[str]:
    """Return the targets of a page's links within the repository."""
    text = re.sub(r"`[^`\n]*`", "", prose(page))
    found = re.findall(r"\]\(([^)\s]+)\)", text)
    return [link for link in found if not re.match(r"https?://", link)]


def links(page: Path) -> list[str]:
    """Return the other pages and files that a page links to, without fragments."""
    return [link.partition("#")[0] for link in targets(page) if not link.startswith("#")]


def anchors(page: Path) -> set[str]:
    """Return the fragments of a page's headings, as they are made on GitHub."""
    headings = re.findall(r"^#+ +(.+?) *$", prose(page), flags=re.MULTILINE)
    made = [re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings]
    return {f"{name}-{made[:at].count(name)}".removesuffix("-0") for at, name in enumerate(made)}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_lead_somewhere(page: Path) -> None:
    assert [link for link in links(page) if not (page.parent / link).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_lead_to_headings(page: Path) -> None:
    broken = []
    for link in targets(page):
        name, _, fragment = link.partition("#")
        target = page.parent / name if name else page
        if fragment and target.suffix == ".md" and fragment not in anchors(target):
            broken.append(link)
    assert broken == []


def test_anchors_of_headings(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# The `code` of (it)\n\n## Clauses\n\n## Clauses\n\n```text\n# none\n```\n")
    assert anchors(page) == {"the-code-of-it", "clauses", "clauses-1"}


def test_the_first_page_leads_to_every_page() -> None:
    first = SPEC / "README.md"
    reached = {(first.parent / link).resolve() for link in links(first)}
    assert [page.name for page in PAGES if page != first and page.resolve() not in reached] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_pages_speak_of_the_format_not_of_a_program(page: Path) -> None:
    text = page.read_text("utf-8")
    assert not re.search(r"`rra [a-z]|\bsrc/rra|\bpydantic\b", text)
