"""Reading the pages of the specification: clauses, fenced blocks, and what stands between them."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from pathlib import Path

from rra.report.clauses import CLAUSE

ROOT = Path(__file__).resolve().parent.parent
SPEC = ROOT / "spec"
GENERATED = "clauses.md"

CLASSES = ("producer", "consumer", "registry", "validator", "auditor")
CHECKERS = ("schema", "rule", "recorder", "executor", "declaration")
WORDS = ("MUST NOT", "SHOULD NOT", "MUST", "SHOULD", "MAY")
ID = re.compile(r"(?P<page>[a-z0-9-]+)/(?P<slug>[a-z0-9-]+)")

_LIKE_A_CLAUSE = re.compile(r"\s*(?:[-*+]|\d+[.)])\s+\*\*[^*]*/[^*]*\*\*")
_FENCE = re.compile(r"(?P<indent> *)(?P<mark>`{3,}|~{3,})(?P<info>.*)")
_KEYWORD = re.compile(
    r"\b(?:MUST NOT|MUST|SHALL NOT|SHALL|SHOULD NOT|SHOULD|NOT RECOMMENDED|RECOMMENDED"
    r"|REQUIRED|MAY|OPTIONAL)\b"
)
_CODE = re.compile(r"`[^`]*`")


@dataclasses.dataclass(frozen=True)
class Clause:
    """One requirement.

    Attributes:
        id: ``<page>/<slug>``.
        page: File, relative to the repository.
        line: Line of the page, 1-based.
        word: The word of RFC 2119 in it.
        classes: Whom it binds.
        checkers: Who finds out when it is broken.
        reason: Why no machine can, of a declaration.
        text: The requirement.
    """

    id: str
    page: str
    line: int
    word: str
    classes: tuple[str, ...]
    checkers: tuple[str, ...]
    reason: str
    text: str


@dataclasses.dataclass(frozen=True)
class Fence:
    """A fenced block: its first line behind the marks, and its text.

    Attributes:
        page: File, relative to the repository.
        line: Line of the opening marks, 1-based.
        info: What stands behind the opening marks.
        text: The block, without its marks.
    """

    page: str
    line: int
    info: str
    text: str


@dataclasses.dataclass
class Page:
    """What a page holds.

    Attributes:
        name: File, relative to the repository.
        clauses: Its clauses, in order.
        fences: Its fenced blocks, in order.
        faults: What is wrong with it, each with its place.
    """

    name: str
    clauses: list[Clause] = dataclasses.field(default_factory=list)
    fences: list[Fence] = dataclasses.field(default_factory=list)
    faults: list[str] = dataclasses.field(default_factory=list)


def read_pages(root: Path = SPEC) -> list[Page]:
    """Read every page below a folder, but not the one that is generated."""
    return [
        read_page(path.read_text("utf-8"), str(path.relative_to(root.parent)))
        for path in sorted(root.rglob("*.md"))
        if path.name != GENERATED
    ]


def read_page(text: str, name: str) -> Page:
    """Take a page apart.

    Args:
        text: The page.
        name: Its file; the name without its ending is the first part of its clauses' ids.
    """
    page = Page(name)
    for line, block in _blocks(text, page):
        if CLAUSE.match(block) or _LIKE_A_CLAUSE.match(block):
            _read_clause(page, line, block)
        elif Path(name).stem != "terminology":
            page.faults += [
                f"{name}:{line}: {word} stands outside a clause"
                for word in _KEYWORD.findall(_CODE.sub("", block))
            ]
    return page


def _blocks(text: str, page: Page) -> Iterator[tuple[int, str]]:
    """Yield list items with their continuation, and other lines; keep fenced blocks aside."""
    lines = text.split("\n")
    at = 0
    while at < len(lines):
        first = at
        fence = _FENCE.match(lines[at])
        if fence is not None:
            at = _read_fence(page, lines, at, fence)
            continue
        at += 1
        block = lines[first]
        if block.startswith("- "):
            while at < len(lines) and lines[at].startswith("  ") and not _FENCE.match(lines[at]):
                block += " " + lines[at].strip()
                at += 1
        yield first + 1, block


def _read_fence(page: Page, lines: list[str], at: int, fence: re.Match[str]) -> int:
    indent, mark = fence["indent"], fence["mark"]
    closing = re.compile(rf" *{re.escape(mark[0])}{{{len(mark)},}}\s*")
    body: list[str] = []
    for index in range(at + 1, len(lines)):
        if closing.fullmatch(lines[index]):
            text = "".join(f"{line.removeprefix(indent)}\n" for line in body)
            page.fences.append(Fence(page.name, at + 1, fence["info"].strip(), text))
            return index + 1
        body.append(lines[index])
    page.faults.append(f"{page.name}:{at + 1}: a fenced block does not end")
    return len(lines)


def _read_clause(page: Page, line: int, block: str) -> None:
    place = f"{page.name}:{line}"
    found = CLAUSE.match(block)
    if found is None:
        form = "- **<page>/<slug>** (<classes>; <checkers>) <text>"
        page.faults.append(f"{place}: a clause is written {form}: {block[:60]}")
        return
    head, _, reason = found["checkers"].partition("declaration:")
    checkers = [one.strip() for one in head.split(",") if one.strip()]
    checkers += ["declaration"] if reason else []
    classes = [one.strip() for one in found["classes"].split(",")]
    words = _KEYWORD.findall(_CODE.sub("", found["text"]))
    page.faults += [f"{place}: {what}" for what in _clause_faults(found, classes, checkers, words)]
    page.faults += _id_faults(page, place, found["id"])
    page.clauses.append(
        Clause(
            found["id"],
            page.name,
            line,
            words[0] if words else "",
            tuple(classes),
            tuple(checkers),
            reason.strip(),
            found["text"],
        )
    )


def _id_faults(page: Page, place: str, name: str) -> Iterator[str]:
    match = ID.fullmatch(name)
    if match is None:
        yield f"{place}: {name} is not <page>/<slug> in lower case"
    elif match["page"] != Path(page.name).stem:
        yield f"{place}: {name} does not begin with the name of its page"
    if any(clause.id == name for clause in page.clauses):
        yield f"{place}: {name} is the id of another clause already"


def _clause_faults(
    found: re.Match[str], classes: list[str], checkers: list[str], words: list[str]
) -> Iterator[str]:
    name = found["id"]
    for kind, said, known in (("class", classes, CLASSES), ("checker", checkers, CHECKERS)):
        for one in said:
            if one not in known:
                yield f"{name}: {one or 'nothing'} is no {kind}; known: {', '.join(known)}"
    if not checkers:
        yield f"{name} names no checker"
    if "declaration" in found["checkers"] and not re.search(r"declaration: *\S", found["checkers"]):
        yield f"{name}: a declaration gives its reason: declaration: <why no machine can check it>"
    if len(words) != 1 or words[0] not in WORDS:
        count = ", ".join(words) or "none"
        yield f"{name} needs exactly one of {', '.join(WORDS)}; it has {count}"
