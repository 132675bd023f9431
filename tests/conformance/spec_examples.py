"""Fenced examples of the specification: what their tags mean, and whether that is so."""

from __future__ import annotations

import ast
import copy
import dataclasses
import json
import re
from typing import Any

from rra._base.resources import conformance_path
from rra._base.yaml import parse_bytes, parse_yaml
from rra.artifact.checking import JSON_DOCUMENTS, YAML_DOCUMENTS, Checked, check_bytes
from rra.errors import FormatError
from tests.support.source import ROOT
from tools.spec_text import Fence

KINDS = ("valid", "invalid", "test")
_TAG = re.compile(r"(?P<key>[a-z]+)=(?P<value>\S+)")


@dataclasses.dataclass(frozen=True)
class Example:
    """A tagged example.

    Attributes:
        fence: The block.
        kind: ``valid``, ``invalid`` or ``test``.
        document: Name of the schema of the document that it is, or that it is a part of.
        pointer: Where in the smallest valid document it stands; None when it is all of it.
        clause: The clause that it breaks.
        test: The test that holds it.
    """

    fence: Fence
    kind: str
    document: str = ""
    pointer: str | None = None
    clause: str = ""
    test: str = ""


def read_example(fence: Fence) -> Example | str | None:
    """Return the example that a block is, what is wrong with its tags, or None for plain text."""
    language, *words = fence.info.split() or [""]
    if language == "text" and not words:
        return None
    if language not in {"yaml", "json"}:
        return f"{fence.info!r} is no tag: yaml example=…, json example=… or text"
    found = [_TAG.fullmatch(word) for word in words]
    tags = {match["key"]: match["value"] for match in found if match is not None}
    kind = tags.pop("example", "")
    if None in found or kind not in KINDS or len(tags) != len(words) - 1:
        return f"{fence.info!r} has no example=valid, invalid or test, or more than tags"
    wanted = {
        "valid": ({"document"}, {"fragment"}),
        "invalid": ({"document", "clause"}, {"fragment", "clause"}),
        "test": ({"test"},),
    }[kind]
    if set(tags) not in wanted:
        return f"{fence.info!r} has other keys than {' or '.join(map(str, map(sorted, wanted)))}"
    document, _, pointer = tags.get("fragment", tags.get("document", "")).partition("#")
    if kind != "test" and document not in (*YAML_DOCUMENTS, *JSON_DOCUMENTS):
        return f"{document} is no document"
    part = pointer if "fragment" in tags else None
    return Example(fence, kind, document, part, tags.get("clause", ""), tags.get("test", ""))


def fault_of(example: Example) -> str:
    """Return in which way an example is not what its tags say; nothing when it is."""
    if example.kind == "test":
        return _fault_of_test(example.test)
    checked = check_example(example)
    said = "; ".join(f"{problem.pointer} {problem}" for problem in checked.problems)
    if example.kind == "valid":
        return said
    clauses = {problem.clause for problem in checked.errors}
    if clauses == {example.clause}:
        return ""
    warned = {problem.clause for problem in checked.problems}
    if checked.ok and example.clause in warned:
        return ""
    return said or "it is valid"


def check_example(example: Example) -> Checked:
    """Check the document that an example is, or the smallest one with the example in it."""
    data = example.fence.text.encode()
    if example.pointer is None:
        return check_bytes(data, example.document, source="example")
    try:
        value = parse_bytes(data, source="example").data
    except FormatError as error:
        return Checked("yaml", error.problems)
    whole = put(smallest(example.document), example.pointer, value)
    return check_bytes(json.dumps(whole).encode(), example.document, source="example")


def smallest(document: str) -> Any:
    """Return the smallest valid document, as plain data."""
    for path in sorted(conformance_path().glob("valid/*/smallest*/expect.yaml")):
        expected = parse_yaml(path.read_text("utf-8"), source=str(path)).data
        if expected["document"] == document:
            text = (path.parent / expected["file"]).read_text("utf-8")
            return parse_yaml(text, source=str(path)).data
    message = f"the corpus has no smallest {document}"
    raise LookupError(message)


def put(data: Any, pointer: str, value: Any) -> Any:
    """Return data with a value at a JSON pointer; maps that are not there are made."""
    keys = [key.replace("~1", "/").replace("~0", "~") for key in pointer.split("/")[1:]]
    if not keys:
        return value
    data = copy.deepcopy(data)
    parent = data
    for key in keys[:-1]:
        parent = parent[int(key)] if isinstance(parent, list) else parent.setdefault(key, {})
    if isinstance(parent, list):
        parent[int(keys[-1]) : int(keys[-1]) + 1] = [value]
    else:
        parent[keys[-1]] = value
    return data


def _fault_of_test(name: str) -> str:
    path, _, function = name.partition("::")
    if not (ROOT / path).is_file():
        return f"there is no file {path}"
    tree = ast.parse((ROOT / path).read_text("utf-8"))
    functions = [node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    return "" if function in functions else f"{path} has no test {function}"
