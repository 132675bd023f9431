"""Command lines made from the fields of classes.

``HfArgumentParser`` (transformers), tyro, simple-parsing, draccus, pyrallis and ``Tap``
(typed-argument-parser) each make one argument of each field; they differ in how flags are spelled.
"""

from __future__ import annotations

import ast
import dataclasses
import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from rra.scan.objects import Argument
from rra.scan.parameters.annotations import Meaning, read_annotation
from rra.scan.parameters.argparsing import type_of_constant
from rra.scan.parameters.following import Following
from rra.scan.parameters.signatures import parameters
from rra.scan.parameters.values import (
    Call,
    Class,
    External,
    Function,
    Instance,
    Items,
    Program,
    Scalar,
    Scope,
    Table,
    Unknown,
    Value,
    constant,
    shown,
    text,
)

_HF = re.compile(r"(?:Hf|H4|Trl)ArgumentParser$|(?:^|\.)TrlParser$")
_TYRO = re.compile(r"^tyro\.(?:cli|extras\.\w*cli\w*)$")
_DOTTED = re.compile(r"^(?:draccus|pyrallis)\.(?:parse|wrap|argparsing\.parse)$")
_FIELD = re.compile(r"(?:^|\.)(?:field|Field|mutable_field|list_field|HfArg)$")
_MAX_DEPTH = 5


@dataclasses.dataclass(frozen=True)
class Style:
    """How a library spells the flags of fields.

    Attributes:
        framework: Name of the parser.
        dashes: Whether ``learning_rate`` may be written ``--learning-rate``.
        underscores: Whether it may be written ``--learning_rate``.
        dotted: Whether fields of fields are written ``--model.width``.
        negation: Prefix of the negative form of a switch, or empty.
    """

    framework: str
    dashes: bool
    underscores: bool
    dotted: bool
    negation: str


HF = Style("dataclass", dashes=True, underscores=True, dotted=False, negation="no_")
TYRO = Style("tyro", dashes=True, underscores=True, dotted=True, negation="no-")
SIMPLE = Style("simple-parsing", dashes=False, underscores=True, dotted=False, negation="no")
DOTTED = Style("draccus", dashes=False, underscores=True, dotted=True, negation="")
TAP = Style("tap", dashes=False, underscores=True, dotted=False, negation="")


def call(run: Following, name: str, call: Call) -> Value | None:
    """Return what a call of one of these libraries gives."""
    if _FIELD.search(name):
        return Instance(_FIELD_CLASS, dict(call.keywords))
    if _HF.search(name):
        program = Program(HF.framework, abbreviates=True)
        for value in _classes(call.value(0, "dataclass_types")):
            _add_class(run, program, value, HF)
        run.programs.append(program)
        return program
    if _TYRO.match(name):
        return _start(run, call, TYRO, call.value(0, "f"))
    if name == "simple_parsing.parse":
        return _start(run, call, SIMPLE, call.value(0, "config_class"))
    if _DOTTED.match(name) and not name.endswith("wrap"):
        return _start(run, call, DOTTED, call.value(0, "config_class"))
    return None


_FIELD_CLASS = Class(ast.parse("class field: ...").body[0], (), Scope(PurePosixPath()))  # type: ignore[arg-type]
"""Stands for what ``dataclasses.field`` returns."""


def _classes(value: Value | None) -> list[Value]:
    if isinstance(value, Items):
        return list(value.values)
    return [] if value is None else [value]


def _start(run: Following, call: Call, style: Style, target: Value | None) -> Value:
    program = Program(style.framework, started=True)
    if isinstance(target, Function):
        _add_function(run, program, target, style)
    elif target is not None:
        _add_class(run, program, target, style)
    if style is DOTTED:
        program.doubts.append("it also reads configuration files")
    run.programs.append(program)
    return Instance(target) if isinstance(target, Class) else Unknown(call.node)


def add_arguments(run: Following, program: Program, call: Call) -> None:
    """Follow ``parser.add_arguments(Options, dest="options")`` of simple-parsing."""
    program.framework = SIMPLE.framework
    _add_class(run, program, call.value(0, "dataclass") or Unknown(call.node), SIMPLE)


def add_tap(run: Following, program: Program, cls: Class) -> None:
    """Add the fields of a class that extends ``Tap``."""
    program.framework = TAP.framework
    _add_class(run, program, cls, TAP)


def is_tap(cls: Class) -> bool:
    """Tell whether a class extends ``Tap`` of typed-argument-parser."""
    return any(
        (isinstance(base, External) and base.name in {"tap.Tap", "tap.tap.Tap"})
        or (isinstance(base, Class) and is_tap(base))
        for base in cls.bases
    )


def _add_class(run: Following, program: Program, value: Value, style: Style) -> None:
    if not isinstance(value, Class):
        name = shown(value) or "a class"
        program.doubts.append(f"it takes the fields of {name}, which is not in the repository")
        return
    program.arguments.extend(_fields(run, program, value, style, "", 0))


def _add_function(run: Following, program: Program, function: Function, style: Style) -> None:
    for name, annotation, default_node in parameters(function):
        meaning = read_annotation(run, annotation, function.scope)
        default = run.evaluate(default_node, function.scope) if default_node is not None else None
        inner = meaning.cls
        if inner is not None and _is_fields(inner):
            program.arguments.extend(_fields(run, program, inner, style, f"{name.arg}.", 1))
        else:
            place = (str(function.scope.path), name.lineno)
            program.arguments.append(_argument(name.arg, meaning, default, style, place))


def _is_fields(cls: Class) -> bool:
    return any(
        "dataclass" in name or "define" in name or "attr." in name for name in cls.decorators
    )


def _fields(
    run: Following, program: Program, cls: Class, style: Style, prefix: str, depth: int
) -> Iterator[Argument]:
    """Yield an argument for each field of a class and of those that it extends."""
    seen: dict[str, Argument | list[Argument]] = {}
    for owner in reversed(_lineage(cls)):
        if not isinstance(owner, Class):
            if isinstance(owner, External) and not owner.name.startswith(
                ("builtins.", "tap.", "abc.", "typing.")
            ):
                program.doubts.append(f"it takes the fields of {owner.name}")
            continue
        for node in owner.node.body:
            if not isinstance(node, ast.AnnAssign) or not isinstance(node.target, ast.Name):
                continue
            name = node.target.id
            if name.startswith("_") or "ClassVar" in ast.unparse(node.annotation):
                continue
            meaning = read_annotation(run, node.annotation, owner.scope)
            inner = meaning.cls
            if inner is not None and _is_fields(inner) and depth < _MAX_DEPTH:
                inside = f"{prefix}{name}." if style.dotted else prefix
                seen[name] = list(_fields(run, program, inner, style, inside, depth + 1))
                continue
            default = owner.scope.values.get(name) if node.value is not None else None
            place = (str(owner.scope.path), node.lineno)
            seen[name] = _argument(f"{prefix}{name}", meaning, default, style, place)
    for entry in seen.values():
        yield from entry if isinstance(entry, list) else [entry]


def _lineage(cls: Class, depth: int = 0) -> list[Value]:
    found: list[Value] = [cls]
    for base in cls.bases if depth < 20 else ():
        found += _lineage(base, depth + 1) if isinstance(base, Class) else [base]
    return found


def _argument(
    name: str, meaning: Meaning, default: Value | None, style: Style, place: tuple[str, int]
) -> Argument:
    help_text = ""
    aliases: tuple[str, ...] = ()
    given = default
    if isinstance(default, Instance) and default.cls is _FIELD_CLASS:
        metadata = default.attributes.get("metadata", default)
        table = metadata.values if isinstance(metadata, Table) else default.attributes
        help_text = text(table.get("help"))
        aliases = tuple(_texts(table.get("aliases")))
        given = default.attributes.get("default")
        factory = default.attributes.get("default_factory")
        if given is None and factory is not None:
            given = _made(factory)
    value = constant(given)
    kind = meaning.type if meaning.known else type_of_constant(value)
    switch = kind == "boolean" and not meaning.many and given is not None
    nargs = "+" if style in {HF, TAP} else "*"
    return Argument(
        name=name,
        flags=tuple(dict.fromkeys([*_spellings(name, style, value, switch=switch), *aliases])),
        type=kind,
        default=value,
        choices=meaning.choices,
        help=" ".join(help_text.split()),
        takes_value=not meaning.many and not switch,
        line=place[1],
        path=PurePosixPath(place[0]),
        default_text=shown(given),
        nargs=nargs if meaning.many else ("?" if switch else ""),
        required=given is None and not (meaning.optional and style is HF),
    )


def _made(factory: Value) -> Value:
    """Return what a default factory makes, as far as a reader wants to know it."""
    if isinstance(factory, Function) and isinstance(factory.node, ast.Lambda):
        return Unknown(factory.node.body)
    if isinstance(factory, External) and factory.name == "builtins.list":
        return Items([])
    return factory


def _texts(value: Value | None) -> list[str]:
    if isinstance(value, Items):
        return [text(item) for item in value.values if text(item)]
    return [text(value)] if text(value) else []


def _spellings(name: str, style: Style, value: Scalar | None, *, switch: bool) -> Iterator[str]:
    """Yield the ways in which a field's flag may be written."""
    forms = []
    if style.underscores:
        forms.append(name)
    if style.dashes:
        forms.insert(0 if style is TYRO else len(forms), name.replace("_", "-"))
    for form in forms:
        yield f"--{form}"
    if not switch or not style.negation or (style is HF and value is not True):
        return
    for form in forms:
        head, dot, last = form.rpartition(".")
        negation = style.negation if style is not HF or "_" in form else "no-"
        yield f"--{head}{dot}{negation}{last}"
