"""Command lines as a shell reads them: words, variables, wrappers and the commands within."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping

from rra.scan.containers import inside_container

ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")
PYTHON = re.compile(r"(?:\S*/)?(?:i?python(?:[\d.]+)?w?|py|pypy[\d.]*)(?:\.exe)?$")
"""Every spelling of the interpreter."""

_PLACED = re.compile(r"[\w./~-]*/bin/(pip[\d.]*|jupyter|torchrun|accelerate)$")
_SHELL_SYNTAX = frozenset("|&;<>()$`*?~")
_CONTROL = frozenset({"do", "then", "else", "done", "fi", "{", "}", "(", ")", "!"})
_SUBSTITUTION = re.compile(
    r"\s*(?:export\s+)?[A-Za-z_]\w*=(?P<quote>\"?)"
    r"(?:\$\((?P<inside>[^()]*)\)|`(?P<ticked>[^`]*)`)(?P=quote)\s*$"
)
_STARTERS = frozenset({"bash", "sh", "Rscript", "julia"})
_SEPARATORS = frozenset({"|", "||", "&&", ";", "&", ";;", "|&"})
_REDIRECT = re.compile(r"^(?:\d?>{1,2}|&>{1,2}|<)(?P<file>[^&].*)?$|^\d?>&\d$")

_PLAIN_WRAPPERS: Mapping[str, tuple[frozenset[str], int]] = {
    # program: options that take a value of their own, positional words before the command
    "time": (frozenset({"-o", "-f"}), 0),
    "/usr/bin/time": (frozenset({"-o", "-f"}), 0),
    "nohup": (frozenset(), 0),
    "sudo": (frozenset({"-u", "-g"}), 0),
    "env": (frozenset({"-u", "-C"}), 0),
    "nice": (frozenset({"-n"}), 0),
    "ionice": (frozenset({"-c", "-n"}), 0),
    "taskset": (frozenset(), 1),
    "timeout": (frozenset({"-k", "-s"}), 1),
    "stdbuf": (frozenset({"-i", "-o", "-e"}), 0),
    "setsid": (frozenset(), 0),
    "exec": (frozenset(), 0),
    "command": (frozenset(), 0),
    "eval": (frozenset(), 0),
    "numactl": (frozenset({"-N", "-m", "-C", "-p", "-i"}), 0),
    "catchsegv": (frozenset(), 0),
    "xvfb-run": (frozenset({"-n", "-s", "-e", "-f", "-p", "-w"}), 0),
    "vglrun": (frozenset({"-d"}), 0),
    "optirun": (frozenset(), 0),
    "chrt": (frozenset(), 1),
    "unbuffer": (frozenset(), 0),
    "caffeinate": (frozenset(), 0),
    "srun": (
        frozenset({"-n", "-N", "-c", "-p", "-t", "-J", "-w", "-x", "-A", "-q", "-G", "-o", "-e"})
        | {"--gres", "--partition", "--time", "--nodes", "--ntasks", "--job-name", "--mem"}
        | {"--gpus", "--cpus-per-task", "--ntasks-per-node", "--account", "--qos"}
        | {"--nodelist", "--exclude"},
        0,
    ),
}
_PAIR_WRAPPERS: Mapping[tuple[str, str], frozenset[str]] = {
    ("uv", "run"): frozenset({"--with", "--python", "-p", "--extra", "--group", "--project"}),
    ("poetry", "run"): frozenset(),
    ("pipenv", "run"): frozenset(),
    ("pdm", "run"): frozenset(),
    ("hatch", "run"): frozenset(),
    ("rye", "run"): frozenset(),
    ("pixi", "run"): frozenset({"-e", "--environment"}),
    ("conda", "run"): frozenset({"-n", "--name", "-p", "--prefix", "--cwd"}),
    ("mamba", "run"): frozenset({"-n", "--name", "-p", "--prefix"}),
    ("micromamba", "run"): frozenset({"-n", "--name", "-p", "--prefix"}),
}


def split_words(text: str) -> list[str]:
    """Split a line into words, comments left out; a line with open quotes at its spaces."""
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


def take_variables(words: list[str]) -> tuple[tuple[tuple[str, str], ...], list[str]]:
    """Take assignments off the front of a command: ``A=1 B=2 program …``."""
    variables: list[tuple[str, str]] = []
    while words and ASSIGNMENT.match(words[0]):
        name, _, value = words[0].partition("=")
        variables.append((name, value))
        words = words[1:]
    return tuple(variables), words


def take_wrappers(words: list[str]) -> tuple[tuple[tuple[str, str], ...], list[str]]:
    """Take off programs that only start another one, such as ``time``, ``srun`` or ``uv run``.

    Returns:
        Variables that stood between or behind them (``env A=1 program``), and the command within.
    """
    variables, words = take_variables(words)
    while len(words) > 1:
        inner = _inside_wrapper(words)
        if inner is None:
            break
        more, words = take_variables(inner)
        variables += more
    placed = _PLACED.match("".join(words[:1]))
    return variables, [placed[1], *words[1:]] if placed else words


def _inside_wrapper(words: list[str]) -> list[str] | None:
    program = words[0]
    if program in _PLAIN_WRAPPERS:
        options, positional = _PLAIN_WRAPPERS[program]
        rest = _after_options(words[1:], options)[positional:]
    elif (program, words[1]) in _PAIR_WRAPPERS:
        rest = _after_options(words[2:], _PAIR_WRAPPERS[program, words[1]])
    else:
        rest = inside_container(words) or []
    return rest or None


def _after_options(words: list[str], with_value: frozenset[str]) -> list[str]:
    """Return the words behind leading options."""
    while words and words[0].startswith("-"):
        if words[0] == "--":
            return words[1:]
        words = words[2:] if words[0] in with_value else words[1:]
    return words


def needs_shell(text: str) -> bool:
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


def simple_commands(text: str) -> Iterator[tuple[tuple[tuple[str, str], ...], list[str]]]:
    """Yield the commands of a line one by one, without wrappers, redirections and control words.

    Yields:
        Variables in front of it, and its words.
    """
    for part in _parts(_substituted(text)):
        words = part
        while words and words[0] in _CONTROL | {"if", "while", "until", "elif"}:
            words = words[1:]
        if not words or words[0] in {"for", "case", "function", "select"}:
            continue
        variables, words = take_wrappers(_without_redirections(words))
        yield variables, words


def starts_in_value(text: str) -> bool:
    """Tell whether an assignment takes its value from a script that it starts."""
    return _substituted(text) != text


def _substituted(text: str) -> str:
    """Return the command of ``X=$(command)`` where it starts a script; other lines as they are.

    What a shell asks to find its way, such as ``$(cd … && pwd)``, stays a value.
    """
    found = _SUBSTITUTION.match(text)
    if found is None:
        return text
    inside = found["inside"] or found["ticked"] or ""
    words = take_wrappers(inside.split())[1]
    program = "".join(words[:1])
    starts = PYTHON.match(program) or program in _STARTERS or program.startswith("./")
    return inside if starts and "-c" not in words[1:2] and len(words) > 1 else text


def _parts(text: str) -> Iterator[list[str]]:
    lexer = shlex.shlex(_without_shell_escapes(text), posix=True, punctuation_chars=";&|")
    lexer.whitespace_split = True
    try:
        tokens = list(lexer)
    except ValueError:
        tokens = text.split()
    part: list[str] = []
    for token in tokens:
        if token in _SEPARATORS or token in {"do", "then", "else"}:
            if part and part[-1].endswith(">") and token == "&":  # noqa: S105 - a word of the shell
                part[-1] += token
                continue
            yield part
            part = []
        else:
            part.append(token)
    yield part


def _without_redirections(words: list[str]) -> list[str]:
    kept: list[str] = []
    skip = False
    for word in words:
        if skip:
            skip = False
            continue
        found = _REDIRECT.match(word)
        if found is None:
            kept.append(word)
        elif word[-1] in "<>":
            skip = True
    return kept


def expand(text: str, variables: Mapping[str, str]) -> str:
    """Replace ``$NAME`` and ``${NAME}`` by known values outside single quotes.

    ``${NAME:-default}`` becomes its default where the value is not known.
    """

    def value(found: re.Match[str]) -> str:
        if found["quoted"] is not None:
            return found[0]
        name = found["name"] or found["braced"]
        if name in variables:
            return variables[name]
        return found["default"] if found["default"] is not None else found[0]

    pattern = (
        r"(?P<quoted>'[^']*'|\\\$)|\$(?:(?P<name>[A-Za-z_]\w*)|"
        r"\{(?P<braced>[A-Za-z_]\w*)(?::?-(?P<default>[^{}]*))?\})"
    )
    return re.sub(pattern, value, text)


def make_words(rest: list[str]) -> tuple[dict[str, str], list[str]]:
    """Return ``-C`` and ``-f`` of a call of make with their values, and its targets."""
    given: dict[str, str] = {}
    targets: list[str] = []
    words = iter(rest)
    for word in words:
        if word in {"-C", "-f", "--directory", "--file"}:
            given["-C" if word in {"-C", "--directory"} else "-f"] = next(words, ".")
        elif word[:2] in {"-C", "-f"} and len(word) > 2:
            given[word[:2]] = word[2:]
        elif word in {"-j", "-k", "-l"}:
            continue
        elif not word.startswith("-") and "=" not in word and not word.isdigit():
            targets.append(word)
    return given, targets
