"""Opening a repository: which credential, and whether with TLS."""

from __future__ import annotations

from collections.abc import Callable

from rra.bundle.reference import RegistryReference
from rra.registry.credentials import credential_files, find_credential
from rra.registry.origin import Origin, origin_of_registry
from rra.registry.policy import DEFAULT_POLICY, Policy
from rra.registry.provider import OriginRegistry
from rra.registry.store import RegistryStore


def open_store(
    reference: RegistryReference,
    *,
    plain_http: bool = False,
    notice: Callable[[str], None] = lambda _: None,
    policy: Policy = DEFAULT_POLICY,
) -> RegistryStore:
    """Open the repository of a reference; nothing of it is read yet.

    Args:
        reference: Registry, repository, tag or digest.
        plain_http: Speak HTTP without TLS. On this machine that is found out; elsewhere TLS is
            spoken unless this is said.
        notice: Called with a line when the registry makes us wait, or a login is not used.
        policy: Timeouts and retries.

    Raises:
        UsageError: A credential file cannot be read, or the name is no host.
    """
    origin = _origin(reference.origin, plain_http=plain_http, policy=policy)
    registry = OriginRegistry(
        origin,
        credential=find_credential(reference.origin, reference.repository),
        policy=policy,
        notice=notice,
        searched=", ".join(str(path) for path in credential_files()),
    )
    return RegistryStore(reference, registry)


def reach(reference: RegistryReference, *, plain_http: bool = False) -> None:
    """Insist that a registry answers, before much work is done for it; no login is sent.

    Raises:
        RegistryError: It does not, or TLS does not come about.
    """
    open_store(reference, plain_http=plain_http).registry.reach()


def _origin(name: str, *, plain_http: bool, policy: Policy) -> Origin:
    """Choose the scheme; a registry on this machine may speak either."""
    plain, secure = origin_of_registry(name, "http"), origin_of_registry(name, "https")
    if plain_http:
        return plain
    if not secure.loopback:
        return secure
    probe = OriginRegistry(secure, credential=None, policy=policy, notice=lambda _: None)
    return secure if probe.speaks_tls() else plain
