"""Finding the credential of a registry where its users keep it.

The places, in this order, as docker, podman and skopeo know them: ``$REGISTRY_AUTH_FILE``,
``$DOCKER_CONFIG/config.json``, ``$XDG_RUNTIME_DIR/containers/auth.json``,
``$XDG_CONFIG_HOME/containers/auth.json``, ``~/.docker/config.json``. The first that has
something for the registry counts. Nothing is ever written there.
"""

from __future__ import annotations

import base64
import binascii
import dataclasses
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rra._base import process
from rra.errors import ToolMissingError, UsageError
from rra.registry.origin import credential_keys

_HELPER = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
_HELPER_SECONDS = 60.0
_TOKEN_USER = "<token>"  # noqa: S105 - how helpers mark an identity token


@dataclasses.dataclass(frozen=True, slots=True)
class Credential:
    """A login for one registry; its secrets are never shown.

    Attributes:
        username: Name of the account.
        password: Its password or access token.
        identity_token: OAuth2 refresh token that takes the place of a password.
        registry_token: Bearer token that is used as it is.
        source: Where it was found, for messages.
    """

    username: str = ""
    password: str = dataclasses.field(default="", repr=False)
    identity_token: str = dataclasses.field(default="", repr=False)
    registry_token: str = dataclasses.field(default="", repr=False)
    source: str = ""

    @property
    def basic(self) -> str:
        """User and password as HTTP Basic writes them (RFC 7617); empty without a password."""
        if not self.password:
            return ""
        return base64.b64encode(f"{self.username}:{self.password}".encode()).decode()


def credential_files() -> tuple[Path, ...]:
    """Return the files that may hold credentials, the one that counts most first."""
    home = Path.home()
    places = [os.environ.get("REGISTRY_AUTH_FILE", "")]
    if docker := os.environ.get("DOCKER_CONFIG"):
        places.append(f"{docker}/config.json")
    if runtime := os.environ.get("XDG_RUNTIME_DIR"):
        places.append(f"{runtime}/containers/auth.json")
    config = os.environ.get("XDG_CONFIG_HOME") or home / ".config"
    places.append(f"{config}/containers/auth.json")
    if not docker:
        places.append(f"{home}/.docker/config.json")
    return tuple(Path(place) for place in places if place)


def find_credential(registry: str, repository: str) -> Credential | None:
    """Return the credential that this user keeps for a registry, or None.

    Args:
        registry: ``host[:port]`` as references name it; no other spelling of it is tried.
        repository: Repository, since podman can keep one login for each namespace.

    Raises:
        UsageError: A credential file cannot be read, or a helper it names is missing or fails.
    """
    for path in credential_files():
        document = _read(path)
        if document is None:
            continue
        found = _in_document(document, registry, repository, path)
        if found is not None:
            return found
    return None


def _read(path: Path) -> dict[str, Any] | None:
    """Return a credential file as JSON; None where there is none."""
    try:
        document = json.loads(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as error:
        message = f"the credential file {path} cannot be read: {_reason(error)}"
        raise UsageError(message, hint="correct it, or name another with DOCKER_CONFIG") from error
    if not isinstance(document, dict):
        message = f"the credential file {path} is not a JSON object"
        raise UsageError(message, hint="correct it, or name another with DOCKER_CONFIG")
    return document


def _reason(error: Exception) -> str:
    """Say why a file cannot be read, without a word of what is in it."""
    if isinstance(error, json.JSONDecodeError):
        return f"no JSON, line {error.lineno}"
    return getattr(error, "strerror", "") or type(error).__name__


def _in_document(
    document: dict[str, Any], registry: str, repository: str, path: Path
) -> Credential | None:
    """Look in one file: a helper of this registry, a login in the file, the file's own store."""
    keys = tuple(_names(registry, repository))
    helpers = _table(document, "credHelpers")
    for key in keys:
        if key in helpers:
            return _from_helper(helpers[key], key, path)
    auths = _table(document, "auths")
    for key in keys:
        entry = auths.get(key)
        if isinstance(entry, dict) and (found := _from_entry(entry, path)):
            return found
    store = document.get("credsStore")
    return _from_helper(store, credential_keys(registry)[0], path) if store else None


def _names(registry: str, repository: str) -> Iterator[str]:
    """Yield the keys of a registry's login, the one closest to the repository first."""
    parts = repository.split("/")
    for length in range(len(parts), 0, -1):
        yield "/".join([registry, *parts[:length]])
    yield from credential_keys(registry)


def _table(document: dict[str, Any], name: str) -> dict[str, Any]:
    table = document.get(name)
    return table if isinstance(table, dict) else {}


def _from_entry(entry: dict[str, Any], path: Path) -> Credential | None:
    """Read one entry of ``auths``; None for one that holds nothing (a store has it)."""
    source = str(path)
    texts = {name: entry[name] for name in entry if isinstance(entry[name], str) and entry[name]}
    if token := texts.get("identitytoken"):
        return Credential(identity_token=token, source=source)
    if token := texts.get("registrytoken"):
        return Credential(registry_token=token, source=source)
    username, password = texts.get("username", ""), texts.get("password", "")
    if packed := texts.get("auth"):
        try:
            plain = base64.b64decode(packed, validate=True).decode()
        except (binascii.Error, UnicodeDecodeError) as error:
            message = f"an entry of the credential file {path} is not base64"
            raise UsageError(message, hint="log in to that registry again") from error
        username, _, password = plain.partition(":")
    password = password.rstrip("\0")
    return Credential(username, password, source=source) if password else None


def _from_helper(name: Any, key: str, path: Path) -> Credential | None:
    """Ask a credential helper; None when it has nothing for the registry."""
    if not isinstance(name, str) or not _HELPER.fullmatch(name):
        message = f"the credential file {path} names a helper that is no name: {name!r}"
        raise UsageError(message, hint="a helper is the part after docker-credential-")
    program = f"docker-credential-{name}"
    hint = f"install {program}, or take the helper out of {path}"
    try:
        done = process.run([program, "get"], input_text=key, timeout=_HELPER_SECONDS)
    except ToolMissingError as error:
        message = f"{path} says that {program} keeps the credential, but there is no such program"
        raise UsageError(message, hint=hint) from error
    if not done.ok:
        said = f"{done.stdout}\n{done.stderr}".lower()
        if "not found" in said:
            return None
        message = f"{program}, named in {path}, failed with exit code {done.returncode}"
        raise UsageError(message, hint=f"try: echo {key} | {program} get")
    try:
        answer = json.loads(done.stdout_bytes)
        username, secret = str(answer["Username"]), str(answer["Secret"])
    except (ValueError, KeyError, TypeError) as error:
        message = f"{program}, named in {path}, answered something that is no credential"
        raise UsageError(message, hint=f"try: echo {key} | {program} get") from error
    source = f"{program} ({path})"
    if username == _TOKEN_USER:
        return Credential(identity_token=secret, source=source)
    return Credential(username, secret, source=source) if secret else None
