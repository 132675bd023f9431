"""Other Pythons on this machine, with what `rra` needs installed into them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

from tests.support.source import ROOT

MINORS = ("3.11", "3.12", "3.13")
OTHERS = tuple(minor for minor in MINORS if minor != f"3.{sys.version_info.minor}")


@cache
def find_python(minor: str) -> Path | None:
    """Return a Python of a minor version that starts, on PATH or among pyenv's and uv's."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    uv = Path(os.environ.get("UV_PYTHON_INSTALL_DIR", Path.home() / ".local/share/uv/python"))
    candidates = [Path(found)] if (found := shutil.which(f"python{minor}")) else []
    candidates += [Path("/usr/bin") / f"python{minor}", Path("/usr/local/bin") / f"python{minor}"]
    candidates += sorted(pyenv.glob(f"versions/{minor}.*/bin/python{minor}"))
    candidates += sorted(uv.glob(f"cpython-{minor}.*/bin/python{minor}"))
    found_pythons = (_look(path) for path in candidates)
    return next((path for version, path in found_pythons if version == minor and path), None)


def _look(path: Path) -> tuple[str, Path | None]:
    """Return version and place of the Python that a program is, or starts."""
    code = "import sys; print('%d.%d' % sys.version_info[:2]); print(sys.executable)"
    try:
        done = subprocess.run([path, "-c", code], capture_output=True, text=True, check=False)
    except OSError:
        return "", None
    lines = done.stdout.splitlines()
    return (lines[0], Path(lines[1])) if done.returncode == 0 and len(lines) == 2 else ("", None)


def environment_with(python: Path, place: Path) -> Path:
    """Make an environment of a Python with the pinned requirements; return its interpreter."""
    uv = str(Path(sys.executable).with_name("uv"))
    env = {**os.environ, "VIRTUAL_ENV": str(place)}
    subprocess.run([uv, "venv", "-q", "--python", python, place], env=env, check=True)
    pins = ["--require-hashes", "-r", str(ROOT / "requirements" / "runtime.txt")]
    subprocess.run([uv, "pip", "install", "-q", *pins], env=env, check=True)
    return place / "bin" / "python"
