"""A login goes to its own registry and nowhere else; what everybody may read needs none."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from rra.bundle.store import Descriptor
from rra.errors import LoginError, RegistryError
from rra.registry import RegistryStore
from tests.support.http_registry import HttpRegistry, Reply, Seen, sha256

Open = Callable[[HttpRegistry], RegistryStore]
BASIC = "Basic " + base64.b64encode(b"author:right-word").decode()


@pytest.fixture
def docker_config(home: Path) -> Callable[..., Path]:
    """Writes ~/.docker/config.json with a login for a registry."""

    def write(server: HttpRegistry, **entry: str) -> Path:
        entry = entry or {"auth": BASIC.removeprefix("Basic ")}
        path = home / ".docker/config.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps({"auths": {server.host: entry}}))
        return path

    return write


class TokenService:
    """Bearer tokens as registries hand them out; a rule of the server that it guards.

    Attributes:
        valid: Tokens that the registry takes, with what they may.
        public: Whether anybody may pull.
        accepts: Login that may push.
        uses: How many requests one token serves.
    """

    def __init__(self, server: HttpRegistry, realm: str = "") -> None:
        self.realm = realm or f"{server.url}/token"
        self.valid: dict[str, tuple[str, int]] = {}
        self.public = True
        self.accepts = BASIC
        self.uses = 1000
        self.made = 0
        server.rules.append(self.guard)

    def guard(self, seen: Seen) -> Reply | None:
        if seen.path == "/token":
            return self.give(seen)
        if seen.path == "/v2/":
            return None
        wanted = "pull" if seen.method in {"GET", "HEAD"} else "pull,push"
        actions, left = self.valid.get(seen.login.removeprefix("Bearer "), ("", 0))
        if left and set(wanted.split(",")) <= set(actions.split(",")):
            self.valid[seen.login.removeprefix("Bearer ")] = (actions, left - 1)
            return None
        scope = f"repository:team/bundle:{wanted}"
        challenge = f'Bearer realm="{self.realm}",service="test",scope="{scope}"'
        return Reply(401, headers={"WWW-Authenticate": challenge})

    def give(self, seen: Seen) -> Reply:
        actions = seen.query.get("scope", [""])[0].rpartition(":")[2]
        if seen.login and seen.login != self.accepts:
            return Reply(401)
        if not seen.login and (not self.public or actions != "pull"):
            return Reply(401)
        self.made += 1
        token = f"token-{self.made}"
        self.valid[token] = (actions, self.uses)
        return Reply(200, json.dumps({"token": token}).encode())


def read(store: RegistryStore, descriptor: Descriptor) -> bytes:
    with store.open(descriptor) as stream:
        return stream.read()


# -------------------------------------------------------------------------------- tokens


def test_b40_what_is_public_is_read_with_an_anonymous_token(
    registry: HttpRegistry, opened: Open
) -> None:
    service = TokenService(registry)
    data = registry.add_manifest("1.0")
    blob = registry.add_blob(b"data")
    store = opened(registry)
    assert store.get_manifest("1.0")[0] == data
    assert read(store, blob) == b"data"
    asked = registry.asked("GET", "/token")
    assert [seen.query for seen in asked] == [
        {"service": ["test"], "scope": ["repository:team/bundle:pull"]}
    ]
    assert (asked[0].login, service.made) == ("", 1)
    assert registry.asked("GET", "/blobs/")[0].login == "Bearer token-1"


def test_a_login_gives_a_token_that_may_push(
    registry: HttpRegistry, opened: Open, docker_config: Callable[..., Path]
) -> None:
    docker_config(registry)
    TokenService(registry)
    blob = opened(registry).put([b"data"], "application/x-test")
    assert registry.blobs[blob.digest] == b"data"
    asked = registry.asked("GET", "/token")
    assert [seen.query["scope"] for seen in asked] == [
        ["repository:team/bundle:pull"],
        ["repository:team/bundle:pull,push"],
    ]
    assert {seen.login for seen in asked} == {BASIC}
    assert BASIC not in {seen.login for seen in registry.seen if seen.path != "/token"}


def test_a_token_that_expired_is_replaced(registry: HttpRegistry, opened: Open) -> None:
    service = TokenService(registry)
    service.uses = 1
    blob = registry.add_blob(b"data")
    store = opened(registry)
    assert [read(store, blob) for _ in range(3)] == [b"data"] * 3
    assert service.made == 3


def test_a_token_that_expires_in_an_upload_is_replaced(
    registry: HttpRegistry, opened: Open, docker_config: Callable[..., Path], waits: list[float]
) -> None:
    docker_config(registry)
    service = TokenService(registry)
    service.uses = 2  # the first for pushing serves POST and PUT of the first blob …
    store = opened(registry)
    store.put([b"one"], "application/x-test")
    token, (actions, _) = list(service.valid.items())[-1]
    service.valid[token] = (actions, 2)  # … and now HEAD and POST, not PUT
    store.put([b"two"], "application/x-test")
    assert {b"one", b"two"} <= set(registry.blobs.values())
    assert waits == []


def test_a_refused_login_does_not_keep_from_what_is_public(
    registry: HttpRegistry,
    opened: Open,
    docker_config: Callable[..., Path],
    notices: list[str],
) -> None:
    path = docker_config(registry, username="author", password="stale")
    TokenService(registry)
    blob = registry.add_blob(b"data")
    assert read(opened(registry), blob) == b"data"
    assert notices == [f"{registry.host} refuses the credential from {path}; reading without it"]


def test_a_helper_that_is_gone_does_not_keep_from_what_is_public(
    registry: HttpRegistry, opened: Open, home: Path
) -> None:
    """A desktop program that was removed leaves such an entry behind."""
    data = registry.add_manifest("1.0")
    (home / ".docker").mkdir(exist_ok=True)
    (home / ".docker/config.json").write_text('{"credsStore": "gone"}')
    assert opened(registry).get_manifest("1.0")[0] == data
    TokenService(registry).public = False
    with pytest.raises(LoginError) as caught:
        opened(registry).get_manifest("1.0")
    assert "docker-credential-gone" in caught.value.hint


def test_a_refused_login_keeps_from_pushing(
    registry: HttpRegistry, opened: Open, docker_config: Callable[..., Path]
) -> None:
    path = docker_config(registry, username="author", password="stale")
    service = TokenService(registry)
    service.public = False
    with pytest.raises(LoginError) as caught:
        opened(registry).put_manifest(b"{}", "1.0")
    assert caught.value.exit_code == 3
    assert registry.host in caught.value.message
    assert str(path) in caught.value.message
    assert "stale" not in f"{caught.value.message}{caught.value.hint}"


def test_a_refused_login_is_named_where_reading_needs_one(
    registry: HttpRegistry, opened: Open, docker_config: Callable[..., Path]
) -> None:
    path = docker_config(registry, username="author", password="stale")
    TokenService(registry).public = False
    with pytest.raises(LoginError, match="refuses to use") as caught:
        opened(registry).has(sha256(b""))
    assert str(path) in caught.value.message


def test_a_private_registry_says_that_it_wants_a_login(
    registry: HttpRegistry, opened: Open, home: Path
) -> None:
    TokenService(registry).public = False
    with pytest.raises(LoginError, match="wants a login to use") as caught:
        opened(registry).has(sha256(b""))
    assert registry.host in caught.value.message
    assert f"{home}/.docker/config.json" in caught.value.hint


def test_a_registry_that_is_never_content(
    registry: HttpRegistry, opened: Open, docker_config: Callable[..., Path]
) -> None:
    docker_config(registry)
    service = TokenService(registry)
    service.uses = 0
    with pytest.raises(LoginError):
        opened(registry).has(sha256(b""))
    assert len(registry.asked("HEAD")) <= 4


def test_an_identity_token_is_exchanged(
    registry: HttpRegistry, opened: Open, docker_config: Callable[..., Path]
) -> None:
    docker_config(registry, identitytoken="refresh me")
    service = TokenService(registry)
    service.public = False

    def exchange(seen: Seen) -> Reply | None:
        if (seen.method, seen.path) != ("POST", "/token"):
            return None
        service.valid["exchanged"] = ("pull,push", 9)
        return Reply(200, b'{"access_token": "exchanged"}')

    registry.rules.insert(0, exchange)
    assert not opened(registry).has(sha256(b""))
    form = registry.asked("POST", "/token")[0].body.decode()
    assert "grant_type=refresh_token" in form
    assert "refresh_token=refresh+me" in form
    assert "scope=repository%3Ateam%2Fbundle%3Apull" in form


def test_a_registry_token_is_used_as_it_is(
    registry: HttpRegistry, opened: Open, docker_config: Callable[..., Path]
) -> None:
    docker_config(registry, registrytoken="given")
    service = TokenService(registry)
    service.valid["given"] = ("pull", 9)
    assert not opened(registry).has(sha256(b""))
    assert registry.asked("GET", "/token") == []


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        (b"<html>", "no JSON object"),
        (b"[]", "no JSON object"),
        (b"{}", "no token"),
        (b'{"token": 7}', "no token"),
        (b'{"token": "a\\r\\nX-Other: b"}', "no token"),
        (b'{"token": "' + b"x" * (1 << 20) + b'"}', "larger than"),
    ],
    ids=["html", "list", "empty", "number", "header", "huge"],
)
def test_a_token_service_that_sends_no_token(
    registry: HttpRegistry, opened: Open, body: bytes, fault: str
) -> None:
    TokenService(registry)
    registry.rules.insert(0, lambda seen: Reply(200, body) if seen.path == "/token" else None)
    with pytest.raises(RegistryError, match=fault):
        opened(registry).has(sha256(b""))


@pytest.mark.parametrize("realm", ["", "nowhere", "file:///etc/passwd", "//x/y", "http://[bad"])
def test_a_realm_that_is_no_address(registry: HttpRegistry, opened: Open, realm: str) -> None:
    TokenService(registry).realm = realm
    with pytest.raises(RegistryError):
        opened(registry).has(sha256(b""))


# ---------------------------------------------------------------------------- other hosts


@pytest.mark.clause("security/credentials-stay")
def test_a_token_service_on_another_host_gets_no_login(
    registry: HttpRegistry,
    elsewhere: HttpRegistry,
    opened: Open,
    docker_config: Callable[..., Path],
    notices: list[str],
) -> None:
    docker_config(registry)
    foreign = f"http://localhost:{elsewhere.port}/token"
    service = TokenService(registry, foreign)
    elsewhere.rules.append(service.guard)
    store = opened(registry)
    assert not store.has(sha256(b""))  # reading works without the login …
    with pytest.raises(LoginError) as caught:  # … writing is refused, with both hosts named
        store.put_manifest(b"{}", "1.0")
    assert registry.host in caught.value.message
    assert f"localhost:{elsewhere.port}" in caught.value.message
    assert {seen.login for seen in elsewhere.seen} == {""}
    assert BASIC not in {seen.login for seen in registry.seen}
    assert "reading without the credential" in notices[0]


def test_a_token_service_that_sends_elsewhere_is_not_followed(
    registry: HttpRegistry,
    elsewhere: HttpRegistry,
    opened: Open,
    docker_config: Callable[..., Path],
) -> None:
    docker_config(registry)
    TokenService(registry)
    onward = {"Location": f"{elsewhere.url}/token"}
    registry.rules.insert(
        0, lambda seen: Reply(307, headers=onward) if seen.path == "/token" else None
    )
    with pytest.raises(RegistryError, match="answers 307"):
        opened(registry).has(sha256(b""))
    assert elsewhere.seen == []


def basic(seen: Seen) -> Reply | None:
    if seen.login == BASIC or seen.path == "/v2/":
        return None
    return Reply(401, headers={"WWW-Authenticate": 'Basic realm="test"'})


@pytest.mark.clause("security/credentials-stay")
def test_a_redirect_to_another_host_carries_no_login(
    registry: HttpRegistry,
    elsewhere: HttpRegistry,
    opened: Open,
    docker_config: Callable[..., Path],
) -> None:
    docker_config(registry)
    blob = elsewhere.add_blob(b"data")
    onward = {"Location": f"{elsewhere.url}/storage/blobs/{blob.digest}?signature=s"}
    registry.rules += [
        basic,
        lambda seen: Reply(307, headers=onward) if "/blobs/" in seen.path else None,
    ]
    assert read(opened(registry), blob) == b"data"
    assert registry.asked("GET", "/blobs/")[-1].login == BASIC
    assert [(seen.login, seen.query) for seen in elsewhere.seen] == [("", {"signature": ["s"]})]


def test_another_port_of_the_same_host_is_another_origin(
    registry: HttpRegistry,
    elsewhere: HttpRegistry,
    opened: Open,
    docker_config: Callable[..., Path],
) -> None:
    docker_config(registry)
    registry.rules += [
        basic,
        lambda seen: (
            Reply(202, headers={"Location": f"{elsewhere.url}/v2/x/blobs/uploads/1"})
            if seen.method == "POST"
            else None
        ),
    ]
    blob = opened(registry).put([b"data"], "application/x-test")
    assert elsewhere.blobs == {blob.digest: b"data"}
    assert [seen.login for seen in elsewhere.seen] == [""]
    assert registry.asked("POST")[-1].login == BASIC


def test_a_challenge_of_another_host_is_not_answered(
    registry: HttpRegistry,
    elsewhere: HttpRegistry,
    opened: Open,
    docker_config: Callable[..., Path],
) -> None:
    docker_config(registry)
    blob = Descriptor("application/x-test", sha256(b"data"), 4)
    onward = {"Location": f"{elsewhere.url}/v2/x/blobs/{blob.digest}"}
    registry.rules += [
        basic,
        lambda seen: Reply(307, headers=onward) if "/blobs/" in seen.path else None,
    ]
    elsewhere.rules.append(basic)
    with pytest.raises(LoginError):
        read(opened(registry), blob)
    assert {seen.login for seen in elsewhere.seen} == {""}


# ---------------------------------------------------------------------------------- basic


def test_basic_is_sent_when_asked_for_and_then_at_once(
    registry: HttpRegistry, opened: Open, docker_config: Callable[..., Path]
) -> None:
    docker_config(registry)
    registry.rules.append(basic)
    store = opened(registry)
    store.has(sha256(b"1"))
    store.has(sha256(b"2"))
    assert [seen.login for seen in registry.asked("HEAD")] == ["", BASIC, BASIC]


def test_a_wrong_password_is_tried_once(
    registry: HttpRegistry, opened: Open, docker_config: Callable[..., Path]
) -> None:
    path = docker_config(registry, username="author", password="wrong-word")
    registry.rules.append(basic)
    for call in (lambda: opened(registry).put_manifest(b"{}", "1.0"), opened(registry).tags):
        with pytest.raises(LoginError, match="refuses") as caught:
            call()
        assert str(path) in caught.value.message
    assert len(registry.asked("PUT")) == 2
    assert len(registry.asked("GET", "/tags/")) == 2


def test_a_login_of_netrc_is_not_taken(registry: HttpRegistry, opened: Open, home: Path) -> None:
    netrc = home / ".netrc"
    netrc.write_text("machine 127.0.0.1 login author password right-word\n")
    netrc.chmod(0o600)
    opened(registry).has(sha256(b""))
    assert {seen.login for seen in registry.seen} == {""}


def test_a_refusal_without_a_challenge_is_final(registry: HttpRegistry, opened: Open) -> None:
    said = b'{"errors": [{"code": "DENIED", "message": "not yours"}]}'
    registry.rules.append(lambda seen: Reply(403, said) if seen.method == "PUT" else None)
    with pytest.raises(LoginError, match=r"DENIED: not yours"):
        opened(registry).put_manifest(b"{}", "1.0")
    assert len(registry.asked("PUT")) == 1


def test_a_registry_that_denies_an_address_it_does_not_know_keeps_the_login(
    registry: HttpRegistry, opened: Open, docker_config: Callable[..., Path]
) -> None:
    """Some answer 401 or 403 where the referrers API would be; what is private is read on."""
    docker_config(registry)
    registry.profile = "ghcr"
    blob = registry.add_blob(b"private")
    data = registry.add_manifest("1.0", blob)
    service = TokenService(registry)
    service.public = False
    guard, challenge = service.guard, {"WWW-Authenticate": f'Bearer realm="{service.realm}"'}
    registry.rules[:] = [
        lambda seen: Reply(401, headers=challenge) if "/referrers/" in seen.path else guard(seen)
    ]
    store = opened(registry)
    assert store.get_manifest("1.0")[0] == data
    assert store.referrers(sha256(data)) == []
    assert read(store, blob) == b"private"
