"""Reports: what was claimed, what came out, and where each number comes from.

One self-contained HTML file, a short Markdown summary and a badge, all from the same `Page`;
and a catalogue of what the words of verdicts, levels and errors mean.
"""

from __future__ import annotations

from rra.report.render import render_badge, render_html, render_markdown
from rra.report.words import Word, catalogue, explain_word

__all__ = [
    "Word",
    "catalogue",
    "explain_word",
    "render_badge",
    "render_html",
    "render_markdown",
]
