"""MLproject files (MLflow): entry points with parameters, and the environment they name."""

from __future__ import annotations

import dataclasses
from typing import Any

from rra._base.yaml import YamlDocument
from rra.author.draft_launchers import DraftLauncher
from rra.author.names import slug, unique
from rra.author.runfiles.objects import (
    MAX_RUNS,
    RunFiles,
    a_list,
    a_map,
    command_of,
    launcher_of,
    parameter_of,
    read_document,
    with_parameters,
)
from rra.environment.conda_specs import python_of_spec
from rra.scan import Scan

_FILE = "MLproject"


def read_mlproject(scan: Scan) -> RunFiles:
    """Read ``MLproject``: a launcher for each entry point whose parameters have defaults."""
    notes: list[str] = []
    document = read_document(scan, _FILE, notes)
    if document is None:
        return RunFiles(notes=tuple(notes))
    launchers: dict[str, DraftLauncher] = {}
    entries = a_map(document.data.get("entry_points"))
    for name, entry in list(entries.items())[:MAX_RUNS]:
        line = document.position(("entry_points", name))[0]
        identity = unique(slug(name, otherwise="main"), launchers)
        launcher = _launcher(identity, a_map(entry), f"{_FILE}:{line}", scan, notes)
        if launcher is not None:
            launchers[identity] = launcher
    python, requirements = _environment(document, scan, notes)
    return RunFiles(
        launchers=tuple(launchers.values()),
        python=python,
        requirements=requirements,
        notes=tuple(notes),
    )


def _launcher(
    name: str, entry: dict[str, Any], place: str, scan: Scan, notes: list[str]
) -> DraftLauncher | None:
    text = entry.get("command")
    if not isinstance(text, str) or not text.strip():
        notes.append(f"{place}: the entry point {name} has no command")
        return None
    declared = a_map(entry.get("parameters"))
    parameters = {key: parameter_of(key, value) for key, value in declared.items()}
    used = {key for key in declared if f"{{{key}}}" in text}
    open_ones = sorted(key for key in used if parameters[key] is None)
    if open_ones:
        notes.append(f"{place}: {name} has no default for {', '.join(open_ones)}; write a launcher")
        return None
    command = command_of(text, _FILE, int(place.rpartition(":")[2]), scan)
    if command is None:
        notes.append(f"{place}: `{text}` is no command that is understood")
        return None
    said: list[str] = []
    known = {key: value for key, value in parameters.items() if value is not None}
    step, taken = with_parameters(command, known, said)
    launcher = launcher_of(name, [step], [command.script], scan)
    return dataclasses.replace(
        launcher, origin=place, text=command.text, parameters=taken, notes=tuple(said)
    )


def _environment(
    document: YamlDocument, scan: Scan, notes: list[str]
) -> tuple[str | None, tuple[str, ...]]:
    """Return Python and packages of ``python_env``; what ``conda_env`` names is found anyway."""
    image = a_map(document.data.get("docker_env")).get("image")
    if isinstance(image, str):
        notes.append(f"{_FILE} runs in the image {image}: look what of it the environment needs")
    named = document.data.get("python_env")
    found = read_document(scan, named, notes) if isinstance(named, str) else None
    if found is None:
        return None, ()
    packages = [str(item) for item in a_list(found.data.get("dependencies"))]
    python = python_of_spec(f"python={found.data.get('python', '')}")
    return python, tuple(item for item in packages if not item.lstrip().startswith("-"))
