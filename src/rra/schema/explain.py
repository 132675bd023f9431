"""Say a fault of a JSON Schema in the words of the format: what is wrong, and what to write."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from rra._base.yaml import Key, YamlDocument, scalar
from rra.schema.keys import nearest
from rra.schema.patterns import compiled

Schema = Mapping[str, Any]
Said = tuple[str, str]

_SCALAR = re.compile(r"[^:]*:\s+([-+.\w]+)")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?")
_TEXT_FIELDS = {"arxiv", "commit", "reported", "python", "version", "rra", "as_of", "observed"}
_TYPES = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "a map",
    "null": "null",
}
_FORMS = {
    "boolean": "write true or false",
    "object": "write a map: keys with their values, indented under {name}",
}
_SEE_PAGE = "see the page of this object in the specification"
_INSIDE = "copy the file into the artifact and name it by its place there"
_OF_OUTPUT = "name it relative to the output directory of the launcher"
_RENAMED = 100
"""Unknown keys among which the one meant for a missing key is looked for: it takes a while."""
_LONGEST_EXAMPLE = 100


def explain(error: Any, path: list[Key], document: YamlDocument, schema: Schema) -> Said:
    """Return message and hint of a schema error in the words of the format.

    Args:
        error: The error, of the package *jsonschema*.
        path: The value that it is about.
        document: Where that value stands.
        schema: The whole schema.
    """
    name = _name(path)
    if _is_unquoted(error, name):
        return _explain_unquoted(error, path, document)
    if "propertyNames" in error.absolute_schema_path:
        return _explain_key(error, name)
    if error.validator == "required":
        return _explain_required(error, name, schema, is_top=not path)
    if error.instance is None and error.validator in {"type", "oneOf", "anyOf"}:
        return f"{name} has no value", "give it one, or leave the key out if it is optional"
    if error.validator == "pattern" and _is_output(path):
        message, hint = _explain_pattern(error, name, _shorten(error.instance))
        return message, _OF_OUTPUT if hint == _INSIDE else hint
    say = _EXPLAINERS.get(error.validator, _explain_other)
    return say(error, name, _shorten(error.instance))


def faulty_key(error: Any) -> str | None:
    """Return the key that is the fault itself; the pointer stays that of its object."""
    if "propertyNames" in error.absolute_schema_path:
        return str(error.instance)
    return str(_surplus(error)[0]) if error.validator == "additionalProperties" else None


def _name(path: list[Key]) -> str:
    """Name a value as its reader would: by its key, or as which item of a list."""
    if not path:
        return "the document"
    last = path[-1]
    names = [key for key in path if isinstance(key, str)]
    if isinstance(last, str):
        return last
    return f"item {last + 1} of {names[-1]}" if names else f"item {last + 1}"


def _is_output(path: list[Key]) -> bool:
    """Tell whether a value names a file that a run leaves."""
    names = [key for key in path if isinstance(key, str)]
    return names[-1:] == ["file"] or "outputs" in names[-2:]


# ------------------------------------------------------------------------- quotes and types


def _is_unquoted(error: Any, name: str) -> bool:
    """Tell whether a number, or true or false, stands where the format wants its text."""
    wanted = error.validator_value if error.validator == "type" else ()
    types = [wanted] if isinstance(wanted, str) else list(wanted) if wanted else []
    if not isinstance(error.instance, int | float):
        return False
    return "string" in types or (error.validator == "oneOf" and name in _TEXT_FIELDS)


def _explain_unquoted(error: Any, path: list[Key], document: YamlDocument) -> Said:
    name = _name(path)
    if isinstance(error.instance, bool):
        written = what = json.dumps(error.instance)
    else:
        written = _as_written(document, path, error.instance)
        what = f"the number {written}"
    is_key = bool(path) and isinstance(path[-1], str)
    hint = f'quote it: {name}: "{written}"' if is_key else f'quote it: "{written}"'
    return f"{name} must be text, not {what}", hint


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


def _explain_type(error: Any, name: str, value: str) -> Said:
    wanted = error.validator_value
    types = [wanted] if isinstance(wanted, str) else list(wanted)
    words = " or ".join(_TYPES[one] for one in types)
    return f"{name} must be {words}, not {value}", _hint_of_type(types, error.instance, name, value)


def _hint_of_type(types: list[str], found: Any, name: str, value: str) -> str:
    """Say how the value is written that was meant."""
    if isinstance(found, str) and _is_meant(types, found):
        return f"write it without quotes: {found}"
    if types == ["array"]:
        return _hint_of_list(found, value)
    return _FORMS.get(" ".join(types), _SEE_PAGE).format(name=name)


def _is_meant(types: list[str], text: str) -> bool:
    """Tell whether a text without its quotes is of the type that is wanted."""
    number = _NUMBER.fullmatch(text)
    if number is None:
        return "boolean" in types and text in {"true", "false"}
    return "number" in types or ("integer" in types and number[1] is None)


def _hint_of_list(found: Any, value: str) -> str:
    if isinstance(found, dict) or len(value) > _LONGEST_EXAMPLE:
        return "write a list: each item on a line of its own, after a dash and a space"
    is_plain = isinstance(found, str) and found.isprintable()
    return f"write a list: [{scalar(found) if is_plain else value}]"


# --------------------------------------------------------------------------- other keywords


def _explain_required(error: Any, name: str, schema: Schema, *, is_top: bool) -> Said:
    missing = [key for key in error.validator_value if key not in error.instance]
    unknown = [key for key in error.instance if key not in error.schema.get("properties", ())]
    near = [(key, nearest(key, map(str, unknown[:_RENAMED]))) for key in missing]
    renames = [f"{found} into {key}" for key, found in near if found]
    names = ", ".join(missing)
    message = f"{name} lacks the required key {names}"
    if renames:
        return message, f"rename {', '.join(renames)}"
    where = "at the top of the document" if is_top else f"under {name}"
    example = _example(error.schema, missing[0], schema) if len(missing) == 1 else ""
    return message, f"add {names} {where}{example and f', such as {example}'}"


def _example(parent: Schema, key: str, schema: Schema) -> str:
    """Return a key with the first example that the schema has of its value, or nothing."""
    part = parent.get("properties", {}).get(key, {})
    target = schema.get("$defs", {}).get(str(part.get("$ref", "")).rsplit("/", 1)[-1], {})
    examples = part.get("examples") or target.get("examples") or []
    if not examples:
        return ""
    first = examples[0]
    written = _json(first) if isinstance(first, dict | list) else scalar(first)
    return f"{key}: {written}" if len(written) <= _LONGEST_EXAMPLE else ""


def _explain_enum(error: Any, name: str, value: str) -> Said:
    allowed = [item if isinstance(item, str) else _json(item) for item in error.validator_value]
    if len(allowed) == 1 and error.schema.get("description"):
        return f"{name} is {value}, not {allowed[0]}", error.schema["description"]
    message = f"{name} is {value}, which is none of {', '.join(allowed)}"
    return message, _nearest_hint(str(error.instance), allowed)


def _explain_key(error: Any, name: str) -> Said:
    """Say what is wrong with a key; its object is what the schema is applied to."""
    key = _shorten(error.instance)
    if error.validator == "enum":
        return f"key {key} of {name} does not belong there", "leave it out"
    described = error.schema.get("description", "") if error.validator == "pattern" else ""
    return f"key {key} of {name} does not fit: {described or _limit(error.message)}", "rename it"


def _explain_other(error: Any, name: str, value: str) -> Said:
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


def _explain_not(error: Any, name: str, value: str) -> Said:
    """Say what a value must not be; the value is not repeated, as it may hold a password."""
    clauses = error.schema.get("x-clause")
    clause = clauses.get("not", "") if isinstance(clauses, Mapping) else ""
    if clause.endswith("-without-credentials"):
        message = f"{name} holds a user name or password"
        return message, "leave it out: give the address without what stands before the @"
    described = error.schema.get("description", "")
    if not described:
        return _explain_other(error, name, value)
    return f"{name} does not fit: {described}", "correct the value"


def _explain_empty(error: Any, name: str, value: str) -> Said:
    if error.instance:
        return _explain_other(error, name, value)
    return f"{name} is empty", f"give {name} a value, or leave it out if it is optional"


def _explain_repeated(error: Any, name: str, value: str) -> Said:
    del error, value
    return f"{name} has the same item twice", "keep one of them"


def _explain_pattern(error: Any, name: str, value: str) -> Said:
    """Say what is wrong with a text; unsafe paths are the common case."""
    text = str(error.instance)
    described = error.schema.get("description", "")
    if error.validator is None:
        return f"{name} does not belong here", "leave it out"
    if text.startswith("/") and "swh" not in error.validator_value and name != "json":
        return f"{name} is the absolute path {value}", _INSIDE
    if ".." in text.split("/"):
        return f"{name} is {value}, a path that climbs out of the artifact", _INSIDE
    hint = "correct the value"
    if name == "json" and compiled(error.validator_value).search(f"/{text}"):
        hint = f"begin it with a slash: {_limit('/' + text, 80)}"
    return f"{name} is {value}, which does not fit: {described}", hint


def _explain_surplus(error: Any, name: str, value: str) -> Said:
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


_EXPLAINERS: dict[str, Callable[[Any, str, str], Said]] = {
    "type": _explain_type,
    "enum": _explain_enum,
    "pattern": _explain_pattern,
    "additionalProperties": _explain_surplus,
    "not": _explain_not,
    "minItems": _explain_empty,
    "minProperties": _explain_empty,
    "minLength": _explain_empty,
    "uniqueItems": _explain_repeated,
}


def _json(value: Any) -> str:
    """Write a value as JSON and YAML do, not as Python does."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if text.isprintable() else json.dumps(value, default=str)


def _shorten(value: object) -> str:
    return _limit(repr(value) if isinstance(value, str) else _json(value), 80)


def _limit(text: str, length: int = 300) -> str:
    return text if len(text) <= length else text[: length - 1] + "…"


def _nearest_hint(word: str, known: Iterable[str]) -> str:
    near = nearest(word, known)
    return f"did you mean {near}?" if near else "choose one of them"
