"""Compiling a launcher: a shell script that does the same with and without `rra`.

Commands are lists of words, each quoted as a whole, so no text of a command is ever read as
shell syntax. A word is replaced by a parameter only where the list says so, never because its
text happens to hold braces.

Contract: format, section 4 (what a launcher gets, leaves, and answers).
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath

from rra.artifact import layout

_SAFE_DEFAULT = re.compile(r"[A-Za-z0-9_./:+-]*")
_GLOB = re.compile(r"[*?\[]")
OWN_NAMES = frozenset(
    {"run", "take", "cd", "mkdir", "rm", "cp", "mv", "mktemp", "chmod", "find", "dirname", "tee"}
    | {"pwd", "printf", "command", "export", "trap", "shopt", "sleep", "read", "exit", "python"}
    | {"set", "local", "case", "do", "done", "else", "esac", "fi", "for", "if", "in", "then"}
    | {"until", "while", "bash", "sh", "time", "function", "select", "coproc", "continue"}
)
"""Names that a launcher uses itself, or that bash reads as a part of its language."""


@dataclasses.dataclass(frozen=True, slots=True)
class ParameterWord:
    """A word of a command whose value is a parameter of the launcher.

    Attributes:
        name: Name of the parameter, as the manifest spells it.
        prefix: Text in front of the value in the same word, such as ``--folds=``.
    """

    name: str
    prefix: str = ""


@dataclasses.dataclass(frozen=True, slots=True)
class Step:
    """One command of a launcher.

    Attributes:
        argv: Its words.
        workdir: Directory that it is run in, relative to the code.
        variables: Environment variables that are set for it.
    """

    argv: tuple[str | ParameterWord, ...]
    workdir: str = "."
    variables: tuple[tuple[str, str], ...] = ()


@dataclasses.dataclass(frozen=True, slots=True)
class OwnCommand:
    """A command that the code's own package would install, started from the code.

    Attributes:
        name: Its name, which is no one of `OWN_NAMES`.
        argv: What starts it.
        file: File of the code that comes behind `argv`, or None.
        root: Folder of the code that its modules are in.
        why: One line for the reader.
    """

    name: str
    argv: tuple[str, ...]
    file: PurePosixPath | None
    root: PurePosixPath
    why: str


def variable_name(parameter: str) -> str:
    """Return the environment variable that carries a parameter: ``RRA_PARAM_FOLDS``."""
    return "RRA_PARAM_" + re.sub(r"[^A-Z0-9]", "_", parameter.upper())


def quote(text: str) -> str:
    """Quote a word for bash so that it is taken literally, whatever it holds."""
    if re.fullmatch(r"[A-Za-z0-9_./:=,+@%-]+", text):
        return text
    return _single_quoted(text)


def _single_quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def compile_launcher(  # noqa: PLR0913 - each is a part of the text of its own
    launcher: str,
    steps: Sequence[Step],
    *,
    environment: str,
    program: str = "python",
    code_root: str = "code",
    collect: Mapping[str, str] | None = None,
    parameters: Mapping[str, str] | None = None,
    comments: Sequence[str] = (),
    own: Sequence[OwnCommand] = (),
) -> str:
    """Return the text of ``launchers/<id>.sh``.

    Args:
        launcher: Id of the launcher.
        steps: Commands, run one after the other; the first that fails ends the run.
        environment: Id of the environment, for the message when there is no such program.
        program: What the commands are started with, and the environment has to bring.
        code_root: ``code``, or ``.`` when the code is in place.
        collect: Pattern in the copy of the code → place in the output directory.
        parameters: Default of each parameter as text.
        comments: Lines put at the top, such as where the command was found.
        own: Commands of the code's own package that the steps call.

    Raises:
        ValueError: A step names a parameter that is not declared.
    """
    declared = dict(parameters or {})
    body = [
        _head(launcher, comments),
        _places(launcher),
        _parameters(declared),
        _need(program, launcher, environment),
        _own_commands(own),
        _commands(steps, declared),
        _with_rra(),
        _private_copy(launcher, code_root),
        _by_hand(collect or {}),
    ]
    return "\n".join(part for part in body if part)


def _head(launcher: str, comments: Sequence[str]) -> str:
    lines = [" ".join(line.split()) for line in comments]
    noted = "".join(f"# {line}\n" for line in lines)
    return (
        "#!/usr/bin/env bash\n"
        f"# Launcher {launcher}. Start it from anywhere: bash launchers/{launcher}.sh\n"
        f"{noted}"
        "set -euo pipefail\n"
    )


def _places(launcher: str) -> str:
    return f"""\
root=$(cd -- "$(dirname -- "${{BASH_SOURCE[0]}}")/.." && pwd -P)
RRA_OUTPUTS_ROOT=${{RRA_OUTPUTS_ROOT:-$root/outputs}}
mkdir -p -- "$RRA_OUTPUTS_ROOT"
RRA_OUTPUTS_ROOT=$(cd -- "$RRA_OUTPUTS_ROOT" && pwd -P)
if [ -z "${{RRA_OUTPUT_DIR:-}}" ]; then
  RRA_OUTPUT_DIR=$RRA_OUTPUTS_ROOT/{launcher}
  rm -rf -- "$RRA_OUTPUT_DIR"
fi
mkdir -p -- "$RRA_OUTPUT_DIR"
RRA_OUTPUT_DIR=$(cd -- "$RRA_OUTPUT_DIR" && pwd -P)
RRA_DATA_DIR=${{RRA_DATA_DIR:-$root/data}}
export RRA_OUTPUTS_ROOT RRA_OUTPUT_DIR RRA_DATA_DIR
"""


def _parameters(parameters: Mapping[str, str]) -> str:
    lines = []
    for name, default in parameters.items():
        variable = variable_name(name)
        if _SAFE_DEFAULT.fullmatch(default):
            lines.append(f': "${{{variable}:={default}}}"\n')
        else:
            lines.append(f"default={quote(default)}\n")
            lines.append(f"{variable}=${{{variable}:-$default}}\n")
        lines.append(f"export {variable}\n")
    return "".join(lines)


def _need(program: str, launcher: str, environment: str) -> str:
    message = (
        f"launchers/{launcher}.sh: there is no {program} on PATH; "
        f"{layout.ENVIRONMENT_DIR}/{environment}/README.md says how to set it up"
    )
    return f"""\
if ! command -v {program} >/dev/null 2>&1; then
  printf '%s\\n' {quote(message)} >&2
  exit 69
fi
"""


def _own_commands(own: Sequence[OwnCommand]) -> str:
    """Define commands that nothing installs, for the steps and for what bash starts in them."""
    lines = []
    for command in own:
        root = _in_code(command.root)
        words = [quote(word) for word in command.argv]
        words += [_in_code(command.file)] if command.file is not None else []
        lines.append(
            f"# {command.name}: {' '.join(command.why.split())}\n"
            f"{command.name}() {{\n"
            f'  PYTHONPATH={root}"${{PYTHONPATH:+:$PYTHONPATH}}" {" ".join(words)} "$@"\n'
            f"}}\nexport -f {command.name}\n"
        )
    return "".join(lines)


def _in_code(path: PurePosixPath) -> str:
    return '"$RRA_CODE_DIR"' + (f"/{quote(str(path))}" if path.parts else "")


def _with_rra() -> str:
    return """\
if [ -n "${RRA_CODE_DIR:-}" ]; then
  # rra has made a private copy of the code, keeps what is printed, and collects.
  cd -- "$RRA_CODE_DIR"
  run
  exit 0
fi
"""


def _private_copy(launcher: str, code_root: str) -> str:
    """Make a copy of the code when nobody has made one; the artifact stays as it is."""
    in_place = code_root == "."
    source = '"$root"' if in_place else f'"$root"/{quote(code_root)}'
    names = [".git", *layout.OWNED_DIRS, *layout.OWNED_FILES, *sorted(layout.SKIPPED_DIRS)]
    top = dict.fromkeys(name for name in names if "/" not in name)
    skipped = _lines_of_cases(list(top) if in_place else [".git"])
    return f"""\
# By hand: the same in a copy that is made here and removed at the end.
work=$(mktemp -d "${{TMPDIR:-/tmp}}/rra-{launcher}.XXXXXX")
trap 'chmod -R u+w "$work"; rm -rf -- "$work"' EXIT
export RRA_CODE_DIR="$work/code"
mkdir -- "$RRA_CODE_DIR"
shopt -s dotglob nullglob
for item in {source}/*; do
  case ${{item##*/}} in
{skipped}
    *) cp -RPp -- "$item" "$RRA_CODE_DIR"/ ;;
  esac
done
cd -- "$RRA_CODE_DIR"
"""


def _lines_of_cases(names: Sequence[str]) -> str:
    """Write names as patterns of a ``case`` that does nothing, a few in each line."""
    groups = [names[start : start + 7] for start in range(0, len(names), 7)]
    return "\n".join(f"    {' | '.join(group)}) ;;" for group in groups)


def _commands(steps: Sequence[Step], parameters: Mapping[str, str]) -> str:
    lines = "".join(f"  {_command(step, parameters)}\n" for step in steps)
    return f"run() {{\n{lines}}}\n"


def _command(step: Step, parameters: Mapping[str, str]) -> str:
    words = [_word(word, parameters) for word in step.argv]
    if isinstance(step.argv[0], str):
        words[0] = _program(step.argv[0])
    settings = [_setting(name, value) for name, value in step.variables]
    command = " ".join([*settings, *words])
    if step.workdir in {"", "."}:
        return command
    return f"(cd -- {quote(step.workdir)} && {command})"


def _setting(name: str, value: str) -> str:
    """Set a variable for one command; a search path goes in front of what is there already."""
    rest = '"${PYTHONPATH:+:$PYTHONPATH}"' if name == "PYTHONPATH" else ""
    return f"{name}={quote(value)}{rest}"


def _program(word: str) -> str:
    """Quote a first word also where bash would see a keyword or an assignment in it."""
    plain = word in {"python", "bash", "sh", "make", "cat"} or re.fullmatch(
        r"[a-zA-Z0-9_.-]*/[a-zA-Z0-9_./-]*", word
    )
    return word if plain else _single_quoted(word)


def _word(word: str | ParameterWord, parameters: Mapping[str, str]) -> str:
    if isinstance(word, str):
        return quote(word) if word else "''"
    if word.name not in parameters:
        raise ValueError(f"the launcher declares no parameter {word.name}")
    prefix = quote(word.prefix) if word.prefix else ""
    return f'{prefix}"${variable_name(word.name)}"'


def _by_hand(collect: Mapping[str, str]) -> str:
    """Run and keep what is printed; then take what the run wrote, and only that."""
    run = 'run | tee -- "$RRA_OUTPUT_DIR/stdout.txt"\n'
    if not collect:
        return run
    calls = "".join(
        f"take {quote(pattern)} {quote(_fixed_part(pattern))} {quote(place)}\n"
        for pattern, place in collect.items()
    )
    return f"""\
# take PATTERN FOLDER PLACE: files of the copy that this run wrote, not those that were there.
take() {{
  local IFS= found file place
  for found in $1; do
    [ -e "$found" ] || continue
    find "./$found" -type f -cnewer "$work/started" -print0 |
      while IFS= read -r -d '' file; do
        place=${{3%/}}/${{file#"./$2"}}
        if [ "$file" = "./$1" ]; then
          case $3 in */) place=$3${{file##*/}} ;; *) place=$3 ;; esac
        fi
        mkdir -p -- "$(dirname -- "$RRA_OUTPUT_DIR/$place")"
        mv -f -- "$file" "$RRA_OUTPUT_DIR/$place"
      done
  done
}}

: >"$work/started"
# What is written from here on is newer than that mark, also on a coarse clock.
until : >"$work/now" && [ "$work/now" -nt "$work/started" ]; do sleep 0.01; done
{run}shopt -s globstar 2>/dev/null || true
{calls}"""


def _fixed_part(pattern: str) -> str:
    """Return the folders of a pattern before its first wildcard, with a slash at the end."""
    parts = pattern.split("/")
    wild = next((i for i, part in enumerate(parts) if _GLOB.search(part)), len(parts))
    return "".join(f"{part}/" for part in parts[:wild])


def default_collect(pattern: str) -> tuple[str, str]:
    """Return the collect entry for a file that code writes: (pattern, place).

    Everything keeps its path; only files at the top are put into a folder when a wildcard
    takes them.

    Args:
        pattern: Path in the code, parts that only a run knows as ``*``.
    """
    if not _GLOB.search(pattern):
        return pattern, pattern
    return pattern, _fixed_part(pattern).rstrip("/") or "files"
