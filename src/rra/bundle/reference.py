"""What a user may name: a directory, or a bundle in a folder, a file, a registry, on the web.

The grammar is strict; what does not fit is refused with examples, never guessed at::

    DIRECTORY
    oci-layout:DIRECTORY[:TAG][@sha256:…]
    oci-archive:FILE[:TAG][@sha256:…]
    HOST[:PORT]/REPOSITORY[:TAG][@sha256:…]
    https://HOST[:PORT]/PATH[?QUERY]#sha256:…[:TAG][@sha256:…]

The digest behind ``#`` is that of the file at the address, an OCI archive; it must be given,
since nothing else vouches for what comes. On this machine the scheme may be http.

Text without a scheme is a directory unless its first part looks like a host (it holds a dot
or a colon, or is ``localhost``) and there is no such directory. A tag or digest makes it a
reference to a registry in any case; ``./`` in front makes it a directory in any case.

A version with build metadata may stand in the place of its tag: ``1.2.0+cu128`` is the tag
``1.2.0_cu128``, since tags have no ``+``.

Source: OCI Distribution Specification 1.1, Pulling manifests, for tags and repositories;
RFC 3986, Syntax Components, for addresses.
"""

from __future__ import annotations

import dataclasses
import errno
import os
import re
from pathlib import Path

from rra._base.hosts import is_loopback
from rra.bundle.names import printable
from rra.errors import UsageError

LAYOUT, ARCHIVE = "oci-layout:", "oci-archive:"
EXAMPLES = (
    "give a directory, oci-layout:DIR[:TAG], oci-archive:FILE[:TAG], HOST/REPOSITORY:TAG"
    " or https://HOST/FILE#sha256:…; @sha256:… pins the digest"
)

_LENGTH = len("sha256:") + 64
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_TAG = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,127}")
_REPOSITORY = re.compile(
    r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*(?:/[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*)*"
)
_HOST = re.compile(
    r"(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*"
    r"|\[[0-9a-f:.]+\])(?::(?P<port>[1-9][0-9]{0,4}))?"
)
_BUILD = re.compile(r"[0-9]+\.[0-9]+\.[0-9]+(?:-[0-9A-Za-z.-]+)?\+[0-9A-Za-z.-]+")
_PCHAR = r"(?:[A-Za-z0-9._~!$&'()*+,;=:@/-]|%[0-9A-Fa-f]{2})"
_ADDRESS = re.compile(
    rf"(?P<scheme>https?)://(?P<authority>[^/?#]*)(?P<path>/{_PCHAR}+(?:\?(?:{_PCHAR}|\?)*)?)"
)
_WEB = ("https://", "http://")
_MAX_ADDRESS = 2048
_MAX_REPOSITORY = 255
_MAX_HOST = 255


@dataclasses.dataclass(frozen=True, slots=True)
class DirectoryReference:
    """An artifact as a plain directory."""

    path: Path

    def __str__(self) -> str:
        """Return the path as it was given."""
        return str(self.path)


@dataclasses.dataclass(frozen=True, slots=True)
class LayoutReference:
    """A bundle in a folder in OCI image layout.

    Attributes:
        path: The folder.
        tag: Name of the bundle in it; None for the only one.
        digest: Digest of the manifest that is meant.
        version: Version that the tag was written as, where that is not the tag itself.
    """

    path: Path
    tag: str | None = None
    digest: str | None = None
    version: str | None = None

    def __str__(self) -> str:
        """Return the reference as `parse_reference` takes it."""
        return f"{LAYOUT}{self.path}{_suffix(self.tag, self.digest)}"


@dataclasses.dataclass(frozen=True, slots=True)
class ArchiveReference:
    """A bundle in one file: the tar of an OCI image layout.

    Attributes:
        path: The file.
        tag: Name of the bundle in it; None for the only one.
        digest: Digest of the manifest that is meant.
        version: Version that the tag was written as, where that is not the tag itself.
    """

    path: Path
    tag: str | None = None
    digest: str | None = None
    version: str | None = None

    def __str__(self) -> str:
        """Return the reference as `parse_reference` takes it."""
        return f"{ARCHIVE}{self.path}{_suffix(self.tag, self.digest)}"


@dataclasses.dataclass(frozen=True, slots=True)
class RegistryReference:
    """A bundle in a registry.

    Attributes:
        origin: Host, with the port when one is given.
        repository: Name of the repository.
        tag: Tag; None when only the digest is given, or for the registry's default.
        digest: Digest of the manifest that is meant.
        version: Version that the tag was written as, where that is not the tag itself.
    """

    origin: str
    repository: str
    tag: str | None = None
    digest: str | None = None
    version: str | None = None

    def __str__(self) -> str:
        """Return the reference as `parse_reference` takes it."""
        return f"{self.origin}/{self.repository}{_suffix(self.tag, self.digest)}"


@dataclasses.dataclass(frozen=True, slots=True)
class WebReference:
    """A bundle in one file on the web.

    Attributes:
        url: Address of the file.
        archive: Digest of the file, which vouches for it.
        tag: Name of the bundle in it; None for the only one.
        digest: Digest of the manifest that is meant.
        version: Version that the tag was written as, where that is not the tag itself.
    """

    url: str
    archive: str
    tag: str | None = None
    digest: str | None = None
    version: str | None = None

    def __str__(self) -> str:
        """Return the reference as `parse_reference` takes it: file and bundle have digests."""
        return f"{self.url}#{self.archive}{_suffix(self.tag, self.digest)}"


BundleReference = LayoutReference | ArchiveReference | RegistryReference | WebReference
Reference = DirectoryReference | BundleReference


def parse_reference(text: str) -> Reference:
    """Read a reference of any kind.

    Raises:
        UsageError: The text is none; says what is wrong with it.
    """
    if not text or "\0" in text:
        raise UsageError("an empty reference names nothing", hint=EXAMPLES)
    if text.startswith(LAYOUT):
        return LayoutReference(*_local(text, LAYOUT))
    if text.startswith(ARCHIVE):
        return ArchiveReference(*_local(text, ARCHIVE))
    if text.startswith(_WEB):
        return _web(text)
    if _is_directory(text):
        return DirectoryReference(_path(text))
    if "://" in text:
        message = f"{printable(text.partition('://')[0][:40])}:// is no way to get a bundle"
        hint = "give https://HOST/FILE#sha256:… for a file on the web, or a registry without scheme"
        raise UsageError(message, hint=hint)
    return _registry(text)


def is_tag(text: str) -> bool:
    """Tell whether a text can be a tag."""
    return _TAG.fullmatch(text) is not None


def is_digest(text: str) -> bool:
    """Tell whether a text is a digest of the one algorithm that is used."""
    return _DIGEST.fullmatch(text) is not None


def tag_of_version(version: str) -> str:
    """Return the tag that stands for a version: ``+`` is no letter of tags and becomes ``_``.

    Raises:
        UsageError: The version cannot be a tag.
    """
    tag = version.replace("+", "_")
    if not is_tag(tag):
        message = f"version {version} cannot be a tag"
        hint = "name a tag: up to 128 letters, digits, dots, dashes and underscores"
        raise UsageError(message, hint=hint)
    return tag


def version_of_tag(tag: str) -> str:
    """Return the version that a tag stands for, the inverse of `tag_of_version`.

    No version of an artifact holds ``_`` (Semantic Versioning), so the one that a tag of that
    form holds was a ``+``; any other tag is returned as it is.
    """
    version = tag.replace("_", "+")
    return version if _BUILD.fullmatch(version) else tag


def _suffix(tag: str | None, digest: str | None) -> str:
    return (f":{tag}" if tag else "") + (f"@{digest}" if digest else "")


def _is_directory(text: str) -> bool:
    """Tell a path from the name of a registry (see the module's description)."""
    first, slash, rest = text.partition("/")
    if not slash or not first or first in {".", "..", "~"}:
        return True
    if "://" in text:
        return False
    looks_like_host = first == "localhost" or any(c in first for c in ".:@[")
    pinned = ":" in rest or "@" in rest
    return not looks_like_host or (not pinned and _is_there(text))


def _is_there(text: str) -> bool:
    """Tell whether there is something of a name, which may be one that no file can have."""
    return os.path.exists(text)  # noqa: PTH110 - Path.exists raises for a name that is too long


def _path(text: str) -> Path:
    """Return a path that a file can have.

    Raises:
        UsageError: It is longer than the system allows, or no text.
    """
    path = Path(text)
    try:
        path.lstat()
    except ValueError as error:
        raise UsageError(f"{printable(text)} is no path: {error}", hint=EXAMPLES) from error
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            message = f"{printable(text[:80])}… cannot be a path: it is too long"
            raise UsageError(message, hint=EXAMPLES) from error
    return path


def _local(text: str, scheme: str) -> tuple[Path, str | None, str | None, str | None]:
    """Return path, tag, digest and version of a layout or archive."""
    rest, digest = _split_digest(text.removeprefix(scheme), text)
    path, colon, written = rest.partition(":")
    tag, version = _tag(written)
    if not path:
        raise UsageError(f"{printable(text)} names no path", hint=EXAMPLES)
    if colon and os.path.exists(rest):  # noqa: PTH110 - Path raises where a path is too long
        message = f"{rest} is there, but behind a colon begins a tag, in {printable(text)}"
        raise UsageError(message, hint="give it a name without a colon")
    if colon and not is_tag(tag):
        message = f"{tag!r} is not a tag, in {printable(text)}"
        hint = "a tag has up to 128 letters, digits, dots, dashes and underscores; paths no colon"
        raise UsageError(message, hint=hint)
    return _path(path), tag or None, digest, version


def _registry(text: str) -> RegistryReference:
    origin, _, rest = text.partition("/")
    if "@" in origin:
        message = "a reference holds no user name or password"
        raise UsageError(message, hint="log in with: rra registry login HOST; give HOST/REPOSITORY")
    host = _HOST.fullmatch(origin)
    if host is None or len(origin) > _MAX_HOST or int(host["port"] or 1) > 65535:
        message = f"{origin!r} is not the name of a host, in {printable(text)}"
        raise UsageError(message, hint=EXAMPLES)
    rest, digest = _split_digest(rest, text)
    repository, colon, written = rest.partition(":")
    tag, version = _tag(written)
    if not _REPOSITORY.fullmatch(repository) or len(repository) > _MAX_REPOSITORY:
        message = f"{repository!r} is not the name of a repository, in {printable(text)}"
        hint = "lower-case letters, digits and single . _ - between them, parts separated by /"
        raise UsageError(message, hint=f"{hint}; put ./ in front of a directory")
    if colon and not is_tag(tag):
        message = f"{tag!r} is not a tag, in {printable(text)}"
        raise UsageError(message, hint=EXAMPLES)
    return RegistryReference(origin, repository, tag or None, digest, version)


def _web(text: str) -> WebReference:
    """Read an address; a password that may be in it is never said again."""
    url, sharp, rest = text.partition("#")
    found = _ADDRESS.fullmatch(url)
    authority = url.partition("://")[2].partition("/")[0]
    if "@" in authority:
        message = "an address holds no user name or password"
        raise UsageError(message, hint="download the file yourself and give oci-archive:FILE")
    if found is None or len(url) > _MAX_ADDRESS:
        message = f"{url[:200]!r} is not the address of a file"
        hint = "write https://HOST/PATH, with %20 for a space and so on"
        raise UsageError(message, hint=hint)
    host = _HOST.fullmatch(authority)
    if host is None or len(authority) > _MAX_HOST or int(host["port"] or 1) > 65535:
        message = f"{authority!r} is not the name of a host, in {url}"
        raise UsageError(message, hint="host names are written in small letters, port behind a :")
    name = authority.removesuffix(f":{host['port']}") if host["port"] else authority
    if found["scheme"] == "http" and not is_loopback(name.strip("[]")):
        message = f"{url} goes without TLS, which is for this machine only"
        raise UsageError(message, hint=f"write https:{url.removeprefix('http:')}")
    if not sharp:
        message = f"nothing vouches for what comes from {url}"
        hint = (
            f"write '{url}#sha256:…' with the SHA-256 of the file, from whoever published it;"
            " what is there now can be hashed too, which proves nothing."
            " A registry is named without a scheme: HOST/REPOSITORY:TAG"
        )
        raise UsageError(message, hint=hint)
    rest, digest = _split_digest(rest, text)
    archive, written = rest[:_LENGTH], rest[_LENGTH:]
    if not is_digest(archive) or written[:1] not in {"", ":"}:
        message = f"{rest[:100]!r} is not the digest of a file, in {printable(text)}"
        hint = "behind # stand sha256: and 64 lower-case hexadecimal digits, as sha256sum prints"
        raise UsageError(message, hint=hint)
    tag, version = _tag(written[1:])
    if written and not is_tag(tag):
        raise UsageError(f"{tag!r} is not a tag, in {printable(text)}", hint=EXAMPLES)
    return WebReference(url, archive, tag or None, digest, version)


def _tag(written: str) -> tuple[str, str | None]:
    """Return the tag that was written, and the version if it was written as one."""
    if _BUILD.fullmatch(written):
        return tag_of_version(written), written
    return written, None


def _split_digest(rest: str, text: str) -> tuple[str, str | None]:
    """Return what stands before the digest, and the digest if there is one."""
    before, at, digest = rest.rpartition("@")
    if not at or ":" not in digest:
        return rest, None
    if not is_digest(digest):
        message = f"{digest!r} is not a digest, in {printable(text)}"
        raise UsageError(message, hint="a digest is sha256: and 64 lower-case hexadecimal digits")
    return before, digest
