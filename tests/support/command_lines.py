"""Reading the command line of scripts that tests write, and asking real parsers for theirs."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path, PurePosixPath

from rra.scan import CommandLine
from rra.scan.parameters import Modules, read_command_line


def command_line(files: dict[str, str], script: str = "main.py", function: str = "") -> CommandLine:
    """Return how one of some files reads its command line, as the scan finds it."""
    texts = {PurePosixPath(name): text for name, text in files.items()}
    found, _ = read_command_line(Modules(texts, texts.get), PurePosixPath(script), function)
    return found


_ARGPARSE = """
import argparse, json, runpy, sys
sys.path.insert(0, ".")
found = []
def walk(parser, words):
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, child in action.choices.items():
                walk(child, (words + " " + name).strip())
        elif not isinstance(action, argparse._HelpAction):
            found.append([
                words, action.dest, list(action.option_strings),
                None if action.default == argparse.SUPPRESS or isinstance(action.default, list)
                else action.default,
                [c for c in action.choices or ()], bool(action.required),
                "0" if action.nargs == 0 else "" if action.nargs is None else str(action.nargs),
            ])
def stop(self, *args, **kwargs):
    walk(self, "")
    print(json.dumps(found))
    sys.exit(0)
argparse.ArgumentParser.parse_args = stop
runpy.run_path(sys.argv[1], run_name="__main__")
"""
_CLICK = """
import click, json, runpy, sys
sys.path.insert(0, ".")
found = []
def walk(command, words):
    for p in command.params:
        default = p.default if isinstance(p.default, (str, int, float)) else None
        switch = getattr(p, "is_flag", False) or getattr(p, "count", False)
        nargs = "0" if switch else p.nargs
        nargs = {1: "", -1: "+" if p.required else "*"}.get(nargs, str(nargs))
        choices = list(getattr(p.type, "choices", ()))
        flags = [] if isinstance(p, click.Argument) else [*p.opts, *p.secondary_opts]
        found.append([words, p.name, flags, default, choices, p.required, nargs])
    for name, child in getattr(command, "commands", {}).items():
        walk(child, (words + " " + name).strip())
def stop(self, *args, **kwargs):
    walk(self, "")
    print(json.dumps(found))
    sys.exit(0)
click.Command.main = stop
click.Group.main = stop
runpy.run_path(sys.argv[1], run_name="__main__")
"""
REAL = {"argparse": _ARGPARSE, "click": _CLICK}


def as_the_library_says(
    library: str, files: dict[str, str], place: Path, script: str = "main.py"
) -> list[tuple[object, ...]]:
    """Run a script and return the arguments that its library itself lists."""
    for name, text in files.items():
        path = place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    command = [sys.executable, "-c", REAL[library], script]
    done = subprocess.run(command, cwd=place, capture_output=True, text=True, check=True)
    return sorted(_comparable(*entry) for entry in json.loads(done.stdout))


def as_the_scan_says(found: CommandLine) -> list[tuple[object, ...]]:
    """Return the arguments of a command line in the same form."""
    return sorted(
        _comparable(a.subcommand, a.name, a.flags, a.default, a.choices, a.required, a.nargs)
        for a in found.arguments
    )


def _comparable(
    words: str,
    name: str,
    flags: object,
    default: object,
    choices: object,
    required: object,
    nargs: object,
) -> tuple[object, ...]:
    return (words, name, tuple(flags), repr(default), tuple(choices), required, nargs)  # type: ignore[arg-type]
