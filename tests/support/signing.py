"""Keys that are the same in every run, and Sigstore bundles taken apart and put together."""

from __future__ import annotations

import base64
import json
from typing import Any

from cryptography.hazmat.primitives.asymmetric import ec, ed25519

from rra.signing import PrivateKey, Statement, predicate_type

DIGEST = "sha256:" + "ab" * 32
OTHER_DIGEST = "sha256:" + "cd" * 32
REVIEW = predicate_type("review")


def ed25519_key(number: int = 1) -> PrivateKey:
    """An Ed25519 key made from a number; for tests only."""
    return PrivateKey(ed25519.Ed25519PrivateKey.from_private_bytes(bytes([number]) * 32))


def ecdsa_key(number: int = 1) -> PrivateKey:
    """An ECDSA key on P-256 made from a number; for tests only."""
    return PrivateKey(ec.derive_private_key(number, ec.SECP256R1()))


def review_statement(digest: str = DIGEST, **predicate: Any) -> Statement:
    """A statement of the kind review about a digest."""
    return Statement.about(digest, "study@1.0.0", REVIEW, predicate or {"verdict": "accept"})


def members(data: bytes) -> dict[str, Any]:
    """The members of a Sigstore bundle."""
    found: dict[str, Any] = json.loads(data)
    return found


def dumped(value: Any) -> bytes:
    """JSON as bytes."""
    return json.dumps(value).encode()


def b64(data: bytes | bytearray) -> str:
    """Standard base64."""
    return base64.b64encode(data).decode()
