"""Which files Python code reads and writes, as far as its text tells."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping

from rra.scan.constants import dotted, path_pattern
from rra.scan.objects import FileUse

_READ_FIRST = re.compile(
    r"(?:^|\.)(?:load|loadtxt|genfromtxt|fromfile|loadmat|read_(?:csv|table|json|excel|pickle|"
    r"parquet|hdf|fwf|feather|stata)|imread|load_svmlight_file|read_text|memmap|loadarff|scan_csv)$"
)
_WRITE_FIRST = re.compile(
    r"(?:^|\.)(?:save|savez|savez_compressed|savetxt|savemat|savefig|imsave|imwrite|tofile|"
    r"to_(?:csv|json|excel|pickle|parquet|hdf|latex|html|markdown|feather)|write_csv|"
    r"save_model|save_weights|save_pretrained|write_image|write_html)$"
)
_WRITE_SECOND = re.compile(r"(?:^|\.)(?:torch\.save|joblib\.dump)$")
_METHODS_READ = frozenset({"read_text", "read_bytes"})
_METHODS_WRITE = frozenset({"write_text", "write_bytes"})
_OPENERS = frozenset(
    {"open", "File", "io.open", "codecs.open", "gzip.open", "bz2.open", "lzma.open"}
)
_MOVES = frozenset({"os.rename", "os.replace", "shutil.move", "shutil.copy", "shutil.copy2"})


def file_uses(
    tree: ast.AST, names: Mapping[str, str]
) -> tuple[tuple[FileUse, ...], tuple[FileUse, ...]]:
    """Return the files that calls read and those that they write.

    Args:
        tree: The module.
        names: Constants of the module that hold paths.
    """
    reads: list[FileUse] = []
    writes: list[FileUse] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            for expression, written in _uses(node):
                pattern = path_pattern(expression, names)
                if pattern is not None and "\n" not in pattern and len(pattern) < 400:
                    (writes if written else reads).append(FileUse(pattern, node.lineno))
    return tuple(reads), tuple(writes)


def existence_checks(tree: ast.AST, names: Mapping[str, str]) -> tuple[FileUse, ...]:
    """Return the files whose existence a module asks for.

    Args:
        tree: The module.
        names: Constants of the module that hold paths.
    """
    found = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        expression: ast.AST | None = None
        if re.search(r"(?:^|\.)path\.(?:exists|isfile)$", dotted(node.func)) and node.args:
            expression = node.args[0]
        elif isinstance(node.func, ast.Attribute) and node.func.attr in {"exists", "is_file"}:
            expression = node.func.value
        pattern = path_pattern(expression, names)
        if pattern is not None:
            found.append(FileUse(pattern, node.lineno))
    return tuple(found)


def _uses(node: ast.Call) -> Iterator[tuple[ast.AST, bool]]:
    """Yield (path expression, whether it is written) of one call."""
    name = dotted(node.func)
    if isinstance(node.func, ast.Attribute):
        method, owner = node.func.attr, node.func.value
        if method in _METHODS_READ | _METHODS_WRITE:
            yield owner, method in _METHODS_WRITE
            return
        if method == "open" and (name == "open" or not _is_module(name)):
            yield owner, _is_write(node.args[0] if node.args else _keyword(node, "mode"))
            return
    first = node.args[0] if node.args else _keyword(node, "file", "fname", "path", "filename")
    if _WRITE_SECOND.search(name) or name in _MOVES:
        if len(node.args) > 1:
            yield node.args[1], True
    elif first is None:
        return
    elif name in _OPENERS or name.endswith(("h5py.File", "ZipFile")):
        yield first, _is_write(node.args[1] if len(node.args) > 1 else _keyword(node, "mode"))
    else:
        yield from _by_name(node, name, first)


def _by_name(node: ast.Call, name: str, first: ast.AST) -> Iterator[tuple[ast.AST, bool]]:
    method = node.func.attr if isinstance(node.func, ast.Attribute) else name
    if _WRITE_FIRST.search(name) or _WRITE_FIRST.search(method):
        yield first, True
    elif _READ_FIRST.search(name) or name.endswith("Image.open"):
        yield first, False


def _is_module(name: str) -> bool:
    return name in _OPENERS or name.endswith(("os.open", "Image.open", "webbrowser.open"))


def _keyword(node: ast.Call, *names: str) -> ast.AST | None:
    for keyword in node.keywords:
        if keyword.arg in names:
            return keyword.value
    return None


def _is_write(mode: ast.AST | None) -> bool:
    text = mode.value if isinstance(mode, ast.Constant) else "r"
    return isinstance(text, str) and any(letter in text for letter in "wax+")
