"""Data that an artifact does not bring: fetched before a launcher runs, and held to its digest.

The run itself has the network that its launcher declares, by default none; so what it reads from
elsewhere is there before. The digest in ``rra.lock`` decides, whatever a source sends, and what
is here already is only looked at. A file appears at its place whole, by one rename.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import re
import secrets
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING
from urllib.parse import quote, urlsplit

from rra._base.files import STAGING_PREFIX, remove_tree, staged_directory, storage_errors
from rra._base.progress import size_text
from rra._base.unarchive import unarchive
from rra.artifact import Artifact
from rra.artifact.lockfile import data_lock
from rra.bundle.reference import RegistryReference, parse_reference
from rra.bundle.store import Descriptor
from rra.errors import CorruptError, RegistryError, UnavailableError, UnsafePathError
from rra.launch.inputs import digest_and_size
from rra.launch.place import link_or_copy
from rra.model import DataItem, DataSource, FileLock

if TYPE_CHECKING:
    from rra.registry import Policy

OFFLINE = "RRA_OFFLINE"
"""Variable that forbids to fetch data when it is set."""

_RESOLVER = "https://doi.org/"
_RECORD = re.compile(r"(https?://[^/]+)/records?/(\d+)")
_BLOCK = 1 << 20
_ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz")

Progress = Callable[[str], None]


@dataclasses.dataclass(frozen=True, slots=True)
class FetchedItem:
    """A data item that was fetched.

    Attributes:
        id: Its id.
        source: Where it came from; ``cache`` for an earlier download.
        sha256: Its digest.
        size: Its bytes.
    """

    id: str
    source: str
    sha256: str
    size: int


def fetch_data(
    artifact: Artifact,
    launchers: Iterable[str],
    *,
    progress: Progress = lambda _: None,
    policy: Policy | None = None,
) -> list[FetchedItem]:
    """Put the data that launchers read and the artifact does not bring where it belongs.

    Args:
        artifact: The artifact.
        launchers: Ids.
        progress: Called with lines: what comes, and how far it is.
        policy: Timeouts and retries.

    Returns:
        What was fetched; what lay there with the right digest is not among it.

    Raises:
        CorruptError: What lies there is another file than the lock says.
        UnavailableError: It cannot be had: says of each source why, and what a person can do.
        StorageError: The disk is full or refuses; nothing is half-written.
    """
    manifest = artifact.manifest
    wanted = dict.fromkeys(item for name in launchers for item in manifest.launchers[name].inputs)
    found = []
    for name in wanted:
        if manifest.data[name].access != "bundled":
            got = fetch_item(artifact, name, progress=progress, policy=policy)
            found += [got] if got is not None else []
    return found


def fetch_item(
    artifact: Artifact, name: str, *, progress: Progress, policy: Policy | None = None
) -> FetchedItem | None:
    """Put one data item where it belongs; None where it lay there already. See `fetch_data`."""
    from rra.registry import Policy, cached_file

    item = artifact.manifest.data[name]
    known = artifact.lock.data.get(name) if artifact.lock is not None else None
    place = artifact.path(item.path)
    if place.exists():
        _insist(artifact, name, item, known)
        return None
    if item.access != "fetch":
        raise UnavailableError(
            f"data {name} ({item.path}) is not here, and is {item.access}",
            hint=_by_hand(item, known),
        )
    if known is not None and (kept := cached_file(known.sha256)) is not None:
        _put(kept, place)
        progress(f"{item.path}: the cache has it")
        return FetchedItem(name, "cache", known.sha256, known.size)
    if os.environ.get(OFFLINE):
        message = f"data {name} ({item.path}) is not here, and {OFFLINE} forbids to fetch it"
        raise UnavailableError(message, hint=f"unset {OFFLINE}, or {_by_hand(item, known)}")
    return _from_sources(artifact, name, known, progress, policy or Policy())


def is_folder(source: DataSource, item: DataItem) -> bool:
    """Tell whether what a source gives is an archive of a folder of data.

    It is where the path of the data has no ending, and an address ends as archives do; a DOI is
    asked for the archive of that name.
    """
    if PurePosixPath(item.path).suffix:
        return False
    if source.doi is not None:
        return True
    return source.url is not None and urlsplit(source.url).path.lower().endswith(_ARCHIVES)


def _unpacked(artifact: Artifact, file: Path, item: DataItem, known: FileLock | None) -> FileLock:
    """Unpack a folder of data at its place, and return its digest and size.

    Raises:
        CorruptError: It is damaged or holds nothing, or another folder than the lock says.
        UnsafePathError: An entry leads outside, or is neither file, folder nor link.
        StorageError: The disk is full or refuses.
    """
    place = artifact.path(item.path)
    with staged_directory(place) as staging:
        unarchive(file, staging)
        if not any(path.is_file() for path in staging.rglob("*")):
            raise CorruptError("the archive holds no file", hint="correct the source")
    try:
        found = data_lock(artifact, item.path)
        if known is None or known.sha256 == found.sha256:
            return found
    except BaseException:
        remove_tree(place)
        raise
    remove_tree(place)
    message = f"the archive holds {found.sha256}, not {known.sha256}"
    raise CorruptError(message, hint="correct the source, or lock again and say why")


def _from_sources(
    artifact: Artifact,
    name: str,
    known: FileLock | None,
    progress: Progress,
    policy: Policy,
) -> FetchedItem:
    """Try one source after the other."""
    item = artifact.manifest.data[name]
    place, faults = artifact.path(item.path), []
    for source in item.sources or []:
        where = source.url or source.doi or source.oci
        if where is None:
            continue
        progress(f"fetching {item.path} from {where}")
        try:
            # The lock has the digest of what is in an archive, and not that of the archive.
            folder = is_folder(source, item)
            with _brought(source, item, None if folder else known, progress, policy) as got:
                file, digest = got
                if not folder or (known is not None and digest == known.sha256):
                    found = FileLock(sha256=digest, size=file.stat().st_size)
                    _put(file, place)
                else:
                    progress(f"{where}: an archive, {digest}")
                    found = _unpacked(artifact, file, item, known)
        except (RegistryError, CorruptError, UnsafePathError) as error:
            faults.append(f"{error.message} ({error.hint})" if error.hint else error.message)
            progress(f"{where}: {error.message}")
            continue
        if known is None:
            progress(
                f"{item.path}: rra.lock has no digest of it; rra lock writes {found.sha256} down"
            )
        return FetchedItem(name, where, found.sha256, found.size)
    message = f"data {name} ({item.path}) could not be fetched: {'; '.join(faults)}"
    raise UnavailableError(message, hint=f"run again later, or {_by_hand(item, known)}")


@contextlib.contextmanager
def _brought(
    source: DataSource,
    item: DataItem,
    known: FileLock | None,
    progress: Progress,
    policy: Policy,
) -> Iterator[tuple[Path, str]]:
    """Yield the file that a source gives, and its digest."""
    from rra.registry import downloaded, first_download

    if source.oci is not None:
        with _of_registry(source.oci, item, known, progress, policy) as got:
            yield got
        return
    url = source.url or _file_of(str(source.doi), item, policy)
    if known is None:
        with first_download(url, progress=progress, policy=policy) as got:
            yield got
        return
    with downloaded(url, known.sha256, progress=progress, policy=policy) as file:
        yield file, known.sha256


def _file_of(doi: str, item: DataItem, policy: Policy) -> str:
    """Return the address of a file in the data set that a DOI names.

    Repositories that run InvenioRDM, such as Zenodo, give files by their names.

    Raises:
        RegistryError: It leads elsewhere.
    """
    from rra.registry import landing

    page = landing(f"{_RESOLVER}{quote(doi)}", policy=policy)
    record = _RECORD.match(page)
    if record is None:
        message = f"{doi} leads to {page}, a page from which no file can be told"
        raise RegistryError(message, hint="give the address of the file as a source with url")
    path = PurePosixPath(item.path)
    name = quote(path.name if path.suffix else f"{path.name}.zip")
    return f"{record[1]}/api/records/{record[2]}/files/{name}/content"


@contextlib.contextmanager
def _of_registry(
    text: str, item: DataItem, known: FileLock | None, progress: Progress, policy: Policy
) -> Iterator[tuple[Path, str]]:
    """Yield the layer of an OCI artifact that is the file: by digest, by title, or the only one."""
    from rra.registry import open_store

    reference = parse_reference(text)
    if not isinstance(reference, RegistryReference):
        raise RegistryError(f"{text} names no artifact of a registry", hint="correct the source")
    store = open_store(reference, notice=progress, policy=policy)
    manifest = json.loads(store.get_manifest(reference.digest)[0])
    layers = [one for one in manifest.get("layers", []) if isinstance(one, dict)]
    title = "org.opencontainers.image.title"
    fits = [one for one in layers if known is not None and one.get("digest") == known.sha256]
    named = (one.get("annotations", {}).get(title) == Path(item.path).name for one in layers)
    fits = fits or [one for one, fit in zip(layers, named, strict=True) if fit] or layers
    if len(fits) != 1:
        message = f"{text} has {len(layers)} layers, and none is named {Path(item.path).name}"
        raise RegistryError(message, hint="give a source whose file can be told")
    blob = Descriptor(str(fits[0]["mediaType"]), str(fits[0]["digest"]), int(fits[0]["size"]))
    if known is not None and blob.digest != known.sha256:
        message = f"{text} has {blob.digest}, not {known.sha256}"
        raise CorruptError(message, hint="correct the source, or lock again and say why")
    progress(f"{text}: {size_text(blob.size)}")
    with tempfile.NamedTemporaryFile(prefix="rra-data-") as file:
        with store.open(blob) as stream, storage_errors(Path(file.name)):
            while block := stream.read(_BLOCK):
                file.write(block)
            file.flush()
        yield Path(file.name), blob.digest


def _insist(artifact: Artifact, name: str, item: DataItem, known: FileLock | None) -> None:
    """Insist that what lies at the place of an item is what the lock says, where it says so."""
    place = artifact.path(item.path)
    if known is None:
        return
    digest = digest_and_size(place)[0] if place.is_file() else data_lock(artifact, item.path).sha256
    if digest != known.sha256:
        message = f"data {name}: {item.path} is {digest}, not {known.sha256} as rra.lock says"
        hint = "remove it to have it fetched, or lock again and say why it changed"
        raise CorruptError(message, hint=hint)


def _put(file: Path, place: Path) -> None:
    """Give a file its place, whole or not at all."""
    with storage_errors(place):
        place.parent.mkdir(parents=True, exist_ok=True)
        staging = place.parent / f"{STAGING_PREFIX}{secrets.token_hex(6)}"
        try:
            link_or_copy(file, staging)
            staging.chmod(0o644)
            staging.replace(place)
        finally:
            staging.unlink(missing_ok=True)


def _by_hand(item: DataItem, known: FileLock | None) -> str:
    """Say what a person has to do."""
    ways = [
        one.manual or f"get it from {one.url or one.doi or one.oci}" for one in item.sources or []
    ]
    way = "; or ".join(way.rstrip(".") for way in ways) or "ask whoever made the artifact for it"
    proof = f" (sha256 {known.sha256.removeprefix('sha256:')})" if known is not None else ""
    return f"put the data at {item.path} by hand: {way}{proof}"
