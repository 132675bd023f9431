"""What expressions stand for while code is followed."""

from __future__ import annotations

import ast
import builtins

from rra.scan.parameters import constants
from rra.scan.parameters.constants import items_of, truth
from rra.scan.parameters.following import Following
from rra.scan.parameters.values import (
    Bound,
    Call,
    Class,
    External,
    Function,
    Instance,
    Items,
    Known,
    Method,
    Module,
    Part,
    Program,
    Scope,
    Super,
    Table,
    Unknown,
    Value,
)

_MAX_ITEMS = 300


def evaluate(run: Following, node: ast.expr | None, scope: Scope) -> Value:  # noqa: C901, PLR0911, PLR0912 - one case per kind of expression
    """Return what an expression stands for."""
    match node:
        case ast.Constant():
            is_plain = node.value is None or isinstance(node.value, str | int | float | bool)
            return Known(node.value) if is_plain else Unknown(node)  # type: ignore[arg-type]
        case ast.Name():
            return _name(node, scope)
        case ast.Attribute():
            receiver = run.evaluate(node.value, scope)
            return attribute(run, receiver, node.attr, node)
        case ast.Call():
            return _call(run, node, scope)
        case ast.List() | ast.Tuple() | ast.Set():
            return _items(run, node.elts, scope)
        case ast.Dict():
            return _table(run, node, scope)
        case ast.ListComp() | ast.SetComp() | ast.GeneratorExp():
            return _comprehension(run, node, scope)
        case ast.BinOp():
            left, right = run.evaluate(node.left, scope), run.evaluate(node.right, scope)
            return operate(run, type(node.op), left, right) or Unknown(node)
        case ast.UnaryOp():
            return constants.unary(node.op, run.evaluate(node.operand, scope)) or Unknown(node)
        case ast.BoolOp():
            return _bool(run, node, scope)
        case ast.Compare():
            return run.compare(node, scope)
        case ast.IfExp():
            decided = truth(run.evaluate(node.test, scope))
            first, second = run.evaluate(node.body, scope), run.evaluate(node.orelse, scope)
            if decided is None:
                return first if not isinstance(first, Known | Unknown) else Unknown(node)
            return first if decided else second
        case ast.JoinedStr():
            parts = [_formatted(run, part, scope) for part in node.values]
            if any(part is None for part in parts):
                return Unknown(node)
            return Known("".join(str(part) for part in parts))
        case ast.Subscript():
            return _subscript(run, node, scope)
        case ast.Lambda():
            return Function(node, scope)
        case ast.NamedExpr():
            value = run.evaluate(node.value, scope)
            scope.set(node.target.id, value)
            return value
        case ast.Await() | ast.Starred():
            return run.evaluate(node.value, scope)
        case _:
            return Unknown(node)


def _name(node: ast.Name, scope: Scope) -> Value:
    found = scope.get(node.id)
    if found is not None:
        return found
    return External(f"builtins.{node.id}") if hasattr(builtins, node.id) else Unknown(node)


def attribute(run: Following, receiver: Value, name: str, node: ast.expr | None) -> Value:  # noqa: PLR0911 - one case per kind of value
    """Return an attribute of what an expression stands for."""
    match receiver:
        case External():
            return External(f"{receiver.name}.{name}")
        case Module():
            return _of_module(run, receiver, name, node)
        case Class():
            return _of_class(receiver, name) or Unknown(node)
        case Instance():
            return _of_instance(run, receiver, name, node)
        case Super():
            for base in receiver.owner.bases:
                found = _of_class(base, name) if isinstance(base, Class) else None
                if isinstance(found, Function):
                    return Bound(receiver.receiver, found)
            model = receiver.receiver.model if isinstance(receiver.receiver, Instance) else None
            return Method(model, name) if model is not None else Unknown(node)
        case Program() | Part() | Items() | Table() | Known():
            return Method(receiver, name)
        case Unknown() if name == "add_argument":
            return Method(run.stray, name)
        case _:
            return Unknown(node)


def _of_module(run: Following, module: Module, name: str, node: ast.expr | None) -> Value:
    found = module.scope.values.get(name)
    if found is not None:
        return found
    if module.path.name == "__init__.py":
        folder = module.path.parent
        for path in (folder / f"{name}.py", folder / name / "__init__.py"):
            if path in run.modules.files:
                return Module(path, run.load(path))
    return Unknown(node)


def _of_class(cls: Class, name: str, depth: int = 0) -> Value | None:
    if name in cls.scope.values:
        return cls.scope.values[name]
    for base in cls.bases if depth < 20 else ():
        found = _of_class(base, name, depth + 1) if isinstance(base, Class) else None
        if found is not None:
            return found
    return None


def _of_instance(run: Following, instance: Instance, name: str, node: ast.expr | None) -> Value:
    if name in instance.attributes:
        return instance.attributes[name]
    found = _of_class(instance.cls, name)
    if isinstance(found, Function) and not isinstance(found.node, ast.Lambda):
        decorators = {ast.unparse(d) for d in found.node.decorator_list}
        if "staticmethod" in decorators:
            return found
        if decorators & {"property", "cached_property", "functools.cached_property"}:
            return run.enter(
                found,
                Call(node or ast.Constant(None, lineno=1), instance.cls.scope.path, [instance]),
            )
        return Bound(instance.cls if "classmethod" in decorators else instance, found)
    if found is not None:
        return found
    return Method(instance.model, name) if instance.model is not None else Unknown(node)


def _call(run: Following, node: ast.Call, scope: Scope) -> Value:
    if isinstance(node.func, ast.Name) and node.func.id == "super" and scope.get("super") is None:
        return _super(node, scope)
    target = run.evaluate(node.func, scope)
    call = Call(node, scope.path)
    for argument in node.args:
        value = run.evaluate(argument, scope)
        if isinstance(argument, ast.Starred):
            known = items_of(value)
            call.values.extend(known or ())
            call.open |= known is None
        else:
            call.values.append(value)
    for keyword in node.keywords:
        value = run.evaluate(keyword.value, scope)
        if keyword.arg is not None:
            call.keywords[keyword.arg] = value
        elif isinstance(value, Table):
            call.keywords.update({str(k): v for k, v in value.values.items()})
            call.open |= not value.complete
        else:
            call.open = True
    known_result = _plain_call(run, target, call)
    return run.call(target, call) if known_result is None else known_result


def _super(node: ast.Call, scope: Scope) -> Value:
    owner = scope.get("__class__")
    receiver = next(iter(scope.values.values()), None)
    if not isinstance(owner, Class) or receiver is None:
        return Unknown(node)
    return Super(receiver, owner)


def _plain_call(run: Following, target: Value, call: Call) -> Value | None:
    """Return what functions of the language and methods of plain values give."""
    if isinstance(target, External) and target.name.startswith("builtins."):
        return _builtin(run, target.name.removeprefix("builtins."), call)
    if isinstance(target, External) and target.name in {"os.path.join", "posixpath.join"}:
        parts = call.texts()
        return Known("/".join(parts)) if parts and len(parts) == len(call.values) else None
    if not isinstance(target, Method):
        return None
    receiver = target.receiver
    if isinstance(receiver, Known) and isinstance(receiver.value, str):
        found = constants.string_method(receiver.value, target.name, call.values)
        return found or Unknown(call.node)
    if isinstance(receiver, Items):
        return _list_method(receiver, target.name, call)
    return _dict_method(receiver, target.name, call) if isinstance(receiver, Table) else None


def _builtin(run: Following, name: str, call: Call) -> Value | None:
    if name in {"getattr", "setattr"} and len(call.values) > 1:
        key = constants_text(call.values[1])
        if name == "getattr":
            return attribute(run, call.values[0], key, call.node) if key else Unknown(call.node)
        if isinstance(call.values[0], Instance) and len(call.values) > 2:
            call.values[0].attributes[key] = call.values[2]
        return Known(None)
    return constants.builtin(name, call.values, call.keywords)


def constants_text(value: Value) -> str:
    """Return the text of a known string, or nothing."""
    return value.value if isinstance(value, Known) and isinstance(value.value, str) else ""


def _list_method(items: Items, name: str, call: Call) -> Value:
    if name == "append" and call.values and len(items.values) < _MAX_ITEMS:
        items.values.append(call.values[0])
    elif name == "extend" and call.values:
        more = items_of(call.values[0])
        items.values.extend((more or ())[:_MAX_ITEMS])
        items.complete &= more is not None
    return Known(None) if name in {"append", "extend"} else Unknown(call.node)


def _dict_method(table: Table, name: str, call: Call) -> Value:
    if name == "keys":
        return Items([Known(key) for key in table.values], table.complete)
    if name == "values":
        return Items(list(table.values.values()), table.complete)
    if name == "items":
        pairs: list[Value] = [Items([Known(k), v]) for k, v in table.values.items()]
        return Items(pairs, table.complete)
    if name in {"get", "pop"} and call.values and isinstance(call.values[0], Known):
        found = table.values.get(call.values[0].value)
        if found is not None:
            return found
        return call.values[1] if len(call.values) > 1 else Known(None)
    if name == "update" and call.values and isinstance(call.values[0], Table):
        table.values.update(call.values[0].values)
    return Unknown(call.node)


def _items(run: Following, nodes: list[ast.expr], scope: Scope) -> Value:
    found = Items([])
    for node in nodes[:_MAX_ITEMS]:
        value = run.evaluate(node, scope)
        if isinstance(node, ast.Starred):
            known = items_of(value)
            found.values.extend(known or ())
            found.complete &= known is not None
        else:
            found.values.append(value)
    found.complete &= len(nodes) <= _MAX_ITEMS
    return found


def _table(run: Following, node: ast.Dict, scope: Scope) -> Value:
    found = Table({})
    for key_node, value_node in zip(node.keys, node.values, strict=True):
        value = run.evaluate(value_node, scope)
        if key_node is None:
            if isinstance(value, Table):
                found.values.update(value.values)
                found.complete &= value.complete
            else:
                found.complete = False
            continue
        key = run.evaluate(key_node, scope)
        if isinstance(key, Known):
            found.values[key.value] = value
        else:
            found.complete = False
    return found


def _comprehension(
    run: Following, node: ast.ListComp | ast.SetComp | ast.GeneratorExp, scope: Scope
) -> Value:
    generator = node.generators[0]
    items = items_of(run.evaluate(generator.iter, scope))
    if items is None or len(node.generators) > 1 or not isinstance(generator.target, ast.Name):
        return Unknown(node)
    found = Items([])
    for item in items:
        inner = Scope(scope.path, scope)
        inner.set(generator.target.id, item)
        kept = [truth(run.evaluate(test, inner)) for test in generator.ifs]
        if None in kept:
            return Unknown(node)
        if all(kept):
            found.values.append(run.evaluate(node.elt, inner))
    return found


def operate(run: Following, kind: type[ast.operator], left: Value, right: Value) -> Value | None:
    """Return the result of an operator; ``+=`` of strings and lists included."""
    del run
    if kind is ast.Mod and isinstance(left, Known) and isinstance(left.value, str):
        values = right.values if isinstance(right, Items) else [right]
        known = [value.value for value in values if isinstance(value, Known)]
        if len(known) == len(values) and left.value.count("%") == len(known) == 1:
            return constants.binary(kind, left, Known(known[0]))
        return None
    return constants.binary(kind, left, right)


def _bool(run: Following, node: ast.BoolOp, scope: Scope) -> Value:
    stops = isinstance(node.op, ast.Or)
    value: Value = Unknown(node)
    unsure = False
    for part in node.values:
        value = run.evaluate(part, scope)
        decided = truth(value)
        unsure |= decided is None
        if decided is stops:
            return value if not unsure or not isinstance(value, Known) else Unknown(node)
    return Unknown(node) if unsure else value


def _formatted(run: Following, part: ast.expr, scope: Scope) -> str | None:
    if isinstance(part, ast.FormattedValue):
        value = run.evaluate(part.value, scope)
        plain = part.format_spec is None and part.conversion == -1 and isinstance(value, Known)
        return str(value.value) if plain and isinstance(value, Known) else None
    value = run.evaluate(part, scope)
    return str(value.value) if isinstance(value, Known) else None


def _subscript(run: Following, node: ast.Subscript, scope: Scope) -> Value:
    receiver = run.evaluate(node.value, scope)
    if isinstance(node.slice, ast.Slice):
        return Unknown(node)
    key = run.evaluate(node.slice, scope)
    if not isinstance(key, Known):
        return Unknown(node)
    if isinstance(receiver, Table):
        return receiver.values.get(key.value, Unknown(node))
    if not isinstance(receiver, Items) or not isinstance(key.value, int):
        return Unknown(node)
    inside = -len(receiver.values) <= key.value < len(receiver.values)
    return receiver.values[key.value] if inside else Unknown(node)
