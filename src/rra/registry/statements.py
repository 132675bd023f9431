"""What others say about a bundle: which statements are attached, and what each comes to.

A statement is a manifest with the bundle as its subject and one layer: a document as it is, or a
Sigstore bundle around it. Nothing in it is believed before it was checked here, and what cannot
be used is shown with the reason rather than left out.

Source: spec, bundle, *Attached documents*; OCI Image Specification 1.1, artifacts without a config.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from rra._base import canonical
from rra._base.files import sha256_bytes
from rra.artifact.checking import check_bytes
from rra.bundle.jsonio import parse_json
from rra.bundle.reader import Bundle
from rra.bundle.store import BlobStore, Descriptor, parse_descriptor, read_blob, resolve
from rra.errors import CorruptError, FormatError, Problem, UnavailableError
from rra.signing import (
    BUNDLE_MEDIA_TYPE,
    PREDICATE_ANNOTATION,
    SignatureState,
    Trust,
    Verification,
    kind_of,
    parse_bundle,
    verify,
)

DOCUMENTS = ("review", "audit", "reproduction", "notice")
"""Documents that can be attached; the predicate ``bundle`` is no document of its own."""

AUTHORS = "bundle"
"""Kind of the statement by which an author signs the bundle itself."""

MAX_STATEMENT_BYTES = 32 * 1024 * 1024
"""Size up to which one statement is read: a document, or the base64 of it in an envelope."""

MAX_ALL_BYTES = 512 * 1024 * 1024
"""Bytes of statements that are read for one bundle; nobody gets to fill a reader's time."""

_TYPES = {f"application/vnd.rra.{kind}.v1+json": kind for kind in DOCUMENTS}
_UNSIGNED = Verification(SignatureState.UNSIGNED, reason="nobody signed it")


@dataclasses.dataclass(frozen=True, slots=True)
class AttachedStatement:
    """One statement as it was found.

    Attributes:
        descriptor: Its manifest; the digest names the statement.
        kind: ``review``, ``audit``, ``reproduction``, ``notice`` or ``bundle``; None for what is
            none of this format.
        verification: What its signature came to.
        claimed: Fingerprint of the key that it says it was signed with; nobody vouches for it.
        document: What is stated; None where it cannot be read. Valid only without `problems`.
        belongs: Whether it names this bundle and its core.
        problems: Why it cannot be used.
    """

    descriptor: Descriptor
    kind: str | None
    verification: Verification
    claimed: str | None = None
    document: Mapping[str, Any] | None = None
    belongs: bool = True
    problems: tuple[Problem, ...] = ()

    @property
    def usable(self) -> bool:
        """Whether it is a valid document about this bundle, whoever signed it."""
        known = self.kind is not None and self.document is not None
        sound = self.verification.state is not SignatureState.INVALID
        return known and sound and self.belongs and not self.problems

    @property
    def counts(self) -> bool:
        """Whether the reader can rely on it: usable, and by somebody trusted with its kind."""
        return self.usable and self.verification.trusted

    @property
    def signer(self) -> str | None:
        """Who signed, so that two statements by one signer can be told: a key or an identity.

        For a key that is not known it is what the statement claims.
        """
        identity = self.verification.identity
        if identity is None:
            return self.claimed
        return identity.fingerprint or f"{identity.subject} {identity.issuer}"

    @property
    def why_not(self) -> str:
        """Why it is not used, in words; empty when it is."""
        if self.kind is None:
            return f"not a statement of this format: {plain(self.descriptor.artifact_type)}"
        if self.problems:
            more = f" (and {len(self.problems) - 1} more)" if len(self.problems) > 1 else ""
            return f"{self.problems[0].message}{more}"
        if not self.belongs:
            return "it is about another bundle"
        if self.verification.state is SignatureState.INVALID:
            return self.verification.reason
        return ""


def plain(text: object) -> str:
    """Return what somebody wrote as one line that cannot steer a terminal or look like another.

    Everything that is not a letter, mark, number, punctuation, symbol or blank is written as an
    escape: line ends, control, formatting and direction characters.
    """
    return "".join(
        character
        if character.isprintable()
        else character.encode("unicode_escape", "surrogatepass").decode("ascii")
        for character in str(text)
    )


def document_type(kind: str) -> str:
    """Return the media type of an unsigned document, such as that of a ``review``."""
    return f"application/vnd.rra.{kind}.v1+json"


def read_statements(
    store: BlobStore, bundle: Bundle, trust: Trust, *, kinds: Collection[str] | None = None
) -> tuple[AttachedStatement, ...]:
    """Return what is attached to a bundle, each statement once, in the order of their digests.

    The same document by the same signer, attached twice, is one statement.

    Args:
        store: Where the bundle is.
        bundle: The bundle.
        trust: Whom the reader trusts.
        kinds: Kinds that are wanted; what says that it is of another kind is not fetched.

    Raises:
        RegistryError: The registry does not answer, or with an error.
        UnavailableError: There is more than can be read.
        CorruptError: The list of statements is not what vouches for it.
    """
    reader = _Reader(store, bundle, trust)
    listed = store.referrers(bundle.descriptor.digest)
    wanted = [one for one in listed if kinds is None or _may_be(one, kinds)]
    found = [reader.read(descriptor) for descriptor in wanted]
    return tuple(
        one for one in _once(found) if kinds is None or one.kind is None or one.kind in kinds
    )


def _may_be(descriptor: Descriptor, kinds: Collection[str]) -> bool:
    """Tell whether a statement can be of one of these kinds, by what its manifest says."""
    if descriptor.artifact_type != BUNDLE_MEDIA_TYPE:
        return _TYPES.get(descriptor.artifact_type or "") in kinds
    said = descriptor.annotations.get(PREDICATE_ANNOTATION)
    return said is None or kind_of(said) in kinds


def _once(found: list[AttachedStatement]) -> Iterator[AttachedStatement]:
    seen: set[object] = set()
    for one in found:
        if one.document is not None and one.usable:
            key = (
                one.kind,
                one.verification.state,
                one.signer,
                sha256_bytes(canonical_bytes(one.document)),
            )
            if key in seen:
                continue
            seen.add(key)
        yield one


@dataclasses.dataclass
class _Reader:
    """Reads statements one by one, and counts their bytes."""

    store: BlobStore
    bundle: Bundle
    trust: Trust
    read_bytes: int = 0

    def read(self, descriptor: Descriptor) -> AttachedStatement:
        signed = descriptor.artifact_type == BUNDLE_MEDIA_TYPE
        kind = _TYPES.get(descriptor.artifact_type or "")
        if signed:
            kind = kind_of(descriptor.annotations.get(PREDICATE_ANNOTATION, ""))
        if not signed and kind is None:
            return AttachedStatement(descriptor, None, _UNSIGNED, belongs=False)
        try:
            data = self._layer(descriptor)
        except (CorruptError, FormatError) as error:
            state = Verification(SignatureState.INVALID, reason=error.message)
            problem = _problem(descriptor, error.message)
            return AttachedStatement(
                descriptor, kind, state if signed else _UNSIGNED, problems=(problem,)
            )
        if signed:
            return self._signed(descriptor, kind, data)
        return self._checked(AttachedStatement(descriptor, kind, _UNSIGNED), kind, data)

    def _layer(self, descriptor: Descriptor) -> bytes:
        """Return the bytes of the one layer that a statement has."""
        data, _ = resolve(self.store, None, descriptor.digest)
        name = f"statement {descriptor.digest}"
        layers = parse_json(data, name).get("layers")
        if not isinstance(layers, list) or len(layers) != 1:
            raise FormatError(f"{name} has not exactly one layer")
        layer = parse_descriptor(layers[0], "/layers/0", name)
        self.read_bytes += min(layer.size, MAX_STATEMENT_BYTES)
        if self.read_bytes > MAX_ALL_BYTES:
            message = f"the statements on {self.bundle.where} have more than {MAX_ALL_BYTES} bytes"
            raise UnavailableError(message, hint="ask who keeps the place to remove some")
        return read_blob(self.store, layer, MAX_STATEMENT_BYTES)

    def _signed(self, descriptor: Descriptor, kind: str | None, data: bytes) -> AttachedStatement:
        digest = self.bundle.descriptor.digest
        verification = verify(data, subject=digest, trust=self.trust)
        claimed, belongs = _claim(data, digest)
        found = AttachedStatement(descriptor, kind, verification, claimed, belongs=belongs)
        if verification.statement is None:
            return found
        kind = kind_of(verification.statement.predicate_type)
        found = dataclasses.replace(found, kind=kind)
        if kind is None:
            return dataclasses.replace(found, belongs=False)
        return self._checked(found, kind, canonical_bytes(verification.statement.predicate))

    def _checked(
        self, found: AttachedStatement, kind: str | None, data: bytes
    ) -> AttachedStatement:
        """Return the statement with its document, checked."""
        document, problems = read_document(data, kind or AUTHORS, found.descriptor.digest)
        if document is None or problems:
            return dataclasses.replace(found, document=document, problems=problems)
        belongs = found.belongs and is_about(document, self.bundle)
        return dataclasses.replace(found, document=document, belongs=belongs)


def _claim(data: bytes, digest: str) -> tuple[str | None, bool]:
    """Return which key a signature names, and whether the statement names a bundle."""
    try:
        parsed = parse_bundle(data)
        return parsed.hinted_fingerprint, parsed.statement().is_about(digest)
    except FormatError:
        return None, True


def canonical_bytes(document: Any) -> bytes:
    """Return the canonical JSON of a document; its own text where there is none (RFC 8785)."""
    try:
        return canonical.dumps(document)
    except ValueError:
        return json.dumps(document).encode()


def read_document(
    data: bytes, kind: str, source: str
) -> tuple[dict[str, Any] | None, tuple[Problem, ...]]:
    """Read a document that is attached, or is to be, and check it by schema and rules.

    Args:
        data: Its bytes.
        kind: What it is.
        source: What messages call it.

    Returns:
        The document, and its faults; without a document there is at least one fault.
    """
    if kind == AUTHORS:
        return _read_author_statement(data, source)
    checked = check_bytes(data, kind, source=source)
    document = checked.document.data if checked.document is not None else None
    if not isinstance(document, dict):
        return None, checked.errors or (Problem("not a JSON object", source),)
    return document, checked.errors


def _read_author_statement(
    data: bytes, source: str
) -> tuple[dict[str, Any] | None, tuple[Problem, ...]]:
    try:
        document = parse_json(data, source)
    except FormatError as error:
        return None, error.problems
    clause = "bundle/author-statement"
    return document, tuple(
        Problem(f"{key} is missing or not a text", source, pointer=f"/{key}", clause=clause)
        for key in ("artifact", "version", "core")
        if not isinstance(document.get(key), str)
    )


def is_about(document: Mapping[str, Any], bundle: Bundle) -> bool:
    """Tell whether a valid document is about a bundle: by its core, and its digest where given."""
    named = document.get("bundle", bundle.descriptor.digest)
    return document.get("core") == bundle.config.core and named == bundle.descriptor.digest


def author_statement(bundle: Bundle) -> dict[str, str]:
    """Return what an author states by signing a bundle."""
    manifest = bundle.config.artifact_manifest()
    return {"artifact": manifest.name, "version": manifest.version, "core": bundle.config.core}


def _problem(descriptor: Descriptor, message: str) -> Problem:
    return Problem(message, descriptor.digest)
