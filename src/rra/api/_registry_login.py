"""``rra registry login``: a registry checks a login, and it is kept where other tools find it."""

from __future__ import annotations

import dataclasses
from typing import Any

from rra.api._result import Progress, VerbResult, silent
from rra.bundle.reference import RegistryReference, parse_reference
from rra.errors import Problem, UsageError


@dataclasses.dataclass(frozen=True, kw_only=True)
class LoginReport(VerbResult):
    """A login that was kept; its password is nowhere here.

    Attributes:
        registry: ``HOST[:PORT]``.
        username: Name of the account.
        kept_in: The file, or the credential helper and the file that names it.
        checked: Whether the registry asked for the login, so that it is known to be right.
        token_host: Token service on another host that gets it from now on.
    """

    registry: str
    username: str
    kept_in: str
    checked: bool
    token_host: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the result as plain JSON."""
        names = ("registry", "username", "kept_in", "checked", "token_host")
        return {name: getattr(self, name) for name in names}


def registry_login(
    registry: str,
    username: str,
    password: str,
    *,
    token_host: str | None = None,
    source: str = "the caller",
    plain_http: bool = False,
    progress: Progress = silent,
) -> LoginReport:
    """Have a registry check a login, then keep it where docker, podman and skopeo look for it.

    Args:
        registry: ``HOST[:PORT]``; ``docker.io`` for Docker Hub.
        username: Name of the account.
        password: Password or access token; it appears in no message and no result.
        token_host: Host of the registry's token service, where that is another host.
        source: Where the password came from, for messages.
        plain_http: Speak to the registry without TLS; on this machine that is found out.
        progress: Called with one line for each step.

    Raises:
        UsageError: Registry, user name or password cannot be ones, or a credential file cannot
            be read.
        LoginError: The registry refuses the login, or wants it sent to another host that was not
            named; nothing is written.
        RegistryError: No registry answers.
        UnavailableError: The login cannot be written.
    """
    from rra.registry import Credential
    from rra.registry.login import log_in

    name = registry_name(registry)
    _check(username, password)
    progress(f"asking {name}")
    done = log_in(
        name,
        Credential(username, password, source=source),
        token_host=token_host,
        plain_http=plain_http,
        notice=progress,
    )
    return LoginReport(
        registry=name,
        username=username,
        kept_in=done.kept.place,
        checked=done.asked,
        token_host=done.token_host,
        problems=tuple(_warnings(name, asked=done.asked, hidden_by=done.kept.hidden_by)),
    )


def registry_name(text: str) -> str:
    """Return the name of a registry as references have it.

    Raises:
        UsageError: The text is none.
    """
    hint = "give HOST[:PORT] alone, without scheme and path; docker.io for Docker Hub"
    if "/" in text or "@" in text or not text:
        # What stands before an @ may be a password; none of it is shown.
        shown = "" if "@" in text else f": {text}"
        raise UsageError(f"that is not the name of a registry{shown}", hint=hint)
    try:
        named = parse_reference(f"{text}/any:any")
    except UsageError as error:
        raise UsageError(f"{text} is not the name of a registry", hint=hint) from error
    if not isinstance(named, RegistryReference):
        hint = "a host has a dot or a port in its name, or is localhost"
        raise UsageError(f"{text} is not the name of a registry", hint=hint)
    return named.origin


def _check(username: str, password: str) -> None:
    """Refuse what HTTP Basic cannot say (RFC 7617)."""
    if not username or ":" in username or not username.isprintable():
        message = "a user name has at least one character, and no colon or control character"
        raise UsageError(message, hint="give the name of the account with --username")
    if not password:
        message = "the password is empty"
        raise UsageError(message, hint="give it at the prompt, or through --password-stdin")
    try:
        f"{username}{password}".encode()
    except UnicodeEncodeError:
        raise UsageError(
            "user name or password is not UTF-8", hint="look at what the password comes from"
        ) from None


def _warnings(name: str, *, asked: bool, hidden_by: str) -> list[Problem]:
    found = []
    if not asked:
        what = f"{name} asks for no login, so nothing tells whether this one is right"
        found.append(Problem(what, name, severity="warning"))
    if hidden_by:
        what = f"another login of {name} is found before this one, in {hidden_by}"
        hint = f"rra registry logout {name}, then log in again"
        found.append(Problem(what, name, hint=hint, severity="warning"))
    return found
