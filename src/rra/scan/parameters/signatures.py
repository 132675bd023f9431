"""Command lines made from the parameters of functions: typer and fire."""

from __future__ import annotations

import ast
import re

from rra.scan.objects import Argument, ParameterType
from rra.scan.parameters.annotations import Meaning, read_annotation
from rra.scan.parameters.argparsing import type_of_constant
from rra.scan.parameters.following import Following
from rra.scan.parameters.values import (
    Bound,
    Call,
    Class,
    Decorator,
    External,
    Function,
    Instance,
    Items,
    Known,
    Method,
    Module,
    Program,
    Table,
    Unknown,
    Value,
    constant,
    shown,
    text,
)

_TYPER_PARAMETERS = frozenset({"Option", "Argument"})
_CONTEXTS = re.compile(r"(?:^|\.)(?:Context|CallbackParam)$")
_TYPER_OWN = ("--install-completion", "--show-completion")


# ------------------------------------------------------------------------- typer


def call_typer(run: Following, name: str, call: Call) -> Value | None:
    """Return what a call of a function of typer gives."""
    if not name.startswith("typer."):
        return None
    short = name.removeprefix("typer.")
    if short in _TYPER_PARAMETERS:
        return Decorator(name, call)
    if short == "Typer":
        program = Program("typer", extra={"own": _own(call)})
        run.programs.append(program)
        return program
    if short == "run" and call.values and isinstance(call.values[0], Function):
        program = Program("typer", started=True)
        program.arguments.extend(typer_arguments(run, call.values[0]))
        run.programs.append(program)
        return program
    return Unknown(call.node)


def _own(call: Call) -> tuple[str, ...]:
    return () if constant(call.keywords.get("add_completion")) is False else _TYPER_OWN


def typer_method(run: Following, target: Method, call: Call) -> Value | None:
    """Return what a method of ``typer.Typer`` gives."""
    del run
    program = target.receiver
    if not isinstance(program, Program) or program.framework != "typer":
        return None
    if target.name in {"command", "callback"}:
        return Decorator(f"typer.{target.name}", call, program)
    if target.name == "add_typer" and call.values and isinstance(call.values[0], Program):
        name = text(call.keywords.get("name"))
        if name:
            program.children[name] = call.values[0]
        else:
            program.children.update(call.values[0].children)
        program.extra["group"] = True
    return Unknown(call.node)


def decorate_typer(run: Following, decorator: Decorator, value: Value) -> Value | None:
    """Return a function that a decorator of typer has made a command, or None."""
    program = decorator.program
    if program is None or program.framework != "typer" or not isinstance(value, Function):
        return None
    if decorator.name == "typer.callback":
        program.arguments.extend(typer_arguments(run, value))
        program.extra["group"] = True
        return value
    plain = getattr(value.node, "name", "").lower().replace("_", "-")
    child = Program("typer")
    child.arguments.extend(typer_arguments(run, value))
    settings = decorator.call.keywords.get("context_settings")
    if isinstance(settings, Table) and constant(settings.values.get("ignore_unknown_options")):
        child.doubts.append("it takes options that it does not know")
    program.children[text(decorator.call.value(0, "name")) or plain] = child
    return value


def typer_arguments(run: Following, function: Function) -> list[Argument]:
    """Return the options and arguments that typer makes from a function's parameters."""
    return [
        made
        for name, annotation, default in parameters(function)
        if (made := _typer_argument(run, function, name, annotation, default)) is not None
    ]


def parameters(function: Function) -> list[tuple[ast.arg, ast.expr | None, ast.expr | None]]:
    """Return the parameters of a function with annotation and default."""
    spec = function.node.args
    names = [*spec.posonlyargs, *spec.args]
    defaults = [None] * (len(names) - len(spec.defaults)) + list(spec.defaults)
    pairs = [*zip(names, defaults, strict=True)]
    pairs += zip(spec.kwonlyargs, spec.kw_defaults, strict=True)
    return [(name, name.annotation, default) for name, default in pairs]


def _typer_argument(
    run: Following,
    function: Function,
    name: ast.arg,
    annotation: ast.expr | None,
    default_node: ast.expr | None,
) -> Argument | None:
    meaning = read_annotation(run, annotation, function.scope)
    if annotation is not None and _CONTEXTS.search(ast.unparse(annotation)):
        return None
    value = run.evaluate(default_node, function.scope) if default_node is not None else None
    info = next((e for e in (value, *meaning.extra) if isinstance(e, Decorator)), None)
    default = value if not isinstance(value, Decorator) else value.call.value(0, "default")
    if isinstance(default, Unknown) or default == External("builtins.Ellipsis"):
        default = None if _is_ellipsis(default) else default
    names = [word for word in info.call.texts() if word.startswith("-")] if info else []
    is_argument = info.name == "typer.Argument" if info else default is None
    base = name.arg.replace("_", "-")
    switch = meaning.type == "boolean" and not is_argument
    flags = [part for word in names for part in word.split("/")] or (
        [f"--{base}", f"--no-{base}"] if switch else [f"--{base}"]
    )
    if is_argument:
        nargs = ("*" if default is not None else "+") if meaning.many else ""
    else:
        nargs = "0" if switch else ""
    return Argument(
        name=name.arg,
        flags=() if is_argument else tuple(flags),
        type=meaning.type if meaning.known else type_of_constant(constant(default)),
        default=constant(default),
        choices=meaning.choices,
        help=" ".join(text(info.call.keywords.get("help")).split()) if info else "",
        takes_value=nargs == "",
        line=name.lineno,
        path=function.scope.path,
        default_text=shown(default),
        nargs=nargs,
        required=default is None and not (meaning.optional and default_node is not None),
    )


def _is_ellipsis(value: Value | None) -> bool:
    node = value.node if isinstance(value, Unknown) else None
    return isinstance(node, ast.Constant) and node.value is ...


# -------------------------------------------------------------------------- fire


def call_fire(run: Following, name: str, call: Call) -> Value | None:
    """Return what ``fire.Fire`` gives: the command line of its component."""
    if name not in {"fire.Fire", "fire.core.Fire"}:
        return None
    program = Program("fire", started=True)
    component = call.value(0, "component")
    if component is None or component == Known(None):
        scope = run.load(call.path)
        for key, value in list(scope.values.items()):
            if isinstance(value, Function) and value.scope is scope:
                program.children[key] = _fire_program(run, value)
    else:
        _fill_fire(run, program, component, depth=0)
    run.programs.append(program)
    return Unknown(call.node)


def _fire_program(run: Following, value: Value, depth: int = 0) -> Program:
    program = Program("fire")
    _fill_fire(run, program, value, depth)
    return program


def _fill_fire(run: Following, program: Program, component: Value, depth: int) -> None:
    """Add what fire makes of a component: flags of a function, commands of an object."""
    if depth > 4:
        program.doubts.append("its commands are nested deeper than is followed")
    elif isinstance(component, Function | Bound):
        _fill_function(run, program, component)
    elif isinstance(component, Class):
        start = _member(component, "__init__")
        if isinstance(start, Function):
            _fill_function(run, program, Bound(Unknown(), start))
        _fill_members(run, program, component, depth)
    elif isinstance(component, Instance):
        _fill_members(run, program, component.cls, depth)
    elif isinstance(component, Table | Items | Module):
        for name, value in _named(component):
            program.children[name] = _fire_program(run, value, depth + 1)
    else:
        program.doubts.append(f"fire starts {shown(component) or 'something'}, made elsewhere")


def _named(component: Table | Items | Module) -> list[tuple[str, Value]]:
    """Return what fire finds in a dictionary, a list of functions or a module, with names."""
    if isinstance(component, Table):
        return [(str(key), value) for key, value in component.values.items()]
    if isinstance(component, Module):
        return [(k, v) for k, v in component.scope.values.items() if isinstance(v, Function)]
    functions = [value for value in component.values if isinstance(value, Function)]
    return [(getattr(value.node, "name", ""), value) for value in functions]


def _member(cls: Class, name: str) -> Value | None:
    found = cls.scope.values.get(name)
    if found is not None:
        return found
    bases = (base for base in cls.bases if isinstance(base, Class))
    return next((m for base in bases if (m := _member(base, name)) is not None), None)


def _fill_members(run: Following, program: Program, cls: Class, depth: int) -> None:
    for base in cls.bases:
        if isinstance(base, Class) and depth < 4:
            _fill_members(run, program, base, depth + 1)
    for name, value in cls.scope.values.items():
        if isinstance(value, Function) and not name.startswith("_"):
            static = {ast.unparse(d) for d in getattr(value.node, "decorator_list", [])}
            bound = value if "staticmethod" in static else Bound(Unknown(), value)
            program.children[name] = _fire_program(run, bound, depth + 1)


def _fill_function(run: Following, program: Program, component: Function | Bound) -> None:
    function = component.function if isinstance(component, Bound) else component
    spec = function.node.args
    if spec.kwarg is not None:
        program.doubts.append(f"it takes any flag as **{spec.kwarg.arg}")
    found = parameters(function)
    for name, annotation, default_node in found[isinstance(component, Bound) :]:
        meaning = read_annotation(run, annotation, function.scope)
        default = run.evaluate(default_node, function.scope) if default_node is not None else None
        program.arguments.append(_fire_argument(function, name, meaning, default))


def _fire_argument(
    function: Function, name: ast.arg, meaning: Meaning, default: Value | None
) -> Argument:
    kind: ParameterType = type_of_constant(constant(default))
    flags = [f"--{name.arg}"]
    if "_" in name.arg:
        flags.append(f"--{name.arg.replace('_', '-')}")
    return Argument(
        name=name.arg,
        flags=tuple(flags),
        type=meaning.type if meaning.known else kind,
        default=constant(default),
        choices=meaning.choices,
        help="",
        takes_value=(meaning.type if meaning.known else kind) != "boolean",
        line=name.lineno,
        path=function.scope.path,
        default_text=shown(default),
        nargs="?" if kind == "boolean" else "",
        required=default is None,
    )
