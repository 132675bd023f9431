"""Whose word on certificates counts: the authorities that the environment names."""

from __future__ import annotations

import os
import ssl
from pathlib import Path

from rra.errors import UsageError

VARIABLES = ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE")
"""Variables that name a file of authorities, the one that counts most first."""


def trusted_authorities() -> str | bool:
    """Return the file or folder of trusted authorities; True for those that come with Python.

    requests reads the first two variables by itself, and ends in an error of its own where
    there is no such file, or one that holds no certificate.

    Raises:
        UsageError: A variable names something that is none.
    """
    for variable in VARIABLES:
        named = os.environ.get(variable)
        if named:
            _check(Path(named), variable)
            return named
    return True


def _check(path: Path, variable: str) -> None:
    hint = f"{variable} names a file of certificates in PEM form; correct or unset it"
    if not path.exists():
        raise UsageError(f"{variable} names {path}, which is not there", hint=hint)
    if path.is_dir():
        return
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(cafile=path)
    except (OSError, ssl.SSLError) as error:
        why = getattr(error, "reason", None) or error.strerror or type(error).__name__
        message = f"{variable} names {path}, which holds no certificates: {why}"
        raise UsageError(message, hint=hint) from error
