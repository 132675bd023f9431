"""``rra inspect``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from rra import api
from rra.cli.statements import plain, requirement_lines, statements_table, trust_options
from rra.cli.text import next_step, size, table
from rra.cli.verb import VerbCommand, answer, json_option, plain_http_option, safe

if TYPE_CHECKING:
    from rra.api._inspect import Inspection
    from rra.report.standing import Standing

_PREFIXES = ("org.opencontainers.image.", "org.w3id.rra.")


@click.command(
    "inspect",
    cls=VerbCommand,
    examples=("rra inspect oci-layout:bundles:1.0.0", "rra inspect oci-archive:study.tar --json"),
)
@click.argument("reference", metavar="BUNDLE")
@click.option("--referrers", is_flag=True, help="Also what others attached, signatures checked.")
@trust_options
@plain_http_option
@json_option
def command(
    reference: str,
    referrers: bool,
    policy: Path | None,
    keys: tuple[Path, ...],
    plain_http: bool,
    as_json: bool,
) -> None:
    """Say what is in a bundle, from its two small documents.

    Only the manifest and the config are read, so it is quick however large the bundle is. With
    --json, the whole of rra.yaml and rra.lock is in the answer. With --referrers, the exit
    code is 1 when a requirement of the policy is not met.
    """
    answer(
        "inspect",
        lambda progress: api.inspect(
            reference,
            referrers=referrers,
            policy=policy,
            keys=keys,
            plain_http=plain_http,
            progress=progress,
        ),
        _render,
        as_json=as_json,
    )


def _render(result: Inspection) -> str:
    manifest = result.manifest
    title = f": {manifest.title}" if manifest.title else ""
    lines = [safe(f"{manifest.name} {manifest.version}{title}")]
    for key, text in result.annotations.items():
        short = next((key.removeprefix(p) for p in _PREFIXES if key.startswith(p)), key)
        if short not in {"title", "version", "core", "name"}:
            lines.append(safe(f"{short:<13} {text}"))
    rows = [
        (one.title, str(layer.files), size(layer.uncompressed_size), size(layer.size))
        for one, layer in zip(result.layers, result.config.layers, strict=True)
    ]
    lines += ["", table(("layer", "files", "unpacked", "packed"), rows), ""]
    claims = [
        (name, " ".join(one.reported) if isinstance(one.reported, list) else one.reported)
        for name, one in manifest.reported_values().items()
    ]
    lines += [table(("outcome", "claimed"), claims), ""]
    if result.standing is not None:
        lines += [_attached(result.standing), ""]
    lines += [
        f"core    {result.config.core}",
        f"digest  {result.digest}",
        next_step("rra verify", result.reference),
    ]
    return "\n".join(lines)


def _attached(standing: Standing) -> str:
    if not standing.statements:
        return "nothing is attached"
    text = statements_table(standing.statements)
    return "\n".join([text, *map(plain, requirement_lines(standing.requirements))])
