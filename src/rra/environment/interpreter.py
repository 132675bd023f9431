"""Finding a Python of a wanted version, and asking it what it is."""

from __future__ import annotations

import dataclasses
import functools
import json
import os
from pathlib import Path

from rra._base import process
from rra.environment.platforms import parse_minor
from rra.environment.uvtool import condense, run_uv
from rra.errors import EnvironmentBuildError, ToolMissingError

_PROBE = """
import json, os, platform, sys
print(json.dumps({
    "implementation_name": sys.implementation.name,
    "implementation_version": platform.python_version(),
    "os_name": os.name,
    "platform_machine": platform.machine(),
    "platform_python_implementation": platform.python_implementation(),
    "platform_release": platform.release(),
    "platform_system": platform.system(),
    "platform_version": platform.version(),
    "python_full_version": platform.python_version(),
    "python_version": ".".join(platform.python_version_tuple()[:2]),
    "sys_platform": sys.platform,
    "base_prefix": sys.base_prefix,
}))
"""


PYTHON_2 = "could not build: Python 2, which no tool that installs wheels drives any more"
"""What is said of code of another age, before why and what would work."""


@dataclasses.dataclass(frozen=True, slots=True)
class Interpreter:
    """A Python that is installed here.

    Attributes:
        path: Its executable.
        version: Full version, such as ``3.11.7``.
        base_prefix: Where its standard library is installed.
        markers: Values of the environment markers (PEP 508).
    """

    path: Path
    version: str
    base_prefix: Path
    markers: dict[str, str]

    @property
    def minor(self) -> str:
        """Major and minor version."""
        return ".".join(self.version.split(".")[:2])


def find_interpreter(python: str, *, download: bool = True) -> Interpreter:
    """Return an installed Python of a version, fetching one where uv can and may.

    Looks where uv looks (its own, PATH, the usual folders) and through pyenv's versions,
    whose shims hide those that are not selected.

    Args:
        python: Version such as ``3.11`` or ``3.11.7``.
        download: Whether uv may fetch one.

    Raises:
        UsageError: The text is not a version.
        ToolMissingError: There is none, and none could be fetched.
    """
    found = _look_up(python)
    reason = ""
    if found is None and download:
        done = run_uv(["python", "install", "--no-bin", python])
        reason = "" if done.ok else condense(done.stderr)
        found = _look_up(python)
    if found is None:
        minor = "{}.{}".format(*parse_minor(python))
        message = f"Python {python} is not installed here"
        if reason:
            message += f", and could not be fetched ({reason.split(' cause:')[0]})"
        raise ToolMissingError(
            message,
            hint=f"install it, for example: apt-get install python{minor} python{minor}-venv, "
            f"or: pyenv install {minor}",
        )
    return describe_interpreter(found)


def has_interpreter(python: str) -> bool:
    """Tell whether a Python of a version is installed here; nothing is fetched."""
    return _look_up(python) is not None


def _look_up(python: str) -> Path | None:
    parse_minor(python)
    arguments = ["python", "find", "--no-python-downloads", "--no-project", "--system"]
    done = run_uv([*arguments, python])
    if done.ok and done.stdout.strip():
        return Path(done.stdout.strip())
    return _in_pyenv(python)


def _in_pyenv(python: str) -> Path | None:
    root = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    candidates: list[tuple[int, Path]] = []
    for folder in root.glob(f"{python}*"):
        executable = folder / "bin" / "python"
        rest = folder.name.removeprefix(python).lstrip(".")
        exact = folder.name == python or folder.name.startswith(f"{python}.")
        if exact and executable.is_file() and (rest.isdigit() or not rest):
            candidates.append((int(rest or 0), executable))
    return max(candidates)[1] if candidates else None


@functools.lru_cache(maxsize=32)
def describe_interpreter(path: Path) -> Interpreter:
    """Ask an executable for its version, place and markers.

    Raises:
        EnvironmentBuildError: It does not run.
    """
    done = process.run([path, "-I", "-c", _PROBE], timeout=60)
    try:
        facts = json.loads(done.stdout)
        base = Path(facts.pop("base_prefix"))
    except (json.JSONDecodeError, KeyError) as error:
        message = f"the Python at {path} does not run: {done.last_error(1)}"
        raise EnvironmentBuildError(message, hint="repair or reinstall that Python") from error
    return Interpreter(path, facts["python_full_version"], base, facts)
