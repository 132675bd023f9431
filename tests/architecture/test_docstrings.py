"""Every public name says what it is for."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tests.support.source import Module, modules

Documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def public_names(module: Module) -> Iterator[tuple[str, Documented]]:
    """Yield the module, its public functions and classes, and the public methods of those.

    In the module of a lint rule only the class counts: its docstring is the rule's page, and what
    `check` is for is said once, by the base class.
    """
    rule = module.name.startswith("rra.lint.rules.")
    if not rule:
        yield f"{module.path}", module.tree
    for node in module.tree.body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            if node.name.startswith("_"):
                continue
            yield f"{module.path}:{node.lineno} {node.name}", node
            if isinstance(node, ast.ClassDef) and not rule:
                yield from methods(module, node)


def methods(module: Module, owner: ast.ClassDef) -> Iterator[tuple[str, Documented]]:
    for node in owner.body:
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        decorators = {ast.unparse(item) for item in node.decorator_list}
        inherited = decorators & {"override", "typing.override", "overload", "typing.overload"}
        if not node.name.startswith("_") and not inherited:
            yield f"{module.path}:{node.lineno} {owner.name}.{node.name}", node


def test_public_names_have_docstrings() -> None:
    silent = [
        place
        for module in modules()
        for place, node in public_names(module)
        if not ast.get_docstring(node)
    ]
    assert silent == []


def test_the_first_sentence_stands_on_its_own() -> None:
    broken = []
    for module in modules():
        if module.name.startswith("rra.lint.rules."):
            continue
        for place, node in public_names(module):
            first = (ast.get_docstring(node) or "").split("\n\n")[0].strip()
            if first and not first.endswith((".", "?", "!", "::", ":", ")")):
                broken.append(f"{place}: {first!r}")
    assert broken == []
