"""Pipelines of DVC: stages with what they read and write, their parameters and metrics."""

from __future__ import annotations

import dataclasses
import posixpath
import re
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

from rra._base.yaml import YamlDocument
from rra.author.draft_launchers import DraftLauncher
from rra.author.launchers import Step
from rra.author.names import slug, unique
from rra.author.runfiles.objects import (
    MAX_RUNS,
    FoundSetting,
    RunFiles,
    a_list,
    a_map,
    collected,
    command_of,
    launcher_of,
    read_document,
)
from rra.scan import Scan

_FILE = "dvc.yaml"
_PARAMS = "params.yaml"
_MAX_STAGES = 500
_VARIABLE = re.compile(r"(?<!\\)\$\{\s*([\w.\[\]-]+)\s*\}")


@dataclasses.dataclass(frozen=True)
class _Stage:
    """A stage with its variables filled in; paths are relative to the repository."""

    name: str
    line: int
    commands: tuple[str, ...]
    workdir: str
    deps: tuple[str, ...]
    outs: tuple[str, ...]
    metrics: tuple[str, ...]
    params: tuple[tuple[str, str], ...]  # file, key; an empty key is the whole file


class _UnresolvedError(ValueError):
    """A variable that no file gives a value."""


def read_dvc(scan: Scan) -> RunFiles:
    """Read ``dvc.yaml``: a launcher for each stage that no other one reads from.

    The stages that it needs are its first commands. Nothing is interpolated by running
    anything; a stage whose variables have no value is said and left out.
    """
    notes: list[str] = [*_untracked(scan)]
    document = read_document(scan, _FILE, notes)
    if document is None:
        return RunFiles(notes=tuple(notes))
    values = _values(document, scan, notes)
    stages = {stage.name: stage for stage in _stages(document, values, notes)}
    before = {name: _needed(stage, stages) for name, stage in stages.items()}
    read = {needed for names in before.values() for needed in names}
    last = [name for name in stages if name not in read]
    launchers: dict[str, DraftLauncher] = {}
    users: dict[str, list[str]] = {}
    for name in last[:MAX_RUNS]:
        order = _order(name, before)
        identity = unique(slug(name, otherwise="stage"), launchers)
        launcher = _launcher(identity, [stages[one] for one in order], scan, notes)
        if launcher is not None:
            launchers[identity] = launcher
            for one in order:
                users.setdefault(one, []).append(identity)
    if len(last) > MAX_RUNS:
        notes.append(f"{_FILE} ends in {len(last)} stages; launchers for the first {MAX_RUNS}")
    reached = {one for name in last for one in _order(name, before)}
    cyclic = [name for name in stages if name not in reached]
    if cyclic:
        notes.append(f"{_FILE}: {', '.join(cyclic)} need each other in a cycle; nothing runs them")
    settings = _settings(stages, users, scan, notes)
    return RunFiles(tuple(launchers.values()), settings=tuple(settings), notes=tuple(notes))


def _untracked(scan: Scan) -> Iterator[str]:
    """Say which data is named by a ``.dvc`` file and is not here."""
    for path in scan.files:
        if path.suffix == ".dvc" and path.stem and path.with_suffix("") not in scan.files:
            folder = path.with_suffix("")
            if not any(other.is_relative_to(folder) for other in scan.files):
                yield f"{folder} is kept by DVC and is not here: dvc pull, or say where it is from"


def _values(document: YamlDocument, scan: Scan, notes: list[str]) -> dict[str, Any]:
    """Return the values of variables: ``params.yaml``, then what ``vars`` names."""
    values: dict[str, Any] = {}
    for item in [_PARAMS, *a_list(document.data.get("vars"))]:
        if isinstance(item, str):
            found = read_document(scan, item.partition(":")[0], notes)
            values |= a_map(found.data) if found is not None else {}
        else:
            values |= a_map(item)
    return values


def _stages(
    document: YamlDocument, values: Mapping[str, Any], notes: list[str]
) -> Iterator[_Stage]:
    count = 0
    for name, body in a_map(document.data.get("stages")).items():
        line = document.position(("stages", name))[0]
        for suffix, entry, inner in _expanded(a_map(body), values):
            count += 1
            if count > _MAX_STAGES:
                notes.append(f"{_FILE} has more than {_MAX_STAGES} stages; the rest is left out")
                return
            try:
                yield _stage(f"{name}{suffix}", line, entry, inner)
            except _UnresolvedError as error:
                notes.append(f"{_FILE}:{line}: stage {name}{suffix}: {error}")


def _expanded(
    body: dict[str, Any], values: Mapping[str, Any]
) -> Iterator[tuple[str, dict[str, Any], Mapping[str, Any]]]:
    """Yield (suffix of the name, stage, variables): ``foreach`` and ``matrix`` are unrolled."""
    each = body.get("foreach")
    if isinstance(each, str) and (found := _VARIABLE.fullmatch(each)):
        try:
            each = _look_up(found[1], values)
        except _UnresolvedError:
            each = None
    if isinstance(each, dict):
        for key, item in each.items():
            yield f"@{key}", a_map(body.get("do")), {**values, "key": key, "item": item}
    elif isinstance(each, list):
        for item in each:
            yield f"@{item}", a_map(body.get("do")), {**values, "item": item}
    elif isinstance(body.get("matrix"), dict):
        rows: list[dict[str, Any]] = [{}]
        for key, options in body["matrix"].items():
            rows = [{**row, str(key): one} for row in rows for one in a_list(options)][:_MAX_STAGES]
        for row in rows:
            name = "-".join(str(value) for value in row.values())
            yield f"@{name}", body, {**values, "item": row}
    else:
        yield "", body, values


def _stage(name: str, line: int, entry: dict[str, Any], values: Mapping[str, Any]) -> _Stage:
    workdir = _filled(str(entry.get("wdir") or "."), values)
    outs = [*_paths(entry.get("outs"), workdir, values)]
    metrics = [
        *_paths(entry.get("metrics"), workdir, values),
        *_paths(entry.get("plots"), workdir, values),
    ]
    commands = [_filled(str(text), values) for text in a_list(entry.get("cmd"))]
    if not commands:
        raise _UnresolvedError("it has no command")
    return _Stage(
        name=name,
        line=line,
        commands=tuple(commands),
        workdir=workdir,
        deps=tuple(_paths(entry.get("deps"), workdir, values)),
        outs=tuple(outs),
        metrics=tuple(metrics),
        params=tuple(_params(entry.get("params"), workdir)),
    )


def _paths(value: Any, workdir: str, values: Mapping[str, Any]) -> Iterator[str]:
    for item in a_list(value):
        for name in item if isinstance(item, dict) else [item]:
            text = _filled(str(name), values)
            inside = posixpath.normpath(posixpath.join(workdir, text))
            yield f"{inside}/" if text.endswith("/") else inside


def _params(value: Any, workdir: str) -> Iterator[tuple[str, str]]:
    for item in a_list(value):
        if isinstance(item, dict):
            for file, keys in item.items():
                place = posixpath.normpath(posixpath.join(workdir, str(file)))
                yield from ((place, str(key)) for key in (a_list(keys) or [""]))
        else:
            yield posixpath.normpath(posixpath.join(workdir, _PARAMS)), str(item)


def _filled(text: str, values: Mapping[str, Any]) -> str:
    def value(found: re.Match[str]) -> str:
        known = _look_up(found[1], values)
        if isinstance(known, dict | list):
            raise _UnresolvedError(f"{found[0]} is no single value")
        return str(known).lower() if isinstance(known, bool) else str(known)

    return _VARIABLE.sub(value, text)


def _look_up(name: str, values: Mapping[str, Any]) -> Any:
    here: Any = values
    for part in re.findall(r"[^.\[\]]+", name):
        if isinstance(here, Mapping) and part in here:
            here = here[part]
        elif isinstance(here, list) and part.isdigit() and int(part) < len(here):
            here = here[int(part)]
        else:
            raise _UnresolvedError(f"${{{name}}} has no value")
    return here


def _needed(stage: _Stage, stages: Mapping[str, _Stage]) -> list[str]:
    """Return the stages that write what one reads."""
    return [
        other.name
        for other in stages.values()
        if other.name != stage.name
        and any(_meets(dep, out) for dep in stage.deps for out in (*other.outs, *other.metrics))
    ]


def _meets(one: str, other: str) -> bool:
    a, b = PurePosixPath(one), PurePosixPath(other)
    return a == b or a.is_relative_to(b) or b.is_relative_to(a)


def _order(name: str, before: Mapping[str, list[str]]) -> list[str]:
    """Return a stage after all that it needs; a cycle is cut where it closes."""
    order: list[str] = []
    seen: set[str] = set()
    pending = [(name, False)]
    while pending:
        here, done = pending.pop()
        if done:
            order.append(here)
        elif here not in seen:
            seen.add(here)
            pending.append((here, True))
            pending += [(one, False) for one in reversed(before[here])]
    return order


def _launcher(
    name: str, stages: list[_Stage], scan: Scan, notes: list[str]
) -> DraftLauncher | None:
    steps: list[Step] = []
    scripts: list[PurePosixPath | None] = []
    for stage in stages:
        for text in stage.commands:
            command = command_of(text, _FILE, stage.line, scan, stage.workdir)
            if command is None:
                notes.append(f"{_FILE}:{stage.line}: `{text}` is no command that is understood")
                return None
            steps.append(Step(command.argv, stage.workdir, command.variables))
            scripts.append(command.script)
    last = stages[-1]
    metrics = [path for stage in stages for path in stage.metrics]
    return dataclasses.replace(
        launcher_of(name, steps, scripts, scan),
        origin=f"{_FILE}:{last.line}",
        text="; ".join(last.commands),
        collect=collected([*metrics, *last.outs], scan),
        notes=tuple(f"runs stage {stage.name} first" for stage in stages[:-1]),
    )


def _settings(
    stages: Mapping[str, _Stage], users: Mapping[str, list[str]], scan: Scan, notes: list[str]
) -> Iterator[FoundSetting]:
    """Yield the values of the parameters that stages declare."""
    wanted: dict[tuple[str, str], list[str]] = {}
    for name, stage in stages.items():
        for place in stage.params:
            wanted.setdefault(place, []).extend(users.get(name, []))
    documents: dict[str, YamlDocument | None] = {}
    for (file, key), launchers in wanted.items():
        if file not in documents:
            known = file.endswith((".yaml", ".yml", ".json"))
            documents[file] = read_document(scan, file, notes) if known else None
        document = documents[file]
        if document is None or not launchers:
            continue
        for path, value in _leaves(document.data, tuple(part for part in key.split(".") if part)):
            where = f"{file}:{document.position(path)[0]}"
            name = slug("-".join(path), otherwise="parameter")
            yield FoundSetting(name, value, tuple(dict.fromkeys(launchers)), where)


def _leaves(data: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    here = data
    for part in path:
        if not isinstance(here, dict) or part not in here:
            return
        here = here[part]
    pending = [(path, here)]
    while pending:
        place, value = pending.pop(0)
        if isinstance(value, dict):
            pending += [((*place, str(key)), item) for key, item in value.items()]
        elif value is None or isinstance(value, str | int | float | bool):
            yield place, value
