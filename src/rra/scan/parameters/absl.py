"""Flags of absl, and of TensorFlow 1, whose flags they were (documentation of ``absl.flags``)."""

from __future__ import annotations

import dataclasses
import re

from rra.scan.objects import Argument, ParameterType
from rra.scan.parameters.argparsing import type_of_constant
from rra.scan.parameters.following import Following
from rra.scan.parameters.values import (
    Call,
    Items,
    Known,
    Program,
    Unknown,
    Value,
    constant,
    scalars,
    shown,
    text,
)

_DEFINE = re.compile(r"(?:^|\.)DEFINE_(\w+)$")
_TYPES: dict[str, ParameterType] = {
    "integer": "integer",
    "float": "number",
    "bool": "boolean",
    "boolean": "boolean",
    "multi_integer": "integer",
    "multi_float": "number",
}
_REQUIRED = re.compile(r"(?:^|\.)mark_flags?_as_required$")
_ENUMS = frozenset({"enum", "multi_enum", "enum_class", "multi_enum_class"})
_CONFIGS = frozenset({"config_file", "config_dict", "config_dataclass"})


def call(run: Following, name: str, call: Call) -> Value | None:
    """Return what a call of ``flags.DEFINE_…`` gives; all modules share one set of flags."""
    found = _DEFINE.search(name)
    if found is not None:
        program = shared(run)
        _define(program, found[1], call)
        return Unknown(call.node)
    if _REQUIRED.search(name):
        names = scalars(call.values[0]) if call.values and isinstance(call.values[0], Items) else ()
        wanted = {str(name) for name in names} | set(call.texts())
        program = shared(run)
        program.arguments[:] = [
            dataclasses.replace(a, required=True) if a.name in wanted else a
            for a in program.arguments
        ]
        return Known(None)
    return None


def shared(run: Following) -> Program:
    """Return the one set of flags of a program."""
    for program in run.programs:
        if program.framework == "absl":
            return program
    program = Program("absl", started=True)
    run.programs.append(program)
    return program


def _define(program: Program, kind: str, call: Call) -> None:
    name = text(call.value(0, "name"))
    if kind in _CONFIGS:
        program.doubts.append(f"--{name or 'config'}.KEY changes any key of a configuration")
    if kind == "alias":
        program.doubts.append("it has aliases")
    if not name:
        program.doubts.append(f"a flag's name is only known when it runs ({call.path}:{call.line})")
        return
    default = call.value(1, "default")
    choices = scalars(call.value(2, "enum_values")) if kind in _ENUMS else ()
    help_text = call.value(3 if kind in _ENUMS else 2, "help", "help_string")
    switch = _TYPES.get(kind) == "boolean"
    program.arguments.append(
        Argument(
            name=name,
            flags=(f"--{name}", f"--no{name}") if switch else (f"--{name}",),
            type=_TYPES.get(kind) or _other_type(kind, default),
            default=constant(default),
            choices=choices,
            help=" ".join(text(help_text).split()),
            takes_value=not switch,
            line=call.line,
            path=call.path,
            default_text=shown(default),
            nargs="0" if switch else "",
            required=constant(call.keywords.get("required")) is True,
        )
    )
    short = text(call.keywords.get("short_name"))
    if short:
        last = program.arguments[-1]
        program.arguments[-1] = dataclasses.replace(last, flags=(*last.flags, f"-{short}"))


def _other_type(kind: str, default: Value | None) -> ParameterType:
    return type_of_constant(constant(default)) if kind.startswith("spaceseplist") else "string"
