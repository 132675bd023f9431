"""The report as one HTML file that asks nothing of any server and runs no script."""

from __future__ import annotations

from importlib import resources

from rra.report.diff import count_changes, render_diff
from rra.report.markup import Content, Markup, join, lines, raw, tag
from rra.report.outcome import render_outcome, render_summary
from rra.report.page import EnvironmentView, Fact, Found, Page, RepairView, RunView, SettingView
from rra.report.pieces import facts, finding, verdict_chip

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
_OPEN_LINES = 40


def render_page(page: Page) -> str:
    """Return the whole document."""
    style = resources.files("rra.report").joinpath("style.css").read_text("utf-8")
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=_POLICY),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("meta", name="referrer", content="no-referrer"),
        tag("title", f"{page.title} · reproduction report"),
        tag("style", raw(style)),
    )
    sections = _sections(page)
    body = tag(
        "body",
        tag("a", "To the outcomes", href="#outcomes", class_="skip"),
        _header(page, [(anchor, title) for anchor, title, _ in sections]),
        tag("main", lines(_section(*section) for section in sections), id="main"),
        tag("footer", tag("p", page.footer)),
    )
    return raw("<!doctype html>\n") + tag("html", "\n", head, "\n", body, "\n", lang="en") + "\n"


def _sections(page: Page) -> list[tuple[str, str, Markup]]:
    """Return the sections that have something to say: anchor, title and content."""
    found: list[tuple[str, str, Markup | None]] = [
        ("outcomes", "Outcomes", render_summary(page.outcomes, verified=page.verified)),
        ("details", "Outcome by outcome", lines(map(render_outcome, page.outcomes))),
        ("settings", "Settings and why", _settings(page.settings)),
        ("repairs", "Repairs and why", _repairs(page.repairs, page.equality)),
        ("environment", "Environment", _environments(page.environments)),
        ("plan", "Plan and rule", facts(page.plan) if page.plan else None),
        ("runs", "Runs", _runs(page.runs)),
        ("limits", "What this evidence does not show", _limits(page.limits)),
        ("lint", "Lint", _lint(page.lint)),
    ]
    return [(anchor, title, content) for anchor, title, content in found if content]


def _section(anchor: str, title: str, content: Content) -> Markup:
    heading = tag("h2", title, id=f"{anchor}-title")
    return tag("section", heading, content, id=anchor, aria_labelledby=f"{anchor}-title")


def _header(page: Page, anchors: list[tuple[str, str]]) -> Markup:
    chips = [
        tag("li", verdict_chip(verdict, f"{count} × {verdict.text}"))
        for verdict, count in page.counts
    ]
    banner = tag(
        "div",
        tag("p", page.headline, class_="headline"),
        tag("ul", *chips, class_="chips") if chips else None,
        tag("p", page.level, class_="quiet") if page.level else None,
        class_=f"banner {page.tone}",
    )
    links = [tag("li", tag("a", title, href=f"#{anchor}")) for anchor, title in anchors]
    return tag(
        "header",
        tag("p", f"Reproduction report · {page.name}", class_="quiet"),
        tag("h1", page.title),
        tag("p", page.description) if page.description else None,
        _paper(page.paper),
        banner,
        facts(page.run) if page.run else None,
        tag("nav", tag("ul", *links), aria_label="Sections"),
    )


def _paper(paper: tuple[str, str] | None) -> Markup | None:
    if paper is None:
        return None
    text, address = paper
    link = tag("a", address, href=address, rel="noreferrer") if address else None
    return tag("p", "Paper: ", text, " " if link else None, link)


def _settings(settings: tuple[SettingView, ...]) -> Markup | None:
    if not settings:
        return None
    titles = ("setting", "value", "from", "why", "also tried")
    rows = [
        tag(
            "tr",
            tag("th", tag("code", item.name), scope="row", role="rowheader"),
            _cell("value", tag("code", item.value)),
            _cell("from", item.source),
            _cell("why", item.rationale),
            _cell("also tried", join(item.alternatives, tag("br")) or "–"),
            role="row",
        )
        for item in settings
    ]
    return table("What the experiment was set to, and who says so", titles, rows, "settings")


def table(caption: str, titles: tuple[str, ...], rows: list[Markup], kind: str = "") -> Markup:
    """Return a table that becomes a list of cards on a narrow screen."""
    heads = [tag("th", title, scope="col", role="columnheader") for title in titles]
    return tag(
        "table",
        tag("caption", caption),
        tag("thead", tag("tr", *heads, role="row"), role="rowgroup"),
        tag("tbody", *rows, role="rowgroup"),
        class_=f"stack {kind}".strip(),
        role="table",
    )


def _cell(label: str, content: Content) -> Markup:
    return tag("td", tag("span", content), data_label=label, role="cell")


def _repairs(repairs: tuple[RepairView, ...], equality: str) -> Markup | None:
    if not repairs and not equality:
        return None
    note = tag("p", equality) if equality else None
    none = None if repairs else tag("p", "No repairs are declared.", class_="quiet")
    return join([note, none, *map(_repair, repairs)])


def _repair(repair: RepairView) -> Markup:
    told = (
        Fact("symptom", repair.symptom),
        Fact("cause", repair.cause),
        Fact("why this way", repair.rationale),
        *repair.facts,
    )
    if repair.patch is None:
        patch = tag("p", f"The patch {repair.patch_file} is not there.", class_="bad")
    else:
        added, removed = count_changes(repair.patch)
        short = repair.patch.count("\n") <= _OPEN_LINES
        patch = tag(
            "details",
            tag("summary", tag("code", repair.patch_file), f" (+{added} −{removed})"),
            render_diff(repair.patch, repair.patch_file),
            open="" if short else None,
        )
    top = tag(
        "div",
        tag("h3", f"{repair.key} · {repair.title}"),
        tag("span", f"{repair.category} · effect on results: {repair.effect}", class_="quiet"),
        class_="top",
    )
    return tag("article", top, facts(told), patch)


def _environments(environments: tuple[EnvironmentView, ...]) -> Markup | None:
    if not environments:
        return None
    return join(
        tag("article", tag("h3", item.key), facts(item.facts), class_="environment")
        for item in environments
    )


def _runs(runs: tuple[RunView, ...]) -> Markup | None:
    if not runs:
        return None
    titles = ("launcher", "seed", "ended", "took", "memory", "record")
    rows = [
        tag(
            "tr",
            tag("th", item.launcher, scope="row", role="rowheader"),
            _cell("seed", item.seed or "–"),
            _cell("ended", tag("span", item.ended, class_=item.tone)),
            _cell("took", item.seconds or "–"),
            _cell("memory", item.memory or "–"),
            _cell("record", tag("code", item.record, class_="digest") if item.record else "–"),
            role="row",
        )
        for item in runs
    ]
    return table("Every run that was made for this verification", titles, rows)


def _limits(limits: tuple[str, ...]) -> Markup | None:
    return tag("ul", *(tag("li", text) for text in limits), class_="limits") if limits else None


def _lint(found: tuple[Found, ...] | None) -> Markup | None:
    if found is None:
        return None
    if not found:
        return tag("p", "The linter has nothing to object to.")
    return join(finding(item) for item in found)
