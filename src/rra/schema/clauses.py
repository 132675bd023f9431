"""Which clause of the specification a constraint of a schema states: its ``x-clause``.

A subschema carries ``x-clause`` as a clause id, or as a map from keyword to id (``*`` for the
keywords that are not named). The nearest one on the way from the root of the schema to the
constraint says which clause is broken.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

KEY = "x-clause"
ANY = "*"
Schema = Mapping[str, Any]

_MAPS = ("$defs", "properties", "patternProperties", "dependentSchemas")
_LISTS = ("allOf", "anyOf", "oneOf")
_SINGLE = (
    "additionalProperties",
    "items",
    "contains",
    "propertyNames",
    "not",
    "if",
    "then",
    "else",
)
_LONGEST_CHAIN = 32


def clause_of(schema: Schema, path: Sequence[str | int], otherwise: str) -> str:
    """Return the clause of the constraint that a path of keywords leads to.

    Args:
        schema: The whole schema.
        path: Keywords, names and indexes from its root to the constraint; references are
            followed where the path goes through them.
        otherwise: The clause when no subschema on the way names one.
    """
    found = otherwise
    node: Any = schema
    for step in path:
        for inner in _through(node, schema):
            found = _said(inner, step) or found
            node = inner
        try:
            node = node[step]
        except (KeyError, IndexError, TypeError):
            return found
    return found


def clause_ids(schema: Schema) -> Iterator[str]:
    """Yield every clause id that a schema names."""
    for _, node in subschemas(schema):
        said = node.get(KEY)
        if isinstance(said, str):
            yield said
        elif isinstance(said, Mapping):
            yield from said.values()


def subschemas(
    schema: Any, path: tuple[str | int, ...] = ()
) -> Iterator[tuple[tuple[str | int, ...], Schema]]:
    """Yield a schema and every schema written inside it, each with its path of keywords."""
    if not isinstance(schema, Mapping):
        return
    yield path, schema
    for word in _MAPS:
        for key, inner in schema.get(word, {}).items():
            yield from subschemas(inner, (*path, word, key))
    for word in _LISTS:
        for index, inner in enumerate(schema.get(word, ())):
            yield from subschemas(inner, (*path, word, index))
    for word in _SINGLE:
        yield from subschemas(schema.get(word), (*path, word))


def _through(node: Any, root: Schema) -> Iterator[Any]:
    """Yield a subschema, and those that its references lead to."""
    yield node
    seen = 0
    while isinstance(node, Mapping) and isinstance(node.get("$ref"), str) and seen < _LONGEST_CHAIN:
        node = root.get("$defs", {}).get(node["$ref"].rsplit("/", 1)[-1])
        seen += 1
        if node is not None:
            yield node


def _said(node: Any, keyword: str | int) -> str:
    said = node.get(KEY) if isinstance(node, Mapping) else None
    if isinstance(said, Mapping):
        said = said.get(str(keyword), said.get(ANY))
    return said if isinstance(said, str) else ""
