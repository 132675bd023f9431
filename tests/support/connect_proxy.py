"""A proxy on loopback that leads names of hosts to servers of a test.

Tests reach registries that are called like real ones, with certificates for those names,
though no name server knows them.
"""

from __future__ import annotations

import contextlib
import select
import socket
import socketserver
import threading
from collections.abc import Iterator


class Proxy:
    """What it leads where.

    Attributes:
        routes: Port on loopback by ``host:port`` as clients ask for it.
        asked: Every ``host:port`` that was asked for, oldest first.
        headers: The headers of those requests.
        url: Its address.
    """

    def __init__(self, port: int) -> None:
        self.routes: dict[str, int] = {}
        self.asked: list[str] = []
        self.headers: list[bytes] = []
        self.url = f"http://127.0.0.1:{port}"


class _Handler(socketserver.StreamRequestHandler):
    timeout = 30

    def handle(self) -> None:
        proxy: Proxy = self.server.proxy  # type: ignore[attr-defined]
        words = self.rfile.readline().split()
        lines = []
        while (line := self.rfile.readline()).strip():
            lines.append(line)
        target = words[1].decode() if len(words) > 1 else ""
        proxy.asked.append(target)
        proxy.headers.append(b"".join(lines))
        if words[:1] != [b"CONNECT"] or target not in proxy.routes:
            self.wfile.write(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")
            return
        with socket.create_connection(("127.0.0.1", proxy.routes[target]), timeout=30) as other:
            self.wfile.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            self.wfile.flush()
            _relay(self.connection, other)


def _relay(one: socket.socket, two: socket.socket) -> None:
    ends = {one: two, two: one}
    while True:
        for ready in select.select(list(ends), [], [], 30)[0]:
            data = ready.recv(1 << 16)
            if not data:
                return
            ends[ready].sendall(data)


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing of an end that went away."""


@contextlib.contextmanager
def connect_proxy() -> Iterator[Proxy]:
    """Run a proxy on a free port of loopback."""
    server = _Server(("127.0.0.1", 0), _Handler)
    proxy = Proxy(server.server_address[1])
    server.proxy = proxy  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield proxy
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
