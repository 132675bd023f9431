"""One registry object for each origin: every request of it passes here.

It is a subclass of the `oras` package's registry, which gives the session, the container
object and the token flow; `do_request`, which everything there uses, is ours.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from json import dumps
from typing import Any
from urllib.parse import urljoin

import requests
from oras.provider import Registry
from requests.adapters import HTTPAdapter

import rra
from rra.errors import RegistryError, RraError
from rra.registry.auth import OriginAuth, token_service
from rra.registry.body import Body
from rra.registry.credentials import Credential
from rra.registry.failures import dropped, host_of, refused, unreachable, wrong_certificate
from rra.registry.origin import Origin
from rra.registry.policy import BLOCK, RETRIED, Policy
from rra.registry.trust import trusted_authorities

_REDIRECTS = {301, 302, 303, 307, 308}
_READING = {"GET", "HEAD"}


class BlockAdapter(HTTPAdapter):
    """Sends bodies in large blocks; urllib3 takes 16 KiB by itself."""

    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        """Make the pool of direct connections."""
        super().init_poolmanager(*args, **{**kwargs, "blocksize": BLOCK})

    def proxy_manager_for(self, proxy: str, **kwargs: Any) -> Any:
        """Make the pool of connections through a proxy."""
        return super().proxy_manager_for(proxy, **{**kwargs, "blocksize": BLOCK})


def _as_it_is(request: requests.PreparedRequest) -> requests.PreparedRequest:
    """Take the place of an authentication, so that requests looks for none in ~/.netrc."""
    return request


class OriginRegistry(Registry):  # type: ignore[misc] # oras ships no types
    """Speaks to one registry: timeouts, retries, redirects, and a login that stays there.

    Args:
        origin: Scheme, host and port; nothing else is ever sent a credential.
        credential: Login; None for none.
        policy: Timeouts and retries.
        notice: Called with a line when a wait or a change of login should be known.
        searched: Where a credential was looked for, for messages.
        name: The registry as references name it, for messages.
        token_host: Token service on another host that the user agreed to at login.
    """

    def __init__(
        self,
        origin: Origin,
        *,
        credential: Credential | None,
        policy: Policy,
        notice: Callable[[str], None],
        searched: str = "",
        name: str = "",
        token_host: Origin | None = None,
    ) -> None:
        super().__init__(hostname=origin.netloc, insecure=origin.scheme == "http")
        self.origin = origin
        self.policy = policy
        self.searched = searched
        self._notice = notice
        self._turn = threading.RLock()
        self._trusted: str | bool | None = None
        self.session.auth = _as_it_is
        # Redirects are ours; requests would look at every Location before it leaves them alone.
        self.session.get_redirect_target = lambda _: None
        self.session.headers.update(
            {"User-Agent": f"rra/{rra.__version__}", "Accept-Encoding": "identity"}
        )
        for scheme in ("https://", "http://"):
            self.session.mount(scheme, BlockAdapter())
        self.auth = OriginAuth(
            origin, credential, self._ask, self.notice, name=name, token_host=token_host
        )

    def notice(self, line: str) -> None:
        """Pass a line on to the user, one thread at a time."""
        with self._turn:
            self._notice(line)

    def do_request(
        self,
        url: str,
        method: str = "GET",
        data: bytes | None = None,
        headers: dict[str, str] | None = None,
        json: dict[str, Any] | None = None,
        stream: bool = False,  # noqa: FBT001, FBT002 - the signature that oras calls
    ) -> requests.Response:
        """Send a request of oras's own methods the way `request` does."""
        del stream
        body = data if json is None else dumps(json).encode()
        return self.request(method, url, headers=headers, body=body)

    def request(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        body: bytes | Body | None = None,
        optional: bool = False,
    ) -> requests.Response:
        """Send a request and return the answer, whatever its status; its body is not read yet.

        Reads follow redirects, without the login when they lead to another origin. A body
        that is a stream is sent once: who made it has to make it again. Where the address is
        optional, a refusal says nothing of the login, which is kept for what follows.

        Raises:
            RegistryError: No answer; a redirect that must not be followed.
            LoginError: The token service must not have the credential.
        """
        target = url
        for _ in range(self.policy.redirects + 1):
            response = self._authorised(method, target, dict(headers or {}), body, keeps=optional)
            if response.status_code not in _REDIRECTS or method not in _READING:
                return response
            response.close()
            target = self.elsewhere(response)
        message = f"{self.origin.netloc} redirects more than {self.policy.redirects} times"
        raise RegistryError(message, hint="ask who runs the registry")

    def speaks_tls(self) -> bool:
        """Ask, without a login, whether TLS is spoken; also true for a wrong certificate."""
        try:
            self._once("GET", f"{self.origin}/v2/", {}, None, {}).close()
        except requests.RequestException as error:
            return wrong_certificate(error)
        return True

    def reach(self) -> None:
        """Insist that somebody answers, whatever it is: no login is sent.

        Raises:
            RegistryError: Nobody does, or TLS does not come about.
        """
        self._send("GET", f"{self.origin}/v2/", {}, None).close()

    def token_service(self) -> Origin | None:
        """Ask, without a login, who gives out tokens for this registry; None for nobody.

        Raises:
            RegistryError: No registry answers.
        """
        with self._send("GET", f"{self.origin}/v2/", {}, None) as answer:
            return token_service(answer)

    def elsewhere(self, response: requests.Response) -> str:
        """Return the address that an answer's Location names.

        Raises:
            RegistryError: There is none, or it would leave TLS.
        """
        location = response.headers.get("Location", "")
        target = self.resolve(response, location)
        origin = Origin.of(target)
        if not location or origin is None:
            message = f"{host_of(response)} sends us on, but not to an address"
            raise RegistryError(message, hint="ask who runs the registry")
        if response.url.startswith("https:") and origin.scheme != "https":
            message = f"{host_of(response)} sends us on to {origin}, without TLS"
            hint = "ask who runs the registry: its proxy has to say X-Forwarded-Proto https"
            raise RegistryError(message, hint=hint)
        return target

    @staticmethod
    def resolve(response: requests.Response, address: str) -> str:
        """Return an address of an answer as an absolute one; empty for what is none."""
        try:
            return urljoin(response.url, address)
        except ValueError:
            return ""

    def refusal(self, response: requests.Response, doing: str) -> RraError:
        """Return the error for an answer that is no success."""
        if self.auth.refusal and response.status_code in {401, 403}:
            response.close()
            message = f"cannot {doing}: {self.auth.refusal}"
            return RegistryError(message, hint=self.auth.advice)
        return refused(
            response,
            doing,
            credential=self.auth.source,
            searched=self.searched,
            name=self.auth.name,
            hide=self.auth.hide,
        )

    def renew(self, response: requests.Response) -> bool:
        """Answer a challenge; tell whether the same request may now do better.

        Where it may not, the answer's body stays readable: it says why. Of several threads
        that are challenged at once, one logs in.
        """
        with self._turn:
            if self._outdated(response):
                changed = True
            else:
                try:
                    _, changed = self.auth.authenticate_request(response, {}, refresh=True)
                except RraError:
                    response.close()
                    raise
        if changed:
            response.close()
        return bool(changed)

    def _outdated(self, response: requests.Response) -> bool:
        """Tell whether another thread has logged in since the request was made."""
        now = self.auth.get_auth_header().get("Authorization")
        return now is not None and now != response.request.headers.get("Authorization")

    def pause(self, attempt: int, response: requests.Response | None) -> None:
        """Wait before the next attempt: as long as the registry asks, up to our cap."""
        header = response.headers.get("Retry-After") if response is not None else None
        seconds = self.policy.wait(attempt, header)
        why = f"answers {response.status_code}" if response is not None else "broke off"
        if response is not None:
            response.close()
        self.notice(f"{self.origin.netloc} {why}; asking again in {seconds:g} s")
        self.policy.sleep(seconds)

    def _authorised(
        self,
        method: str,
        url: str,
        headers: dict[str, str],
        body: bytes | Body | None,
        *,
        keeps: bool,
    ) -> requests.Response:
        """Send a request with the login, if it goes to the registry itself."""
        if Origin.of(url) != self.origin:
            return self._send(method, url, headers, body)
        response = self._send(method, url, headers | self.auth.get_auth_header(), body)
        if not challenged(response) or isinstance(body, Body):
            return response
        for _ in range(2):  # what another thread logged in for may not be enough for us
            outdated = self._outdated(response)
            if not self.renew(response):
                break
            response = self._send(method, url, headers | self.auth.get_auth_header(), body)
            if not outdated or not challenged(response):
                break
        if keeps or not _denied(response) or method not in _READING:
            return response
        if self._forget_credential():
            response.close()
            response = self._send(method, url, headers, body)
            if challenged(response) and self.renew(response):
                response = self._send(method, url, headers | self.auth.get_auth_header(), body)
        return response

    def _forget_credential(self) -> bool:
        with self._turn:
            return self.auth.forget_credential()

    def _ask(
        self, method: str, url: str, headers: Mapping[str, str], fields: Mapping[str, str]
    ) -> requests.Response:
        """Send a request of the token flow: no login but the one given, no redirects."""
        if method == "POST":
            return self._send(method, url, dict(headers), None, form=dict(fields))
        return self._send(method, url, dict(headers), None, params=dict(fields))

    def _send(
        self,
        method: str,
        url: str,
        headers: dict[str, str],
        body: bytes | Body | None,
        **fields: dict[str, str],
    ) -> requests.Response:
        """Send a request, again where that may help and the body is still there."""
        attempts = 1 if isinstance(body, Body) else self.policy.attempts
        for attempt in range(1, attempts + 1):
            last = attempt == attempts
            answer: requests.Response | None = None
            try:
                answer = self._once(method, url, headers, body, fields)
            except requests.RequestException as error:
                if last or not dropped(error):
                    host = Origin.of(url)
                    raise unreachable(host.netloc if host else url, error) from error
            if answer is not None and (last or answer.status_code not in RETRIED):
                return answer
            self.pause(attempt, answer)
        raise AssertionError  # the last attempt returns or raises

    def _once(
        self,
        method: str,
        url: str,
        headers: dict[str, str],
        body: bytes | Body | None,
        fields: Mapping[str, dict[str, str]],
    ) -> requests.Response:
        policy = self.policy
        # urllib3 sends bodies under the timeout of connecting, one block at a time.
        connect = policy.idle_seconds if isinstance(body, Body) else policy.connect_seconds
        origin = Origin.of(url)
        direct = {"no_proxy": origin.host} if origin and origin.loopback else None
        session: requests.Session = self.session
        return session.request(
            method,
            url,
            headers=headers,
            data=fields.get("form", body),
            params=fields.get("params"),
            stream=True,
            allow_redirects=False,
            timeout=(connect, policy.idle_seconds),
            verify=self._authorities() if origin and origin.scheme == "https" else True,
            proxies=direct,
        )

    def _authorities(self) -> str | bool:
        """Return whose certificates count; looked up when TLS is spoken for the first time."""
        if self._trusted is None:
            self._trusted = trusted_authorities()
        return self._trusted


def challenged(response: requests.Response) -> bool:
    """Tell whether an answer asks for a login, or for one that may do more."""
    asks = "Www-Authenticate" in response.headers
    return response.status_code == 401 or (response.status_code == 403 and asks)


def _denied(response: requests.Response) -> bool:
    return response.status_code in {401, 403}
