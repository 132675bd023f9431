"""Debian's docker-registry on loopback: started by the tests, in a folder of theirs."""

from __future__ import annotations

import contextlib
import dataclasses
import http.client
import os
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

#: Connections to a server that is starting are tried this often; each refusal takes no time.
_TRIES = 600

USER, PASSWORD = "author", "right-word"
#: `PASSWORD` as `htpasswd -Bbn` writes it: the registry reads bcrypt only.
BCRYPT = "$2y$04$NTqaXvBaJu94U3G4VikS3.L/NpuAGqP2Ki5dwKcyWGQqiPl1OQupe"


@dataclasses.dataclass
class Registry:
    """A running docker-registry.

    Attributes:
        folder: Its configuration and storage.
        port: Port on loopback.
        process: The server.
    """

    folder: Path
    port: int
    process: subprocess.Popen[bytes]

    @property
    def host(self) -> str:
        """Host and port as references name it."""
        return f"127.0.0.1:{self.port}"

    def blob(self, digest: str) -> Path:
        """Return the file that holds a blob."""
        code = digest.removeprefix("sha256:")
        return self.folder / "storage/docker/registry/v2/blobs/sha256" / code[:2] / code / "data"

    def kill(self) -> None:
        """End the server at once, as a crash does."""
        self.process.kill()
        self.process.wait()


def free_port() -> int:
    """Return a port of loopback that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextlib.contextmanager
def running(folder: Path, *, login: bool = False) -> Iterator[Registry]:
    """Start a registry that keeps its storage in a folder, and end it afterwards.

    Args:
        folder: Where configuration and storage go; a second start finds the same storage.
        login: Ask for `USER` and `PASSWORD`; without it anybody may read and write.
    """
    port = free_port()
    lines = [
        "version: 0.1",
        "log: {level: error}",
        f"storage: {{filesystem: {{rootdirectory: {folder}/storage}}, delete: {{enabled: true}}}}",
        f"http: {{addr: '127.0.0.1:{port}'}}",
    ]
    folder.mkdir(parents=True, exist_ok=True)
    if login:
        table = folder / "htpasswd"
        table.write_text(f"{USER}:{BCRYPT}\n")
        lines.append(f"auth: {{htpasswd: {{realm: test, path: {table}}}}}")
    config = folder / "config.yml"
    config.write_text("\n".join(lines) + "\n")
    # The server takes variables with such names for its configuration.
    env = {name: text for name, text in os.environ.items() if not name.startswith("REGISTRY_")}
    with (folder / "log").open("ab") as log:
        process = subprocess.Popen(
            ["docker-registry", "serve", str(config)], stdout=log, stderr=log, cwd=folder, env=env
        )
        registry = Registry(folder, port, process)
        try:
            _await(registry)
            yield registry
        finally:
            registry.kill()


def _await(registry: Registry) -> None:
    """Wait until the server answers; it is asked, not slept for."""
    for _ in range(_TRIES):
        assert registry.process.poll() is None, (registry.folder / "log").read_text()
        connection = http.client.HTTPConnection("127.0.0.1", registry.port, timeout=10)
        try:
            connection.request("GET", "/v2/")
            if connection.getresponse().status in {200, 401}:
                return
        except OSError:
            with contextlib.suppress(subprocess.TimeoutExpired):
                registry.process.wait(timeout=0.05)
        finally:
            connection.close()
    raise AssertionError((registry.folder / "log").read_text())
