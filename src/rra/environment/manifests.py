"""Reading the other files in which repositories name their packages; none of them is run."""

from __future__ import annotations

import ast
import configparser
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from rra._base.counts import counted
from rra._base.yaml import YamlDocument, parse_yaml
from rra.environment.conda_specs import has_build, python_of_spec, read_conda_spec, split_spec
from rra.environment.requirement_files import Requirements, decode
from rra.errors import FormatError

_OF_R = re.compile(r"(?:r|r-.+|bioconductor-.+|mro-base)$")


def read_conda(path: Path, name: str) -> Requirements:
    """Read a conda ``environment.yml``: its conda packages by the reviewed table, its pip list."""
    result = Requirements()
    text, _ = decode(path.read_bytes())
    try:
        document = parse_yaml(text, source=name)
    except FormatError as error:
        result.remark(name, error.problems[0].message, line=error.problems[0].line)
        return result
    data = document.data if isinstance(document.data, dict) else {}
    _remark_machine(data, name, document, result)
    system: list[str] = []
    for index, item in enumerate(data.get("dependencies") or []):
        line = document.position(("dependencies", index))[0]
        if isinstance(item, dict):
            for inner in item.get("pip") or []:
                _take_pip(str(inner), name, line, result)
            continue
        spec = str(item)
        result.python = python_of_spec(spec) or result.python
        requirement, remark = read_conda_spec(spec)
        if requirement is not None:
            result.found.append((requirement, f"{name}:{line}"))
        if remark:
            result.remark(name, remark, line=line)
        elif requirement is None and split_spec(spec)[0] not in {"python", "pip"}:
            system.append(split_spec(spec)[0])
    foreign = sorted(name for name in system if _OF_R.match(name))
    if foreign:
        shown = ", ".join(foreign)
        message = f"packages of R are not rebuilt without conda, nothing replaces them: {shown}"
        result.remark(name, message)
    system = [one for one in system if one not in foreign]
    if system:
        shown = ", ".join(sorted(system))
        message = f"system packages of conda are left out, wheels bring their own: {shown}"
        result.remark(name, message)
    return result


def _remark_machine(
    data: Mapping[str, Any], name: str, document: YamlDocument, result: Requirements
) -> None:
    """Say what of an exported environment holds for the author's machine alone; none is used."""
    if "prefix" in data:
        line = document.position(("prefix",))[0]
        message = "prefix names a folder of the author's machine; it is not used"
        result.remark(name, message, line=line, hint="leave it out: conda env export --no-builds")
    bound = [
        (index, str(item))
        for index, item in enumerate(data.get("dependencies") or [])
        if not isinstance(item, dict) and has_build(str(item))
    ]
    if bound:
        index, first = bound[0]
        line = document.position(("dependencies", index))[0]
        count = counted(len(bound), "package is pinned", "packages are pinned")
        message = f"{count} to a build for one platform, such as {first}; the version is taken"
        result.remark(name, message, line=line)


def _take_pip(text: str, name: str, line: int, result: Requirements) -> None:
    if text.startswith("-") or text.strip() in {"", "."}:
        result.remark(name, f"pip entry {text!r} is not used", line=line)
    else:
        result.take(text.partition(" #")[0], name, line)


def read_pyproject(path: Path, name: str) -> Requirements:
    """Read ``[project]`` of ``pyproject.toml``, or what Poetry writes instead."""
    result = Requirements()
    text, _ = decode(path.read_bytes())
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        result.remark(name, f"not valid TOML: {error}")
        return result
    project = data.get("project", {})
    result.python = str(project.get("requires-python", ""))
    for item in project.get("dependencies", []):
        result.take(str(item), name, _line_of(text, str(item)))
    poetry = data.get("tool", {}).get("poetry", {}).get("dependencies", {})
    for package, wanted in poetry.items():
        _take_poetry(package, wanted, name, result)
    return result


def _take_poetry(package: str, wanted: object, name: str, result: Requirements) -> None:
    if isinstance(wanted, Mapping):
        if wanted.get("optional"):
            return
        wanted = wanted.get("version")
    specifier = caret_to_specifier(wanted) if isinstance(wanted, str) else None
    if package.lower() == "python":
        result.python = result.python or specifier or ""
    elif specifier is None:
        result.remark(name, f"{package} has no version that can be read; left out")
    else:
        result.take(package + specifier, name)


def caret_to_specifier(text: str) -> str | None:
    """Translate Poetry's ``^1.2`` and ``~1.2`` into a specifier (PEP 440); None if it fails."""
    parts = []
    for piece in (part.strip() for part in text.split(",")):
        match = re.fullmatch(r"([\^~])\s*(\d+(?:\.\d+)*)", piece)
        if piece == "*":
            continue
        if match is None:
            if re.fullmatch(r"\d[\w.]*", piece):
                parts.append(f"=={piece}")
            elif re.fullmatch(r"\d+(\.\d+)*\.\*|(~=|[<>=!]=?)\s*[\w.*+]+", piece):
                parts.append(piece if not piece[0].isdigit() else f"=={piece}")
            else:
                return None
            continue
        numbers = [int(n) for n in match[2].split(".")]
        parts.append(f">={match[2]},<{_upper(match[1], numbers)}")
    return ",".join(parts)


def _upper(sign: str, numbers: list[int]) -> str:
    if sign == "~":
        index = min(1, len(numbers) - 1)
    else:
        index = next((i for i, n in enumerate(numbers) if n), len(numbers) - 1)
    return ".".join(str(n) for n in [*numbers[:index], numbers[index] + 1])


def read_setup_cfg(path: Path, name: str) -> Requirements:
    """Read ``install_requires`` and ``python_requires`` of ``setup.cfg``."""
    result = Requirements()
    parser = configparser.ConfigParser(interpolation=None)
    text, _ = decode(path.read_bytes())
    try:
        parser.read_string(text)
    except configparser.Error as error:
        result.remark(name, f"cannot be read: {str(error).splitlines()[0]}")
        return result
    result.python = parser.get("options", "python_requires", fallback="")
    for item in parser.get("options", "install_requires", fallback="").splitlines():
        line = item.partition("#")[0].strip()
        if line and line.startswith("file:"):
            result.remark(name, f"install_requires is {line}, which is read for itself")
        elif line:
            result.take(line, name, _line_of(text, line))
    return result


def read_setup_py(path: Path, name: str) -> Requirements:
    """Read the call of ``setup()`` in ``setup.py`` from its syntax tree; nothing runs."""
    result = Requirements()
    text, _ = decode(path.read_bytes())
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError) as error:
        message = getattr(error, "msg", str(error))
        result.remark(name, f"not Python 3: {message}", line=getattr(error, "lineno", None))
        return result
    known = dict(_constants(tree))
    for call in ast.walk(tree):
        if not isinstance(call, ast.Call) or _called(call) != "setup":
            continue
        arguments = {keyword.arg: keyword.value for keyword in call.keywords}
        python = _value(arguments.get("python_requires"), known)
        result.python = python if isinstance(python, str) else ""
        if "install_requires" not in arguments:
            continue
        node = arguments["install_requires"]
        items = _value(node, known)
        if not isinstance(items, list):
            message = "install_requires is computed; setup.py is not run, so it is not known"
            result.remark(name, message, line=node.lineno)
            continue
        for item in items:
            result.take(item, name, node.lineno)
    return result


def _constants(tree: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    for node in tree.body:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    yield target.id, node.value


def _called(call: ast.Call) -> str:
    function = call.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _value(node: ast.expr | None, known: Mapping[str, ast.expr], depth: int = 0) -> Any:
    """Return a string or a list of strings that an expression certainly is, else None."""
    if node is None or depth > 8:
        return None
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.Name):
        return _value(known.get(node.id), known, depth + 1)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = (_value(side, known, depth + 1) for side in (node.left, node.right))
        return left + right if isinstance(left, list) and isinstance(right, list) else None
    if isinstance(node, ast.List | ast.Tuple):
        items = [_value(item, known, depth + 1) for item in node.elts]
        return items if all(isinstance(item, str) for item in items) else None
    return None


def _line_of(text: str, item: str) -> int | None:
    for number, line in enumerate(text.split("\n"), 1):
        if item in line:
            return number
    return None
