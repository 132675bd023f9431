"""The patterns of the schemas, read as JSON Schema has them: regular expressions of ECMA-262.

The schemas keep to what ECMA-262 and Python share (no escapes for classes, no dot), but for one
sign: ``$`` is the end of the text, where Python also takes it for the place in front of a last
line feed.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from typing import Any

_PARTS = re.compile(r"\\.|\[(?:\\.|[^\]\\])*\]|\$", re.DOTALL)


@functools.cache
def compiled(pattern: str) -> re.Pattern[str]:
    """Return a pattern of a schema as Python's engine has it."""
    return re.compile(_PARTS.sub(lambda part: r"\Z" if part[0] == "$" else part[0], pattern))


def pattern_keyword(validator: Any, pattern: str, instance: Any, schema: Any) -> Iterator[Any]:
    """Apply the keyword ``pattern`` (JSON Schema 2020-12, validation §6.3.3)."""
    from jsonschema import ValidationError

    del validator, schema
    if isinstance(instance, str) and compiled(pattern).search(instance) is None:
        yield ValidationError(f"{instance!r} does not match {pattern!r}")
