"""What an expression may stand for when code is followed without being run."""

from __future__ import annotations

import ast
import dataclasses
from pathlib import PurePosixPath
from typing import Any

from rra.scan.objects import Argument

Scalar = str | int | float | bool
_MAX_TEXT = 200


class Scope:
    """Names of a module, a class or a call of a function."""

    __slots__ = ("globals", "parent", "path", "returns", "values")

    def __init__(self, path: PurePosixPath, parent: Scope | None = None) -> None:
        self.path = path
        self.parent = parent
        self.values: dict[str, Value] = {}
        self.globals: set[str] = set()
        self.returns: list[Value] = []

    def get(self, name: str) -> Value | None:
        """Return what a name stands for here, or None."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.values:
                return scope.values[name]
            scope = scope.parent
        return None

    def set(self, name: str, value: Value) -> None:
        """Bind a name here, or in the module where it was declared global."""
        scope = self
        if name in self.globals:
            while scope.parent is not None:
                scope = scope.parent
        scope.values[name] = value


@dataclasses.dataclass(frozen=True, slots=True)
class Known:
    """A constant."""

    value: Scalar | None


@dataclasses.dataclass(frozen=True, slots=True)
class Unknown:
    """Something that only a run knows; its text is kept."""

    node: ast.AST | None = None


@dataclasses.dataclass(slots=True, eq=False)
class Items:
    """A list, tuple or set; `complete` says whether all of its items are known of."""

    values: list[Value]
    complete: bool = True


@dataclasses.dataclass(slots=True, eq=False)
class Table:
    """A dictionary with known keys."""

    values: dict[Scalar | None, Value]
    complete: bool = True


@dataclasses.dataclass(frozen=True, slots=True)
class External:
    """A module, class or function of a library, by its full name."""

    name: str


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Function:
    """A function of the repository; `owner` is the class of a method."""

    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    scope: Scope
    owner: Class | None = None


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Bound:
    """A function of the repository with its first argument."""

    receiver: Value
    function: Function


@dataclasses.dataclass(slots=True, eq=False)
class Class:
    """A class of the repository."""

    node: ast.ClassDef
    bases: tuple[Value, ...]
    scope: Scope
    decorators: tuple[str, ...] = ()


@dataclasses.dataclass(slots=True, eq=False)
class Instance:
    """An object of a class of the repository; `model` where the class extends a parser."""

    cls: Class
    attributes: dict[str, Value] = dataclasses.field(default_factory=dict)
    model: Program | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Super:
    """``super()`` within a method."""

    receiver: Value
    owner: Class


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Module:
    """A module of the repository."""

    path: PurePosixPath
    scope: Scope


@dataclasses.dataclass(frozen=True, slots=True)
class Method:
    """A method of something that is modelled here."""

    receiver: Value
    name: str


@dataclasses.dataclass(frozen=True, slots=True)
class Decorator:
    """What the call of a library's decorator gives: its name, its call and what it belongs to."""

    name: str
    call: Call
    program: Program | None = None


@dataclasses.dataclass(slots=True, eq=False)
class Program:
    """A parser or a command: what it accepts, as far as the code was followed.

    Attributes:
        framework: As in `CommandLine.parser`.
        arguments: Arguments in the order of declaration.
        children: Subcommands by name.
        doubts: Why it may accept other flags.
        started: Whether the code lets it read the command line.
        abbreviates: Whether the first letters of a long flag are enough.
        extra: What a framework notes for itself.
    """

    framework: str
    arguments: list[Argument] = dataclasses.field(default_factory=list)
    children: dict[str, Program] = dataclasses.field(default_factory=dict)
    doubts: list[str] = dataclasses.field(default_factory=list)
    started: bool = False
    abbreviates: bool = False
    extra: dict[str, Any] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Part:
    """A group of arguments or the place of subcommands of a parser."""

    program: Program
    kind: str


Value = (
    Known
    | Unknown
    | Items
    | Table
    | External
    | Function
    | Bound
    | Class
    | Instance
    | Super
    | Module
    | Method
    | Decorator
    | Program
    | Part
)


@dataclasses.dataclass(slots=True, eq=False)
class Call:
    """One call with what its arguments stand for.

    Attributes:
        node: The call.
        path: File that it stands in.
        values: Positional arguments.
        keywords: Keyword arguments.
        open: Whether it passes arguments that are not known (``*names``, ``**options``).
    """

    node: ast.Call | ast.expr
    path: PurePosixPath
    values: list[Value] = dataclasses.field(default_factory=list)
    keywords: dict[str, Value] = dataclasses.field(default_factory=dict)
    open: bool = False

    @property
    def line(self) -> int:
        """Line of the call."""
        return self.node.lineno

    def value(self, position: int, *names: str) -> Value | None:
        """Return an argument by its position or by one of its names."""
        if 0 <= position < len(self.values):
            return self.values[position]
        return next((self.keywords[name] for name in names if name in self.keywords), None)

    def texts(self) -> list[str]:
        """Return the positional arguments that are known strings."""
        return [
            value.value
            for value in self.values
            if isinstance(value, Known) and isinstance(value.value, str)
        ]


def constant(value: Value | None) -> Scalar | None:
    """Return a constant's value; None for everything else."""
    return value.value if isinstance(value, Known) else None


def text(value: Value | None) -> str:
    """Return a constant's text if it is a string, and nothing otherwise."""
    found = constant(value)
    return found if isinstance(found, str) else ""


def scalars(value: Value | None) -> tuple[Scalar, ...]:
    """Return the constants of a list."""
    if isinstance(value, Table):
        return tuple(key for key in value.values if key is not None)
    items = value.values if isinstance(value, Items) else []
    found = [constant(item) for item in items]
    return tuple(item for item in found if item is not None)


def shown(value: Value | None) -> str:  # noqa: PLR0911 - one case per kind of value
    """Return a value as the text that a reader of the code would copy; empty for None."""
    if value is None or (isinstance(value, Known) and value.value is None):
        return ""
    if isinstance(value, Known):
        return str(value.value)
    if isinstance(value, Items):
        return "[" + ", ".join(_inner(item) for item in value.values) + "]"
    if isinstance(value, External):
        return value.name.removeprefix("builtins.")
    if isinstance(value, Unknown) and value.node is not None:
        written = " ".join(ast.unparse(value.node).split())
        return written if len(written) <= _MAX_TEXT else written[:_MAX_TEXT] + "…"
    if isinstance(value, Function) and not isinstance(value.node, ast.Lambda):
        return value.node.name
    return value.cls.node.name if isinstance(value, Instance) else ""


def _inner(value: Value) -> str:
    return repr(value.value) if isinstance(value, Known) else shown(value)
