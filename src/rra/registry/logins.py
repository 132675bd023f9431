"""Keeping and forgetting logins where docker, podman and skopeo look for them too.

A login goes to the file that `REGISTRY_AUTH_FILE` or `DOCKER_CONFIG` names, else to the one that
has something for the registry already, else to ``~/.docker/config.json``, which all of them read.
Where that file names a credential helper, the helper keeps it.
"""

from __future__ import annotations

import base64
import dataclasses
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rra.errors import UsageError
from rra.registry.credentials import WHAT, Credential, credential_files, find_credential, table
from rra.registry.helpers import Helper
from rra.registry.jsonfile import change_object, read_object
from rra.registry.origin import credential_keys

_SECRETS = ("auth", "username", "password", "identitytoken", "registrytoken")


@dataclasses.dataclass(frozen=True, slots=True)
class Kept:
    """Where a login is now.

    Attributes:
        place: The file, or the helper and the file that names it.
        hidden_by: Where another login of the registry is found before it; empty for nowhere.
    """

    place: str
    hidden_by: str = ""


@dataclasses.dataclass(frozen=True, slots=True)
class Forgotten:
    """What became of a registry's logins.

    Attributes:
        places: Where one was taken out.
        left: Logins of single namespaces of the registry, which stay: name and file.
    """

    places: tuple[str, ...]
    left: tuple[tuple[str, str], ...]


def login_file(registry: str) -> Path:
    """Return the file that a login goes to, or whose helper keeps it.

    Raises:
        UsageError: A credential file cannot be read.
    """
    files = credential_files()
    if os.environ.get("REGISTRY_AUTH_FILE") or os.environ.get("DOCKER_CONFIG"):
        return files[0]
    for path in files:
        document = read_object(path, WHAT) or {}
        known = table(document, "auths") | table(document, "credHelpers")
        if any(known.get(key) for key in credential_keys(registry)):
            return path
    return files[-1]


def keep_login(registry: str, credential: Credential) -> Kept:
    """Keep a login; whatever else is in the file stays.

    Args:
        registry: ``host[:port]`` as references name it.
        credential: User name and password.

    Raises:
        UsageError: The file cannot be read, or its helper is missing.
        UnavailableError: The file cannot be written, or the helper refuses.
    """
    path = login_file(registry)
    keys = credential_keys(registry)
    helper = _helper(read_object(path, WHAT) or {}, keys, path)
    if helper is not None:
        helper.store(keys[0], credential.username, credential.password)
        if any(_holds(entry) for entry in _entries(path, keys).values()):
            change_object(path, WHAT, lambda document: _without_secrets(document, keys, path))
        place = helper.place
    else:
        change_object(path, WHAT, lambda document: _with(document, keys, credential, path))
        place = str(path)
    found = find_credential(registry, "")
    same = found is not None and (found.username, found.password) == (
        credential.username,
        credential.password,
    )
    return Kept(place, "" if same or found is None else found.source)


def forget_login(registry: str) -> Forgotten:
    """Take the logins of a registry out of every file and helper that is asked for them.

    Raises:
        UsageError: A file cannot be read, or a helper is missing or fails.
        UnavailableError: A file cannot be written, or a helper refuses.
    """
    keys = credential_keys(registry)
    places: list[str] = []
    left: list[tuple[str, str]] = []
    for path in credential_files():
        document = read_object(path, WHAT)
        if document is None:
            continue
        helper = _helper(document, keys, path)
        if helper is not None and helper.get(keys[0]) is not None:
            helper.erase(keys[0])
            places.append(helper.place)
        entries = _entries(path, keys)
        if entries:
            change_object(path, WHAT, _remover(keys, path))
        if any(_holds(entry) for entry in entries.values()):
            places.append(str(path))
        named = table(document, "auths")
        left += [(name, str(path)) for name in named if name.startswith(f"{registry}/")]
    return Forgotten(tuple(places), tuple(left))


def _helper(document: dict[str, Any], keys: tuple[str, ...], path: Path) -> Helper | None:
    """Return the helper that a file names for a registry, or for all."""
    helpers = table(document, "credHelpers")
    for key in keys:
        if key in helpers:
            return Helper.named(helpers[key], path)
    store = document.get("credsStore")
    return Helper.named(store, path) if store else None


def _entries(path: Path, keys: tuple[str, ...]) -> dict[str, Any]:
    auths = table(read_object(path, WHAT) or {}, "auths")
    return {key: auths[key] for key in keys if key in auths}


def _holds(entry: Any) -> bool:
    return isinstance(entry, dict) and any(entry.get(name) for name in _SECRETS)


def _auths(document: dict[str, Any], path: Path) -> dict[str, Any]:
    """Return the table of logins of a file, made when it is missing."""
    if document.get("auths") is None:
        document["auths"] = {}
    auths = document["auths"]
    if not isinstance(auths, dict):
        message = f"auths in the {WHAT} {path} is no object"
        raise UsageError(message, hint="correct it, or move the file away")
    return auths


def _with(
    document: dict[str, Any], keys: tuple[str, ...], credential: Credential, path: Path
) -> None:
    """Put a login in, in the place of every other spelling of the registry."""
    auths = _auths(document, path)
    old = auths.get(keys[0])
    rest = old if isinstance(old, dict) else {}
    plain = f"{credential.username}:{credential.password}".encode()
    auths[keys[0]] = {name: value for name, value in rest.items() if name not in _SECRETS} | {
        "auth": base64.b64encode(plain).decode()
    }
    for key in keys[1:]:
        auths.pop(key, None)


def _without_secrets(document: dict[str, Any], keys: tuple[str, ...], path: Path) -> None:
    """Leave of a registry's entries what is no login: a helper keeps that now."""
    auths = _auths(document, path)
    for key in keys:
        if isinstance(auths.get(key), dict):
            auths[key] = {k: v for k, v in auths[key].items() if k not in _SECRETS}


def _remover(keys: tuple[str, ...], path: Path) -> Callable[[dict[str, Any]], None]:
    def remove(document: dict[str, Any]) -> None:
        auths = _auths(document, path)
        for key in keys:
            auths.pop(key, None)

    return remove
