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

from rra.artifact import layout

_SAFE_DEFAULT = re.compile(r"[A-Za-z0-9_./:+-]*")
_GLOB = re.compile(r"[*?\[]")


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


def compile_launcher(
    launcher: str,
    steps: Sequence[Step],
    *,
    environment: str,
    code_root: str = "code",
    collect: Mapping[str, str] | None = None,
    parameters: Mapping[str, str] | None = None,
    comments: Sequence[str] = (),
) -> str:
    """Return the text of ``launchers/<id>.sh``.

    Args:
        launcher: Id of the launcher.
        steps: Commands, run one after the other; the first that fails ends the run.
        environment: Id of the environment, for the message when there is no Python.
        code_root: ``code``, or ``.`` when the code is in place.
        collect: Pattern in the copy of the code → place in the output directory.
        parameters: Default of each parameter as text.
        comments: Lines put at the top, such as where the command was found.

    Raises:
        ValueError: A step names a parameter that is not declared.
    """
    declared = dict(parameters or {})
    body = [
        _head(launcher, comments),
        _places(launcher),
        _parameters(declared),
        _need_python(launcher, environment),
        _private_copy(launcher, code_root),
        _commands(steps, declared),
        _collecting(collect or {}),
        _start(collect or {}),
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


def _need_python(launcher: str, environment: str) -> str:
    message = (
        f"launchers/{launcher}.sh: there is no python on PATH; "
        f"{layout.ENVIRONMENT_DIR}/{environment}/README.md says how to set it up"
    )
    return f"""\
if ! command -v python >/dev/null 2>&1; then
  printf '%s\\n' {quote(message)} >&2
  exit 69
fi
"""


def _private_copy(launcher: str, code_root: str) -> str:
    """Make a copy of the code when nobody has made one; the artifact stays as it is."""
    in_place = code_root == "."
    source = '"$root"' if in_place else f'"$root"/{quote(code_root)}'
    names = [".git", *layout.OWNED_DIRS, *layout.OWNED_FILES, *sorted(layout.SKIPPED_DIRS)]
    top = dict.fromkeys(name for name in names if "/" not in name)
    skipped = top if in_place else dict.fromkeys([".git"])
    patterns = " | ".join(skipped)
    return f"""\
work=$(mktemp -d "${{TMPDIR:-/tmp}}/rra-{launcher}.XXXXXX")
trap 'chmod -R u+w "$work"; rm -rf -- "$work"' EXIT
by_hand=
if [ -z "${{RRA_CODE_DIR:-}}" ]; then
  by_hand=yes
  RRA_CODE_DIR=$work/code
  mkdir -- "$RRA_CODE_DIR"
  shopt -s dotglob nullglob
  for item in {source}/*; do
    case ${{item##*/}} in
      {patterns}) ;;
      *) cp -RPp -- "$item" "$RRA_CODE_DIR"/ ;;
    esac
  done
  shopt -u dotglob nullglob
fi
export RRA_CODE_DIR
cd -- "$RRA_CODE_DIR"
"""


def _commands(steps: Sequence[Step], parameters: Mapping[str, str]) -> str:
    lines = "".join(f"  {_command(step, parameters)}\n" for step in steps)
    return f"run() {{\n{lines}}}\n"


def _command(step: Step, parameters: Mapping[str, str]) -> str:
    words = [_word(word, parameters) for word in step.argv]
    if isinstance(step.argv[0], str):
        words[0] = _program(step.argv[0])
    settings = [f"{name}={quote(value)}" for name, value in step.variables]
    command = " ".join([*settings, *words])
    if step.workdir in {"", "."}:
        return command
    return f"(cd -- {quote(step.workdir)} && {command})"


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


def _collecting(collect: Mapping[str, str]) -> str:
    """Move what the run wrote, and only that, into the output directory."""
    if not collect:
        return ""
    calls = "".join(f"  take {quote(pattern)} {quote(p)}\n" for pattern, p in collect.items())
    return f"""\
# Files of the copy that this run wrote (not those that were there) → places in the outputs.
take() {{
  find . -type f \\( -path "./$1" -o -path "./$1/*" \\) -cnewer "$work/started" -print0 |
    while IFS= read -r -d '' file; do
      case $file in
        "./$1") place=$2 ;;
        "./$1"/*) place=${{2%/}}/${{file#"./$1/"}} ;;
        *) place=${{2%/}}/${{file##*/}} ;;
      esac
      mkdir -p -- "$(dirname -- "$RRA_OUTPUT_DIR/$place")"
      mv -f -- "$file" "$RRA_OUTPUT_DIR/$place"
    done
}}
collect() {{
{calls}}}
"""


def _start(collect: Mapping[str, str]) -> str:
    mark = ""
    if collect:
        mark = (
            ': >"$work/started"\n'
            "# What is written from here on is newer than that mark, also on a coarse clock.\n"
            'until : >"$work/now" && [ "$work/now" -nt "$work/started" ]; do sleep 0.01; done\n'
        )
    after = "collect\n" if collect else ""
    return (
        f"{mark}"
        'if [ -n "$by_hand" ]; then\n'
        '  run | tee -- "$RRA_OUTPUT_DIR/stdout.txt"\n'
        "else\n"
        "  run\n"
        "fi\n"
        f"{after}"
    )


def default_collect(pattern: str) -> tuple[str, str]:
    """Return the collect entry for a file that code writes: (pattern, place).

    A path keeps its place; a pattern's files are put into the folder that is fixed in it.
    """
    if not _GLOB.search(pattern):
        return pattern, pattern
    folder = pattern.rpartition("/")[0]
    while _GLOB.search(folder):
        folder = folder.rpartition("/")[0]
    return pattern, folder or "files"
