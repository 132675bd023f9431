"""The identity of an artifact: what a reproduction names when it says what it reproduced.

The **core** is ``sha256`` over the canonical JSON (RFC 8785) of `core_document`::

    {
      "type": "core/v1",
      "elements": {"code": D, "environment": D, "launchers": D, "data": D},
      "environments": {id: definition},
      "launchers":    {id: definition},
      "outcomes":     {"<experiment>/<outcome>": definition}
    }

where ``D`` is the digest of the element's canonical archive (`rra.bundle.canonical`; an
element without files is the empty archive), and a *definition* is what ``rra.yaml`` says with

- values that equal the default of the format left out, so that writing a default down
  changes nothing; outputs in their long form;
- keys that start with ``x-`` left out (they are free) except in maps, whose keys are names
  that the author chose; all other keys kept, also unknown ones;
- text that only describes left out: of an environment ``as_of`` and ``as_of_why`` (the lock is
  in the environment's archive), of a launcher ``hint``, of an outcome ``location`` and the
  deviation's ``explanation``. The deviation's ``observed`` stays: a claim that changes is
  another claim, a sentence that is corrected is not.

Outcome definitions hold ``reported``, units, bounds, tolerances and the selector. Neither
README, LICENSE, guide, settings, repairs' prose, evidence, references nor the descriptive
keys of ``rra.yaml`` (title, authors, paper, …) are part of it, so correcting them does not
orphan a reproduction.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

import rfc8785

from rra._base import canonical
from rra.artifact import Artifact
from rra.bundle.canonical import diff_id
from rra.errors import FormatError
from rra.model import ElementLock
from rra.model.base import Object

ELEMENTS = ("code", "environment", "launchers", "data", "guide")
"""Elements that ``rra.lock`` lists."""

MAPS = frozenset({"at", "collect", "matrix", "parameters", "system_packages", "variables", "where"})
"""Keys of a definition whose value is a map from names that the author chose."""

CORE_ELEMENTS = ("code", "environment", "launchers", "data")
"""Elements whose bytes are part of the core."""


def element_locks(artifact: Artifact) -> dict[str, ElementLock]:
    """Return digest, number of files and bytes of each element's canonical archive.

    Raises:
        FormatError: A file or name that no archive may hold.
        UnavailableError: A file changes while it is read.
    """
    return {name: diff_id(artifact.root, artifact.packed_files(name)) for name in ELEMENTS}


def core_digest(artifact: Artifact, elements: dict[str, ElementLock] | None = None) -> str:
    """Return the core of an artifact as its files and its manifest stand now.

    Args:
        artifact: The artifact.
        elements: What `element_locks` gave, to save reading the files again.

    Raises:
        FormatError: A file, a name or a number that has no canonical form.
        UnavailableError: A file changes while it is read.
    """
    try:
        return canonical.digest(core_document(artifact, elements))
    except rfc8785.CanonicalizationError as error:
        message = f"rra.yaml holds a value without a canonical form: {error}"
        hint = "write integers beyond 2^53 as text; infinities and NaN are not numbers here"
        raise FormatError(message, hint=hint) from error


def core_locks(
    artifact: Artifact,
    archives: Iterable[tuple[Iterable[PurePosixPath | str], ElementLock]],
    listed: Mapping[str, Collection[PurePosixPath]] | None = None,
) -> dict[str, ElementLock]:
    """Return the locks of the core's elements, and read only those files again that must be.

    Args:
        artifact: The artifact.
        archives: Canonical archives whose locks are known, with the files in each.
        listed: Files of each element, where they are known, to save looking for them again.

    Raises:
        FormatError: A file or name that no archive may hold.
        UnavailableError: A file changes while it is read.
    """
    known = [(frozenset(map(str, files)), lock) for files, lock in archives]
    locks = {}
    for name in CORE_ELEMENTS:
        names = artifact.packed_names(name) if listed is None else map(str, listed[name])
        lock = _lock_of(names, known)
        if lock is None:
            files = artifact.packed_files(name) if listed is None else listed[name]
            lock = diff_id(artifact.root, files)
        locks[name] = lock
    return locks


def _lock_of(
    names: Iterable[str], known: Sequence[tuple[frozenset[str], ElementLock]]
) -> ElementLock | None:
    """Return the lock of the archive with exactly these files, whose names are not kept."""
    number = 0
    for name in names:
        number += 1
        known = [archive for archive in known if name in archive[0]]
        if not known:
            return None
    return next((lock for files, lock in known if len(files) == number), None)


def core_document(
    artifact: Artifact, elements: dict[str, ElementLock] | None = None
) -> dict[str, Any]:
    """Return the JSON value whose digest is the core (see the module's description).

    Raises:
        FormatError: A file or name that no archive may hold.
        UnavailableError: A file changes while it is read.
    """
    manifest = artifact.manifest
    if elements is None:
        elements = {n: diff_id(artifact.root, artifact.packed_files(n)) for n in CORE_ELEMENTS}
    launchers = {}
    for name, launcher in manifest.launchers.items():
        long = launcher.model_copy(update={"outputs": launcher.output_specs})
        launchers[name] = _definition(long, "hint")
    outcomes = {}
    for name, outcome in manifest.reported_values().items():
        outcomes[name] = _definition(outcome, "location")
        if "deviation" in outcomes[name]:
            outcomes[name]["deviation"].pop("explanation", None)
    return {
        "type": "core/v1",
        "elements": {name: elements[name].diff_id for name in CORE_ELEMENTS},
        "environments": {
            name: _definition(environment, "as_of", "as_of_why")
            for name, environment in manifest.environments.items()
        },
        "launchers": launchers,
        "outcomes": outcomes,
    }


def _definition(value: Object, *described: str) -> dict[str, Any]:
    """Return an object of the manifest without defaults, free keys and descriptive keys."""
    plain: dict[str, Any] = value.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    for key in described:
        plain.pop(key, None)
    kept = _without_free_keys(plain)
    return kept if isinstance(kept, dict) else {}


def _without_free_keys(value: object, *, named: bool = False) -> object:
    """Leave out free keys; the keys of a map (`named`) are names and stay."""
    if isinstance(value, dict):
        return {
            key: _without_free_keys(inner, named=key in MAPS and not named)
            for key, inner in value.items()
            if named or not str(key).startswith("x-")
        }
    if isinstance(value, list):
        return [_without_free_keys(inner) for inner in value]
    return value
