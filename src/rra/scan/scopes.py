"""What names stand for, line by line, so that the files that calls name can be worked out.

Values are patterns: what only a run knows is ``*``, and what a command line gives is a mark
(`rra.scan.marks`). Nothing is run: loops are walked once, both branches of a condition count.
"""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Callable, Iterator, Mapping

from rra.scan.constants import dotted, path_pattern
from rra.scan.marks import mark

_MOST = 6
"""So many calls of a function, and so many values of a name, are followed at most."""

_ITERATORS = frozenset({"sorted", "list", "tqdm", "tuple", "set", "reversed", "iter", "trange"})
_GLOBS = frozenset({"glob", "iglob", "rglob"})
Binding = dict[str, str]


@dataclasses.dataclass(frozen=True, slots=True)
class LocalCall:
    """A call of a function of the repository.

    Attributes:
        function: Its name as imported: ``package.module.function``, or the bare name.
        positional: What its positional arguments stand for; ``*`` where that is not known.
        keywords: What its keyword arguments stand for.
    """

    function: str
    positional: tuple[str, ...]
    keywords: tuple[tuple[str, str], ...]


class Scope(dict[str, str]):
    """Names and what they stand for at one place of a module.

    Attributes:
        imported: Imported names and what they stand for; they are never marks.
        within: Name of the class that the place is in, or empty.
        owner: Names of the object itself, shared by the methods of a class.
        others: Other values of names, from the other branch of a condition.
    """

    def __init__(self, known: Mapping[str, str], imported: Mapping[str, str]) -> None:
        super().__init__(known)
        self.imported = imported
        self.within = ""
        self.owner: dict[str, str] = {}
        self.others: list[tuple[str, str]] = []

    def child(self, more: Mapping[str, str] | None = None) -> Scope:
        """Return a scope within this one."""
        inner = Scope({**self, **self.owner, **(more or {})}, self.imported)
        inner.owner, inner.others, inner.within = self.owner, list(self.others), self.within
        return inner

    def attribute(self, name: str) -> str | None:
        """Return what ``args.out`` or ``cfg.data.path`` may stand for: a mark.

        Args:
            name: The dotted name.
        """
        head, _, rest = name.partition(".")
        if head == "self":
            rest = rest.partition(".")[2]
        elif head in self.imported and head != "argv":
            rest = ""
        return mark(rest) if rest else None

    def patterns(self, node: ast.AST) -> list[str]:
        """Return every path that an expression may stand for."""
        if isinstance(node, ast.List | ast.Tuple | ast.Set):
            return [p for one in node.elts[:_MOST] for p in self.patterns(one)]
        if isinstance(node, ast.Dict):
            return [p for one in node.values[:_MOST] for p in self.patterns(one)]
        if isinstance(node, ast.IfExp):
            return [*self.patterns(node.body), *self.patterns(node.orelse)]
        found = [path_pattern(node, self)]
        used = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
        for name, value in self.others[-_MOST:]:
            if name in used:
                other = Scope({**self, name: value}, self.imported)
                found.append(path_pattern(node, other))
        return list(dict.fromkeys(p for p in found if p is not None))

    def bind(self, target: ast.AST, value: ast.AST | None) -> None:
        """Remember an assignment; what cannot be worked out is forgotten."""
        if isinstance(target, ast.Tuple | ast.List):
            values = value.elts if isinstance(value, ast.Tuple | ast.List) else []
            for number, one in enumerate(target.elts):
                self.bind(one, values[number] if number < len(values) else None)
            return
        name = dotted(target)
        if not name:
            return
        if isinstance(value, ast.Dict):
            self._bind_entries(name, value)
        patterns = self.patterns(value) if value is not None else []
        self.put(name, patterns)

    def put(self, name: str, patterns: list[str]) -> None:
        """Let a name stand for patterns, the first of them above all."""
        known = self.owner if name.startswith("self.") else self
        known.pop(name, None)
        self.pop(name, None)
        self.others = [other for other in self.others if other[0] != name]
        if patterns:
            known[name] = self[name] = patterns[0]
            self.others += [(name, other) for other in patterns[1:_MOST]]

    def _bind_entries(self, name: str, value: ast.Dict) -> None:
        for key, one in zip(value.keys[:50], value.values[:50], strict=False):
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                pattern = path_pattern(one, self)
                if pattern is not None:
                    self[f"{name}[{key.value}]"] = pattern

    def merge(self, left: Scope, right: Scope) -> None:
        """Take over what two branches of a condition have assigned."""
        for name in {*left, *right}:
            values = [s[name] for s in (left, right) if name in s and s[name] != self.get(name)]
            if values:
                self.put(name, list(dict.fromkeys(values)))

    def iterate(self, target: ast.AST, source: ast.AST) -> None:
        """Let the target of a loop stand for what is iterated over."""
        if isinstance(source, ast.Call):
            name = dotted(source.func)
            last = name.rpartition(".")[2]
            if last in _ITERATORS and source.args:
                self.iterate(target, source.args[0])
                return
            if name == "enumerate" and source.args and isinstance(target, ast.Tuple):
                self.iterate(target.elts[-1], source.args[0])
                return
            if last in _GLOBS or last == "iterdir":
                self.put(dotted(target), glob_patterns(source, self))
                return
        if isinstance(source, ast.Subscript) and dotted(source.value) in {"sys.argv", "argv"}:
            first = source.slice.lower if isinstance(source.slice, ast.Slice) else None
            start = first.value if isinstance(first, ast.Constant) else 1
            names = [start + n for n in range(3)] if isinstance(start, int) else []
            self.put(dotted(target), [mark(str(number)) for number in names])
            return
        listed = isinstance(source, ast.List | ast.Tuple | ast.Set)
        patterns = self.patterns(source) if listed else []
        whole = [p for p in patterns if "/" in p or "." in p]
        for name in _names_of(target):
            self.put(name, whole if isinstance(target, ast.Name) else [])
        if isinstance(source, ast.Attribute | ast.Name) and isinstance(target, ast.Name):
            self.put(target.id, self.patterns(source))


def glob_patterns(call: ast.Call, scope: Scope) -> list[str]:
    """Return the pattern of ``glob.glob(p)``, ``Path(p).glob(q)`` or ``Path(p).iterdir()``."""
    owner = call.func.value if isinstance(call.func, ast.Attribute) else None
    name = dotted(call.func)
    if name in {"glob.glob", "glob.iglob", "glob", "iglob"}:
        return scope.patterns(call.args[0]) if call.args else []
    base = path_pattern(owner, scope) if owner is not None else None
    last = path_pattern(call.args[0], scope) if call.args else "*"
    return [f"{base}/{last or '*'}"] if base else []


def _names_of(target: ast.AST) -> Iterator[str]:
    for node in ast.walk(target):
        if isinstance(node, ast.Name):
            yield node.id


class Walk:
    """A walk through a module that tells each call together with the scope it stands in."""

    def __init__(
        self,
        scope: Scope,
        tell: Callable[[ast.Call, Scope], None],
        incoming: Mapping[str, list[LocalCall]],
    ) -> None:
        self._scope = scope
        self._tell = tell
        self._incoming = incoming
        self._own: dict[str, list[LocalCall]] = {}
        self._functions: set[str] = set()
        self._quiet = True

    def start(self, tree: ast.Module) -> list[LocalCall]:
        """Walk twice: to learn how functions are called, then to tell the calls.

        Returns:
            Calls of functions that are not of this module.
        """
        kinds = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
        self._functions = {node.name for node in ast.walk(tree) if isinstance(node, kinds)}
        self.block(tree.body, self._scope.child())
        self._quiet = False
        self.block(tree.body, self._scope.child())
        return [c for name, calls in self._own.items() if "." in name for c in calls]

    def block(self, body: list[ast.stmt], scope: Scope) -> None:
        """Walk statements in their order.

        Args:
            body: The statements.
            scope: What is known there; it takes what they assign.
        """
        for statement in body:
            self._statement(statement, scope)

    def _statement(self, node: ast.stmt, scope: Scope) -> None:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for binding in self._bindings(node, scope):
                self.block(node.body, scope.child(binding))
        elif isinstance(node, ast.ClassDef):
            inner = scope.child()
            inner.owner, inner.within = {}, node.name
            self.block(sorted(node.body, key=_constructor_first), inner)
        elif isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
            self._assign(node, scope)
        elif isinstance(node, ast.If):
            self._expressions(node.test, scope)
            left, right = scope.child(), scope.child()
            self.block(node.body, left)
            self.block(node.orelse, right)
            scope.merge(left, right)
        elif isinstance(node, ast.For | ast.AsyncFor):
            self._expressions(node.iter, scope)
            scope.iterate(node.target, node.iter)
            self.block([*node.body, *node.orelse], scope)
        else:
            self._other(node, scope)

    def _assign(self, node: ast.Assign | ast.AnnAssign | ast.AugAssign, scope: Scope) -> None:
        if node.value is not None:
            self._expressions(node.value, scope)
        if isinstance(node, ast.AugAssign):
            joined = ast.BinOp(node.target, node.op, node.value)
            scope.bind(node.target, ast.copy_location(joined, node))
            return
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            scope.bind(target, node.value)

    def _other(self, node: ast.AST, scope: Scope) -> None:
        """Walk a statement of another kind: its expressions, then its blocks."""
        for _, value in ast.iter_fields(node):
            parts = value if isinstance(value, list) else [value]
            for part in parts:
                if isinstance(part, ast.stmt):
                    self._statement(part, scope)
                elif isinstance(part, ast.expr):
                    self._expressions(part, scope)
                elif isinstance(part, ast.withitem):
                    self._expressions(part.context_expr, scope)
                elif isinstance(part, ast.ExceptHandler | ast.match_case):
                    self.block(part.body, scope)

    def _expressions(self, node: ast.AST, scope: Scope) -> None:
        pending: list[tuple[ast.AST, Scope]] = [(node, scope)]
        while pending:
            one, known = pending.pop()
            if isinstance(one, ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp):
                known = known.child()
                for generator in one.generators:
                    known.iterate(generator.target, generator.iter)
            elif isinstance(one, ast.Call):
                self._call(one, known)
            pending += [(inner, known) for inner in ast.iter_child_nodes(one)]

    def _call(self, node: ast.Call, scope: Scope) -> None:
        if not self._quiet:
            self._tell(node, scope)
            return
        name = dotted(node.func)
        last = name.rpartition(".")[2]
        local = last in self._functions
        if not local and name.partition(".")[0] not in scope.imported:
            return
        positional = tuple((scope.patterns(one) or ["*"])[0] for one in node.args[:10])
        keywords = tuple(
            (one.arg, pattern)
            for one in node.keywords[:20]
            if one.arg and (pattern := (scope.patterns(one.value) or [""])[0])
        )
        told = any(p != "*" for p in positional) or keywords
        key = last if local else scope.imported.get(name.partition(".")[0], "")
        if not local and key:
            rest = name.partition(".")[2]
            key = f"{key}.{rest}" if rest else key
        if key and (told or local):
            calls = self._own.setdefault(key, [])
            call = LocalCall(key, positional, keywords)
            if call not in calls and len(calls) < _MOST:
                calls.append(call)

    def _bindings(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope
    ) -> Iterator[Binding]:
        """Yield what the parameters of a function stand for, once for each call that is known."""
        arguments = [*node.args.posonlyargs, *node.args.args]
        names = [one.arg for one in arguments if one.arg not in {"self", "cls"}]
        given = dict(zip(reversed([a.arg for a in arguments]), reversed(node.args.defaults)))  # noqa: B905 - the last have defaults
        pairs = zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
        given |= {a.arg: default for a, default in pairs if default is not None}
        defaults = {
            name: pattern
            for name, value in given.items()
            if (pattern := path_pattern(value, scope)) is not None
        }
        every = [*names, *(a.arg for a in node.args.kwonlyargs)]
        key = scope.within if node.name == "__init__" else node.name
        calls = [*self._own.get(key, ()), *self._incoming.get(key, ())]
        calls = calls if not node.decorator_list or scope.within else []
        for call in calls[:_MOST]:
            bound = {**dict.fromkeys(every, "*"), **defaults}
            bound.update(zip(names, call.positional, strict=False))
            bound.update((n, value) for n, value in call.keywords if n in every)
            yield bound
        if not calls:
            yield {name: mark(name, defaults.get(name, "")) for name in every}


def _constructor_first(node: ast.stmt) -> bool:
    return getattr(node, "name", "") != "__init__"
