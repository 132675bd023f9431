"""Workflow files of Snakemake: the commands and scripts of their rules.

Source: the documentation of Snakemake, "Snakefiles and Rules" (``shell:``, ``script:``,
``notebook:``, strings that stand behind one another are joined). Nothing is evaluated.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from rra.scan.blocks import DocumentLine, block_lines

_NAME = re.compile(r"^Snakefile(?:[._-](?!md$|rst$)\w+)?$|\.smk$|\.snakefile$")
_DIRECTIVE = re.compile(r"^(?P<indent>[ \t]+)(?P<name>shell|script|notebook)[ \t]*:(?P<rest>.*)$")
_ESCAPES = re.compile(r"\s*\\\n\s*|\\([\"'])")
_TEXT = re.compile(
    r"[rf]{0,2}(?:\"\"\"(?P<long>.*?)\"\"\"|'''(?P<other>.*?)'''|\"(?P<double>(?:[^\"\\\n]|\\.)*)\"|"
    r"'(?P<single>(?:[^'\\\n]|\\.)*)')",
    re.DOTALL,
)


def is_snakefile(path: PurePosixPath) -> bool:
    """Tell whether a file is a workflow of Snakemake."""
    return bool(_NAME.search(path.name))


def snakefile_lines(text: str) -> list[DocumentLine]:
    """Return the commands of the ``shell:`` of rules, with the lines where they begin."""
    found: list[DocumentLine] = []
    for name, line, body in _directives(text):
        if name == "shell":
            numbered = [(line, part) for part in _outdented(body)]
            found += block_lines(numbered, line, "sh")
    return [one for one in found if not one.text.startswith("#")]


def snakefile_scripts(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines and the files of ``script:`` and ``notebook:``, as the rules name them."""
    for name, line, body in _directives(text):
        if name != "shell" and body.strip() and "://" not in body:
            yield line, body.strip()


def _directives(text: str) -> Iterator[tuple[str, int, str]]:
    lines = text.split("\n")
    for number, line in enumerate(lines, start=1):
        found = _DIRECTIVE.match(line)
        if found is None:
            continue
        below = _indented(lines[number:], len(found["indent"]))
        written = "\n".join([found["rest"], *below])
        texts = [next(filter(None, one.groups()), "") for one in _TEXT.finditer(written)]
        if texts:
            body = "".join(texts).replace("{{", "{").replace("}}", "}")
            yield found["name"], number, _ESCAPES.sub(_unescaped, body)


def _unescaped(found: re.Match[str]) -> str:
    return found[1] or " "


def _indented(lines: list[str], depth: int) -> Iterator[str]:
    return itertools.takewhile(lambda line: _depth(line) > depth, lines)


def _depth(line: str) -> int:
    """Return how far a line is indented; empty ones belong to what is around them."""
    return len(line) - len(line.lstrip()) if line.strip() else 1_000


def _outdented(body: str) -> list[str]:
    return [line.strip() for line in body.split("\n")]
