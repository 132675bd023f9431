"""Configurations of hydra: its files, their defaults lists, and the keys that may be overridden.

Follows "Defaults List" and "Basic Override syntax" of hydra's documentation.
"""

from __future__ import annotations

import ast
import dataclasses
import re
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

from rra._base.yaml import YamlDocument, parse_yaml
from rra.errors import RraError
from rra.scan.objects import Argument
from rra.scan.parameters.argparsing import type_of_constant
from rra.scan.parameters.following import Following
from rra.scan.parameters.values import (
    Call,
    Class,
    Decorator,
    External,
    Function,
    Instance,
    Program,
    Unknown,
    Value,
    constant,
    shown,
    text,
)

_MAIN = re.compile(r"^hydra\.main$|^hydra\.main\.main$|(?:^|\.)hydra_runner$")
_STORE = "hydra.ConfigStore()"
_PACKAGE = re.compile(r"^#\s*@package\s+(\S+)", re.MULTILINE)
_SUFFIXES = (".yaml", ".yml")
_MAX_KEYS = 2_000
_MAX_DEPTH = 12


def call(run: Following, name: str, call: Call) -> Value | None:
    """Return what a call of a function of hydra gives."""
    if _MAIN.search(name):
        return Decorator("hydra.main", call)
    if name.endswith("ConfigStore.instance"):
        return External(_STORE)
    if name == f"{_STORE}.store":
        group, entry = text(call.value(1, "group")), text(call.value(0, "name"))
        node = call.value(-1, "node")
        if entry and node is not None:
            stored(run)[f"{group}/{entry}".strip("/")] = node
        return Unknown(call.node)
    return None


def stored(run: Following) -> dict[str, Value]:
    """Return the configurations that the code itself registers."""
    return run.configurations


def decorate(run: Following, decorator: Decorator, value: Value) -> Value | None:
    """Return the program that ``hydra.main`` makes of a function."""
    if decorator.name != "hydra.main" or not isinstance(value, Function):
        return None
    call = decorator.call
    program = Program("hydra", extra={"callback": value, "call": call})
    run.programs.append(program)
    return program


def fill(run: Following, program: Program) -> None:
    """Read the configuration of a program; done last, when all of the code was followed."""
    call: Call = program.extra["call"]
    name = text(call.value(1, "config_name"))
    folder_value = call.value(0, "config_path")
    folder = _folder(call.path, text(folder_value))
    if not name:
        program.doubts.append("its configuration's name is only known when it runs")
        return
    reader = _Reader(run, program, folder)
    reader.read(name.removesuffix(".yaml"), "", 0)
    program.arguments.extend(reader.found.values())


def _folder(script: PurePosixPath, written: str) -> PurePosixPath:
    """Return the folder of the configuration: relative to the script, as hydra takes it."""
    parts = list(script.parent.parts)
    for part in PurePosixPath(written).parts:
        if part == ".." and parts:
            parts.pop()
        elif part != ".":
            parts.append(part)
    return PurePosixPath(*parts)


class _Reader:
    """Puts a configuration together from files, as its defaults lists say."""

    def __init__(self, run: Following, program: Program, folder: PurePosixPath) -> None:
        self.run = run
        self.program = program
        self.folder = folder
        self.found: dict[str, Argument] = {}

    def read(self, name: str, package: str, depth: int) -> None:
        """Add the keys of one configuration below a package."""
        if depth > _MAX_DEPTH or len(self.found) > _MAX_KEYS:
            self.program.doubts.append("its configuration is larger than is read")
            return
        path = self._path(name)
        if path is None:
            node = self.run.configurations.get(name)
            if isinstance(node, Class | Instance):
                self._structured(node if isinstance(node, Class) else node.cls, package, depth)
            else:
                self.program.doubts.append(f"its configuration {self.folder / name} is not found")
            return
        document = self._document(path)
        if document is None or not isinstance(document.data, dict):
            return
        package = _package_of(document.text, package)
        defaults = document.data.get("defaults")
        own_first = isinstance(defaults, list) and "_self_" in defaults[:1]
        if own_first:
            self._keys(document, path, package)
        for entry in defaults if isinstance(defaults, list) else ():
            self._default(entry, name, package, depth, (document, path))
        if not own_first:
            self._keys(document, path, package)

    def _path(self, name: str) -> PurePosixPath | None:
        for suffix in _SUFFIXES:
            path = self.folder / f"{name.lstrip('/')}{suffix}"
            if path in self.run.modules.files:
                return path
        return None

    def _document(self, path: PurePosixPath) -> YamlDocument | None:
        written = self.run.modules.text_of(path)
        try:
            return parse_yaml(written or "", source=str(path))
        except RraError as error:
            self.program.doubts.append(f"{path} cannot be read: {error}")
            return None

    def _keys(self, document: YamlDocument, path: PurePosixPath, package: str) -> None:
        for keys, value in _leaves(document.data, ()):
            if keys[0] == "defaults" or (keys[0] == "hydra" and not package):
                continue
            name = ".".join(filter(None, [package, *keys]))
            line, _ = document.position(keys)
            self.found[name] = _override(name, value, (path, line))
            if len(self.found) > _MAX_KEYS:
                return

    def _default(
        self,
        entry: Any,
        name: str,
        package: str,
        depth: int,
        source: tuple[YamlDocument, PurePosixPath],
    ) -> None:
        """Follow one entry of a defaults list."""
        folder = name.rpartition("/")[0]
        if isinstance(entry, str):
            if entry != "_self_":
                plain, _, target = entry.partition("@")
                inner = _joined(folder, plain)
                self.read(inner, _target(target, inner.rpartition("/")[0], package), depth + 1)
            return
        if not isinstance(entry, dict) or len(entry) != 1:
            return
        key, option = next(iter(entry.items()))
        key = str(key)
        override = key.startswith("override ")
        group = key.removeprefix("override ").removeprefix("optional ").strip()
        if group.startswith(("/hydra/", "hydra/")):
            return
        plain, _, target = group.partition("@")
        inner = _joined(folder, plain)
        self._group(inner, target, option, source)
        if isinstance(option, str) and "${" not in option and option != "???":
            below = _target(target, inner, "" if plain.startswith("/") or override else package)
            self.read(f"{inner}/{option.removesuffix('.yaml')}", below, depth + 1)
        elif isinstance(option, str):
            self.program.doubts.append(f"the option of {inner} is only known when it runs")

    def _group(
        self, group: str, target: str, option: Any, source: tuple[YamlDocument, PurePosixPath]
    ) -> None:
        """Add the choice of a group: ``model=resnet``."""
        folder = self.folder / group
        options = sorted(
            path.stem
            for path in self.run.modules.files
            if path.parent == folder and path.suffix in _SUFFIXES
        )
        name = f"{group}@{target}" if target else group
        line, _ = source[0].position(("defaults",))
        made = _override(name, option if isinstance(option, str) else None, (source[1], line))
        self.found[name] = dataclasses.replace(made, choices=tuple(options), help="group")

    def _structured(self, cls: Class, package: str, depth: int) -> None:
        """Add the fields of a configuration that is a dataclass."""
        for node in cls.node.body:
            if not isinstance(node, ast.AnnAssign) or not isinstance(node.target, ast.Name):
                continue
            key = ".".join(filter(None, [package, node.target.id]))
            inner = self.run.evaluate(node.annotation, cls.scope)
            if isinstance(inner, Class) and depth < _MAX_DEPTH and not inner.bases:
                self._structured(inner, key, depth + 1)
                continue
            value = cls.scope.values.get(node.target.id) if node.value is not None else None
            made = _override(key, constant(value), (cls.scope.path, node.lineno))
            self.found[key] = dataclasses.replace(made, default_text=shown(value))


def _package_of(written: str, package: str) -> str:
    found = _PACKAGE.search(written)
    if found is None:
        return package
    return "" if found[1] == "_global_" else found[1].replace("_group_", package)


def _joined(folder: str, name: str) -> str:
    if name.startswith("/"):
        return name.lstrip("/")
    return f"{folder}/{name}".lstrip("/")


def _target(written: str, group: str, package: str) -> str:
    """Return the package of an included configuration."""
    if written == "_global_":
        return ""
    if written == "_here_":
        return package
    own = written or group.replace("/", ".")
    if package and not (own == package or own.startswith(f"{package}.")):
        return f"{package}.{own}" if written else own
    return own


def _leaves(data: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield the keys of a configuration that hold no further keys."""
    if isinstance(data, Mapping) and (data or not path) and len(path) < 20:
        for key, value in data.items():
            yield from _leaves(value, (*path, str(key)))
    elif path:
        yield path, data


def _override(name: str, value: Any, place: tuple[PurePosixPath, int]) -> Argument:
    scalar = value if isinstance(value, str | int | float | bool) else None
    missing = value == "???"
    is_list = isinstance(value, list)
    return Argument(
        name=name,
        flags=(f"{name}=",),
        type=type_of_constant(scalar),
        default=None if missing else scalar,
        choices=(),
        help="",
        takes_value=True,
        line=place[1],
        path=place[0],
        default_text="" if missing or value is None else _written(value),
        nargs="*" if is_list else "",
        required=missing,
    )


def _written(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
