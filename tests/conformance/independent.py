"""x"""

from __future__ import annotations

import functools
import json
from typing import Any

import regress
from jsonschema import Draft202012Validator, ValidationError
from jsonschema.validators import extend

from tests.support.source import ROOT


@functools.cache
def compiled(pattern: str) -> Any:
    return regress.Regex(pattern, "u")


def pattern(validator: Any, pattern: str, instance: Any, schema: Any) -> Any:
    if isinstance(instance, str) and compiled(pattern).find(instance) is None:
        yield ValidationError(f"{instance!r} does not match {pattern!r}")


Validator: Any = extend(  # type: ignore[no-untyped-call]
    Draft202012Validator, {"pattern": pattern}
)


@functools.cache
def validator(name: str) -> Any:
    return Validator(json.loads((ROOT / "schemas/v1" / f"{name}.schema.json").read_text("utf-8")))
