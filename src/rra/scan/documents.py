"""Command lines in Markdown, reStructuredText, plain text and shell scripts."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator

_FENCE = re.compile(r" {0,3}(?P<fence>`{3,}|~{3,})\s*(?P<info>[^`]*)$")
_DIRECTIVE = re.compile(r"^\s*(?:\.\. (?:code|code-block|sourcecode)::\s*(?P<info>\S*)|.*::)\s*$")
_PROMPT = re.compile(r"^\s*(?:\([\w.-]+\)\s*)?(?:[\w.-]+@[\w.-]+[^$#%]*)?(?:\$|%|>|❯)\s+")
_INLINE = re.compile(r"(?<!`)(`{1,2})(?!`)(.+?)(?<!`)\1(?!`)")
_STARTS = re.compile(
    r"^(?:[A-Z_][A-Z0-9_]*=\S*\s+)*(?:(?:time|nohup|sudo)\s+)*"
    r"(?:python[\d.]*|ipython|bash|sh|\./\S+|torchrun|accelerate|deepspeed|mpirun|mpiexec|make|"
    r"Rscript|julia|jupyter|papermill|snakemake|uv run|poetry run|pipenv run|cat|source|"
    r"conda|pip3?)"
    r"(?:\s|$)"
)
_NOT_SHELL = frozenset(
    {"python", "py", "python3", "pycon", "ipython", "json", "yaml", "yml", "toml", "ini", "xml"}
    | {"html", "css", "text-only", "latex", "tex", "bibtex", "bib", "r", "cpp", "c++", "c", "java"}
    | {"javascript", "js", "diff", "matlab", "julia", "sql", "csv", "markdown", "md", "dockerfile"}
)


@dataclasses.dataclass(frozen=True, slots=True)
class DocumentLine:
    """One line of a document that may be a command.

    Attributes:
        text: The line, prompt removed, continuation lines joined.
        line: 1-based line where it starts.
        block: Number of the block it stands in; lines of one block share a working directory.
        prompted: Whether a prompt stood in front of it.
        output: Whether it is output: a line without prompt in a block with prompts.
        inline: Whether it stood in running text.
    """

    text: str
    line: int
    block: int
    prompted: bool = False
    output: bool = False
    inline: bool = False


def markdown_lines(text: str) -> list[DocumentLine]:
    """Return the lines of fenced and indented code, and of inline code that starts a program."""
    found: list[DocumentLine] = []
    block = 0
    fence, info = "", ""
    body: list[tuple[int, str]] = []
    previous_blank = True
    in_indented = False
    for number, line in enumerate(text.split("\n"), start=1):
        mark = _FENCE.match(line)
        if fence:
            if mark and mark["fence"].startswith(fence) and not mark["info"].strip():
                found += _block_lines(body, block, info)
                fence, body = "", []
            else:
                body.append((number, line))
            continue
        indented = line.startswith(("    ", "\t")) and line.strip() != ""
        if in_indented and not indented and line.strip():
            found += _block_lines(body, block, "")
            body, in_indented = [], False
        if mark:
            block += 1
            fence, info, body = mark["fence"], _language(mark["info"]), []
        elif indented and (in_indented or previous_blank):
            block += 0 if in_indented else 1
            in_indented = True
            body.append((number, line.strip()))
        else:
            found += _inline(line, number, block := block + 1)
        previous_blank = not line.strip()
    return found + _block_lines(body, block, info if fence else "")


def rst_lines(text: str) -> list[DocumentLine]:
    """Return the lines of literal blocks and of inline literals that start a program."""
    found: list[DocumentLine] = []
    block = 0
    body: list[tuple[int, str]] = []
    indent: int | None = None
    info = ""
    for number, line in enumerate(text.split("\n"), start=1):
        depth = len(line) - len(line.lstrip())
        if indent is not None:
            if not line.strip() or depth > indent:
                if line.strip() and not re.match(r"\s*:[\w-]+:", line):
                    body.append((number, line.strip()))
                continue
            found += _block_lines(body, block, info)
            body, indent = [], None
        directive = _DIRECTIVE.match(line)
        if directive:
            block += 1
            indent, info = depth, _language(directive["info"] or "")
        found += _inline(line, number, block := block + 1)
    return found + _block_lines(body, block, info)


def shell_lines(text: str) -> list[DocumentLine]:
    """Return the commands of a shell script, comments left out."""
    numbered = list(enumerate(text.split("\n"), start=1))
    return [line for line in _block_lines(numbered, 0, "sh") if not line.text.startswith("#")]


def _language(info: str) -> str:
    words = info.strip().strip("{}").lstrip(".").split()
    return words[0].lower() if words else ""


def _inline(line: str, number: int, block: int) -> Iterator[DocumentLine]:
    for found in _INLINE.finditer(line):
        text = _PROMPT.sub("", found[2].strip())
        if _STARTS.match(text) and (" " in text or text.startswith("./")):
            yield DocumentLine(text, number, block, inline=True)


def _block_lines(body: list[tuple[int, str]], block: int, info: str) -> list[DocumentLine]:
    """Join continuation lines, find prompts, tell commands from output."""
    if info in _NOT_SHELL:
        return []
    joined = list(_joined(body))
    prompted = any(_PROMPT.match(line) for _, line in joined)
    found = []
    for number, line in joined:
        has_prompt = bool(_PROMPT.match(line))
        text = _PROMPT.sub("", line).strip()
        if text.startswith("!"):
            text = text[1:].strip()
        if not text or text.startswith("#"):
            continue
        found.append(
            DocumentLine(text, number, block, has_prompt, output=prompted and not has_prompt)
        )
    return found


def _joined(body: list[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    pending, start = "", 0
    for number, line in body:
        stripped = line.rstrip()
        if not pending:
            start = number
        if stripped.endswith("\\") and not stripped.endswith("\\\\"):
            pending += stripped[:-1].rstrip() + " " if not pending else stripped[:-1].strip() + " "
            continue
        yield start, (pending + stripped.strip()) if pending else stripped
        pending = ""
    if pending:
        yield start, pending.rstrip()


def starts_program(text: str) -> bool:
    """Tell whether a line starts a program that runs or installs things."""
    return bool(_STARTS.match(text))
