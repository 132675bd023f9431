"""What a launcher finds around itself: command, variables, and what it may see."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from rra._base import canonical, process
from rra._base.files import atomic_write
from rra.artifact import layout
from rra.environment import Built, numeric_variables
from rra.errors import LaunchError
from rra.launch.notebooks import notebook_command
from rra.launch.parameters import Settings
from rra.launch.place import hidden_places
from rra.launch.request import RunRequest
from rra.launch.workspace import Workspace
from rra.sandbox import Limits, View, selection, shown

SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

_MOST_LINKS, _LONGEST_LINE = 16, 4096
_LOCAL = ("LANG", "LC_", "TZ")
"""Starts of variables that the caller's place in the world decides."""


def command(request: RunRequest) -> list[str]:
    """Return the command that starts the entry of a launcher.

    Raises:
        LaunchError: The entry is not there, or is of a kind that is not run.
        ToolMissingError: There is no bash.
    """
    entry = request.artifact.manifest.launchers[request.launcher].entry
    path = request.artifact.path(entry)
    if path.suffix == ".ipynb":
        return notebook_command(request.environment, entry, path)
    if not path.is_file():
        message = f"the entry of launcher {request.launcher} is not there: {entry}"
        raise LaunchError(message, hint="write it, or correct `entry` in rra.yaml")
    _insist_on_unix_lines(path, entry)
    if path.suffix == ".py":
        if request.environment.python is None:
            message = f"{entry} is a Python program, and environment {request.environment.id} has "
            hint = "name the Python of the environment in rra.yaml, or write a .sh launcher"
            raise LaunchError(f"{message}no Python of its own", hint=hint)
        return [str(request.environment.python), str(path)]
    if request.environment.image is not None:
        return ["bash", str(path)]  # the image's, by its own PATH
    return [str(_bash()), str(path)]


def _insist_on_unix_lines(path: Path, entry: str) -> None:
    """Refuse a shell script with Windows line ends: bash would call every command not found."""
    if path.suffix != ".sh":
        return
    with path.open("rb") as file:
        first = file.readline(_LONGEST_LINE)
    if first.endswith(b"\r\n"):
        message = f"{entry} has Windows line ends (CRLF), with which bash cannot run it"
        raise LaunchError(message, hint=f"convert it: sed -i 's/\\r$//' {entry}")


def _bash() -> Path:
    """Return the system's bash, which a sandbox shows, before one that only the caller has."""
    found = process.find_tool("bash", SYSTEM_PATH)
    if found is not None:
        return found
    why, install = "launchers are bash scripts", "install bash"
    return process.require_tool("bash", why=why, install=install).resolve()


def variables(
    request: RunRequest,
    space: Workspace,
    settings: Settings,
    *,
    temporary: Path,
    observer: Path | None,
    secrets: Mapping[str, str],
) -> dict[str, str]:
    """Return the whole environment of a launcher: little, and nothing of the caller's own.

    What the manifest sets comes over the variables that change numbers and are taken from the
    caller; what the contract promises comes over both.
    """
    manifest = request.artifact.manifest
    launcher = manifest.launchers[request.launcher]
    declared = {
        **request.environment.variables,
        **(launcher.variables or {}),
    }
    inherited = numeric_variables(os.environ)
    here = {name: inherited[name] for name in inherited if not name.startswith(_LOCAL)}
    given = {**here, "LANG": "C.UTF-8", **declared}
    own = request.environment.bin
    search = [*([str(own)] if own is not None else []), given.get("PATH", SYSTEM_PATH)]
    python_path = [str(part) for part in (observer, given.get("PYTHONPATH")) if part]
    contract = {
        "PATH": ":".join(search),
        "HOME": str(space.home),
        "TMPDIR": str(temporary),
        "RRA_CODE_DIR": str(space.code),
        "RRA_OUTPUTS_ROOT": str(space.outputs),
        "RRA_OUTPUT_DIR": str(space.outputs / request.output_place),
        "RRA_DATA_DIR": str(request.artifact.root / layout.DATA_DIR),
        "RRA_PARAMETERS": str(_write_parameters(space, settings)),
        "RRA_NONCE": request.nonce,
        **selection(request.gpus),
    }
    if python_path:
        contract["PYTHONPATH"] = ":".join(python_path)
    if request.smoke:
        contract["RRA_SMOKE"] = "1"
    return {**given, **secrets, **settings.variables, **contract}


def _write_parameters(space: Workspace, settings: Settings) -> Path:
    path = space.given / "parameters.json"
    atomic_write(path, canonical.dumps(settings.values) + b"\n")
    return path


def view(request: RunRequest, space: Workspace, env: dict[str, str], limits: Limits) -> View:
    """Return what a launcher may see and change."""
    launcher = request.artifact.manifest.launchers[request.launcher]
    needed = [space.outputs / name for name in launcher.needs]
    own = space.outputs / request.output_place
    return View(
        read_only=[
            *(request.artifact.root, *interpreter_places(request.environment)),
            *(space.given, *needed),
        ],
        writable=[space.code, own, space.home, space.seen],
        hidden=hidden_places(request.artifact),
        temporary=space.temporary,
        cwd=space.code,
        env=env,
        network=launcher.network != "none",
        limits=limits,
        devices=shown(request.gpus),
    )


def interpreter_places(environment: Built) -> list[Path]:
    """Return the folders that an environment's Python is made of.

    Its links are followed one by one: each may pass through another installation, such as a
    name for the newest patch release.
    """
    if environment.image is not None:
        return []
    hops = _hops(environment.python) if environment.python is not None else ()
    named = (environment.root, environment.base_prefix, *hops)
    prefixes = [place for place in named if place is not None]
    return sorted({place for prefix in prefixes for place in (prefix, prefix.resolve())})


def _hops(program: Path) -> Iterator[Path]:
    for _ in range(_MOST_LINKS):
        if not os.path.islink(program):  # noqa: PTH114 - no error where looking is forbidden
            return
        program = Path(os.path.normpath(program.parent / program.readlink()))
        if program.parent.name == "bin" and program.parent.parent != Path("/"):
            yield program.parent.parent


def network_gaps(request: RunRequest) -> list[str]:
    """Say what is open although the launcher declares less."""
    network = request.artifact.manifest.launchers[request.launcher].network
    if isinstance(network, str):
        return []
    hosts = ", ".join(network)
    return [f"the network was open to every host, not only to those declared ({hosts})"]
