"""Apply a JSON Schema to a parsed document and say every fault with file, line and column."""

from __future__ import annotations

import dataclasses
import functools
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from rra._base import resources
from rra._base.yaml import Key, YamlDocument
from rra.errors import Problem
from rra.schema.clauses import clause_of
from rra.schema.explain import explain, faulty_key
from rra.schema.formats import format_checker
from rra.schema.keys import unknown_keys
from rra.schema.patterns import pattern_keyword
from rra.schema.versions import is_newer_minor, unknown_word, version_problem

Schema = Mapping[str, Any]

OPEN = "x-open"
"""Keyword that names the keyword beside it that is a list which minor versions add words to."""


@functools.cache
def load_schema(name: str) -> dict[str, Any]:
    """Return a shipped schema of the current major version, such as ``manifest``."""
    loaded: dict[str, Any] = json.loads(resources.schema_path(name).read_text("utf-8"))
    return loaded


@functools.cache
def _shipped(name: str) -> Any:
    return _validator(load_schema(name))


@functools.cache
def _dialect() -> Any:
    from jsonschema import Draft202012Validator, validators

    return validators.extend(Draft202012Validator, {"pattern": pattern_keyword})  # type: ignore[no-untyped-call]


def _validator(schema: Schema) -> Any:
    return _dialect()(schema, format_checker=format_checker())


def check_document(document: YamlDocument, name: str) -> list[Problem]:
    """Return all faults of a document against a schema, and warnings about its keys.

    Args:
        document: A parsed document.
        name: Name of the schema, such as ``manifest``.
    """
    schema = load_schema(name)
    version = version_problem(document) if "rra" in schema.get("properties", {}) else None
    if version is not None and version.severity == "error":
        clause = clause_of(schema, ("properties", "rra", "pattern"), version.clause)
        return [dataclasses.replace(version, clause=clause)]
    found = _check(document, schema, _shipped(name), f"{name}/schema")
    return found if version is None else [*found, version]


def check_against(document: YamlDocument, schema: Schema, clause: str) -> list[Problem]:
    """Return all faults of a document against any schema, and warnings about its keys.

    Args:
        document: A parsed document.
        schema: The schema.
        clause: The clause of constraints for which the schema names none.
    """
    return _check(document, schema, _validator(schema), clause)


def _check(document: YamlDocument, schema: Schema, validator: Any, clause: str) -> list[Problem]:
    newer = is_newer_minor(document.data)
    faults: list[Problem] = []
    warnings = list(unknown_keys(document, schema))
    for error in _without_echoes(validator.iter_errors(document.data)):
        if newer and _is_open(error):
            warnings.append(unknown_word(document, list(error.absolute_path)))
        else:
            leaves = _without_echoes(_leaves(error))
            faults += [_problem(document, leaf, schema, clause) for leaf in leaves]
    key = lambda problem: (problem.line or 0, problem.column or 0, problem.message)  # noqa: E731
    return sorted(dict.fromkeys(faults), key=key) + sorted(warnings, key=key)


def _without_echoes(errors: Iterable[Any]) -> list[Any]:
    """Leave out what else a subschema says of a value that is not even of its type."""
    found = list(errors)
    typed = {_subschema(error) for error in found if error.validator == "type"}
    return [error for error in found if error.validator == "type" or _subschema(error) not in typed]


def _subschema(error: Any) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    return tuple(error.absolute_path), tuple(error.absolute_schema_path)[:-1]


def _is_open(error: Any) -> bool:
    """Tell whether an error only says that a word of an open list is not known here."""
    if error.schema.get(OPEN) != error.validator:
        return False
    if error.validator == "enum":
        return isinstance(error.instance, str)
    known = error.schema.get("properties", {})
    strange = [key for key in error.instance if key not in known and not key.startswith("x-")]
    return bool(strange and error.context)


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


def _problem(document: YamlDocument, error: Any, schema: Schema, otherwise: str) -> Problem:
    path: list[Key] = list(error.absolute_path)
    message, hint = explain(error, path, document, schema)
    clause = clause_of(schema, list(error.absolute_schema_path), otherwise)
    problem = document.problem(path, message, clause=clause, hint=hint)
    key = faulty_key(error)
    if key is None:
        return problem
    line, column = document.position([*path, key])
    return dataclasses.replace(problem, line=line, column=column)
