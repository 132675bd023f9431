"""Apply a JSON Schema to a parsed document and say every fault with file, line and column."""

from __future__ import annotations

import dataclasses
import functools
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from rra._base import resources
from rra._base.yaml import Key, YamlDocument
from rra.errors import Problem
from rra.schema.clauses import clause_of
from rra.schema.formats import format_checker
from rra.schema.keys import nearest, unknown_keys
from rra.schema.patterns import pattern_keyword
from rra.schema.versions import is_newer_minor, unknown_word, version_problem

Schema = Mapping[str, Any]

OPEN = "x-open"
"""Keyword that names the keyword beside it that is a list which minor versions add words to."""

_SCALAR = re.compile(r"[^:]*:\s+([-+.\w]+)")
_TEXT_FIELDS = {"arxiv", "commit", "reported", "python", "version", "rra", "as_of", "observed"}


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
    """Leave out that a value is no word of a list where it is not even of the type of one."""
    found = list(errors)
    typed = {_subschema(error) for error in found if error.validator == "type"}
    return [
        error
        for error in found
        if error.validator not in {"enum", "const"} or _subschema(error) not in typed
    ]


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
    message, hint = _explain(error, path, document)
    clause = clause_of(schema, list(error.absolute_schema_path), otherwise)
    problem = document.problem(path, message, clause=clause, hint=hint)
    key = _faulty_key(error)
    if key is None:
        return problem
    line, column = document.position([*path, key])
    return dataclasses.replace(problem, line=line, column=column)


def _faulty_key(error: Any) -> str | None:
    """Return the key that is the fault itself; the pointer stays that of its object."""
    if "propertyNames" in error.absolute_schema_path:
        return str(error.instance)
    return str(_surplus(error)[0]) if error.validator == "additionalProperties" else None


def _explain(error: Any, path: list[Key], document: YamlDocument) -> tuple[str, str]:
    """Return message and hint of a schema error in the words of the format."""
    name = str(path[-1]) if path else "the document"
    if _is_unquoted(error, name):
        return _explain_unquoted(error, path, document)
    if "propertyNames" in error.absolute_schema_path:
        return _explain_key(error, name)
    explain = _EXPLAINERS.get(error.validator, _explain_other)
    return explain(error, name, _shorten(error.instance))


def _is_unquoted(error: Any, name: str) -> bool:
    """Tell whether a number stands where the format wants its text."""
    number = isinstance(error.instance, int | float) and not isinstance(error.instance, bool)
    wanted = error.validator_value if error.validator == "type" else ()
    text = wanted == "string" or (isinstance(wanted, list) and "string" in wanted)
    return number and (text or (error.validator == "oneOf" and name in _TEXT_FIELDS))


def _explain_unquoted(error: Any, path: list[Key], document: YamlDocument) -> tuple[str, str]:
    written = _as_written(document, path, error.instance)
    names = [key for key in path if isinstance(key, str)]
    item = bool(path) and isinstance(path[-1], int)
    what = f"an item of {names[-1]}" if item and names else str(path[-1] if path else "it")
    message = f"{what} must be text, not the number {written}"
    return message, f'quote it: "{written}"' if item else f'quote it: {what}: "{written}"'


def _as_written(document: YamlDocument, path: list[Key], value: float) -> str:
    """Return a number with the digits that stand in the text, which its value has lost."""
    line, column = document.position(path)
    lines = document.text.split("\n", line)
    rest = lines[line - 1][column - 1 :] if line <= len(lines) else ""
    found = _SCALAR.match(f"key: {rest}" if path and isinstance(path[-1], int) else rest)
    try:
        return found[1] if found is not None and float(found[1]) == value else str(value)
    except ValueError:
        return str(value)


def _explain_required(error: Any, name: str, value: str) -> tuple[str, str]:
    del value
    missing = [key for key in error.validator_value if key not in error.instance]
    unknown = [key for key in error.instance if key not in error.schema.get("properties", ())]
    near = [(key, nearest(key, map(str, unknown[:_RENAMED]))) for key in missing]
    renames = [f"{found} into {key}" for key, found in near if found]
    names = ", ".join(missing)
    hint = f"rename {', '.join(renames)}" if renames else f"add {names} under {name}"
    return f"{name} lacks the required key {names}", hint


def _explain_type(error: Any, name: str, value: str) -> tuple[str, str]:
    wanted = error.validator_value
    wanted = wanted if isinstance(wanted, str) else " or ".join(wanted)
    return f"{name} must be of type {wanted}, not {value}", _SEE_PAGE


def _explain_enum(error: Any, name: str, value: str) -> tuple[str, str]:
    allowed = [str(item) for item in error.validator_value]
    if len(allowed) == 1 and error.schema.get("description"):
        return f"{name} is {value}, not {allowed[0]}", error.schema["description"]
    message = f"{name} is {value}, which is none of {', '.join(allowed)}"
    return message, _nearest_hint(str(error.instance), allowed)


def _explain_key(error: Any, name: str) -> tuple[str, str]:
    """Say what is wrong with a key; its object is what the schema is applied to."""
    key = _shorten(error.instance)
    if error.validator == "enum":
        return f"key {key} of {name} does not belong there", "leave it out"
    described = error.schema.get("description", "") if error.validator == "pattern" else ""
    return f"key {key} of {name} does not fit: {described or _limit(error.message)}", "rename it"


def _explain_other(error: Any, name: str, value: str) -> tuple[str, str]:
    del value
    choices = [choice.get("required") for choice in error.schema.get("oneOf", ())]
    if error.validator == "oneOf" and choices and all(choices):
        keys = ", ".join(key for keys in choices for key in keys)
        what = "locator" if name == "selector" else f"of {keys}"
        return f"{name} must have exactly one {what}", f"give one of {keys}"
    wanted = [choice.get("required") for choice in error.schema.get("anyOf", ())]
    if error.validator == "anyOf" and all(wanted):
        keys = " or ".join(key for keys in wanted for key in keys)
        return f"{name} lacks {keys}", f"add one of them under {name}"
    return f"{name}: {_limit(error.message)}", _SEE_PAGE


def _explain_pattern(error: Any, name: str, value: str) -> tuple[str, str]:
    """Say what is wrong with a text; unsafe paths are the common case."""
    text = str(error.instance)
    described = error.schema.get("description", "")
    if error.validator is None:
        return f"{name} does not belong here", "leave it out"
    inside = "copy the file into the artifact and name it by its place there"
    if text.startswith("/") and "swh" not in error.validator_value:
        return f"{name} is the absolute path {value}", inside
    if ".." in text.split("/"):
        return f"{name} is {value}, a path that climbs out of the artifact", inside
    return f"{name} is {value}, which does not fit: {described}", "correct the value"


def _explain_surplus(error: Any, name: str, value: str) -> tuple[str, str]:
    del value
    known = error.schema.get("properties", {})
    surplus = ", ".join(str(key) for key in _surplus(error))
    near = nearest(str(_surplus(error)[0]), known)
    hint = f"did you mean {near}?" if near else f"known: {', '.join(known)}"
    return f"{name} must not have the key {_limit(surplus, 80)}", hint


def _surplus(error: Any) -> list[Any]:
    known = error.schema.get("properties", {})
    patterns = error.schema.get("patternProperties", {})
    return [
        key
        for key in error.instance
        if key not in known and not any(re.search(pattern, str(key)) for pattern in patterns)
    ]


_SEE_PAGE = "see the page of this object in the specification"
_RENAMED = 100
"""Unknown keys among which the one meant for a missing key is looked for: it takes a while."""
_EXPLAINERS: dict[str, Callable[[Any, str, str], tuple[str, str]]] = {
    "required": _explain_required,
    "type": _explain_type,
    "enum": _explain_enum,
    "pattern": _explain_pattern,
    "additionalProperties": _explain_surplus,
}


def _shorten(value: object) -> str:
    return _limit(repr(value), 80)


def _limit(text: str, length: int = 300) -> str:
    return text if len(text) <= length else text[: length - 1] + "…"


def _nearest_hint(word: str, known: Iterable[str]) -> str:
    near = nearest(word, known)
    return f"did you mean {near}?" if near else "choose one of them"
