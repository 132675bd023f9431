"""Accelerators that code asks for, and whether it can do without."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath

from rra.scan.constants import dotted
from rra.scan.traits.objects import Device, Gpu

_ASKS = re.compile(
    r"is_available|device_count|list_physical_devices|is_gpu_available|use_cuda|use_gpu|"
    r"no_cuda|\bcuda\b|\bgpus?\b",
    re.IGNORECASE,
)
_NAMED = re.compile(r"^(?:cuda|gpu|/gpu|/device:GPU)(?::\d+)?$", re.IGNORECASE)
_CALLS = frozenset({"torch.cuda.set_device", "cuda.set_device", "torch.cuda.synchronize"})
_VARIABLE = "CUDA_VISIBLE_DEVICES"
_GPU_MODULES = frozenset(
    {"cupy", "cudf", "cuml", "pycuda", "triton", "flash_attn", "apex", "pynvml"}
)


def find_devices(tree: ast.Module, path: PurePosixPath) -> tuple[tuple[Device, ...], bool]:
    """Return the places that ask for an accelerator, and whether the module looks for one first.

    Args:
        tree: The module.
        path: Its place in the repository.
    """
    found = [
        Device(text, path, line, guarded) for text, line, guarded in _walk(tree, guarded=False)
    ]
    looks = any(
        isinstance(node, ast.Call)
        and re.search(
            r"cuda\.is_available|list_physical_devices|is_gpu_available", dotted(node.func)
        )
        for node in ast.walk(tree)
    )
    return tuple(dict.fromkeys(found)), looks


def _walk(node: ast.AST, *, guarded: bool) -> Iterator[tuple[str, int, bool]]:
    """Walk a tree, remembering whether a condition above asks for an accelerator."""
    if isinstance(node, ast.If | ast.IfExp | ast.While):
        asks = guarded or bool(_ASKS.search(ast.unparse(node.test)))
        for child in ast.iter_child_nodes(node):
            if child is not node.test:
                yield from _walk(child, guarded=asks)
        return
    if isinstance(node, ast.ExceptHandler):
        guarded = True
    for text in _asked(node):
        yield text, getattr(node, "lineno", 0), guarded
    for child in ast.iter_child_nodes(node):
        yield from _walk(child, guarded=guarded)


def _asked(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Call):
        name = dotted(node.func)
        if isinstance(node.func, ast.Attribute) and node.func.attr == "cuda":
            yield ".cuda()"
        elif name in _CALLS:
            yield name
        for inner in [*node.args, *(k.value for k in node.keywords if k.arg != "help")]:
            if _names_device(inner) and not name.endswith(("add_argument", "startswith")):
                yield str(inner.value)  # type: ignore[attr-defined]
        if name.endswith("putenv") and node.args and _text(node.args[0]) == _VARIABLE:
            yield _VARIABLE
    elif isinstance(node, ast.Assign):
        if any(isinstance(t, ast.Subscript) and _text(t.slice) == _VARIABLE for t in node.targets):
            yield _VARIABLE
        elif _names_device(node.value):
            yield str(node.value.value)  # type: ignore[attr-defined]


def _text(node: ast.AST) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _names_device(node: ast.AST) -> bool:
    return bool(_NAMED.match(_text(node)))


def text_devices(text: str, path: PurePosixPath) -> Iterator[Device]:
    """Yield the devices of Python code that cannot be parsed, and of shell scripts."""
    for number, line in enumerate(text.split("\n"), start=1):
        if line.lstrip().startswith("#"):
            continue
        for found in re.finditer(
            r"\.cuda\(\)|\bCUDA_VISIBLE_DEVICES\s*=\s*[\w,]+|['\"]cuda:\d['\"]", line
        ):
            yield Device(found[0].partition("=")[0].strip("'\" "), path, number)


def judge_gpu(
    devices: Iterable[Device], looking: Iterable[PurePosixPath], imports: Iterable[str]
) -> Gpu:
    """Say whether a GPU is needed.

    It is needed when code asks for one without looking whether there is any, or imports what
    works on nothing else. `CUDA_VISIBLE_DEVICES` only chooses among those that there are.

    Args:
        devices: Places that ask for one.
        looking: Files that look for one first.
        imports: Imported top-level names.
    """
    chosen = [one for one in devices if one.text != _VARIABLE]
    bare = [one for one in chosen if not one.guarded]
    modules = sorted(_GPU_MODULES & set(imports))
    if bare or modules:
        why = [f"{one.path}:{one.line} {one.text}" for one in bare]
        return Gpu("needed", tuple([*why, *(f"imports {name}" for name in modules)][:5]))
    asking = [f"{one.path}:{one.line} {one.text}" for one in chosen]
    asking += [f"{path} looks whether there is one" for path in looking]
    return Gpu("optional" if asking else "none", tuple(asking[:5]))
