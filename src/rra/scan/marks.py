"""Marks inside path patterns for what a command line gives.

``{=out}/scores.csv`` is a file in the folder that the parameter ``out`` names, ``{=1}`` the first
word behind the script, ``{=out:runs}`` the same with what the code falls back on.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

_MARK = re.compile(r"\{=(?P<name>[\w.-]+)(?::(?P<default>[^{}]*))?\}")


def mark(name: str, default: str = "") -> str:
    """Return the mark of a parameter.

    Args:
        name: Its name, or the number of a word.
        default: What the code takes without it.
    """
    return (
        f"{{={name}:{default}}}" if default and not re.search(r"[{}*]", default) else f"{{={name}}}"
    )


def is_marked(pattern: str) -> bool:
    """Tell whether a pattern depends on the command line."""
    return _MARK.search(pattern) is not None


def leading_mark(pattern: str) -> str:
    """Return the mark that names the folder a pattern begins with, or empty."""
    found = _MARK.match(pattern)
    return found[0] if found and pattern[found.end() : found.end() + 1] == "/" else ""


def filled(pattern: str, values: Mapping[str, str]) -> str:
    """Return a pattern with the values of a command line put in.

    A parameter that is the beginning of a path, or a whole file name in it, is replaced by its
    value. One that is only part of a name varies from run to run and becomes ``*``.

    Args:
        pattern: The pattern.
        values: Values by the names of parameters.
    """
    found = ""
    at = 0
    for one in _MARK.finditer(pattern):
        found += pattern[at : one.start()]
        at = one.end()
        value = _value(one, values).replace("\\", "/").strip()
        behind = pattern[one.end() : one.end() + 1]
        if not found and (behind in {"", "/"} or "/" in value):
            found += value.rstrip("/") if behind == "/" and value != "/" else value
        elif found.endswith("/") and behind in {"", "/"} and re.search(r"\.\w{1,8}$", value):
            found = value if value.startswith("/") else found + value.removeprefix("./")
        else:
            found += "*"
        found = found or "*"
    text = found + pattern[at:]
    while "**" in text:
        text = text.replace("**", "*")
    return text


def _value(one: re.Match[str], values: Mapping[str, str]) -> str:
    name = one["name"]
    if name in values:
        return values[name]
    last = name.rpartition(".")[2]
    tails = [key for key in values if key.rpartition(".")[2] == last]
    if "." in name and len(tails) == 1:
        return values[tails[0]]
    return one["default"] or ""
