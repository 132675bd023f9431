"""Keyless signatures: a certificate of minutes, a log entry, and a time; checked offline.

The library `sigstore` does the checking against a trusted root that the reader keeps: the chain to
an authority, valid at a time that a log or a time stamp authority vouches for; the entry's proof
and checkpoint; the entry's agreement with the envelope. Which identities count is decided here.
"""

from __future__ import annotations

import datetime as dt
import functools
from pathlib import Path
from typing import TYPE_CHECKING

from rra.errors import FormatError
from rra.signing.reading import plain
from rra.signing.sigstore_bundle import SigstoreBundle
from rra.signing.statement import Statement
from rra.signing.trust import Identity, SignatureState, Trust, Verification, accepted, invalid

if TYPE_CHECKING:
    from cryptography.x509 import Certificate
    from sigstore.models import Bundle
    from sigstore.verify import Verifier

_ISSUER_V2 = "1.3.6.1.4.1.57264.1.8"
_ISSUER_V1 = "1.3.6.1.4.1.57264.1.1"
_USER_NAME = "1.3.6.1.4.1.57264.1.7"
"""Extensions of a certificate (fulcio, ``docs/oid-info.md``)."""

_MAX_REASON = 300


def verify_certificate(
    data: bytes, bundle: SigstoreBundle, statement: Statement, trust: Trust
) -> Verification:
    """Say what a signature with a certificate comes to.

    Args:
        data: The Sigstore bundle.
        bundle: The same, as it was read here.
        statement: What is stated.
        trust: Whom the reader trusts, with a trusted root.

    Raises:
        FormatError: The reader's trusted root cannot be used.
    """
    if trust.trusted_root is None:
        return _unknown(statement, "no trusted root is given that the certificate is checked with")
    try:
        import sigstore  # noqa: F401 - an extra
    except ImportError:
        return _unknown(statement, "checking a certificate needs the extra rra[sigstore]")
    verifier, authorities = _trusted(trust.trusted_root, trust.trusted_root.stat().st_mtime_ns)
    try:
        return _checked(data, bundle, statement, trust, verifier, authorities)
    except Exception as error:  # noqa: BLE001 - whatever a stranger's data does, it is refused
        return invalid(f"the signature with a certificate does not hold: {_reason(error)}")


def _checked(
    data: bytes,
    bundle: SigstoreBundle,
    statement: Statement,
    trust: Trust,
    verifier: Verifier,
    authorities: tuple[Certificate, ...],
) -> Verification:
    """Return what a signature comes to; raises what the library raises when it does not hold."""
    from sigstore.models import Bundle

    theirs = Bundle.from_json(data)
    certificate = theirs.signing_certificate
    if not any(_has_issued(one, certificate) for one in authorities):
        return _unknown(statement, "the certificate is of no authority of the trusted root")
    envelope = bundle.envelope
    if verifier.verify_dsse(theirs, _Anybody()) != (envelope.payload_type, envelope.payload):
        return invalid("the signature has two readings")
    return accepted(_identity(certificate), statement, trust, _signed_at(verifier, theirs))


def _reason(error: Exception) -> str:
    said = plain(" ".join(str(error).split())) or type(error).__name__
    return said if len(said) <= _MAX_REASON else said[: _MAX_REASON - 1] + "…"


def _unknown(statement: Statement, reason: str) -> Verification:
    return Verification(SignatureState.KEY_UNKNOWN, statement=statement, reason=reason)


class _Anybody:
    """A policy of the library that leaves the question of who to us."""

    def verify(self, cert: Certificate) -> None:
        """Accept every certificate that the library finds good."""
        del cert


@functools.lru_cache(maxsize=4)
def _trusted(root: Path, changed: int) -> tuple[Verifier, tuple[Certificate, ...]]:
    """Return what checks against a trusted root, and the certificates of its authorities.

    Args:
        root: File of the trusted root.
        changed: When it was changed, so that it is read again after that.

    Raises:
        FormatError: It is no trusted root.
    """
    del changed
    from sigstore.models import TrustedRoot
    from sigstore.verify import Verifier

    try:
        found = TrustedRoot.from_file(str(root))
        return Verifier(trusted_root=found), tuple(found.get_fulcio_certs())
    except Exception as error:
        raise FormatError(
            f"{root} cannot be used as a trusted root: {_reason(error)}",
            hint="take it from the project that issued the certificates, whole and unchanged",
        ) from error


def _has_issued(authority: Certificate, certificate: Certificate) -> bool:
    """Tell whether a certificate bears an authority's signature, at whatever time it was valid."""
    from cryptography.exceptions import InvalidSignature

    try:
        certificate.verify_directly_issued_by(authority)
    except (InvalidSignature, ValueError, TypeError):
        return False
    return True


def _identity(certificate: Certificate) -> Identity:
    """Return whom a certificate was issued to, and who vouched for that.

    Raises:
        ValueError: It does not say so once.
    """
    from cryptography import x509

    names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    if len(names) != 1:
        raise ValueError("the certificate has to name one subject")
    (name,) = names
    subject = name.value
    if isinstance(name, x509.OtherName):
        if name.type_id.dotted_string != _USER_NAME:
            raise ValueError("the certificate names its subject in an unknown way")
        subject = _utf8_string(name.value)
    issuer = _issuer(certificate)
    if not isinstance(subject, str) or not subject or not issuer:
        raise ValueError("the certificate lacks its subject or who vouched for it")
    return Identity(subject, subject=subject, issuer=issuer)


def _issuer(certificate: Certificate) -> str:
    """Return who vouched for the subject: the later extension, or the one that it replaced."""
    from cryptography import x509

    found = {
        one.oid.dotted_string: one.value.value
        for one in certificate.extensions
        if isinstance(one.value, x509.UnrecognizedExtension)
    }
    if _ISSUER_V2 in found:
        return _utf8_string(found[_ISSUER_V2])
    return found.get(_ISSUER_V1, b"").decode()


def _utf8_string(der: bytes) -> str:
    """Return a UTF8String of DER (X.690).

    Raises:
        ValueError: It is something else.
    """
    long = der[1:2] == b"\x81" and der[2:3] >= b"\x80"
    head = 3 if long else 2
    if der[:1] != b"\x0c" or len(der) < head or der[head - 1] != len(der) - head:
        raise ValueError("a name in the certificate is no UTF8String")
    return der[head:].decode()


def _signed_at(verifier: Verifier, theirs: Bundle) -> dt.datetime | None:
    """Return the earliest time that verified evidence gives; the signature was there by then.

    The library checks the times but does not return them, so its own function is asked again,
    after all else held. Where a later version has no such function, no time is shown.
    """
    establish = getattr(verifier, "_establish_time", None)
    times = [found.time for found in establish(theirs)] if establish is not None else []
    return min(times).astimezone(dt.UTC) if times else None
