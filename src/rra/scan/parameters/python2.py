"""Python 2 made readable for the parser of Python 3, as far as command lines need it."""

from __future__ import annotations

import re

_PRINT = re.compile(
    r"^(\s*)((?:else|try|finally|if [^:]*|elif [^:]*|for [^:]*):\s*)?print\b(?!\s*=)"
)
_RULES = (
    (re.compile(r"^(\s*except\s+[\w.() ,]+?)\s*,\s*(\w+)\s*:", re.MULTILINE), r"\1 as \2:"),
    (re.compile(r"^(\s*raise\s+[\w.]+)\s*,\s*(.+)$", re.MULTILINE), r"\1(\2)"),
    (re.compile(r"<>"), "!="),
    (re.compile(r"\b[uU][rR](['\"])"), r"r\1"),
    (re.compile(r"(?<![\w.])(\d+)[lL]\b"), r"\1"),
    (re.compile(r"(?<![\w.])0(\d+)\b(?!\.)"), r"0o\1"),
    (re.compile(r"^(\s*)exec\s+(?!\().+$", re.MULTILINE), r"\1pass"),
    (re.compile(r"`[^`\n]+`"), "None"),
)


def as_python3(text: str) -> str:
    """Return a module with what only Python 2 can read replaced, line numbers kept.

    Statements that print become ``pass``: what they print is no part of a command line.
    """
    lines = text.expandtabs(8).split("\n")
    kept: list[str] = []
    number = 0
    while number < len(lines):
        line = lines[number]
        found = _PRINT.match(line)
        if found is None:
            kept.append(line)
            number += 1
            continue
        kept.append(f"{found[1]}{found[2] or ''}pass")
        number += 1
        while number < len(lines) and _goes_on(line):
            line = line + "\n" + lines[number]
            kept.append("")
            number += 1
    changed = "\n".join(kept)
    for pattern, replacement in _RULES:
        changed = pattern.sub(replacement, changed)
    return changed


def _goes_on(text: str) -> bool:
    """Tell whether a statement is continued on the next line."""
    if text.rstrip().endswith("\\"):
        return True
    plain = re.sub(r"'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\"", "", text)
    plain = re.sub(r"#.*", "", plain)
    return sum(plain.count(c) for c in "([{") > sum(plain.count(c) for c in ")]}")
