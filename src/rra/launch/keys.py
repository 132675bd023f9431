"""The key of a task: one digest over everything that decides what a run does.

A run is up to date when a record of the same key succeeded and its outputs are still there. Part
of the key are the launcher's entry and what of its definition changes a run, its parameters and
seed, code, declared data, the environment's definition and lock, and the keys of what it reads.
Not part of it are what a run may use at most and what it took, other launchers, outcomes, and
everything that is written for people.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from rra._base import canonical
from rra._base.files import walk_files
from rra.artifact import Artifact, layout
from rra.launch.inputs import digest_and_size
from rra.launch.parameters import Settings
from rra.model import Launcher

_TYPE = "run-key/v1"
_FOR_PEOPLE = frozenset({"as_of", "as_of_why"})
_BESIDE_THE_LOCK = frozenset({"README.md", "wheels"})
"""In the folder of an environment, what the lock names by digest or nobody runs."""


class KeyMaker:
    """Makes the keys of one artifact; each of its files is read once."""

    def __init__(self, artifact: Artifact, code: str) -> None:
        """Prepare.

        Args:
            artifact: The artifact.
            code: Digest of its code.
        """
        self._artifact = artifact
        self._code = code
        self._data: dict[str, dict[str, str]] = {}
        self._environments: dict[str, Any] = {}

    def key(
        self, name: str, settings: Settings, needs: Iterable[tuple[str, str]], *, smoke: bool
    ) -> str:
        """Return the key of a run.

        Args:
            name: Id of the launcher.
            settings: Its parameters and seed.
            needs: For each task whose outputs it reads: where they lie, and the task's key.
            smoke: Whether it is a smoke run.
        """
        launcher = self._artifact.manifest.launchers[name]
        return canonical.digest(
            {
                "type": _TYPE,
                "launcher": {"id": name, "entry": launcher.entry, **definition(launcher)},
                "scripts": self._scripts(launcher),
                "parameters": settings.values,
                "seed": settings.seed,
                "smoke": smoke,
                "code": self._code,
                "data": self._inputs(launcher),
                "environment": self._environment(launcher.environment),
                "needs": sorted([place, key] for place, key in needs),
            }
        )

    def _scripts(self, launcher: Launcher) -> dict[str, str]:
        """Return the entry, and the files of `launchers/` that are nobody's entry."""
        entries = {one.entry for one in self._artifact.manifest.launchers.values()}
        files = map(str, self._artifact.element_files("launchers"))
        shared = [path for path in files if path not in entries]
        return self._digests([launcher.entry, *shared])

    def _inputs(self, launcher: Launcher) -> dict[str, dict[str, str]]:
        items = self._artifact.manifest.data
        return {name: self._item(name) for name in launcher.inputs or items}

    def _item(self, name: str) -> dict[str, str]:
        if name not in self._data:
            place = self._artifact.manifest.data[name].path
            files = self._artifact.element_files("data")
            own = [str(path) for path in files if path.is_relative_to(place)]
            self._data[name] = self._digests(own)
        return self._data[name]

    def _environment(self, env_id: str) -> Any:
        if env_id not in self._environments:
            environment = self._artifact.manifest.environments[env_id]
            declared = {
                name: value
                for name, value in environment.to_json().items()
                if name not in _FOR_PEOPLE and not name.startswith("x-")
            }
            folder = PurePosixPath(layout.ENVIRONMENT_DIR) / env_id
            place = self._artifact.root / folder
            found = walk_files(place) if place.is_dir() else ()
            files = [folder / path for path in found if path.parts[0] not in _BESIDE_THE_LOCK]
            named = [PurePosixPath(environment.lock)] if environment.lock else []
            self._environments[env_id] = {
                "id": env_id,
                **declared,
                "files": self._digests(map(str, [*files, *named])),
            }
        return self._environments[env_id]

    def _digests(self, paths: Iterable[str]) -> dict[str, str]:
        """Return digests by path; of what is not there, nothing."""
        root = self._artifact.root
        places = {_printable(path): root / path for path in paths}
        return {path: _digest(place) for path, place in places.items() if place.is_file()}


def _digest(place: Path) -> str:
    return digest_and_size(place)[0]


def _printable(path: str) -> str:
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def definition(launcher: Launcher) -> dict[str, Any]:
    """Return what of a launcher's declaration changes what a run does, as plain JSON."""
    seeds = launcher.seeds
    return {
        "outputs": [spec.to_json() for spec in launcher.output_specs],
        "collect": dict(launcher.collect),
        "network": launcher.network,
        "variables": dict(launcher.variables or {}),
        "seed": [seeds.parameter, seeds.variable] if seeds is not None else None,
    }


def differences(recorded: Mapping[str, Any], wanted: Mapping[str, Any]) -> Sequence[str]:
    """Say how values by name differ from those that were recorded: ``lr was 0.1, is 0.2``."""
    found = []
    for name in sorted({*recorded, *wanted}):
        was, now = recorded.get(name), wanted.get(name)
        if was == now and type(was) is type(now):
            continue
        if name not in wanted:
            found.append(f"{name} was {was} and is gone")
        elif name not in recorded:
            found.append(f"{name} is new: {now}")
        else:
            found.append(f"{name} was {was} and is {now}")
    return found
