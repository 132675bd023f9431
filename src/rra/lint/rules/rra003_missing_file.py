from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath

from rra._base.yaml import Key
from rra.lint.context import Context
from rra.lint.finding import Finding, Profile, Severity
from rra.lint.near import suggestion
from rra.lint.rule import Rule
from rra.model import Manifest

Place = tuple[Key, ...]
Named = tuple[str, Place, str]

_EITHER = {"data", "interpreter", "rootfs"}
"""What may be a file or a folder."""


class MissingFile(Rule):
    """The manifest names a file that is not there.

    ## What it does

    Looks for each file and folder that `rra.yaml` names: the code, the guide, the entries of
    launchers, locks, wheels, packed interpreters and root file systems, and data that is
    bundled. A path that leads outside the artifact, also through a symbolic link, counts as
    missing.

    ## Why is this bad?

    Whoever receives the artifact gets what is in it and nothing else. A file that was left on
    the author's machine is noticed there last.

    ## How to fix

    Correct the path (the message suggests the nearest one that exists), or put the file there.
    For data that is not to be bundled, say `access: fetch` and where it comes from.

    ## Example

    Bad:

    ```yaml title="rra.yaml"
    launchers:
      lda: {entry: launchers/ldaa.sh, environment: cpu, outputs: [metrics.json]}
    ```

    Good:

    ```yaml title="rra.yaml"
    launchers:
      lda: {entry: launchers/lda.sh, environment: cpu, outputs: [metrics.json]}
    ```
    """

    code = "RRA003"
    name = "missing-file"
    severity = Severity.ERROR
    profile = Profile.BASIC
    since = "0.1"
    clause = "manifest/paths"

    def check(self, context: Context) -> Iterable[Finding]:
        """Yield each path of the manifest at which there is nothing."""
        for (relative, what), places in _places(context.artifact.manifest).items():
            place, others = places[0], len(places) - 1
            kind = context.kind(relative)
            wanted = "folder" if what in {"code", "wheels"} else "file"
            if kind == "missing":
                message = f"{what} {relative} is not there"
                hint = suggestion(
                    relative, context.known_paths, "put the file there, or correct the path"
                )
            elif kind == "outside":
                message = f"{what} {relative} leads outside the artifact"
                hint = "copy the file into the artifact and name it by its place there"
            elif kind != wanted and what not in _EITHER:
                message = f"{what} {relative} is a {kind}, not a {wanted}"
                hint = f"name a {wanted}"
            else:
                continue
            if others:
                message += f" (named in {others} more place{'s' if others > 1 else ''})"
            finding = self.in_document(context.document, place, message, hint=hint)
            clause = "guide/exists" if what == "guide" else self.clause
            yield dataclasses.replace(finding, clause=clause)
        if context.kind(context.guide_path) == "missing" and not context.artifact.manifest.guide:
            message = "there is no guide"
            missing = self.at(context.guide_path, message, hint="write it with: rra guide")
            yield dataclasses.replace(missing, clause="guide/exists")


def _places(manifest: Manifest) -> dict[tuple[str, str], list[Place]]:
    """Return where the manifest names each path, by the path and what it is."""
    places: dict[tuple[str, str], list[Place]] = {}
    for relative, place, what in _named(manifest):
        places.setdefault((relative, what), []).append(place)
    return places


def _named(manifest: Manifest) -> Iterator[Named]:
    if manifest.code.root != ".":
        yield manifest.code.root, ("code", "root"), "code"
    if manifest.guide:
        yield manifest.guide, ("guide",), "guide"
    for key, environment in manifest.environments.items():
        for kind in ("lock", "wheels", "interpreter", "rootfs"):
            named = getattr(environment, kind)
            if named:
                yield named, ("environments", key, kind), kind
    for key, launcher in manifest.launchers.items():
        yield launcher.entry, ("launchers", key, "entry"), "launcher"
    for key, item in manifest.data.items():
        if item.access == "bundled" and not _is_pattern(item.path):
            yield item.path, ("data", key, "path"), "data"


def _is_pattern(path: str) -> bool:
    return any(character in part for part in PurePosixPath(path).parts for character in "*?")
