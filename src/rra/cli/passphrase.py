"""Asking for passphrases: on a terminal, or from standard input; never as an argument."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import click

from rra.errors import UsageError

_MAX = 4096


def passphrase_stdin_option(function: Callable[..., None]) -> Callable[..., None]:
    """Add ``--passphrase-stdin``."""
    return click.option(
        "--passphrase-stdin", is_flag=True, help="Read the passphrase from standard input."
    )(function)


def new_passphrase(*, from_stdin: bool) -> bytes:
    """Return a passphrase for a new key: from standard input, or typed twice.

    Raises:
        UsageError: It is empty or no line of text; nobody can be asked.
    """
    if from_stdin:
        return _from_stdin()
    _insist_on_terminal("to leave the key unencrypted, say --unencrypted")
    typed: str = click.prompt(
        "Passphrase of the new key", hide_input=True, confirmation_prompt=True, err=True
    )
    return typed.encode()


def passphrase_of(path: Path, *, from_stdin: bool) -> bytes | None:
    """Return the passphrase of a private key: from standard input, or typed; None if it has none.

    Raises:
        UsageError: The file cannot be read; the passphrase is empty or no line of text; nobody
            can be asked.
        FormatError: The file is larger than any key, or a key that only cosign opens.
    """
    from rra.signing.keys import is_encrypted, read_key_file, refuse_cosign_key

    pem = read_key_file(path)
    refuse_cosign_key(pem, str(path))
    if from_stdin:
        return _from_stdin()
    if not is_encrypted(pem):
        return None
    _insist_on_terminal("")
    typed: str = click.prompt(f"Passphrase of {path}", hide_input=True, err=True)
    return typed.encode()


def _insist_on_terminal(more: str) -> None:
    if not sys.stdin.isatty():
        hint = "hand it over with --passphrase-stdin"
        raise UsageError(
            "a passphrase is needed and there is no terminal to ask on",
            hint=f"{hint}; {more}" if more else hint,
        )


def _from_stdin() -> bytes:
    """Return the one line of standard input, without its end."""
    given = sys.stdin.buffer.read(_MAX + 1)
    line = given.removesuffix(b"\n").removesuffix(b"\r")
    if not line or len(given) > _MAX or any(byte in line for byte in b"\n\r\0"):
        raise UsageError(
            "standard input is not one line with a passphrase",
            hint=f"hand over one line of at most {_MAX} bytes",
        )
    return line
