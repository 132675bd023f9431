"""Fourteen ways in which programs write files, each into a file of its own that is named after it.

Run as a program: ``ways_of_writing.py FOLDER NATIVE WAY…``, where NATIVE holds ``static``, a
program without any shared library, and ``native.so``, which stands for a C extension.
"""

from __future__ import annotations

import ctypes
import importlib
import mmap
import multiprocessing
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

SOURCE = """\
#include <fcntl.h>
#include <unistd.h>
int write_file(const char *path) {
  int handle = open(path, O_WRONLY | O_CREAT, 0644);
  return handle < 0 || write(handle, "7", 1) != 1 || close(handle) != 0;
}
#ifdef PROGRAM
int main(int count, char **words) { return count != 2 || write_file(words[1]); }
#endif
"""
"""C source of both native writers."""

Way = Callable[[Path, Path], Any]


def _os_open(path: Path, _native: Path) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT)
    os.write(handle, b"7")
    os.close(handle)


def _numpy(path: Path, _native: Path) -> None:
    import numpy as np

    np.save(path, np.arange(7))


def _shutil(path: Path, native: Path) -> None:
    shutil.copyfile(native / "source", path)


def _rename(path: Path, native: Path) -> None:
    shutil.copyfile(native / "source", native / "moving")
    (native / "moving").rename(path)


def _mmap(path: Path, _native: Path) -> None:
    with path.open("w+b") as file:
        file.truncate(7)
        with mmap.mmap(file.fileno(), 7) as memory:
            memory[:] = b"written"


def _shell(path: Path, _native: Path) -> None:
    subprocess.run(["sh", "-c", 'echo 7 > "$0"', path], check=True)


def _static(path: Path, native: Path) -> None:
    subprocess.run([native / "static", path], check=True)


def _hdf5(path: Path, _native: Path) -> None:
    h5py: Any = importlib.import_module("h5py")

    with h5py.File(path, "w") as file:
        file["x"] = [7]


def _arrow(path: Path, _native: Path) -> None:
    pa: Any = importlib.import_module("pyarrow")

    with pa.OSFile(str(path), "wb") as file:
        file.write(b"7")


def _sqlite(path: Path, _native: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("create table x (y)")
    connection.commit()
    connection.close()


def _write_text(path: str) -> None:
    Path(path).write_text("7", encoding="utf-8")


def _multiprocessing(path: Path, _native: Path) -> None:
    child = multiprocessing.get_context("spawn").Process(target=_write_text, args=(str(path),))
    child.start()
    child.join()
    assert child.exitcode == 0


def _extension(path: Path, native: Path) -> None:
    library = ctypes.CDLL(str(native / "native.so"))
    assert library.write_file(os.fsencode(path)) == 0


WAYS: dict[str, Way] = {
    "open": lambda path, _native: open(path, "w").write("7"),  # noqa: PTH123, SIM115 - meant so
    "os.open": _os_open,
    "numpy": _numpy,
    "pathlib": lambda path, _native: path.write_text("7", encoding="utf-8"),
    "shutil": _shutil,
    "rename": _rename,
    "mmap": _mmap,
    "shell": _shell,
    "static": _static,
    "hdf5": _hdf5,
    "arrow": _arrow,
    "sqlite": _sqlite,
    "multiprocessing": _multiprocessing,
    "extension": _extension,
}


def main(folder: Path, native: Path, ways: list[str]) -> None:
    """Write a file in each of the ways that are named."""
    for way in ways:
        path = folder / f"{way}.npy"
        WAYS[way](path, native)
        if not path.stat().st_size:
            sys.exit(f"{way} wrote nothing")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:])
