"""Does a text that an outcome follows stand there as one of several that a program chooses from?

A program that computes a category takes its name from somewhere: it prints ``"yes" if p < 0.05
else "no"``, or the key of the largest score. Such an outcome follows the name as a printed one
does. Only a text that stands alone, on the straight way to the output, is called copied.
"""

from __future__ import annotations

import re

from rra.audit.wordings import Wording

_QUOTED = re.compile(r"""(["'`])((?:(?!\1).)*)\1""")
_DECIDES = re.compile(
    r"\b(?:if|elif|else|case|when|switch|match|then|unless|for|while|class|try|except|lambda)\b"
    r"|\?|&&|\|\||\b(?:and|or)\b"
)
_GUARD = re.compile(r"""if\s+__name__\s*==""")
_ASSIGNED = re.compile(r"^\s*(?:self\.)?([A-Za-z_]\w*)\s*(?:=|<-)\s*\S")


def sign_of_choice(wording: Wording) -> str:
    """Return why the text at a place may be one of several; empty when nothing says so."""
    lines = wording.text.content.split("\n")
    number = wording.text.line(wording.parts[0].start) - 1
    start = wording.text.starts[number]
    left = lines[number][: wording.parts[0].start - start]
    right = lines[number][wording.parts[-1].end - start :]
    alone = len(wording.parts) == 1
    signs = {
        "it is a key": alone and re.match(r"""["'`]?\s*(?::|=>)""", right),
        "other texts stand beside it": alone and _other_texts(left, right),
        "its line decides": _DECIDES.search(_QUOTED.sub('""', _GUARD.sub("", f'{left}""{right}'))),
        "it stands in a branch": any(
            _DECIDES.match(header.lstrip()) for header in _headers(lines, number)
        ),
        "a line of the same form has another text": alone and _has_twin(lines, number),
        "what it is assigned to is changed or chosen from": _is_chosen_from(
            wording, lines[number], r"\s*(?:[-+|]?=|<-)", r"\bin\b[^:\n]*\b{0}\b|\b{0}\s*\["
        ),
    }
    return next((sign for sign, holds in signs.items() if holds), "")


def sign_of_labels(wording: Wording) -> str:
    """Return whether a list of names is one that results are labelled from, by their indexes."""
    if all(item.isdigit() for item in wording.items):
        return ""
    line = wording.text.row(wording.parts[0].start).text
    chosen = _is_chosen_from(wording, line, "", r"\b{0}\b\)?\s*\[\s*[A-Za-z_]")
    return "names are taken from it by their index" if chosen else ""


def _is_chosen_from(wording: Wording, line: str, again: str, use: str) -> bool:
    """Tell whether the name that a place is assigned to is assigned again, or used in a way."""
    assigned = _ASSIGNED.match(line)
    if assigned is None:
        return False
    name = re.escape(assigned[1])
    times = len(re.findall(rf"(?<![\w.]){name}{again}", wording.text.content)) if again else 0
    return times > 1 or bool(re.search(use.format(name), wording.text.content))


def _other_texts(left: str, right: str) -> bool:
    """Tell whether other quoted texts, keys and subscripts aside, stand on the line."""
    inside = next((quote for quote in "\"'`" if left.count(quote) % 2), "")
    if inside:
        left = left[: left.rindex(inside)]
        right = right.split(inside, 1)[1] if inside in right else ""
    for half in (left, right):
        for match in _QUOTED.finditer(half):
            behind, before = half[match.end() :].lstrip()[:1], half[: match.start()].rstrip()
            call = before.endswith("(") and not re.search(r"(?:print|cat|echo)\($", before)
            if behind not in {":", "]"} and not call and not before.endswith(("=", "sep")):
                return True
    return False


def _headers(lines: list[str], number: int) -> list[str]:
    """Return the heads of the blocks that a line stands in, by indentation."""
    found = []
    depth = _indent(lines[number])
    for line in reversed(lines[:number]):
        if line.strip() and _indent(line) < depth:
            depth = _indent(line)
            if not _GUARD.match(line.strip()):
                found.append(line)
    return found


def _indent(line: str) -> int:
    return len(line.expandtabs()) - len(line.expandtabs().lstrip())


def _has_twin(lines: list[str], number: int) -> bool:
    """Tell whether another line differs in its words and numbers alone, as rows of a table do."""
    own = _shape(lines[number])
    return bool(own) and any(
        _shape(line) == own and line.strip() != lines[number].strip() for line in lines
    )


def _shape(line: str) -> str:
    """Return the form of a row or entry; empty for statements, which are told by other signs."""
    line = line.strip().rstrip(",")
    if _ASSIGNED.match(line) or re.match(r"[\w.]+\(", line):
        return ""
    keyed = re.match(r"""["']([^"']*)["']\s*:""", line)
    if keyed:
        return re.sub(r"\d+", "0", keyed[1]) + ":"
    return re.sub(r"[-+]?\w[\w.]*", "w", _QUOTED.sub('"', line))
