"""Who may import whom, and where time and processes come from."""

from __future__ import annotations

import ast
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import grimp

from tests.support.source import ROOT, Module, modules

#: A library and the modules that may import it.
ONLY_IN = {
    "subprocess": {"rra._base.process"},
    "multiprocessing": {"rra._base.process"},
    "pty": {"rra._base.process"},
    "time": {"rra._base.clock"},
}
#: Calls that would go around `rra._base.clock` and `rra._base.process`.
FORBIDDEN_CALLS = {
    "rra._base.clock": {"datetime.now", "datetime.utcnow", "datetime.today", "date.today"},
    "rra._base.process": {"os.system", "os.popen", "os.fork", "os.execv", "os.spawnv"},
}


def imported(module: Module) -> Iterator[tuple[int, str]]:
    """Yield line and top-level name of each absolute import, wherever it stands."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name.split(".")[0]) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.lineno, node.module.split(".")[0]


def test_the_layers_hold() -> None:
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-logo", "--no-cache"]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr


def test_the_architecture_page_draws_the_layers_of_the_contract() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    layers = contracts["tool"]["importlinter"]["contracts"][0]["layers"]
    page = (ROOT / "docs/explanation/architecture.md").read_text(encoding="utf-8")
    drawn = page.split("```")[1].splitlines()[1:]
    rows = [row.split("  ")[0].strip() for row in drawn if row.strip()]
    here = [
        " | ".join(name for name in layer.split(" | ") if not name.startswith("("))
        for layer in layers
    ]
    assert rows == [layer for layer in here if layer]


def test_there_are_no_import_cycles() -> None:
    graph = grimp.build_graph("rra", cache_dir=None)
    edges = {name: graph.find_modules_directly_imported_by(name) for name in graph.modules}
    assert [cycle for cycle in strongly_connected(edges) if len(cycle) > 1] == []


def strongly_connected(edges: dict[str, set[str]]) -> list[list[str]]:
    """Return the strongly connected components (Tarjan 1972), each sorted."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    components: list[list[str]] = []

    def visit(name: str) -> None:
        index[name] = low[name] = len(index)
        stack.append(name)
        for other in sorted(edges[name]):
            if other not in index:
                visit(other)
                low[name] = min(low[name], low[other])
            elif other in stack:
                low[name] = min(low[name], index[other])
        if low[name] == index[name]:
            start = stack.index(name)
            components.append(sorted(stack[start:]))
            del stack[start:]

    for name in sorted(edges):
        if name not in index:
            visit(name)
    return components


def test_cycles_would_be_found() -> None:
    edges = {"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}
    assert strongly_connected(edges) == [["a", "b", "c"], ["d"]]


STEP = "rra._base.step"
"""The program by which `rra._base.process` starts others: its other half."""


def called(module: Module) -> Iterator[tuple[int, str]]:
    """Yield line and dotted name of each call, wherever it stands."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Call):
            yield node.lineno, ast.unparse(node.func)


def test_time_and_processes_have_one_door() -> None:
    breaches = [
        f"{module.path}:{line} imports {name}"
        for module in modules()
        for line, name in imported(module)
        if module.name not in ONLY_IN.get(name, {module.name})
    ]
    breaches += [
        f"{module.path}:{line} calls {name}"
        for module in modules()
        for line, name in called(module)
        for owner, calls in FORBIDDEN_CALLS.items()
        if module.name not in {owner, STEP} and ".".join(name.split(".")[-2:]) in calls
    ]
    assert breaches == []


PROGRAMS = ("rra.cli", "rra.__main__", STEP, "rra.launch.notebook_runner")
"""What is started as a program; the last one in the environment of an artifact."""


def test_the_library_never_prints_prompts_or_exits() -> None:
    loud = {"print", "input", "exit", "quit", "sys.exit", "os._exit", "breakpoint"}
    breaches = [
        f"{module.path}:{line} calls {name}"
        for module in modules()
        for line, name in called(module)
        if name in loud and not module.name.startswith(PROGRAMS)
    ]
    assert breaches == []
