"""Where files of each element may lie: what a layer may bring, whoever made it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath

from rra._base.yaml import parse_yaml
from rra.artifact import layout
from rra.artifact.inventory import lies_in
from rra.bundle.names import printable
from rra.errors import Problem, RraError
from rra.model import Manifest

_CLAUSE = "bundle/elements"
_DOCUMENTS = {".yaml", ".yml", ".json"}


def foreign_files(
    manifest: Manifest, element: str, paths: Iterable[PurePosixPath | str]
) -> Iterator[Problem]:
    """Yield a problem for each file of a layer that its element may not hold.

    No layer brings a ``.git``: programs that find one run what it says.

    Args:
        manifest: What ``rra.yaml`` says.
        element: Element of the layer.
        paths: Files of the layer.
    """
    places = frozenset(str(PurePosixPath(name)) for name in _places(manifest, element))
    in_place = element == "code" and manifest.code.root == "."
    owned = frozenset((*layout.OWNED_DIRS, *layout.OWNED_FILES))
    for path in paths:
        if ".git" in str(path).lower().split("/"):
            what = "belongs to git, not to an artifact"
        elif in_place == lies_in(path, owned if in_place else places):
            what = f"is no place for files of the element {element}"
        else:
            continue
        yield Problem(what, printable(path), clause=_CLAUSE)


def references_among(root: Path, paths: Iterable[PurePosixPath]) -> Iterator[Problem]:
    """Yield a problem for each file that holds the evaluator's references.

    They are a document of their own, which no bundle brings (spec: references).

    Args:
        root: Folder that the files lie in.
        paths: Files relative to it.
    """
    for path in paths:
        if path.suffix.lower() in _DOCUMENTS and path.stem.lower() == "references":
            if not _are_references(root / path):
                continue
            yield Problem(
                "holds references, which never travel with the artifact that they judge",
                printable(path),
                clause="references/outside-the-artifact",
                hint="move it out of the artifact and give it with --references",
            )


def _are_references(place: Path) -> bool:
    """Tell whether a file has the shape of references, also when it breaks their schema."""
    try:
        text = place.read_text("utf-8-sig")
        data = parse_yaml(text, source=place.name).data
    except (RraError, OSError, UnicodeDecodeError):
        return False
    return isinstance(data, dict) and any(
        "/" in str(key) and isinstance(value, dict) and "scores" in value
        for key, value in data.items()
    )


def _places(manifest: Manifest, element: str) -> list[str]:
    environments = manifest.environments.values()
    named: dict[str, list[str | None]] = {
        "meta": [*layout.META_FILES],
        "guide": [layout.GUIDE_DIR, *layout.HANDOFF_FILES, manifest.guide],
        "environment": [layout.ENVIRONMENT_DIR, *(e.lock for e in environments)],
        "wheels": [e.wheels for e in environments],
        "runtime": [name for e in environments for name in (e.interpreter, e.rootfs)],
        "launchers": [layout.LAUNCHERS_DIR, *(x.entry for x in manifest.launchers.values())],
        "evidence": [layout.EVIDENCE_DIR],
        "data": [item.path for item in manifest.data.values() if item.access == "bundled"],
        "code": [manifest.code.root],
    }
    return [name for name in named.get(element, []) if name]
