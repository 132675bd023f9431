"""Packages whose names are looked up when they are asked for (PEP 562).

A short command must not pay for what it does not use: the objects of the format take a tenth of
a second and twelve MiB to make.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any


def lazy_names(
    package: str, modules: Mapping[str, tuple[str, ...]]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` of a package.

    Args:
        package: The package's name.
        modules: Names that it gives, by the module of it that has them.
    """
    places = {name: module for module, names in modules.items() for name in names}

    def get(name: str) -> Any:
        if name not in places:
            message = f"module {package!r} has no attribute {name!r}"
            raise AttributeError(message)
        return getattr(importlib.import_module(f"{package}.{places[name]}"), name)

    def names() -> list[str]:
        return sorted(places)

    return get, names
