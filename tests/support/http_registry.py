"""A registry inside the test process that does what a test tells it to.

It is a test double for what a real registry does not do on demand: to lie, to stall, to break
off, to send elsewhere. What it does by itself is the least that a push and a pull need.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import itertools
import json
import re
import ssl
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from rra.bundle.store import INDEX_TYPE, MANIFEST_TYPE, Descriptor


def sha256(data: bytes) -> str:
    return "sha256:" + hashlib.sha256(data).hexdigest()


def subject_of(data: bytes) -> str | None:
    """Return the digest of what a manifest is about."""
    subject = json.loads(data).get("subject")
    return str(subject["digest"]) if subject else None


def entry_of(data: bytes, kind: str = MANIFEST_TYPE) -> dict[str, Any]:
    """Return the entry of a manifest in an index."""
    document = json.loads(data)
    entry = {"mediaType": kind, "digest": sha256(data), "size": len(data)}
    shown = {key: document[key] for key in ("artifactType", "annotations") if key in document}
    return entry | shown


def index_of(*entries: dict[str, Any]) -> bytes:
    """Return an index of entries."""
    return json.dumps(
        {"schemaVersion": 2, "mediaType": INDEX_TYPE, "manifests": list(entries)}
    ).encode()


def repository_of(seen: Seen) -> str:
    """Return the repository that a request is about."""
    return re.split(r"/(?:blobs|manifests|tags|referrers)/", seen.path.removeprefix("/v2/"))[0]


@dataclasses.dataclass(frozen=True)
class Seen:
    """One request as it arrived."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def path(self) -> str:
        return urlsplit(self.target).path

    @property
    def query(self) -> dict[str, list[str]]:
        return parse_qs(urlsplit(self.target).query)

    @property
    def login(self) -> str:
        return self.headers.get("authorization", "")


@dataclasses.dataclass
class Reply:
    """One answer.

    Attributes:
        status: Status code.
        body: Bytes of the body.
        headers: Headers; Content-Length is added unless it or Transfer-Encoding is there.
        breaks: Close the connection after the body.
        stalls: Send the headers and the body, then nothing until the test ends.
    """

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = dataclasses.field(default_factory=dict)
    breaks: bool = False
    stalls: bool = False


class BreakOffError(Exception):
    """Close the connection without an answer."""


@dataclasses.dataclass(frozen=True)
class Quirks:
    """Habits of a registry that people use.

    Attributes:
        patch_limit: Most bytes of one PATCH.
        patch_status: Answer to a PATCH that was taken.
        patch_refused: Answer to any PATCH, where none is taken.
        strict: Whether a PATCH has to begin where the upload ends; else it is appended.
        levels: How many parts the name of a repository has; 0 for any number.
        unsorted: Whether tags come in no order.
        referrers: Whether it has the referrers API.
    """

    patch_limit: int = 1 << 40
    patch_status: int = 202
    patch_refused: int = 0
    strict: bool = True
    levels: int = 0
    unsorted: bool = False
    referrers: bool = False


QUIRKS = {
    "": Quirks(referrers=True),
    "ghcr": Quirks(patch_limit=4 << 20),
    "ecr": Quirks(patch_status=201),
    "gar": Quirks(patch_refused=405),
    "hub": Quirks(levels=2),
    "distribution-2.8": Quirks(strict=False, unsorted=True),
}
"""None that has a name knows the referrers API, or takes all that a push may want."""

Rule = Callable[[Seen], Reply | None]
"""Answers a request, or leaves it to the next rule."""


class HttpRegistry:
    """The server; `rules` are asked first, then it acts as a registry.

    Attributes:
        blobs: What it holds, by digest.
        manifests: Manifests by tag and by digest, with their types.
        seen: Every request, oldest first.
        rules: What a test wants to be different.
        ranges: Whether a part of a blob can be asked for.
        split: Whether each repository has blobs of its own, which `owned` names.
        mounts: Whether a repository takes blobs over from another one.
        owned: Repositories, and the blobs that they have.
        uploads: What came of uploads that were not ended.
        profile: Whose habits it has: one of `QUIRKS`.
        page: Entries of one page of a list of referrers; 0 for all.
        filters: Whether a list of referrers is filtered by kind where that is asked for.
        read_limit: Bytes of an upload after which the connection is closed, once.
    """

    def __init__(self, server: ThreadingHTTPServer, scheme: str) -> None:
        self.blobs: dict[str, bytes] = {}
        self.manifests: dict[str, tuple[bytes, str]] = {}
        self.seen: list[Seen] = []
        self.rules: list[Rule] = []
        self.ranges = True
        self.split = self.mounts = False
        self.uploads: dict[str, bytearray] = {}
        self.numbers = itertools.count()
        self.profile = ""
        self.page = 0
        self.filters = True
        self.owned: set[tuple[str, str]] = set()
        self.read_limit: int | None = None
        self.ended = threading.Event()
        self.port: int = server.server_address[1]
        self.scheme = scheme

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        return f"{self.scheme}://{self.host}"

    def add_blob(self, data: bytes, media_type: str = "application/x-test") -> Descriptor:
        self.blobs[sha256(data)] = data
        return Descriptor(media_type, sha256(data), len(data))

    def add_manifest(
        self, tag: str, *layers: Descriptor, config: Descriptor | None = None
    ) -> bytes:
        config = config or self.add_blob(b"{}")
        document: dict[str, Any] = {"schemaVersion": 2, "mediaType": MANIFEST_TYPE}
        document |= {"config": config.to_json(), "layers": [layer.to_json() for layer in layers]}
        data = json.dumps(document).encode()
        self.manifests[tag] = self.manifests[sha256(data)] = (data, MANIFEST_TYPE)
        return data

    def asked(self, method: str, part: str = "") -> list[Seen]:
        return [seen for seen in self.seen if seen.method == method and part in seen.target]

    def answer(self, seen: Seen) -> Reply:
        return self.ruled(seen) or self.plain(seen)

    def ruled(self, seen: Seen) -> Reply | None:
        for rule in self.rules:
            reply = rule(seen)
            if reply is not None:
                return reply
        levels = QUIRKS[self.profile].levels
        if levels and seen.path != "/v2/" and repository_of(seen).count("/") + 1 != levels:
            return Reply(401, b'{"errors": [{"code": "UNAUTHORIZED", "message": "denied"}]}')
        return None

    def plain(self, seen: Seen) -> Reply:
        """Act as a registry."""
        if seen.path == "/v2/":
            return Reply(200, b"{}")
        kind, name = seen.path.rsplit("/", 2)[1:]
        if kind == "manifests":
            return self.manifest(seen, name)
        if (kind, name) == ("tags", "list"):
            tags = [tag for tag in self.manifests if ":" not in tag]
            if QUIRKS[self.profile].unsorted:
                tags.reverse()
            return Reply(200, json.dumps({"name": "any", "tags": tags}).encode())
        if kind == "blobs":
            return self.blob(seen, name)
        if kind == "referrers" and QUIRKS[self.profile].referrers:
            return self.referrers(seen, name)
        return self.upload(seen) if "/uploads/" in seen.path else Reply(404)

    def blob(self, seen: Seen, digest: str) -> Reply:
        here = not self.split or (repository_of(seen), digest) in self.owned
        if digest not in self.blobs or not here:
            return Reply(404)
        data, wanted = self.blobs[digest], seen.headers.get("range", "")
        if not wanted or not self.ranges or seen.method != "GET":
            return Reply(200, data)
        start = int(wanted.removeprefix("bytes=").removesuffix("-"))
        if start >= len(data):
            return Reply(416)
        whole = f"bytes {start}-{len(data) - 1}/{len(data)}"
        return Reply(206, data[start:], {"Content-Range": whole})

    def referrers(self, seen: Seen, digest: str) -> Reply:
        """List what is about a digest, a page at a time."""
        kinds = seen.query.get("artifactType", [])
        about = [
            entry_of(data, kind)
            for name, (data, kind) in sorted(self.manifests.items())
            if ":" in name and subject_of(data) == digest
        ]
        headers = {"Content-Type": INDEX_TYPE}
        if kinds and self.filters:
            about = [entry for entry in about if entry.get("artifactType") in kinds]
            headers["OCI-Filters-Applied"] = "artifactType"
        begin = int(seen.query.get("from", ["0"])[0])
        page = about[begin : begin + self.page] if self.page else about
        if begin + len(page) < len(about):
            query = "".join(f"&artifactType={kind}" for kind in kinds)
            headers["Link"] = f'<{seen.path}?from={begin + len(page)}{query}>; rel="next"'
        return Reply(200, index_of(*page), headers)

    def upload(self, seen: Seen) -> Reply:
        if seen.method == "POST":
            return self.begin(seen)
        session = seen.path.rpartition("/")[2]
        upload = self.uploads.get(session, bytearray() if seen.method == "PUT" else None)
        if upload is None:
            return Reply(404, b'{"errors": [{"code": "BLOB_UPLOAD_UNKNOWN"}]}')
        if seen.method == "GET":
            return Reply(204, headers={"Range": f"0-{max(len(upload) - 1, 0)}"})
        return self.patch(seen, upload) if seen.method == "PATCH" else self.end(seen, upload)

    def begin(self, seen: Seen) -> Reply:
        if self.mounts and "mount" in seen.query:
            digest, source = seen.query["mount"][0], seen.query["from"][0]
            if (source, digest) in self.owned:
                self.owned.add((repository_of(seen), digest))
                return Reply(201, headers={"Location": f"/v2/{repository_of(seen)}/blobs/{digest}"})
        number = next(self.numbers)
        name = f"session-{number}" if number else "session"
        self.uploads[name] = bytearray()
        return Reply(202, headers={"Location": f"{seen.path.rstrip('/')}/{name}?state=a%2Bb"})

    def end(self, seen: Seen, upload: bytearray) -> Reply:
        digest = seen.query["digest"][0]
        body = bytes(upload) + seen.body
        if sha256(body) != digest:
            return Reply(400, b'{"errors": [{"code": "DIGEST_INVALID", "message": "other"}]}')
        self.blobs[digest] = body
        self.uploads.pop(seen.path.rpartition("/")[2], None)
        self.owned.add((repository_of(seen), digest))
        return Reply(201)

    def patch(self, seen: Seen, upload: bytearray) -> Reply:
        quirk = QUIRKS[self.profile]
        start = int(seen.headers["content-range"].partition("-")[0])
        if quirk.patch_refused:
            return Reply(quirk.patch_refused)
        if len(seen.body) > quirk.patch_limit or (quirk.strict and start != len(upload)):
            return Reply(416, headers={"Range": f"0-{max(len(upload) - 1, 0)}"})
        upload += seen.body
        headers = {"Range": f"0-{len(upload) - 1}"}
        if quirk.patch_status == 202:
            headers["Location"] = seen.target
        return Reply(quirk.patch_status, headers=headers)

    def manifest(self, seen: Seen, name: str) -> Reply:
        if seen.method == "PUT":
            kept = (seen.body, seen.headers["content-type"])
            self.manifests[name] = self.manifests[sha256(seen.body)] = kept
            headers = {"Docker-Content-Digest": sha256(seen.body)}
            subject = subject_of(seen.body)
            if subject and QUIRKS[self.profile].referrers:
                headers["OCI-Subject"] = subject
            return Reply(201, headers=headers)
        if name not in self.manifests:
            return Reply(404, b'{"errors": [{"code": "MANIFEST_UNKNOWN"}]}')
        data, kind = self.manifests[name]
        headers = {"Content-Type": kind, "Docker-Content-Digest": sha256(data)}
        return Reply(200, data, headers)


@contextlib.contextmanager
def http_registry(tls: ssl.SSLContext | None = None) -> Iterator[HttpRegistry]:
    """Run a registry on a free port of loopback."""
    server = _Server(("127.0.0.1", 0), _Handler)
    server.daemon_threads = False
    registry = HttpRegistry(server, "https" if tls else "http")
    server.registry = registry  # type: ignore[attr-defined]
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield registry
    finally:
        registry.ended.set()
        server.shutdown()
        thread.join()
        server.socket.close()


class _Server(ThreadingHTTPServer):
    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of a client that went away; that is what many of the tests are about."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 30
    # Else the body of an answer waits until the reader has said that it has the head: 40 ms.
    disable_nagle_algorithm = True

    def handle_any(self) -> None:
        registry: HttpRegistry = self.server.registry  # type: ignore[attr-defined]
        size = int(self.headers.get("Content-Length") or 0)
        limit = registry.read_limit if self.command in {"PUT", "PATCH"} else None
        if limit is not None and size > limit:
            registry.read_limit = None
            came = self.rfile.read(limit)
            if self.command == "PATCH":
                registry.uploads[urlsplit(self.path).path.rpartition("/")[2]] += came
            self.close_connection = True
            return
        headers = {name.lower(): value for name, value in self.headers.items()}
        seen = Seen(self.command, self.path, headers, self.rfile.read(size))
        registry.seen.append(seen)
        try:
            self.send(registry.answer(seen), registry)
        except BreakOffError:
            self.close_connection = True

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = handle_any  # noqa: N815 - names that http.server calls

    def send(self, reply: Reply, registry: HttpRegistry) -> None:
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        if not {"Content-Length", "Transfer-Encoding"} & set(reply.headers):
            self.send_header("Content-Length", str(len(reply.body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(reply.body)
        if reply.stalls:
            self.wfile.flush()
            registry.ended.wait()
        self.close_connection = self.close_connection or reply.breaks or reply.stalls

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


def chunked(data: bytes) -> bytes:
    """Return bytes as one chunk and an end (RFC 9112, Chunked Transfer Coding)."""
    return b"%x\r\n%s\r\n0\r\n\r\n" % (len(data), data)
