"""Marks tests that need something pip cannot install.

Without the tool such a test is skipped and the reason names what to install. Where
``RRA_REQUIRE_TOOLS=1`` is set, as in CI, it fails instead: a skip there would hide a check; but
for what only an unstable Debian has.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.debian13 import APPTAINER, command
from tests.support.pythons import OTHERS, find_python

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).resolve().parents[2]

#: Set to 1 to turn "tool missing, skipped" into a failure.
REQUIRE_TOOLS = "RRA_REQUIRE_TOOLS"


@dataclass(frozen=True, slots=True)
class Need:
    """Something outside Python: whether it works here, and what to do where it does not."""

    works: Callable[[], bool]
    remedy: str
    #: Only from a Debian that changes every day: its tests may be skipped in CI, too.
    unstable: bool = False


def _succeeds(*argv: str) -> bool:
    """Tell whether a command can be found and ends with exit status 0."""
    if shutil.which(argv[0]) is None:
        return False
    try:
        run = subprocess.run(argv, capture_output=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return run.returncode == 0


def _bwrap() -> bool:
    return _succeeds("bwrap", "--ro-bind", "/", "/", "--unshare-all", "--dev", "/dev", "true")


def _strace() -> bool:
    return _succeeds("strace", "-f", "--seccomp-bpf", "-o", "/dev/null", "true")


def _apptainer() -> bool:
    return _succeeds(str(APPTAINER), "--version")


def _slurm() -> bool:
    """The daemons and commands of Slurm are here, and may be started."""
    programs = (("slurmctld", "-V"), ("slurmd", "-V"), ("munged", "--version"))
    there = all(_succeeds(*argv) for argv in programs) and shutil.which("sbatch") is not None
    return there and os.geteuid() == 0


def _full_disk() -> bool:
    """A small file system of our own can be mounted."""
    mount = "mount -t tmpfs -o size=64k none /mnt"
    return _succeeds("unshare", "--mount", "sh", "-c", mount)


def _groups() -> bool:
    """Memory and processes of a run can be limited by control groups."""
    from rra.sandbox import try_groups

    found = try_groups()
    return found.works and "memory, processes" in found.why


NEEDS = {
    "control-groups": Need(_groups, "run the tests as root where control groups can be written"),
    "apptainer": Need(_apptainer, "run tools/apptainer.sh as root", unstable=True),
    "bwrap": Need(_bwrap, "apt-get install bubblewrap"),
    "podman": Need(lambda: _succeeds("podman", "info"), "apt-get install podman"),
    "mmdebstrap": Need(lambda: _succeeds("mmdebstrap", "--version"), "apt-get install mmdebstrap"),
    "runc": Need(lambda: _succeeds("runc", "--version"), "apt-get install runc"),
    "cc": Need(lambda: _succeeds("cc", "--version"), "apt-get install build-essential"),
    "strace": Need(_strace, "apt-get install strace"),
    "docker-registry": Need(
        lambda: _succeeds("docker-registry", "--version"), "apt-get install docker-registry"
    ),
    "skopeo": Need(lambda: _succeeds("skopeo", "--version"), "apt-get install skopeo"),
    "oras": Need(lambda: _succeeds(command("oras"), "version"), "run tools/debian13_tools.sh"),
    "cosign": Need(lambda: _succeeds(command("cosign"), "version"), "run tools/debian13_tools.sh"),
    "slurm": Need(_slurm, "apt-get install slurm-wlm, and run the tests as root"),
    "openssl": Need(lambda: _succeeds("openssl", "version"), "apt-get install openssl"),
    "zstd": Need(lambda: _succeeds("zstd", "--version"), "apt-get install zstd"),
    "setpriv": Need(
        lambda: _succeeds("setpriv", "--reuid=65534", "--clear-groups", "true"),
        "run the tests as root (setpriv comes with util-linux)",
    ),
    "other-python": Need(
        lambda: any(find_python(minor) for minor in OTHERS),
        f"install Python {', '.join(OTHERS[:-1])} or {OTHERS[-1]}, for instance with uv",
    ),
    "later-python": Need(
        lambda: any(
            int(minor[2:]) > sys.version_info.minor and find_python(minor) for minor in OTHERS
        ),
        "run the tests with an older Python than the newest of those that are installed",
    ),
    "make": Need(lambda: _succeeds("make", "--version"), "apt-get install build-essential"),
    "git": Need(lambda: _succeeds("git", "--version"), "apt-get install git"),
    "node": Need(lambda: _succeeds("node", "--version"), "apt-get install nodejs"),
    "node-packages": Need(
        (ROOT / "tests/conformance/node/node_modules/ajv").is_dir,
        "install Node with npm and run tools/node_packages.sh",
    ),
    "root": Need(lambda: os.geteuid() == 0, "run the tests as root"),
    "tmpfs": Need(_full_disk, "run the tests as root where mounting is allowed"),
}


@cache
def available(tool: str) -> bool:
    """Tell whether a tool of `NEEDS` works here, by running it."""
    return NEEDS[tool].works()


def needs(tool: str) -> pytest.MarkDecorator:
    """Mark a test (or a module, by ``pytestmark``) as needing a tool of `NEEDS`.

    Raises:
        KeyError: the tool is not listed there.
    """
    if tool not in NEEDS:
        raise KeyError(f"{tool} is not in tests/support/needs.py; add it with what to install")
    return pytest.mark.needs(tool)


def require(tool: str) -> None:
    """Skip the running test, or fail it in CI, when the tool does not work here."""
    if available(tool):
        return
    reason = f"needs {tool}: {NEEDS[tool].remedy}"
    if os.environ.get(REQUIRE_TOOLS) == "1" and not NEEDS[tool].unstable:
        pytest.fail(f"{reason} ({REQUIRE_TOOLS}=1 forbids to skip)", pytrace=False)
    pytest.skip(reason)
