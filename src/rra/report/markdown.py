"""The report as a few lines of Markdown, for a pull request or an issue."""

from __future__ import annotations

import re
from collections.abc import Iterable

from rra.report.markup import visible
from rra.report.page import OutcomeView, Page
from rra.report.pieces import SIGNS

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~@!])")


def render_summary_markdown(page: Page) -> str:
    """Return headline, table of outcomes, decisive findings, and how the run was made."""
    lines = [f"## {text(page.title)}", "", f"**{text(page.headline)}**"]
    if page.counts:
        counts = ", ".join(f"{number} {verdict.text}" for verdict, number in page.counts)
        lines += ["", text(counts)]
    if page.level:
        lines += ["", text(page.level)]
    lines += ["", *_table(page), *_findings(page.outcomes)]
    run = [f"{text(fact.label)}: {_code(fact.value)}" for fact in page.run if fact.value]
    if run:
        lines += ["", "<details><summary>How this was run</summary>", ""]
        lines += [f"- {line}" for line in run]
        lines += ["", "</details>"]
    return "\n".join(lines) + "\n"


def _table(page: Page) -> list[str]:
    if not page.verified:
        rows = [(item.key, item.location, item.claimed) for item in page.outcomes]
        return _rows(("outcome", "in the paper", "claimed"), rows)
    titles = ("outcome", "in the paper", "claimed", "obtained", "verdict")
    return _rows(
        titles,
        [
            (
                item.key,
                item.location,
                item.claimed,
                item.obtained,
                f"{SIGNS[item.verdict.tone]} {item.verdict.text}",
            )
            for item in page.outcomes
        ],
    )


def _rows(titles: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> list[str]:
    head = f"| {' | '.join(titles)} |"
    rule = f"|{'|'.join(['---'] * len(titles))}|"
    return [head, rule, *(f"| {' | '.join(text(cell) or '–' for cell in row)} |" for row in rows)]


def _findings(outcomes: tuple[OutcomeView, ...]) -> list[str]:
    found = []
    for item in outcomes:
        for finding in item.headline:
            places = ", ".join(_code(place) for place in finding.places)
            where = f" ({places})" if places else ""
            found.append(
                f"- **{text(finding.word)}** {text(item.key)}: {text(finding.message)}{where}"
            )
    return ["", *found] if found else []


def text(value: str) -> str:
    """Return a text in which nothing is markup, on one line."""
    return _SPECIAL.sub(r"\\\1", " ".join(visible(value).split()))


def _code(value: str) -> str:
    """Return a text in code quotes that its own quotes cannot end."""
    flat = " ".join(visible(value).split())
    ticks = "`" * (max((len(run) for run in re.findall(r"`+", flat)), default=0) + 1)
    pad = " " if flat.startswith("`") or flat.endswith("`") else ""
    return f"{ticks}{pad}{flat}{pad}{ticks}"
