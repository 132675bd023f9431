"""``rra copy``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from rra import api
from rra.cli.text import next_step, size, table, word
from rra.cli.verb import VerbCommand, answer, json_option, plain_http_option, safe

if TYPE_CHECKING:
    from rra.api._copy import CopyReport
    from rra.registry import BlobCopy


@click.command(
    "copy",
    cls=VerbCommand,
    examples=(
        "rra copy oci-layout:bundles:1.0.0 oci-archive:study.tar",
        "rra copy localhost:5000/lab/study:1.0.0 oci-layout:bundles",
    ),
)
@click.argument("source", metavar="SOURCE")
@click.argument("target", metavar="TARGET")
@click.option(
    "--no-referrers",
    "alone",
    is_flag=True,
    help="Leave behind what others state about the bundle: reviews, audits, signatures.",
)
@plain_http_option
@json_option
def command(source: str, target: str, alone: bool, plain_http: bool, as_json: bool) -> None:
    """Copy a bundle between folders, files and registries; its digest stays the same.

    Both are oci-layout:DIR[:TAG], oci-archive:FILE[:TAG] or HOST/REPOSITORY[:TAG]; the source may
    also be https://HOST/FILE#sha256:…, a file on the web with its SHA-256. The tag of the target is
    that of the source by default. Every byte that is sent is checked on the way, and the bundle
    appears in the target when all of it is there. Statements on it come along: reviews, audits,
    reproductions, notices and signatures.
    """
    answer(
        "copy",
        lambda progress: api.copy(
            source, target, referrers=not alone, plain_http=plain_http, progress=progress
        ),
        _render,
        as_json=as_json,
    )


def copied(result: CopyReport) -> str:
    """Return what was copied as text: each blob, and what the bundle is called now."""
    rows = [(blob.title, size(blob.descriptor.size), _became(blob)) for blob in result.blobs]
    lines = [
        f"core    {result.core}",
        f"digest  {result.digest}",
        f"bundle  {result.target.partition('@')[0]}",
        *([f"with    {statements(result.referrers)} on it"] if result.referrers else []),
    ]
    return "\n".join([table(("blob", "size", ""), rows), *map(safe, lines)])


def statements(count: int) -> str:
    """Return how many statements there are."""
    return f"{count} statement" if count == 1 else f"{count} statements"


def _became(blob: BlobCopy) -> str:
    if blob.mounted:
        return "taken over"
    return "sent" if blob.copied else "was there"


def _render(result: CopyReport) -> str:
    place = result.target.partition("@")[0]
    return f"{copied(result)}\n{next_step(f'rra inspect {word(place)}')}"
