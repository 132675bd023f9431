"""Working out constants: operators, comparisons and small functions on known values."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable
from typing import Any

from rra.scan.parameters.values import External, Items, Known, Table, Value, constant

_MAX_TEXT = 2_000
_MAX_ITEMS = 300
_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}
_COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_STRING_METHODS = frozenset(
    {"lower", "upper", "strip", "title", "capitalize", "replace", "removeprefix", "removesuffix"}
    | {"startswith", "endswith", "lstrip", "rstrip"}
)
_ERRORS = (ArithmeticError, TypeError, ValueError, KeyError, IndexError, MemoryError)


def binary(kind: type[ast.operator], left: Value, right: Value) -> Value | None:
    """Return the result of an operator, or None when it is not known."""
    if isinstance(left, Items) and isinstance(right, Items) and kind is ast.Add:
        both = [*left.values, *right.values]
        return Items(both[:_MAX_ITEMS], left.complete and right.complete)
    if not (isinstance(left, Known) and isinstance(right, Known)) or kind not in _BINARY:
        return None
    a, b = left.value, right.value
    if _is_large(kind, a) or _is_large(kind, b):
        return None
    try:
        return _known(_BINARY[kind](a, b))
    except _ERRORS:
        return None


def _is_large(kind: type[ast.operator], operand: object) -> bool:
    """Tell whether an operand could make a value that fills the memory."""
    if isinstance(operand, str):
        wide = kind is ast.Mod and re.search(r"%[^a-zA-Z%]*(?:\*|\d{3})", operand)
        return len(operand) > _MAX_TEXT or kind is ast.Mult or bool(wide)
    if kind is ast.Pow and isinstance(operand, int | float):
        return abs(operand) > 64
    return isinstance(operand, int) and kind is ast.Mult and abs(operand) > 10**12


def _known(value: object) -> Value | None:
    if isinstance(value, str):
        return Known(value) if len(value) <= _MAX_TEXT else None
    return Known(value) if value is None or isinstance(value, int | float | bool) else None


def unary(kind: ast.unaryop, operand: Value) -> Value | None:
    """Return the result of ``-x``, ``+x`` or ``not x``, or None when it is not known."""
    if isinstance(kind, ast.Not):
        decided = truth(operand)
        return None if decided is None else Known(not decided)
    value = constant(operand)
    if not isinstance(value, int | float):
        return None
    if isinstance(kind, ast.USub):
        return Known(-value)
    return Known(value) if isinstance(kind, ast.UAdd) else None


def compare(kind: type[ast.cmpop], left: Value, right: Value) -> bool | None:
    """Return the result of one comparison, or None when it is not known."""
    if kind in {ast.In, ast.NotIn}:
        return _contains(left, right, wanted=kind is ast.In)
    if kind in {ast.Is, ast.IsNot} and _is_none(right) and not isinstance(left, Known):
        return None if not _is_object(left) else kind is ast.IsNot
    if not (isinstance(left, Known) and isinstance(right, Known)) or kind not in _COMPARE:
        return None
    try:
        return bool(_COMPARE[kind](left.value, right.value))
    except _ERRORS:
        return None


def _is_none(value: Value) -> bool:
    return isinstance(value, Known) and value.value is None


def _is_object(value: Value) -> bool:
    return type(value).__name__ in {"Program", "Part", "Instance", "Items", "Table", "Function"}


def _contains(item: Value, container: Value, *, wanted: bool) -> bool | None:
    if not isinstance(item, Known):
        return None
    if isinstance(container, Known) and isinstance(container.value, str):
        return (item.value in container.value) is wanted if isinstance(item.value, str) else None
    if isinstance(container, Items):
        known = [value.value for value in container.values if isinstance(value, Known)]
        sure = container.complete and len(known) == len(container.values)
        return None if not sure and item.value not in known else (item.value in known) is wanted
    if isinstance(container, Table) and container.complete:
        return (item.value in container.values) is wanted
    return None


def truth(value: Value) -> bool | None:
    """Tell whether a value counts as true, or None when only a run knows."""
    if isinstance(value, Known):
        return bool(value.value)
    if isinstance(value, Items | Table):
        return True if value.values else (False if value.complete else None)
    return True if _is_object(value) else None


def string_method(  # noqa: PLR0911 - one case per method
    receiver: str, name: str, values: list[Value]
) -> Value | None:
    """Return what a method of a known string gives, or None when it is not known."""
    if name == "join" and len(values) == 1 and isinstance(values[0], Items):
        parts = [constant(part) for part in values[0].values]
        if values[0].complete and all(isinstance(part, str) for part in parts):
            return _known(receiver.join(str(part) for part in parts))
        return None
    known = [value.value for value in values if isinstance(value, Known)]
    if len(known) != len(values):
        return None
    try:
        if name == "split":
            return Items([Known(part) for part in receiver.split(*known)[:_MAX_ITEMS]])  # type: ignore[arg-type]
        if name == "format" and ":" not in receiver:
            return _known(receiver.format(*known))
        if name in _STRING_METHODS:
            return _known(getattr(receiver, name)(*known))
    except (*_ERRORS, AttributeError):
        return None
    return None


def items_of(value: Value) -> list[Value] | None:
    """Return what a loop over a value would see, or None when it is not known."""
    if isinstance(value, Items):
        return value.values[:_MAX_ITEMS] if value.complete else None
    if isinstance(value, Table) and value.complete:
        keys: list[Value] = [Known(key) for key in value.values]
        return keys[:_MAX_ITEMS]
    if isinstance(value, Known) and isinstance(value.value, str):
        return [*map(Known, value.value[:_MAX_ITEMS])]
    return None


def builtin(name: str, values: list[Value], keywords: dict[str, Value]) -> Value | None:  # noqa: C901, PLR0911 - one case per function
    """Return what a function of the language gives, or None when it is not known."""
    if name == "dict" and not values:
        return Table(dict(keywords.items()))
    if name in {"list", "tuple", "set", "sorted", "frozenset"}:
        items = items_of(values[0]) if values else []
        return None if items is None else Items(list(items))
    if name == "reversed" and values:
        items = items_of(values[0])
        return None if items is None else Items(items[::-1])
    if name == "range":
        return _range(values)
    if name == "type" and len(values) == 1 and isinstance(values[0], Known):
        return External(f"builtins.{type(values[0].value).__name__}")
    if name in {"zip", "enumerate"} and values:
        columns = [items_of(value) for value in values]
        if any(column is None for column in columns):
            return None
        lists = [column for column in columns if column is not None]
        if name == "enumerate":
            lists = [[Known(number) for number in range(len(lists[0]))], lists[0]]
        return Items([Items(list(row)) for row in zip(*lists, strict=False)])
    if name == "len" and len(values) == 1:
        items = items_of(values[0])
        return None if items is None else Known(len(items))
    functions: dict[str, Callable[[Any], Any]] = {"str": str, "int": int, "float": float}
    if name in functions and len(values) == 1 and isinstance(values[0], Known):
        try:
            return _known(functions[name](values[0].value))
        except _ERRORS:
            return None
    return None


def _range(values: list[Value]) -> Value | None:
    numbers = [constant(value) for value in values]
    if not 1 <= len(numbers) <= 3 or not all(isinstance(number, int) for number in numbers):
        return None
    try:
        found = range(*[int(number or 0) for number in numbers])
    except ValueError:
        return None
    return Items([Known(number) for number in found[:_MAX_ITEMS]])
