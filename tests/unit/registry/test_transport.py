"""Who is spoken to, with TLS or without, and what is said when nobody answers."""

from __future__ import annotations

import ssl
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from rra._base.hosts import is_loopback
from rra.bundle.reference import RegistryReference
from rra.errors import RegistryError, UsageError
from rra.registry import Policy, RegistryStore, open_store
from rra.registry.origin import Origin, may_receive_credential, origin_of_registry
from tests.support.http_registry import HttpRegistry, Reply, http_registry, sha256
from tests.support.needs import needs

Open = Callable[[HttpRegistry], RegistryStore]
NOTHING = sha256(b"nothing")


# -------------------------------------------------------------------------------- origins


def test_origins_have_scheme_host_and_port() -> None:
    assert Origin.of("https://Registry.Test/v2/") == Origin("https", "registry.test", 443)
    assert Origin.of("http://u:p@registry.test:5000/x") == Origin("http", "registry.test", 5000)
    assert str(Origin("https", "::1", 5000)) == "https://[::1]:5000"


@pytest.mark.parametrize("url", ["", "x", "ftp://a/", "http://", "http://a:x/", "http://[", "/a"])
def test_what_has_no_origin(url: str) -> None:
    assert Origin.of(url) is None


@pytest.mark.parametrize(
    ("host", "here"),
    [
        ("localhost", True),
        ("127.0.0.1", True),
        ("127.9.9.9", True),
        ("::1", True),
        ("localhost.evil.test", False),
        ("127.0.0.1.evil.test", False),
        ("10.0.0.1", False),
        ("0.0.0.0", False),
    ],
)
def test_loopback(host: str, here: bool) -> None:  # noqa: FBT001
    assert is_loopback(host) is here


@pytest.mark.parametrize("name", ["a@b", "a/b", "a?b", "a#b", "[::1", "a:x", ""])
def test_what_names_no_registry(name: str) -> None:
    with pytest.raises(UsageError):
        origin_of_registry(name, "https")


@pytest.mark.clause("security/credentials-stay")
@pytest.mark.parametrize(
    ("realm", "registry", "may"),
    [
        ("https://r.test/token", "https://r.test", True),
        ("https://r.test:8443/token", "https://r.test", True),
        ("http://r.test/token", "https://r.test", False),
        ("http://127.0.0.1:5001/token", "http://127.0.0.1:5000", True),
        ("https://auth.r.test/token", "https://r.test", False),
        ("https://r.test.evil.test/token", "https://r.test", False),
    ],
)
def test_who_may_have_a_credential(realm: str, registry: str, may: bool) -> None:  # noqa: FBT001
    to, of = Origin.of(realm), Origin.of(registry)
    assert to is not None
    assert of is not None
    assert may_receive_credential(to, of) is may


def test_the_known_token_service_of_the_hub() -> None:
    hub = origin_of_registry("docker.io", "https")
    service = Origin("https", "auth.docker.io", 443)
    assert may_receive_credential(service, hub)
    assert not may_receive_credential(Origin("http", service.host, 80), hub)
    assert not may_receive_credential(service, Origin("https", "r.test", 443))


@pytest.mark.parametrize("repository", ["a.b/c.d", "x", "a/b/c", "a--b/c__d"])
def test_oras_is_told_the_repository_that_was_meant(
    registry: HttpRegistry, opened: Callable[..., RegistryStore], repository: str
) -> None:
    assert not opened(registry, repository).has(NOTHING)
    assert registry.asked("HEAD")[0].path == f"/v2/{repository}/blobs/{NOTHING}"


# ------------------------------------------------------------------------------ redirects


def test_redirects_end(registry: HttpRegistry, opened: Open) -> None:
    registry.rules.append(
        lambda seen: (
            Reply(307, headers={"Location": seen.target}) if "/blobs/" in seen.path else None
        )
    )
    with pytest.raises(RegistryError, match="more than 5 times"):
        opened(registry).has(NOTHING)


@pytest.mark.parametrize("location", [None, "file:///etc/passwd", "gopher://x/", "http://[bad"])
def test_redirects_to_what_is_no_address(
    registry: HttpRegistry, opened: Open, location: str | None
) -> None:
    headers = {"Location": location} if location else {}
    registry.rules.append(
        lambda seen: Reply(302, headers=headers) if "/blobs/" in seen.path else None
    )
    with pytest.raises(RegistryError, match="not to an address"):
        opened(registry).has(NOTHING)


def test_a_write_is_not_redirected(
    registry: HttpRegistry, elsewhere: HttpRegistry, opened: Open
) -> None:
    onward = {"Location": f"{elsewhere.url}/v2/x/manifests/1.0"}
    registry.rules.append(lambda seen: Reply(307, headers=onward) if seen.method == "PUT" else None)
    with pytest.raises(RegistryError, match="307"):
        opened(registry).put_manifest(b"{}", "1.0")
    assert elsewhere.seen == []


# ------------------------------------------------------------------------------- no answer


def test_an_absent_registry(registry: HttpRegistry) -> None:
    with http_registry() as gone:
        reference = RegistryReference(gone.host, "x")
    with pytest.raises(RegistryError, match="connection refused") as caught:
        open_store(reference).has(NOTHING)
    assert f"no registry answers at {reference.origin}" in caught.value.message
    assert caught.value.exit_code == 3
    assert "whether it is running" in caught.value.hint


def test_a_host_without_a_name() -> None:
    with pytest.raises(RegistryError, match=r"no registry answers at rra\.invalid:443"):
        open_store(RegistryReference("rra.invalid", "x")).has(NOTHING)


def test_a_proxy_is_not_asked_for_this_machine(
    registry: HttpRegistry, opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    assert not opened(registry).has(NOTHING)


def test_oras_itself_prints_nothing(registry: HttpRegistry) -> None:
    challenge = {"WWW-Authenticate": 'Bearer realm="x"'}
    registry.rules.append(
        lambda seen: Reply(401, headers=challenge) if "/blobs/" in seen.path else None
    )
    script = (
        "from rra.registry import open_store\n"
        "from rra.bundle.reference import RegistryReference\n"
        "from rra.errors import RegistryError\n"
        f"store = open_store(RegistryReference({registry.host!r}, 'x'))\n"
        "try:\n"
        f"    store.has({NOTHING!r})\n"
        "except RegistryError:\n"
        "    pass\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert (done.stdout, done.stderr) == ("", "")


# ------------------------------------------------------------------------------------ TLS


@needs("openssl")
def test_b40_a_registry_on_this_machine_may_speak_tls(
    tls: ssl.SSLContext,
    certificate: Path,
    opened: Open,
    waits: list[float],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(certificate))
    with http_registry(tls) as server:
        blob = server.add_blob(b"data")
        challenge = f'Bearer realm="{server.url}/token"'
        token, failures = b'{"token": "t"}', [Reply(503), Reply(503)]

        def guard(seen: object) -> Reply | None:
            path, login = getattr(seen, "path", ""), getattr(seen, "login", "")
            if path == "/token":
                return failures.pop() if len(failures) > 1 else Reply(200, token)
            if path == "/v2/":
                return None
            if login != "Bearer t":
                return Reply(401, headers={"WWW-Authenticate": challenge})
            return failures.pop() if failures else None

        server.rules.append(guard)
        with opened(server).open(blob) as stream:  # TLS and its trust hold on every retry
            assert stream.read() == b"data"
    assert waits == [0.5, 0.5]


@pytest.mark.clause("security/encrypted-transport")
@needs("openssl")
def test_an_untrusted_certificate_is_no_reason_to_go_without_tls(
    tls: ssl.SSLContext, opened: Open
) -> None:
    with http_registry(tls) as server, pytest.raises(RegistryError) as caught:
        opened(server).has(NOTHING)
    assert "is not trusted" in caught.value.message
    assert "REQUESTS_CA_BUNDLE" in caught.value.hint
    assert server.seen == []


@pytest.mark.clause("security/encrypted-transport")
@needs("openssl")
@pytest.mark.parametrize("way", ["redirect", "upload", "realm"])
def test_tls_is_never_left(
    tls: ssl.SSLContext,
    certificate: Path,
    registry: HttpRegistry,
    opened: Open,
    way: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(certificate))
    replies = {
        "redirect": Reply(307, headers={"Location": f"{registry.url}/x"}),
        "upload": Reply(202, headers={"Location": f"{registry.url}/x"}),
        "realm": Reply(401, headers={"WWW-Authenticate": f'Bearer realm="{registry.url}/x"'}),
    }
    method = {"redirect": "HEAD", "upload": "POST", "realm": "HEAD"}[way]
    with http_registry(tls) as server:
        server.rules.append(lambda seen: replies[way] if seen.method == method else None)
        with pytest.raises(RegistryError, match="without TLS"):
            opened(server).put([b"data"], "application/x-test")
    assert registry.seen == []


@needs("openssl")
def test_plain_http_is_what_is_asked_for(tls: ssl.SSLContext) -> None:
    with http_registry(tls) as server:
        store = open_store(
            RegistryReference(server.host, "x"), plain_http=True, policy=Policy(attempts=1)
        )
        with pytest.raises(RegistryError, match="broke"):
            store.has(NOTHING)


@needs("openssl")
def test_plain_http_is_what_the_variable_names_for_every_verb(
    tls: ssl.SSLContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    with http_registry(tls) as server:
        reference = RegistryReference(server.host, "x")
        for hosts, scheme in ((f"h.org,{server.host}", "http"), ("h.org:5000", "https")):
            monkeypatch.setenv("RRA_PLAIN_HTTP", hosts)
            assert open_store(reference).registry.origin.scheme == scheme
