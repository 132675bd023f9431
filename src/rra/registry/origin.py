"""Origins of the web: what a credential is bound to, and whether TLS is asked for."""

from __future__ import annotations

import dataclasses
from urllib.parse import urlsplit

from rra._base.hosts import is_loopback
from rra.errors import UsageError

_PORTS = {"http": 80, "https": 443}
HUB_NAME = "docker.io"
_HUB_NAMES = {HUB_NAME, "index.docker.io"}
_HUB_API = "registry-1.docker.io"


@dataclasses.dataclass(frozen=True, slots=True)
class Origin:
    """Scheme, host and port of an address (RFC 6454): what credentials are bound to.

    Attributes:
        scheme: ``https`` or ``http``.
        host: Lower-case name or address, without brackets.
        port: Port, also when it is the scheme's own.
    """

    scheme: str
    host: str
    port: int

    @classmethod
    def of(cls, url: str) -> Origin | None:
        """Return the origin of an absolute http or https address, or None."""
        try:
            parts = urlsplit(url)
            port = parts.port
        except ValueError:
            return None
        if parts.scheme not in _PORTS or not parts.hostname:
            return None
        return cls(parts.scheme, parts.hostname, _PORTS[parts.scheme] if port is None else port)

    @property
    def netloc(self) -> str:
        """``host:port`` as it stands in an address; the port is always written."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"

    @property
    def loopback(self) -> bool:
        """Whether the host is this machine."""
        return is_loopback(self.host)

    def __str__(self) -> str:
        """As an address."""
        return f"{self.scheme}://{self.netloc}"


def origin_of_registry(name: str, scheme: str) -> Origin:
    """Return the origin of the API of a registry as references name it.

    Args:
        name: ``host`` or ``host:port``.
        scheme: ``https`` or ``http``.

    Raises:
        UsageError: The name is no host with an optional port.
    """
    api = _HUB_API if name in _HUB_NAMES else name
    origin = Origin.of(f"{scheme}://{api}")
    if origin is None or api.lower() not in {origin.netloc, origin.netloc.rsplit(":", 1)[0]}:
        message = f"{name} is not the name of a registry"
        raise UsageError(message, hint="write HOST[:PORT]/REPOSITORY:TAG")
    return origin


def credential_keys(name: str) -> tuple[str, ...]:
    """Return the names under which credential files and helpers keep a registry's login."""
    if name in _HUB_NAMES:
        return ("https://index.docker.io/v1/", HUB_NAME, "index.docker.io")
    return (name, f"https://{name}", f"https://{name}/v1/", f"https://{name}/v2/")


_KNOWN_REALMS = {_HUB_API: {"auth.docker.io"}, "registry.gitlab.com": {"gitlab.com"}}
"""Token services on another host that a registry's own credential may go to."""


def may_receive_credential(realm: Origin, registry: Origin, recorded: Origin | None = None) -> bool:
    """Tell whether a registry's credential may go to a token service.

    The registry's own host may have it, over TLS unless the registry itself is spoken to
    without; another host only where it is known to belong to that registry, and over TLS.

    Args:
        realm: The token service.
        registry: The registry.
        recorded: The token service that the user agreed to at login.
    """
    if realm.host == registry.host:
        return realm.scheme == "https" or registry.scheme == "http"
    if realm.scheme != "https":
        return False
    return realm == recorded or realm.host in _KNOWN_REALMS.get(registry.host, set())
