"""Files on the web, bundles and data: brought here whole, and held against their digest.

The digest is all that vouches for the file, so no bytes of it are looked at before it was
compared. Nobody is logged in to, and TLS is left for nothing. What came so far outlives the
process, as with blobs of registries; a whole file is kept for a week after its last use.

Source: RFC 9110, Range Requests.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import hashlib
import os
import tempfile
import weakref
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from rra._base import clock, places
from rra._base.files import sha256_file, storage_errors
from rra._base.progress import size_text
from rra.bundle.archive import ArchiveStore
from rra.bundle.reference import WebReference
from rra.bundle.staging import claimed
from rra.bundle.store import BLOCK, Descriptor
from rra.errors import CorruptError, LoginError, RegistryError, RraError
from rra.registry.body import Body
from rra.registry.failures import host_of, plain_body
from rra.registry.meter import Meter
from rra.registry.origin import Origin
from rra.registry.partial import Partial, open_partial, partials
from rra.registry.policy import DEFAULT_POLICY, Policy
from rra.registry.provider import OriginRegistry
from rra.registry.store import BrokenOffError, Wire, is_rest

if TYPE_CHECKING:
    import requests

_FOLDER = "archives"
_HEAD, _LFS = 64, b"version https://git-lfs.github.com/spec/v1"
_KEPT = dt.timedelta(days=7)
_PREFIX = "rra-archive-"
MAX_ARCHIVE = 64 << 30
"""Largest file that is fetched."""


class DownloadedArchive(ArchiveStore):
    """A file that came from the web; see `ArchiveStore`.

    Args:
        file: Where it lies here.
        url: Where it came from, as messages call it.
        until: Closed when the store is not used any more.
    """

    def __init__(self, file: Path, url: str, until: contextlib.ExitStack) -> None:
        super().__init__(file)
        self._url = url
        weakref.finalize(self, until.close)

    @property
    def name(self) -> str:
        """The address."""
        return self._url


def open_download(
    reference: WebReference,
    *,
    progress: Callable[[str], None] = lambda _: None,
    policy: Policy = DEFAULT_POLICY,
) -> DownloadedArchive:
    """Bring a file here, unless the cache has it, and open it.

    Args:
        reference: Address and digest.
        progress: Called with lines: what comes, and how far it is.
        policy: Timeouts and retries.

    Raises:
        CorruptError: The file has another digest; nothing of it is kept.
        LoginError: The host wants a login.
        RegistryError: The host does not answer, refuses, breaks off, or sends us elsewhere
            without TLS.
        StorageError: The disk is full or refuses; nothing is kept.
    """
    until = contextlib.ExitStack()
    kept = _cached(reference)
    if kept is not None:
        progress(f"{reference.url}: the cache has it")
        return DownloadedArchive(kept, reference.url, until)
    try:
        return DownloadedArchive(_brought(reference, progress, policy, until), reference.url, until)
    except BaseException:
        until.close()
        raise


@contextlib.contextmanager
def downloaded(
    url: str,
    digest: str,
    *,
    progress: Callable[[str], None] = lambda _: None,
    policy: Policy = DEFAULT_POLICY,
) -> Iterator[Path]:
    """Bring a file here, unless the cache has it, and yield where it lies meanwhile.

    Args:
        url: Where it is.
        digest: What it must be.
        progress: Called with lines: what comes, and how far it is.
        policy: Timeouts and retries.

    Raises:
        CorruptError: The file has another digest; nothing of it is kept.
        LoginError: The host wants a login.
        RegistryError: The host does not answer, refuses, or breaks off.
        StorageError: The disk is full or refuses; nothing is kept.
    """
    with contextlib.ExitStack() as until:
        reference = WebReference(url, digest)
        yield _cached(reference) or _brought(reference, progress, policy, until)


def cached_file(digest: str) -> Path | None:
    """Return the file of this digest that an earlier download left, if it is still whole."""
    return _cached(WebReference("", digest))


@contextlib.contextmanager
def first_download(
    url: str, *, progress: Callable[[str], None] = lambda _: None, policy: Policy = DEFAULT_POLICY
) -> Iterator[tuple[Path, str]]:
    """Bring a file here whose digest nobody knows yet, and yield it with its digest.

    Raises:
        CorruptError: It is a page for people, or a pointer of Git LFS.
        LoginError: The host wants a login.
        RegistryError: The host does not answer, refuses, or breaks off.
        StorageError: The disk is full or refuses; nothing is kept.
    """
    with contextlib.ExitStack() as until:
        own = until.enter_context(claimed(Path(tempfile.gettempdir()), prefix=_PREFIX, mode=0o700))
        key = f"sha256:{hashlib.sha256(url.encode()).hexdigest()}"
        partial = open_partial(own, Descriptor("application/octet-stream", key, MAX_ARCHIVE))
        reference = WebReference(url, "")
        web = _Web(reference, policy, progress)
        try:
            kind = _until_whole(web, partial, progress)
            found = partial.digest
            if advice := _no_file(partial, kind, url):
                raise CorruptError(f"{url} is not a file of data", hint=advice)
        finally:
            partial.close(keep=True)
        yield own / key.removeprefix("sha256:"), found


def _until_whole(web: _Web, partial: Partial, progress: Callable[[str], None]) -> str:
    """Bring a file to its end, which only the connection tells; return its kind."""
    failures = 0
    while True:
        before = partial.count
        try:
            return web.go_on(partial, progress)
        except BrokenOffError:
            failures = 1 if partial.count - before >= BLOCK else failures + 1
            if failures >= web.policy.attempts:
                raise
            web.pause(failures, None)


def landing(url: str, *, policy: Policy = DEFAULT_POLICY) -> str:
    """Return the address that a persistent identifier leads to in the end.

    Raises:
        RegistryError: The host does not answer, or refuses.
    """
    web = _Web(WebReference(url, ""), policy, lambda _: None)
    with web.request("GET", url) as answer:
        if answer.status_code != 200:
            raise web.refusal_of(answer)
        return str(answer.url)


def _cached(reference: WebReference) -> Path | None:
    """Return the file of an earlier download if it is still what it was."""
    place = _place(reference)
    try:
        if place.is_symlink() or not place.is_file():
            return None
        if sha256_file(place) == reference.archive:
            with contextlib.suppress(OSError):
                os.utime(place)  # it was used just now
            return place
        place.unlink()
    except OSError:
        pass
    return None


def _brought(
    reference: WebReference,
    progress: Callable[[str], None],
    policy: Policy,
    until: contextlib.ExitStack,
) -> Path:
    """Bring the file here and give it its name."""
    wanted = Descriptor("application/x-tar", reference.archive, MAX_ARCHIVE)
    folder = partials()
    partial = None if folder is None else open_partial(folder, wanted)
    if partial is None or partial.path is None:
        # The cache cannot be written, or another process brings the same file.
        if partial is not None:
            partial.close(keep=False)
        own = until.enter_context(claimed(Path(tempfile.gettempdir()), prefix=_PREFIX, mode=0o700))
        partial = open_partial(own, wanted)
    path = partial.path
    if path is None:
        raise AssertionError  # a folder of our own holds nobody else's file
    keep = False
    try:
        partial.take_up()
        _complete(_Web(reference, policy, progress), reference, partial, progress)
        with storage_errors(path):
            path = _named(path, reference) if path.parent == folder else path
        keep = True
    except (RegistryError, KeyboardInterrupt):
        keep = True  # the next attempt goes on from there
        raise
    finally:
        partial.close(keep=keep)
    return path


def _named(path: Path, reference: WebReference) -> Path:
    """Move a whole file to where the next one looks for it; what is old there goes."""
    place = _place(reference)
    place.parent.mkdir(mode=0o700, exist_ok=True)
    oldest = (clock.now() - _KEPT).timestamp()
    for other in place.parent.iterdir():
        with contextlib.suppress(OSError):
            if other.lstat().st_mtime < oldest:
                other.unlink()
    path.replace(place)
    return place


def _place(reference: WebReference) -> Path:
    return places.cache_root() / _FOLDER / reference.archive.removeprefix("sha256:")


def _complete(
    web: _Web, reference: WebReference, partial: Partial, progress: Callable[[str], None]
) -> None:
    """Bring what is missing of the file, again where the connection breaks."""
    failures, resumed = 0, partial.count > 0
    while partial.digest != reference.archive:
        before = partial.count
        try:
            kind = web.go_on(partial, progress)
        except BrokenOffError:
            # Somewhat further each time is as good as a new start.
            failures = 1 if partial.count - before >= BLOCK else failures + 1
            if failures >= web.policy.attempts:
                raise
            web.pause(failures, None)
            continue
        if partial.digest == reference.archive:
            return
        if not resumed:
            raise _other(reference, partial, kind)
        # What was left here may be what is wrong; once more, all of it from its place.
        resumed = False
        partial.restart()


def _other(reference: WebReference, partial: Partial, kind: str) -> CorruptError:
    """Return the error for a file that is another one; its bytes go."""
    found, size = partial.digest, size_text(partial.count)
    advice = _no_file(partial, kind, reference.url)
    message = f"{reference.url} is {found} ({size}), not {reference.archive}"
    hint = "do not use it; ask where the reference came from, or for a newer one"
    partial.restart()
    return CorruptError(message, hint=advice or hint)


def _no_file(partial: Partial, kind: str, url: str) -> str:
    """Say what came in the place of a file, if that can be told."""
    head = os.pread(partial.number, _HEAD, 0)
    if head.startswith(_LFS):
        return "that is a Git LFS pointer; give the address of the content that it stands for"
    page = kind.partition(";")[0].strip().lower() == "text/html"
    if page and not urlsplit(url).path.endswith((".html", ".htm")):
        return "that is a page for people; give the address of the file itself"
    return ""


class _Web(OriginRegistry):
    """Asks for one address, without any login, and goes nowhere without TLS."""

    def __init__(
        self, reference: WebReference, policy: Policy, notice: Callable[[str], None]
    ) -> None:
        self._url = reference.url
        origin = Origin.of(reference.url)
        if origin is None:
            raise AssertionError  # the grammar of references lets only addresses through
        super().__init__(origin, credential=None, policy=policy, notice=notice)

    def go_on(self, partial: Partial, progress: Callable[[str], None]) -> str:
        """Ask for what is missing, add it, and return of what kind the file is said to be.

        Raises:
            BrokenOffError: The connection breaks while bytes come.
            RegistryError: There is no answer, or one without the file.
        """
        wanted = {"Range": f"bytes={partial.count}-"} if partial.count else {}
        answer = self.request("GET", self._url, headers=wanted)
        if wanted and not is_rest(answer, partial.count):
            if answer.status_code in {206, 416}:
                answer.close()
                answer = self.request("GET", self._url)
            if answer.status_code == 200:
                partial.restart()
        with answer:
            if answer.status_code != (206 if partial.count else 200):
                raise self.refusal_of(answer)
            plain_body(answer, "a file")
            self._take(answer, partial, progress)
            return answer.headers.get("Content-Type", "")

    def _take(
        self, answer: requests.Response, partial: Partial, progress: Callable[[str], None]
    ) -> None:
        """Add the bytes of an answer."""
        said = answer.headers.get("Content-Length", "")
        rest = int(said) if said.isdecimal() and len(said) < 16 else 0
        here = f", {size_text(partial.count)} here already" if partial.count else ""
        progress(f"{self._url}: {size_text(partial.count + rest)}{here}")
        meter = Meter(progress, partial.count + rest, "fetched")
        meter.skip(partial.count)
        wire = Wire(answer)
        while block := wire.read(BLOCK):
            if partial.count + rest > MAX_ARCHIVE or partial.count + len(block) > MAX_ARCHIVE:
                partial.restart()
                message = f"{self._url} is larger than {size_text(MAX_ARCHIVE)}"
                raise CorruptError(message, hint="no bundle is; look at the address")
            partial.append(block)
            meter.add(len(block))
        meter.finish()

    def elsewhere(self, response: requests.Response) -> str:
        """Return the address that an answer's Location names.

        Raises:
            RegistryError: There is none, it would leave TLS, or it holds a login.
        """
        target = super().elsewhere(response)
        origin = Origin.of(target)
        if "@" in urlsplit(target).netloc:
            message = f"{host_of(response)} sends us on to an address with a login in it"
            raise RegistryError(message, hint="ask who runs that host")
        if origin is None or (origin.scheme != "https" and not origin.loopback):
            message = f"{host_of(response)} sends us on to {origin}, without TLS"
            raise RegistryError(message, hint="ask who runs that host for an address with TLS")
        return target.partition("#")[0]

    def _authorised(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        body: bytes | Body | None,
        *,
        keeps: bool,
    ) -> requests.Response:
        """Send a request as it is: there is no login that anybody could ask for."""
        del keeps
        return self._send(method, url, dict(headers), body)

    def refusal_of(self, answer: requests.Response) -> RraError:
        """Return the error for an answer without the file."""
        status = f"{answer.status_code} {answer.reason or ''}".strip()
        message = f"cannot read {self._url}: {host_of(answer)} answers {status}"
        if answer.status_code in {401, 403}:
            hint = "no login is sent there; download the file yourself and give oci-archive:FILE"
            return LoginError(message, hint=hint)
        gone = answer.status_code in {404, 410}
        hint = "check the address" if gone else "run the same command again in a while"
        return RegistryError(message, hint=hint)
