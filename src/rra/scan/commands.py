"""Telling what a documented command is for, and which file of the repository it starts."""

from __future__ import annotations

import dataclasses
import re
import shlex
from collections.abc import Collection, Iterable
from pathlib import PurePosixPath

from rra.scan.documents import DocumentLine
from rra.scan.objects import Command, CommandKind

_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")
_PLACEHOLDER = re.compile(
    r"<[A-Za-z_][^<>]*>|(?<!\S)\[[A-Za-z_-][\w .|=-]*\]|\{[A-Z_][A-Z_ ]*\}|\b(?:PATH_TO|YOUR)_\w+|"
    r"(?<!\S)\.\.\.(?!\S)|/path/to/\S*|path/to/\S*|…"
)
_SHELL_SYNTAX = frozenset("|&;<>()$`*?~")
_PYTHON = re.compile(r"(?:\S*/)?i?python(?:[\d.]+)?$")
_WRAPPERS = (("time",), ("nohup",), ("sudo",), ("uv", "run"), ("poetry", "run"), ("pipenv", "run"))
_SHELLS = frozenset({"bash", "sh", "zsh", "source", "."})
_RUNNERS = frozenset(
    {"torchrun", "accelerate", "deepspeed", "mpirun", "mpiexec", "horovodrun", "Rscript", "julia"}
    | {"jupyter", "papermill", "snakemake", "runipy", "perl", "octave"}
)
_SHOWERS = frozenset({"cat", "head", "tail", "less", "more"})
_INSTALLERS = frozenset(
    {"pip", "pip3", "conda", "mamba", "micromamba", "apt", "apt-get", "brew", "poetry", "pipenv"}
    | {"uv", "virtualenv", "pyenv", "yum", "dnf", "npm", "docker", "git", "module", "./configure"}
    | {"cmake", "easy_install", "gem", "cargo", "podman", "singularity", "apptainer"}
)
_DOWNLOADERS = frozenset(
    {"wget", "curl", "gdown", "gsutil", "aws", "kaggle", "huggingface-cli", "rsync", "scp", "unzip"}
    | {"tar", "gunzip"}
)
_TESTERS = frozenset({"pytest", "nosetests", "tox", "nox", "unittest", "py.test", "flake8", "mypy"})
_KINDS: tuple[tuple[CommandKind, frozenset[str]], ...] = (
    ("install", _INSTALLERS),
    ("download", _DOWNLOADERS),
    ("test", _TESTERS),
)
_MAKE_OTHER = re.compile(
    r"install|setup|env|deps|requirements|clean|test|lint|format|docs?$|help|dist"
)


@dataclasses.dataclass(frozen=True)
class Places:
    """What commands are resolved against.

    Attributes:
        files: Files of the repository.
        folders: Its folders.
    """

    files: Collection[PurePosixPath]
    folders: Collection[PurePosixPath]


def read_commands(
    lines: Iterable[DocumentLine], source: PurePosixPath, places: Places
) -> list[Command]:
    """Turn the lines of one document into commands, following ``cd`` within a block.

    Args:
        lines: Lines that may be commands.
        source: The document.
        places: What is in the repository.
    """
    found: list[Command] = []
    block, workdir = -1, PurePosixPath()
    for line in lines:
        if line.output:
            continue
        if line.block != block:
            block, workdir = line.block, PurePosixPath()
        text, workdir = _follow_cd(line.text, workdir, places)
        if text:
            found.append(_command(text, line, source, workdir, places))
    return found


def _follow_cd(text: str, workdir: PurePosixPath, places: Places) -> tuple[str, PurePosixPath]:
    """Take a leading ``cd X`` off; unknown folders (a fresh clone's own) are ignored."""
    found = re.match(r"^(?:cd|pushd)\s+([^\s;&|]+)\s*(?:(?:&&|;)\s*(.*))?$", text)
    if found is None:
        return text, workdir
    target = _normal(workdir / found[1].strip("'\""))
    if target is not None and (target in places.folders or target == PurePosixPath()):
        workdir = target
    return (found[2] or "").strip(), workdir


def _normal(path: PurePosixPath) -> PurePosixPath | None:
    """Resolve ``.`` and ``..``; None when the path leaves the repository."""
    if path.is_absolute():
        return None
    parts: list[str] = []
    for part in path.parts:
        if part == "..":
            if not parts:
                return None
            parts.pop()
        elif part != ".":
            parts.append(part)
    return PurePosixPath(*parts)


def _command(
    text: str, line: DocumentLine, source: PurePosixPath, workdir: PurePosixPath, places: Places
) -> Command:
    text = re.sub(r"\s*&\s*$", "", text) if not text.endswith("&&") else text
    placeholders = tuple(dict.fromkeys(_PLACEHOLDER.findall(text)))
    words = _split(text)
    variables, words = _take_variables(words)
    words = _take_wrappers(words)
    shell = not placeholders and _needs_shell(text)
    plain = _first_simple(words) if shell else words
    kind = _kind(plain, workdir, places)
    script, target = _resolve(plain, workdir, places)
    if script is None and target:
        script, workdir = _elsewhere(target, workdir, source, places)
        target = "" if script is not None else target
    tells = plain and plain[0] not in _SHOWERS | {"make", "gmake"}
    if kind == "other" and script is not None and tells:
        kind = "run"
    argv = ("bash", "-c", _python_name_in(text)) if shell else _argv(words)
    return Command(
        text=text,
        source=source,
        line=line.line,
        kind=kind,
        argv=argv,
        shell=shell,
        workdir=str(workdir),
        variables=() if shell else variables,
        script=script,
        target=target,
        placeholders=placeholders,
    )


def _split(text: str) -> list[str]:
    try:
        return shlex.split(_without_shell_escapes(text), comments=True)
    except ValueError:
        return text.split()


def _without_shell_escapes(text: str) -> str:
    """Undo what only a shell undoes in double quotes, and `shlex` does not: escaped $ and `."""
    kept: list[str] = []
    quote = ""
    for character in text:
        escaped = bool(kept) and kept[-1] == "\\" and quote != "'"
        if escaped and quote == '"' and character in "$`":
            kept[-1] = character
            continue
        kept.append("\\\0" if escaped and character == "\\" else character)
        if character in "'\"" and not escaped and quote in {"", character}:
            quote = "" if quote else character
    return "".join(kept).replace("\\\0", "\\")


def _take_variables(words: list[str]) -> tuple[tuple[tuple[str, str], ...], list[str]]:
    variables: list[tuple[str, str]] = []
    while words and _ASSIGNMENT.match(words[0]):
        name, _, value = words[0].partition("=")
        variables.append((name, value))
        words = words[1:]
    return tuple(variables), words


def _take_wrappers(words: list[str]) -> list[str]:
    changed = True
    while changed:
        changed = False
        for wrapper in _WRAPPERS:
            if tuple(words[: len(wrapper)]) == wrapper and len(words) > len(wrapper):
                words, changed = words[len(wrapper) :], True
    return words


def _needs_shell(text: str) -> bool:
    """Tell whether unquoted characters or words ask for a shell."""
    lexer = shlex.shlex(text, posix=True, punctuation_chars="|&;<>()")
    lexer.whitespace_split = True
    lexer.commenters = "#"
    try:
        tokens = list(lexer)
    except ValueError:
        return True
    if any(token and set(token) <= set("|&;<>()") for token in tokens):
        return True
    if tokens and tokens[0] in {"for", "while", "if", "export", "source", "."}:
        return True
    return any(c in _SHELL_SYNTAX for c in _unquoted(text))


def _unquoted(text: str) -> str:
    """Return a command without what quotes and backslashes protect; ``"$X"`` still expands."""
    text = re.sub(r"\\.", "", text)
    text = re.sub(r"'[^']*'", "", text)
    return re.sub(r'"([^"]*)"', lambda m: "".join(c for c in m[1] if c in "$`"), text)


def _first_simple(words: list[str]) -> list[str]:
    """Return the first command of a line that looks like a program of interest."""
    part: list[str] = []
    parts = [part]
    for word in words:
        if word in {"|", "||", "&&", ";", "do", "then", "done", "fi", ">", ">>", "2>", "<"}:
            part = []
            parts.append(part)
        elif word.endswith(";"):
            part.append(word[:-1])
            part = []
            parts.append(part)
        else:
            part.append(word)
    simple = [_take_wrappers(_take_variables(p)[1]) for p in parts if p]
    for candidate in simple:
        if candidate and (_PYTHON.match(candidate[0]) or candidate[0] in _SHELLS | _SHOWERS):
            return candidate
    return simple[0] if simple and simple[0] else words


def _kind(words: list[str], workdir: PurePosixPath, places: Places) -> CommandKind:
    if not words:
        return "other"
    program, rest = words[0], words[1:]
    for kind, programs in _KINDS:
        if program in programs:
            return kind
    if _PYTHON.match(program):
        return _python_kind(rest)
    if program in {"make", "gmake"}:
        return _make_kind(rest)
    if program in _SHELLS or program in _RUNNERS or program.startswith("./"):
        installs = rest and re.search(r"install|setup|download", PurePosixPath(rest[0]).name)
        return "install" if program in _SHELLS and installs else "run"
    names = rest if program in _SHOWERS else [program] if "/" in program else []
    paths = [path for name in names if (path := _normal(workdir / name)) in places.files and path]
    known = any(path.suffix not in {".md", ".rst", ".py", ".yml", ".yaml"} for path in paths)
    return "run" if known else "other"


def _make_kind(rest: list[str]) -> CommandKind:
    targets = [word for word in rest if not word.startswith("-") and "=" not in word]
    if not targets or targets == ["all"]:
        return "build"
    return "other" if any(_MAKE_OTHER.search(target) for target in targets) else "run"


def _python_kind(rest: list[str]) -> CommandKind:
    if not rest:
        return "other"
    if rest[0] == "-m" and len(rest) > 1:
        if rest[1] in {"pip", "venv", "virtualenv", "ensurepip", "ipykernel", "spacy", "nltk"}:
            return "install"
        return "test" if rest[1] in _TESTERS else "run"
    if rest[0] in {"-c", "--version", "-V"}:
        return "run" if rest[0] == "-c" else "other"
    if PurePosixPath(rest[0]).name == "setup.py":
        return "build" if "build_ext" in rest or "build" in rest else "install"
    return "run"


def _argv(words: list[str]) -> tuple[str, ...]:
    """Return the words with every spelling of the interpreter as ``python``."""
    if words and _PYTHON.match(words[0]):
        return ("python", *words[1:])
    if words and words[0] in {"source", "."}:
        return ("bash", *words[1:])
    return tuple(words)


def _python_name_in(text: str) -> str:
    """Replace ``python2.7``, ``python3`` … by ``python`` where they start a command."""
    return re.sub(r"(^|[|&;(]\s*|\bdo\s+)python[\d.]+(?=\s)", r"\1python", text)


def _resolve(
    words: list[str], workdir: PurePosixPath, places: Places
) -> tuple[PurePosixPath | None, str]:
    """Return the file that a command starts, or the name of one that is not there."""
    if not words:
        return None, ""
    program, rest = words[0], words[1:]
    if program in {"make", "gmake"}:
        for name in ("Makefile", "makefile", "GNUmakefile"):
            if workdir / name in places.files:
                return workdir / name, ""
        return None, "Makefile"
    if _PYTHON.match(program) and rest[:1] == ["-m"] and len(rest) > 1:
        return _module(rest[1], workdir, places), ""
    names = [program] if program.startswith("./") else []
    suffixes = (".py", ".sh", ".ipynb", ".R", ".r", ".jl", ".pl", ".bash")
    names += [w for w in rest if w.endswith(suffixes) and not w.startswith("-")]
    if not names and (program in _SHELLS or _PYTHON.match(program)):
        names = [w for w in rest if not w.startswith("-")][:1]
    if not names and program in _SHOWERS:
        names = [w for w in rest if not w.startswith("-")][:1]
    for name in names:
        found = _find(name, workdir, places)
        if found is not None:
            return found, ""
    return None, names[0] if names else ""


def _find(name: str, workdir: PurePosixPath, places: Places) -> PurePosixPath | None:
    exact = _normal(workdir / name)
    return exact if exact is not None and exact in places.files else None


def _elsewhere(
    name: str, workdir: PurePosixPath, source: PurePosixPath, places: Places
) -> tuple[PurePosixPath | None, PurePosixPath]:
    """Find a file beside the document, or the only one of that name; return its folder too."""
    beside = _find(name, source.parent, places)
    if beside is not None:
        return beside, source.parent
    tail = tuple(part for part in PurePosixPath(name).parts if part != ".")
    if not tail or ".." in tail:
        return None, workdir
    hits = [path for path in places.files if path.parts[-len(tail) :] == tail]
    if len(hits) != 1:
        return None, workdir
    return hits[0], PurePosixPath(*hits[0].parts[: -len(tail)])


def _module(name: str, workdir: PurePosixPath, places: Places) -> PurePosixPath | None:
    base = workdir.joinpath(*name.split("."))
    for candidate in (base.with_name(base.name + ".py"), base / "__main__.py"):
        for path in (candidate, PurePosixPath("src") / candidate):
            if path in places.files:
                return path
    return None
