"""What an execution record has to keep to beyond its schema (spec: execution-record)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rra._base.yaml import YamlDocument
from rra.artifact.semantics.canonical_text import check_canonical
from rra.artifact.semantics.verdicts import ends_after_start, moments
from rra.errors import Problem

_HINT = "a record is never edited; run the launcher again"


def check(document: YamlDocument) -> Iterator[Problem]:
    """Yield what contradicts itself in a record, and text that is not canonical."""
    yield from check_canonical(document, clause="execution-record/canonical", hint=_HINT)
    data: dict[str, Any] = document.data
    yield from moments(document, (("started",), ("ended",)), "execution-record/times")
    yield from ends_after_start(document, "execution-record/ends-after-start")
    yield from _status(document, data)
    for key in ("inputs", "outputs"):
        yield from _files(document, key, data[key])
    yield from _streams(document, data)


def _status(document: YamlDocument, data: dict[str, Any]) -> Iterator[Problem]:
    word, code = data["termination"], data["exit_code"]
    if (word == "ok" and code != 0) or (word in {"exit", "signal"} and code == 0):
        message = f"termination is {word} and the exit status is {code}"
        clause = "execution-record/status-fits-termination"
        yield document.problem(("exit_code",), message, clause=clause, hint=_HINT)


def _files(document: YamlDocument, key: str, files: list[dict[str, Any]]) -> Iterator[Problem]:
    paths = [one["path"].encode("utf-8", "surrogatepass") for one in files]
    for index in range(1, len(paths)):
        if paths[index] > paths[index - 1]:
            continue
        again = paths[index] == paths[index - 1]
        what = "is there twice" if again else "stands behind a path that sorts after it"
        message = f"{files[index]['path']} {what}"
        place = (key, index, "path")
        clause = "execution-record/sorted"
        yield document.problem(place, message, clause=clause, hint=_HINT)
        return


def _streams(document: YamlDocument, data: dict[str, Any]) -> Iterator[Problem]:
    outputs = {one["path"]: index for index, one in enumerate(data["outputs"])}
    for key in ("stdout", "stderr"):
        index = outputs.get(f"{key}.txt")
        if index is not None and data["outputs"][index]["sha256"] != data[key]["sha256"]:
            message = f"{key}.txt among the outputs is not what {key} says"
            place = ("outputs", index, "sha256")
            clause = "execution-record/streams-are-outputs"
            yield document.problem(place, message, clause=clause, hint=_HINT)
