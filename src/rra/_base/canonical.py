"""Canonical JSON (RFC 8785): the bytes that are hashed (spec: canonical-json)."""

from __future__ import annotations

from typing import Any

import rfc8785

from rra._base.files import sha256_bytes

LARGEST_INTEGER = 2**53 - 1
"""Whole numbers beyond it are not told apart by every reader of JSON (RFC 7493, I-JSON)."""


def dumps(value: Any) -> bytes:
    """Return the RFC 8785 form of a JSON value.

    Strings are written as they are: nothing is normalised.

    Raises:
        rfc8785.CanonicalizationError: for a value that has no canonical form (NaN, infinities,
            whole numbers beyond 2^53 - 1 however they are written, lone surrogates), which is
            a fault of the caller.
    """
    _refuse_large(value)
    return rfc8785.dumps(value)


def _refuse_large(value: Any) -> None:
    """Refuse whole numbers that are written as ``1e20``: written out they could not be read."""
    if isinstance(value, float):
        if value.is_integer() and abs(value) > LARGEST_INTEGER:
            message = f"{value} is a whole number beyond {LARGEST_INTEGER}"
            raise rfc8785.CanonicalizationError(message)
    elif isinstance(value, dict):
        for inner in value.values():
            _refuse_large(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            _refuse_large(inner)


def digest(value: Any) -> str:
    """Return the digest of a JSON value's canonical form as ``sha256:<hex>``."""
    return sha256_bytes(dumps(value))
