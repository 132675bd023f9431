"""``rra pull``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from rra import api
from rra.cli.commands.copy import statements
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
    from rra.api._pull import PullReport


@click.command(
    "pull",
    cls=VerbCommand,
    examples=(
        "rra pull localhost:5000/lab/study:1.0.0 study",
        "rra pull localhost:5000/lab/study:1.0.0 oci-archive:study.tar",
    ),
)
@click.argument("reference", metavar="HOST/REPOSITORY:TAG")
@click.argument("target", required=False, metavar="[DIRECTORY]")
@only_option
@plain_http_option
@json_option
def command(
    reference: str, target: str | None, only: tuple[str, ...], plain_http: bool, as_json: bool
) -> None:
    """Bring a bundle from a registry or the web, everything checked.

    The tag is looked up once; what comes is what its digest names, and @sha256:… behind the
    reference pins that digest. A file on the web is https://HOST/FILE#sha256:…, with its SHA-256.
    DIRECTORY is new or empty; it is called as the artifact by default. oci-layout:DIR or
    oci-archive:FILE in its place keeps the bundle as it is. A pull that breaks off goes on where it
    ended when it is started again.
    """
    elements = elements_of(only)
    answer(
        "pull",
        lambda progress: api.pull(
            reference, target, only=elements, plain_http=plain_http, progress=progress
        ),
        _render,
        as_json=as_json,
    )


def _render(result: PullReport) -> str:
    whole = "the whole artifact" if result.complete else "a part of the artifact"
    place = result.target.partition("@")[0] if result.form != "directory" else result.target
    lines = [
        f"{place}: {whole}, {size(result.size)}",
        f"core    {result.core}",
        f"digest  {result.digest}",
        *([f"with    {statements(result.referrers)} on it"] if result.referrers else []),
        next_step("rra verify" if result.complete else PART, place),
    ]
    return "\n".join(safe(line) for line in lines)
