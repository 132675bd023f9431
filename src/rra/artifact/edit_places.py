"""Where in a text something can be put or taken away without touching anything else."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from rra._base.yaml import Node
from rra.errors import UsageError

Change = tuple[int, int, str]
"""Offsets of a stretch of the text, and what stands there afterwards."""

_COMMENT_LINE = re.compile(r"(?P<indent>[ ]*)#[^\r\n]*(?:\r\n|\n|\r|\Z)")
_LINE_END = re.compile(r"\r\n|\n|\r")
_REST = re.compile(r"[ \t]*(?:#[^\r\n]*)?(?:\r\n|\n|\r|\Z)")
_PROPERTY = re.compile(r"(?:&[^\s,\[\]{}]+|!(?:<[^>\s]*>|[^\s,\[\]{}]*))")
_GAP = re.compile(r"(?:[ \t\r\n]|(?<=[ \t\r\n])#[^\r\n]*)*")
_TEXTS = frozenset({"|", ">"})


def applied(text: str, changes: Sequence[Change]) -> str:
    """Return the text with changes made; they may not overlap."""
    parts: list[str] = []
    done = 0
    for start, end, new in sorted(changes, key=lambda change: change[:2]):
        if start < done:
            raise refusal("two changes meet at one place")
        parts += [text[done:start], new]
        done = end
    return "".join([*parts, text[done:]])


def refusal(why: str) -> UsageError:
    """Return the error for an edit that cannot be made without touching the rest."""
    message = f"this cannot be edited without changing the rest of the document: {why}"
    return UsageError(message, hint="edit the file by hand, or write that part plainly")


def line_end(text: str, offset: int = 0) -> str:
    """Return the line end that is used at a place: the next one, else the first of the text."""
    found = _LINE_END.search(text, offset) or _LINE_END.search(text)
    return found[0] if found is not None else "\n"


def line_start(text: str, offset: int) -> int:
    """Return where the line of a character begins."""
    return max(text.rfind("\n", 0, offset), text.rfind("\r", 0, offset)) + 1


def past_line(text: str, node: Node) -> int:
    """Return the offset behind the line that a node of block style ends with."""
    if last(node).style in _TEXTS:
        return node.end
    found = _REST.match(text, node.end)
    return found.end() if found is not None else node.end


def ends_with_line_end(text: str, offset: int) -> str:
    """Return the line end in front of an offset; nothing when none stands there."""
    if text[max(offset - 2, 0) : offset] == "\r\n":
        return "\r\n"
    return text[offset - 1 : offset] if text[offset - 1 : offset] in {"\r", "\n"} else ""


def past_blank(text: str, offset: int, limit: int) -> int:
    """Return the offset behind the line end that follows, blanks passed over."""
    found = re.compile(r"[ \t]*(?:\r\n|\n|\r)?").match(text, offset, limit)
    return found.end() if found is not None else offset


def content_start(text: str, node: Node) -> int:
    """Return the offset of a node's content, behind its anchor and tag."""
    offset = node.start
    if node.bare or node.kind == "alias":
        return offset
    while (found := _PROPERTY.match(text, offset)) is not None and found.end() <= node.end:
        offset = found.end()
        gap = _GAP.match(text, offset)
        if gap is None or gap.end() > node.end:
            break
        offset = gap.end()
        if offset == node.end:
            break
    return offset


def last(node: Node) -> Node:
    """Return the node that the text of a node ends with."""
    while not node.flow and node.values:
        inner = node.values[-1]
        if inner.empty and node.keys:
            return inner if inner.end >= node.keys[-1].end else node.keys[-1]
        node = inner
    return node


def behind(text: str, node: Node, column: int) -> tuple[int, str]:
    """Return where a block goes on behind a node, and what has to stand in front.

    That is below its last line and below the comments that belong to it: those directly under
    it that are indented deeper than `column` (0-based).
    """
    final = last(node)
    offset = node.end
    # Of a key without a value the colon may be to come; its line ends behind it either way.
    if final.style not in _TEXTS:
        found = _LINE_END.search(text, offset)
        if found is None:
            return len(text), line_end(text)
        offset = found.end()
    elif text[:offset] and text[offset - 1] not in "\r\n":
        return offset, line_end(text)
    while (line := _COMMENT_LINE.match(text, offset)) and len(line["indent"]) > column:
        offset = line.end()
    if offset == len(text) and text[-1] not in "\r\n":
        return offset, line_end(text)
    return offset, ""


def colon_after(text: str, key: Node) -> int:
    """Return the offset behind the colon of a key.

    Raises:
        UsageError: There is no colon.
    """
    gap = _GAP.match(text, key.end)
    offset = gap.end() if gap is not None else key.end
    if text[offset : offset + 1] != ":":
        raise refusal("a key stands there without a colon")
    return offset + 1


def dash_before(text: str, items: Node, index: int) -> int:
    """Return the offset of the dash of an item of a list in block style."""
    begin = content_start(text, items)
    if index == 0:
        return begin
    column = begin - line_start(text, begin)
    start = line_start(text, items.values[index].start)
    floor = items.values[index - 1].end
    while start >= floor or start + column >= floor:
        before = text[start : start + column]
        if text[start + column : start + column + 1] == "-" and not before.strip(" "):
            return start + column
        if start == 0:
            break
        start = line_start(text, start - 1)
    raise refusal("the dash of an item is not found")


def entry_start(text: str, key: Node) -> int:
    """Return where an entry of a map in block style begins: its key or the question mark."""
    start = line_start(text, key.start)
    found = re.search(r"\?[ \t]+\Z", text[start : key.start])
    return start + found.start() if found is not None else key.start


def comments_above(text: str, start: int) -> Iterator[tuple[int, int]]:
    """Yield begin and end of the comment lines that stand directly above a line, nearest first.

    Args:
        text: The document.
        start: Where the line begins.
    """
    while start:
        end = start
        start = line_start(text, end - 2 if text[end - 2 : end] == "\r\n" else end - 1)
        if not text[start:end].lstrip(" ").startswith("#"):
            return
        yield start, end


def block_removal(text: str, start: int, node: Node, following: int | None) -> list[Change]:
    """Take away an entry or item of block style, with the comment behind it.

    Args:
        text: The document.
        start: Where it begins: its key, question mark or dash.
        node: What its text ends with.
        following: Where the next entry begins, if there is one.
    """
    begin = line_start(text, start)
    end = past_line(text, node)
    if not text[begin:start].strip(" \ufeff"):
        kept = "\ufeff" if text[begin:start].startswith("\ufeff") else ""
        return [(begin + len(kept), end, "")]
    if following is None:
        raise refusal("nothing would be left behind a dash")
    if not text[end:following].strip():
        return [(start, following, "")]
    ending = line_end(text, node.end) if text[end - 1] in "\r\n" else ""
    return [(start, end - len(ending), "")]


def commas(text: str, start: int, end: int) -> list[int]:
    """Return the offsets of the commas between two entries of flow style, comments left out."""
    found: list[int] = []
    offset = start
    while offset < end:
        comment = re.match(r"#[^\r\n]*", text[offset:end])
        if comment is not None:
            offset += comment.end()
            continue
        if text[offset] == ",":
            found.append(offset)
        offset += 1
    return found


def flow_removal(text: str, spans: Sequence[tuple[int, int]], index: int, end: int) -> list[Change]:
    """Take away an entry of flow style with the comma that parts it from its neighbour.

    Args:
        text: The document.
        spans: Where each entry begins and ends.
        index: Which one.
        end: Offset of the closing bracket.
    """
    start, stop = spans[index]
    if index + 1 < len(spans):
        return _removal_before(text, start, stop, spans[index + 1][0])
    trailing = commas(text, stop, end)
    if trailing and index:
        return [_with_gap(text, start, trailing[0] + 1)]
    if trailing or not index:
        return [(start, stop, ""), *((comma, comma + 1, "") for comma in trailing)]
    between = commas(text, spans[index - 1][1], start)
    if not between:
        raise refusal("the comma in front of the entry is not found")
    comma = between[0]
    if not text[comma + 1 : start].strip():
        return [(comma, stop, "")]
    return [(comma, comma + 1, ""), (start, stop, "")]


def _removal_before(text: str, start: int, stop: int, following: int) -> list[Change]:
    """Take away an entry of flow style that another one follows."""
    between = commas(text, stop, following)
    if not between:
        raise refusal("the comma behind the entry is not found")
    comma = between[0]
    if text[comma + 1 : following].strip(" \t"):
        return [(start, stop, ""), (comma, comma + 1, "")]
    if text[stop:comma].strip():
        return [(start, stop, ""), (comma, following, "")]
    return [(start, following, "")]


def _with_gap(text: str, start: int, stop: int) -> Change:
    """Widen a removal over the blanks in front of it, when they stand in its own line."""
    begin = len(text[:start].rstrip(" \t"))
    return (begin if text[begin - 1 : begin] == "," else start, stop, "")
