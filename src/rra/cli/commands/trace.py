"""``rra trace``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import click

from rra import api
from rra.cli.text import next_step, settings_text
from rra.cli.verb import VerbCommand, answer, json_option, reference_argument, safe

if TYPE_CHECKING:
    from rra.api._trace import RunSettings, TraceResult
    from rra.audit import Trace

_READ_SHOWN = 6
_NEGATIVE = re.compile(r"-\.?[0-9]")


class _TraceCommand(VerbCommand):
    """Takes a word such as ``-45.8`` for the number that it is; no option begins with a digit."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put what is no option behind ``--`` where a negative number is among it."""
        before = args[: args.index("--")] if "--" in args else args
        if any(_NEGATIVE.match(word) for word in before):
            options = [w for w in before if w.startswith("-") and not _NEGATIVE.match(w)]
            others = [w for w in before if w not in options]
            args = [*options, "--", *others, *args[len(before) + 1 :]]
        return super().parse_args(ctx, args)


@click.command(
    "trace", cls=_TraceCommand, examples=("rra trace 98.9", "rra trace table1/lda . --json")
)
@click.argument("what", metavar="NUMBER|OUTCOME")
@reference_argument
@json_option
def command(what: str, artifact: str, as_json: bool) -> None:
    """Say which file, run and script a number comes from.

    NUMBER is a value as the paper or an output has it; OUTCOME is a name of rra.yaml.
    Exits with 1 when no recorded run stands behind it.
    """
    answer(
        "trace",
        lambda progress: api.trace(artifact, what, progress=progress),
        _render,
        as_json=as_json,
    )


def _render(result: TraceResult) -> str:
    pairs = zip(result.traces, result.settings, strict=True)
    parts = [_one(trace, settings) for trace, settings in pairs]
    parts.append(next_step("rra audit" if result.ok else "rra run, then rra trace again"))
    return "\n\n".join(parts)


def _one(trace: Trace, settings: RunSettings | None) -> str:
    unit = f" {trace.unit}" if trace.unit else ""
    lines = [f"{trace.outcome}: the paper says {trace.reported}{unit}"]
    if trace.value is None:
        lines.append(f"  value     none in the outputs; declared at {trace.selector}")
    else:
        lines.append(f"  value     {trace.value}  ({trace.selector})")
        line = f":{trace.line}" if trace.line else ""
        lines.append(f"  file      {trace.file}{line}  {trace.sha256}")
    if trace.record is None:
        lines.append("  record    none: no recorded run left this file")
    else:
        lines.append(f"  record    {trace.record}  ({trace.started})")
    if settings is not None and (words := settings_text(settings.parameters, settings.seed)):
        lines.append(f"  with      {words}")
    entry = trace.entry.path if trace.entry else "missing"
    lines.append(f"  launcher  {trace.launcher}: {entry}")
    lines += [f"  script    {script.path}  {script.sha256}" for script in trace.scripts]
    shown = trace.inputs[:_READ_SHOWN]
    lines += [f"  read      {item.path} ({item.role})" for item in shown]
    if trace.inputs_total > len(shown):
        lines.append(f"  read      and {trace.inputs_total - len(shown)} more (--json shows them)")
    if trace.recorder:
        lines.append(f"  seen by   {trace.recorder}")
    return "\n".join(safe(line) for line in lines)
