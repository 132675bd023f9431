"""``rra pack``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from rra import api
from rra.cli.anonymous import anonymity, anonymous_lines, anonymous_options
from rra.cli.text import next_step, size, table, word
from rra.cli.verb import VerbCommand, answer, json_option

if TYPE_CHECKING:
    from rra.api._pack import PackReport


@click.command(
    "pack",
    cls=VerbCommand,
    examples=("rra pack . oci-layout:../bundles", "rra pack . oci-archive:../study.tar:1.0.0"),
)
@click.argument("artifact", metavar="ARTIFACT")
@click.argument("target", metavar="TARGET")
@click.option(
    "--check",
    is_flag=True,
    help="Pack a copy under other conditions too, and compare the digests.",
)
@anonymous_options
@json_option
def command(artifact: str, target: str, check: bool, as_json: bool, **options: Any) -> None:
    """Make the bundle of an artifact, in a folder or one file.

    TARGET is oci-layout:DIR[:TAG] or oci-archive:FILE[:TAG]; the version is the tag by default.

    What is shared cannot be taken back, so the rules come first: a secret, a blank, a missing
    file, a pointer in place of data or a path that leads outside stops the packing, and nothing
    is written. The same artifact gives the same digest, whoever packs it, wherever and whenever;
    the time of the newest commit goes in where there is one (SOURCE_DATE_EPOCH sets another).

    --check shows it: a copy is packed at another path, with another umask, locale, time zone, order
    of directories and other times. Where a digest differs, nothing is written and the first layer
    and file that differ are named.

    --anonymous is for double-blind review: authors, addresses, accounts, copyright holders and
    what records hold of people are blanked in a copy, and searched for in every byte of it. What
    is found stops the packing with its place; the artifact itself is not touched.
    """
    wanted = anonymity(options)
    answer(
        "pack",
        lambda progress: api.pack(
            artifact, target, check=check, anonymous=wanted, progress=progress
        ),
        _render,
        as_json=as_json,
    )


def _render(result: PackReport) -> str:
    packed = result.packed
    if packed is None:
        count = sum(problem.severity == "error" for problem in result.problems)
        told = anonymous_lines(result.anonymous) if result.anonymous else []
        faults = "1 problem stands" if count == 1 else f"{count} problems stand"
        stopped = f"not packed: {faults} against it, and nothing was written"
        then = next_step("correct what is named, then rra lint, and pack again")
        return "\n".join([*told, stopped, then])
    layers = packed.config.layers
    rows = [
        (
            title,
            str(layer.files),
            size(layer.uncompressed_size),
            size(layer.size),
            layer.diff_id[:19],
        )
        for title, layer in zip(packed.titles, layers, strict=True)
    ]
    lines = [
        table(("layer", "files", "unpacked", "packed", "archive"), rows),
        f"core    {packed.config.core}",
        f"digest  {packed.descriptor.digest}",
        f"bundle  {result.target.partition('@')[0]}",
        *(["check   packed twice, under other conditions, with the same digests"] * result.checked),
        *(anonymous_lines(result.anonymous) if result.anonymous else ()),
        next_step(f"rra inspect {word(result.target.partition('@')[0])}, then rra push"),
    ]
    return "\n".join(lines)
