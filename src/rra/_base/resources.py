"""Files that ship with the package: schemas, templates and the specification.

They are found in a wheel and in a checkout.
"""

from __future__ import annotations

from pathlib import Path

from rra.errors import InternalError

_SCHEMA = ".schema.json"
_PACKAGE = Path(__file__).resolve().parent.parent


def _data_root(name: str) -> Path:
    for candidate in (_PACKAGE / "_data" / name, _PACKAGE.parent.parent / name):
        if candidate.is_dir():
            return candidate
    message = f"the installed package lacks its {name}/ files"
    raise InternalError(message, hint="install rra again")


def schema_path(name: str, *, editor: bool = False) -> Path:
    """Return the path of a JSON Schema of the current major version, such as ``manifest``.

    Args:
        name: Name of the document.
        editor: The draft-07 form for editors, which decides as the other does.
    """
    return _data_root("schemas") / ("editor" if editor else "v1") / f"{name}{_SCHEMA}"


def schema_names() -> list[str]:
    """Return the names of the JSON Schemas of the current major version."""
    root = _data_root("schemas") / "v1"
    return sorted(path.name.removesuffix(_SCHEMA) for path in root.glob(f"*{_SCHEMA}"))


def conformance_path(name: str = "v1") -> Path:
    """Return the conformance corpus of the current major version, or a file beside it."""
    return _data_root("schemas") / "conformance" / name


def spec_pages() -> dict[str, Path]:
    """Return the pages of the specification by their names, such as ``manifest``."""
    root = _data_root("spec")
    return {path.stem: path for path in sorted((*root.glob("*.md"), *root.glob("v1/*.md")))}


def templates() -> list[str]:
    """Return the names of the cookiecutter templates that ship."""
    root = _data_root("templates")
    return sorted(path.parent.name for path in root.glob("*/cookiecutter.json"))


def template_path(name: str) -> Path:
    """Return the directory of a shipped cookiecutter template."""
    return _data_root("templates") / name
