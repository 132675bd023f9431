"""Configs of bundles: layers that fit together, and a manifest and a lock that are some."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rra._base.yaml import Key, YamlDocument
from rra.artifact.semantics.verdicts import entries
from rra.errors import Problem
from rra.schema import check_document


def check(document: YamlDocument) -> Iterator[Problem]:
    """Yield what the config of a bundle breaks beyond its schema."""
    data = document.data
    yield from _inside(document, "manifest", "bundle/manifest-inside")
    yield from _inside(document, "lock", "bundle/lock-inside")
    core = data["lock"].get("core")
    if core is not None and core != data["core"]:
        message = f"the core is {data['core']}, that of the lock {core}"
        clause, hint = "bundle/one-core", "lock the artifact and pack it again"
        yield document.problem(("core",), message, clause=clause, hint=hint)
    for index, layer in enumerate(entries(data, ("layers",))):
        yield from _layer(document, ("layers", index), layer)
    yield from _paths(document)


def _inside(document: YamlDocument, key: str, clause: str) -> Iterator[Problem]:
    """Yield a problem when a document inside breaks its own schema."""
    inner = YamlDocument(document.data[key], "", document.source, {})
    found = [one for one in check_document(inner, key) if one.severity == "error"]
    if found:
        first = found[0]
        message = f"{key} breaks its schema: {first.pointer} {first.message}"
        yield document.problem((key,), message, clause=clause, hint=first.hint)


def _layer(
    document: YamlDocument, here: tuple[Key, ...], layer: Mapping[str, Any]
) -> Iterator[Problem]:
    compressed, raw, part = "compressor" in layer, "path" in layer, layer.get("part")
    same = (layer["digest"], layer["size"]) == (layer["diff_id"], layer["uncompressed_size"])
    faults = {
        "bundle/uncompressed-is-itself": (not compressed and not same)
        and "it is not compressed and has two digests or sizes",
        "bundle/raw-is-not-compressed": (compressed and raw)
        and "it is the raw file and is compressed",
        "bundle/raw-is-one-file": (raw and layer["files"] != 1)
        and f"it is one raw file and counts {layer['files']}",
        "bundle/part-of-a-file": (part is not None and not raw)
        and "it is a part of no file: there is no path",
    }
    for clause, message in faults.items():
        if message:
            hint = "make the bundle again"
            yield document.problem(here, f"layer: {message}", clause=clause, hint=hint)


def _paths(document: YamlDocument) -> Iterator[Problem]:
    """Yield a problem for each raw file that is there twice, or not with all of its parts."""
    parts: dict[str, list[tuple[int, Any]]] = {}
    for index, layer in enumerate(entries(document.data, ("layers",))):
        if "path" in layer:
            parts.setdefault(layer["path"], []).append((index, layer.get("part")))
    for path, found in parts.items():
        if len(found) == 1 and found[0][1] is None:
            continue
        numbers = [part["number"] if part else 0 for _, part in found]
        totals = {part["of"] if part else 0 for _, part in found}
        if len(totals) == 1 and numbers == list(range(1, next(iter(totals)) + 1)):
            continue
        message = f"{path} does not come as parts 1 to n, each once and in order"
        hint = "make the bundle again"
        place = ("layers", found[0][0])
        yield document.problem(place, message, clause="bundle/parts-are-whole", hint=hint)
