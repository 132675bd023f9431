"""A login is checked by the registry before it is kept, and goes only where the user said."""

from __future__ import annotations

import base64
import functools
import json
import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from rra.api import push, registry_login, registry_logout, registry_tags
from rra.bundle.reference import RegistryReference
from rra.errors import LoginError, RegistryError, RraError, UsageError
from rra.registry import open_store
from rra.registry.tokenhosts import token_hosts_file
from tests.support.bundles import locked_artifact
from tests.support.connect_proxy import Proxy, connect_proxy
from tests.support.http_registry import HttpRegistry, Reply, Seen, http_registry, sha256

WORD = "right-word"
BASIC = "Basic " + base64.b64encode(f"author:{WORD}".encode()).decode()


def basic(seen: Seen) -> Reply | None:
    if seen.login == BASIC:
        return None
    body = b'{"errors": [{"code": "UNAUTHORIZED", "message": "who are you"}]}'
    return Reply(401, body, {"WWW-Authenticate": 'Basic realm="test"'})


class Tokens:
    """A token service, and the rule of the registry that asks for its tokens."""

    def __init__(self, realm: str) -> None:
        self.realm = realm
        self.asked: list[Seen] = []

    def give(self, seen: Seen) -> Reply | None:
        if seen.path != "/token":
            return None
        self.asked.append(seen)
        if seen.login not in {BASIC, ""}:
            return Reply(401)
        name = "full" if seen.login else "anonymous"
        return Reply(200, json.dumps({"token": name}).encode())

    def guard(self, seen: Seen) -> Reply | None:
        if seen.path == "/token" or seen.login == "Bearer full":
            return None
        if seen.login == "Bearer anonymous" and seen.method == "GET" and seen.path != "/v2/":
            return None
        challenge = f'Bearer realm="{self.realm}",service="test"'
        if seen.path != "/v2/":
            actions = "pull" if seen.method in {"GET", "HEAD"} else "pull,push"
            challenge += f',scope="repository:team/bundle:{actions}"'
        return Reply(401, headers={"WWW-Authenticate": challenge})


def config(home: Path) -> Path:
    return home / ".docker/config.json"


# ------------------------------------------------------------------------------- checked


def test_a_login_that_is_taken_is_kept_and_used(registry: HttpRegistry, home: Path) -> None:
    registry.rules.append(basic)
    done = registry_login(registry.host, "author", WORD, source="a test")
    assert done.to_json() == {
        "registry": registry.host,
        "username": "author",
        "kept_in": str(config(home)),
        "checked": True,
        "token_host": None,
    }
    assert done.problems == ()
    store = open_store(RegistryReference(registry.host, "team/bundle"))
    assert not store.has(sha256(b""))


def test_a_login_that_is_refused_is_not_kept(registry: HttpRegistry, home: Path) -> None:
    registry.rules.append(basic)
    with pytest.raises(LoginError) as caught:
        registry_login(registry.host, "author", "wrong-word", source="standard input")
    message = caught.value.message
    assert message.startswith(f"{registry.host} refuses the login of author from standard input")
    assert "who are you" in message
    assert "nothing was written" in caught.value.hint
    assert caught.value.exit_code == 3
    assert list(home.iterdir()) == []


def test_a_refused_login_leaves_the_old_one(registry: HttpRegistry, home: Path) -> None:
    registry.rules.append(basic)
    registry_login(registry.host, "author", WORD)
    before = config(home).read_bytes()
    with pytest.raises(LoginError):
        registry_login(registry.host, "author", "wrong-word")
    assert config(home).read_bytes() == before


@pytest.mark.parametrize("password", [WORD, "wrong-word"])
def test_tokens_are_asked_for_with_the_login_and_never_without(
    registry: HttpRegistry, home: Path, password: str
) -> None:
    """A service that gives everybody a token for reading does not make a login right."""
    tokens = Tokens(f"{registry.url}/token")
    registry.rules += [tokens.give, tokens.guard]
    if password == WORD:
        assert registry_login(registry.host, "author", password).checked
    else:
        with pytest.raises(LoginError, match="refuses the login of author"):
            registry_login(registry.host, "author", password)
    assert [seen.login != "" for seen in tokens.asked] == [True]
    assert config(home).exists() == (password == WORD)


def test_a_registry_that_asks_for_no_login(registry: HttpRegistry, home: Path) -> None:
    done = registry_login(registry.host, "author", WORD)
    assert not done.checked
    assert [problem.severity for problem in done.problems] == ["warning"]
    assert "asks for no login" in done.problems[0].message
    assert config(home).exists()


def test_a_registry_that_asks_only_when_it_is_shown_a_wrong_login(
    registry: HttpRegistry, home: Path
) -> None:
    """Some let everybody read, and look at a login only where one is sent."""
    registry.rules.append(lambda seen: Reply(401) if seen.login not in {"", BASIC} else None)
    with pytest.raises(LoginError, match="refuses the login of author"):
        registry_login(registry.host, "author", "wrong-word")
    assert not config(home).exists()
    assert registry_login(registry.host, "author", WORD).ok


@pytest.mark.parametrize("status", [404, 500, 418])
def test_what_is_no_registry_gets_no_login(
    registry: HttpRegistry, home: Path, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rra._base.clock.sleep", lambda _: None)
    registry.rules.append(lambda seen: Reply(status))
    with pytest.raises(RegistryError):
        registry_login(registry.host, "author", WORD)
    assert {seen.login for seen in registry.seen} == {""}
    assert list(home.iterdir()) == []


def test_a_registry_that_sends_elsewhere_gets_no_login_to_keep(
    registry: HttpRegistry, elsewhere: HttpRegistry, home: Path
) -> None:
    registry.rules.append(lambda seen: Reply(307, headers={"Location": f"{elsewhere.url}/v2/"}))
    with pytest.raises(RegistryError, match=f"sends us on to {elsewhere.host}"):
        registry_login(registry.host, "author", WORD)
    assert {seen.login for seen in registry.seen + elsewhere.seen} == {""}
    assert list(home.iterdir()) == []


def test_a_secret_that_a_registry_sends_back_is_not_shown(
    registry: HttpRegistry, home: Path
) -> None:
    """In what a registry says of a refusal there may be what it was sent."""

    def tells(seen: Seen) -> Reply:
        said = f"{seen.login} is not {base64.b64decode(seen.login[6:]).decode()}"
        body = json.dumps({"errors": [{"code": "DENIED", "message": said}]}).encode()
        return Reply(401, body, {"WWW-Authenticate": 'Basic realm="test"'})

    registry.rules.append(tells)
    with pytest.raises(LoginError, match="DENIED") as caught:
        registry_login(registry.host, "author", "s3cret-word")
    packed = base64.b64encode(b"author:s3cret-word").decode()
    said = f"{caught.value} {caught.value.hint}"
    assert "s3cret" not in said
    assert packed not in said


@pytest.mark.parametrize(
    ("username", "password", "fault"),
    [("", WORD, "user name"), ("a:b", WORD, "user name"), ("a\n", WORD, "user name"),
     ("author", "", "empty"), ("author", "\ud800", "UTF-8")],
)  # fmt: skip
def test_what_cannot_be_a_login(
    registry: HttpRegistry, username: str, password: str, fault: str
) -> None:
    with pytest.raises(UsageError, match=fault):
        registry_login(registry.host, username, password)
    assert registry.seen == []


@pytest.mark.parametrize(
    "name",
    ["", "https://r.test", "r.test/team", "r.test/", "me:word@r.test", "R.test", "r.test:0",
     "r.test:99999", "word", "-r.test", "r.test:443:1"],
)  # fmt: skip
def test_what_is_no_name_of_a_registry(name: str, home: Path) -> None:
    for call in (lambda: registry_login(name, "a", "b"), lambda: registry_logout(name)):
        with pytest.raises(UsageError, match="not the name of a registry") as caught:
            call()
        assert "me:word" not in f"{caught.value} {caught.value.hint}"
    assert list(home.iterdir()) == []


# ---------------------------------------------------------------------------- other hosts


@pytest.fixture(scope="session")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for hosts that no name server knows, which vouches for itself."""
    folder = tmp_path_factory.mktemp("authority")
    names = "DNS:registry.test,DNS:tokens.test,DNS:other.test,IP:127.0.0.1"
    command = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=registry.test"
    command += f" -addext subjectAltName={names} -keyout key.pem -out certificate.pem"
    subprocess.run(command.split(), cwd=folder, capture_output=True, check=True)
    return folder / "certificate.pem"


@pytest.fixture
def secure(authority: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(authority, authority.with_name("key.pem"))
    return context


@pytest.fixture
def server(secure: ssl.SSLContext) -> Iterator[HttpRegistry]:
    with http_registry(secure) as one:
        yield one


@pytest.fixture
def service(secure: ssl.SSLContext) -> Iterator[HttpRegistry]:
    with http_registry(secure) as one:
        yield one


@pytest.fixture
def proxy(
    authority: Path,
    server: HttpRegistry,
    service: HttpRegistry,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Proxy]:
    """The way to registry.test, and to tokens.test and other.test."""
    for name in ("HTTPS_PROXY", "https_proxy", "NO_PROXY", "no_proxy", "SSL_CERT_FILE"):
        monkeypatch.delenv(name, raising=False)
    with connect_proxy() as one:
        one.routes = {
            "registry.test:443": server.port,
            "tokens.test:443": service.port,
            "other.test:443": service.port,
            "tokens.test:8443": service.port,
        }
        monkeypatch.setenv("HTTPS_PROXY", one.url)
        monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(authority))
        yield one


@pytest.fixture
def tokens(proxy: Proxy, server: HttpRegistry, service: HttpRegistry) -> Tokens:
    """registry.test asks for tokens of tokens.test."""
    made = Tokens("https://tokens.test/token")
    service.rules.append(made.give)
    server.rules.append(made.guard)
    return made


@pytest.mark.clause("security/credentials-stay")
def test_another_host_gets_nothing_that_the_user_did_not_name(
    tokens: Tokens, service: HttpRegistry, home: Path
) -> None:
    with pytest.raises(LoginError) as caught:
        registry_login("registry.test", "author", WORD)
    assert "registry.test:443" in caught.value.message
    assert "tokens.test:443" in caught.value.message
    assert "rra registry login registry.test --token-host tokens.test" in caught.value.hint
    assert service.seen == []
    assert list(home.iterdir()) == []


@pytest.mark.parametrize("named", ["tokens.test", "tokens.test:443"])
def test_the_host_that_was_named_gets_it_then_and_later(
    tokens: Tokens, server: HttpRegistry, home: Path, tmp_path: Path, named: str
) -> None:
    done = registry_login("registry.test", "author", WORD, token_host=named)
    assert (done.token_host, done.checked) == ("tokens.test:443", True)
    recorded = json.loads(token_hosts_file().read_text())["hosts"]
    assert recorded["registry.test:443"]["token_host"] == "tokens.test:443"
    assert token_hosts_file() == home / ".config/rra/token-hosts.json"
    assert WORD not in token_hosts_file().read_text()
    artifact = locked_artifact(tmp_path / "a")
    pushed = push(str(artifact.root), "registry.test/team/bundle:1.0.0")
    assert pushed.ok
    assert registry_tags("registry.test/team/bundle").tags == ("1.0.0",)
    assert {seen.login for seen in tokens.asked} == {BASIC}
    assert {seen.login for seen in server.seen} == {"", "Bearer full"}


@pytest.mark.parametrize("named", ["other.test", "tokens.test:8443", "registry.test"])
def test_another_host_than_the_one_named_gets_nothing(
    tokens: Tokens, service: HttpRegistry, home: Path, named: str
) -> None:
    with pytest.raises(LoginError, match=r"is tokens\.test:443, not") as caught:
        registry_login("registry.test", "author", WORD, token_host=named)
    assert named in caught.value.message
    assert service.seen == []
    assert list(home.iterdir()) == []


@pytest.mark.parametrize("writes", [True, False])
def test_a_service_that_changes_later_is_refused_with_both_hosts_named(
    tokens: Tokens, service: HttpRegistry, *, writes: bool
) -> None:
    registry_login("registry.test", "author", WORD, token_host="tokens.test")
    service.seen.clear()
    tokens.realm = "https://other.test/token"
    store = open_store(RegistryReference("registry.test", "team/bundle"))
    call = functools.partial(store.put_manifest, b"{}", "1.0") if writes else store.tags
    with pytest.raises(LoginError) as caught:
        call()
    assert "other.test:443" in caught.value.message
    assert "tokens.test:443" in caught.value.message
    assert service.seen == []


@pytest.mark.clause("security/encrypted-transport")
@pytest.mark.parametrize("realm", ["http://tokens.test/token", "https://tokens.test:8443/token"])
def test_without_tls_or_on_another_port_the_recorded_host_gets_nothing(
    tokens: Tokens, service: HttpRegistry, realm: str
) -> None:
    registry_login("registry.test", "author", WORD, token_host="tokens.test")
    service.seen.clear()
    tokens.realm = realm
    with pytest.raises(RegistryError):
        open_store(RegistryReference("registry.test", "team/bundle")).put_manifest(b"{}", "1.0")
    assert service.seen == []


def test_a_service_that_redirects_gives_the_login_to_nobody(
    tokens: Tokens, service: HttpRegistry, home: Path
) -> None:
    onward = {"Location": "https://other.test/token"}
    service.rules.insert(
        0, lambda seen: Reply(307, headers=onward) if "tokens" in seen.headers["host"] else None
    )
    with pytest.raises(RegistryError, match="answers 307"):
        registry_login("registry.test", "author", WORD, token_host="tokens.test")
    assert [seen.headers["host"] for seen in service.seen] == ["tokens.test"]
    assert not config(home).exists()


def test_a_service_whose_certificate_is_not_trusted_gets_nothing(
    tokens: Tokens,
    service: HttpRegistry,
    server: HttpRegistry,
    certificate: Path,
    proxy: Proxy,
    tls: ssl.SSLContext,
    home: Path,
) -> None:
    with http_registry(tls) as stranger:  # its certificate is for another name
        proxy.routes["tokens.test:443"] = stranger.port
        with pytest.raises(RegistryError, match=r"tokens\.test:443 is not trusted"):
            registry_login("registry.test", "author", WORD, token_host="tokens.test")
        assert stranger.seen == []
    assert not config(home).exists()


def test_a_registry_without_tls_gives_its_login_to_another_host_only_with_tls(
    registry: HttpRegistry, service: HttpRegistry, tokens: Tokens
) -> None:
    registry.rules.append(tokens.guard)
    done = registry_login(registry.host, "author", WORD, token_host="tokens.test")
    assert done.token_host == "tokens.test:443"
    assert [seen.login for seen in tokens.asked] == [BASIC]


def test_logging_out_forgets_the_service_too(tokens: Tokens, home: Path) -> None:
    registry_login("registry.test", "author", WORD, token_host="tokens.test")
    done = registry_logout("registry.test")
    assert (done.removed_from, done.token_host_forgotten) == ((str(config(home)),), True)
    assert json.loads(token_hosts_file().read_text())["hosts"] == {}
    assert registry_logout("registry.test").to_json() == {
        "registry": "registry.test",
        "removed_from": [],
        "token_host_forgotten": False,
    }


def test_a_login_at_the_registrys_own_host_forgets_the_other(tokens: Tokens) -> None:
    registry_login("registry.test", "author", WORD, token_host="tokens.test")
    tokens.realm = "https://registry.test/token"
    with pytest.raises(RraError):  # the registry has no such service of its own here
        registry_login("registry.test", "author", WORD)
    assert "registry.test:443" in json.loads(token_hosts_file().read_text())["hosts"]


@pytest.mark.parametrize("text", ["{", '{"hosts": {"registry.test:443": {"token_host": "a/b"}}}'])
def test_a_record_that_cannot_be_read_stops_the_login_from_leaving(
    tokens: Tokens, service: HttpRegistry, text: str
) -> None:
    registry_login("registry.test", "author", WORD, token_host="tokens.test")
    service.seen.clear()
    token_hosts_file().write_text(text)
    with pytest.raises(UsageError, match=r"token-hosts\.json"):
        open_store(RegistryReference("registry.test", "team/bundle")).tags()
    assert service.seen == []


@pytest.mark.parametrize("name", ["", "a b", "https://tokens.test", "tokens.test/x", "[", "a@b"])
def test_what_is_no_token_host(tokens: Tokens, service: HttpRegistry, name: str) -> None:
    with pytest.raises(UsageError, match="token service"):
        registry_login("registry.test", "author", WORD, token_host=name)
    assert service.seen == []


# ---------------------------------------------------------------------- proxies, authorities


def test_a_proxy_is_used_and_gets_no_login(proxy: Proxy, server: HttpRegistry, home: Path) -> None:
    server.rules.append(basic)
    registry_login("registry.test", "author", WORD)
    assert set(proxy.asked) == {"registry.test:443"}
    assert b"authorization" not in b"".join(proxy.headers).lower()


def test_a_proxy_that_refuses_is_named_and_its_password_is_not(
    proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", proxy.url.replace("://", "://me:proxy-word@"))
    with pytest.raises(RegistryError, match=r"proxy on the way to unknown\.test") as caught:
        registry_login("unknown.test", "author", WORD)
    assert "proxy-word" not in f"{caught.value} {caught.value.hint}"
    assert WORD not in f"{caught.value} {caught.value.hint}"


def test_hosts_that_need_no_proxy(proxy: Proxy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "registry.test")
    with pytest.raises(RegistryError, match=r"registry\.test"):
        registry_login("registry.test", "author", WORD)  # which no name server knows
    assert proxy.asked == []


@pytest.mark.parametrize("variable", ["REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE"])
def test_the_authority_that_a_variable_names_is_trusted(
    proxy: Proxy,
    server: HttpRegistry,
    authority: Path,
    variable: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("REQUESTS_CA_BUNDLE")
    with pytest.raises(RegistryError, match=r"certificate of registry\.test:443 is not trusted"):
        registry_login("registry.test", "author", WORD)
    assert server.seen == []
    monkeypatch.setenv(variable, str(authority))
    server.rules.append(basic)
    assert registry_login("registry.test", "author", WORD).checked


@pytest.mark.parametrize("variable", ["REQUESTS_CA_BUNDLE", "SSL_CERT_FILE"])
@pytest.mark.parametrize("content", [None, b"", b"no certificate"])
def test_an_authority_that_is_none_is_named(
    proxy: Proxy,
    tmp_path: Path,
    variable: str,
    content: bytes | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("REQUESTS_CA_BUNDLE")
    path = tmp_path / "authority.pem"
    if content is not None:
        path.write_bytes(content)
    monkeypatch.setenv(variable, str(path))
    with pytest.raises(UsageError, match=variable) as caught:
        registry_login("registry.test", "author", WORD)
    assert str(path) in caught.value.message
