"""Logging in to one registry: its credential goes to it and its token service, nowhere else."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import requests
from oras.auth.token import TokenAuth
from oras.auth.utils import parse_auth_header

from rra.errors import LoginError, RegistryError
from rra.registry.credentials import Credential
from rra.registry.failures import host_of, small_body
from rra.registry.origin import Origin, may_receive_credential

if TYPE_CHECKING:
    from oras.auth.utils import authHeader

# What matters is raised; the rest is oras talking to itself, and a library prints nothing.
logging.getLogger("oras.logger").addHandler(logging.NullHandler())

_TOKEN_BYTES = 1 << 20
_CLIENT = "rra"
_SCHEMES = re.compile(r"(?:^|,)\s*(bearer|basic)\s", re.IGNORECASE)
_REFUSED = {400, 401, 403}

Ask = Callable[[str, str, Mapping[str, str], Mapping[str, str]], requests.Response]
"""Sends one request without credentials or redirects: method, address, headers, fields."""


class OriginAuth(TokenAuth):  # type: ignore[misc] # oras ships no types
    """The token flow of `oras`, with every request of it in our hands.

    What differs: Basic challenges, identity and registry tokens; the credential goes to
    another host only where that is known to be the registry's own; no redirects; a public
    pull goes on without the credential where that is refused.
    """

    insists = False
    """Whether the credential has to be taken: nothing is read without it, as at a login."""

    def __init__(
        self,
        origin: Origin,
        credential: Credential | None,
        ask: Ask,
        notice: Callable[[str], None],
        *,
        name: str = "",
        token_host: Origin | None = None,
    ) -> None:
        super().__init__()
        self.origin = origin
        self.credential = credential
        self.name = name or origin.netloc
        self.token_host = token_host
        self.prefix = origin.scheme
        self._ask, self._notice = ask, notice
        self._use_basic = False
        self._forgotten = ""
        self.refusal = self.advice = ""
        self._actions: dict[str, set[str]] = {}
        if credential is not None:
            # oras asks for an anonymous token only where this attribute is missing.
            self._basic_auth = credential.basic

    @property
    def source(self) -> str:
        """Where the credential that was tried came from; empty for none."""
        return self.credential.source if self.credential else self._forgotten

    def get_auth_header(self) -> dict[str, str]:
        """Return the Authorization header for a request to the registry itself."""
        if self._use_basic and self.credential:
            return {"Authorization": f"Basic {self.credential.basic}"}
        header: dict[str, str] = super().get_auth_header()
        return header

    @property
    def used(self) -> bool:
        """Whether requests carry something that came of the credential."""
        return self.credential is not None and bool(self.get_auth_header())

    def present(self) -> None:
        """Show the credential to a registry that does not ask (HTTP Basic)."""
        self._use_basic = self.credential is not None

    def hide(self, text: str) -> str:
        """Return a text of the registry's without the secrets that it may have sent back."""
        credential = self.credential
        secrets: list[str | None] = [self.token]
        if credential is not None:
            secrets += [credential.basic, credential.password]
            secrets += [credential.identity_token, credential.registry_token]
        for secret in secrets:
            if secret:
                text = text.replace(secret, "…")
        return text

    def authenticate_request(
        self,
        original: requests.Response,
        headers: dict[str, str],
        refresh: bool = True,  # noqa: FBT001, FBT002 - the signature that oras calls
    ) -> tuple[dict[str, str], bool]:
        """Answer a challenge (RFC 7235); return the headers, and whether a retry makes sense.

        Args:
            original: The answer with the challenge.
            headers: Headers of the request.
            refresh: A token that was used already is replaced.

        Raises:
            LoginError: The token service would get the credential and must not.
            RegistryError: The token service does not answer as one.
        """
        challenges = _challenges(original.headers.get("Www-Authenticate", ""))
        if "bearer" in challenges:
            self._use_basic = False
            original.headers["Www-Authenticate"] = challenges["bearer"]
            result: tuple[dict[str, str], bool] = super().authenticate_request(
                original, headers, refresh
            )
            return result
        if "basic" in challenges and self.credential and self.credential.basic:
            changed = not self._use_basic
            self._use_basic = True
            return headers | self.get_auth_header(), changed
        return headers, False

    def forget_credential(self) -> bool:
        """Go on without the credential, once; tell whether that may help.

        It does not where the registry asks for Basic: it did so before it saw the credential.
        """
        if self.credential is None or self._use_basic or self.insists:
            return False
        self._notice(
            f"{self.origin.netloc} refuses the credential from {self.source}; reading without it"
        )
        self._forgotten = self.source
        self.credential = None
        self.token = None
        del self._basic_auth
        return True

    def request_anonymous_token(self, h: authHeader) -> str | None:
        """Return a token that anybody gets, or None where the service wants a login."""
        response = self._ask("GET", self._realm(h), {}, self._fields(h))
        return self._token(response)

    def request_token(self, h: authHeader) -> str | None:
        """Return a token for the credential; for a pull, without it where it may not be used.

        Raises:
            LoginError: The token service is on another host that is not known to belong to
                the registry, and the request is more than a pull.
        """
        credential = self.credential
        if credential is None:
            return None
        if credential.registry_token:
            return credential.registry_token
        realm = self._realm(h)
        if not may_receive_credential(_origin(realm), self.origin, self.token_host):
            return self._without_credential(h, realm)
        fields = self._fields(h)
        if credential.identity_token:
            fields |= {
                "grant_type": "refresh_token",
                "client_id": _CLIENT,
                "refresh_token": credential.identity_token,
            }
            response = self._ask("POST", realm, {}, fields)
        else:
            fields["account"] = credential.username
            headers = {"Authorization": f"Basic {credential.basic}"}
            response = self._ask("GET", realm, headers, fields)
        token = self._token(response)
        if token is None and _only_reads(h) and self.forget_credential():
            return self.request_anonymous_token(h)
        return token

    def _without_credential(self, h: authHeader, realm: str) -> str | None:
        """Keep the credential; reading may still work for everybody."""
        service = _origin(realm)
        self.refusal = f"{self.origin.netloc} wants its credential sent to {service.netloc}, "
        hint = f"if that host belongs to it: rra registry login {self.name} --token-host "
        hint += service.netloc.removesuffix(":443")
        if service.scheme != "https":
            hint = "ask who runs the registry for a token service with TLS"
        self.advice = hint
        if self.token_host is not None:
            self.refusal += f"and at login its token service was {self.token_host.netloc}"
            raise LoginError(self.refusal, hint=f"nothing was sent there; {hint}")
        self.refusal += "which is not known to belong to it"
        if self.insists or not _only_reads(h):
            raise LoginError(self.refusal, hint=hint)
        self._notice(f"{self.refusal}; reading without the credential")
        return self.request_anonymous_token(h)

    def _realm(self, h: authHeader) -> str:
        realm = str(h.realm or "")
        origin = Origin.of(realm)
        if origin is None or (origin.scheme == "http" and self.origin.scheme == "https"):
            what = (
                "names no token service" if origin is None else "names a token service without TLS"
            )
            message = f"{self.origin.netloc} asks for a token and {what}"
            raise RegistryError(message, hint="ask who runs the registry")
        return realm

    def _fields(self, h: authHeader) -> dict[str, str]:
        """Return service and scope as the challenge names them.

        What an earlier token was for is asked for again: several threads share one token, and
        one that only reads must not take from another what it needs to write.
        """
        for scope in str(h.scope or "").split():
            place, colon, actions = scope.rpartition(":")
            if colon:
                self._actions.setdefault(place, set()).update(actions.split(","))
        scope = " ".join(
            f"{place}:{','.join(sorted(actions))}" for place, actions in self._actions.items()
        )
        wanted = {"service": h.service, "scope": scope or h.scope}
        return {name: str(value) for name, value in wanted.items() if value}

    def _token(self, response: requests.Response) -> str | None:
        """Read the token service's answer; None where it refuses."""
        host = host_of(response)
        if response.status_code in _REFUSED:
            response.close()
            return None
        if response.status_code != 200:
            response.close()
            message = f"the token service {host} answers {response.status_code}"
            raise RegistryError(message, hint="run the same command again in a while")
        data = small_body(response, _TOKEN_BYTES, "a token")
        try:
            document: Any = json.loads(data)
            token = document.get("token") or document.get("access_token")
        except (ValueError, RecursionError, AttributeError) as error:
            raise RegistryError(f"the token service {host} sends no JSON object") from error
        if not isinstance(token, str) or not (token.isascii() and token.isprintable()):
            raise RegistryError(f"the token service {host} sends no token")
        return token


def _challenges(header: str) -> dict[str, str]:
    """Split a WWW-Authenticate header into its Bearer and Basic challenges."""
    marks = list(_SCHEMES.finditer(header))
    ends = [*(mark.start() for mark in marks[1:]), len(header)][: len(marks)]
    return {
        mark.group(1).lower(): header[mark.start(1) : end]
        for mark, end in zip(marks, ends, strict=True)
    }


def token_service(answer: requests.Response) -> Origin | None:
    """Return the token service that a challenge names; None where it names none."""
    bearer = _challenges(answer.headers.get("Www-Authenticate", "")).get("bearer")
    return None if bearer is None else Origin.of(str(parse_auth_header(bearer).realm or ""))


def _only_reads(h: authHeader) -> bool:
    """Tell whether every scope asks for nothing but to pull."""
    scopes = str(h.scope or "").split()
    actions = {action for scope in scopes for action in scope.rpartition(":")[2].split(",")}
    return actions <= {"pull"}


def _origin(url: str) -> Origin:
    origin = Origin.of(url)
    if origin is None:
        raise RegistryError(f"{url} is no address")
    return origin
