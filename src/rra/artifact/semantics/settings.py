"""What `guide/settings.yaml` has to keep to beyond its schema (spec: settings)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rra._base.yaml import YamlDocument
from rra.artifact.semantics.ids import section
from rra.errors import Problem

CODE_PLACE = re.compile(r"^(?P<file>[^:\s][^:]*):(?P<line>[1-9][0-9]*)(?![0-9])")
"""A place in the code: a file, a colon, a line; more may follow."""


def check(document: YamlDocument) -> Iterator[Problem]:
    """Yield settings taken from the code that name no line of it."""
    for name, setting in section(document.data).items():
        where = setting["where"]
        if setting["source"] == "code" and not CODE_PLACE.match(where):
            message = f"where is {where!r}, which names no line of the code"
            hint = "give file and line, such as train.py:31, or say another source"
            clause = "settings/code-place"
            yield document.problem((name, "where"), message, clause=clause, hint=hint)
