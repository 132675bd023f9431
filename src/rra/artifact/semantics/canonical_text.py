"""Is a JSON document written in its canonical form (spec: canonical-json)?"""

from __future__ import annotations

from collections.abc import Iterator

import rfc8785

from rra._base import canonical
from rra._base.yaml import YamlDocument
from rra.errors import Problem


def check_canonical(document: YamlDocument, *, clause: str, hint: str) -> Iterator[Problem]:
    """Yield a problem when the text is not the canonical form and one line feed.

    Args:
        document: A JSON document.
        clause: The clause that asks for the form.
        hint: How to write it again.
    """
    try:
        wanted = canonical.dumps(document.data).decode() + "\n"
    except rfc8785.CanonicalizationError as error:
        message = f"a value has no canonical form: {error}"
        clause = "canonical-json/integers"
        yield document.problem((), message, clause=clause, hint="write large integers as text")
        return
    if document.text != wanted:
        at = next(
            (i for i, (a, b) in enumerate(zip(document.text, wanted, strict=False)) if a != b),
            min(len(document.text), len(wanted)),
        )
        line = document.text.count("\n", 0, at) + 1
        message = f"not in canonical form from character {at + 1} on, line {line}"
        yield document.problem((), message, clause=clause, hint=hint)
