"""HTML and SVG by pure functions: every text is escaped unless it is markup already."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable

_NAME = re.compile(r"[a-z][a-z0-9-]*\Z", re.IGNORECASE)
_VOID = {"meta", "br", "hr", "img", "link", "col"}
_EMPTY_SHAPES = {"line", "circle", "rect", "path"}
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
_BIDI = re.compile("[\u202a-\u202e\u2066-\u2069]")


class Markup(str):
    """Text that is markup already; only `tag`, `join` and `raw` make it."""

    __slots__ = ()


Content = Markup | str | int | None


def escape(text: object) -> Markup:
    """Return a text as markup; control and direction-changing characters become visible.

    Markup passes unchanged.
    """
    if isinstance(text, Markup):
        return text
    return Markup(html.escape(visible(str(text))))


def visible(text: str) -> str:
    """Return a text in which nothing is hidden and nothing changes the direction of reading."""
    shown = _CONTROL.sub("�", text)
    return _BIDI.sub(lambda match: f"[U+{ord(match.group()):04X}]", shown)


def raw(text: str) -> Markup:
    """Vouch for a text of our own that is markup."""
    return Markup(text)


def join(parts: Iterable[Content], separator: Content = "") -> Markup:
    """Return parts one after the other; None is left out."""
    return Markup(escape(separator).join(escape(part) for part in parts if part is not None))


def tag(name: str, /, *content: Content, **attributes: Content) -> Markup:
    """Return an element.

    Args:
        name: Name of the element.
        content: Text (escaped) or markup; None is left out.
        attributes: ``class_`` and ``for_`` lose their last character, other underscores become
            hyphens; an attribute whose value is None is left out, an empty one has no value.

    Raises:
        ValueError: A name is not one.
    """
    pairs = [(key.rstrip("_").replace("_", "-"), value) for key, value in attributes.items()]
    for word in (name, *(key for key, _ in pairs)):
        if not _NAME.match(word):
            raise ValueError(f"not a name: {word!r}")
    inside = "".join(
        f" {key}" if value == "" else f' {key}="{escape(value)}"'
        for key, value in pairs
        if value is not None
    )
    if name in _VOID:
        return Markup(f"<{name}{inside}>")
    if name in _EMPTY_SHAPES and not content:
        return Markup(f"<{name}{inside}/>")
    return Markup(f"<{name}{inside}>{join(content)}</{name}>")


def lines(parts: Iterable[Content]) -> Markup:
    """Return parts on lines of their own; None is left out."""
    return join(parts, raw("\n"))
