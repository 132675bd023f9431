"""Pushing an artifact needs neither its room on a disk nor memory that grows with it."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from rra.api import lock, pack
from tests.services.registry import Registry
from tests.support.artifacts import COMPUTES, make_artifact
from tests.support.disks import mounted_disk
from tests.support.needs import needs

pytestmark = [needs("docker-registry"), needs("tmpfs"), pytest.mark.slow]

MIB = 1 << 20
DISK = 16
"""MiB of the disk that temporary files and the cache share."""

RUN = """\
import sys
from rra.cli.main import main
try:
    main()
finally:
    status = open("/proc/self/status").read().split()
    print("peak", status[status.index("VmHWM:") + 1], file=sys.stderr)
"""


def artifact(root: Path, files: int, each: int) -> Path:
    """Write a locked artifact with data that no compression helps, and text that it does."""
    noise = random.Random(7)
    entry = {"access": "bundled", "licence": "CC0-1.0"}
    data = {f"part{n}": {**entry, "path": f"data/part{n}.bin"} for n in range(files)}
    written = {"main.py": COMPUTES, "guide/GUIDE.md": "# Guide\n", "LICENSE": "MIT\n"}
    make_artifact(root, written, data=data)
    (root / "data").mkdir(exist_ok=True)
    for number in range(files):
        (root / f"data/part{number}.bin").write_bytes(noise.randbytes(each))
    (root / "code/long.txt").write_text(noise.randbytes(each // 4).hex())
    lock(root, keep=True)
    return root


def pushed(root: Path, registry: Registry, name: str, disk: Path) -> tuple[dict[str, str], int]:
    """Push as a user does; return what is printed, and the most memory that it had, in MiB."""
    done = subprocess.run(
        [sys.executable, "-c", RUN, "push", str(root), f"{registry.host}/{name}", "--json"],
        env={**os.environ, "TMPDIR": str(disk), "RRA_CACHE": str(disk / "cache")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    result: dict[str, str] = json.loads(done.stdout)["result"]
    return result, int(done.stderr.rpartition("peak")[2]) // 1024


def test_neither_disk_nor_memory_grows_with_the_artifact(
    registry: Registry, tmp_path: Path
) -> None:
    """Four times as much takes no more memory; compressing four at once takes some 70 MiB."""
    tiny = artifact(tmp_path / "tiny", 1, 1000)
    small = artifact(tmp_path / "small", 4, 17 * MIB)
    large = artifact(tmp_path / "large", 4, 70 * MIB)
    made = pack(large, f"oci-layout:{tmp_path / 'layout'}")
    assert made.packed is not None
    assert sum(layer.size for layer in made.packed.config.layers) > 290 * MIB
    with mounted_disk(tmp_path / "disk", f"{DISK}m") as disk:
        _, least = pushed(tiny, registry, "tiny", disk)
        _, less = pushed(small, registry, "small", disk)
        result, peak = pushed(large, registry, "large", disk)
        assert list(disk.glob("rra-*")) == []
    assert result["digest"] == made.packed.descriptor.digest
    assert peak - less <= 16
    assert peak - least <= 96
