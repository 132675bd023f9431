"""Two packages that bring one file are found by what installers wrote down."""

from __future__ import annotations

import base64
import hashlib
import subprocess
import sys
import zipfile
from pathlib import Path

from rra.environment.overlap import shared_files


def recorded(place: str, text: str) -> str:
    """Return a line of RECORD (binary distribution format)."""
    digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"{place},sha256={digest.rstrip('=')},{len(text)}\n"


def wheel(folder: Path, name: str, files: dict[str, str]) -> Path:
    """Write a wheel."""
    path = folder / f"{name}-1.0-py3-none-any.whl"
    info = f"{name}-1.0.dist-info"
    tags = "Root-Is-Purelib: true\nTag: py3-none-any\n"
    inside = {
        **files,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n",
        f"{info}/WHEEL": f"Wheel-Version: 1.0\nGenerator: x\n{tags}",
    }
    with zipfile.ZipFile(path, "w") as archive:
        for place, text in inside.items():
            archive.writestr(place, text)
        listed = "".join(recorded(place, text) for place, text in inside.items())
        archive.writestr(f"{info}/RECORD", f"{listed}{info}/RECORD,,\n")
    return path


def test_two_packages_that_own_one_file(tmp_path: Path) -> None:
    """As keras and keras-nightly of 2021 do; the file of the namespace is the same in both."""
    common = {"space/__init__.py": "", "one_more/__init__.py": "x = 1\n"}
    wheels = [
        wheel(tmp_path, "toy", {"toy/__init__.py": "a = 1\n", "toy/core.py": "1\n", **common}),
        wheel(tmp_path, "toy_nightly", {"toy/__init__.py": "2\n", "toy/core.py": "2\n", **common}),
        wheel(tmp_path, "other", {"other/__init__.py": ""}),
    ]
    site = tmp_path / "env/lib/python3.11/site-packages"
    for one in wheels:
        command = [sys.executable, "-m", "uv", "pip", "install", "--no-deps", "--offline", "-q"]
        subprocess.run([*command, "--target", str(site), str(one)], check=True)
    (shared,) = shared_files(tmp_path / "env")
    assert shared.packages == ("toy 1.0", "toy_nightly 1.0")
    assert shared.files == ("toy/__init__.py", "toy/core.py")
    assert str(shared) == (
        "toy 1.0 and toy_nightly 1.0 both bring toy/__init__.py and 1 other file, each its own"
    )


def test_lists_that_cannot_be_read_name_nothing(tmp_path: Path) -> None:
    site = tmp_path / "lib/python3.11/site-packages"
    for name, text in (("a-1", b"\xff\xfe,x,\n"), ("b-1", b"one\n\n,,\n")):
        (site / f"{name}.dist-info").mkdir(parents=True)
        (site / f"{name}.dist-info/RECORD").write_bytes(text)
    assert shared_files(tmp_path) == ()
