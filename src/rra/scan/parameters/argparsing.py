"""What calls of ``argparse`` and ``optparse`` declare (documentation of both modules)."""

from __future__ import annotations

import ast
import dataclasses
import re
from collections.abc import Callable

from rra.scan.objects import Argument, ParameterType
from rra.scan.parameters.following import Following
from rra.scan.parameters.values import (
    Call,
    Class,
    External,
    Function,
    Instance,
    Items,
    Known,
    Method,
    Module,
    Part,
    Program,
    Scalar,
    Unknown,
    Value,
    constant,
    scalars,
    shown,
    text,
)

_MAKERS = re.compile(r"(?:^|\.)(?:Default)?(?:ArgumentParser|ArgParser|OptionParser)$")
_NOT_MAKERS = re.compile(r"(?:Hf|Trl|H4)ArgumentParser$")
_READERS = frozenset(
    {"parse_args", "parse_known_args", "parse_intermixed_args", "parse_args_and_config"}
)
_READERS_OF_KNOWN = frozenset({"parse_known_args", "parse_known_intermixed_args"})
_HARMLESS = re.compile(
    r"^(?:print_|format_|error$|exit$|get_default$|register$|set_usage$|disable_|enable_|__|"
    r"convert_arg|get_usage|get_option|has_option|values$|set_description)"
)
_SWITCHES = frozenset({"store_true", "store_false", "store_const", "append_const", "count"})
_SWITCHES_OF_CONSTANTS = frozenset({"help", "version"})
_NARGS = {
    "argparse.REMAINDER": "...",
    "argparse.OPTIONAL": "?",
    "argparse.ZERO_OR_MORE": "*",
    "argparse.ONE_OR_MORE": "+",
    "argparse.PARSER": "A...",
}
_TYPES: dict[str, ParameterType] = {"int": "integer", "float": "number", "bool": "boolean"}
_MAX_CHOICES = 60


def call(run: Following, name: str, call: Call) -> Value | None:
    """Return what a call of a library's function gives, if it makes a parser or its parts."""
    if name.endswith("OptionGroup") and call.values:
        program = program_of(call.values[0])
        return Part(program, "group") if program is not None else None
    if _MAKERS.search(name) and not _NOT_MAKERS.search(name):
        return make(run, call, "optparse" if name.endswith("OptionParser") else "argparse")
    return None


def make(run: Following, call: Call, framework: str = "argparse") -> Program:
    """Return a new parser with what it takes over from its parents."""
    program = Program(framework)
    configure(program, call)
    run.programs.append(program)
    return program


def configure(program: Program, call: Call) -> None:
    """Apply the arguments of a parser's constructor."""
    program.abbreviates = constant(call.keywords.get("allow_abbrev")) is not False
    parents = call.keywords.get("parents")
    if isinstance(parents, Items):
        for parent in parents.values:
            other = program_of(parent)
            if other is None:
                program.doubts.append(f"it takes over arguments of {shown(parent) or 'a parent'}")
            else:
                program.arguments.extend(other.arguments)
                program.doubts.extend(other.doubts)
    elif parents is not None:
        program.doubts.append(f"it takes over arguments of {shown(parents)}")
    if call.keywords.get("fromfile_prefix_chars", Known(None)) != Known(None):
        program.doubts.append("it reads arguments from files")


def program_of(value: Value | None) -> Program | None:
    """Return the parser that a value is, extends or belongs to."""
    if isinstance(value, Program):
        return value
    if isinstance(value, Instance):
        return value.model
    return value.program if isinstance(value, Part) else None


def method(run: Following, target: Method, call: Call) -> Value | None:
    """Return what a method of a parser or of a part of it gives."""
    program, name = program_of(target.receiver), target.name
    if program is None:
        return None
    if name in _READERS or name in _READERS_OF_KNOWN:
        return _read(run, program, name, call)
    if name == "set_defaults":
        return _set_defaults(run, program, call)
    follow = _METHODS.get(name)
    if follow is not None:
        return follow(program, call)
    if name == "__init__":
        configure(program, call)
    elif not _HARMLESS.match(name):
        program.doubts.append(f"its method {name} is not followed")
    return Unknown(call.node)


def _group(program: Program, call: Call) -> Value:
    given = call.value(0)
    return given if isinstance(given, Part) else Part(program, "group")


def _subparsers(program: Program, call: Call) -> Value:
    del call
    return Part(program, "subparsers")


def _read_into_classes(program: Program, call: Call) -> Value:
    program.started = True
    return Unknown(call.node)


def _read(run: Following, program: Program, name: str, call: Call) -> Value:
    words = call.value(0, "args")
    if isinstance(words, Items) and words.complete:
        return Unknown(call.node)  # words of its own, not those of the command line
    program.started = True
    if program not in run.programs:
        run.programs.append(program)
    if name in _READERS_OF_KNOWN:
        program.extra["open"] = True
        return Items([Unknown(call.node), Unknown(call.node)])
    program.extra["closed"] = True
    if program.framework == "optparse":
        return Items([Unknown(call.node), Unknown(call.node)])
    return Unknown(call.node)


def _add_parser(program: Program, call: Call) -> Value:
    child = Program(program.framework)
    configure(child, call)
    names = call.texts()
    if not names:
        program.doubts.append("a subcommand's name is only known when it runs")
        return child
    for name in (names[0], *map(str, scalars(call.keywords.get("aliases")))):
        program.children[name] = child
    return child


def _set_defaults(run: Following, program: Program, call: Call) -> Value:
    """Change defaults; parsers share the arguments that they take over from one parent."""
    program.extra.setdefault("defaults", {}).update(call.keywords)
    changed = {
        id(argument): with_default(argument, call.keywords[argument.name])
        for argument in program.arguments
        if argument.name in call.keywords
    }
    pending, seen = [program, *run.programs], set[int]()
    while pending:
        other = pending.pop()
        if id(other) not in seen:
            seen.add(id(other))
            pending.extend(other.children.values())
            other.arguments[:] = [changed.get(id(a), a) for a in other.arguments]
    return Known(None)


def with_default(argument: Argument, value: Value) -> Argument:
    """Return an argument with another default."""
    return dataclasses.replace(
        argument, default=constant(value), default_text=shown(value), required=False
    )


def _add(program: Program, call: Call) -> Value:
    names = call.texts()
    if len(names) < len(call.values) or not names:
        if call.values and isinstance(call.values[0], Unknown | Instance) and not names:
            program.doubts.append(
                f"a flag's name is only known when it runs ({call.path}:{call.line})"
            )
        elif not names:
            program.doubts.append(
                f"an argument is added in a way not followed ({call.path}:{call.line})"
            )
    if names:
        argument = declared(call, names, program.extra.get("defaults", {}))
        if argument is not None:
            program.arguments.append(argument)
    return Unknown(call.node)


_METHODS: dict[str, Callable[[Program, Call], Value]] = {
    "add_argument": _add,
    "add_option": _add,
    "add_argument_group": _group,
    "add_mutually_exclusive_group": _group,
    "add_option_group": _group,
    "add_subparsers": _subparsers,
    "add_parser": _add_parser,
    "parse_args_into_dataclasses": _read_into_classes,
    "parse_json_file": _read_into_classes,
    "parse": _read_into_classes,
}


def declared(call: Call, names: list[str], defaults: dict[str, Value]) -> Argument | None:
    """Return the argument that one call of ``add_argument`` or ``add_option`` declares."""
    flags = [name for name in names if name.startswith("-")]
    action = _action(call.value(-1, "action"))
    if action == "help":
        return None
    name = _destination(call, names, flags)
    negatable = action.endswith("BooleanOptionalAction")
    if negatable:
        flags += [f"--no-{flag[2:]}" for flag in flags if flag.startswith("--")]
    switch = negatable or action in _SWITCHES | _SWITCHES_OF_CONSTANTS
    nargs = "0" if switch else _nargs(call.keywords.get("nargs"))
    default = call.keywords.get("default", defaults.get(name))
    if isinstance(default, External) and default.name.endswith("SUPPRESS"):
        default = None
    if default is None and action in {"store_true", "store_false"}:
        default = Known(action == "store_false")
    choices = scalars(call.keywords.get("choices"))
    kind = type_of(call.keywords.get("type"), default)
    if switch:
        kind = "integer" if action == "count" else "boolean"
    elif kind == "boolean" and call.keywords.get("type") is None:
        kind = "string"
    return Argument(
        name=name,
        flags=tuple(flags),
        type=kind,
        default=constant(default),
        choices=choices if len(choices) <= _MAX_CHOICES else (),
        help=_help(call.keywords.get("help")),
        takes_value=nargs == "",
        line=call.line,
        path=call.path,
        default_text=shown(default),
        nargs=nargs,
        required=_required(call, flags, nargs),
    )


def _destination(call: Call, names: list[str], flags: list[str]) -> str:
    given = text(call.keywords.get("dest"))
    if given:
        return given
    if not flags:
        return names[0]
    long = next((flag for flag in flags if flag.startswith("--")), flags[0])
    return long.lstrip("-").replace("-", "_")


def _action(value: Value | None) -> str:
    if isinstance(value, External):
        return value.name
    return text(value)


def _nargs(value: Value | None) -> str:
    if isinstance(value, External):
        return _NARGS.get(value.name, "?" if value.name.endswith("OPTIONAL") else "")
    found = constant(value)
    return "" if found is None else str(found)


def _required(call: Call, flags: list[str], nargs: str) -> bool:
    if flags:
        return constant(call.keywords.get("required")) is True
    return nargs not in {"?", "*", "..."}


def _help(value: Value | None) -> str:
    return " ".join(text(value).split())


def type_of(value: Value | None, default: Value | None) -> ParameterType:
    """Return the type that a converter gives; without one, that of the default."""
    if value is None or value == Known(None):
        return type_of_constant(constant(default))
    name = ""
    if isinstance(value, External):
        name = value.name.removeprefix("builtins.")
    elif isinstance(value, Function):
        name = _converter(value)
    elif isinstance(value, Class | Module):
        return "string"
    elif isinstance(value, Known):
        name = str(value.value)  # optparse names its types
    if "bool" in name.lower():
        return "boolean"
    return _TYPES.get(name.rpartition(".")[2], "string")


def _converter(function: Function) -> str:
    """Return the name of a conversion function, or what a lambda calls."""
    node = function.node
    if not isinstance(node, ast.Lambda):
        returns = node.returns
        return returns.id if isinstance(returns, ast.Name) else node.name
    body = node.body
    if isinstance(body, ast.Call) and isinstance(body.func, ast.Name):
        return body.func.id
    return "bool" if isinstance(body, ast.Compare) else ""


def type_of_constant(value: Scalar | None) -> ParameterType:
    """Return the type of a literal."""
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "integer"
    return "number" if isinstance(value, float) else "string"


def inherits_parser(cls: Class, depth: int = 0) -> str:
    """Return the name of the library's parser that a class extends, or nothing."""
    for base in cls.bases if depth < 20 else ():
        if isinstance(base, External) and _MAKERS.search(base.name):
            return base.name
        found = inherits_parser(base, depth + 1) if isinstance(base, Class) else ""
        if found:
            return found
    return ""


def escapes(value: Value) -> Program | None:
    """Return the parser that a call passes to code which is not followed, or None."""
    if isinstance(value, Program) and value.framework in {"argparse", "optparse"}:
        return value
    if isinstance(value, Part):
        return value.program
    return value.model if isinstance(value, Instance) else None
