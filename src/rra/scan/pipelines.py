"""The commands that a line of a shell joins, each as it is written."""

from __future__ import annotations

import re
from collections.abc import Iterator

_OPENING = re.compile(
    r"^(?:\(\s*|[\w-]+\s*\(\)\s*\{?\s*|(?:then|do|else|elif|if|while|until|!|\{)(?=\s|$)\s*|"
    r"case\s+\S+\s+in\s+|[\w*.\"'$?-]+(?:\s*\|\s*[\w*.\"'$?-]+)*\)\s+)"
)
_NO_COMMAND = re.compile(r"^(?:for|select|function|case)\b|^(?:done|fi|esac|\}|\)|\|)")
_FILTERS = frozenset(
    {"tee", "head", "tail", "grep", "egrep", "sort", "uniq", "cut", "tr", "wc", "sed", "awk", "cat"}
    | {"column", "less", "more", "ts", "logger", "gzip", "rev", "tac", "nl", "fmt", "xargs"}
)


def pipelines(text: str) -> list[str]:
    """Return the commands of a line as written, with their redirections.

    A pipe belongs to the command whose output it takes as long as only filters follow, such as
    ``| tee log.txt``; programs that feed each other are returned one by one.

    Args:
        text: The line; loops and conditions may be joined to it.
    """
    found: list[str] = []
    for part in _split(text, ("&&", "||", ";;", ";", "&", "\n")):
        plain = _opened(part)
        if plain and not _NO_COMMAND.match(plain):
            stages = list(_split(plain, ("|&", "|")))
            fed = [stage.split(maxsplit=1)[0] for stage in stages[1:] if stage.strip()]
            found += [plain] if all(one in _FILTERS for one in fed) else map(_opened, stages)
    return [part for part in found if part]


def _opened(part: str) -> str:
    """Take off the words of loops and conditions in front of a command, and what closes them."""
    plain = part.strip()
    while word := _OPENING.match(plain):
        plain = plain[word.end() :].strip()
    for opening, closing in ("()", "{}"):
        if plain.endswith(closing) and plain.count(closing) > plain.count(opening):
            plain = plain[:-1].rstrip()
    return plain


def _split(text: str, marks: tuple[str, ...]) -> Iterator[str]:
    """Split at marks outside quotes, substitutions and redirections."""
    start = at = depth = 0
    quote = ""
    while at < len(text):
        character = text[at]
        if character == "\\" and quote != "'":
            at += 2
            continue
        if quote:
            quote = "" if character == quote else quote
        elif character in "'\"`":
            quote = character
        elif character == "#" and (at == 0 or text[at - 1].isspace()):
            end = text.find("\n", at)
            yield text[start:at]
            start = at = len(text) if end < 0 else end
            continue
        elif text.startswith(("$(", "${", "<("), at):
            depth += 1
            at += 1
        elif depth and character in ")}":
            depth -= 1
        mark = next((m for m in marks if not quote and not depth and text.startswith(m, at)), "")
        if mark and not _redirects(text, at, mark):
            yield text[start:at]
            at += len(mark)
            start = at
            continue
        at += 1
    yield text[start:]


def _redirects(text: str, at: int, mark: str) -> bool:
    """Tell whether ``&`` or ``|`` belongs to a redirection: ``2>&1``, ``&>file``, ``>|file``."""
    if mark == "&":
        return text[at - 1 : at] in {">", "<"} or text[at + 1 : at + 2] == ">"
    return mark == "|" and text[at - 1 : at] == ">"
