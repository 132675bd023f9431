"""Which token service on another host a registry's login may go to: what a user said at login.

It is kept in ``token-hosts.json`` below `rra._base.places.config_root`, beside no secret.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rra._base import clock, places
from rra.errors import UsageError
from rra.registry.jsonfile import change_object, read_object
from rra.registry.origin import Origin

_TYPE = "rra-token-hosts/v1"
_WHAT = "file of token services"


def token_hosts_file() -> Path:
    """Return the file that keeps them."""
    return places.config_root() / "token-hosts.json"


def recorded_token_host(registry: Origin) -> Origin | None:
    """Return the token service that was agreed to at login, or None.

    Raises:
        UsageError: The file cannot be read, or its entry is no host.
    """
    path = token_hosts_file()
    document = read_object(path, _WHAT)
    entry = _hosts(document or {}).get(registry.netloc)
    if entry is None:
        return None
    host = entry.get("token_host") if isinstance(entry, dict) else None
    origin = Origin.of(f"https://{host}") if isinstance(host, str) else None
    if origin is None or origin.netloc != host:
        message = f"{path} names no host as the token service of {registry.netloc}"
        raise UsageError(message, hint="log in to that registry again")
    return origin


def record_token_host(registry: Origin, service: Origin) -> None:
    """Keep which token service a registry's login may go to, over TLS.

    Raises:
        UsageError: The file cannot be read.
        StorageError: It cannot be written.
    """
    entry = {"token_host": service.netloc, "recorded": clock.iso(clock.now())}

    def change(document: dict[str, Any]) -> None:
        document.setdefault("type", _TYPE)
        document["hosts"] = {**_hosts(document), registry.netloc: entry}

    change_object(token_hosts_file(), _WHAT, change)


def forget_token_host(registry: Origin) -> bool:
    """Forget the token service of a registry; tell whether one was recorded.

    Raises:
        UsageError: The file cannot be read.
        StorageError: It cannot be written.
    """
    document = read_object(token_hosts_file(), _WHAT)
    if registry.netloc not in _hosts(document or {}):
        return False

    def change(document: dict[str, Any]) -> None:
        kept = _hosts(document)
        document["hosts"] = {name: kept[name] for name in kept if name != registry.netloc}

    change_object(token_hosts_file(), _WHAT, change)
    return True


def _hosts(document: dict[str, Any]) -> dict[str, Any]:
    hosts = document.get("hosts")
    return hosts if isinstance(hosts, dict) else {}
