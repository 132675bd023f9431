"""Credentials are found where docker, podman and skopeo keep them."""

from __future__ import annotations

import base64
import json
import os
from pathlib import Path
from typing import Any

import pytest

from rra.errors import UsageError
from rra.registry.credentials import Credential, credential_files, find_credential


def auth(name: str, password: str = "word") -> dict[str, str]:
    return {"auth": base64.b64encode(f"{name}:{password}".encode()).decode()}


def write(path: Path, document: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(document if isinstance(document, str) else json.dumps(document))
    return path


def helper(folder: Path, name: str, script: str) -> None:
    program = folder / f"docker-credential-{name}"
    write(program, f"#!/bin/sh\nread server\n{script}\n")
    program.chmod(0o755)


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder on PATH for helpers."""
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    return tmp_path / "bin"


def test_nothing_kept_is_nothing_found() -> None:
    assert find_credential("registry.test", "a/b") is None


def test_each_place_counts_before_the_next(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    places = {
        "REGISTRY_AUTH_FILE": home / "auth-file.json",
        "DOCKER_CONFIG": home / "docker",
        "XDG_RUNTIME_DIR": home / "run",
        "XDG_CONFIG_HOME": home / "config",
    }
    for name, place in places.items():
        monkeypatch.setenv(name, str(place))
    files = [
        home / "auth-file.json",
        home / "docker/config.json",
        home / "run/containers/auth.json",
        home / "config/containers/auth.json",
    ]
    assert list(credential_files()) == files
    for number, file in enumerate(files):
        write(file, {"auths": {"registry.test": auth(f"user-{number}")}})
    for number, file in enumerate(files):
        found = find_credential("registry.test", "a")
        assert found == Credential(f"user-{number}", "word", source=str(file))
        file.unlink()
    assert find_credential("registry.test", "a") is None


def test_the_places_without_variables(home: Path) -> None:
    assert list(credential_files()) == [
        Path(f"/run/containers/{os.getuid()}/auth.json"),  # podman's, whether it is there or not
        home / ".config/containers/auth.json",
        home / ".docker/config.json",
    ]


@pytest.mark.parametrize(
    "key", ["registry.test:5000", "https://registry.test:5000", "https://registry.test:5000/v1/"]
)
def test_spellings_of_a_registry(home: Path, key: str) -> None:
    write(home / ".docker/config.json", {"auths": {key: auth("author")}})
    found = find_credential("registry.test:5000", "a")
    assert found is not None
    assert found.username == "author"


@pytest.mark.parametrize(
    "key", ["registry.test", "registry.test:5001", "http://registry.test:5000", "localhost:5000"]
)
def test_the_login_of_another_registry_is_left_alone(home: Path, key: str) -> None:
    write(home / ".docker/config.json", {"auths": {key: auth("author")}})
    assert find_credential("registry.test:5000", "a") is None
    assert find_credential("127.0.0.1:5000", "a") is None


def test_the_login_closest_to_the_repository_counts(home: Path) -> None:
    entries = {"r.test": auth("all"), "r.test/a": auth("group"), "r.test/a/b": auth("one")}
    write(home / ".docker/config.json", {"auths": entries})
    names = {
        repository: found.username
        for repository in ("a/b", "a/b/c", "a/x", "x")
        if (found := find_credential("r.test", repository))
    }
    assert names == {"a/b": "one", "a/b/c": "one", "a/x": "group", "x": "all"}


@pytest.mark.parametrize(
    ("entry", "credential"),
    [
        (auth("author", "a:b"), Credential("author", "a:b")),
        ({"username": "author", "password": "word"}, Credential("author", "word")),
        ({"identitytoken": "i", **auth("x")}, Credential(identity_token="i")),
        ({"registrytoken": "r"}, Credential(registry_token="r")),
        ({}, None),
        ({"auth": ""}, None),
    ],
)
def test_forms_of_a_login(home: Path, entry: dict[str, str], credential: Credential | None) -> None:
    write(home / ".docker/config.json", {"auths": {"r.test": entry}})
    found = find_credential("r.test", "a")
    assert (found is None) == (credential is None)
    if found is not None and credential is not None:
        assert (found.basic, found.identity_token, found.registry_token) == (
            credential.basic,
            credential.identity_token,
            credential.registry_token,
        )


def test_a_helper_is_asked(home: Path, path: Path) -> None:
    helper(path, "vault", 'echo "{\\"Username\\": \\"author\\", \\"Secret\\": \\"for $server\\"}"')
    config = write(home / ".docker/config.json", {"credHelpers": {"r.test": "vault"}})
    found = find_credential("r.test", "a")
    assert found == Credential("author", "for r.test", source=f"docker-credential-vault ({config})")
    assert find_credential("other.test", "a") is None


def test_a_store_of_all_logins_is_asked(home: Path, path: Path) -> None:
    helper(path, "vault", 'echo "{\\"Username\\": \\"<token>\\", \\"Secret\\": \\"t\\"}"')
    write(home / ".docker/config.json", {"credsStore": "vault", "auths": {"r.test": {}}})
    found = find_credential("r.test", "a")
    assert found is not None
    assert (found.identity_token, found.password) == ("t", "")


def test_a_helper_that_has_nothing(home: Path, path: Path) -> None:
    helper(path, "vault", "echo credentials not found in native keychain; exit 1")
    write(home / ".docker/config.json", {"credsStore": "vault"})
    assert find_credential("r.test", "a") is None


@pytest.mark.parametrize(
    ("script", "fault"),
    [
        ("exit 3", "exit code 3"),
        ("echo nonsense", "no credential"),
        ("echo '{}'", "no credential"),
        (None, "no such program"),
    ],
)
def test_a_helper_that_fails_is_named(
    home: Path, path: Path, script: str | None, fault: str
) -> None:
    if script is not None:
        helper(path, "vault", script)
    config = write(home / ".docker/config.json", {"credHelpers": {"r.test": "vault"}})
    with pytest.raises(UsageError, match=fault) as caught:
        find_credential("r.test", "a")
    assert "docker-credential-vault" in caught.value.message
    assert str(config) in caught.value.message


@pytest.mark.parametrize("name", ["../evil", "a b", "-x", "", 7, None])
def test_a_helper_with_no_name(home: Path, name: object) -> None:
    write(home / ".docker/config.json", {"credHelpers": {"r.test": name}})
    with pytest.raises(UsageError, match="helper"):
        find_credential("r.test", "a")


@pytest.mark.parametrize("text", ["{", "[]", "\0", '{"auths": {"r.test": {"auth": "no base64!"}}}'])
def test_a_file_that_cannot_be_read_is_named_and_not_shown(home: Path, text: str) -> None:
    config = write(home / ".docker/config.json", text)
    with pytest.raises(UsageError) as caught:
        find_credential("r.test", "a")
    assert str(config) in caught.value.message
    assert caught.value.exit_code == 2
    assert "base64!" not in caught.value.message


def test_secrets_are_not_shown() -> None:
    credential = Credential("author", "word-1", "word-2", "word-3", "file")
    assert "word" not in repr(credential)
    assert "word" not in str(credential)
