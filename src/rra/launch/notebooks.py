"""Notebooks as launchers: whether an environment can run them, and the command that does."""

from __future__ import annotations

import json
from pathlib import Path

from packaging.utils import canonicalize_name

from rra._base.files import atomic_write
from rra.environment import Built
from rra.errors import LaunchError
from rra.launch.workspace import Workspace

RUNNER = "run_notebook.py"
"""Name of the runner beside a run."""

NEEDED = ("nbclient", "ipykernel")
"""Packages that an environment needs to run notebooks; jupyter and nbconvert bring them."""

_CELLS = {True: "cells", False: "worksheets"}
"""Where a notebook has its cells, by whether it is of format 4 or later."""


def notebook_command(environment: Built, entry: str, path: Path) -> list[str]:
    """Return the command that runs a notebook, the runner by its name alone.

    Raises:
        LaunchError: It is not there, or the environment cannot run it.
    """
    if not path.is_file():
        message = f"the notebook {entry} is not there"
        raise LaunchError(message, hint="write it, or correct `entry` in rra.yaml")
    _insist_on_notebook(path, entry)
    if environment.python is None:
        message = (
            f"{entry} is a notebook, and environment {environment.id} has no Python of its own"
        )
        raise LaunchError(message, hint="name the Python of the environment in rra.yaml")
    installed = {canonicalize_name(name) for name, _ in environment.packages}
    missing = [name for name in NEEDED if name not in installed]
    # What a kind does not list (a container, a Python of the system) is known to the runner alone.
    if missing and environment.kind == "pylock":
        message = f"{entry} is a notebook, and environment {environment.id} locks no "
        hint = f"add {' and '.join(missing)} to its requirements, and lock again: rra lock"
        raise LaunchError(message + " and no ".join(missing), hint=hint)
    return [str(environment.python), RUNNER, str(path)]


def _insist_on_notebook(path: Path, entry: str) -> None:
    """Refuse what Jupyter could not open, before anything runs.

    Raises:
        LaunchError: It is no JSON, or not that of a notebook.
    """
    hint = "open it in Jupyter and save it anew, or take it from your version control; run again"
    try:
        document = json.loads(path.read_bytes().decode("utf-8-sig"))
    except json.JSONDecodeError as error:
        message = f"{entry}:{error.lineno}:{error.colno}: not a notebook: {error.msg}"
        raise LaunchError(message, hint=hint) from error
    except (UnicodeDecodeError, RecursionError) as error:
        message = f"{entry} is not a notebook: {error}"
        raise LaunchError(message, hint=hint) from error
    version = document.get("nbformat") if isinstance(document, dict) else None
    if not isinstance(version, int) or not isinstance(document.get(_CELLS[version >= 4]), list):
        message = f"{entry} is JSON, and not that of a notebook: it has no nbformat and no cells"
        raise LaunchError(message, hint=hint)


def provide_runner(argv: list[str], space: Workspace) -> list[str]:
    """Put the runner beside a run whose command names it; return the command with its place.

    Raises:
        StorageError: The disk is full or refuses.
    """
    if argv[1:2] != [RUNNER]:
        return argv
    place = space.given / RUNNER
    source = Path(__file__).with_name("notebook_runner.py")
    atomic_write(place, source.read_bytes())
    return [argv[0], str(place), *argv[2:]]
