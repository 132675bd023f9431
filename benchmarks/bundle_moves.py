"""What moving costs: push and pull, beside other clients and plain curl.

Each program speaks to a registry of its own, Debian's docker-registry on loopback with an empty
storage, so that none finds what another left there. The registry's own seconds do not count.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from measuring import Used, measure, median, remove

OURS = "rra"
LIMIT = "sha256sum + curl"
UNPACKED = "zstd -d | tar x"
RAW_TYPE = "application/vnd.cncf.model.weight.v1.raw"
TAR_TYPE = "application/vnd.cncf.model.code.v1.tar+zstd"

UPLOAD = """\
set -e
host=$1 name=$2; shift 2
for file; do
  digest=$(sha256sum <"$file"); digest=${digest%% *}
  place=$(curl -sS -i -X POST "http://$host/v2/$name/blobs/uploads/" |
    tr -d '\\r' | sed -n 's/^[Ll]ocation: //p')
  curl -sS -f -o /dev/null -T "$file" "$place&digest=sha256:$digest"
done
"""
DOWNLOAD = """\
set -e
host=$1 name=$2 target=$3; shift 3
mkdir -p "$target"
for digest; do
  curl -sS -f "http://$host/v2/$name/blobs/sha256:$digest" | tee "$target/$digest" |
    sha256sum | grep -q "^$digest"
done
"""


@contextlib.contextmanager
def registry(folder: Path) -> Iterator[str]:
    """Run an empty docker-registry; give its host and port."""
    remove(folder)
    folder.mkdir()
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        host = f"127.0.0.1:{probe.getsockname()[1]}"
    config = folder / "config.yml"
    config.write_text(
        f"version: 0.1\nlog: {{level: error}}\nhttp: {{addr: '{host}'}}\n"
        f"storage: {{filesystem: {{rootdirectory: {folder}/storage}}}}\n",
        encoding="utf-8",
    )
    command = ["docker-registry", "serve", str(config)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(200):
            with contextlib.suppress(OSError):
                urllib.request.urlopen(f"http://{host}/v2/", timeout=5).close()
                break
            time.sleep(0.05)
        yield host
    finally:
        process.kill()
        process.wait()
        remove(folder)


def modelpack(folder: Path) -> Path | None:
    """Return the command of modelpack-client in an environment of its own; None without one."""
    place = folder / "modelpack"
    command = place / "bin" / "modelpack"
    if not command.exists():
        subprocess.run([sys.executable, "-m", "venv", str(place)], check=True)
        install = [str(place / "bin/pip"), "install", "--quiet", "modelpack-client==0.1.0"]
        if subprocess.run(install, check=False, stderr=subprocess.DEVNULL).returncode:
            return None
    return command


def write_blobs(folder: Path, size: int) -> None:
    """Write four files of noise of so many bytes together."""
    folder.mkdir(parents=True)
    chance = random.Random(size)  # noqa: S311 - the same bytes each time
    for number in range(4):
        with (folder / f"part-{number}.bin").open("wb") as stream:
            for _ in range(size // 4 >> 20):
                stream.write(chance.randbytes(1 << 20))


def inside(verb: str, reference: str, *paths: str) -> None:
    """Push or pull in this process with the client of the oras package."""
    import oras.client

    client = oras.client.OrasClient(insecure=True)
    if verb == "oras-pull":
        client.pull(target=reference, outdir=paths[0])
        return
    client.push(target=reference, files=list(paths), disable_path_validation=True)


class Moves:
    """The programs that push and pull one thing.

    Attributes:
        layout: OCI layout with its bundle, tagged 1.0.0.
        things: What the others are given: files, or one folder.
        folder: Where everything else goes.
    """

    def __init__(self, layout: Path, things: list[Path], folder: Path, script: Path) -> None:
        self.layout, self.things, self.folder = layout, things, folder
        self.script = script
        self.peer = modelpack(folder)
        config = folder / "modelpack.json"
        config.write_text(json.dumps({"descriptor": {"name": "x"}, "config": {}}), encoding="utf-8")
        index = json.loads((layout / "index.json").read_text(encoding="utf-8"))
        manifest = json.loads(self.blob(index["manifests"][0]["digest"]).read_bytes())
        self.digests = [one["digest"].partition(":")[2] for one in manifest["layers"]]

    def blob(self, digest: str) -> Path:
        """Return the file of a blob of the layout."""
        return self.layout / "blobs" / "sha256" / digest.rpartition(":")[2]

    def pushes(self, host: str) -> dict[str, list[str]]:
        """Return the command of each program."""
        own, rra = [sys.executable, str(self.script), "--inside"], [sys.executable, "-m", "rra"]
        things = [str(thing) for thing in self.things]
        blobs = [str(self.blob(digest)) for digest in self.digests]
        target = f"{host}/lab/study:1.0.0"
        found = {
            LIMIT: ["sh", "-c", UPLOAD, "sh", host, "lab/study", *blobs],
            OURS: [*rra, "push", f"oci-layout:{self.layout}:1.0.0", target, "--plain-http"],
            "oras (Python)": [*own, "oras-push", target, *things],
        }
        if self.peer:
            kind = TAR_TYPE if self.things[0].is_dir() else RAW_TYPE
            layers = [part for thing in things for part in ("--layer", f"{thing}:{kind}")]
            config = str(self.folder / "modelpack.json")
            push = [str(self.peer), "--insecure", "push", target, "--config", config]
            found["modelpack-client"] = [*push, *layers]
        if shutil.which("skopeo"):
            source = f"oci:{self.layout}:1.0.0"
            options = ["--insecure-policy", "copy", "--dest-tls-verify=false"]
            found["skopeo"] = ["skopeo", *options, source, f"docker://{target}"]
        return found

    def pulls(self, host: str, target: Path) -> dict[str, list[str]]:
        """Return the command of each program, for what it pushed itself or what is like it."""
        own, rra = [sys.executable, str(self.script), "--inside"], [sys.executable, "-m", "rra"]
        place, reference = str(target), f"{host}/lab/study:1.0.0"
        found = {
            LIMIT: ["sh", "-c", DOWNLOAD, "sh", host, "lab/study", place, *self.digests],
            OURS: [*rra, "pull", reference, place, "--plain-http"],
            "oras (Python)": [*own, "oras-pull", reference, place],
        }
        if self.peer:
            found["modelpack-client"] = [str(self.peer), "--insecure", "pull", reference, place]
        if shutil.which("skopeo"):
            options = ["--insecure-policy", "copy", "--src-tls-verify=false"]
            found["skopeo"] = ["skopeo", *options, f"docker://{reference}", f"oci:{place}:1.0.0"]
        return found

    def results(
        self, rounds: int, without: Collection[str] = ()
    ) -> tuple[dict[str, Used], dict[str, Used]]:
        """Push and pull with every program but some in turn; return the medians of both."""
        pushes: dict[str, list[Used]] = {}
        pulls: dict[str, list[Used]] = {}
        target = self.folder / "pulled"
        for _ in range(rounds + 1):
            for name in (name for name in self.pushes("") if name not in without):
                with registry(self.folder / "registry") as host:
                    environment = self._surroundings()
                    pushes.setdefault(name, []).append(
                        measure(self.pushes(host)[name], environment)
                    )
                    environment = self._surroundings()
                    pulls.setdefault(name, []).append(
                        measure(self.pulls(host, target)[name], environment)
                    )
                    remove(target)
        found = {name: median(runs) for name, runs in pushes.items()}
        return found, {name: median(runs) for name, runs in pulls.items()}

    def _surroundings(self) -> Mapping[str, str]:
        """Return variables that give a program a home and a cache of its own, empty."""
        home = self.folder / "home"
        remove(home)
        home.mkdir()
        return {"HOME": str(home), "RRA_CACHE": str(home / "cache"), "PATH": os.environ["PATH"]}


def unpack_reference(root: Path, folder: Path, rounds: int) -> Used:
    """Measure what unpacking alone takes: zstd and tar on a file that lies here."""
    packed, target = folder / "tree.tar.zst", folder / "unpacked"
    make = 'tar -cf - -C "$1" . | zstd -q -3 -f -o "$2"'
    subprocess.run(["sh", "-c", make, "sh", str(root), str(packed)], check=True)  # noqa: S607
    runs = []
    for _ in range(rounds + 1):
        target.mkdir()
        line = 'zstd -d -c "$1" | tar -xf - -C "$2"'
        runs.append(measure(["sh", "-c", line, "sh", str(packed), str(target)], {}))
        remove(target)
    remove(packed)
    return median(runs)
