"""``rra unpack``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from rra import api
from rra.cli.text import PART, next_step, size
from rra.cli.verb import (
    VerbCommand,
    answer,
    elements_of,
    json_option,
    only_option,
    plain_http_option,
    safe,
)

if TYPE_CHECKING:
    from rra.api._unpack import UnpackReport


@click.command(
    "unpack",
    cls=VerbCommand,
    examples=(
        "rra unpack oci-layout:bundles:1.0.0 study",
        "rra unpack oci-archive:study.tar notes --only guide,launchers",
    ),
)
@click.argument("reference", metavar="BUNDLE")
@click.argument("directory", required=False, type=click.Path(path_type=Path))
@only_option
@plain_http_option
@json_option
def command(
    reference: str, directory: Path | None, only: tuple[str, ...], plain_http: bool, as_json: bool
) -> None:
    """Unpack a bundle, or some of its elements, everything checked.

    BUNDLE is oci-layout:DIR[:TAG], oci-archive:FILE[:TAG] or HOST/REPOSITORY:TAG, with
    @sha256:… to pin the digest. DIRECTORY is new or empty; it is called as the artifact by
    default, and appears when every digest in the bundle was seen to hold.
    """
    elements = elements_of(only)
    answer(
        "unpack",
        lambda progress: api.unpack(
            reference, directory, only=elements, plain_http=plain_http, progress=progress
        ),
        _render,
        as_json=as_json,
    )


def _render(result: UnpackReport) -> str:
    found = result.unpacked
    parts = ", ".join(f"{name} ({count})" for name, count in found.elements.items())
    whole = "the whole artifact" if found.complete else "a part of the artifact"
    lines = [
        f"{found.target}: {whole}, {size(found.size)}",
        f"files   {parts}",
        f"core    {result.core}",
        f"digest  {result.digest}",
        next_step("rra verify" if found.complete else PART, found.target),
    ]
    return "\n".join(safe(line) for line in lines)
