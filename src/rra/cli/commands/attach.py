"""``rra attach``."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rra import api
from rra.cli.passphrase import passphrase_of, passphrase_stdin_option
from rra.cli.text import next_step, table, word
from rra.cli.verb import VerbCommand, answer, json_option, plain_http_option, refusing
from rra.errors import UsageError

if TYPE_CHECKING:
    from rra.api._attach import Attached, AttachReport, NoticeRequest
    from rra.signing import PrivateKey

_FILE = click.Path(path_type=Path)


@click.command(
    "attach",
    cls=VerbCommand,
    examples=(
        "rra attach localhost:5000/lab/study:1.0.0 reproduction.json --sign --key lab.key",
        'rra attach oci-layout:bundles:1.0.0 --notice withdrawn --reason "wrong split of the data"',
    ),
)
@click.argument("reference", metavar="BUNDLE")
@click.argument("documents", metavar="[DOCUMENT]...", nargs=-1, type=_FILE)
@click.option("--sign", is_flag=True, help="Sign; without a document, the bundle itself.")
@click.option("--key", type=_FILE, help="Private key to sign with.")
@passphrase_stdin_option
@click.option(
    "--signature",
    "signatures",
    multiple=True,
    type=_FILE,
    help="Sigstore bundle that another tool made, around such a document.",
)
@click.option(
    "--notice",
    type=click.Choice(["withdrawn", "superseded", "embargo"]),
    help="Write a notice of this kind.",
)
@click.option("--reason", help="Why, for the readers of the notice.")
@click.option("--superseded-by", metavar="REFERENCE", help="What takes the place of the bundle.")
@click.option("--until", metavar="DATE", help="Day on which the embargo ends (YYYY-MM-DD).")
@plain_http_option
@json_option
def command(
    reference: str,
    documents: tuple[Path, ...],
    sign: bool,
    key: Path | None,
    passphrase_stdin: bool,
    signatures: tuple[Path, ...],
    notice: str | None,
    reason: str | None,
    superseded_by: str | None,
    until: str | None,
    plain_http: bool,
    as_json: bool,
) -> None:
    """Attach reviews, audits, reproductions or notices to a bundle, which does not change.

    Each document is checked first, and has to be about that bundle. What is not signed is shown
    to readers and never counted. With a reproduction go the earlier attempts on the same core that
    were made here, failed ones too. Without a document, --sign signs the bundle as its author.
    """
    with refusing("attach", as_json=as_json):
        private = _key(key, sign=sign, stdin=passphrase_stdin)
        wanted = _notice(notice, reason, superseded_by, until)
    answer(
        "attach",
        lambda progress: api.attach(
            reference,
            documents,
            key=private,
            signatures=signatures,
            notice=wanted,
            plain_http=plain_http,
            progress=progress,
        ),
        lambda result: _render(result, {str(path) for path in signatures}),
        as_json=as_json,
    )


def _key(path: Path | None, *, sign: bool, stdin: bool) -> PrivateKey | None:
    """Read the key.

    Raises:
        UsageError: Signing and its key were not both asked for.
    """
    if not sign:
        if path is not None or stdin:
            raise UsageError("a key was given, and nothing is to be signed", hint="add --sign")
        return None
    if path is None:
        hint = "give --key FILE; rra key generate makes one"
        raise UsageError("no key was given to sign with", hint=hint)
    from rra.signing import read_private_key

    return read_private_key(path, passphrase_of(path, from_stdin=stdin))


def _notice(
    kind: str | None, reason: str | None, superseded_by: str | None, until: str | None
) -> NoticeRequest | None:
    from rra.api._attach import NoticeRequest

    if kind is not None and reason is not None:
        return NoticeRequest(kind, reason, superseded_by, until)
    if kind is not None:
        raise UsageError("a notice has a reason", hint="give --reason")
    given = {"--reason": reason, "--superseded-by": superseded_by, "--until": until}
    alone = next((name for name, value in given.items() if value is not None), None)
    if alone is not None:
        raise UsageError(f"{alone} is part of a notice", hint="say which kind with --notice")
    return None


def _render(result: AttachReport, foreign: Collection[str]) -> str:
    rows = [
        (one.kind, _who(one, foreign=one.source in foreign), one.digest[:19], _about(one))
        for one in result.attached
    ]
    place = result.reference.partition("@")[0]
    lines = [
        table(("attached", "signed by", "statement", "from"), rows),
        f"core    {result.core}",
        f"digest  {result.digest}",
        next_step(f"rra status {word(place)}"),
    ]
    return "\n".join(lines)


def _who(one: Attached, *, foreign: bool) -> str:
    """Say who signed; what a signature of another tool says of it, only readers can check."""
    if not one.signed:
        return "nobody: shown, never counted"
    named = one.signer[:19] if one.signer else "certificate"
    return f"says {named}, not checked" if foreign else named


def _about(one: Attached) -> str:
    if one.attempt is None:
        return one.source
    return f"{one.source}: {one.verdict}, attempt {one.attempt[0]} of {one.attempt[1]}"
