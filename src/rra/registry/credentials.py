"""Finding the credential of a registry where its users keep it.

The places, in this order, as docker, podman and skopeo know them: ``$REGISTRY_AUTH_FILE``,
``$DOCKER_CONFIG/config.json``, ``$XDG_RUNTIME_DIR/containers/auth.json`` (without that variable
``/run/containers/UID/auth.json``), ``$XDG_CONFIG_HOME/containers/auth.json``,
``~/.docker/config.json``. The first that has something for the registry counts.
`rra.registry.logins` writes there.
"""

from __future__ import annotations

import base64
import binascii
import dataclasses
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from rra.errors import UsageError
from rra.registry.helpers import Helper
from rra.registry.jsonfile import read_object
from rra.registry.origin import credential_keys

WHAT = "credential file"
"""What messages call such a file."""

Ask = Callable[[Helper, str], tuple[str, str] | None]
"""Asks a helper for user name and secret of a key."""

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
    else:
        places.append(f"/run/containers/{os.getuid()}/auth.json")
    config = os.environ.get("XDG_CONFIG_HOME") or home / ".config"
    places.append(f"{config}/containers/auth.json")
    if not docker:
        places.append(f"{home}/.docker/config.json")
    return tuple(Path(place) for place in places if place)


def find_credential(registry: str, repository: str, *, ask: Ask = Helper.get) -> Credential | None:
    """Return the credential that this user keeps for a registry, or None.

    Args:
        registry: ``host[:port]`` as references name it; no other spelling of it is tried.
        repository: Repository, since podman can keep one login for each namespace.
        ask: Asks a helper for the login of a key.

    Raises:
        UsageError: A credential file cannot be read, or a helper it names is missing or fails.
    """
    for path in credential_files():
        document = read_object(path, WHAT)
        if document is None:
            continue
        found = _in_document(document, registry, repository, path, ask)
        if found is not None:
            return found
    return None


def _in_document(
    document: dict[str, Any], registry: str, repository: str, path: Path, ask: Ask
) -> Credential | None:
    """Look in one file: a helper of this registry, a login in the file, the file's own store."""
    keys = tuple(_names(registry, repository))
    helpers = table(document, "credHelpers")
    for key in keys:
        if key in helpers:
            return _from_helper(Helper.named(helpers[key], path), key, ask)
    auths = table(document, "auths")
    for key in keys:
        entry = auths.get(key)
        if isinstance(entry, dict) and (found := _from_entry(entry, path)):
            return found
    store = document.get("credsStore")
    if not store:
        return None
    return _from_helper(Helper.named(store, path), credential_keys(registry)[0], ask)


def _names(registry: str, repository: str) -> Iterator[str]:
    """Yield the keys of a registry's login, the one closest to the repository first."""
    parts = repository.split("/")
    for length in range(len(parts), 0, -1):
        yield "/".join([registry, *parts[:length]])
    yield from credential_keys(registry)


def table(document: dict[str, Any], name: str) -> dict[str, Any]:
    """Return an object of a credential file; an empty one where there is none."""
    found = document.get(name)
    return found if isinstance(found, dict) else {}


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


def _from_helper(helper: Helper, key: str, ask: Ask) -> Credential | None:
    """Ask a credential helper; None when it has nothing for the registry."""
    answer = ask(helper, key)
    if answer is None or not answer[1]:
        return None
    username, secret = answer
    if username == _TOKEN_USER:
        return Credential(identity_token=secret, source=helper.place)
    return Credential(username, secret, source=helper.place)
