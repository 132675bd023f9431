"""Command lines in Markdown, reStructuredText, plain text, shell scripts and notebooks."""

from __future__ import annotations

import html
import re
from collections.abc import Collection, Iterable, Iterator
from pathlib import PurePosixPath

from rra.scan.blocks import (
    PROMPT,
    DocumentLine,
    block_lines,
    continued_lines,
    is_surely_command,
    language,
    reads_as_prose,
    starts_program,
    without_remark,
)
from rra.scan.consoles import console_file

__all__ = [
    "DocumentLine",
    "document_lines",
    "markdown_lines",
    "notebook_lines",
    "org_lines",
    "plain_lines",
    "rst_lines",
    "running_text",
    "shell_lines",
    "starts_program",
]

DOCUMENT = re.compile(
    r"(?i)\.(?:md|markdown|mkd|mdown|rst|adoc|org)$|"
    r"^(?:readme|install(?:ation)?|usage|howto|how_to\w*|reproduc\w*|instructions?|running)"
    r"(?:[._-](?!py$|sh$|ipynb$|html?$|pdf$|r$|m$|jl$|ya?ml$|json$|tex$|docx?$)\w+)*$"
)
"""Names of documents that may tell how to run a repository."""

_FENCED = re.compile(r"(^\s*(?:```|~~~).*?^\s*(?:```|~~~)[ \t]*$)", re.MULTILINE | re.DOTALL)
_FENCE = re.compile(r"\s*(?:[-*+]\s+|\d+[.)]\s+)?(?P<fence>`{3,}|~{3,})\s*(?P<info>[^`]*)$")
_RST_CODE = re.compile(
    r"^(?P<indent>\s*)\.\. (?:code|code-block|sourcecode|parsed-literal|prompt|console|"
    r"literalblock)::\s*(?P<info>\S*)"
)
_RST_OTHER = re.compile(r"^\s*\.\.(?:\s|$)")
_RST_LITERAL = re.compile(r"^(?!\s*\.\. ).*::\s*$")
_INLINE = re.compile(r"(?<!`)(`{1,3})(?!`)(.+?)(?<!`)\1(?!`)")
_HTML_CODE = re.compile(r"<(?:code|kbd|tt)(?:\s[^<>]*)?>([^<>]+)</(?:code|kbd|tt)>", re.IGNORECASE)
_PRE = re.compile(r"<pre\b[^<>]*>(.*?)(?:</pre\s*>|\Z)", re.IGNORECASE | re.DOTALL)
_COMMENT_OR_FENCED = re.compile(
    r"<!--.*?(?:-->|\Z)|(?P<fenced>" + _FENCED.pattern[1:-1] + ")", re.MULTILINE | re.DOTALL
)
_TAG = re.compile(r"</?[A-Za-z][^<>]*>")
_LIST_MARK = re.compile(r"^\s*(?:[-*+•]\s+|\(?\d+[.)]\s+|\*\*|>\s?)+")
_SAYS_RUN = re.compile(
    r"(?i)\b(?:run|runs|running|type|typing|call|execute|invoke|enter)\b\W*(?:\w+\s+)?\W*$"
)
_SAYS_USE = re.compile(r"(?i)\b(?:with|using|use|by|via|just|do|and|then)\b\W*$")
_RUNNABLE = re.compile(r"\.(?:sh|py|bash|R|r|pl|jl|exe|bat|csh|slurm|rb|lua|out|x|run)$")
_PLACED = re.compile(r"^[\w.-]+(?:/[\w.-]+)+\.(?:sh|bash|py|pl|R|jl)\s+[^\s(:=,]")
_SOURCED = re.compile(r"\.(?:R|r|Rmd|jl|m|do)$")
_NOTHING_SAID = frozenset({"pip install", "pip3 install", "conda install", "apt install"})
_LABEL = re.compile(r"^\s*[A-Z][\w /()-]{0,40}:\s+(?=\S)")
"""A word that says what the command behind it is for: ``Train:    python train.py``."""
_ORG_BLOCK = re.compile(
    r"^[ \t]*#\+(?:begin_(?:src|example)[ \t]*(?P<language>[\w-]*).*|"
    r"(?P<ends>end_(?:src|example)).*)$",
    re.IGNORECASE | re.MULTILINE,
)
_ORG_VERBATIM = re.compile(r"(?<![\w=~])[=~]([^\s=~][^=~\n]*[^\s=~]|\S)[=~](?![\w=~])")
_OLD_QUOTES = re.compile(r"``?([^`'\n]+(?:\n[^`'\n]+)?)''?")


def document_lines(
    path: PurePosixPath, text: str, programs: Collection[str] = ()
) -> list[DocumentLine]:
    """Return the lines of a document that may be commands, read by what its name says it is.

    Args:
        path: The document.
        text: Its text.
        programs: Names of programs that the repository builds or installs.
    """
    suffix = path.suffix.lower()
    if suffix == ".rst":
        return rst_lines(text, programs)
    if suffix == ".org":
        return org_lines(text, programs)
    fenced = re.search(r"^\s*```", text, re.MULTILINE)
    if fenced or suffix in {".md", ".markdown", ".mkd", ".mdown"}:
        return markdown_lines(text, programs)
    return plain_lines(text, programs)


def markdown_lines(text: str, programs: Collection[str] = ()) -> list[DocumentLine]:
    """Return the lines of code blocks, and of running text what starts a program.

    Blocks are fenced, indented or ``<pre>``; comments are left out. In running text code spans
    count that start a program, and lines that are unmistakably a command.
    """
    reading = _Markdown(programs)
    for number, line in enumerate(_prepared(text).split("\n"), start=1):
        reading.line(number, line)
    return reading.result()


class _Markdown:
    """The state of reading one Markdown document."""

    def __init__(self, programs: Collection[str]) -> None:
        self._programs = programs
        self._found: list[DocumentLine] = []
        self._block = 0
        self._fence, self._info = "", ""
        self._body: list[tuple[int, str]] = []
        self._blank_before = True
        self._indented = False
        self._continues = False

    def line(self, number: int, line: str) -> None:
        quoted = re.match(r"^ {0,3}>\s?(?!>)(?=\s*\S)", line)
        if quoted and not self._indented and (not self._fence or self._quoted_fence):
            line = line[quoted.end() :]
        mark = _FENCE.match(line)
        if self._fence:
            if mark and mark["fence"].startswith(self._fence) and not mark["info"].strip():
                self._end_block()
            else:
                self._body.append((number, line))
            return
        indented = line.startswith(("    ", "\t")) and line.strip() != ""
        if self._indented and not indented and line.strip():
            self._end_block()
        if mark:
            self._block += 1
            self._fence, self._info, self._body = mark["fence"], language(mark["info"]), []
            self._quoted_fence = bool(quoted)
        elif indented and (self._indented or self._blank_before):
            self._block += 0 if self._indented else 1
            self._indented = True
            self._body.append((number, _LIST_MARK.sub("", line).strip()))
        else:
            self._block += 1
            self._found += running_text(line, number, self._block, self._programs)
        self._blank_before = not line.strip()

    _quoted_fence = False

    def _end_block(self) -> None:
        self._found += block_lines(self._body, self._block, self._info)
        self._fence, self._info, self._body, self._indented = "", "", [], False

    def result(self) -> list[DocumentLine]:
        self._end_block()
        return self._found


def _prepared(text: str) -> str:
    """Blank comments and turn ``<pre>`` into fences, every line staying where it is."""

    def blank(found: re.Match[str]) -> str:
        return "\n" * found[0].count("\n")

    def fence(found: re.Match[str]) -> str:
        inside = html.unescape(_TAG.sub("", re.sub(r"<br\s*/?>", " ", found[1])))
        lines = inside.split("\n")
        if len(lines) == 1:
            return f"`{lines[0].strip()}`" if lines[0].strip() else ""
        return "\n".join(f"    {line.strip()}" if line.strip() else "" for line in lines)

    text = _COMMENT_OR_FENCED.sub(lambda m: m[0] if m["fenced"] else blank(m), text)
    parts = _FENCED.split(text)
    for index in range(0, len(parts), 2):
        parts[index] = _PRE.sub(fence, parts[index])
    return "".join(parts)


def rst_lines(text: str, programs: Collection[str] = ()) -> list[DocumentLine]:
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
            found += block_lines(body, block, info)
            body, indent = [], None
        directive = _RST_CODE.match(line)
        if directive or _RST_LITERAL.match(line):
            block += 1
            indent, info = depth, language(directive["info"]) if directive else ""
        block += 1
        if not _RST_OTHER.match(line):
            found += running_text(line, number, block, programs)
        block += 1 if indent is not None else 0
    return found + block_lines(body, block, info)


def org_lines(text: str, programs: Collection[str] = ()) -> list[DocumentLine]:
    """Return the lines of blocks of Org, and verbatim text that starts a program.

    Sources: the manual of Org, "Working with Source Code" and "Literal Examples".
    """
    return markdown_lines(_ORG_VERBATIM.sub(r"`\1`", _ORG_BLOCK.sub(_org_fence, text)), programs)


def _org_fence(found: re.Match[str]) -> str:
    if found["ends"]:
        return "```"
    return f"```{found['language'] or ''}" + (" " if found["language"] else "")


def plain_lines(text: str, programs: Collection[str] = ()) -> list[DocumentLine]:
    """Return what is typed according to a plain text: prompted lines, quoted and indented commands.

    Lines behind a prompt count, lines that start a program and are no sentence, and commands in
    the quotes of old manuals: ``Type `make' to build``.
    """
    found: list[DocumentLine] = []
    block = 0
    lines = text.split("\n")
    for number, line in continued_lines(list(enumerate(lines, start=1))):
        if not line.strip():
            block += 1
            continue
        prompt = PROMPT.match(line)
        plain = without_remark((line[prompt.end() :] if prompt else line).strip())
        if plain.startswith(">"):
            continue
        first = plain.split(maxsplit=1)[0] if plain else ""
        known = starts_program(plain, programs) or "./" in first
        stands_alone = number == 1 or not lines[number - 2].strip() or line[:1] in " \t"
        if prompt and plain and (known or prompt[0].strip() == "$"):
            found.append(DocumentLine(plain, number, block, prompted=True, sure=True))
        elif known and stands_alone and _is_typed(plain, number, lines):
            found.append(DocumentLine(plain, number, block))
        elif is_surely_command(said := _LABEL.sub("", _LIST_MARK.sub("", plain))):
            found.append(DocumentLine(said, number, block))
    found += _in_old_quotes(text, programs)
    return sorted(found, key=lambda one: one.line)


def _is_typed(plain: str, number: int, lines: list[str]) -> bool:
    """Tell whether a line has several words and is no sentence, or is set apart from its text."""
    if " " in plain:
        return not reads_as_prose(plain)
    around = (lines[number - 2 : number - 1], lines[number : number + 1])
    apart = lines[number - 1][:1] in " \t" and not any(one and one[0].strip() for one in around)
    return apart and (plain == "make" or "/" in plain)


def _in_old_quotes(text: str, programs: Collection[str]) -> Iterator[DocumentLine]:
    for span in _OLD_QUOTES.finditer(text):
        said = " ".join(span[1].split())
        said = said.rstrip(".,")
        number = text.count("\n", 0, span.start()) + 1
        before = text[max(0, span.start() - 30) : span.start()].rpartition("\n\n")[2]
        if _is_command_said(said, before, programs):
            yield DocumentLine(said, number, 1_000_000 + number, inline=True)


def _is_command_said(said: str, before: str, programs: Collection[str]) -> bool:
    """Tell whether a span of running text is a command: a program with words, or one to be run."""
    if said in _NOTHING_SAID or not starts_program(said, programs):
        return False
    if " " in said:
        return True
    if said.startswith("./"):
        named = said.rpartition("/")[2] in programs or _RUNNABLE.search(said)
        return bool(named or (_SAYS_RUN.search(before) and not said.endswith("/")))
    if said == "make":
        return bool(_SAYS_RUN.search(before) or _SAYS_USE.search(before))
    return said in programs and bool(_SAYS_RUN.search(before))


def shell_lines(text: str) -> list[DocumentLine]:
    """Return the commands of a shell script, comments left out."""
    numbered = [
        (number, line)
        for number, line in enumerate(text.split("\n"), start=1)
        if not line.lstrip().startswith("#")
    ]
    return [line for line in block_lines(numbered, 0, "sh") if not line.text.startswith("#")]


def notebook_lines(cells: Iterable[str]) -> list[DocumentLine]:
    """Return the shell commands of a notebook: ``!``, ``%run``, ``%cd``, ``%pip`` and shell cells.

    Args:
        cells: Sources of its code cells, in order; line numbers count them from 1.
    """
    found: list[DocumentLine] = []
    for number, source in enumerate(cells, start=1):
        magic = re.match(r"\s*%%(\w+)([^\n]*)", source)
        if magic and (magic[1] in {"bash", "sh"} or (magic[1] == "script" and "sh" in magic[2])):
            body = source[magic.end() :]
            found += [_in_cell(line.text, number) for line in shell_lines(body)]
        elif magic and magic[1] in {"writefile", "html", "javascript", "latex", "file", "js"}:
            continue
        else:
            found += _line_magics(source, number)
    return found


def _line_magics(source: str, number: int) -> Iterator[DocumentLine]:
    numbered = [(0, line) for line in source.replace("\\\n", " ").split("\n")]
    for _, line in numbered:
        magic = re.match(r"\s*(?:\w+\s*=\s*)?(!{1,2}|%)\s*(\S.*?)\s*$", line)
        if magic is None:
            continue
        text = re.sub(r"^\{sys\.executable\}|^\$?\{?sys\.executable\}?", "python", magic[2])
        if magic[1] == "%":
            word, _, rest = text.partition(" ")
            text = {
                "run": f"python {_without_run_options(rest)}",
                "cd": f"cd {rest}",
                "pip": f"pip {rest}",
                "conda": f"conda {rest}",
                "mamba": f"mamba {rest}",
                "env": f"export {rest.strip()}" if "=" in rest else "",
                "set_env": "export " + rest.strip().replace(" ", "=", 1) if rest else "",
            }.get(word, "")
        if text.strip():
            yield _in_cell(text, number)


def _without_run_options(rest: str) -> str:
    """Take the options of ``%run`` itself off: ``-i``, ``-n``, ``-t`` …."""
    return re.sub(r"^\s*(?:-[intdpem]\s+)+", "", rest)


def _in_cell(text: str, number: int) -> DocumentLine:
    return DocumentLine(text, number, 0, sure=True)


def running_text(
    line: str, number: int, block: int, programs: Collection[str]
) -> Iterator[DocumentLine]:
    """Yield the code spans of a line that start a program, or the line when it is a command.

    Args:
        line: The line.
        number: Its number.
        block: Number of its block.
        programs: Names of programs that the repository builds or installs.
    """
    spans = [(m.start(), m[2]) for m in _INLINE.finditer(line)]
    spans += [(m.start(), html.unescape(m[1])) for m in _HTML_CODE.finditer(line)]
    for start, span in sorted(spans):
        if span.startswith(">> "):
            yield DocumentLine(span[3:].strip(), number, block, inline=True, console="matlab")
            continue
        text = PROMPT.sub("", span.strip())
        told = _PLACED.match(text) or _SOURCED.search(console_file(text))
        if told or _is_command_said(text, line[:start], programs):
            yield DocumentLine(text, number, block, inline=True)
    if not spans:
        plain = _LIST_MARK.sub("", line).strip().removesuffix("**")
        plain = PROMPT.sub("", _LABEL.sub("", plain))
        if is_surely_command(plain):
            yield DocumentLine(plain, number, block)
