"""``rra push``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from rra import api
from rra.cli.anonymous import anonymity, anonymous_lines, anonymous_options
from rra.cli.commands.copy import copied
from rra.cli.text import next_step
from rra.cli.verb import VerbCommand, answer, json_option, plain_http_option

if TYPE_CHECKING:
    from rra.api._push import PushReport


@click.command(
    "push",
    cls=VerbCommand,
    examples=(
        "rra push . localhost:5000/lab/study",
        "rra push oci-layout:bundles:1.0.0 registry.example/lab/study:1.0.0",
    ),
)
@click.argument("source", metavar="ARTIFACT")
@click.argument("target", metavar="HOST/REPOSITORY[:TAG]")
@click.option(
    "--catalog",
    metavar="HOST/REPOSITORY[:TAG]",
    help="List it there as well; rra registry list shows what is listed.",
)
@plain_http_option
@anonymous_options
@json_option
def command(
    source: str, target: str, catalog: str | None, plain_http: bool, as_json: bool, **options: Any
) -> None:
    """Send an artifact or a bundle to a registry.

    A directory is checked against the rules and packed first, as rra pack does it; a finding
    that stops the packing stops the push. The version is the tag by default, with _ for +; a tag
    that holds another version with a + is not overwritten.

    The login is the one of rra registry login, docker, podman or skopeo (DOCKER_CONFIG,
    REGISTRY_AUTH_FILE, credential helpers). TLS is spoken, except to a registry on this machine
    that has none.

    --anonymous sends a copy for a double-blind review, as rra pack makes it; push it to an
    account that is not yours.
    """
    wanted = anonymity(options)
    answer(
        "push",
        lambda progress: api.push(
            source,
            target,
            catalog=catalog,
            plain_http=plain_http,
            anonymous=wanted,
            progress=progress,
        ),
        _render,
        as_json=as_json,
    )


def _render(result: PushReport) -> str:
    told = anonymous_lines(result.anonymous) if result.anonymous else []
    if result.pushed is None:
        count = sum(problem.severity == "error" for problem in result.problems)
        faults = "1 problem stands" if count == 1 else f"{count} problems stand"
        stopped = f"not pushed: {faults} against it, and nothing was sent"
        then = next_step("correct what is named, then rra lint, and push again")
        return "\n".join([*told, stopped, then])
    lines = [copied(result.pushed), *told]
    if result.catalog is not None:
        lines.append(f"listed in {result.catalog}")
    lines.append(next_step("rra verify", result.target))
    return "\n".join(lines)
