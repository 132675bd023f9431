"""Following a script's code without running it, to see which command line it declares.

Statements are followed in order: constants are worked out, functions and classes of the
repository are entered, both sides of what only a run could decide are taken, loops over known
lists are unrolled. What libraries do is modelled in `rra.scan.parameters.frameworks`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from pathlib import PurePosixPath

from rra.scan.parameters import expressions, frameworks
from rra.scan.parameters.constants import compare, items_of, truth
from rra.scan.parameters.modules import Modules
from rra.scan.parameters.values import (
    Bound,
    Call,
    Class,
    External,
    Function,
    Instance,
    Items,
    Known,
    Module,
    Program,
    Scope,
    Table,
    Unknown,
    Value,
)

_MAX_DEPTH = 30
_MAX_STEPS_OF_LOOP = 6_000
MAX_STEPS = 60_000
"""Statements and expressions that are followed for one script."""


class OutOfStepsError(Exception):
    """The code is longer than what is followed."""


class Interpreter:
    """Follows the code of one script.

    Args:
        modules: The repository's Python files.
        steps: How many steps may be taken at most.
    """

    def __init__(self, modules: Modules, steps: int = MAX_STEPS) -> None:
        self.modules = modules
        self.steps = steps
        self.programs: list[Program] = []
        self.stray = Program("argparse", doubts=["its parser is made where it cannot be seen"])
        self.configurations: dict[str, Value] = {}
        self.unfinished = ""
        self.entered: set[ast.AST] = set()
        self._stack: list[ast.AST] = []
        self._loaded: dict[PurePosixPath, Scope] = {}

    # ------------------------------------------------------------------ starting

    def start(self, path: PurePosixPath, function: str = "") -> None:
        """Follow a file as the program that is started, or one function of it.

        Args:
            path: The file.
            function: Dotted name within it, for the function of a console script.
        """
        try:
            scope = self.load(path, name="" if function else "__main__")
            if function:
                target: Value = Module(path, scope)
                for part in function.split("."):
                    target = expressions.attribute(self, target, part, None)
                name = ast.Name("main", ast.Load(), lineno=1, col_offset=0)
                self.call(target, Call(ast.Call(name, [], [], lineno=1, col_offset=0), path))
        except OutOfStepsError:
            self.unfinished = "the code is too long to be followed to its end"

    def enter_the_rest(self, path: PurePosixPath) -> None:
        """Follow the functions of a file that nothing has called so far."""
        scope = self._loaded.get(path)
        try:
            for value in list(scope.values.values()) if scope else ():
                if isinstance(value, Function) and value.scope is scope:
                    self._enter_blindly(value, path)
                elif isinstance(value, Class) and value.scope.path == path:
                    for method in list(value.scope.values.values()):
                        if isinstance(method, Function):
                            self._enter_blindly(method, path)
        except OutOfStepsError:
            return

    def enter_once(self, function: Function, path: PurePosixPath) -> None:
        """Follow a function that code which is not followed will call."""
        if self.modules.matters(function.scope.path):
            self._enter_blindly(function, path)

    def _enter_blindly(self, function: Function, path: PurePosixPath) -> None:
        if function.node in self.entered or isinstance(function.node, ast.Lambda):
            return
        node = ast.Call(function.node, [], [], lineno=function.node.lineno, col_offset=0)  # type: ignore[arg-type]
        call = Call(node, path)
        if function.owner is not None:
            call.values.append(Instance(function.owner))
        self.enter(function, call)

    def load(self, path: PurePosixPath, name: str = "") -> Scope:
        """Return the names of a module, after following its statements once."""
        if path in self._loaded:
            return self._loaded[path]
        scope = Scope(path)
        scope.set("__name__", Known(name or path.stem))
        self._loaded[path] = scope
        tree = self.modules.tree(path)
        scope.set("__doc__", Known(ast.get_docstring(tree, clean=False) if tree else None))
        if tree is not None and len(self._stack) < _MAX_DEPTH:
            self._stack.append(tree)
            try:
                self.run(tree.body, scope)
            finally:
                self._stack.pop()
        return scope

    # ---------------------------------------------------------------- statements

    def step(self) -> None:
        """Count one step.

        Raises:
            OutOfStepsError: There were too many.
        """
        self.steps -= 1
        if self.steps < 0:
            raise OutOfStepsError

    def evaluate(self, node: ast.expr | None, scope: Scope) -> Value:
        """Return what an expression stands for."""
        self.step()
        return expressions.evaluate(self, node, scope)

    def run(self, body: Iterable[ast.stmt], scope: Scope) -> bool:
        """Follow statements; tell whether they surely end with a return, raise, break …."""
        return any(self._statement(node, scope) for node in body)

    def _statement(self, node: ast.stmt, scope: Scope) -> bool:
        self.step()
        handler = getattr(self, f"_do_{type(node).__name__}", None)
        return bool(handler(node, scope)) if handler is not None else False

    def _do_Expr(self, node: ast.Expr, scope: Scope) -> None:  # noqa: N802 - named by node
        self.evaluate(node.value, scope)

    def _do_Return(self, node: ast.Return, scope: Scope) -> bool:  # noqa: N802
        scope.returns.append(self.evaluate(node.value, scope) if node.value else Known(None))
        return True

    def _do_Raise(self, node: ast.Raise, scope: Scope) -> bool:  # noqa: N802
        del node, scope
        return True

    def _do_Break(self, node: ast.stmt, scope: Scope) -> bool:  # noqa: N802
        del node, scope
        return True

    _do_Continue = _do_Break  # noqa: N815

    def _do_Global(self, node: ast.Global, scope: Scope) -> None:  # noqa: N802
        scope.globals.update(node.names)

    def _do_Import(self, node: ast.Import, scope: Scope) -> None:  # noqa: N802
        for alias in node.names:
            first = alias.name.split(".")[0]
            whole = self._module(alias.name, scope)
            if alias.asname:
                scope.set(alias.asname, whole)
            else:
                scope.set(first, whole if first == alias.name else self._module(first, scope))

    def _do_ImportFrom(self, node: ast.ImportFrom, scope: Scope) -> None:  # noqa: N802
        name = "." * node.level + (node.module or "")
        module = self._module(name, scope)
        for alias in node.names:
            if alias.name == "*":
                if isinstance(module, Module):
                    scope.values.update(
                        {k: v for k, v in module.scope.values.items() if not k.startswith("__")}
                    )
                continue
            value = expressions.attribute(self, module, alias.name, None)
            if isinstance(module, External | Unknown) or isinstance(value, Unknown):
                dot = "" if name.endswith(".") else "."
                path = self.modules.find(f"{name}{dot}{alias.name}", scope.path)
                if path is not None:
                    value = Module(path, self.load(path))
            scope.set(alias.asname or alias.name, value)

    def _module(self, name: str, scope: Scope) -> Value:
        path = self.modules.find(name, scope.path)
        if path is not None and path != scope.path:
            return Module(path, self.load(path))
        return External(name.lstrip("."))

    def _do_FunctionDef(  # noqa: N802
        self, node: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope
    ) -> None:
        owner = scope.get("__class__")
        value: Value = Function(node, scope, owner if isinstance(owner, Class) else None)
        for decorator in reversed(node.decorator_list):
            value = frameworks.decorate(self, self.evaluate(decorator, scope), value, scope.path)
        scope.set(node.name, value)

    _do_AsyncFunctionDef = _do_FunctionDef  # noqa: N815

    def _do_ClassDef(self, node: ast.ClassDef, scope: Scope) -> None:  # noqa: N802
        bases = tuple(self.evaluate(base, scope) for base in node.bases)
        inner = Scope(scope.path, scope)
        decorators = tuple(
            ast.unparse(d.func if isinstance(d, ast.Call) else d) for d in node.decorator_list
        )
        value = Class(node, bases, inner, decorators)
        inner.values["__class__"] = value
        self.run(node.body, inner)
        for decorator in node.decorator_list:
            frameworks.decorate(self, self.evaluate(decorator, scope), value, scope.path)
        scope.set(node.name, value)

    def _do_Assign(self, node: ast.Assign, scope: Scope) -> None:  # noqa: N802
        value = self.evaluate(node.value, scope)
        for target in node.targets:
            self._bind(target, value, scope)

    def _do_AnnAssign(self, node: ast.AnnAssign, scope: Scope) -> None:  # noqa: N802
        if node.value is not None:
            self._bind(node.target, self.evaluate(node.value, scope), scope)

    def _do_AugAssign(self, node: ast.AugAssign, scope: Scope) -> None:  # noqa: N802
        value = expressions.operate(
            self, type(node.op), self.evaluate(node.target, scope), self.evaluate(node.value, scope)
        )
        self._bind(node.target, value or Unknown(node.value), scope)

    def _bind(self, target: ast.expr, value: Value, scope: Scope) -> None:
        if isinstance(target, ast.Name):
            scope.set(target.id, value)
        elif isinstance(target, ast.Tuple | ast.List):
            values = value.values if isinstance(value, Items) else []
            for number, part in enumerate(target.elts):
                self._bind(part, values[number] if number < len(values) else Unknown(part), scope)
        elif isinstance(target, ast.Attribute):
            receiver = self.evaluate(target.value, scope)
            if isinstance(receiver, Instance):
                receiver.attributes[target.attr] = value
            elif isinstance(receiver, Class | Module):
                receiver.scope.values[target.attr] = value
        elif isinstance(target, ast.Subscript):
            receiver = self.evaluate(target.value, scope)
            key = self.evaluate(target.slice, scope)
            if isinstance(receiver, Table) and isinstance(key, Known):
                receiver.values[key.value] = value

    def _do_If(self, node: ast.If, scope: Scope) -> bool:  # noqa: N802
        decided = truth(self.evaluate(node.test, scope))
        if decided is not None:
            return self.run(node.body if decided else node.orelse, scope)
        first = self.run(node.body, scope)
        second = self.run(node.orelse, scope)
        return first and second and bool(node.orelse)

    def _do_For(self, node: ast.For | ast.AsyncFor, scope: Scope) -> None:  # noqa: N802
        items = items_of(self.evaluate(node.iter, scope))
        left, known = self.steps - _MAX_STEPS_OF_LOOP, self._size()
        for item in items if items is not None else [Unknown(node.target)]:
            self._bind(node.target, item, scope)
            self.run(node.body, scope)
            if self.steps < left:
                if self._size() != known:
                    self.unfinished = "a loop that adds arguments is too long to be followed"
                break
        self.run(node.orelse, scope)

    def _size(self) -> int:
        return sum(len(program.arguments) for program in self.programs)

    _do_AsyncFor = _do_For  # noqa: N815

    def _do_While(self, node: ast.While, scope: Scope) -> None:  # noqa: N802
        if truth(self.evaluate(node.test, scope)) is not False:
            self.run(node.body, scope)
        self.run(node.orelse, scope)

    def _do_With(self, node: ast.With | ast.AsyncWith, scope: Scope) -> bool:  # noqa: N802
        for item in node.items:
            value = self.evaluate(item.context_expr, scope)
            if item.optional_vars is not None:
                self._bind(item.optional_vars, value, scope)
        return self.run(node.body, scope)

    _do_AsyncWith = _do_With  # noqa: N815

    def _do_Try(self, node: ast.Try, scope: Scope) -> bool:  # noqa: N802
        left = self.run(node.body, scope)
        if not left:
            left = self.run(node.orelse, scope)
        return self.run(node.finalbody, scope) or left

    _do_TryStar = _do_Try  # noqa: N815

    def _do_Match(self, node: ast.Match, scope: Scope) -> None:  # noqa: N802
        self.evaluate(node.subject, scope)
        for case in node.cases:
            self.run(case.body, scope)

    # --------------------------------------------------------------------- calls

    def compare(self, node: ast.Compare, scope: Scope) -> Value:
        """Return the result of a comparison; chains are left undecided."""
        left = self.evaluate(node.left, scope)
        rights = [self.evaluate(right, scope) for right in node.comparators]
        if len(rights) != 1:
            return Unknown(node)
        decided = compare(type(node.ops[0]), left, rights[0])
        return Unknown(node) if decided is None else Known(decided)

    def call(self, target: Value, call: Call) -> Value:
        """Return what a call gives, entering functions of the repository."""
        known = frameworks.call(self, target, call)
        if known is not None:
            return known
        if isinstance(target, Function):
            return self.enter(target, call)
        if isinstance(target, Bound):
            call.values.insert(0, target.receiver)
            return self.enter(target.function, call)
        if isinstance(target, Class):
            return self.construct(target, call)
        if isinstance(target, Instance):
            method = expressions.attribute(self, target, "__call__", None)
            return self.call(method, call) if isinstance(method, Bound) else Unknown(call.node)
        return Unknown(call.node)

    def construct(self, cls: Class, call: Call) -> Value:
        """Return a new object of a class of the repository."""
        made = Instance(cls, model=frameworks.model_of(self, cls, call))
        start = expressions.attribute(self, made, "__init__", None)
        if isinstance(start, Bound):
            call.values.insert(0, made)
            self.enter(start.function, call)
        else:
            made.attributes.update(call.keywords)
        return made

    def enter(self, function: Function, call: Call) -> Value:
        """Follow a function of the repository and return what it returns."""
        node = function.node
        if isinstance(node, ast.Lambda):
            return Unknown(call.node)
        self.entered.add(node)
        if len(self._stack) >= _MAX_DEPTH or self._stack.count(node) > 1:
            return Unknown(call.node)
        if not self.modules.matters(function.scope.path) and not _carries(call):
            return Unknown(call.node)
        scope = Scope(function.scope.path, function.scope)
        scope.values.update(self._arguments(function, call, scope))
        if function.owner is not None:
            scope.values["__class__"] = function.owner
            scope.parent = _outside(function.scope)
        self._stack.append(node)
        try:
            self.run(node.body, scope)
        finally:
            self._stack.pop()
        return _best(scope.returns)

    def _arguments(self, function: Function, call: Call, scope: Scope) -> dict[str, Value]:
        """Return the parameters of a function bound to the arguments of a call."""
        spec = function.node.args
        names = [*spec.posonlyargs, *spec.args]
        found: dict[str, Value] = {}
        defaults = [None] * (len(names) - len(spec.defaults)) + list(spec.defaults)
        pairs = [
            *zip(names, defaults, strict=True),
            *zip(spec.kwonlyargs, spec.kw_defaults, strict=True),
        ]
        for number, (name, default) in enumerate(pairs):
            if number < len(names) and number < len(call.values):
                found[name.arg] = call.values[number]
            elif name.arg in call.keywords:
                found[name.arg] = call.keywords[name.arg]
            elif default is not None and not call.open and not _is_blind(call):
                found[name.arg] = self.evaluate(default, function.scope)
            else:
                found[name.arg] = Unknown(default or ast.Name(name.arg, ast.Load()))
        if spec.vararg:
            found[spec.vararg.arg] = Items(call.values[len(names) :], complete=not call.open)
        if spec.kwarg:
            taken = {name.arg for name, _ in pairs}
            rest = {k: v for k, v in call.keywords.items() if k not in taken}
            found[spec.kwarg.arg] = Table(dict(rest.items()), complete=not call.open)
        del scope
        return found


def _is_blind(call: Call) -> bool:
    """Tell whether a call is one that nobody wrote."""
    return isinstance(call.node, ast.Call) and not isinstance(
        call.node.func, ast.Name | ast.Attribute | ast.Call | ast.Subscript
    )


def _outside(scope: Scope) -> Scope | None:
    """Return the scope that a method sees: not that of its class."""
    return scope.parent if "__class__" in scope.values else scope


def _carries(call: Call) -> bool:
    """Tell whether a call passes on a parser, or a function that could make one."""
    values = [*call.values, *call.keywords.values()]
    return any(isinstance(value, Program | Function | Bound | Class) for value in values)


def _best(returns: list[Value]) -> Value:
    """Choose among what several ``return`` statements give: a parser, else what is known."""
    for value in returns:
        if isinstance(value, Program | Items | Instance):
            return value
    known = [v for v in returns if not isinstance(v, Unknown) and v != Known(None)]
    if known:
        return known[-1]
    return returns[-1] if returns else Known(None)
