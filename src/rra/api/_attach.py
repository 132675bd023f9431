"""``rra attach``: a document about a bundle is put beside it, signed or not."""

from __future__ import annotations

import dataclasses
import datetime as dt
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rra._base import clock, jsontext
from rra._base.documentfile import read_limited
from rra.api import _ledger
from rra.api._open import open_bundle
from rra.api._result import Progress, VerbResult, silent
from rra.api._unpack import bundle_reference
from rra.bundle.names import printable
from rra.bundle.reference import RegistryReference, WebReference, parse_reference
from rra.errors import FormatError, Problem, UsageError

if TYPE_CHECKING:
    from rra.bundle.reader import Bundle
    from rra.registry.attaching import NewStatement
    from rra.signing import PrivateKey

_TYPES = {f"{kind}/v1": kind for kind in ("review", "audit", "reproduction", "notice")}
_NEVER = {
    "verification-plan/v1": "a plan travels inside its reproduction",
    "references/v1": "references are never attached: they would no longer be held out",
}
_WHAT = "a review, an audit, a reproduction or a notice"


@dataclasses.dataclass(frozen=True, slots=True)
class NoticeRequest:
    """A notice that is to be written.

    Attributes:
        kind: ``withdrawn``, ``superseded`` or ``embargo``.
        reason: Why, for people.
        superseded_by: What takes the place of the bundle.
        until: Day on which an embargo ends (YYYY-MM-DD).
    """

    kind: str
    reason: str
    superseded_by: str | None = None
    until: str | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Attached:
    """One statement that is attached now.

    Attributes:
        kind: What is stated; ``bundle`` for the author's signature.
        source: The file that it came from, or what made it.
        digest: Digest of its manifest, by which it is named.
        artifact_type: Kind of the manifest.
        signer: Fingerprint of the key, or of the one that a signature file names; None when it
            is not signed, or with a certificate.
        signed: Whether there is a signature.
        attempt: Which attempt a reproduction is, and of how many.
        verdict: What a reproduction found.
    """

    kind: str
    source: str
    digest: str
    artifact_type: str
    signed: bool
    signer: str | None = None
    attempt: tuple[int, int] | None = None
    verdict: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON."""
        document = dataclasses.asdict(self)
        attempt = document.pop("attempt")
        if attempt is not None:
            document["attempt"], document["attempts"] = attempt
        return {key: value for key, value in document.items() if value is not None}


@dataclasses.dataclass(frozen=True, kw_only=True)
class AttachReport(VerbResult):
    """What was attached.

    Attributes:
        reference: The bundle, with its digest, which is the same as before.
        digest: Digest of its manifest.
        core: Core of the artifact.
        attached: The statements.
    """

    reference: str
    digest: str
    core: str
    attached: tuple[Attached, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the result as plain JSON."""
        return {
            "reference": self.reference,
            "digest": self.digest,
            "core": self.core,
            "attached": [one.to_json() for one in self.attached],
        }


@dataclasses.dataclass(frozen=True, slots=True)
class _Draft:
    """A document that is to be attached, and where it came from."""

    kind: str
    document: Mapping[str, Any]
    source: str
    statement: NewStatement | None = None
    signer: str | None = None


def attach(
    reference: str,
    documents: Sequence[Path] = (),
    *,
    key: PrivateKey | None = None,
    signatures: Sequence[Path] = (),
    notice: NoticeRequest | None = None,
    plain_http: bool = False,
    progress: Progress = silent,
) -> AttachReport:
    """Attach documents to a bundle, or the author's signature; the bundle does not change.

    Everything is checked before anything is attached: each document by its schema and rules, and
    that it is about this bundle. With a reproduction go the earlier attempts on the same core
    that were made here, so that failures are published too.

    Args:
        reference: The bundle: in a registry, a folder or a file.
        documents: Files with a review, audit, reproduction or notice.
        key: Key to sign each of them with; without one they are attached unsigned. Without any
            document, the bundle itself is signed.
        signatures: Sigstore bundles that another tool made, each around such a document.
        notice: A notice to write.
        plain_http: Speak to a registry without TLS.
        progress: Called with one line for each step.

    Raises:
        UsageError: There is no such bundle or file, nothing to attach, or a document is about
            another bundle.
        FormatError: A document breaks the format; carries every problem.
        LoginError: The registry wants a login, or refuses the one it was given.
        RegistryError: The registry does not answer, or refuses.
        StorageError: The disk is full or refuses.
    """
    from rra.registry.attaching import attach_statement, signed_by, unsigned
    from rra.registry.statements import AUTHORS, author_statement

    named = bundle_reference(reference)
    if isinstance(named, WebReference):
        message = f"{reference} is a file of the web, which is only read"
        raise UsageError(message, hint="rra copy it to a folder, a file or a registry first")
    store, bundle = open_bundle(named, progress=progress, plain_http=plain_http, ask=False)
    drafts = [_read(path, bundle) for path in documents]
    drafts += [_read_signature(path, bundle) for path in signatures]
    if notice is not None:
        drafts.append(_notice(notice, bundle))
    if not drafts and key is not None:
        drafts.append(_Draft(AUTHORS, author_statement(bundle), "the bundle"))
    if not drafts:
        message = "nothing to attach"
        raise UsageError(message, hint=f"give {_WHAT}, a signature, or --sign to sign the bundle")
    earlier, problems = _earlier(drafts, bundle)
    attached = []
    for draft in (*earlier, *drafts):
        statement = draft.statement
        if statement is None and key is not None:
            statement = signed_by(key, draft.kind, draft.document, bundle)
        statement = statement or unsigned(draft.kind, draft.document)
        progress(f"attaching {draft.kind}: {draft.source}")
        kept = attach_statement(store, bundle, statement)
        signer = draft.signer if draft.statement else key.public.fingerprint if key else None
        attached.append(_attached(draft, statement, kept.digest, signer))
    return AttachReport(
        reference=str(dataclasses.replace(named, digest=bundle.descriptor.digest)),
        digest=bundle.descriptor.digest,
        core=bundle.config.core,
        attached=tuple(attached),
        problems=tuple(problems),
    )


def _attached(draft: _Draft, statement: NewStatement, digest: str, signer: str | None) -> Attached:
    reproduction = draft.kind == "reproduction"
    document = draft.document
    return Attached(
        kind=draft.kind,
        source=draft.source,
        digest=digest,
        artifact_type=statement.media_type,
        signed=bool(statement.annotations),
        signer=signer,
        attempt=(document["plan"]["attempt"], document["attempts"]) if reproduction else None,
        verdict=document["verdict"] if reproduction else None,
    )


# --------------------------------------------------------------------------------- reading


def _read(path: Path, bundle: Bundle) -> _Draft:
    """Read a document and insist that it is valid and about the bundle."""
    data = _bytes(path)
    try:
        said = jsontext.parse_json(data, source=str(path)).data
    except FormatError as error:
        what = f"{path} is no JSON document"
        raise FormatError(what, problems=error.problems, hint=f"give {_WHAT}") from error
    kind = _kind(said, path)
    return _Draft(kind, _checked(data, kind, str(path), bundle), str(path))


def _kind(said: Any, path: Path) -> str:
    name = said.get("type") if isinstance(said, dict) else None
    if isinstance(name, str) and name in _NEVER:
        raise UsageError(f"{path} cannot be attached: {_NEVER[name]}", hint=f"give {_WHAT}")
    if not isinstance(name, str) or name not in _TYPES:
        message = f"{path} is not {_WHAT}: its type is {name!r}"
        raise UsageError(message, hint=f"the types are {', '.join(_TYPES)}")
    return _TYPES[name]


def _checked(data: bytes, kind: str, source: str, bundle: Bundle) -> dict[str, Any]:
    """Return a document that is valid and about a bundle."""
    from rra.registry.statements import is_about, read_document

    document, problems = read_document(data, kind, source)
    if document is None or problems:
        message = f"{source} breaks the format in {len(problems)} places"
        if len(problems) == 1:
            message = str(problems[0])
        hint = "nothing was attached; correct it, or have it made again"
        raise FormatError(message, problems=problems, hint=hint)
    if not is_about(document, bundle):
        about = document["core"]
        message = f"{source} is about core {about}, and the bundle has {bundle.config.core}"
        if about == bundle.config.core:
            message = (
                f"{source} is about bundle {document['bundle']}, not {bundle.descriptor.digest}"
            )
        hint = "nothing was attached; name the bundle that the document is about"
        raise UsageError(message, hint=hint)
    return document


def _read_signature(path: Path, bundle: Bundle) -> _Draft:
    """Read a Sigstore bundle of another tool; whether it fits a key is for readers to see."""
    from rra.registry.attaching import signed
    from rra.registry.statements import canonical_bytes
    from rra.signing import kind_of, parse_bundle

    data = _bytes(path)
    parsed = parse_bundle(data)
    statement = parsed.statement()
    digest = bundle.descriptor.digest
    if not statement.is_about(digest):
        message = f"{path} is a statement about something else than {digest}"
        raise UsageError(message, hint="sign a statement whose subject is the bundle's manifest")
    kind = kind_of(statement.predicate_type)
    if kind is None:
        message = f"{path} states {statement.predicate_type[:200]}, which is none of this format"
        raise UsageError(message, hint="its predicate type has to be one of this format")
    document = _checked(canonical_bytes(statement.predicate), kind, str(path), bundle)
    return _Draft(kind, document, str(path), signed(kind, data), parsed.hinted_fingerprint)


def _bytes(path: Path) -> bytes:
    try:
        return read_limited(path, jsontext.MAX_BYTES)
    except OSError as error:
        message = f"{path} cannot be read: {error.strerror}"
        raise UsageError(message, hint="check its path and its mode") from error


def _notice(request: NoticeRequest, bundle: Bundle) -> _Draft:
    from rra.registry.statements import canonical_bytes

    manifest = bundle.config.artifact_manifest()
    document: dict[str, Any] = {
        "type": "notice/v1",
        "artifact": manifest.name,
        "version": manifest.version,
        "core": bundle.config.core,
        "bundle": bundle.descriptor.digest,
        "kind": request.kind,
        "issued": clock.iso(clock.now()),
        "reason": request.reason,
    }
    _insist(request)
    if request.superseded_by is not None:
        document["superseded_by"] = {"reference": request.superseded_by}
    if request.until is not None:
        document["until"] = request.until
    checked = _checked(canonical_bytes(document), "notice", "the notice", bundle)
    if request.superseded_by is not None:
        _insist_reference(request.superseded_by)
    return _Draft("notice", checked, printable(f"{request.kind}: {request.reason}"))


def _insist(request: NoticeRequest) -> None:
    """Insist that the options of a notice go together, in the words of who gives them.

    Raises:
        UsageError: They do not, or the day is none.
    """
    if (request.kind == "superseded") is not (request.superseded_by is not None):
        message = "a bundle is superseded by another, which --superseded-by names"
        raise UsageError(message, hint="give both, --notice superseded and --superseded-by")
    if request.until is not None and request.kind != "embargo":
        message = f"only an embargo has a day on which it ends, not {request.kind}"
        raise UsageError(message, hint="leave --until away")
    try:
        dt.date.fromisoformat(request.until or "2000-01-01")
    except ValueError as error:
        message = f"{request.until} is not a day"
        raise UsageError(message, hint="write --until YYYY-MM-DD") from error


def _insist_reference(text: str) -> None:
    """Insist that what takes the place of a bundle can be found by everybody.

    Raises:
        UsageError: It is no reference, or one of a place on this machine.
    """
    hint = "write HOST/REPOSITORY:TAG or https://…#sha256:…, as readers will give it to rra"
    named = parse_reference(text)
    if not isinstance(named, RegistryReference | WebReference):
        message = f"--superseded-by {printable(text)} names nothing that readers could get"
        raise UsageError(message, hint=hint)


# -------------------------------------------------------------------------------- attempts


def _earlier(drafts: Sequence[_Draft], bundle: Bundle) -> tuple[list[_Draft], list[Problem]]:
    """Return the earlier attempts that belong to the reproductions, and what is missing of them.

    Spec: reproduction/attempts-published.
    """
    given = [one for one in drafts if one.kind == "reproduction"]
    if not given:
        return [], []
    newest = max(one.document["plan"]["attempt"] for one in given)
    nonces = {one.document["plan"]["nonce"] for one in given}
    numbers = {one.document["plan"]["attempt"] for one in given}
    found, problems = [], []
    for path, document in _ledger.all_of(
        _ledger.VERIFICATIONS, bundle.config.core, _ledger.REPRODUCTION
    ):
        plan = document.get("plan", {})
        attempt, nonce = plan.get("attempt"), plan.get("nonce")
        if nonce in nonces or not isinstance(attempt, int) or attempt >= newest:
            continue
        try:
            draft = _read(path, bundle)
        except (FormatError, UsageError) as error:
            problems.append(
                _missing(f"attempt {attempt} cannot be attached: {error.message}", path)
            )
            continue
        found.append(draft)
        numbers.add(attempt)
    gone = [number for number in range(1, newest) if number not in numbers]
    if gone:
        which = ", ".join(map(str, gone))
        message = f"attempt {which} of {newest} left no result here and is not attached"
        problems.append(_missing(message, Path(given[-1].source)))
    return sorted(found, key=lambda one: int(one.document["plan"]["attempt"])), problems


def _missing(message: str, path: Path) -> Problem:
    return Problem(
        message,
        str(path),
        clause="reproduction/attempts-published",
        hint="readers see the number of attempts all the same",
        severity="warning",
    )
