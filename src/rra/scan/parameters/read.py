"""From a script to its command line."""

from __future__ import annotations

import dataclasses
from pathlib import PurePosixPath

from rra.scan.objects import Argument, CommandLine
from rra.scan.parameters import hydra
from rra.scan.parameters.interpret import MAX_STEPS, Interpreter
from rra.scan.parameters.modules import Modules
from rra.scan.parameters.plain import read_argv
from rra.scan.parameters.values import Program


def read_command_line(
    modules: Modules,
    path: PurePosixPath,
    function: str = "",
    *,
    blindly: bool = True,
    steps: int = MAX_STEPS,
) -> tuple[CommandLine, int]:
    """Find out how a script reads its command line, without running anything of it.

    Args:
        modules: The Python files of the repository.
        path: The script.
        function: The function that is called instead, for a console script.
        blindly: Whether functions that nothing calls are followed when nothing else is found.
        steps: How many steps of its code are followed at most.

    Returns:
        The command line, and how many steps were followed.
    """
    if not modules.matters(path):
        return CommandLine(why="nothing in it reads a command line"), 1
    run = Interpreter(modules, steps)
    run.start(path, function)
    programs = _started(run)
    if not programs and not function and blindly:
        run.enter_the_rest(path)
        programs = _started(run) or [p for p in run.programs if _declares(p)]
    if not programs and run.stray.arguments:
        programs = [run.stray]
    if not programs:
        tree = modules.tree(path)
        argv = read_argv(tree, path) if tree is not None else None
        programs = [argv] if argv is not None else []
    used = steps - run.steps
    if not programs:
        return CommandLine(why=run.unfinished or "no parser of its command line was found"), used
    return _joined(run, programs), used


def _started(run: Interpreter) -> list[Program]:
    return [program for program in run.programs if program.started]


def _declares(program: Program) -> bool:
    return bool(program.arguments or program.children)


def _joined(run: Interpreter, programs: list[Program]) -> CommandLine:
    """Put the parsers that a script uses together, and say whether they are all it accepts."""
    if run.stray.arguments and run.stray not in programs:
        programs = [*programs, run.stray]
    arguments: dict[tuple[str, tuple[str, ...], str], Argument] = {}
    subcommands: dict[str, None] = {}
    doubts: dict[str, None] = dict.fromkeys([run.unfinished] if run.unfinished else [])
    for program in programs:
        if program.framework == "hydra":
            hydra.fill(run, program)
        doubts |= dict.fromkeys(_doubts(program))
        for words, part in _flat(program):
            if words:
                subcommands[words] = None
            doubts |= dict.fromkeys(part.doubts)
            for argument in part.arguments:
                own = dataclasses.replace(argument, subcommand=words)
                arguments[own.name, own.flags, words] = own
    if not any(program.started for program in programs):
        doubts["it was not seen to read the command line"] = None
    if len({p.framework for p in programs if p is not run.stray}) > 1:
        doubts["several parsers read its command line"] = None
    return CommandLine(
        parser=programs[0].framework,
        arguments=tuple(arguments.values()),
        subcommands=tuple(subcommands),
        complete=not doubts,
        why="; ".join(doubts),
        abbreviates=any(program.abbreviates for program in programs),
    )


def _doubts(program: Program) -> list[str]:
    if program.extra.get("open") and not program.extra.get("closed"):
        return ["it passes over flags that it does not know (parse_known_args)"]
    return []


def _flat(program: Program, words: str = "", depth: int = 0) -> list[tuple[str, Program]]:
    """Return a program and its subcommands with the words that choose them."""
    single = program.framework == "typer" and not words and not program.extra.get("group")
    if single and len(program.children) == 1:
        return [("", program), ("", next(iter(program.children.values())))]
    found = [(words, program)]
    for name, child in program.children.items() if depth < 6 else ():
        found += _flat(child, f"{words} {name}".strip(), depth + 1)
    return found
