"""Documented commands: what they are for, and which file of the repository each starts."""

from __future__ import annotations

import dataclasses
import posixpath
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import PurePosixPath

from rra.scan.blocks import DocumentLine, is_surely_command, reads_as_prose
from rra.scan.consoles import console_call, console_file, console_installs, matlab_file
from rra.scan.containers import CONTAINERS, text_inside
from rra.scan.objects import Command, CommandKind
from rra.scan.pipelines import pipelines
from rra.scan.placeholders import find_placeholders
from rra.scan.purposes import RUNNERS, SHELLS, SHOWERS, kind_of, purpose_of
from rra.scan.resolve import Places, Resolved, find, normal, resolve, resolve_file
from rra.scan.shellwords import (
    PYTHON,
    expand,
    needs_shell,
    simple_commands,
    split_words,
    starts_in_value,
    take_variables,
    take_wrappers,
)
from rra.scan.snakefiles import is_snakefile
from rra.scan.windows import as_unix, expand_percent, is_batch

__all__ = ["DocumentCommands", "Places", "nested_commands", "read_commands", "read_document"]

_PLAUSIBLE = re.compile(r"[A-Za-z_.~/$][\w./\\+~${}:-]*(?:\s|$)|\S+=\S*(?:\s|$)")
_CLONE = re.compile(r"\bgit\s+clone\s.*?([\w.-]+?)(?:\.git)?/?(?=\s|$|[;&])")
_CONTROL = re.compile(r"^(?:do|done|then|else|fi|esac|\}|\)|\{|;;)\s*;?$")
_SCRIPT_PLACE = re.compile(
    r"""^["']?\$[({]?\s*(?:dirname|cd)?.*(?:\$0|BASH_SOURCE|%/\*).*?(?P<rest>(?:/\.\.)*)["']?\)?["']?$"""
)
_BUILTINS = frozenset(
    {"echo", "mkdir", "rm", "cp", "mv", "ls", "set", "export", "exit", "printf", "read", "touch"}
    | {
        "ln",
        "chmod",
        "sleep",
        "wait",
        "test",
        "[",
        "[[",
        "return",
        "local",
        "shift",
        "trap",
        "true",
    }
    | {"false", "unset", "pwd", "date", "ulimit", "alias", "function", "declare", "eval", "popd"}
    | {"pushd", "cd", "which", "sed", "awk", "grep", "sort", "uniq", "cut", "tr", "wc", "find"}
    | {"tee", "xargs", "kill", "hostname", "nvidia-smi", "diff", "cat", "head", "tail", "if", ":"}
)
_TYPED = _BUILTINS - frozenset(
    {"return", "local", "shift", "if", "function", "declare", "test", "[", "[[", ":", "true"}
    | {"false", "read", "head", "tail", "sort", "set", "trap", "eval", "wait", "find", "date"}
)
"""Those that a reader is told to type, and that no other language has for a word."""
_NOT_RUN = re.compile(
    r"^\.(?!(?:sh|bash|zsh|ksh|csh|py|R|r|pl|jl|rb|lua|exe|bat|cmd|ps1|out|x|run|bin|slurm|sbatch|m)$)"
)
_MADE = re.compile(r"\bmkdir\s+(?:-\w+\s+)*([^;&|#]+)|\bcmake\b[^;&|]*?\s-B\s*([^\s;&|]+)")
_FILLED = re.compile(r"^MLproject$|\.(?:ya?ml|json|sh|bash|py|ipynb|nf)$|^(?:GNUm|M|m)akefile")
"""Names of files in which no reader replaces ``{name}``: another program does, or none."""
_FETCHED = re.compile(r"https?://[^\s\"'<>]+/([\w.-]+\.\w+)")
_TOKEN = re.compile(
    r"(?P<quote>[\"']?)(?P<lead>\$\{?\w+\}?|<[^<>\s]+>|[\w-][\w.-]*|/path/to|\.\.)"
    r"(?P<rest>(?:/[\w.-]+)*/[\w.-]+\.(?:py|sh|bash|R|r|jl|ipynb|pl|lua|slurm))(?P=quote)"
)


@dataclasses.dataclass(frozen=True)
class DocumentCommands:
    """The commands of one document.

    Attributes:
        commands: One for each line.
        inner: Those that a line joins, in a loop, in a condition or one behind another.
    """

    commands: list[Command]
    inner: list[Command]


def read_commands(
    lines: Iterable[DocumentLine], source: PurePosixPath, places: Places
) -> list[Command]:
    """Turn the lines of one document into commands, one for each line; see `read_document`.

    Args:
        lines: Lines that may be commands.
        source: The document.
        places: What is in the repository.
    """
    return read_document(lines, source, places).commands


def read_document(
    lines: Iterable[DocumentLine], source: PurePosixPath, places: Places
) -> DocumentCommands:
    """Turn the lines of one document into commands.

    Within a block ``cd`` and assignments hold for the lines that follow. Lines that are neither
    sure to be commands nor look like one are left out.

    Args:
        lines: Lines that may be commands.
        source: The document.
        places: What is in the repository.
    """
    found: list[Command] = []
    inner: list[Command] = []
    state = _Block(-1)
    cloned: set[str] = set()
    fetched: set[str] = set()
    made: set[PurePosixPath] = set()
    last = PurePosixPath()
    for line in lines:
        if line.output:
            continue
        if line.block != state.number:
            state = _Block(line.block)
            state.made = made
        fetched.update(_FETCHED.findall(line.text))
        cloned.update(_CLONE.findall(line.text))
        text = state.enter(line.text, places, cloned)
        if not text:
            continue
        text, leaves = _without_last_cd(text)
        last = state.workdir if state.workdir != PurePosixPath() else last
        command = _where_fetched(_in_folder(text, line, source, state, last, places), fetched)
        if _is_meant(command, line, places):
            found.append(command)
            if not console_call(text) and pipelines(text) != [text]:
                parts = list(
                    _joined(dataclasses.replace(line, text=text), source, state.copy(), places)
                )
                inner += parts
                found[-1] = dataclasses.replace(command, joins=bool(parts))
        if leaves:
            state.change_folder(leaves, places, None)
    return DocumentCommands(found, inner)


def nested_commands(
    lines: Iterable[DocumentLine],
    source: PurePosixPath,
    places: Places,
    *,
    each_line_alone: bool = False,
) -> list[Command]:
    """Return the commands inside a script, each of those that a line joins on its own.

    Args:
        lines: Lines of the script.
        source: The script.
        places: What is in the repository.
        each_line_alone: Whether ``cd`` and variables end with the line, as in a Makefile.
    """
    found: list[Command] = []
    start = source.parent if each_line_alone or source.suffix == ".ipynb" else PurePosixPath()
    state = _Block(0, start)
    for line in lines:
        if each_line_alone:
            state = _Block(0, start)
        found += _joined(line, source, state, places)
    return found


def rule_scripts(
    named: Iterable[tuple[int, str]], source: PurePosixPath, places: Places
) -> list[Command]:
    """Return the scripts that rules of a workflow start, found beside the file of the rules.

    Args:
        named: Lines with the scripts as the rules name them.
        source: The file of the rules.
        places: What is in the repository.
    """
    found: list[Command] = []
    for number, name in named:
        path = find(name, source.parent, places)
        program = {".py": "python", ".R": "Rscript", ".r": "Rscript", ".jl": "julia"}
        if path is not None:
            started = program.get(path.suffix, "jupyter" if path.suffix == ".ipynb" else "run")
            argv = (started, str(path))
            line = DocumentLine(" ".join(argv), number, 0)
            found.append(_command_of(line.text, [*argv], (), line, source, _Block(0), places))
    return found


def _joined(
    line: DocumentLine, source: PurePosixPath, state: _Block, places: Places
) -> Iterator[Command]:
    """Yield the commands that a line joins, following ``cd`` and assignments among them."""
    for text in pipelines(line.text):
        plain = _as_unix(text, source, state, places)
        state.note_made(plain)
        state.names.update(re.findall(r"\b(?:for|read)\s+([A-Za-z_]\w*)", line.text))
        variables, words = next(
            ((given, words) for given, words in simple_commands(plain) if given or words), ((), [])
        )
        if not words:
            state.variables.update(variables)
        elif words[0] in {"cd", "pushd"}:
            state.change_folder(" ".join(words[1:2]), places, source.parent)
        elif words[0] in {"export", "readonly", "declare", "local", "set"}:
            state.assign(words[1:])
        elif words[0] not in _BUILTINS and not _CONTROL.match(words[0]):
            command = _command_of(text, words, variables, line, source, state, places)
            if command.kind != "other" or command.script is not None or command.built_by:
                yield command


def _without_last_cd(text: str) -> tuple[str, str]:
    """Take a ``cd`` off the end of a line, which holds for the lines that follow."""
    found = re.search(r"\s*(?:&&|;)\s*cd\s+([^\s;&|()]+)\s*$", text)
    return (text[: found.start()], found[1]) if found and "(" not in text else (text, "")


class _Block:
    """Working directory and variables within one block of a document or one script."""

    def __init__(self, number: int, workdir: PurePosixPath = PurePosixPath()) -> None:  # noqa: B008
        self.number = number
        self.workdir = workdir
        self.variables: dict[str, str] = {}
        self.exported: dict[str, str] = {}
        self.names: set[str] = set()
        self.made: set[PurePosixPath] = set()
        self.away = False

    def copy(self) -> _Block:
        """Return a block of the same state that can be changed on its own."""
        other = _Block(self.number, self.workdir)
        other.variables, other.exported = dict(self.variables), dict(self.exported)
        other.names = set(self.names)
        other.made, other.away = set(self.made), self.away
        return other

    def enter(self, text: str, places: Places, cloned: Collection[str]) -> str:
        """Follow a leading ``cd`` and assignments; return what is left of the line.

        Args:
            text: The line.
            places: What is in the repository.
            cloned: Folders that the document has ``git clone`` make: the repository itself.
        """
        text = re.sub(r"^\s*(?:&&|;)\s*", "", text.strip())
        self.names.update(re.findall(r"\b(?:for|read)\s+([A-Za-z_]\w*)", text))
        self.note_made(text)
        found = re.match(r"^(?:cd|pushd)\s+([^\s;&|]+)\s*(?:(?:&&|;)\s*(.*))?$", text)
        if found is not None:
            if self.workdir != PurePosixPath() or found[1].strip("'\"/") not in cloned:
                self.change_folder(found[1], places, None)
            rest = (found[2] or "").strip()
            return self.enter(rest, places, cloned) if rest else ""
        assigned = re.match(
            r"^(?:export\s+|set\s+)?((?:[A-Za-z_]\w*=(?:'[^']*'|\"[^\"]*\"|\S*)\s*)+)$", text
        )
        if assigned is not None and not starts_in_value(text):
            windows = text.startswith("set")
            words = split_words(assigned[1].replace("\\", "/") if windows else assigned[1])
            self.assign(words)
            if text.startswith("export"):
                self.exported.update(dict(take_variables(words)[0]))
            return ""
        return text

    def assign(self, words: list[str]) -> None:
        """Remember assignments."""
        for name, value in take_variables(words)[0]:
            self.variables[name] = expand(value, self.variables)
            self.names.add(name)

    def change_folder(self, text: str, places: Places, script_folder: PurePosixPath | None) -> None:
        """Follow ``cd X``; folders that are not there (a fresh clone's own) change nothing."""
        text = expand(text.strip("'\"").replace("\\", "/"), self.variables)
        own = _SCRIPT_PLACE.match(text) if script_folder is not None else None
        if own is not None and script_folder is not None:
            target = normal(script_folder / own["rest"].lstrip("/"))
        else:
            target = normal(self.workdir / text)
        known = target is not None and (
            target in places.folders or target == PurePosixPath() or target in self.made
        )
        if target is not None and known:
            self.workdir, self.away = target, False
            return
        tails = [PurePosixPath(*PurePosixPath(text).parts[n:]) for n in (1, 2)]
        inside = [tail for tail in tails if tail.parts and tail in places.folders]
        if inside:  # a clone of the repository in front: `cd repository/scripts`
            self.workdir, self.away = inside[0], False
        elif re.fullmatch(r"[\w.-]+(?:/[\w.-]+)+/?", text):
            self.away = True

    def note_made(self, text: str) -> None:
        """Remember the folders that a line makes."""
        for found in _MADE.finditer(text):
            for name in (found[1] or found[2]).split():
                place = normal(self.workdir / name)
                if place not in {None, PurePosixPath()} and not re.search(r"[$<{*`]", name):
                    self.made.add(PurePosixPath(str(place)))


def _command(
    text: str, line: DocumentLine, source: PurePosixPath, state: _Block, places: Places
) -> Command:
    if line.console or console_call(text):
        return _typed_at_a_prompt(text, line, source, state, places)
    text = re.sub(r"\s*&\s*$", "", text) if not text.endswith("&&") else text
    values = {n: v for n, v in state.variables.items() if "$" not in v}
    plain = expand(_respelled(_as_unix(text, source, state, places), state, places), values)
    plain = text_inside(plain)
    shell = needs_shell(plain)
    variables, words = take_wrappers(split_words(plain))
    simple = _first_simple(plain) if shell else words
    command = _command_of(plain, simple, (), line, source, state, places)
    given = tuple(state.exported.items()) + variables
    if command.placeholders:
        shell = False
    argv = ("bash", "-c", _python_name_in(plain)) if shell else _argv(words, command)
    return dataclasses.replace(
        command, text=text, argv=argv, shell=shell, variables=() if shell else given
    )


def _as_unix(text: str, source: PurePosixPath, state: _Block, places: Places) -> str:
    """Return a line with the paths and variables of Windows written as a Unix shell does."""
    if "\\" not in text and "%" not in text:
        return text
    known = _Known(places, state.workdir)
    return expand_percent(
        as_unix(text, known.__contains__, surely=is_batch(source)), state.variables
    )


def _in_folder(
    text: str,
    line: DocumentLine,
    source: PurePosixPath,
    state: _Block,
    last: PurePosixPath,
    places: Places,
) -> Command:
    """Read a command; what is not there is looked for where an earlier block went by ``cd``."""
    command = _command(text, line, source, state, places)
    found = command.script is not None or command.resolution == "built"
    looks = command.resolution == "missing" or command.argv[:1] in {("matlab",), ("octave",)}
    if found or not looks or state.workdir != PurePosixPath() or last == PurePosixPath():
        return command
    there = state.copy()
    there.workdir = last
    again = _command(text, line, source, there, places)
    return again if again.script is not None or again.resolution == "built" else command


def _respelled(text: str, state: _Block, places: Places) -> str:
    """Write scripts below a clone, a variable or a word to be replaced by their own place.

    ``python repository/tools/a.py`` and ``python "$ROOT/tools/a.py"`` start ``tools/a.py``.
    """

    def place(found: re.Match[str]) -> str:
        whole = found["lead"] + found["rest"]
        parts = whole.split("/")
        if find(whole, state.workdir, places) or PurePosixPath(whole) in places.files:
            return found[0]
        for start in range(found["lead"].count("/") + 1, len(parts)):
            rest = PurePosixPath(*parts[start:])
            sure = len(rest.parts) > 1 or not found["lead"][0].isalnum()
            if rest in places.files and sure and parts[0] != "..":
                return posixpath.relpath(str(rest), str(state.workdir))
        return found[0]

    return text if state.away else _TOKEN.sub(place, text)


def _where_fetched(command: Command, fetched: Collection[str]) -> Command:
    """Say that a script which is not there is one that the document has somebody download."""
    name = command.target.rpartition("/")[2]
    if command.resolution != "missing" or name not in fetched:
        return command
    why = f"{name} is fetched from elsewhere"
    return dataclasses.replace(command, resolution="outside", target="", why=why)


def _typed_at_a_prompt(
    text: str, line: DocumentLine, source: PurePosixPath, state: _Block, places: Places
) -> Command:
    """Return what is typed at the prompt of R, Julia or Octave, as a command for a shell."""
    named = console_file(text) or (matlab_file(text) if line.console else "")
    resolved = resolve_file(named, state.workdir, source, places)
    kind: CommandKind = "install" if not named and console_installs(text) else "run"
    program = {"r": ("Rscript", "-e"), "julia": ("julia", "-e"), "matlab": ("octave", "--eval")}
    return Command(
        text=text,
        source=source,
        line=line.line,
        kind=kind,
        argv=(*program[line.console or console_call(text)], text),
        workdir=str(resolved.workdir),
        script=resolved.script,
        target=resolved.target,
        purpose=purpose_of(kind, (named or text,), resolved.script, resolved.target),
        resolution=resolved.resolution,
        why=resolved.why,
    )


def _command_of(
    text: str,
    words: list[str],
    variables: tuple[tuple[str, str], ...],
    line: DocumentLine,
    source: PurePosixPath,
    state: _Block,
    places: Places,
) -> Command:
    values: Mapping[str, str] = state.variables
    words = [expand(word, values) for word in words]
    if words and re.fullmatch(r"\$\{?PY(?:THON)?\d?(?:_BIN)?\}?", words[0], re.IGNORECASE):
        words[0] = "python"
    names = {*values, *state.names}
    filled = bool(_FILLED.search(source.name)) or is_snakefile(source)
    known = _Known(places, state.workdir)
    placeholders = find_placeholders(text, words, known, names, filled=filled)
    seen = _beside(source, places) if state.away else places
    resolved = resolve(words, state.workdir, source, seen)
    resolved = _because_of_placeholders(resolved, placeholders)
    kind = _kind(words, resolved, places)
    return Command(
        text=text,
        source=source,
        line=line.line,
        kind=kind,
        argv=(_place_of(resolved) or words[0], *words[1:]) if words else (),
        workdir=str(resolved.workdir),
        variables=variables,
        script=resolved.script,
        target=resolved.target,
        placeholders=placeholders,
        purpose=purpose_of(kind, words, resolved.script, resolved.target or _place_of(resolved)),
        resolution=resolved.resolution,
        why=resolved.why,
        built_by=resolved.built_by,
        inline=line.inline,
    )


def _beside(source: PurePosixPath, places: Places) -> Places:
    """Return what is left of a repository in a folder that is none of it: the document's own."""
    if source.parent == PurePosixPath():
        return Places((), (), packages=places.packages)
    files = [path for path in places.files if path.parent == source.parent]
    return Places(files, {source.parent}, packages=places.packages)


def _place_of(resolved: Resolved) -> str:
    """Return how a program that the repository builds is started from its working directory."""
    if resolved.program is None:
        return ""
    place = posixpath.relpath(str(resolved.program), str(resolved.workdir))
    return place if "/" in place else f"./{place}"


class _Known:
    """Words that are files or folders of the repository, seen from a working directory."""

    def __init__(self, places: Places, workdir: PurePosixPath) -> None:
        self._places, self._workdir = places, workdir

    def __contains__(self, word: object) -> bool:
        path = normal(self._workdir / str(word))
        return path is not None and (path in self._places.files or path in self._places.folders)

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


def _because_of_placeholders(resolved: Resolved, placeholders: tuple[str, ...]) -> Resolved:
    """Say that a word to be replaced is why nothing was found, when it is."""
    if resolved.resolution == "missing" and any(p in resolved.target for p in placeholders):
        why = f"{resolved.target} is to be replaced by the reader"
        return dataclasses.replace(resolved, resolution="outside", why=why)
    return resolved


def _kind(words: list[str], resolved: Resolved, places: Places) -> CommandKind:
    program = words[0] if words else ""
    shown = resolved.script if program in SHOWERS else None
    if shown is not None:
        return "other" if shown.suffix in {".md", ".rst", ".py", ".yml", ".yaml"} else "run"
    installed = resolved.resolution == "built" or program in places.builds.installed
    known = resolved.script is not None and program not in SHOWERS
    return kind_of(words, known_file=known, installed=installed)


def _is_meant(command: Command, line: DocumentLine, places: Places) -> bool:
    """Tell whether a line is a command rather than output or a sentence."""
    if line.console:
        return command.script is not None
    if not console_call(line.text) and _is_mention(command, line, places):
        return False
    if line.inline or (line.sure and _PLAUSIBLE.match(line.text)):
        return True
    if line.block >= 0 and reads_as_prose(line.text) and not is_surely_command(line.text):
        return False
    first = line.text.split(maxsplit=1)[0]
    if command.kind != "other" or command.script is not None:
        return not first.endswith(":")
    return first in _TYPED | CONTAINERS or first in places.builds.names


def _is_mention(command: Command, line: DocumentLine, places: Places) -> bool:
    """Tell whether a line only names a file or a setting: ``./data/a.csv``, ``script = run.sh``."""
    words = line.text.split()
    first = words[0]
    if first.endswith(":") or first.startswith(("-", "Traceback")) or _CONTROL.match(line.text):
        return True
    if first == "R" and command.script is None and not re.match(r"R\s+(?:CMD\b|-|<)", line.text):
        return True
    if len(words) > 1 and words[1] in {"=", ":=", "<-", "->", "=>", "+="}:
        return True
    if command.resolution == "built" or "/" not in first:
        listed = re.search(r"\.(?:py|R|r|jl|ipynb|m)$", first) and not (line.sure or line.inline)
        return bool(listed) and (len(words) == 1 or not re.match(r"[\w./-]", words[1]))
    if len(words) > 1:
        return False
    place = normal(PurePosixPath(command.workdir) / first)
    suffix = PurePosixPath(first).suffix
    return place in places.folders or bool(_NOT_RUN.search(suffix) and not line.prompted)


def _first_simple(text: str) -> list[str]:
    """Return the first command of a line that looks like a program of interest."""
    simple = [words for _, words in simple_commands(text) if words]
    of_interest = SHELLS | SHOWERS | RUNNERS
    silent = _BUILTINS | SHOWERS
    for candidate in simple:
        if PYTHON.match(candidate[0]) or candidate[0] in of_interest:
            if candidate[0] in SHOWERS and any(one[0] not in silent for one in simple):
                continue
            return candidate
    working = [words for words in simple if words[0] not in silent]
    return (working or simple or [[]])[0]


def _argv(words: list[str], command: Command) -> tuple[str, ...]:
    """Return the words with one spelling of the interpreter, and built programs by their place."""
    if words and PYTHON.match(words[0]):
        return ("python", *words[1:])
    if words and words[0] in {"source", "."}:
        return ("bash", *words[1:])
    if command.resolution == "built" and words:
        return (command.argv[0], *words[1:])
    return tuple(words)


def _python_name_in(text: str) -> str:
    """Replace ``python2.7``, ``python3`` … by ``python`` where they start a command."""
    return re.sub(r"(^|[|&;(]\s*|\bdo\s+)python[\d.]+(?=\s)", r"\1python", text)
