"""Lines of a block of a document: prompts, continuations, loops, commands told from output."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Collection, Iterator

from rra.scan.consoles import console_calls

PROMPT = re.compile(
    r"^\s*(?:\([\w.-]+\)\s*)?(?:[\w.-]+@[\w.-]+[^$#%]*)?(?:\$|%|>|❯)\s+|^\s*~?[\w.-]*/?[\w./-]*\$\s+|"
    r"^\s*PS(?: [^>]*)?>\s*|^\s*[A-Z]:\\[^>]*>\s*|^\s*In \[\d*\]:\s*(?=[!%])|"
    r"^\s*[A-Za-z][\w.-]*>\s+(?=(?:python[\d.]*|make|cmake|bash|sh|pip3?|Rscript|julia|perl|octave|"
    r"matlab|java|gcc|g\+\+)\s|\./|make$)"
)
"""A prompt of a shell in front of a command."""

_STARTS = re.compile(
    r"^(?:[A-Za-z_][A-Za-z0-9_]*=\S*\s+)*(?:(?:time|nohup|sudo|srun|xvfb-run|env)\s+(?:-\S+\s+)*)*"
    r"(?:python[\d.]*|ipython|py(?= -)|bash|sh|\./\S+|\.\\\S+|torchrun|accelerate|"
    r"deepspeed|mpirun|mpiexec|make|"
    r"Rscript|julia|jupyter|papermill|snakemake|uv run|poetry run|pipenv run|cat|source|"
    r"conda|mamba|pip3?|git (?:clone|lfs|submodule|checkout|tag|push|pull|fetch)|wget|curl|gdown|"
    r"docker|docker-compose|podman|nvidia-docker|singularity|apptainer|sbatch|qsub|bsub|just|"
    r"stata(?:-?(?:mp|se|MP|SE))?|[Ss]tata[MS][PE]|gnuplot|R CMD|scons|ninja|roslaunch|rosrun|"
    r"uv|poetry|pixi|pdm|hatch|tensorboard|[\w.-]+/bin/(?:pip|python)[\d.]*|"
    r"cmake|nmake|matlab|octave|perl|java|th|lua|cargo|go run|nextflow|dvc|mlflow|invoke|"
    r"horovodrun|"
    r"apt-get|apt|sudo|pytest|tox|nox|snakemake|streamlit|unzip|tar|srun|\./configure)"
    r"(?:\s|$)"
)
_STRONG = re.compile(
    r"^(?:[A-Z_][A-Z0-9_]*=\S*\s+)*(?:(?:time|nohup|sudo|srun|xvfb-run)\s+(?:-\S+\s+)*)*"
    r"(?:python[\d.]*\s+(?:-[umOB]\s+)*(?:\S+\.py\b|-m\s+[\w.]+|setup\.py)|"
    r"(?:bash|sh|sbatch)\s+\S+\.(?:sh|slurm|bash|sbatch)\b|\./[\w./-]+(?:\s|$)|"
    r"(?:torchrun|accelerate launch|deepspeed|mpirun|horovodrun)\s.*\.py\b|Rscript\s+\S+\.[Rr]\b|"
    r"perl\s+(?:-\w+\s+)*\S+\.pl\b|julia\s.*\.jl\b|(?:python[\d.]*\s+-m\s+)?pip3?\s+install\s+\S|conda\s+(?:env|install|create|"
    r"activate)\b|(?:source|\.)\s+(?:\S*/)?activate\b|"
    r"git\s+clone\s+\S|(?:wget|curl)\s+\S*(?:-|http)|jupyter\s+(?:notebook|nbconvert|"
    r"lab)\b)"
)
_TREE = re.compile(r"^\s*[│├└|]\s*(?:──|--)|^\s*[│├└]")
_PYTHON_CODE = re.compile(
    r"^\s*(?:def\s+\w+\s*\(.*|class\s+\w+.*:|import\s+[\w.]+(?:\s+as\s+\w+)?|"
    r"from\s+[\w.]+\s+import\b.*|@\w[\w.]*(?:\(.*\))?|\w+(?:\.\w+)*\s=\s.*)$"
)
_NAME_ALONE = re.compile(r"^(?:\w*_\w*|[\w -]+:)(?:\s.*#.*|\s*)$")
_PROSE_WORD = re.compile(r"[A-Za-z][a-z']*[,;:]?$")
_REMARK = re.compile(r"\s+\((?:[a-z][\w-]*\s+)+[\w-]+[.!]?\)$")
_USAGE = re.compile(r"^usage\b\s*:?", re.IGNORECASE)
_HEREDOC = re.compile(r"<<-?\s*(['\"]?)([A-Za-z_]\w*)\1")
_OPENERS = re.compile(r"(?:^|[;&|]\s*)(?:for|while|until|if|case)\b")
_CLOSERS = re.compile(r"(?:^|[;&|]\s*|\s)(?:done|fi|esac)\b")
_NOT_SHELL = frozenset(
    {"python", "py", "python3", "pycon", "ipython", "json", "yaml", "yml", "toml", "ini", "xml"}
    | {"html", "css", "text-only", "latex", "tex", "bibtex", "bib", "r", "cpp", "c++", "c", "java"}
    | {"javascript", "js", "diff", "matlab", "julia", "sql", "csv", "markdown", "md", "dockerfile"}
)
_SHELL = frozenset(
    {"sh", "bash", "shell", "console", "zsh", "shell-session", "sh-session", "terminal", "cmd"}
    | {"powershell", "ps1", "bat", "batch", "fish", "prompt", "shellscript", "bash-session"}
)


@dataclasses.dataclass(frozen=True, slots=True)
class DocumentLine:
    """One line of a document that may be a command.

    Attributes:
        text: The line, prompt removed, continuation lines and loops joined.
        line: 1-based line where it starts; in a notebook the number of the cell.
        block: Number of the block it stands in; lines of one block share a working directory.
        prompted: Whether a prompt stood in front of it.
        output: Whether it is output: a line without prompt in a block with prompts.
        inline: Whether it stood in running text.
        sure: Whether it stood where only commands stand: behind a prompt, or in a block that is
            declared to be of a shell.
        console: Language at whose prompt it stands, or empty for a shell.
    """

    text: str
    line: int
    block: int
    prompted: bool = False
    output: bool = False
    inline: bool = False
    sure: bool = False
    console: str = ""


def language(info: str) -> str:
    """Return the language that the info string of a block names, in small letters."""
    words = info.strip().strip("{}").lstrip(".").split()
    return words[0].lower().rstrip("}") if words else ""


def starts_program(text: str, programs: Collection[str] = ()) -> bool:
    """Tell whether a line starts a program that runs or installs things.

    Args:
        text: The line.
        programs: Names of programs that the repository builds or installs.
    """
    if _USAGE.match(text):
        return False
    first = re.sub(r"^(?:[A-Za-z_]\w*=\S*\s+)*", "", text).split(maxsplit=1)
    if _STARTS.match(text):
        return True
    return bool(first) and (first[0] in programs or _is_placed(first[0], programs))


def _is_placed(word: str, programs: Collection[str]) -> bool:
    """Tell whether a word is the place of a program: ``build/solve``."""
    folder, _, name = word.rpartition("/")
    return bool(folder) and name in programs and "://" not in word


def is_surely_command(text: str) -> bool:
    """Tell whether a line is a command also where it is not set as code."""
    return bool(_STRONG.match(text)) and not (len(text.split()) > 5 and reads_as_prose(text))


def reads_as_prose(text: str) -> bool:
    """Tell whether a line is a sentence that begins like a command: "make sure that …"."""
    words = text.split()
    if len(words) <= 2:
        return False
    plain = sum(bool(_PROSE_WORD.match(word)) for word in words[1:])
    return plain == len(words) - 1 or (plain >= 4 and plain > 0.7 * (len(words) - 1))


def without_remark(text: str) -> str:
    """Take off a remark in words behind a command: ``make lib (on Linux only)``."""
    return _REMARK.sub("", text)


def block_lines(body: list[tuple[int, str]], block: int, info: str) -> list[DocumentLine]:
    """Return the lines of a block of code, commands told from output.

    Args:
        body: Lines with their numbers.
        block: Number of the block.
        info: Its language in small letters, or empty.
    """
    joined = [(number, line) for number, line in joined_lines(body) if not _TREE.match(line)]
    if info in _NOT_SHELL or (not info and _is_python(joined)):
        # Shell commands are often set as Python; none of them is valid Python.
        kept = [(n, re.sub(r"^\s*[!%]\s*(?=pip|python)", "", t).strip()) for n, t in joined]
        kept = [(number, text) for number, text in kept if _is_shell_in_python(text)]
        kept += console_calls(body, info)
        return [DocumentLine(text, number, block, sure=True) for number, text in sorted(kept)]
    prompted = any(PROMPT.match(line) for _, line in joined)
    found = []
    for number, line in joined:
        has_prompt = bool(PROMPT.match(line))
        text = PROMPT.sub("", line).strip()
        if text.startswith("!"):
            text = text[1:].strip()
        if text.startswith(">>> ") and is_surely_command(text[4:]):
            text = text[4:]
        if text.startswith(">> ") and not info:
            typed = re.sub(r"\s+%.*$", "", text[3:]).strip()
            found.append(DocumentLine(typed, number, block, console="matlab"))
            continue
        if _NAME_ALONE.match(text) and not has_prompt:
            continue
        if not text or text.startswith(("#", ">>>", ">> ", "In [", "Out[")) or _USAGE.match(text):
            continue
        is_output = prompted and not has_prompt
        sure = has_prompt or info in _SHELL
        found.append(DocumentLine(text, number, block, has_prompt, is_output, sure=sure))
    return found


def _is_python(joined: list[tuple[int, str]]) -> bool:
    """Tell whether a block without a language holds code of Python."""
    lines = [line for _, line in joined if line.strip()]
    code = sum(bool(_PYTHON_CODE.match(line)) for line in lines)
    told = any(re.match(r"\s*(?:(?:def|class|import|from)\b|@\w)", line) for line in lines)
    return told and code * 4 >= len(lines) and not any(PROMPT.match(line) for line in lines)


def _is_shell_in_python(text: str) -> bool:
    return is_surely_command(text) and not re.match(r"\S+\s*[=(]", text)


def joined_lines(body: list[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Join continuation lines, and loops and conditions to one line each; drop here-documents."""
    statement: list[str] = []
    start, depth, ends = 0, 0, ""
    for number, line in continued_lines(body):
        if ends:
            ends = "" if line.strip() == ends else ends
            continue
        plain = PROMPT.sub("", line).strip()
        heredoc = _HEREDOC.search(plain)
        ends = heredoc[2] if heredoc and any(t.strip() == heredoc[2] for _, t in body) else ""
        code = re.sub(r"(^|\s)#.*$", "", plain)
        change = len(_OPENERS.findall(code)) - len(_CLOSERS.findall(code))
        opens = not statement and _OPENERS.match(code) and change > 0
        if not statement and not (opens and _closes(body, number)):
            yield number, line
            continue
        if not statement:
            start = number
        depth += change
        statement.append(line.rstrip() if not statement else code)
        if depth <= 0:
            yield start, _one_line(statement)
            statement, depth = [], 0
    if statement:
        yield start, _one_line(statement)


def _closes(body: list[tuple[int, str]], number: int) -> bool:
    """Tell whether a loop that begins at a line ends within the block."""
    return any(n > number and re.match(r"\s*(?:done|fi|esac)\b", t) for n, t in body)


def _one_line(statement: list[str]) -> str:
    text = statement[0]
    for line in filter(None, (part.strip() for part in statement[1:])):
        glue = " " if re.search(r"(?:\b(?:do|then|else)|[;{|&(])$", text) else "; "
        text += glue + line
    return text


def continued_lines(body: list[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Join lines that end in a backslash, a caret or a backquote with those that follow.

    Args:
        body: Lines with their numbers.
    """
    pending, start = "", 0
    for number, line in body:
        stripped = line.rstrip()
        if not pending:
            start = number
        else:
            stripped = re.sub(r"^\s*>\s+(?=\S)", "", stripped)
        ends = stripped.endswith("\\") and not stripped.endswith("\\\\")
        if ends or (pending and stripped.endswith("^")) or re.search(r"\S\s[`^]$", stripped):
            pending += stripped[:-1].rstrip() + " " if not pending else stripped[:-1].strip() + " "
            continue
        yield start, (pending + stripped.strip()) if pending else stripped
        pending = ""
    if pending:
        yield start, pending.rstrip()
