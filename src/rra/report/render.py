"""The three renderings of a report; pure functions of their documents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rra.report import badge
from rra.report.html import render_page
from rra.report.markdown import render_summary_markdown
from rra.report.view import build_page

if TYPE_CHECKING:
    from rra.artifact import Artifact

Json = Mapping[str, Any]


def render_html(
    artifact: Artifact,
    *,
    reproduction: Json | None = None,
    audit: Json | None = None,
    lint: Json | None = None,
) -> str:
    """Return a report as one HTML file without scripts or requests.

    The same documents give the same bytes.

    Args:
        artifact: The artifact.
        reproduction: ``reproduction.json`` of a verification; without it the report shows the
            claims and says that nothing was verified.
        audit: ``audit.json``.
        lint: Result of the linter as JSON.

    Raises:
        FormatError: Settings or repairs of the artifact break their schema.
    """
    return render_page(build_page(artifact, reproduction=reproduction, audit=audit, lint=lint))


def render_markdown(
    artifact: Artifact, *, reproduction: Json | None = None, audit: Json | None = None
) -> str:
    """Return a short summary for a pull request.

    Raises:
        FormatError: Settings or repairs of the artifact break their schema.
    """
    return render_summary_markdown(build_page(artifact, reproduction=reproduction, audit=audit))


def render_badge(artifact: Artifact, *, reproduction: Json | None = None) -> str:
    """Return a badge as SVG: how many outcomes were reproduced, in the colour of the worst."""
    page = build_page(artifact, reproduction=reproduction)
    total = len(page.outcomes)
    if not page.verified:
        return badge.render_badge("rra", "not verified", "none")
    good = sum(number for verdict, number in page.counts if verdict.word == "reproduced")
    return badge.render_badge("rra", f"{good} of {total} reproduced", page.tone)
