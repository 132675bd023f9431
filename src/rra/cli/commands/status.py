"""``rra status``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rra import api
from rra.cli.statements import (
    plain,
    plain_table,
    requirement_lines,
    signature,
    signer,
    statements_table,
    trust_options,
)
from rra.cli.text import next_step, number
from rra.cli.verb import VerbCommand, answer, json_option, plain_http_option

if TYPE_CHECKING:
    from rra.api._status import StatusReport
    from rra.registry.statements import AttachedStatement

_DAY = len("2026-11-29")
_SCORES = 5


@click.command(
    "status",
    cls=VerbCommand,
    examples=(
        "rra status localhost:5000/lab/study:1.0.0 --policy policy.yaml",
        "rra status oci-layout:bundles:1.0.0 --key lab.pub --json",
    ),
)
@click.argument("reference", metavar="BUNDLE")
@trust_options
@plain_http_option
@json_option
def command(
    reference: str, policy: Path | None, keys: tuple[Path, ...], plain_http: bool, as_json: bool
) -> None:
    """Say how a bundle stands: who signed, reproduced, reviewed and audited it; notices.

    Statements count when their signature is valid and --policy or --key trusts the signer with
    them. Others are shown apart. The exit code is 1 when a requirement of the policy is not met.
    """
    answer(
        "status",
        lambda progress: api.status(
            reference, policy=policy, keys=keys, plain_http=plain_http, progress=progress
        ),
        _render,
        as_json=as_json,
    )


def _render(result: StatusReport) -> str:
    standing, document = result.standing, result.to_json()
    head = [
        f"{result.name} {result.version}",
        f"core    {result.core}",
        f"bundle  {result.reference}",
        *_signatures(standing.of("bundle")),
        *map(_notice, standing.of("notice"), document["notices"]),
        *_levels(document["levels"], document["independent_reproductions"]),
    ]
    parts = [
        *map(_reproduction, standing.of("reproduction"), document["reproductions"]),
        _judgements("review", standing.of("review"), document["reviews"]),
        _judgements("audit", standing.of("audit"), document["audits"]),
        f"not used:\n{statements_table(standing.set_aside)}" if standing.set_aside else "",
        "\n".join(map(plain, requirement_lines(standing.requirements))),
    ]
    text = "\n\n".join(["\n".join(map(plain, head)), *(part for part in parts if part)])
    return f"{text}\n{next_step('rra verify', result.reference)}"


def _signatures(found: Iterable[AttachedStatement]) -> list[str]:
    lines = [f"author  signed by {signer(one)} ({signature(one)})" for one in found]
    return lines or ["author  the bundle is not signed"]


def _notice(statement: AttachedStatement, said: Mapping[str, Any]) -> str:
    what = said["kind"]
    if "until" in said:
        what += f" until {said['until']}"
    if "superseded_by" in said:
        what += f" by {said['superseded_by']['reference']}"
    who = f"{said['issued'][:_DAY]}, {signer(statement)}: {signature(statement)}"
    return f"notice  {what}: {said['reason']} ({who})"


def _levels(levels: Mapping[str, Any], independent: int) -> list[str]:
    titles = {
        "trusted": "signers that you trust",
        "untrusted": "signers that you know and do not trust with it",
        "unknown": "unknown signers",
    }
    lines = [
        f"level   {_covered(reached)} ({titles[group]}: {reached['signer']})"
        for group, reached in levels.items()
        if reached
    ]
    if independent:
        lines.append(f"        reproduced independently by {independent} that you trust")
    return lines or ["level   none: no signed reproduction"]


def _covered(reached: Mapping[str, str]) -> str:
    """Return a level with what it covers; L4 is that of the reader, not of the reproduction."""
    if reached["level"] != "L4":
        return reached["coverage"]
    return f"L4{reached['coverage'].removeprefix('L3')}"


def _reproduction(statement: AttachedStatement, said: Mapping[str, Any]) -> str:
    counts = ", ".join(f"{count} {word}" for word, count in said["agreement"].items() if count)
    who = f"{signer(statement)} ({signature(statement)})"
    who += "" if statement.counts else ": not counted"
    tried = f"attempt {said['attempt']} of {said['attempts']}"
    lines = [
        f"reproduction of {said['ended'][:_DAY]} by {who}",
        f"  {said['verdict']}, {said['coverage']}; agreement: {counts}; {tried}",
        f"  on {_machine(said['machine'])}",
    ]
    rows = [
        (
            one["outcome"],
            one["reported"],
            _scores(one),
            " … ".join(map(number, one["interval"])) if one.get("interval") else "–",
            one["label"],
        )
        for one in said["outcomes"]
    ]
    header = ("outcome", "claimed", "scores", "interval that decides", "verdict")
    return "\n".join([*map(plain, lines), plain_table(header, rows)])


def _scores(outcome: Mapping[str, Any]) -> str:
    values = [number(value) for value in outcome.get("values", ())]
    more = f" … ({len(values)})" if len(values) > _SCORES else ""
    return " ".join(values[:_SCORES]) + more or "–"


def _machine(machine: Mapping[str, Any]) -> str:
    cpu = machine.get("cpu")
    model = cpu.get("model") if isinstance(cpu, dict) else None
    gpu = machine.get("gpu")
    names = (
        [one.get("name") for one in gpu if isinstance(one, dict)] if isinstance(gpu, list) else []
    )
    facts = [machine.get("machine"), model, machine.get("os"), *names]
    return ", ".join(str(fact) for fact in facts if fact) or "a machine that is not described"


def _judgements(
    kind: str, found: Iterable[AttachedStatement], said: Iterable[Mapping[str, Any]]
) -> str:
    rows = [
        (
            kind,
            one["ended"][:_DAY],
            signer(statement),
            signature(statement),
            ", ".join(f"{count} {word}" for word, count in one["verdicts"].items() if count),
            _aside(one),
        )
        for statement, one in zip(found, said, strict=True)
    ]
    header = ("", "date", "signed by", "signature", "verdicts", "")
    return plain_table(header, rows) if rows else ""


def _aside(said: Mapping[str, Any]) -> str:
    if "independent" in said:
        return "independent, it says" if said["independent"] else "not independent"
    return "with runs of its own" if said["rerun"] else "without runs"
