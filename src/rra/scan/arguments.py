"""Arguments that scripts declare: ``argparse`` in full, other parsers by name."""

from __future__ import annotations

import ast
import re

from rra.scan.constants import dotted
from rra.scan.objects import Argument, ParameterType

Scalar = str | int | float | bool
_TYPES: dict[str, ParameterType] = {
    "int": "integer",
    "float": "number",
    "str": "string",
    "bool": "boolean",
    "Path": "string",
    "pathlib.Path": "string",
}
_SWITCHES = frozenset(
    {"store_true", "store_false", "store_const", "append_const", "count", "help", "version"}
)


def declared_arguments(tree: ast.AST) -> tuple[str, tuple[Argument, ...]]:
    """Return how a module reads its command line, and the arguments it declares.

    Args:
        tree: The module.

    Returns:
        Name of the parser (``argparse``, ``click``, ``absl``, ``hydra``, ``fire`` or empty) and
        the arguments in the order of the text.
    """
    parser = ""
    arguments: list[Argument] = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = dotted(node.func)
        if name.split(".")[-1] == "add_argument":
            argument = _argument(node)
            if argument is not None:
                arguments.append(argument)
                parser = "argparse"
        elif name.split(".")[-1] in {"option", "argument"} and name.startswith("click."):
            argument = _argument(node)
            if argument is not None:
                arguments.append(argument)
                parser = "click"
        elif not parser:
            parser = _other_parser(name)
    return parser, tuple(sorted(arguments, key=lambda argument: argument.line))


def _other_parser(name: str) -> str:
    if name.endswith("ArgumentParser") and not name.endswith("HfArgumentParser"):
        return "argparse"
    if re.search(r"flags\.DEFINE_\w+$", name):
        return "absl"
    if name.endswith("hydra.main"):
        return "hydra"
    return "fire" if name in {"fire.Fire", "tyro.cli"} else ""


def _argument(node: ast.Call) -> Argument | None:
    names = [a.value for a in node.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
    if not names:
        return None
    keywords = {keyword.arg: keyword.value for keyword in node.keywords if keyword.arg}
    flags = tuple(name for name in names if name.startswith("-"))
    longest = max(flags or tuple(names), key=len)
    destination = _literal(keywords.get("dest"))
    action = _literal(keywords.get("action"))
    default = _literal(keywords.get("default"))
    choices = _literal_list(keywords.get("choices"))
    switch = action in _SWITCHES or "is_flag" in keywords
    if switch and default is None and action in {"store_true", "store_false", None}:
        default = action == "store_false"
    return Argument(
        name=str(destination or longest.lstrip("-").replace("-", "_")),
        flags=flags,
        type="boolean" if switch else _type(keywords.get("type"), default),
        default=default,
        choices=choices,
        help=str(_literal(keywords.get("help")) or ""),
        takes_value=not switch and "nargs" not in keywords,
        line=node.lineno,
    )


def _type(node: ast.AST | None, default: Scalar | None) -> ParameterType:
    if node is not None:
        return _TYPES.get(dotted(node), "string")
    if isinstance(default, bool):
        return "boolean"
    if isinstance(default, int):
        return "integer"
    return "number" if isinstance(default, float) else "string"


def _literal(node: ast.AST | None) -> Scalar | None:
    if node is None:
        return None
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None
    return value if isinstance(value, str | int | float | bool) else None


def _literal_list(node: ast.AST | None) -> tuple[Scalar, ...]:
    if not isinstance(node, ast.List | ast.Tuple | ast.Set):
        return ()
    values = [_literal(item) for item in node.elts]
    return tuple(value for value in values if value is not None)
