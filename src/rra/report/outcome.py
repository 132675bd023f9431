"""The outcomes: one table for all, then each with its plot and its trace."""

from __future__ import annotations

from rra.report.markup import Markup, join, tag
from rra.report.page import OutcomeView, Step
from rra.report.pieces import facts, finding, verdict_chip
from rra.report.plot import Plot, render_plot

_SHORT = 28
_TITLES = ("outcome", "in the paper", "claimed", "obtained", "agreement", "repeatability")


def render_summary(outcomes: tuple[OutcomeView, ...], *, verified: bool) -> Markup:
    """Return the table of all outcomes; columns without content are left out."""
    titles = (*_TITLES, "verdict") if verified else _TITLES[:3]
    caption = (
        "What the paper claims and what the new runs gave"
        if verified
        else "What the paper claims; nothing has been run to check it"
    )
    heads = [tag("th", title, scope="col", role="columnheader") for title in titles]
    return tag(
        "table",
        tag("caption", caption),
        tag("thead", tag("tr", *heads, role="row"), role="rowgroup"),
        tag("tbody", *(_row(item, verified=verified) for item in outcomes), role="rowgroup"),
        class_="stack",
        role="table",
    )


def _row(item: OutcomeView, *, verified: bool) -> Markup:
    link = tag("a", item.key, href=f"#{item.anchor}")
    cells = [
        tag("th", link, scope="row", role="rowheader"),
        _cell("in the paper", item.location or "–"),
        _cell("claimed", item.claimed),
    ]
    if verified:
        cells += [
            _cell("obtained", item.obtained or "–"),
            _cell("agreement", tag("span", item.agreement.text, class_=item.agreement.tone)),
            _cell(
                "repeatability",
                tag("span", item.repeatability.text, class_=item.repeatability.tone),
            ),
            tag("td", verdict_chip(item.verdict), data_label="verdict", role="cell"),
        ]
    return tag("tr", *cells, role="row")


def _cell(label: str, content: Markup | str) -> Markup:
    plain = len(content) <= _SHORT and label in {"claimed", "obtained"}
    kind = "number" if plain else None
    return tag("td", tag("span", content, class_=kind), data_label=label, role="cell")


def render_outcome(item: OutcomeView) -> Markup:
    """Return one outcome: verdict and reason, plot and numbers, findings, trace."""
    top = tag(
        "div",
        tag("h3", item.key, tag("small", f" {item.location}", class_="quiet")),
        verdict_chip(item.verdict),
        class_="top",
    )
    plot = render_plot(item.plot, f"{item.anchor}-plot") if item.plot else None
    numbers = facts(item.facts) if item.facts else None
    left = tag("div", plot, _legend(item.plot)) if plot and item.plot else None
    right = tag("div", numbers) if numbers else None
    body = tag("div", left, right, class_="columns") if left and right else join([left, right])
    return tag(
        "article",
        top,
        *(finding(found, headline=True) for found in item.headline),
        tag("p", item.reason) if item.reason else None,
        _deviation(item.deviation),
        body,
        *(finding(found) for found in item.findings),
        _trace(item.trace),
        id=item.anchor,
    )


def _legend(plot: Plot) -> Markup | None:
    """Return what the shaded and the dashed parts of a plot mean."""
    parts = []
    if plot.band:
        parts.append("shaded: values that agree")
    if any(lane.interval for lane in plot.lanes):
        parts.append("dashed: no difference from the paper's value (g)")
    return tag("p", " · ".join(parts), class_="quiet legend") if parts else None


def _deviation(deviation: tuple[str, str] | None) -> Markup | None:
    if deviation is None:
        return None
    observed, explanation = deviation
    said = tag("strong", f"The artifact announces {observed}: ")
    return tag("p", said, explanation, class_="deviation")


def _trace(steps: tuple[Step, ...]) -> Markup | None:
    if not steps:
        return None
    items = [
        tag(
            "li",
            tag("span", step.label, class_="label"),
            tag("strong" if index == 0 else "code", step.name),
            tag("span", f" {step.remark}", class_="quiet") if step.remark else None,
            join([tag("br"), tag("code", step.digest, class_="digest")]) if step.digest else None,
        )
        for index, step in enumerate(steps)
    ]
    return join([tag("h4", "Where the number comes from"), tag("ol", *items, class_="trace")])
