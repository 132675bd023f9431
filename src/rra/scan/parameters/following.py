"""What the models of libraries may ask of the interpreter."""

from __future__ import annotations

import ast
from pathlib import PurePosixPath
from typing import Protocol

from rra.scan.parameters.modules import Modules
from rra.scan.parameters.values import Call, Function, Program, Scope, Value


class Following(Protocol):
    """Code that is being followed.

    Attributes:
        modules: The repository's Python files.
        programs: Parsers and commands that were met.
        stray: Takes the arguments of parsers that are made where they cannot be seen.
        configurations: Configurations that the code registers with hydra, by name.
    """

    modules: Modules
    programs: list[Program]
    stray: Program
    configurations: dict[str, Value]

    def evaluate(self, node: ast.expr | None, scope: Scope) -> Value:
        """Return what an expression stands for."""
        ...

    def call(self, target: Value, call: Call) -> Value:
        """Return what a call gives."""
        ...

    def enter(self, function: Function, call: Call) -> Value:
        """Follow a function of the repository and return what it returns."""
        ...

    def enter_once(self, function: Function, path: PurePosixPath) -> None:
        """Follow a function that code which is not followed will call."""
        ...

    def load(self, path: PurePosixPath) -> Scope:
        """Return the names of a module."""
        ...

    def compare(self, node: ast.Compare, scope: Scope) -> Value:
        """Return the result of a comparison."""
        ...
