"""Working out path expressions of Python code without running it.

``os.path.join(RESULTS, f"{name}.csv")`` with ``RESULTS = "results"`` becomes
``results/*.csv``: what only a run knows is ``*``.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from pathlib import PurePosixPath

_JOINS = frozenset({"os.path.join", "path.join", "osp.join", "join"})
_WRAPPERS = frozenset(
    {"Path", "pathlib.Path", "PurePath", "str", "os.path.abspath", "os.path.expanduser"}
    | {"os.path.normpath", "os.fspath", "os.path.realpath", "pathlib.PurePath"}
)
_CWD = frozenset({"os.getcwd", "Path.cwd", "pathlib.Path.cwd"})
_DIRNAMES = frozenset({"os.path.dirname", "osp.dirname", "path.dirname", "dirname"})

_ENVIRONMENT = frozenset({"os.environ.get", "os.getenv", "environ.get", "getenv"})
_SAME = frozenset({"resolve", "absolute", "expanduser", "as_posix", "strip", "rstrip", "lower"})

HERE = "{here}"
"""Stands for the folder of the file itself in a pattern."""


def dotted(node: ast.AST) -> str:
    """Return ``a.b.c`` for a name or attribute, with unknown parts left out."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if isinstance(node, ast.Name):
        parts.append(node.id)
    return ".".join(reversed(parts))


def module_constants(tree: ast.Module, known: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the module's names that are assigned once to a path that can be worked out.

    Args:
        tree: The module.
        known: Constants that it imports.
    """
    found: dict[str, str] = dict(known or {})
    seen: set[str] = set()
    for node in tree.body:
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            target, value = node.targets[0], node.value
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            target, value = node.target, node.value
        else:
            continue
        if not isinstance(target, ast.Name):
            continue
        pattern = path_pattern(value, found)
        if target.id in seen:
            found.pop(target.id, None)
        elif pattern is not None and pattern.strip("*/"):
            found[target.id] = pattern
        seen.add(target.id)
    return found


def path_pattern(node: ast.AST | None, names: Mapping[str, str]) -> str | None:
    """Return the path that an expression stands for, ``*`` for unknown parts.

    Args:
        node: The expression.
        names: Known constants.

    Returns:
        The pattern with forward slashes, or None when nothing of it is known.
    """
    try:
        text = _pattern(node, names)
    except RecursionError:  # hundreds of texts that are added up
        return None
    if text is None or not text.replace("*", "").strip("/. "):
        return None
    while "**" in text:
        text = text.replace("**", "*")
    return text.replace("\\", "/")


def _pattern(  # noqa: C901, PLR0911 - one case per kind of expression
    node: ast.AST | None, names: Mapping[str, str]
) -> str | None:
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.Name):
        return f"{HERE}/__file__" if node.id == "__file__" else names.get(node.id)
    if isinstance(node, ast.NamedExpr):
        return _pattern(node.value, names)
    if isinstance(node, ast.BoolOp):
        return next((p for value in node.values if (p := _pattern(value, names))), None)
    if isinstance(node, ast.IfExp):
        return _pattern(node.body, names) or _pattern(node.orelse, names)
    if isinstance(node, ast.JoinedStr):
        return "".join(_formatted(part, names) for part in node.values)
    if isinstance(node, ast.BinOp):
        return _binary(node, names)
    if isinstance(node, ast.Attribute):
        if node.attr == "parent":
            return _parent(_pattern(node.value, names))
        return _attribute(dotted(node), names)
    if isinstance(node, ast.Subscript):
        return _parents(node, names) or _entry(node, names)
    if isinstance(node, ast.Call):
        return _call(node, names)
    return None


def _attribute(name: str, names: Mapping[str, str]) -> str | None:
    """Return what ``a.b`` stands for; a scope may know that a command line gives it."""
    known = names.get(name)
    if known is None:
        asked = getattr(names, "attribute", None)
        return None if asked is None else asked(name)
    return known


def _entry(node: ast.Subscript, names: Mapping[str, str]) -> str | None:
    """``FILES["train"]``, ``args["out"]`` and ``sys.argv[1]``."""
    if not isinstance(node.slice, ast.Constant):
        return None
    name, key = dotted(node.value), node.slice.value
    if not isinstance(key, str | int):
        return None
    inner = node.value
    while isinstance(inner, ast.Subscript):  # cfg["data"]["path"]
        if isinstance(inner.slice, ast.Constant) and isinstance(inner.slice.value, str):
            key = f"{inner.slice.value}.{key}"
        inner = inner.value
        name = dotted(inner)
    if f"{name}[{key}]" in names:
        return names[f"{name}[{key}]"]
    if name in {"sys.argv", "argv"} and isinstance(key, int) and key > 0:
        return _attribute(f"argv.{key}", names)
    if isinstance(key, str) and re.fullmatch(r"-{0,2}[A-Za-z<][\w.>-]*", key) and name:
        return _attribute(f"{name}.{key.strip('-<>').replace('-', '_')}", names)
    return None


def _formatted(part: ast.expr, names: Mapping[str, str]) -> str:
    if isinstance(part, ast.FormattedValue):
        return _pattern(part.value, names) or "*"
    return _pattern(part, names) or ""


def _binary(node: ast.BinOp, names: Mapping[str, str]) -> str | None:
    left = _pattern(node.left, names)
    if isinstance(node.op, ast.Mod) and left is not None:
        return _percent(left, node.right, names)
    right = _pattern(node.right, names)
    if left is None and right is None:
        return None
    if isinstance(node.op, ast.Add):
        return (left if left is not None else "*") + (right if right is not None else "*")
    if isinstance(node.op, ast.Div):
        return _join([left, right])
    return None


def _percent(text: str, given: ast.expr, names: Mapping[str, str]) -> str:
    """Replace printf specifications by what is given for them, or ``*``."""
    values = iter(given.elts if isinstance(given, ast.Tuple) else [given])

    def value(found: re.Match[str]) -> str:
        one = next(values, None)
        return (_pattern(one, names) if found[1] == "s" else None) or "*"

    return re.sub(r"%[-+ #0]*\d*(?:\.\d+)?([a-zA-Z])", value, text)


def _format(base: str, node: ast.Call, names: Mapping[str, str]) -> str:
    """Replace the fields of ``str.format`` by what is given for them, or ``*``."""
    positional = iter(node.args)
    keywords = {one.arg: one.value for one in node.keywords}

    def value(found: re.Match[str]) -> str:
        field = found[1]
        one: ast.expr | None = keywords.get(field)
        if field.isdecimal() and int(field) < len(node.args):
            one = node.args[int(field)]
        elif not field:
            one = next(positional, None)
        return (_pattern(one, names) if not found[2] else None) or "*"

    return re.sub(r"(?<!\{)\{(\w*)[^{}:=]*(:[^{}]*)?\}", value, base)


def _parent(text: str | None, levels: int = 1) -> str | None:
    """Take names off the end of a pattern; beyond its start, climb with ``..``."""
    if text is None:
        return None
    path = PurePosixPath(text)
    for _ in range(levels):
        climbs = path.name in {HERE, "..", ""}
        path = path / ".." if climbs else path.parent
    return str(path)


def _parents(node: ast.Subscript, names: Mapping[str, str]) -> str | None:
    """``Path(__file__).parents[1]``."""
    value, index = node.value, node.slice
    if not (isinstance(value, ast.Attribute) and value.attr == "parents"):
        return None
    if not (isinstance(index, ast.Constant) and isinstance(index.value, int)):
        return None
    return _parent(_pattern(value.value, names), min(index.value, 20) + 1)


def _call(  # noqa: PLR0911 - one case per function
    node: ast.Call, names: Mapping[str, str]
) -> str | None:
    name = dotted(node.func)
    if name in _JOINS or (name.endswith(".joinpath") and node.args):
        parts = [_pattern(argument, names) for argument in node.args]
        if name.endswith(".joinpath") and isinstance(node.func, ast.Attribute):
            parts.insert(0, _pattern(node.func.value, names))
        return _join(parts)
    if name in _CWD:
        return "."
    if name in _DIRNAMES and node.args:
        return _parent(_pattern(node.args[0], names))
    if name in _WRAPPERS and node.args:
        parts = [_pattern(argument, names) for argument in node.args]
        return _join(parts) if len(parts) > 1 and name.endswith("Path") else parts[0]
    if isinstance(node.func, ast.Attribute) and node.func.attr == "format":
        base = _pattern(node.func.value, names)
        return None if base is None else _format(base, node, names)
    if name in _ENVIRONMENT and len(node.args) > 1:
        return _pattern(node.args[1], names)
    if isinstance(node.func, ast.Attribute):
        return _method(node, node.func, names)
    return None


def _method(node: ast.Call, func: ast.Attribute, names: Mapping[str, str]) -> str | None:
    """Methods of texts and paths: those that change nothing, and those that change the end."""
    base = _pattern(func.value, names)
    if func.attr in _SAME:
        return base
    if base is None or not node.args:
        return None
    last = _pattern(node.args[0], names) or "*"
    if func.attr == "with_suffix" and "." in last:
        return re.sub(r"\.[\w*]+$", "", base) + last
    if func.attr in {"with_name", "with_stem"}:
        return _join([_parent(base), last if func.attr == "with_name" else f"{last}.*"])
    return None


def _join(parts: list[str | None]) -> str | None:
    if all(part is None for part in parts):
        return None
    return str(PurePosixPath(*[part if part is not None else "*" for part in parts]))
