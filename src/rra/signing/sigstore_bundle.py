"""Sigstore bundles v0.3: an envelope and what is needed to check it, in one JSON document.

sigstore/protobuf-specs, ``sigstore_bundle.proto``, in its JSON form. Read here: one DSSE envelope
with either the hint of a public key or a certificate; log entries and time stamps are the business
of `rra.signing.keyless`.
"""

from __future__ import annotations

import base64
import dataclasses
import re
from typing import Any

from rra._base import canonical
from rra._base.jsontext import parse_json
from rra.signing.dsse import Envelope, parse_envelope
from rra.signing.names import BUNDLE_MEDIA_TYPE, PAYLOAD_TYPE
from rra.signing.reading import fault, mapping, shown
from rra.signing.statement import Statement, parse_statement

MAX_BYTES = 32 * 1024 * 1024
"""Size up to which a Sigstore bundle is read."""

_READ = (BUNDLE_MEDIA_TYPE, "application/vnd.dev.sigstore.bundle+json;version=0.3")
_MATERIALS = ("publicKey", "certificate", "x509CertificateChain")
_FINGERPRINT = re.compile(r"sha256:[0-9a-f]{64}")


@dataclasses.dataclass(frozen=True, slots=True)
class SigstoreBundle:
    """A signed envelope with what says who signed it.

    Attributes:
        envelope: What is signed, and the signature.
        hint: What the signer calls the public key; None where there is a certificate.
    """

    envelope: Envelope
    hint: str | None

    @property
    def has_certificate(self) -> bool:
        """Whether a certificate says who signed (keyless), not the hint of a key."""
        return self.hint is None

    @property
    def hinted_fingerprint(self) -> str | None:
        """The fingerprint that the hint stands for, when it has one of the two usual forms.

        These are ``sha256:<hex>`` and, as cosign writes it, the same digest in base64.
        """
        hint = self.hint or ""
        if _FINGERPRINT.fullmatch(hint):
            return hint
        try:
            digest = base64.b64decode(hint, validate=True)
        except ValueError:
            return None
        return f"sha256:{digest.hex()}" if len(digest) == 32 else None

    def statement(self) -> Statement:
        """Return what is stated; whether the signature fits is another question.

        Raises:
            FormatError: The payload is not an in-toto statement.
        """
        if self.envelope.payload_type != PAYLOAD_TYPE:
            raise fault(f"the payload is {shown(self.envelope.payload_type)}, not {PAYLOAD_TYPE}")
        return parse_statement(self.envelope.payload)

    def to_bytes(self) -> bytes:
        """Return the bundle of a key as canonical JSON (RFC 8785).

        Raises:
            ValueError: It has a certificate; such a bundle is passed on as it is.
        """
        if self.hint is None:
            raise ValueError("a bundle with a certificate is not written here")
        return canonical.dumps(
            {
                "mediaType": BUNDLE_MEDIA_TYPE,
                # No entries of a log; readers in Python insist on the empty list.
                "verificationMaterial": {"publicKey": {"hint": self.hint}, "tlogEntries": []},
                "dsseEnvelope": self.envelope.to_json(),
            }
        )


def hint_of(fingerprint: str) -> str:
    """Return the hint of a public key as cosign writes it: its SHA-256 in base64."""
    return base64.b64encode(bytes.fromhex(fingerprint.removeprefix("sha256:"))).decode("ascii")


def parse_bundle(data: bytes) -> SigstoreBundle:
    """Read a Sigstore bundle with a DSSE envelope.

    Raises:
        FormatError: It is too large, no JSON (a key given twice counts as that), of another
            version, or lacks a part.
    """
    if len(data) > MAX_BYTES:
        raise fault(f"the signature is larger than {MAX_BYTES} bytes")
    members = mapping(parse_json(data, source="signature").data, "the signature")
    media_type = members.get("mediaType")
    if media_type not in _READ:
        raise fault(f"{shown(media_type)} is not the media type of a Sigstore bundle v0.3")
    if "messageSignature" in members:
        raise fault("the signature is over a plain file, not over a statement")
    hint = _hint(mapping(members.get("verificationMaterial"), "the verification material"))
    return SigstoreBundle(parse_envelope(members.get("dsseEnvelope")), hint)


def _hint(material: Any) -> str | None:
    """Return the hint of the key; None where a certificate is given."""
    given = [name for name in _MATERIALS if name in material]
    if given == ["certificate"]:
        mapping(material["certificate"], "the certificate")
        return None
    if given != ["publicKey"]:
        named = " and ".join(given) or "neither"
        raise fault(f"a public key or one certificate has to say who signed, not {named}")
    hint = mapping(material["publicKey"], "the public key").get("hint", "")
    if not isinstance(hint, str) or len(hint) > 1000:
        raise fault("the hint of the public key is not a text, or a very long one")
    return hint
