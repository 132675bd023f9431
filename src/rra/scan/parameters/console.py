"""Commands that a package installs: its console scripts and its ``__main__`` module.

Sources: the entry points specification (``console_scripts``), PEP 621 (``project.scripts``), and
the documentation of setuptools (``entry_points``, ``scripts``). ``setup.py`` is read, never run.
"""

from __future__ import annotations

import ast
import configparser
import re
import tomllib
from collections.abc import Iterator
from pathlib import PurePosixPath

from rra.scan.objects import ConsoleScript
from rra.scan.parameters.modules import Modules, parse
from rra.scan.parameters.read import read_command_line

_LINE = re.compile(r"^\s*([\w.-]+)\s*=\s*([\w.]+(?:\s*:\s*[\w.]+)?)\s*(?:\[.*\])?\s*$")
_MAX_SCRIPTS = 100


def console_scripts(modules: Modules) -> tuple[ConsoleScript, ...]:
    """Return the commands that the repository's packages install, with their command lines.

    Args:
        modules: The files of the repository.
    """
    found: dict[tuple[str, str], ConsoleScript] = {}
    readers = {
        "pyproject.toml": _from_pyproject,
        "setup.cfg": _from_setup_cfg,
        "setup.py": _from_setup_py,
    }
    for path in modules.files:
        reader = readers.get(path.name)
        if reader is None or len(path.parts) > 3 or len(found) >= _MAX_SCRIPTS:
            continue
        text = modules.text_of(path) or ""
        for name, target in reader(text):
            found.setdefault((name, target), _script(modules, name, target, path))
    return tuple(found.values())


def _script(modules: Modules, name: str, target: str, source: PurePosixPath) -> ConsoleScript:
    module, colon, function = (part.strip() for part in target.partition(":"))
    if not colon and ("/" in module or PurePosixPath(source.parent / module) in modules.files):
        path = source.parent / module
        if path in modules.files:
            return ConsoleScript(name, target, path, source, read_command_line(modules, path)[0])
        return ConsoleScript(name, target, None, source)
    path_of_module = _module(modules, module, source.parent)
    if path_of_module is None:
        return ConsoleScript(name, target, None, source)
    line, _ = read_command_line(modules, path_of_module, function)
    return ConsoleScript(name, target, path_of_module, source, line)


def _module(modules: Modules, name: str, folder: PurePosixPath) -> PurePosixPath | None:
    """Find a module below the folder of the package's own description, or the only one."""
    tail = name.split(".")
    for base in (folder, folder / "src", folder / "lib", folder / "python"):
        stem = base.joinpath(*tail)
        for path in (stem.with_name(f"{stem.name}.py"), stem / "__init__.py"):
            if path in modules.files:
                return path
    last = PurePosixPath(*tail)
    endings = {(*last.parts[:-1], f"{last.name}.py"), (*last.parts, "__init__.py")}
    hits = [
        path for path in modules.files for ending in endings if path.parts[-len(ending) :] == ending
    ]
    return hits[0] if len(hits) == 1 else None


def _from_pyproject(text: str) -> Iterator[tuple[str, str]]:
    try:
        data = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        return
    for keys in (("project", "scripts"), ("project", "gui-scripts"), ("tool", "poetry", "scripts")):
        table: object = data
        for key in keys:
            table = table.get(key, {}) if isinstance(table, dict) else {}
        for name, target in table.items() if isinstance(table, dict) else ():
            if isinstance(target, dict):  # poetry's long form
                target = target.get("callable") or target.get("reference")  # noqa: PLW2901
            if isinstance(target, str):
                yield str(name), target.partition("[")[0].strip()


def _from_setup_cfg(text: str) -> Iterator[tuple[str, str]]:
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string(text)
    except configparser.Error:
        return
    if parser.has_section("options.entry_points"):
        yield from _lines(parser.get("options.entry_points", "console_scripts", fallback=""))
    scripts = parser.get("options", "scripts", fallback="")
    for line in scripts.replace(",", "\n").split("\n"):
        if line.strip():
            yield PurePosixPath(line.strip()).name, line.strip()


def _lines(text: str) -> Iterator[tuple[str, str]]:
    for line in text.split("\n"):
        found = _LINE.match(line)
        if found is not None:
            yield found[1], re.sub(r"\s", "", found[2])


def _from_setup_py(text: str) -> Iterator[tuple[str, str]]:
    tree = parse(text)
    names = _constants(tree) if tree is not None else {}
    for node in ast.walk(tree) if tree is not None else ():
        if not isinstance(node, ast.Call):
            continue
        for keyword in node.keywords:
            value = names.get(keyword.value.id) if isinstance(keyword.value, ast.Name) else None
            value = value or keyword.value
            if keyword.arg == "entry_points":
                yield from _entry_points(value, names)
            elif keyword.arg == "scripts":
                for script in _strings(value):
                    yield PurePosixPath(script).name, script


def _constants(tree: ast.Module) -> dict[str, ast.expr]:
    return {
        node.targets[0].id: node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        and len(node.targets) == 1
        and isinstance(node.targets[0], ast.Name)
    }


def _entry_points(node: ast.expr, names: dict[str, ast.expr]) -> Iterator[tuple[str, str]]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        section = re.search(r"\[console_scripts\]([^\[]*)", node.value)
        yield from _lines(section[1] if section else "")
    elif isinstance(node, ast.Dict):
        for key, value in zip(node.keys, node.values, strict=True):
            if isinstance(key, ast.Constant) and key.value in {"console_scripts", "gui_scripts"}:
                found = names.get(value.id, value) if isinstance(value, ast.Name) else value
                yield from _lines("\n".join(_strings(found)))


def _strings(node: ast.expr) -> Iterator[str]:
    for child in [node] if isinstance(node, ast.Constant) else getattr(node, "elts", []):
        if isinstance(child, ast.Constant) and isinstance(child.value, str):
            yield child.value
