"""``rra key``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from rra import api
from rra.cli.passphrase import new_passphrase, passphrase_stdin_option
from rra.cli.text import next_step, word
from rra.cli.verb import VerbCommand, answer, json_option, refusing, safe

if TYPE_CHECKING:
    from rra.api._key_generate import NewKey
    from rra.api._key_show import ShownKey


@click.group("key")
def command() -> None:
    """Keys that statements about artifacts are signed with: make one, show one."""


@command.command(
    "generate",
    cls=VerbCommand,
    examples=("rra key generate", "rra key generate keys/review --algorithm ecdsa-p256"),
)
@click.argument("name", default="rra", metavar="[NAME]", type=click.Path(path_type=Path))
@click.option(
    "--algorithm",
    type=click.Choice(["ed25519", "ecdsa-p256"]),
    default="ed25519",
    show_default=True,
    help="How the key signs.",
)
@passphrase_stdin_option
@click.option("--unencrypted", is_flag=True, help="Leave the key open to whoever has the file.")
@json_option
def generate(
    name: Path, algorithm: str, passphrase_stdin: bool, unencrypted: bool, as_json: bool
) -> None:
    """Make a key: NAME.key, which stays with you, and NAME.pub, which goes to your readers.

    NAME.key is encrypted with a passphrase, asked for twice on a terminal, and only you may read
    the file. NAME is rra by default. Files that are there are never overwritten. openssl reads
    both, cosign the public one.
    """
    if passphrase_stdin and unencrypted:
        raise click.UsageError("give --passphrase-stdin or --unencrypted, not both")

    with refusing("key-generate", as_json=as_json):
        secret = None if unencrypted else new_passphrase(from_stdin=passphrase_stdin)
    answer(
        "key-generate",
        lambda progress: api.key_generate(
            name, passphrase=secret, algorithm=algorithm, progress=progress
        ),
        _render_new,
        as_json=as_json,
    )


def _render_new(result: NewKey) -> str:
    secret = "under the passphrase" if result.encrypted else "not encrypted: guard the file"
    lines = [
        f"private      {result.private} ({secret})",
        f"public       {result.public} (for your readers)",
        f"algorithm    {result.algorithm}",
        f"fingerprint  {result.fingerprint}",
    ]
    step = next_step(f"rra attach REFERENCE --sign --key {word(result.private)}")
    return "\n".join([*map(safe, lines), step])


@command.command(
    "show", cls=VerbCommand, examples=("rra key show rra.pub", "rra key show review.pub --json")
)
@click.argument("path", metavar="FILE", type=click.Path(path_type=Path))
@json_option
def show(path: Path, as_json: bool) -> None:
    """Show the fingerprint of a public key, to compare it with what its owner tells you."""
    answer(
        "key-show",
        lambda progress: api.key_show(path, progress=progress),
        _render_shown,
        as_json=as_json,
    )


def _render_shown(result: ShownKey) -> str:
    return f"{safe(str(result.public))}\n{result.algorithm}\n{result.fingerprint}"
