"""What a type annotation says about the values of a parameter."""

from __future__ import annotations

import ast
import dataclasses

from rra.scan.objects import ParameterType
from rra.scan.parameters.following import Following
from rra.scan.parameters.values import (
    Class,
    External,
    Known,
    Scalar,
    Scope,
    Value,
    constant,
)

_TYPES: dict[str, ParameterType] = {"int": "integer", "float": "number", "bool": "boolean"}
_MANY = frozenset({"List", "list", "Sequence", "Tuple", "tuple", "Set", "set", "Iterable"})
_ENUMS = frozenset({"Enum", "StrEnum", "IntEnum", "ExplicitEnum"})


@dataclasses.dataclass(frozen=True)
class Meaning:
    """Type of a parameter's values.

    Attributes:
        type: Type of one value.
        choices: Values that are allowed, where they are few.
        many: Whether it takes several.
        optional: Whether it may be None.
        cls: The class of the repository that it names, or None.
        extra: What ``Annotated`` adds.
        known: Whether the annotation was understood.
    """

    type: ParameterType = "string"
    choices: tuple[Scalar, ...] = ()
    many: bool = False
    optional: bool = False
    cls: Class | None = None
    extra: tuple[Value, ...] = ()
    known: bool = True


def read_annotation(run: Following, node: ast.expr | None, scope: Scope) -> Meaning:
    """Return what an annotation says; strings are read as annotations too (PEP 484)."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        try:
            node = ast.parse(node.value, mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return Meaning(known=False)
    if node is None:
        return Meaning(known=False)
    if isinstance(node, ast.Constant) and node.value is None:
        return Meaning(optional=True)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return _union(run, [node.left, node.right], scope)
    if isinstance(node, ast.Subscript):
        return _subscript(run, node, scope)
    return _plain(run, node, scope)


def _plain(run: Following, node: ast.expr, scope: Scope) -> Meaning:
    value = run.evaluate(node, scope)
    if isinstance(value, Class):
        names = _enum(value)
        return Meaning(choices=names) if names is not None else Meaning(cls=value)
    if not isinstance(value, External):
        return Meaning(known=False)
    name = value.name.rpartition(".")[2]
    if name in _MANY:
        return Meaning(many=True)
    plain = value.name.startswith("builtins.") or name in {"Path", "PurePath"}
    return Meaning(_TYPES.get(name, "string"), known=plain)


def _enum(cls: Class) -> tuple[Scalar, ...] | None:
    """Return the values of an enumeration, or None for another class."""
    names = {base.name.rpartition(".")[2] for base in cls.bases if isinstance(base, External)}
    if not names & _ENUMS:
        return None
    values = [constant(v) for k, v in cls.scope.values.items() if not k.startswith("_")]
    return tuple(value for value in values if value is not None)


def _subscript(run: Following, node: ast.Subscript, scope: Scope) -> Meaning:
    name = ast.unparse(node.value).rpartition(".")[2]
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if name == "Literal":
        values = [run.evaluate(part, scope) for part in parts]
        choices = tuple(v.value for v in values if isinstance(v, Known) and v.value is not None)
        kinds = {type(choice) for choice in choices}
        kind = _TYPES.get(next(iter(kinds)).__name__, "string") if len(kinds) == 1 else "string"
        return Meaning(kind, choices)
    first = read_annotation(run, parts[0], scope)
    if name == "Annotated":
        extra = tuple(run.evaluate(part, scope) for part in parts[1:])
        return dataclasses.replace(first, extra=(*first.extra, *extra))
    if name == "Optional":
        return dataclasses.replace(first, optional=True)
    if name == "Union":
        return _union(run, parts, scope)
    if name in _MANY:
        return dataclasses.replace(first, many=True)
    return first if name in {"Final", "ClassVar", "InitVar"} else Meaning(known=False)


def _union(run: Following, parts: list[ast.expr], scope: Scope) -> Meaning:
    meanings = [read_annotation(run, part, scope) for part in parts]
    optional = any(meaning.optional for meaning in meanings)
    kept = [m for m in meanings if not (m.optional and m == Meaning(optional=True))]
    if len(kept) != 1:
        kinds = {meaning.type for meaning in kept}
        kind: ParameterType = kinds.pop() if len(kinds) == 1 else "string"
        return Meaning(kind, optional=optional, known=not any(m.cls for m in kept))
    return dataclasses.replace(kept[0], optional=optional)
