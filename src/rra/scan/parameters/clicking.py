"""What the decorators of click declare (its documentation, "Options" and "Arguments")."""

from __future__ import annotations

import re

from rra.scan.objects import Argument, ParameterType
from rra.scan.parameters.argparsing import type_of
from rra.scan.parameters.following import Following
from rra.scan.parameters.values import (
    Call,
    Decorator,
    External,
    Function,
    Items,
    Known,
    Method,
    Program,
    Table,
    Unknown,
    Value,
    constant,
    scalars,
    shown,
    text,
)

_PACKAGES = re.compile(
    r"^(?:click|rich_click|asyncclick|cloup|click_default_group|lightning_click)\."
)
_COMMANDS = frozenset({"command", "group"})
_PARAMETERS = frozenset(
    {"option", "argument", "version_option", "help_option", "confirmation_option"}
)
_TYPES: dict[str, str] = {"IntRange": "int", "INT": "int", "FloatRange": "float", "FLOAT": "float"}
_NO_CHANGE = frozenset({"pass_context", "pass_obj", "make_pass_decorator"})


def call(run: Following, name: str, call: Call) -> Value | None:
    """Return what a call of a function of click gives."""
    del run
    if not _PACKAGES.match(name):
        return None
    short = name.rpartition(".")[2]
    if short == "Choice" and call.values:
        return call.values[0]
    if short in {"IntRange", "FloatRange"}:
        return External(f"builtins.{_TYPES[short]}")
    if short in _COMMANDS | _PARAMETERS:
        return Decorator(f"click.{short}", call)
    if short in {"Group", "CommandCollection"}:
        return Program("click", extra={"command": True, "name": text(call.value(0, "name"))})
    return Unknown(call.node)


def decorate(run: Following, decorator: Decorator, value: Value, path: object) -> Value | None:
    """Return what a decorator of click makes of a function, or None when it is not click's."""
    del path
    kind = decorator.name.removeprefix("click.")
    if kind == decorator.name or not isinstance(value, Function | Program):
        return None
    program = value if isinstance(value, Program) else _of(value)
    if kind in _PARAMETERS:
        argument = declared(decorator.call, kind)
        if argument is not None:
            program.arguments.insert(0, argument)
        elif kind == "option":
            program.doubts.append("an option's name is only known when it runs")
        return program
    _become_command(run, program, decorator)
    return program


def _of(function: Function) -> Program:
    name = getattr(function.node, "name", "")
    return Program("click", extra={"callback": function, "name": name.lower().replace("_", "-")})


def _become_command(run: Following, program: Program, decorator: Decorator) -> None:
    call = decorator.call
    given = text(call.value(0, "name"))
    program.extra["command"] = True
    program.extra["name"] = given or str(program.extra.get("name", ""))
    settings = call.keywords.get("context_settings")
    if isinstance(settings, Table) and constant(settings.values.get("ignore_unknown_options")):
        program.doubts.append("it takes options that it does not know")
    if call.keywords.get("cls") is not None and decorator.name.endswith("group"):
        program.doubts.append(f"its commands come from {shown(call.keywords['cls']) or 'a class'}")
    if decorator.program is not None:
        decorator.program.children[program.extra["name"]] = program
    else:
        run.programs.append(program)


def method(run: Following, target: Method, call: Call) -> Value | None:
    """Return what a method of a command of click gives."""
    del run
    program = target.receiver
    if not isinstance(program, Program) or program.framework != "click":
        return None
    if target.name in _COMMANDS:
        return Decorator(f"click.{target.name}", call, program)
    if target.name == "add_command" and call.values:
        child = call.values[0]
        if isinstance(child, Program):
            name = text(call.value(1, "name")) or str(child.extra.get("name", ""))
            program.children[name] = child
        else:
            program.doubts.append(f"the command {shown(child)} is made where it cannot be seen")
    if target.name == "main":
        program.started = True
    return Unknown(call.node)


def declared(call: Call, kind: str) -> Argument | None:
    """Return the parameter that ``click.option`` or ``click.argument`` declares."""
    names = call.texts()
    if kind == "version_option":
        names, kind = [name for name in names if name.startswith("-")] or ["--version"], "switch"
    if kind in {"help_option", "confirmation_option"}:
        names, kind = names or ["--help" if kind == "help_option" else "--yes"], "switch"
    if not names:
        return None
    flags: list[str] = []
    negative = False
    for name in names:
        if name.startswith(("-", "/")) or "/" in name:
            first, _, second = name.partition(";" if ";" in name else "/")
            flags += [part.strip() for part in (first, second) if part.strip()]
            negative |= bool(second)
    explicit = next((name for name in names if name.isidentifier()), "")
    long = sorted(flags, key=lambda flag: -(len(flag) - len(flag.lstrip("-"))))
    name = explicit or (long[0].lstrip("-").replace("-", "_").lower() if long else names[0])
    return _argument(call, kind, name, flags, negative=negative)


def _argument(call: Call, kind: str, name: str, flags: list[str], *, negative: bool) -> Argument:
    words = call.keywords
    default = words.get("default")
    counted = constant(words.get("count")) is True
    pair = negative or constant(words.get("is_flag")) is True or kind == "switch"
    switch = pair or counted or "flag_value" in words
    nargs = "0" if switch else _nargs(words)
    if pair and default is None:
        default = Known(value=False)
    choices = scalars(words.get("type")) if isinstance(words.get("type"), Items | Table) else ()
    value_type = None if choices else _plain_type(words.get("type"))
    found: ParameterType = type_of(value_type, default)
    if switch:
        found = "integer" if counted else "boolean"
    missing = default is None or default == Known(None)
    needs = constant(words.get("required"))
    is_argument = kind == "argument"
    return Argument(
        name=name,
        flags=() if is_argument else tuple(flags),
        type=found,
        default=constant(default),
        choices=choices,
        help=" ".join(text(words.get("help")).split()),
        takes_value=nargs == "",
        line=call.line,
        path=call.path,
        default_text=shown(default),
        nargs=nargs,
        required=bool(needs) or (is_argument and missing and needs is None and nargs != "*"),
    )


def _nargs(words: dict[str, Value]) -> str:
    found = constant(words.get("nargs"))
    if found == -1:
        return "+" if constant(words.get("required")) else "*"
    return "" if found in {None, 1} else str(found)


def _plain_type(value: Value | None) -> Value | None:
    if isinstance(value, External):
        name = value.name.rpartition(".")[2]
        return External(f"builtins.{_TYPES.get(name, name.lower())}")
    return value
