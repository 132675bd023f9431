"""A second checker of the stages yaml and schema, written from the specification alone.

It shares no code with `rra`: `independent_text` reads, `jsonschema` applies the schemas, whose
patterns are ECMA-262 (`regress`), as JSON Schema has it. `refused_at` names the stage.
"""

from __future__ import annotations

import functools
import json
import re
from pathlib import Path
from typing import Any

import regress
from jsonschema import Draft202012Validator, FormatChecker, ValidationError, validators
from ruamel.yaml.error import YAMLError

from tests.conformance.independent_text import from_json, from_yaml

SCHEMAS = Path(__file__).resolve().parents[2] / "schemas" / "v1"


@functools.cache
def compiled(pattern: str) -> Any:
    return regress.Regex(pattern, "u")


def ecma(validator: Any, pattern: str, instance: Any, schema: Any) -> Any:
    if isinstance(instance, str) and compiled(pattern).find(instance) is None:
        yield ValidationError(f"{instance!r} does not match {pattern!r}")


Validator: Any = validators.extend(Draft202012Validator, {"pattern": ecma})  # type: ignore[no-untyped-call]


@functools.cache
def validator(name: str) -> Any:
    schema = json.loads((SCHEMAS / f"{name}.schema.json").read_text(encoding="utf-8"))
    return Validator(schema, format_checker=FormatChecker())


def free(fault: ValidationError, made: Any) -> bool:
    """Tell whether a word may be one that the newer minor number of its document added."""
    given: Any = fault.instance
    version = str(made.get("rra")) if isinstance(made, dict) else ""
    newer = re.fullmatch("1[.][0-9]*[1-9][0-9]*", version)
    if not newer or fault.schema.get("x-open") != fault.validator:  # type: ignore[union-attr]
        return False
    if not isinstance(given, dict):
        return isinstance(given, str)
    known: Any = fault.schema["properties"]  # type: ignore[index]
    return bool(fault.context) and any(key not in known and key[:2] != "x-" for key in given)


def refused_at(data: bytes, document: str) -> str:
    """Return the stage that refuses the bytes of a document, or nothing."""
    read = from_yaml if document in {"manifest", "settings", "repairs", "references"} else from_json
    try:
        made = read(data)
    except (ValueError, YAMLError, RecursionError):
        return "yaml"
    faults = [one for one in validator(document).iter_errors(made) if not free(one, made)]
    return "schema" if faults else ""
