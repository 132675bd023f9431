"""Packed interpreters: the one that runs the tests, and ones that only claim to be one."""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from rra._base.files import walk_files
from rra.bundle.canonical import write_archive
from rra.environment.interpreter import Interpreter, describe_interpreter
from rra.environment.platforms import PLATFORMS
from rra.environment.prefix import copy_interpreter
from rra.environment.runtime import Machine

if TYPE_CHECKING:
    from collections.abc import Mapping

MINOR = f"{sys.version_info[0]}.{sys.version_info[1]}"
FULL = "{}.{}.{}".format(*sys.version_info[:3])
HERE = Machine.here().platform
ELSEWHERE = next(name for name in PLATFORMS if name.startswith("linux-") and name != HERE)
PROGRAM = f"python/bin/python{MINOR}"


def own_interpreter() -> Interpreter:
    """Return the Python that the tests run with, not that of their virtual environment."""
    return describe_interpreter(Path(sys.base_prefix) / "bin" / f"python{MINOR}")


def pack_own(archive: Path) -> Path:
    """Pack the Python that the tests run with."""
    with tempfile.TemporaryDirectory() as name:
        copy_interpreter(own_interpreter(), Path(name))
        return _write(Path(name), archive)


def description(**changes: Any) -> dict[str, Any]:
    """Return what an interpreter for this machine says of itself; None takes a key away."""
    said: dict[str, Any] = {
        "type": "runtime/v1",
        "python": FULL,
        "platform": HERE,
        "executable": PROGRAM,
        "glibc": "2.2",
        "libraries": ["libc.so.6"],
    }
    said |= changes
    return {key: value for key, value in said.items() if value is not None}


def pretend(
    archive: Path,
    said: Mapping[str, Any] | bytes | None = None,
    *,
    program: str = "#!/bin/sh\nexit 9\n",
    files: Mapping[str, str] | None = None,
) -> Path:
    """Write an archive that claims to hold an interpreter; its program is a shell script.

    Args:
        archive: Where to.
        said: Its description: data, or bytes as they are; None is a proper one.
        program: The script.
        files: Further files.
    """
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        content = said if isinstance(said, bytes) else json.dumps(said or description()).encode()
        (root / "RUNTIME.json").write_bytes(content)
        library = f"python/lib/python{MINOR}/os.py"
        for path, text in {PROGRAM: program, library: "", **(files or {})}.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)
        (root / PROGRAM).chmod(0o755)
        return _write(root, archive)


def _write(root: Path, archive: Path) -> Path:
    archive.parent.mkdir(parents=True, exist_ok=True)
    with archive.open("wb") as stream:
        write_archive(root, (PurePosixPath(path) for path in walk_files(root)), stream)
    return archive
