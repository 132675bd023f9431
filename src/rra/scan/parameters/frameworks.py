"""What calls, decorators and comparisons mean to the libraries that read command lines."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import PurePosixPath

from rra.scan.parameters import absl, argparsing, clicking, fields, hydra, plain, signatures
from rra.scan.parameters.following import Following
from rra.scan.parameters.values import (
    Bound,
    Call,
    Class,
    Decorator,
    External,
    Function,
    Method,
    Part,
    Program,
    Unknown,
    Value,
)

_CALLS: tuple[Callable[[Following, str, Call], Value | None], ...] = (
    fields.call,
    argparsing.call,
    clicking.call,
    signatures.call_typer,
    signatures.call_fire,
    absl.call,
    hydra.call,
    plain.call,
)
_HARMLESS = ("builtins.", "argcomplete.", "copy.", "pprint.", "logging.", "functools.")


def call(run: Following, target: Value, call: Call) -> Value | None:
    """Return what a call of a library's function or object gives; None for code to enter."""
    if isinstance(target, External):
        return _library(run, target.name, call)
    if isinstance(target, Method):
        return _method(run, target, call)
    if isinstance(target, Decorator):
        value = call.values[0] if call.values else Unknown(call.node)
        return decorate(run, target, value, call.path)
    if isinstance(target, Program):
        target.started = True
        callback = target.extra.get("callback")
        if target.framework == "hydra" and isinstance(callback, Function):
            run.enter_once(callback, call.path)
        return Unknown(call.node)
    if isinstance(target, Unknown):
        _passed_on(call, "code that is not followed")
    return None


def _library(run: Following, name: str, call: Call) -> Value:
    for model in _CALLS:
        found = model(run, name, call)
        if found is not None:
            return found
    if not name.startswith(_HARMLESS):
        _passed_on(call, name)
        for value in [*call.values, *call.keywords.values()]:
            if isinstance(value, Function):
                run.enter_once(value, call.path)
    return Unknown(call.node)


def _passed_on(call: Call, name: str) -> None:
    """Note on a parser that other code may add to it."""
    for value in [*call.values, *call.keywords.values()]:
        program = argparsing.escapes(value)
        if program is not None:
            program.doubts.append(f"{name} may add arguments")


def _method(run: Following, target: Method, call: Call) -> Value | None:
    receiver = target.receiver
    if isinstance(receiver, Program) and receiver.framework == "click":
        return clicking.method(run, target, call)
    if isinstance(receiver, Program) and receiver.framework == "typer":
        return signatures.typer_method(run, target, call)
    if isinstance(receiver, Program) and target.name == "add_arguments":
        fields.add_arguments(run, receiver, call)
        return Unknown(call.node)
    if isinstance(receiver, Program | Part):
        return argparsing.method(run, target, call)
    return None


def decorate(run: Following, decorator: Value, value: Value, path: PurePosixPath) -> Value:
    """Return what a decorator makes of a function."""
    if isinstance(decorator, External | Method):
        call = Call(ast.Call(ast.Constant(None), [], [], lineno=1, col_offset=0), path)
        is_click = isinstance(decorator, Method) and isinstance(decorator.receiver, Program)
        if is_click or (isinstance(decorator, External) and decorator.name.startswith("click.")):
            made = run.call(decorator, call)
            decorator = made if isinstance(made, Decorator) else decorator
    if isinstance(decorator, Decorator):
        for found in (
            signatures.decorate_typer(run, decorator, value),
            hydra.decorate(run, decorator, value),
            clicking.decorate(run, decorator, value, path),
        ):
            if found is not None:
                return found
    if isinstance(decorator, Function | Bound) and isinstance(value, Function | Program):
        node = ast.Call(ast.Name("decorator", ast.Load()), [], [], lineno=1, col_offset=0)
        made = run.call(decorator, Call(node, path, [value]))
        return made if isinstance(made, Program) else value
    return value


def model_of(run: Following, cls: Class, call: Call) -> Program | None:
    """Return the parser that an object of a class is, where the class extends a library's."""
    if fields.is_tap(cls):
        program = argparsing.make(run, call)
        fields.add_tap(run, program, cls)
        return program
    name = argparsing.inherits_parser(cls)
    if not name:
        return None
    return argparsing.make(run, call, "optparse" if name.endswith("OptionParser") else "argparse")
