"""Images made of this machine's own programs, without any registry, and launchers run in them."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import tarfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rra import api
from rra.api import lock
from rra.launch import limits
from tests.adversarial.hostile_launchers import sleeping
from tests.support.artifacts import COMPUTES, make_artifact

if TYPE_CHECKING:
    import pytest

PROGRAMS = (
    *("sh", "bash", "cat", "ls", "mkdir", "sleep", "touch"),
    *("dd", "ln", "perl", "rm", "setsid", "tty", "env"),
)
LAUNCHER = """\
set -u
out=$RRA_OUTPUT_DIR
before=$(ls -A "$out")
echo "$before" >"$out/before.txt"
echo "$GREETING ${SECRET:-no-secret}"
for card in /proc/sys/net/ipv4/conf/*; do echo "card ${card##*/}"; done
here=${BASH_SOURCE[0]%/launchers/*}
touch "$here/written" 2>/dev/null && echo "the artifact can be written"
touch /etc/written 2>/dev/null && echo "the system can be written"
for place in "$here/outputs" "$here/evidence" "$here/.git"; do ls -A "$place" 2>/dev/null; done
if [ -e "$here/../references.yaml" ]; then echo "the references are there"; fi
touch changed-in-the-copy && ls
echo '{"accuracy": 98.9}' >"$out/metrics.json"
"""


FORKS = (
    "perl -e 'for (1..99) { $p = fork; defined $p or exit 3; $p or exec qw(sleep 60) }'; exit $?\n"
)
EVERYTHING = """\
exec 2>/dev/null
echo x >/etc/written && echo wrote outside
ln -s {outside} link && echo x >link/x && echo wrote through a link
cat link/secret && echo read through a link
exec 3<>/dev/tcp/192.0.2.7/443 && echo reached the network
read -r line </dev/tty && echo took the terminal
rm -rf "$RRA_DATA_DIR" "$0"
setsid sleep {seconds} &
printf '\\377\\000'
dd if=/dev/zero bs=1M count=96
exec 0<&- 1>&- 2>&-
exit 5
"""
HOSTILE = {
    "fork bomb": (FORKS, "exit", 3, ["processes"]),
    "fills its outputs": (
        'dd if=/dev/zero of="$RRA_OUTPUT_DIR/x" bs=1M count=3\n',
        "disk",
        0,
        None,
    ),
    "everything else": (EVERYTHING, "exit", 5, None),
}


def small_system(place: Path) -> None:
    """Write the system files of a machine that has a shell and a few programs."""
    paths: dict[str, None] = {}
    for name in PROGRAMS:
        listed = subprocess.run(["ldd", f"/bin/{name}"], capture_output=True, text=True, check=True)
        paths |= dict.fromkeys([f"/bin/{name}", *re.findall(r"(/\S+) \(0x", listed.stdout)])
    with tarfile.open(place, "w") as archive:
        for path in paths:
            data = Path(path).read_bytes()
            member = tarfile.TarInfo(path.lstrip("/"))
            member.size, member.mode = len(data), 0o755
            archive.addfile(member, io.BytesIO(data))


def artifact(place: Path, launcher: str = LAUNCHER, **more: Any) -> Path:
    env = {
        "kind": "container",
        "lock": "environment/cpu/Containerfile",
        "rootfs": "environment/cpu/rootfs.tar",
        "variables": {"GREETING": "from $inside"},
    }
    make_artifact(place, {"main.py": COMPUTES}, environments={"cpu": env}, **more)
    (place / "environment/cpu").mkdir(parents=True, exist_ok=True)
    small_system(place / "environment/cpu/rootfs.tar")
    (place / "launchers/main.sh").write_text(launcher)
    lock(place)
    return place


def check_hostile(
    place: Path, name: str, monkeypatch: pytest.MonkeyPatch, *, processes: int
) -> None:
    """Run a launcher of `HOSTILE` in an image, and see that it harms nothing and is named."""
    monkeypatch.setattr(limits, "_LEAST_PROCESSES", processes)
    monkeypatch.setattr(limits, "_PROCESSES_PER_PROCESSOR", 0)
    outside = place / "outside"
    outside.mkdir()
    (outside / "secret").write_text("of somebody else\n")
    script, word, status, reached = HOSTILE[name]
    seconds = f"6{os.getpid()}"  # other workers run such launchers at the same time
    script = script.replace("{outside}", str(outside)).replace("{seconds}", seconds)
    main = {"entry": "launchers/main.sh", "environment": "cpu", "outputs": ["metrics.json"]}
    launchers = {"main": {**main, "limits": {"output": 1 << 20}}}
    root = artifact(place / "a", script, launchers=launchers)
    before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
    (run,) = api.run(root).runs
    record = json.loads((root / run.evidence / "record.json").read_text())
    assert (record["termination"], record["exit_code"]) == (word, status)
    assert (record["sandbox"]["level"], record["sandbox"].get("reached")) == ("container", reached)
    if name == "everything else":
        stream = record["stdout"]
        assert (stream["bytes"], stream["truncated"]) == (2 + (96 << 20), True)
        kept = (root / run.evidence / "stdout.txt").read_bytes()
        assert kept == b"\xff" + bytes((64 << 20) - 1)
    assert [path.name for path in outside.iterdir()] == ["secret"]
    assert {path: path.read_bytes() for path in before} == before
    assert not sleeping(seconds)
