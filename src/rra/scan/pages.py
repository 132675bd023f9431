"""Command lines in pages of HTML: blocks of ``<pre>`` and spans of code."""

from __future__ import annotations

import html
import re
from collections.abc import Collection

from rra.scan.blocks import DocumentLine, block_lines, language
from rra.scan.documents import running_text

_HIDDEN = re.compile(
    r"<!--.*?(?:-->|\Z)|<(?P<tag>script|style|head|svg)\b.*?(?:</(?P=tag)\s*>|\Z)",
    re.IGNORECASE | re.DOTALL,
)
_PRE = re.compile(
    r"<pre\b(?P<attributes>[^<>]*)>(?P<body>.*?)(?:</pre\s*>|\Z)", re.IGNORECASE | re.DOTALL
)
_CLASS = re.compile(
    r"(?:class|lang|data-lang)\s*=\s*[\"']?[^\"'>]*?(?:language-|highlight-|lang-)?"
    r"\b(bash|shell|sh|console|python|py|r|julia|matlab|json|yaml|cpp|c|text|none)\b",
    re.IGNORECASE,
)
_TAG_NOT_CODE = re.compile(r"<(?!/?(?:code|kbd|tt)\b)/?[A-Za-z][^<>]*>", re.IGNORECASE)
_TAG = re.compile(r"</?[A-Za-z][^<>]*>")
_MADE = re.compile(
    r"jp-Notebook|<meta[^>]+content=[\"'](?:Doxygen|pdoc|rustdoc)|coverage\.py|"
    r"id=[\"']pytest|plotly\.js|bokeh",
    re.IGNORECASE,
)
_MAX_CHARACTERS = 500_000


def is_written_page(text: str) -> bool:
    """Tell whether a page was written for readers, and is no export, report or figure."""
    return len(text) <= _MAX_CHARACTERS and not _MADE.search(text[:200_000])


def html_lines(text: str, programs: Collection[str] = ()) -> list[DocumentLine]:
    """Return the lines of ``<pre>`` blocks, and the code spans that start a program.

    Args:
        text: The page.
        programs: Names of programs that the repository builds or installs.
    """
    if not is_written_page(text):
        return []
    text = _HIDDEN.sub(_blank, text)
    found: list[DocumentLine] = []
    for block, pre in enumerate(_PRE.finditer(text), start=1):
        start = text.count("\n", 0, pre.start("body")) + 1
        named = _CLASS.search(pre["attributes"] + pre["body"].partition(">")[0])
        body = html.unescape(_TAG.sub("", re.sub(r"<br\s*/?>", "\n", pre["body"])))
        numbered = [(start + offset, line.strip()) for offset, line in enumerate(body.split("\n"))]
        found += block_lines(numbered, block, language(named[1]) if named else "")
    for number, line in enumerate(_PRE.sub(_blank, text).split("\n"), start=1):
        plain = _TAG_NOT_CODE.sub(" ", line)
        if plain.strip():
            found += running_text(plain, number, 1_000_000 + number, programs)
    return sorted(found, key=lambda one: one.line)


def _blank(found: re.Match[str]) -> str:
    return "\n" * found[0].count("\n")
