"""A copy of the interpreter that starts from anywhere, with nobody's name in it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from rra._base.files import sha256_file
from rra.environment.elf import is_elf, read_elf
from rra.environment.interpreter import Interpreter
from rra.environment.prefix import archive_members, copy_interpreter
from rra.environment.runtime import RuntimeDescription
from rra.errors import LockError
from tests.support.runtimes import FULL, HERE, MINOR, PROGRAM, own_interpreter, pack_own

LOADS = """
import bz2, ctypes, hashlib, json, lzma, sqlite3, ssl, sys, venv, zlib
print(json.dumps([sys.version.split()[0], sys.base_prefix, ssl.OPENSSL_VERSION[:7]]))
"""


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, RuntimeDescription]:
    """A copy of the interpreter that runs the tests, moved after it was made."""
    made = tmp_path_factory.mktemp("made")
    said = copy_interpreter(own_interpreter(), made)
    moved = tmp_path_factory.mktemp("moved") / "somewhere else"
    shutil.move(made, moved)
    return moved, said


@pytest.mark.clause("environment/interpreter-moves")
def test_it_starts_from_another_folder_in_an_empty_environment(
    copied: tuple[Path, RuntimeDescription],
) -> None:
    root, said = copied
    assert said.executable == PROGRAM
    argv: list[str | Path] = [root / PROGRAM, "-B", "-c", LOADS]
    done = subprocess.run(argv, env={}, capture_output=True, text=True, check=True)
    version, base, tls = json.loads(done.stdout)
    assert (version, base, tls) == (FULL, str(root / "python"), "OpenSSL")


def test_it_says_what_it_needs(copied: tuple[Path, RuntimeDescription]) -> None:
    root, said = copied
    assert (said.python, said.platform) == (FULL, HERE)
    assert json.loads((root / "RUNTIME.json").read_bytes()) == said.to_json()
    assert "libc.so.6" in said.libraries
    here = os.confstr("CS_GNU_LIBC_VERSION")
    assert here is not None
    assert tuple(map(int, (said.glibc or "").split("."))) <= tuple(
        map(int, here.split()[1].split("."))
    )
    lying = {path.name for path in (root / "python" / "lib").iterdir()}
    assert set(said.carried) <= lying
    for path in root.rglob("*"):
        if path.is_file() and not path.is_symlink() and is_elf(path.read_bytes()):
            needed = set(read_elf(path.read_bytes()).needed)
            assert needed <= {*lying, *said.libraries}, path


@pytest.mark.clause("environment/interpreter-names-nobody")
def test_nothing_says_where_it_was_installed(copied: tuple[Path, RuntimeDescription]) -> None:
    root, _ = copied
    home = os.fsencode(Path(sys.base_prefix).parent)
    if home in {b"/", b"/usr"}:
        home = os.fsencode(Path.home()) + b"/"
    for path in root.rglob("*"):
        if path.is_file() and not path.is_symlink():
            assert home not in path.read_bytes(), path


def test_tests_caches_and_packages_stay_behind(copied: tuple[Path, RuntimeDescription]) -> None:
    root, _ = copied
    members = [str(path) for path in archive_members(root)]
    library = f"python/lib/python{MINOR}"
    assert members[0] == "RUNTIME.json"
    assert f"{library}/os.py" in members
    assert f"{library}/venv/__init__.py" in members, "a folder of that name is no environment"
    for name in ("site-packages", "__pycache__", "test", "tkinter", "idlelib"):
        assert not [m for m in members if name in m.split("/")[3:4]], name
    assert not [m for m in members if m.endswith((".pyc", ".a"))]
    assert not [m for m in members if "readline." in m or "_gdbm." in m], "their terms differ"


@pytest.mark.slow
def test_the_same_interpreter_gives_the_same_bytes(tmp_path: Path) -> None:
    first, second = pack_own(tmp_path / "a.tar"), pack_own(tmp_path / "b.tar")
    assert sha256_file(first) == sha256_file(second)


def pretended(root: Path, **markers: str) -> Interpreter:
    given = {"platform_python_implementation": "CPython", **markers}
    return Interpreter(root / "bin" / "python3.11", "3.11.99", root, given)


def test_what_is_no_prefix_of_its_own_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LockError, match="not laid out as a prefix") as caught:
        copy_interpreter(pretended(tmp_path / "empty"), tmp_path / "target")
    assert "installed into a folder of its own" in caught.value.hint


def test_another_implementation_is_refused(tmp_path: Path) -> None:
    other = pretended(tmp_path, platform_python_implementation="PyPy")
    with pytest.raises(LockError, match=r"PyPy on .* cannot be carried"):
        copy_interpreter(other, tmp_path / "target")


def test_a_copy_that_does_not_start_is_never_carried(tmp_path: Path) -> None:
    """A real library for the facts, and a program that ends with an error."""
    root = tmp_path / "root"
    (root / "bin").mkdir(parents=True)
    (root / "lib" / "python3.11").mkdir(parents=True)
    (root / "lib" / "python3.11" / "os.py").write_text("")
    shutil.copy("/bin/false", root / "bin" / "python3.11")
    with pytest.raises(LockError, match="does not start"):
        copy_interpreter(pretended(root), tmp_path / "target")
