"""Keys that a schema does not know, and keys that it no longer wants: warnings, never faults."""

from __future__ import annotations

import dataclasses
import difflib
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from rra._base.yaml import Key, YamlDocument
from rra.errors import Problem

UNKNOWN_KEY = "documents/unknown-key"
"""Clause about keys that a schema does not know."""

DEPRECATED = "versioning/deprecated-fields"
"""Clause about keys that a schema marks as ``deprecated``."""

REPLACED_BY = "x-replaced-by"
"""Where a deprecated subschema says what to write instead."""

_NEAR = 0.6
_NEAR_SAME_START = 0.55
_SUGGESTIONS = 100
"""Unknown keys of a document for which the nearest known one is looked for: it takes a while."""

Schema = Mapping[str, Any]
_KINDS = {dict: "object", list: "array", str: "string", bool: "boolean"}


@dataclasses.dataclass
class _Known:
    """What the parts of a schema that apply to a value say of its keys and items."""

    properties: dict[str, Schema] = dataclasses.field(default_factory=dict)
    patterns: dict[str, Schema] = dataclasses.field(default_factory=dict)
    other: Schema | None = None
    items: Schema | None = None
    deprecated: Schema | None = None


def nearest(word: str, known: Iterable[str]) -> str | None:
    """Return the known word that is most like one that is not, if any is like it.

    Words with the same first letter may differ more: two letters in each other's place count
    as four different ones.
    """
    names = list(known)
    found = difflib.get_close_matches(word, names, n=1, cutoff=_NEAR)
    if not found:
        same = [name for name in names if name[:1] == word[:1]]
        found = difflib.get_close_matches(word, same, n=1, cutoff=_NEAR_SAME_START)
    return found[0] if found else None


def unknown_keys(document: YamlDocument, schema: Schema) -> Iterator[Problem]:
    """Yield a warning for each unknown key, which is kept, and for each deprecated one."""
    yield from _Walk(document, schema).look(document.data, (schema,), ())


class _Walk:
    """A way through a document beside its schema."""

    def __init__(self, document: YamlDocument, root: Schema) -> None:
        self._document, self._root = document, root
        self._unknown = 0

    def look(
        self, data: object, schemas: tuple[Schema, ...], path: tuple[Key, ...]
    ) -> Iterator[Problem]:
        """Yield the warnings about a value and everything in it."""
        known = _Known()
        for schema in schemas:
            _gather(schema, self._root, data, known)
        if known.deprecated is not None and path:
            yield _deprecated(self._document, path, known.deprecated)
        if isinstance(data, list) and known.items is not None:
            for index, item in enumerate(data):
                yield from self.look(item, (known.items,), (*path, index))
        if not isinstance(data, dict):
            return
        for key, value in data.items():
            here = (*path, str(key))
            inner = _inner(str(key), known)
            if inner:
                yield from self.look(value, inner, here)
            elif known.properties and known.other is None and not str(key).startswith("x-"):
                self._unknown += 1
                wanted = known.properties if self._unknown <= _SUGGESTIONS else {}
                yield _unknown(self._document, here, wanted)


def _inner(key: str, known: _Known) -> tuple[Schema, ...]:
    """Return the schemas that a key's value has to keep to."""
    found = [known.properties[key]] if key in known.properties else []
    found += [inner for pattern, inner in known.patterns.items() if re.search(pattern, key)]
    if not found and known.other is not None:
        found.append(known.other)
    return tuple(found)


def _gather(schema: Any, root: Schema, data: object, known: _Known) -> None:
    """Collect what a schema, its references and the alternatives that fit the data say."""
    if not isinstance(schema, Mapping):
        return
    if schema.get("deprecated") is True:
        known.deprecated = schema
    for part in _parts(schema, root, data):
        _gather(part, root, data, known)
    known.properties |= schema.get("properties", {})
    known.patterns |= schema.get("patternProperties", {})
    if isinstance(schema.get("additionalProperties"), Mapping):
        known.other = schema["additionalProperties"]
    elif schema.get("additionalProperties") is False:
        known.other = {}  # the schema refuses other keys itself
    if isinstance(schema.get("items"), Mapping):
        known.items = schema["items"]


def _parts(schema: Schema, root: Schema, data: object) -> Iterator[Any]:
    """Yield the schemas that hold as well: the one referred to, and the alternatives that fit."""
    if "$ref" in schema:
        yield root.get("$defs", {}).get(str(schema["$ref"]).rsplit("/", 1)[-1])
    yield from schema.get("allOf", ())
    for part in (*schema.get("oneOf", ()), *schema.get("anyOf", ())):
        if isinstance(part, Mapping) and _fits(part, root, data):
            yield part


def _fits(schema: Schema, root: Schema, data: object) -> bool:
    """Tell whether an alternative is about this kind of data, and about an object of its kind."""
    while "$ref" in schema:
        schema = root.get("$defs", {}).get(str(schema["$ref"]).rsplit("/", 1)[-1], {})
    wanted = schema.get("type")
    kind = _KINDS.get(type(data), "other")
    if isinstance(data, dict):
        for key, inner in schema.get("properties", {}).items():
            if "const" in inner and key in data and data[key] != inner["const"]:
                return False
    return wanted is None or kind == wanted or (isinstance(wanted, list) and kind in wanted)


def _unknown(document: YamlDocument, path: tuple[Key, ...], known: Mapping[str, Schema]) -> Problem:
    key = str(path[-1])
    near = nearest(key, known)
    hint = f"did you mean {near}?" if near else "kept as it is; x-… names are free"
    message = f"unknown key {key!r}" + (f", nearest known key {near}" if near else "")
    return document.problem(path, message, clause=UNKNOWN_KEY, hint=hint, severity="warning")


def _deprecated(document: YamlDocument, path: tuple[Key, ...], schema: Schema) -> Problem:
    instead = schema.get(REPLACED_BY)
    message = f"{path[-1]} is deprecated"
    hint = f"write {instead} instead" if instead else "leave it out: nothing acts on it"
    return document.problem(path, message, clause=DEPRECATED, hint=hint, severity="warning")
