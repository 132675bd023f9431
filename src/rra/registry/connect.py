"""Opening repositories: which credential, and whether with TLS."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable

from rra.bundle.reference import RegistryReference
from rra.registry.credentials import credential_files, find_credential
from rra.registry.helpers import Helper, MissingHelperError
from rra.registry.origin import Origin, origin_of_registry
from rra.registry.policy import DEFAULT_POLICY, Policy
from rra.registry.provider import BlockAdapter, OriginRegistry
from rra.registry.store import RegistryStore
from rra.registry.tokenhosts import recorded_token_host

PLAIN_HOSTS = "RRA_PLAIN_HTTP"
"""Variable with registries (``HOST[:PORT]``, commas between) that are spoken to without TLS."""


class Connections:
    """What many repositories have in common: open connections, the scheme, answers of helpers.

    A login itself is not shared: a token is for one repository, and one for thousands of them
    would be asked for with an address of thousands of scopes.

    Args:
        plain_http: Speak HTTP without TLS. On this machine that is found out; elsewhere TLS is
            spoken unless this is said.
        notice: Called with a line when a registry makes us wait, or a login is not used.
        policy: Timeouts and retries.
        at_once: How many threads use it.
    """

    def __init__(
        self,
        *,
        plain_http: bool = False,
        notice: Callable[[str], None] = lambda _: None,
        policy: Policy = DEFAULT_POLICY,
        at_once: int = 4,
    ) -> None:
        self._plain_http, self._notice, self._policy = plain_http, notice, policy
        self._adapter = BlockAdapter(pool_maxsize=max(at_once, 4))
        self._guard = threading.Lock()
        self._origins: dict[str, Origin] = {}
        self._answers: dict[tuple[Helper, str], tuple[str, str] | None] = {}

    def open(self, reference: RegistryReference) -> RegistryStore:
        """Open the repository of a reference; nothing of it is read yet.

        Raises:
            UsageError: A credential file cannot be read, or the name is no host.
        """
        name = reference.origin
        with self._guard:
            if name not in self._origins:
                self._origins[name] = origin_of(
                    name, plain_http=self._plain_http, policy=self._policy
                )
            origin = self._origins[name]
        searched = ", ".join(str(path) for path in credential_files())
        try:
            credential = find_credential(name, reference.repository, ask=self._ask)
        except MissingHelperError as error:
            # What is public is read all the same: such an entry is often what a program left.
            credential, searched = None, f"{searched} ({error.message}: {error.hint})"
        registry = OriginRegistry(
            origin,
            credential=credential,
            policy=self._policy,
            notice=self._notice,
            searched=searched,
            name=name,
            token_host=recorded_token_host(origin) if credential is not None else None,
        )
        for scheme in ("https://", "http://"):
            registry.session.mount(scheme, self._adapter)
        return RegistryStore(reference, registry)

    def _ask(self, helper: Helper, key: str) -> tuple[str, str] | None:
        """Ask a helper once: each call of it is a program that starts."""
        with self._guard:
            if (helper, key) not in self._answers:
                self._answers[helper, key] = helper.get(key)
            return self._answers[helper, key]


def open_store(
    reference: RegistryReference,
    *,
    plain_http: bool = False,
    notice: Callable[[str], None] = lambda _: None,
    policy: Policy = DEFAULT_POLICY,
) -> RegistryStore:
    """Open the repository of one reference; see `Connections`.

    Raises:
        UsageError: A credential file cannot be read, or the name is no host.
    """
    connections = Connections(plain_http=plain_http, notice=notice, policy=policy)
    return connections.open(reference)


def reach(reference: RegistryReference, *, plain_http: bool = False) -> None:
    """Insist that a registry answers, before much work is done for it; no login is sent.

    Raises:
        RegistryError: It does not, or TLS does not come about.
    """
    open_store(reference, plain_http=plain_http).registry.reach()


def origin_of(name: str, *, plain_http: bool, policy: Policy = DEFAULT_POLICY) -> Origin:
    """Choose the scheme of a registry; one on this machine may speak either.

    Others are spoken to without TLS where that is asked for, or `PLAIN_HOSTS` names them.

    Raises:
        UsageError: The name is no host.
    """
    plain, secure = origin_of_registry(name, "http"), origin_of_registry(name, "https")
    if plain_http or name in os.environ.get(PLAIN_HOSTS, "").split(","):
        return plain
    if not secure.loopback:
        return secure
    probe = OriginRegistry(secure, credential=None, policy=policy, notice=lambda _: None)
    return secure if probe.speaks_tls() else plain
