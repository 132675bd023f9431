"""Canonical JSON (RFC 8785): the bytes that are hashed."""

from __future__ import annotations

from typing import Any

import rfc8785

from rra._base.files import sha256_bytes


def dumps(value: Any) -> bytes:
    """Return the RFC 8785 form of a JSON value.

    Raises:
        rfc8785.CanonicalizationError: for a value that JSON cannot carry (NaN, integers
            beyond 2^53), which is a fault of the caller.
    """
    return rfc8785.dumps(value)


def digest(value: Any) -> str:
    """Return the digest of a JSON value's canonical form as ``sha256:<hex>``."""
    return sha256_bytes(dumps(value))
