"""``rra diff``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from rra import api
from rra.cli.text import next_step, table
from rra.cli.verb import VerbCommand, answer, json_option, plain_http_option, safe

if TYPE_CHECKING:
    from rra.api._diff import DiffResult
    from rra.bundle.difference import OutcomeDifference

_SHOWN = 40
_SIGNS = {"added": "+", "removed": "-", "changed": "~"}


@click.command(
    "diff",
    cls=VerbCommand,
    examples=(
        "rra diff . oci-layout:../bundles:1.0.0",
        "rra diff . oci-archive:../study.tar --json",
    ),
)
@click.argument("before", metavar="BEFORE")
@click.argument("after", metavar="AFTER")
@plain_http_option
@json_option
def command(before: str, after: str, plain_http: bool, as_json: bool) -> None:
    """Compare two artifacts: elements, files, outcomes.

    BEFORE and AFTER are directories or bundles, in any combination. Exits with 0 when nothing
    differs, with 1 when something does.
    """
    answer(
        "diff",
        lambda progress: api.diff(before, after, plain_http=plain_http, progress=progress),
        _render,
        as_json=as_json,
    )


def _render(result: DiffResult) -> str:
    found = result.difference
    if found.same:
        return f"the same: core {found.cores[0]}\n{next_step('rra verify, if nobody did')}"
    rows = [(one.element, "same" if one.same else "differs") for one in found.elements]
    lines = [table(("element", ""), rows), ""]
    shown = found.files[:_SHOWN]
    lines += [safe(f"{_SIGNS[one.change]} {one.path}  ({one.element})") for one in shown]
    if len(found.files) > len(shown):
        lines.append(f"  and {len(found.files) - len(shown)} more files (--json shows them)")
    lines += [line for one in found.outcomes for line in _outcome(one)]
    same_core = found.cores[0] == found.cores[1]
    core = "the same: earlier reproductions hold" if same_core else "another: verify again"
    lines += ["", f"core  {core}", next_step("rra diff --json shows digests and definitions")]
    return "\n".join(lines)


def _outcome(one: OutcomeDifference) -> list[str]:
    lines = [safe(f"{_SIGNS[one.change]} outcome {one.outcome}")]
    if one.change == "changed":
        for key in sorted(one.before.keys() | one.after.keys()):
            sides = (one.before.get(key), one.after.get(key))
            shown = [json.dumps(side, ensure_ascii=False) for side in sides]
            lines.append(safe(f"    {key}: {shown[0]} → {shown[1]}"))
    return lines
