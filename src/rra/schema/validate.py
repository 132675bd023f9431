"""Apply a JSON Schema to a parsed document and say every fault with file, line and column."""

from __future__ import annotations

import difflib
import functools
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from rra._base import resources
from rra._base.yaml import Key, YamlDocument
from rra.errors import Problem
from rra.schema.clauses import clause_of

Schema = Mapping[str, Any]

_TEXT_FIELDS = {"arxiv", "commit", "reported", "python", "version", "rra", "as_of", "observed"}
_NEAR = 0.6
UNKNOWN_KEY = "documents/unknown-key"
"""Clause about keys that a schema does not know."""


@functools.cache
def load_schema(name: str) -> dict[str, Any]:
    """Return a shipped schema of the current major version, such as ``manifest``."""
    loaded: dict[str, Any] = json.loads(resources.schema_path(name).read_text("utf-8"))
    return loaded


@functools.cache
def _validator(name: str) -> Any:
    from jsonschema import Draft202012Validator

    return Draft202012Validator(load_schema(name))


def check_document(document: YamlDocument, name: str) -> list[Problem]:
    """Return all faults of a document against a schema, and its unknown keys as warnings.

    Args:
        document: A parsed document.
        name: Name of the schema, such as ``manifest``.
    """
    faults = [
        _problem(document, leaf, name)
        for error in _validator(name).iter_errors(document.data)
        for leaf in _leaves(error)
    ]
    warnings = list(unknown_keys(document, load_schema(name), name))
    key = lambda problem: (problem.line or 0, problem.column or 0, problem.message)  # noqa: E731
    return sorted(dict.fromkeys(faults), key=key) + sorted(warnings, key=key)


def _leaves(error: Any) -> Iterator[Any]:
    """Replace an error about alternatives by the errors of the alternative meant."""
    if error.validator not in {"oneOf", "anyOf"} or not error.context:
        yield error
        return
    by_branch: dict[int, list[Any]] = {}
    for inner in error.context:
        by_branch.setdefault(inner.schema_path[0], []).append(inner)
    same_type = [
        branch
        for branch in by_branch.values()
        if not any(e.validator == "type" and len(e.path) == 0 for e in branch)
    ]
    if len(same_type) == 1:
        for inner in same_type[0]:
            yield from _leaves(inner)
    else:
        yield error


def _problem(document: YamlDocument, error: Any, name: str) -> Problem:
    path: list[Key] = list(error.absolute_path)
    message, hint = _explain(error, path)
    if document.data is None:
        message = "the file has only comments" if document.text.strip() else "the file is empty"
        hint = "write the document, or remove the file"
    keywords = list(error.absolute_schema_path)
    clause = clause_of(load_schema(name), keywords, f"{name}/schema")
    return document.problem(path, message, clause=clause, hint=hint)


def _explain(error: Any, path: list[Key]) -> tuple[str, str]:
    """Return message and hint of a schema error in the words of the format."""
    name = str(path[-1]) if path else "the document"
    if (
        error.validator in {"type", "oneOf"}
        and name in _TEXT_FIELDS
        and isinstance(error.instance, int | float)
    ):
        message = f"{name} must be text, not the number {error.instance!r}"
        return message, f'quote it: {name}: "{error.instance}"'
    explain = _EXPLAINERS.get(error.validator, _explain_other)
    return explain(error, name, _shorten(error.instance))


def _explain_required(error: Any, name: str, value: str) -> tuple[str, str]:
    del value
    missing = ", ".join(key for key in error.validator_value if key not in error.instance)
    return f"{name} lacks the required key {missing}", f"add {missing} under {name}"


def _explain_type(error: Any, name: str, value: str) -> tuple[str, str]:
    wanted = error.validator_value
    wanted = wanted if isinstance(wanted, str) else " or ".join(wanted)
    return f"{name} must be of type {wanted}, not {value}", _SEE_PAGE


def _explain_enum(error: Any, name: str, value: str) -> tuple[str, str]:
    allowed = [str(item) for item in error.validator_value]
    message = f"{name} is {value}, which is none of {', '.join(allowed)}"
    return message, _nearest_hint(str(error.instance), allowed)


def _explain_other(error: Any, name: str, value: str) -> tuple[str, str]:
    del value
    if error.validator == "oneOf" and name == "selector":
        hint = "give one of json, csv, regex, npz, cell, tensorboard, mlflow"
        return "selector must have exactly one locator", hint
    wanted = [choice.get("required") for choice in error.schema.get("anyOf", ())]
    if error.validator == "anyOf" and all(wanted):
        keys = " or ".join(key for keys in wanted for key in keys)
        return f"{name} lacks {keys}", f"add one of them under {name}"
    return f"{name}: {error.message}", _SEE_PAGE


def _explain_pattern(error: Any, name: str, value: str) -> tuple[str, str]:
    """Say what is wrong with a text; unsafe paths are the common case."""
    text = str(error.instance)
    inside = "copy the file into the artifact and name it by its place there"
    if text.startswith("/") and "swh" not in error.validator_value:
        return f"{name} is the absolute path {value}", inside
    if ".." in text.split("/"):
        return f"{name} is {value}, a path that climbs out of the artifact", inside
    described = error.schema.get("description", "")
    return f"{name} is {value}, which does not fit: {described}", "correct the value"


_SEE_PAGE = "see the page of this object in the specification"
_EXPLAINERS: dict[str, Callable[[Any, str, str], tuple[str, str]]] = {
    "required": _explain_required,
    "type": _explain_type,
    "enum": _explain_enum,
    "pattern": _explain_pattern,
}


def _shorten(value: object, limit: int = 80) -> str:
    text = repr(value)
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _nearest_hint(word: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(word, list(known), n=1, cutoff=_NEAR)
    return f"did you mean {near[0]}?" if near else "choose one of them"


def unknown_keys(document: YamlDocument, schema: Schema, name: str) -> Iterator[Problem]:
    """Yield a warning for each key that the schema does not know; such keys are kept."""
    yield from _unknown(document, document.data, schema, schema, (), name)


def _unknown(
    document: YamlDocument,
    data: object,
    schema: Schema,
    root: Schema,
    path: tuple[Key, ...],
    name: str,
) -> Iterator[Problem]:
    schema = _resolve(schema, root, data)
    if isinstance(data, list):
        for index, item in enumerate(data):
            inner = schema.get("items", {})
            yield from _unknown(document, item, inner, root, (*path, index), name)
    if not isinstance(data, dict):
        return
    known = schema.get("properties", {})
    other = schema.get("additionalProperties")
    for key, value in data.items():
        here = (*path, str(key))
        if key in known:
            yield from _unknown(document, value, known[key], root, here, name)
        elif isinstance(other, dict):
            yield from _unknown(document, value, other, root, here, name)
        elif known and not str(key).startswith("x-"):
            near = difflib.get_close_matches(str(key), list(known), n=1, cutoff=_NEAR)
            hint = f"did you mean {near[0]}?" if near else "kept as it is; x-… names are free"
            message = f"unknown key {key!r}" + (f", nearest known key {near[0]}" if near else "")
            yield document.problem(here, message, clause=UNKNOWN_KEY, hint=hint, severity="warning")


def _resolve(schema: Schema, root: Schema, data: object) -> Schema:
    """Follow a local reference and choose the alternative that fits the kind of data."""
    while "$ref" in schema:
        schema = root["$defs"][schema["$ref"].rsplit("/", 1)[1]]
    if "oneOf" in schema and "properties" not in schema and isinstance(data, dict | list):
        wanted = "object" if isinstance(data, dict) else "array"
        for choice in schema["oneOf"]:
            branch = _resolve(choice, root, data)
            if branch.get("type") == wanted:
                return branch
    return schema
