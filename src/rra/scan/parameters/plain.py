"""Command lines read without a parser of flags: ``sys.argv``, getopt and docopt."""

from __future__ import annotations

import ast
import dataclasses
import itertools
import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from rra.scan.constants import dotted
from rra.scan.objects import Argument, ParameterType
from rra.scan.parameters.following import Following
from rra.scan.parameters.values import (
    Call,
    Items,
    Known,
    Program,
    Unknown,
    Value,
    scalars,
    text,
)

_ARGV = frozenset({"sys.argv", "argv"})
_FLAG = re.compile(r"(?<![\w-])(-{1,2}[A-Za-z][\w-]*)(?P<value>[ =](?:<[^>]+>|[A-Z][A-Z_]*\b))?")
_DEFAULT = re.compile(r"\[default:\s*([^\]]*)\]", re.IGNORECASE)


def call(run: Following, name: str, call: Call) -> Value | None:
    """Return what a call of getopt or docopt gives."""
    if name in {"getopt.getopt", "getopt.gnu_getopt"}:
        run.programs.append(_getopt(call))
        return Items([Unknown(call.node), Unknown(call.node)])
    if name in {"docopt.docopt", "docopt"}:
        run.programs.append(_docopt(call))
        return Unknown(call.node)
    return None


def _plain_argument(
    name: str, flags: tuple[str, ...], place: tuple[PurePosixPath, int], *, value: bool = True
) -> Argument:
    return Argument(
        name=name,
        flags=flags,
        type="string" if value else "boolean",
        default=None if value else False,
        choices=(),
        help="",
        takes_value=value,
        line=place[1],
        path=place[0],
        default_text="" if value else "False",
        nargs="" if value else "0",
    )


def _getopt(call: Call) -> Program:
    program = Program("getopt", started=True, abbreviates=True)
    short, long = call.value(1, "shortopts"), call.value(2, "longopts")
    place = (call.path, call.line)
    if not isinstance(short, Known) or (long is not None and not isinstance(long, Items | Known)):
        program.doubts.append("its flags are only known when it runs")
    for letter, colon in re.findall(r"([A-Za-z0-9?])(:?)", text(short)):
        program.arguments.append(_plain_argument(letter, (f"-{letter}",), place, value=bool(colon)))
    names = scalars(long) if isinstance(long, Items) else ([text(long)] if text(long) else [])
    for entry in names:
        name = str(entry)
        plain = name.rstrip("=")
        argument = _plain_argument(
            plain.replace("-", "_"), (f"--{plain}",), place, value=name.endswith("=")
        )
        program.arguments.append(argument)
    return program


def _docopt(call: Call) -> Program:
    """Read the usage that docopt reads (docopt.org): lines that begin with a dash, and usage."""
    program = Program("docopt", started=True, abbreviates=True)
    usage = text(call.value(0, "doc", "docstring"))
    place = (call.path, call.line)
    if not usage:
        program.doubts.append("its usage is only known when it runs")
    found: dict[str, Argument] = {}
    for line in usage.split("\n"):
        if not line.strip().startswith("-"):
            continue
        head, _, tail = line.strip().partition("  ")
        flags = tuple(match[1] for match in _FLAG.finditer(head))
        value = any(match["value"] for match in _FLAG.finditer(head))
        default = _DEFAULT.search(tail)
        if flags and "--help" not in flags and "-h" not in flags:
            name = max(flags, key=len).lstrip("-").replace("-", "_")
            made = _plain_argument(name, flags, place, value=value)
            said = re.search(r"<(int|float|num(?:ber)?|n)>", head)
            if said:
                kind: ParameterType = "integer" if said[1] in {"int", "n"} else "number"
                made = dataclasses.replace(made, type=kind)
            found[name] = _described(made, tail, default[1] if default else None)
    known = {flag for argument in found.values() for flag in argument.flags}
    for match in _FLAG.finditer(_usage_part(usage)):
        if match[1] not in known | {"-h", "--help"}:
            name = match[1].lstrip("-").replace("-", "_")
            found.setdefault(
                name, _plain_argument(name, (match[1],), place, value=bool(match["value"]))
            )
    for name in _docopt_words(_usage_part(usage)):
        found.setdefault(name, _plain_argument(name, (), place))
    for name in _docopt_commands(_usage_part(usage)):
        program.children[name] = Program("docopt", started=True)
    program.arguments.extend(found.values())
    return program


def _docopt_words(usage: str) -> Iterator[str]:
    """Yield the positional arguments of a usage: ``<file>`` and ``FILE`` that no flag takes."""
    plain = re.sub(r"-{1,2}[A-Za-z][\w-]*(?:[ =](?:<[^>]+>|[A-Z][A-Z_]*\b))?", " ", usage)
    for match in re.finditer(r"<([A-Za-z][\w-]*)>|(?<![\w<-])([A-Z][A-Z_]*\d*)(?![\w>-])", plain):
        yield match[1] or match[2]


def _docopt_commands(usage: str) -> Iterator[str]:
    """Yield the words that choose what is done: those behind the program's name in a usage."""
    for line in usage.strip().split("\n"):
        words = line.split()[1:]
        chosen = itertools.takewhile(lambda word: re.fullmatch(r"[a-z][a-z_-]*", word), words)
        yield from chosen


def _described(argument: Argument, tail: str, default: str | None) -> Argument:
    words = " ".join(_DEFAULT.sub("", tail).split())
    if default is None:
        return dataclasses.replace(argument, help=words)
    return dataclasses.replace(argument, help=words, default=default, default_text=default)


def _usage_part(usage: str) -> str:
    found = re.search(r"usage:(.*?)(?:\n\s*\n|$)", usage, re.IGNORECASE | re.DOTALL)
    return found[1] if found else ""


# ----------------------------------------------------------------------- sys.argv


def read_argv(tree: ast.Module, path: PurePosixPath) -> Program | None:
    """Return what a file takes from ``sys.argv`` by position or looks for in it, or None."""
    flags: list[Argument] = []
    named: dict[int, Argument] = {}
    numbered: dict[int, Argument] = {}
    uses = False
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            named.update(_assigned(node, path))
        elif isinstance(node, ast.Compare):
            flags.extend(_looked_for(node, path))
        position = _position(node)
        if position is not None and position > 0:
            place = (path, getattr(node, "lineno", 1))
            numbered[position] = _plain_argument(f"argument{position}", (), place)
        uses |= isinstance(node, ast.Attribute) and dotted(node) == "sys.argv"
    if not uses and not numbered and not named:
        return None
    positions = {**numbered, **named}
    program = Program("sys.argv", started=True, doubts=["it reads sys.argv itself"])
    program.arguments.extend(positions[number] for number in sorted(positions))
    program.arguments.extend(flags)
    return program


def _looked_for(node: ast.Compare, path: PurePosixPath) -> Iterator[Argument]:
    """Yield the flag of ``"--flag" in sys.argv``."""
    flag = node.left.value if isinstance(node.left, ast.Constant) else None
    looks = any(dotted(right) in _ARGV for right in node.comparators)
    if looks and isinstance(flag, str) and flag.startswith("-"):
        name = flag.lstrip("-").replace("-", "_")
        yield _plain_argument(name, (flag,), (path, node.lineno), value=False)


def _position(node: ast.AST) -> int | None:
    """Return n for ``sys.argv[n]``."""
    if not isinstance(node, ast.Subscript) or dotted(node.value) not in _ARGV:
        return None
    return _number(node.slice)


def _number(node: ast.expr | None) -> int | None:
    """Return the number of a literal, or None."""
    value = node.value if isinstance(node, ast.Constant) else None
    return value if isinstance(value, int) else None


def _assigned(node: ast.Assign, path: PurePosixPath) -> Iterator[tuple[int, Argument]]:
    """Yield the positions that an assignment takes, with the names that it gives them."""
    target = node.targets[0]
    if isinstance(target, ast.Tuple | ast.List):
        first = _first_of_slice(node.value)
        for number, part in enumerate(target.elts):
            if isinstance(part, ast.Name) and first is not None and first + number > 0:
                place = (path, node.lineno)
                yield first + number, _plain_argument(part.id, (), place)
            elif isinstance(node.value, ast.Tuple) and number < len(node.value.elts):
                yield from _one(part, node.value.elts[number], path)
        return
    yield from _one(target, node.value, path)


def _first_of_slice(node: ast.expr) -> int | None:
    """Return n for ``sys.argv[n:]`` and 0 for ``sys.argv``."""
    if dotted(node) in _ARGV:
        return 0
    if not isinstance(node, ast.Subscript) or dotted(node.value) not in _ARGV:
        return None
    return _number(node.slice.lower) if isinstance(node.slice, ast.Slice) else None


def _one(target: ast.expr, value: ast.expr, path: PurePosixPath) -> Iterator[tuple[int, Argument]]:
    if not isinstance(target, ast.Name | ast.Attribute):
        return
    name = target.id if isinstance(target, ast.Name) else target.attr
    for node in ast.walk(value):
        position = _position(node)
        if position is None or position < 1:
            continue
        kinds: dict[str, ParameterType] = {"int": "integer", "float": "number"}
        calls = [dotted(c.func) for c in ast.walk(value) if isinstance(c, ast.Call)]
        kind: ParameterType = next((kinds[c] for c in calls if c in kinds), "string")
        default = value.orelse if isinstance(value, ast.IfExp) else None
        made = _plain_argument(name, (), (path, value.lineno))
        literal = default.value if isinstance(default, ast.Constant) else None
        yield (
            position,
            dataclasses.replace(
                made,
                type=kind,
                required=default is None,
                default=literal if isinstance(literal, str | int | float | bool) else None,
                default_text=ast.unparse(default).strip("'\"") if default is not None else "",
            ),
        )
