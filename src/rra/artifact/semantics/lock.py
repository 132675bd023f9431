"""What `rra.lock` has to keep to beyond its schema (spec: lock)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from rra._base.yaml import YamlDocument
from rra.artifact.semantics.canonical_text import check_canonical
from rra.artifact.semantics.ids import section
from rra.errors import Problem

_BLOCK, _END = 512, 1024
_EMPTY = "sha256:" + hashlib.sha256(bytes(_END)).hexdigest()
_ELEMENTS = ("code", "environment", "launchers", "data", "guide")


def check(document: YamlDocument) -> Iterator[Problem]:
    """Yield sizes and digests that no canonical archive has, and text that is not canonical."""
    yield from check_canonical(document, clause="lock/canonical", hint="run: rra lock --keep")
    for name in _ELEMENTS:
        element = section(document.data, "elements", name)
        files, size = element["files"], element["size"]
        if size % _BLOCK or size < _END + _BLOCK * files:
            message = f"no archive of {files} files has {size} bytes"
            place = ("elements", name, "size")
            hint = "run: rra lock --keep"
            yield document.problem(place, message, clause="lock/archive-size", hint=hint)
        elif files == 0 and size == _END and element["diff_id"] != _EMPTY:
            message = f"the element {name} is empty, and its digest is not that of nothing"
            place = ("elements", name, "diff_id")
            hint = f"an empty archive has the digest {_EMPTY}"
            yield document.problem(place, message, clause="lock/empty-element", hint=hint)
