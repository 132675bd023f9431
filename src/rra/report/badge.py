"""A badge for a README: what a verification found, as a small picture."""

from __future__ import annotations

from rra.report.markup import tag

_CHARACTER = 6.6
_PAD = 8
_HEIGHT = 20
_COLOURS = {"good": "#1a7f4b", "mixed": "#9a5b00", "bad": "#b3261e", "none": "#5f6670"}


def render_badge(label: str, message: str, tone: str) -> str:
    """Return an SVG badge.

    Args:
        label: Left part, such as ``rra``.
        message: Right part, such as ``3 of 3 reproduced``.
        tone: ``good``, ``mixed``, ``bad`` or ``none``.
    """
    left, right = (len(text) * _CHARACTER + 2 * _PAD for text in (label, message))
    width = round(left + right)
    left = round(left)
    text_y = str(_HEIGHT - 6)
    return tag(
        "svg",
        tag("title", f"{label}: {message}"),
        tag("rect", width=str(width), height=str(_HEIGHT), rx="3", fill="#3a3f47"),
        tag(
            "path",
            d=f"M{left} 0h{width - left - 3}a3 3 0 0 1 3 3v14a3 3 0 0 1-3 3H{left}z",
            fill=_COLOURS[tone],
        ),
        tag(
            "g",
            tag("text", label, x=str(left / 2), y=text_y),
            tag("text", message, x=str(left + (width - left) / 2), y=text_y),
            fill="#fff",
            text_anchor="middle",
            font_family="Verdana,DejaVu Sans,sans-serif",
            font_size="11",
        ),
        xmlns="http://www.w3.org/2000/svg",
        width=str(width),
        height=str(_HEIGHT),
        role="img",
        aria_label=f"{label}: {message}",
    )
