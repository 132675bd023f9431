"""DSSE, the envelope around what is signed (secure-systems-lab/dsse, protocol and envelope v1).

The signature covers the type of the payload and its exact bytes, so nothing has to be brought
into a canonical form before it can be checked.
"""

from __future__ import annotations

import base64
import dataclasses
from typing import Any

from rra.signing.reading import base64_bytes, fault, mapping, text

_MAX_SIGNATURE = 1024


def pae(payload_type: str, payload: bytes) -> bytes:
    """Return the pre-authentication encoding: the bytes that a signature covers.

    ``"DSSEv1" SP LEN(type) SP type SP LEN(body) SP body``, lengths in bytes as ASCII decimals
    (DSSE protocol, "Signature Definition").
    """
    kind = payload_type.encode()
    return b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(payload), payload)


@dataclasses.dataclass(frozen=True, slots=True)
class Envelope:
    """A payload with one signature.

    Attributes:
        payload_type: Media type of the payload.
        payload: Its bytes, as they were signed.
        signature: As the algorithm writes it: 64 bytes for Ed25519, DER for ECDSA.
    """

    payload_type: str
    payload: bytes
    signature: bytes

    @property
    def signed(self) -> bytes:
        """The bytes that the signature has to fit."""
        return pae(self.payload_type, self.payload)

    def to_json(self) -> dict[str, Any]:
        """Return the envelope as JSON; no keyid, the bundle around it carries the hint."""
        return {
            "payload": base64.b64encode(self.payload).decode("ascii"),
            "payloadType": self.payload_type,
            "signatures": [{"sig": base64.b64encode(self.signature).decode("ascii")}],
        }


def parse_envelope(value: Any) -> Envelope:
    """Read an envelope from parsed JSON; members that DSSE does not know are passed over.

    Exactly one signature is read: a Sigstore bundle has no more, and a second one would leave
    open who is meant.

    Raises:
        FormatError: Something is missing, empty, or not what it should be.
    """
    members = mapping(value, "the envelope")
    signatures = members.get("signatures")
    if not isinstance(signatures, list) or len(signatures) != 1:
        count = len(signatures) if isinstance(signatures, list) else "none that can be read"
        raise fault(f"the envelope has to have exactly one signature, not {count}")
    signature = base64_bytes(mapping(signatures[0], "the signature").get("sig"), "the signature")
    if len(signature) > _MAX_SIGNATURE:
        raise fault(f"the signature has {len(signature)} bytes, more than {_MAX_SIGNATURE}")
    return Envelope(
        payload_type=text(members.get("payloadType"), "the payload type"),
        payload=base64_bytes(members.get("payload"), "the payload"),
        signature=signature,
    )
