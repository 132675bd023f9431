"""A package index on the loopback interface, with toy packages and chosen upload times."""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import http.server
import io
import json
import tarfile
import threading
import zipfile
from collections.abc import Sequence


def make_wheel(
    name: str,
    version: str,
    *,
    requires: Sequence[str] = (),
    tag: str = "py3-none-any",
    python: str = "",
    body: str = "",
) -> bytes:
    """Return the bytes of a wheel whose one module says its version, after other statements."""
    info = f"{name}-{version}.dist-info"
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    metadata += "".join(f"Requires-Dist: {other}\n" for other in requires)
    metadata += f"Requires-Python: {python}\n" if python else ""
    wheel = f"Wheel-Version: 1.0\nGenerator: toy\nRoot-Is-Purelib: true\nTag: {tag}\n"
    files = {
        f"{name}.py": f"{body}VERSION = {version!r}\nTAG = {tag!r}\n",
        f"{info}/METADATA": metadata,
        f"{info}/WHEEL": wheel,
    }
    record = ""
    for path, text in files.items():
        digest = hashlib.sha256(text.encode()).digest()
        encoded = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        record += f"{path},sha256={encoded},{len(text.encode())}\n"
    files[f"{info}/RECORD"] = record + f"{info}/RECORD,,\n"
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for path, text in files.items():
            archive.writestr(zipfile.ZipInfo(path, (2020, 1, 1, 0, 0, 0)), text)
    return stream.getvalue()


_SYSTEM = b'[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
_BACKEND = """
import pathlib, zipfile
def get_requires_for_build_wheel(config_settings=None):
    return []
def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    {before}
    name = "{name}-{version}-py3-none-any.whl"
    data = pathlib.Path("prebuilt.whl").read_bytes()
    (pathlib.Path(wheel_directory) / name).write_bytes(data)
    return name
"""


def make_sdist(
    name: str,
    version: str,
    *,
    fails: bool = False,
    before: str = "pass",
    static: bool = True,
) -> bytes:
    """Return a source distribution that builds itself without fetching anything.

    Args:
        name: Its name.
        version: Its version.
        fails: Whether its build fails.
        before: Statements that its build begins with.
        static: Whether its metadata can be read without building it.
    """
    if fails:
        before = 'raise RuntimeError("a compiler is missing")'
    files = {
        "PKG-INFO": f"Metadata-Version: 2.2\nName: {name}\nVersion: {version}\n".encode(),
        "pyproject.toml": _SYSTEM + f'[project]\nname = "{name}"\nversion = "{version}"\n'.encode(),
        "backend.py": _BACKEND.format(name=name, version=version, before=before).encode(),
        "prebuilt.whl": make_wheel(name, version),
    }
    if not static:
        del files["PKG-INFO"]
        files["pyproject.toml"] = _SYSTEM
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as archive:
        for path, data in files.items():
            member = tarfile.TarInfo(f"{name}-{version}/{path}")
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return stream.getvalue()


@dataclasses.dataclass
class ToyIndex:
    """What the index offers, and what it was asked for."""

    files: dict[str, tuple[str, str, bytes]] = dataclasses.field(default_factory=dict)
    """File name → (project, upload time, bytes)."""
    announced: dict[str, str] = dataclasses.field(default_factory=dict)
    """File name → digest that is announced instead of the true one."""
    unhashed: set[str] = dataclasses.field(default_factory=set)
    """Files for which no digest is announced."""
    fetched: list[str] = dataclasses.field(default_factory=list)
    asked: threading.Event = dataclasses.field(default_factory=threading.Event)
    held: threading.Event | None = None
    """When set, files are only sent after it is."""
    url: str = ""

    def add(self, project: str, file_name: str, data: bytes, uploaded: str) -> None:
        """Offer a file from a day (``YYYY-MM-DD``, noon) on."""
        self.files[file_name] = (project, f"{uploaded}T12:00:00Z", data)

    def add_wheel(
        self,
        name: str,
        version: str,
        uploaded: str,
        *,
        requires: Sequence[str] = (),
        tag: str = "py3-none-any",
        python: str = "",
    ) -> str:
        """Offer a wheel and return its file name."""
        file_name = f"{name}-{version}-{tag}.whl"
        data = make_wheel(name, version, requires=requires, tag=tag, python=python)
        self.add(name.replace("_", "-"), file_name, data, uploaded)
        return file_name

    def sha256(self, file_name: str) -> str:
        """Return the digest of a file in hex."""
        return hashlib.sha256(self.files[file_name][2]).hexdigest()

    def page(self, project: str) -> bytes:
        """Return the project's page (PEP 691, PEP 700)."""
        files = [
            {
                "filename": name,
                "url": f"/files/{name}",
                "hashes": {}
                if name in self.unhashed
                else {"sha256": self.announced.get(name, self.sha256(name))},
                "size": len(data),
                "upload-time": uploaded,
                "core-metadata": name.endswith(".whl"),
            }
            for name, (owner, uploaded, data) in self.files.items()
            if owner == project
        ]
        versions = sorted({str(file["filename"]).split("-")[1] for file in files})
        document = {"meta": {"api-version": "1.1"}, "name": project, "versions": versions}
        return json.dumps({**document, "files": files}).encode()


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # see tests/support/http_registry.py
    index: ToyIndex

    def log_message(self, *arguments: object) -> None:
        """Say nothing."""

    def do_HEAD(self) -> None:
        self._answer(body=False)

    def do_GET(self) -> None:
        self._answer(body=True)

    def _answer(self, *, body: bool) -> None:
        folder, _, name = self.path.strip("/").partition("/")
        kind = "application/octet-stream"
        data = None
        if folder == "simple" and any(file[0] == name for file in self.index.files.values()):
            data, kind = self.index.page(name), "application/vnd.pypi.simple.v1+json"
        elif folder == "files":
            data = self._file(name, body=body)
        self.send_response(200 if data is not None else 404)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data or b"")))
        self.end_headers()
        if body and data:
            self.wfile.write(data)

    def _file(self, name: str, *, body: bool) -> bytes | None:
        wheel = name.removesuffix(".metadata")
        if wheel not in self.index.files:
            return None
        data = self.index.files[wheel][2]
        if wheel != name:
            archive = zipfile.ZipFile(io.BytesIO(data))
            return archive.read(next(n for n in archive.namelist() if n.endswith("/METADATA")))
        if body:
            self.index.fetched.append(name)
            self.index.asked.set()
            if self.index.held is not None:
                self.index.held.wait(30)
        return data


class ToyServer:
    """Serves a `ToyIndex` until `close`."""

    def __init__(self) -> None:
        self.index = ToyIndex()
        handler = type("Handler", (_Handler,), {"index": self.index})
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        self._server.handle_error = lambda *_: None  # type: ignore[method-assign]
        self.index.url = f"http://127.0.0.1:{self._server.server_port}/simple"
        # It looks that often whether it is to end, which each test would wait for.
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        )
        self._thread.start()

    def close(self) -> None:
        """Stop serving."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
