"""Saying what a registry did wrong: which host, what it said, whose credential, what to do."""

from __future__ import annotations

import json
import ssl
from collections.abc import Callable, Iterator
from urllib.parse import urlsplit

import requests
import urllib3.exceptions

from rra.errors import LoginError, RegistryError

_MESSAGE_BYTES = 16 * 1024
_SHOWN = 300
_UNKNOWN = {"BLOB_UNKNOWN", "MANIFEST_BLOB_UNKNOWN"}


DAMAGED = (
    "do not use what is there: whoever keeps the registry has to remove that blob before"
    " a push can mend it; get the bundle from another place until then"
)
"""What to do about a blob that a registry gives with other bytes than its digest says."""


class UnknownBlobError(RegistryError):
    """A registry refuses a manifest because of a blob that it does not have."""


class BrokenAnswerError(RegistryError):
    """The connection was lost, or fell silent, in the middle of an answer."""


def unreachable(host: str, error: Exception) -> RegistryError:
    """Return the error for a conversation that did not come about, or broke off.

    Args:
        host: Host and port that were spoken to.
        error: What requests or urllib3 raised.
    """
    if isinstance(error, requests.exceptions.SSLError):
        return _no_tls(host, error)
    if isinstance(error, requests.exceptions.ProxyError):
        message = f"the proxy on the way to {host} does not let us through: {_reason(error)}"
        return RegistryError(message, hint="look at HTTPS_PROXY, HTTP_PROXY and NO_PROXY")
    if isinstance(error, requests.exceptions.Timeout | urllib3.exceptions.TimeoutError):
        message = f"{host} does not answer in time"
        return RegistryError(message, hint="look whether it is up, and run the same command again")
    if _causes(error, urllib3.exceptions.NewConnectionError):
        message = f"no registry answers at {host}: {_reason(error)}"
        return RegistryError(message, hint="check the name and the port, and whether it is running")
    message = f"the connection to {host} broke: {_reason(error)}"
    return RegistryError(message, hint="run the same command again; nothing is half-written")


def dropped(error: requests.exceptions.RequestException) -> bool:
    """Tell whether an open connection was lost, so that asking again may help."""
    wrapped = error.args[0] if error.args else None
    return isinstance(error, requests.exceptions.ConnectionError) and isinstance(
        wrapped, urllib3.exceptions.ProtocolError | OSError
    )


def broke(error: RegistryError) -> bool:
    """Tell whether a request ended because an open connection was lost."""
    cause = error.__cause__
    return isinstance(cause, requests.RequestException) and dropped(cause)


def wrong_certificate(error: requests.exceptions.RequestException) -> bool:
    """Tell whether the other side speaks TLS, with a certificate that is not trusted."""
    return _causes(error, ssl.SSLCertVerificationError)


def refused(
    response: requests.Response,
    doing: str,
    *,
    credential: str,
    searched: str,
    name: str = "",
    hide: Callable[[str], str] = str,
) -> RegistryError:
    """Return the error for an answer that is no success.

    Args:
        response: The answer; the beginning of its body is read.
        doing: What was being done, such as ``read host/repository``.
        credential: Where the credential that was used came from; empty for none.
        searched: Where a credential was looked for.
        name: The registry as references name it.
        hide: Takes secrets out of what the registry says.
    """
    host = host_of(response)
    login = f"rra registry login {name or host}"
    codes, said = _said(response)
    said = hide(said)
    status = f"{response.status_code} {response.reason or ''}".strip()
    if response.status_code in {401, 403}:
        if credential:
            message = f"{host} refuses to {doing} with the credential from {credential}{said}"
            hint = f"log in again ({login}), or ask for access to that repository"
        else:
            message = f"{host} wants a login to {doing}{said}"
            hint = f"{login}; no credential for it was found in {searched}"
        return LoginError(message, hint=hint)
    message = f"cannot {doing}: {host} answers {status}{said}"
    hints = {
        404: "check the name of the repository",
        413: "the registry takes no blob of this size; ask who runs it",
        429: "it is asked too often; wait a while and run the same command again",
    }
    retry = "run the same command again, or ask who runs the registry"
    kind = UnknownBlobError if codes & _UNKNOWN else RegistryError
    return kind(message, hint=hints.get(response.status_code, retry))


def host_of(response: requests.Response) -> str:
    """Return host and port that an answer came from."""
    return urlsplit(response.url).netloc.rpartition("@")[2]


def small_body(response: requests.Response, limit: int, what: str) -> bytes:
    """Return a body that is kept in memory.

    Raises:
        BrokenAnswerError: The connection broke, or nothing came any more.
        RegistryError: It is larger than the limit, or compressed.
    """
    with response:
        plain_body(response, what)
        data = bytearray()
        try:
            while len(data) <= limit and (
                block := response.raw.read(limit + 1 - len(data), decode_content=False)
            ):
                data += block
        except (urllib3.exceptions.HTTPError, OSError) as error:
            said = unreachable(host_of(response), error)
            raise BrokenAnswerError(said.message, hint=said.hint) from error
    if len(data) > limit:
        message = f"{what} from {host_of(response)} is larger than {limit} bytes"
        raise RegistryError(message, hint="no registry has a reason to send that; do not use it")
    return bytes(data)


def plain_body(response: requests.Response, what: str) -> None:
    """Insist that a body is the bytes themselves: digests are those of what is stored.

    Raises:
        RegistryError: The answer has a Content-Encoding.
    """
    encoding = response.headers.get("Content-Encoding", "identity").strip().lower()
    if encoding not in {"", "identity"}:
        message = f"{host_of(response)} sends {what} with Content-Encoding {encoding[:40]}"
        hint = "something between here and the registry compresses answers; switch that off"
        raise RegistryError(message, hint=hint)


def _no_tls(host: str, error: requests.exceptions.SSLError) -> RegistryError:
    if _causes(error, ssl.SSLCertVerificationError):
        message = f"the certificate of {host} is not trusted: {_reason(error)}"
        hint = "give the certificate of its authority in REQUESTS_CA_BUNDLE"
        return RegistryError(message, hint=f"{hint}; there is no option to go without")
    message = f"{host} does not speak TLS: {_reason(error)}"
    hint = "if you trust the network between, say --plain-http; else ask for its TLS address"
    return RegistryError(message, hint=hint)


def _said(response: requests.Response) -> tuple[set[str], str]:
    """Return the codes that a registry gives, and its first as `` (CODE: message)``, or nothing."""
    if response.request.method == "HEAD":
        return set(), ""
    try:
        document = json.loads(small_body(response, _MESSAGE_BYTES, "an error"))
        codes = {str(error.get("code")) for error in document["errors"]}
        first = document["errors"][0]
        parts = [str(first.get(key) or "") for key in ("code", "message")]
    except (RegistryError, ValueError, RecursionError, LookupError, TypeError, AttributeError):
        return set(), ""
    text = ": ".join(part for part in parts if part)
    return codes, f" ({text[:_SHOWN]})" if text else ""


def _chain(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and everything that it wraps."""
    waiting: list[BaseException] = [error]
    for current in waiting:
        yield current
        inner = [current.__cause__, current.__context__, getattr(current, "reason", None)]
        inner += current.args
        waiting += [
            item for item in inner if isinstance(item, BaseException) and item not in waiting
        ]


def _causes(error: BaseException, kind: type[BaseException]) -> bool:
    return any(isinstance(item, kind) for item in _chain(error))


def _reason(error: BaseException) -> str:
    """Return the innermost reason that the system or TLS gave."""
    for item in reversed(list(_chain(error))):
        if isinstance(item, ssl.SSLCertVerificationError):
            return item.verify_message
        if isinstance(item, OSError) and item.strerror:
            return item.strerror.lower()
    innermost = [item for item in _chain(error) if item.args][-1:]
    return str(innermost[0])[:_SHOWN] if innermost else type(error).__name__
