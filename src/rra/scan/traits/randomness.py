"""Seeds, and randomness that nothing fixes."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from rra.scan.constants import dotted
from rra.scan.traits.objects import Seed

_SETTERS = (
    (r"^(?:np|numpy)\.random\.(?:seed|default_rng|RandomState|Generator)$", "numpy"),
    (r"^(?:default_rng|RandomState)$", "numpy"),
    (r"^random\.(?:seed|Random)$", "random"),
    (r"(?:^|\.)torch\.(?:cuda\.)?manual_seed(?:_all)?$|^manual_seed$", "torch"),
    (r"^(?:\w+\.)?seed_everything$", "pytorch_lightning"),
    (r"^(?:tf|tensorflow)\.(?:compat\.v1\.)?(?:random\.)?set_(?:random_)?seed$", "tensorflow"),
    (r"^(?:keras|tf\.keras)\.utils\.set_random_seed$", "keras"),
    (r"^(?:jax\.)?random\.(?:PRNGKey|key)$|^PRNGKey$", "jax"),
    (r"^(?:cp|cupy)\.random\.seed$", "cupy"),
    (r"^(?:mx|mxnet)\.random\.seed$", "mxnet"),
    (r"^(?:paddle)\.seed$", "paddle"),
    (r"^(?:autograd\.numpy|onp|npr)\.(?:random\.)?seed$", "numpy"),
    (r"^(?:transformers\.)?set_seed$", "transformers"),
)
_NUMPY_DRAWS = (
    r"rand|randn|randint|random|normal|uniform|choice|permutation|shuffle|binomial|poisson|"
    r"exponential|gamma|beta|multivariate_normal|standard_normal|dirichlet|random_sample"
)
_USERS = (
    (r"^(?:np|numpy)\.random\.(?:" + _NUMPY_DRAWS + r")$", "numpy"),
    (
        r"^random\.(?:random|randint|choice|choices|sample|shuffle|uniform|gauss|randrange)$",
        "random",
    ),
    (r"^torch\.(?:randn?|randint|randperm|normal|bernoulli|multinomial)(?:_like)?$", "torch"),
    (r"^(?:tf|tensorflow)\.random\.(?:normal|uniform|truncated_normal|shuffle)$", "tensorflow"),
)
_MODULES = {"random", "numpy.random", "torch", "transformers", "jax", "jax.random"}


def find_seeds(tree: ast.Module, path: PurePosixPath) -> tuple[tuple[Seed, ...], tuple[Seed, ...]]:
    """Return the calls of a module that fix randomness, and those that draw from it.

    A generator that is made without a seed draws from it.

    Args:
        tree: The module.
        path: Its place in the repository.
    """
    names = _import_names(tree)
    own = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    seeds: list[Seed] = []
    draws: list[Seed] = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        written = dotted(node.func)
        name = _full_name(written, names)
        setter = "" if written in own else _library(name, _SETTERS)
        if setter:
            value = _value(node)
            found = Seed(setter, written, value or "", path, node.lineno)
            (draws if value is None or value == "None" else seeds).append(found)
        elif _library(name, _USERS):
            draws.append(Seed(_library(name, _USERS), written, "", path, node.lineno))
        else:
            keyword = next((k.value for k in node.keywords if k.arg == "random_state"), None)
            if keyword is not None:
                value = _shown(keyword)
                found = Seed("sklearn", written, value, path, node.lineno)
                (draws if value == "None" else seeds).append(found)
    return tuple(seeds), tuple(draws)


def _library(name: str, table: tuple[tuple[str, str], ...]) -> str:
    return next((library for pattern, library in table if re.search(pattern, name)), "")


def _value(node: ast.Call) -> str | None:
    """Return the seed of a call as text, empty when only a run knows it, None without one."""
    wanted = ("seed", "a", "x")
    given = node.args[0] if node.args else None
    if given is None:
        given = next((k.value for k in node.keywords if k.arg in wanted), None)
    return None if given is None else _shown(given)


def _shown(node: ast.expr) -> str:
    return str(node.value) if isinstance(node, ast.Constant) else ""


def _import_names(tree: ast.Module) -> dict[str, str]:
    """Map names to what they were imported as: ``npr`` to ``numpy.random``."""
    found: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.asname:
                    found[alias.asname] = alias.name
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                found[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    return found


def _full_name(name: str, names: dict[str, str]) -> str:
    head, _, rest = name.partition(".")
    known = names.get(head)
    if known is None:
        return name
    full = f"{known}.{rest}" if rest else known
    return full.replace("autograd.numpy", "numpy").replace("jax.numpy", "jnp")


def text_seeds(text: str, path: PurePosixPath) -> Iterator[Seed]:
    """Yield the seeds of Python code that cannot be parsed."""
    call = re.compile(r"(?<![\w.])((?:np\.|numpy\.)?random\.seed|torch\.manual_seed)\(([^)\n]*)\)")
    for found in call.finditer(text):
        library = "torch" if "torch" in found[1] else "numpy" if "n" in found[1][:2] else "random"
        value = found[2].strip() if found[2].strip().isdecimal() else ""
        yield Seed(library, found[1], value, path, text.count("\n", 0, found.start()) + 1)
