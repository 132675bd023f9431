"""Registries in the test process, and a home without credentials."""

from __future__ import annotations

import ssl
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from rra.bundle.reference import RegistryReference
from rra.registry import Policy, RegistryStore, open_store
from tests.support.http_registry import HttpRegistry, http_registry

Open = Callable[..., RegistryStore]


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cache of its own: what another test fetched of the same blob is not found there."""
    monkeypatch.setenv("RRA_CACHE", str(tmp_path_factory.mktemp("cache")))


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of its own: no login of whoever runs the tests is ever found."""
    place = tmp_path / "home"
    place.mkdir()
    monkeypatch.setenv("HOME", str(place))
    for name in (
        "REGISTRY_AUTH_FILE",
        "DOCKER_CONFIG",
        "XDG_RUNTIME_DIR",
        "XDG_CONFIG_HOME",
        "REQUESTS_CA_BUNDLE",
        "CURL_CA_BUNDLE",
        "NETRC",
    ):
        monkeypatch.delenv(name, raising=False)
    return place


@pytest.fixture
def registry() -> Iterator[HttpRegistry]:
    with http_registry() as server:
        yield server


@pytest.fixture
def elsewhere() -> Iterator[HttpRegistry]:
    """Another registry, on another port."""
    with http_registry() as server:
        yield server


@pytest.fixture
def waits() -> list[float]:
    """Seconds that were waited for; nobody really waits."""
    return []


@pytest.fixture
def notices() -> list[str]:
    """Lines that the user would see."""
    return []


@pytest.fixture
def opened(waits: list[float], notices: list[str]) -> Open:
    """Opens a repository of a registry with short timeouts and no waiting."""

    def open_it(server: HttpRegistry, repository: str = "team/bundle") -> RegistryStore:
        policy = Policy(connect_seconds=5, idle_seconds=5, sleep=waits.append)
        reference = RegistryReference(server.host, repository)
        return open_store(reference, notice=notices.append, policy=policy)

    return open_it


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate and key for loopback that signs itself."""
    folder = tmp_path_factory.mktemp("certificate")
    command = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=loopback"
    command += " -addext subjectAltName=IP:127.0.0.1,DNS:localhost"
    command += " -keyout key.pem -out certificate.pem"
    subprocess.run(command.split(), cwd=folder, capture_output=True, check=True)
    return folder / "certificate.pem"


@pytest.fixture
def tls(certificate: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, certificate.with_name("key.pem"))
    return context
