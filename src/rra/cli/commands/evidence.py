"""``rra evidence``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rra import api
from rra.bundle.names import printable
from rra.cli.passphrase import passphrase_of, passphrase_stdin_option
from rra.cli.text import next_step, settings_text, size, table
from rra.cli.verb import (
    VerbCommand,
    answer,
    artifact_argument,
    json_option,
    plain_http_option,
    reference_argument,
    refusing,
    safe,
)

if TYPE_CHECKING:
    from rra.api._evidence import RunSummary
    from rra.api._evidence_attest import EvidenceAttestations
    from rra.api._evidence_diff import EvidenceDiff
    from rra.api._evidence_gc import EvidenceGc
    from rra.api._evidence_import import EvidenceImport
    from rra.api._evidence_list import EvidenceList
    from rra.api._evidence_show import ShownRecord
    from rra.api._evidence_verify import EvidenceVerification
    from rra.evidence import Examined
    from rra.model import ExecutionRecord, OutputFile

_SHOWN = 20
_SHORT = {
    "execution-record/file-digests": "changed after the run",
    "execution-record/files-present": "not there",
    "execution-record/no-other-outputs": "no output of this run",
    "execution-record/name": "the record was changed after the run",
}
"""What is wrong, for a table; the whole sentence stands above it."""

_DIGEST = len("sha256:") + 12


@click.group("evidence")
def command() -> None:
    """Records of runs: list, show, check, compare and clear them, and state them to others.

    RECORD is a digest or its first digits, the folder of a record, or the id of a launcher, which
    stands for its newest run.
    """


@command.command(
    "list",
    cls=VerbCommand,
    examples=("rra evidence list", "rra evidence list studies/wine --launcher lda --json"),
)
@reference_argument
@click.option("--launcher", metavar="ID", help="Only the runs of this launcher.")
@plain_http_option
@json_option
def list_(artifact: str, launcher: str | None, plain_http: bool, as_json: bool) -> None:
    """List the recorded runs: when, how they ended, whether they are of the present state.

    Exits with 1 when a record is damaged.
    """
    answer(
        "evidence-list",
        lambda progress: api.evidence_list(
            artifact, launcher=launcher, plain_http=plain_http, progress=progress
        ),
        _render_list,
        as_json=as_json,
    )


def _render_list(result: EvidenceList) -> str:
    if not result.runs and not result.damaged:
        return "nothing is recorded\n" + next_step("rra run")
    header = ("record", "launcher", "ended", "seconds", "end", "seen by", "state")
    lines = [table(header, [_row(one) for one in result.runs])]
    unread = [one.place for one in result.damaged if one.stored is None]
    lines += [safe(f"damaged  {place}: the record cannot be read") for place in unread]
    lines.append(next_step("rra evidence verify" if result.damaged else "rra evidence show RECORD"))
    return "\n".join(lines)


def _row(one: RunSummary) -> tuple[str, ...]:
    record = one.record
    given = settings_text(record.parameters, record.seed.declared)
    name = f"{record.launcher.id} ({given})" if given else record.launcher.id
    state = "damaged" if not one.intact else "stale" if one.changed else "current"
    if state == "current" and record.recorder.level == "imported":
        state = "not seen"  # it has the digests of the artifact when it was imported
    return (
        one.digest[:_DIGEST],
        name,
        record.ended,
        f"{record.resources.wall:.1f}",
        record.end,
        record.recorder.level,
        state,
    )


@command.command(
    "show",
    cls=VerbCommand,
    examples=("rra evidence show lda", "rra evidence show 0123456789ab studies/wine --json"),
)
@click.argument("record", metavar="RECORD")
@reference_argument
@plain_http_option
@json_option
def show(record: str, artifact: str, plain_http: bool, as_json: bool) -> None:
    """Show one run: what it read and left, how it ended, how closely it was watched.

    Exits with 1 when it is not as the run left it.
    """
    answer(
        "evidence-show",
        lambda progress: api.evidence_show(
            record, artifact, plain_http=plain_http, progress=progress
        ),
        _render_shown,
        as_json=as_json,
    )


def _render_shown(result: ShownRecord) -> str:
    run, record = result.run, result.run.record
    lines = [
        f"record       {run.digest}",
        f"place        {run.place} ({_state(run)})",
        *_how(record),
        *([f"left running {result.left_behind}, which were ended"] if result.left_behind else []),
        *(f"  gap        {gap}" for gap in record.sandbox.gaps),
        *(f"  reached    its limit: {limit}" for limit in record.sandbox.reached or []),
        f"recorder     {record.recorder.level}",
        *(f"  gap        {gap}" for gap in record.recorder.gaps),
        *_files("read", [(one.path, one.role) for one in record.inputs]),
        *_files("left", [(one.path, _kept(record, one)) for one in record.outputs]),
        *_files("left out", list(result.left_out)),
        *_writes(result),
        *_files("tried", [(address, "network") for address in record.network_attempts]),
        *(f"missing      {name}" for name in record.missing_outputs),
        *(
            f"failed       cell {one.cell} of {one.path}: {one.error}"
            for one in record.failed_cells or []
        ),
    ]
    step = next_step("rra evidence verify" if not run.intact else "rra audit")
    return "\n".join([*map(safe, lines), step])


def _kept(record: ExecutionRecord, output: OutputFile) -> str:
    """Say how large an output is, and of a stream how much there was."""
    stream = {"stdout.txt": record.stdout, "stderr.txt": record.stderr}.get(output.path)
    if stream is None or not stream.truncated:
        return size(output.size)
    return f"the first {size(output.size)} of {stream.bytes} bytes; the rest was not kept"


def _writes(result: ShownRecord) -> list[str]:
    """Tell what was written outside from what was only tried."""
    record, refused = result.run.record, set(result.refused_writes)
    done = "outside, or tried there" if record.recorder.level == "audit-hook" else "outside"
    return [
        *_files("wrote", [(path, done) for path in record.other_writes if path not in refused]),
        *_files(
            "tried",
            [
                (path, "to write outside; refused")
                for path in record.other_writes
                if path in refused
            ],
        ),
    ]


def _state(run: RunSummary) -> str:
    state = "intact" if run.intact else "DAMAGED"
    if run.changed:
        state += f"; of an earlier state: {', '.join(run.changed[:_SHOWN])} differ now"
    return state


def _how(record: ExecutionRecord) -> list[str]:
    used, seed = record.resources, record.seed
    declared = "none" if seed.declared is None else str(seed.declared)
    seen = ", ".join(map(str, (seed.observed or [])[:_SHOWN])) or "none"
    took = f"{used.wall:.1f} s, {used.cpu:.1f} s of processor, {size(used.max_rss)}"
    return [
        f"launcher     {record.launcher.id}: {' '.join(record.argv)}",
        f"end          {record.termination}, status {record.exit_code}, at {record.ended}",
        f"took         {took}",
        *(f"parameter    {key} = {value}" for key, value in record.parameters.items()),
        f"seed         {declared}; seen being set: {seen}",
        f"environment  {record.environment.id}, lock {record.environment.lock[:_DIGEST]}",
        f"platform     {_platform(record.platform.to_json())}",
        f"sandbox      {record.sandbox.level}",
    ]


def _platform(facts: dict[str, Any]) -> str:
    cpu = facts.get("cpu") or {}
    parts = [facts.get("os"), facts.get("kernel"), facts.get("machine"), cpu.get("model")]
    return ", ".join(str(part) for part in parts if part) or "not recorded"


def _files(word: str, files: list[tuple[str, str]]) -> list[str]:
    lines = [f"{word:<12} {printable(path)} ({what})" for path, what in files[:_SHOWN]]
    if len(files) > _SHOWN:
        lines.append(f"{word:<12} and {len(files) - _SHOWN} more (--json shows them)")
    return lines


@command.command(
    "verify",
    cls=VerbCommand,
    examples=("rra evidence verify", "rra evidence verify studies/wine --record lda"),
)
@reference_argument
@click.option("--record", "records", multiple=True, metavar="RECORD", help="Only this one.")
@plain_http_option
@json_option
def verify(artifact: str, records: tuple[str, ...], plain_http: bool, as_json: bool) -> None:
    """Check records against what lies beside them: name, chain of events, digests, outputs.

    Exits with 1 when something is not as the run left it, or nothing is recorded. A record that was
    removed as a whole is not missed, since nothing lists the runs, and whoever writes a record of
    their own passes; rra verify runs the launchers itself.
    """
    answer(
        "evidence-verify",
        lambda progress: api.evidence_verify(
            artifact, records=records, plain_http=plain_http, progress=progress
        ),
        _render_verified,
        as_json=as_json,
    )


def _damage(one: Examined) -> str:
    """Say in a few words what is wrong; the lines above the table have the digests."""
    first, *more = one.problems
    name = first.path.removeprefix(f"{one.place}/")
    said = f"{name}: {_SHORT.get(first.clause, first.message)}"
    return f"{said}, and {len(more)} more" if more else said


def _render_verified(result: EvidenceVerification) -> str:
    if not result.examined:
        return "nothing is recorded\n" + next_step("rra run")
    rows = [
        (one.place, "intact" if one.intact else f"damaged: {_damage(one)}")
        for one in result.examined
    ]
    damaged = sum(not one.intact for one in result.examined)
    total = f"{len(rows)} checked, {damaged} damaged"
    step = "rra run, and remove what is damaged" if damaged else "rra audit"
    return "\n".join([table(("record", "state"), rows), "", total, next_step(step)])


@command.command(
    "diff",
    cls=VerbCommand,
    examples=(
        "rra evidence diff 0123456789ab lda",
        "rra evidence diff lda qda studies/wine --json",
    ),
)
@click.argument("before", metavar="RECORD")
@click.argument("after", metavar="RECORD")
@reference_argument
@plain_http_option
@json_option
def diff(before: str, after: str, artifact: str, plain_http: bool, as_json: bool) -> None:
    """Compare two runs: code, parameters, environment, inputs, platform, outputs.

    Times, nonces and resources, which are never the same twice, are left out. Exits with 0 when
    nothing differs, with 1 when something does.
    """
    answer(
        "evidence-diff",
        lambda progress: api.evidence_diff(
            before, after, artifact, plain_http=plain_http, progress=progress
        ),
        _render_diff,
        as_json=as_json,
    )


def _render_diff(result: EvidenceDiff) -> str:
    found = result.difference
    if found.same:
        return "nothing differs but times\n" + next_step("rra evidence list")
    rows = [
        (one.group, one.field, _value(one.before), _value(one.after))
        for one in found.fields[: 5 * _SHOWN]
    ]
    lines = [table(("part", "field", "before", "after"), rows)]
    if len(found.fields) > len(rows):
        lines.append(f"and {len(found.fields) - len(rows)} more (--json shows them)")
    if found.unexplained:
        lines.append(
            "the outputs differ and nothing that could explain it does: the run is not "
            "deterministic, or depends on something that is not recorded"
        )
    lines.append(next_step("the same with --json shows whole digests"))
    return "\n".join(lines)


def _value(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, str):
        return value[:_DIGEST] if value.startswith("sha256:") else value
    return json.dumps(value, ensure_ascii=False)


@command.command(
    "gc", cls=VerbCommand, examples=("rra evidence gc", "rra evidence gc studies/wine --yes")
)
@artifact_argument
@click.option("--yes", is_flag=True, help="Remove them; without it they are only named.")
@json_option
def gc(artifact: Path, yes: bool, as_json: bool) -> None:
    """Name the failed runs that a later success replaced and nothing needs, or remove them.

    Successful runs always stay: how many there were is part of the evidence. So do runs that a
    document of the artifact names, and damaged records, which are left to you.
    """
    answer(
        "evidence-gc",
        lambda progress: api.evidence_gc(artifact, yes=yes, progress=progress),
        _render_gc,
        as_json=as_json,
    )


def _render_gc(result: EvidenceGc) -> str:
    found = result.found
    lines = [
        safe(
            f"{'removed' if result.removed else 'can go'}  {one.stored.digest[:_DIGEST]}  "
            f"{one.stored.record.launcher.id}: {one.stored.record.end} at "
            f"{one.stored.record.ended}, {size(one.size)}"
        )
        for one in found.garbage
    ]
    lines += [
        safe(f"stays    {one.digest[:_DIGEST]}  {one.record.launcher.id}: {why}")
        for one, why in found.kept
    ]
    lines += [safe(f"damaged  {one.place}: rra evidence verify says how") for one in found.damaged]
    total = size(sum(one.size for one in found.garbage))
    count = len(found.garbage)
    if result.removed:
        lines.append(f"{count} removed, {total} freed")
        return "\n".join([*lines, next_step("rra evidence list")])
    lines.append(f"{count} can go, {total}")
    return "\n".join([*lines, next_step("rra evidence gc --yes" if count else "rra evidence list")])


@command.command(
    "attest",
    cls=VerbCommand,
    examples=("rra evidence attest", "rra evidence attest --record lda --key rra.key -o ../stated"),
)
@artifact_argument
@click.option(
    "--record",
    "records",
    multiple=True,
    metavar="RECORD",
    help="State this run; by default the newest successful one of each launcher.",
)
@click.option(
    "--key", metavar="FILE", type=click.Path(path_type=Path), help="Sign with this private key."
)
@passphrase_stdin_option
@click.option(
    "-o",
    "--output",
    metavar="DIRECTORY",
    type=click.Path(path_type=Path),
    help="Where the files go; the current directory by default.",
)
@json_option
def attest(
    artifact: Path,
    records: tuple[str, ...],
    key: Path | None,
    passphrase_stdin: bool,
    output: Path | None,
    as_json: bool,
) -> None:
    """Write an in-toto statement with SLSA provenance for each run.

    Its subjects are the outputs; parameters, lock, code and data are what they were made from.
    With --key each is signed, as a Sigstore bundle, which cosign and others read.
    """
    with refusing("evidence-attest", as_json=as_json):
        private = _private(key, stdin=passphrase_stdin)
    answer(
        "evidence-attest",
        lambda progress: api.evidence_attest(
            artifact, records=records, key=private, output=output, progress=progress
        ),
        _render_attested,
        as_json=as_json,
    )


def _private(path: Path | None, *, stdin: bool) -> Any:
    """Read the key that was named, if one was."""
    if path is None:
        return None
    from rra.signing import read_private_key

    return read_private_key(path, passphrase_of(path, from_stdin=stdin))


def _render_attested(result: EvidenceAttestations) -> str:
    lines = [
        safe(f"{one.file}  {one.launcher}, {one.subjects} outputs, {one.record[:_DIGEST]}")
        for one in result.statements
    ]
    lines.append(
        f"signed by {result.signer}" if result.signer else "not signed: give --key to sign"
    )
    return "\n".join([*lines, next_step("rra evidence verify")])


@command.command(
    "import",
    cls=VerbCommand,
    examples=(
        "rra evidence import ../mlruns studies/wine --launcher lda --run best --json",
        "rra evidence import sacct.json --launcher lda --outputs 'results/%A_%a'",
    ),
)
@click.argument("source", metavar="SOURCE", type=click.Path(path_type=Path))
@artifact_argument
@click.option("--launcher", required=True, metavar="ID", help="The launcher that they count for.")
@click.option(
    "--format",
    "kind",
    type=click.Choice(["directory", "mlruns", "wandb", "slurm"]),
    help="What SOURCE is; by default what it looks like.",
)
@click.option(
    "--run", "names", multiple=True, metavar="NAME", help="Only this run, or job of Slurm."
)
@click.option(
    "--outputs",
    metavar="PATTERN",
    help="Folder of the outputs of a job: %j, %A, %a and %x stand for its number, array, index "
    "and name.",
)
@click.option(
    "--stdout",
    metavar="PATTERN",
    help="File of what a job printed; by default the one that Slurm names, beside SOURCE.",
)
@json_option
def import_(
    source: Path,
    artifact: Path,
    launcher: str,
    kind: Any,
    names: tuple[str, ...],
    outputs: str | None,
    stdout: str | None,
    as_json: bool,
) -> None:
    """Import runs that exist: outputs of one, an MLflow store, a wandb folder, jobs of Slurm.

    SOURCE is a folder, or a file with what sacct --json, sacct --parsable2 or scontrol show job
    printed; the word slurm asks the cluster for the jobs that --run names.

    Nobody saw them being made, and their records say so: an audit takes their values as found
    (evidence level E2 at most). rra run makes better evidence.
    """
    answer(
        "evidence-import",
        lambda progress: api.evidence_import(
            source,
            artifact,
            launcher=launcher,
            kind=kind,
            names=names,
            outputs=outputs,
            stdout=stdout,
            progress=progress,
        ),
        _render_imported,
        as_json=as_json,
    )


def _render_imported(result: EvidenceImport) -> str:
    rows = [
        (one.name, one.record[:_DIGEST], one.ended, one.termination, str(one.outputs))
        for one in result.runs
    ]
    lines = [table(("run", "record", "ended", "end", "files"), rows)]
    lines.append("nothing of them was seen: an audit gives their values E2 at most")
    return "\n".join([*lines, next_step("rra evidence list")])
