"""Logging in: the registry says first whether it takes a login; only then is it kept."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from rra.errors import LoginError, RegistryError, UsageError
from rra.registry.connect import origin_of
from rra.registry.credentials import Credential
from rra.registry.failures import host_of
from rra.registry.logins import Kept, keep_login
from rra.registry.origin import Origin, may_receive_credential
from rra.registry.policy import DEFAULT_POLICY, Policy
from rra.registry.provider import OriginRegistry
from rra.registry.tokenhosts import forget_token_host, record_token_host

if TYPE_CHECKING:
    import requests

_HOST = re.compile(r"[A-Za-z0-9.:\[\]-]+")


@dataclasses.dataclass(frozen=True, slots=True)
class LoginDone:
    """A login that was checked and kept.

    Attributes:
        kept: Where.
        asked: Whether the registry asked for it; otherwise nothing tells that it is right.
        token_host: Token service on another host that it may go to from now on.
    """

    kept: Kept
    asked: bool
    token_host: str | None


def log_in(
    name: str,
    credential: Credential,
    *,
    token_host: str | None = None,
    plain_http: bool = False,
    notice: Callable[[str], None] = lambda _: None,
    policy: Policy = DEFAULT_POLICY,
) -> LoginDone:
    """Have a registry check a login, and keep it where other tools find it too.

    Args:
        name: ``host[:port]`` as references name it.
        credential: User name and password; its source is where they came from.
        token_host: Host of the token service, where it is another one: nothing is sent there
            that the user did not name.
        plain_http: Speak to the registry without TLS.
        notice: Called with a line when the registry makes us wait.
        policy: Timeouts and retries.

    Raises:
        LoginError: The registry refuses the login, or hands it to another token service than
            was named; nothing is kept.
        RegistryError: No registry answers.
        UsageError: A credential file cannot be read, or the name of the service is no host.
        UnavailableError: The login cannot be written.
    """
    origin = origin_of(name, plain_http=plain_http, policy=policy)
    named = _service(token_host)
    registry = OriginRegistry(
        origin, credential=credential, policy=policy, notice=notice, name=name, token_host=named
    )
    service = registry.token_service()
    if named is not None and service != named:
        raise _other_service(origin, service, named)
    registry.auth.insists = True
    address = f"{origin}/v2/"
    answer = registry.request("GET", address)
    asked = registry.auth.used
    if answer.status_code == 200 and not asked:
        _insist_on_origin(answer, origin)
        answer.close()
        registry.auth.present()
        answer = registry.request("GET", address)
    _check(answer, registry, credential)
    foreign = service if service is not None and service.host != origin.host else None
    if named is not None and foreign == named:
        record_token_host(origin, named)
    else:
        forget_token_host(origin)
    kept = keep_login(name, credential)
    return LoginDone(kept, asked, foreign.netloc if foreign is not None else None)


def foreign_token_host(name: str, *, plain_http: bool = False) -> str | None:
    """Ask a registry for its token service; return it if a login has to be allowed to go there.

    No login is sent to anybody.

    Raises:
        RegistryError: No registry answers.
        UsageError: The name is no host.
    """
    origin = origin_of(name, plain_http=plain_http)
    registry = OriginRegistry(
        origin, credential=None, policy=DEFAULT_POLICY, notice=lambda _: None, name=name
    )
    service = registry.token_service()
    if service is None or may_receive_credential(service, origin):
        return None
    return service.netloc


def _service(host: str | None) -> Origin | None:
    if host is None:
        return None
    origin = Origin.of(f"https://{host}")
    if (
        origin is None
        or not _HOST.fullmatch(host)
        or host.lower() not in {origin.netloc, origin.netloc.removesuffix(":443")}
    ):
        message = f"{host!r} is not the name of a token service"
        raise UsageError(message, hint="give HOST or HOST:PORT, as the registry names it")
    return origin


def _insist_on_origin(answer: requests.Response, origin: Origin) -> None:
    """Insist that it was the registry itself that answered."""
    other = Origin.of(answer.url)
    if other != origin:
        answer.close()
        message = f"{origin.netloc} sends us on to {other.netloc if other else answer.url}"
        raise RegistryError(message, hint="log in to the registry that this leads to")


def _check(answer: requests.Response, registry: OriginRegistry, credential: Credential) -> None:
    """Insist that the registry took the login."""
    with answer:
        if answer.status_code == 200:
            return
        host = host_of(answer)
        error = registry.refusal(answer, "log in")
    if answer.status_code in {401, 403} and not registry.auth.refusal:
        said = error.message.partition(credential.source)[2] if credential.source else ""
        message = f"{host} refuses the login of {credential.username} from {credential.source}"
        hint = "nothing was written; check user name and password, or make a new access token"
        raise LoginError(message + said, hint=hint)
    raise error


def _other_service(origin: Origin, service: Origin | None, named: Origin) -> LoginError:
    found = f"is {service.netloc}" if service is not None else "is the registry itself"
    message = f"the token service of {origin.netloc} {found}, not {named.netloc}"
    hint = "nothing was sent and nothing written; leave --token-host out, or correct it"
    return LoginError(message, hint=hint)
