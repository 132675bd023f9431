"""Archives on the web: whole and as the reference says, or nothing; and nobody is logged in to."""

from __future__ import annotations

import dataclasses
import gc
import ssl
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from rra import api
from rra.bundle.reference import WebReference
from rra.errors import CorruptError, LoginError, RegistryError, RraError, StorageError, UsageError
from rra.registry import Policy, open_download
from rra.registry import download as module
from rra.registry.download import DownloadedArchive
from tests.support.bundles import locked_artifact, tree
from tests.support.disks import mounted_disk
from tests.support.http_registry import (
    BreakOffError,
    HttpRegistry,
    Reply,
    Seen,
    http_registry,
    sha256,
)
from tests.support.needs import needs

MIB = 1 << 20
FILE = bytes(range(256)) * 8192  # 2 MiB
PATH = "/files/x.oci.tar"


@dataclasses.dataclass
class Web:
    """A host of files.

    Attributes:
        files: Bytes by path.
        breaks: Where the connection breaks, once each: bytes of an answer that still go.
        ranges: Whether a part can be asked for.
        kind: What its files are said to be.
    """

    server: HttpRegistry
    files: dict[str, bytes]
    breaks: list[int] = dataclasses.field(default_factory=list)
    ranges: bool = True
    kind: str = "application/x-tar"

    @property
    def url(self) -> str:
        return f"{self.server.url}{PATH}"

    def reference(self, data: bytes | None = None, tag: str | None = None) -> WebReference:
        return WebReference(self.url, sha256(self.files[PATH] if data is None else data), tag)

    def __call__(self, seen: Seen) -> Reply | None:
        if seen.path not in self.files:
            return Reply(404)
        data, start = self.files[seen.path], 0
        headers = {"Content-Type": self.kind}
        wanted = seen.headers.get("range", "")
        if wanted and self.ranges:
            start = int(wanted.removeprefix("bytes=").removesuffix("-"))
            if start >= len(data):
                return Reply(416)
            headers["Content-Range"] = f"bytes {start}-{len(data) - 1}/{len(data)}"
        rest = data[start:]
        headers["Content-Length"] = str(len(rest))
        if self.breaks:
            return Reply(206 if start else 200, rest[: self.breaks.pop(0)], headers, breaks=True)
        return Reply(206 if start else 200, rest, headers)


def web_of(server: HttpRegistry) -> Web:
    web = Web(server, {PATH: FILE})
    server.rules.append(web)
    return web


@pytest.fixture
def web(registry: HttpRegistry) -> Web:
    return web_of(registry)


@pytest.fixture
def safe(tls: ssl.SSLContext, certificate: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Web]:
    """A host with TLS, whose certificate is trusted."""
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(certificate))
    with http_registry(tls) as server:
        yield web_of(server)


Bring = Callable[..., DownloadedArchive]


@pytest.fixture
def bring(waits: list[float], notices: list[str]) -> Bring:
    policy = Policy(connect_seconds=5, idle_seconds=5, sleep=waits.append)
    return lambda reference: open_download(reference, progress=notices.append, policy=policy)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RRA_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def kept(cache: Path) -> list[str]:
    """Return the files of the cache."""
    return sorted(str(path.relative_to(cache)) for path in cache.rglob("*") if path.is_file())


def hex_of(data: bytes) -> str:
    return sha256(data).removeprefix("sha256:")


# ------------------------------------------------------------------------------ the way


def test_it_comes_over_tls_and_is_kept(safe: Web, bring: Bring, cache: Path) -> None:
    assert safe.url.startswith("https://")
    store = bring(safe.reference())
    assert store.name == safe.url
    assert kept(cache) == [f"archives/{hex_of(FILE)}"]
    assert (cache / kept(cache)[0]).read_bytes() == FILE
    bring(safe.reference())
    assert len(safe.server.asked("GET")) == 1
    seen = safe.server.seen[0].headers
    assert not {"authorization", "cookie", "referer", "range"} & set(seen)
    assert seen["accept-encoding"] == "identity"


def test_what_the_cache_has_is_hashed_again(web: Web, bring: Bring, cache: Path) -> None:
    bring(web.reference())
    place = cache / kept(cache)[0]
    place.write_bytes(FILE[:-1] + b"x")
    bring(web.reference())
    assert place.read_bytes() == FILE
    assert len(web.server.asked("GET")) == 2


def test_a_link_in_the_cache_is_not_followed(web: Web, bring: Bring, cache: Path) -> None:
    other = cache.parent / "other"
    other.write_bytes(FILE)
    (cache / "archives").mkdir(parents=True)
    place = cache / "archives" / hex_of(FILE)
    place.symlink_to(other)
    bring(web.reference())
    assert not place.is_symlink()
    assert len(web.server.asked("GET")) == 1


def test_what_nobody_used_for_a_week_goes(
    web: Web, bring: Bring, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bring(web.reference())
    first = hex_of(FILE)
    web.files[PATH] = b"other"
    monkeypatch.setattr(module, "_KEPT", -module._KEPT)
    bring(web.reference())
    assert kept(cache) == [f"archives/{hex_of(b'other')}"]
    assert first not in str(kept(cache))


# ------------------------------------------------------------------ not what the reference says


@pytest.mark.parametrize(
    "data",
    [FILE[:-1], FILE[: MIB + 1], b"", FILE + b"x", FILE + FILE, FILE[:-1] + b"x"],
    ids=["one-less", "half", "empty", "one-more", "twice", "other"],
)
def test_another_file_is_refused_and_not_kept(
    web: Web, bring: Bring, cache: Path, data: bytes
) -> None:
    web.files[PATH] = data
    with pytest.raises(CorruptError) as caught:
        bring(web.reference(FILE))
    assert sha256(data) in caught.value.message
    assert sha256(FILE) in caught.value.message
    assert kept(cache) == []


def test_a_page_for_people_is_called_one(web: Web, bring: Bring) -> None:
    web.files[PATH] = b"<html>records</html>"
    web.kind = "text/html; charset=utf-8"
    with pytest.raises(CorruptError) as caught:
        bring(web.reference(FILE))
    assert "a page for people" in caught.value.hint


def test_a_file_without_an_end_is_given_up(
    web: Web, bring: Bring, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_ARCHIVE", MIB)
    with pytest.raises(CorruptError, match="larger than 1"):
        bring(web.reference())
    assert kept(cache) == []


@pytest.mark.parametrize("encoding", ["gzip", "br", "identity, gzip"])
def test_an_encoding_of_the_content_is_refused(web: Web, bring: Bring, encoding: str) -> None:
    web.server.rules.insert(0, lambda _: Reply(200, FILE, {"Content-Encoding": encoding}))
    with pytest.raises(RegistryError, match=f"Content-Encoding {encoding}"):
        bring(web.reference())


@pytest.mark.parametrize(
    ("status", "error", "hint"),
    [
        (401, LoginError, "download the file yourself"),
        (403, LoginError, "download the file yourself"),
        (404, RegistryError, "check the address"),
        (410, RegistryError, "check the address"),
        (500, RegistryError, "in a while"),
        (204, RegistryError, "in a while"),
    ],
)
def test_a_host_that_refuses(
    web: Web, bring: Bring, status: int, error: type[RraError], hint: str
) -> None:
    challenge = {"WWW-Authenticate": f'Bearer realm="{web.server.url}/token",service="x"'}
    web.server.rules.insert(0, lambda _: Reply(status, b"", challenge))
    with pytest.raises(error, match=f"answers {status}") as caught:
        bring(web.reference())
    assert hint in caught.value.hint
    assert web.server.asked("GET", "/token") == []


def test_no_login_of_the_user_is_sent(web: Web, bring: Bring, home: Path) -> None:
    """Not the one of a registry on that host, and not that of a netrc file."""
    (home / ".netrc").write_text("machine 127.0.0.1 login me password secret\n")
    (home / ".netrc").chmod(0o600)
    (home / ".docker").mkdir()
    login = f'{{"auths": {{"{web.server.host}": {{"auth": "bWU6c2VjcmV0"}}}}}}'
    (home / ".docker/config.json").write_text(login)
    bring(web.reference())
    assert [seen.login for seen in web.server.seen] == [""]


def test_a_certificate_that_nobody_vouches_for(
    safe: Web, bring: Bring, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("REQUESTS_CA_BUNDLE")
    with pytest.raises(RegistryError, match=r"certificate .* is not trusted"):
        bring(safe.reference())


def test_nobody_there(bring: Bring) -> None:
    with pytest.raises(RegistryError, match=r"127\.0\.0\.1:9"):
        bring(WebReference("https://127.0.0.1:9/x", sha256(b"x")))


# ------------------------------------------------------------------------------ sent elsewhere


def sends_to(web: Web, target: str) -> None:
    web.server.rules.insert(
        0, lambda seen: Reply(302, headers={"Location": target}) if seen.path == PATH else None
    )


def test_to_another_host_with_tls(safe: Web, bring: Bring, tls: ssl.SSLContext) -> None:
    with http_registry(tls) as other:
        there = web_of(other)
        there.files = {"/cdn": FILE}
        sends_to(safe, f"https://localhost:{other.port}/cdn#fragment")
        bring(safe.reference())
        (asked,) = other.asked("GET")
        assert (asked.target, asked.login) == ("/cdn", "")


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_never_from_tls_to_http(safe: Web, bring: Bring, registry: HttpRegistry, host: str) -> None:
    sends_to(safe, f"http://{host}:{registry.port}{PATH}")
    with pytest.raises(RegistryError, match="without TLS"):
        bring(safe.reference())
    assert registry.seen == []


def test_never_from_this_machine_to_http_elsewhere(web: Web, bring: Bring) -> None:
    sends_to(web, "http://example.invalid/x")
    with pytest.raises(RegistryError, match=r"http://example\.invalid:80, without TLS"):
        bring(web.reference())


@pytest.mark.parametrize("target", ["https://me:secret@127.0.0.1:9/x", "https://me@127.0.0.1:9/x"])
def test_not_to_an_address_with_a_login(web: Web, bring: Bring, target: str) -> None:
    sends_to(web, target)
    with pytest.raises(RegistryError, match="an address with a login") as caught:
        bring(web.reference())
    assert "secret" not in caught.value.message + caught.value.hint


@pytest.mark.parametrize("target", ["", "file:///etc/passwd", "ftp://127.0.0.1/x", "https://"])
def test_not_to_what_is_no_address(web: Web, bring: Bring, target: str) -> None:
    sends_to(web, target)
    with pytest.raises(RegistryError, match="not to an address"):
        bring(web.reference())


def test_not_in_a_circle(web: Web, bring: Bring) -> None:
    sends_to(web, PATH)
    with pytest.raises(RegistryError, match="redirects more than"):
        bring(web.reference())


# --------------------------------------------------------------- connections that break off


def test_it_goes_on_where_the_connection_broke(web: Web, bring: Bring, waits: list[float]) -> None:
    web.breaks = [MIB + 100_000, 500_000]
    bring(web.reference())
    ranges = [seen.headers.get("range") for seen in web.server.asked("GET")]
    assert ranges[0] is None
    starts = [int(str(one).removeprefix("bytes=").removesuffix("-")) for one in ranges[1:]]
    assert starts == sorted(starts)
    assert 0 < starts[0] <= MIB + 100_000
    assert len(waits) == len(starts) == 2


def test_the_next_attempt_goes_on_where_the_last_one_gave_up(
    web: Web, bring: Bring, cache: Path, notices: list[str]
) -> None:
    web.breaks = [MIB, 0, 0, 0, 0]
    with pytest.raises(RegistryError, match="broke"):
        bring(web.reference())
    assert kept(cache) == [f"partial/{hex_of(FILE)}"]
    web.server.seen.clear()
    web.breaks = []
    bring(web.reference())
    assert [seen.headers["range"] for seen in web.server.seen] == [f"bytes={MIB}-"]
    assert f"{web.url}: 2.0 MiB, 1.0 MiB here already" in notices
    assert kept(cache) == [f"archives/{hex_of(FILE)}"]


@pytest.mark.parametrize(
    "left",
    [b"x" * MIB, FILE[:MIB], FILE, FILE + b"x", b""],
    ids=["wrong", "right", "all", "more", "none"],
)
@pytest.mark.parametrize("ranges", [True, False])
def test_whatever_was_left_here_the_file_is_right(
    web: Web, bring: Bring, cache: Path, left: bytes, *, ranges: bool
) -> None:
    (cache / "partial").mkdir(parents=True)
    (cache / "partial" / hex_of(FILE)).write_bytes(left)
    web.ranges = ranges
    bring(web.reference())
    assert (cache / "archives" / hex_of(FILE)).read_bytes() == FILE
    assert len(kept(cache)) == 1
    assert (len(web.server.asked("GET")) == 0) == (left == FILE)


def test_a_host_that_drops_everything_is_given_up(
    web: Web, bring: Bring, waits: list[float]
) -> None:
    def drop(_: Seen) -> Reply:
        raise BreakOffError

    web.server.rules.insert(0, drop)
    with pytest.raises(RegistryError):
        bring(web.reference())
    assert len(waits) == 3


@needs("tmpfs")
def test_a_disk_that_is_too_small_keeps_nothing(
    web: Web, bring: Bring, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with mounted_disk(tmp_path / "disk", "1m") as disk:
        monkeypatch.setenv("RRA_CACHE", str(disk))
        with pytest.raises(StorageError, match="no space left"):
            bring(web.reference())
        assert kept(disk) == []


@needs("tmpfs")
def test_a_cache_that_is_read_only_is_done_without(
    web: Web, bring: Bring, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    with mounted_disk(tmp_path / "disk", "1m") as disk:
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        monkeypatch.setenv("RRA_CACHE", str(disk))
        store = bring(web.reference())
        (place,) = temporary.iterdir()
        assert next(place.iterdir()).read_bytes() == FILE
        del store
        gc.collect()
        assert list(temporary.iterdir()) == []


# ------------------------------------------------------------------------------ the verbs


@pytest.fixture
def study(web: Web, tmp_path: Path) -> str:
    """An artifact as an archive on the web."""
    artifact = locked_artifact(tmp_path / "tiny")
    api.pack(artifact.root, f"oci-archive:{tmp_path / 'x.tar'}")
    web.files[PATH] = (tmp_path / "x.tar").read_bytes()
    return str(web.reference())


def test_it_is_inspected_unpacked_pulled_and_copied(study: str, tmp_path: Path) -> None:
    seen = api.inspect(study)
    assert seen.reference == f"{study}@{seen.digest}"  # both digests: of the file, of the bundle
    assert api.inspect(seen.reference).digest == seen.digest
    unpacked = api.unpack(study, tmp_path / "one")
    pulled = api.pull(study, str(tmp_path / "two"))
    assert tree(tmp_path / "one") == tree(tmp_path / "two")
    assert unpacked.reference == pulled.reference == seen.reference
    copied = api.copy(study, f"oci-layout:{tmp_path / 'layout'}")
    assert (copied.digest, copied.source) == (seen.digest, seen.reference)
    assert api.pull(study, f"oci-archive:{tmp_path / 'y.tar'}").form == "oci-archive"
    assert (tmp_path / "y.tar").read_bytes() == (tmp_path / "x.tar").read_bytes()


def test_it_is_read_by_verbs_that_open_artifacts(study: str, tmp_path: Path) -> None:
    assert api.diff(study, str(tmp_path / "tiny")).difference.same
    assert api.lint(study).ok
    assert api.next(study).ok
    assert study in str(api.audit(study).to_json())
    verified = api.verify(study)
    assert verified.exit_code == 0
    assert study in str(verified.to_json())


def test_it_goes_on_to_a_registry(study: str, elsewhere: HttpRegistry) -> None:
    pushed = api.push(study, f"{elsewhere.host}/team/tiny")
    assert "1.0.0" in elsewhere.manifests
    assert pushed.source.startswith(study)


def test_nothing_can_be_put_there(study: str, tmp_path: Path) -> None:
    for call in (
        lambda: api.copy(f"oci-archive:{tmp_path / 'x.tar'}", study),
        lambda: api.pack(tmp_path / "tiny", study),
    ):
        with pytest.raises(UsageError, match="is an address, where nothing can be put"):
            call()


def test_the_command_says_both_digests(study: str, web: Web) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "rra", "inspect", study], capture_output=True, text=True, check=True
    )
    assert sha256(web.files[PATH]) in done.stdout
