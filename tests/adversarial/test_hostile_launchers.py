"""Launchers that misbehave: each comes to an end, is recorded, and harms nothing."""

from __future__ import annotations

import contextlib
import hashlib
from pathlib import Path
from typing import Any

import pytest

from rra._base import process
from rra._base.files import STAGING_PREFIX, walk_files
from rra.errors import StorageError
from rra.evidence import EvidenceStore, read_events, verify_record
from rra.launch import RunResult, run_launcher, stage_place
from rra.sandbox import best_sandbox
from tests.support.disks import mounted_disk
from tests.support.needs import needs
from tests.support.patience import with_growing_limit
from tests.support.runs import request, write_artifact

BOTH = [pytest.param("bwrap", marks=needs("bwrap")), "none"]
DAEMON = "setsid bash -c 'echo $$ > pid; exec sleep 607' & until [ -s pid ]; do :; done\n"


def run(root: Path, script: str, sandbox: str, **more: Any) -> RunResult:
    """Run one launcher of a small artifact and check that its evidence holds."""
    limits = more.pop("limits", {})
    files = {
        "launchers/main.sh": script,
        "code/train.py": "print(1)\n",
        "data/x.csv": "1\n",
        **more.pop("files", {}),
    }
    artifact = write_artifact(
        root,
        files,
        launchers={"main": {"outputs": ["metrics.json"], "limits": limits}},
        data={"x": {"path": "data/x.csv"}},
    )
    result = run_launcher(request(artifact, sandbox=best_sandbox(sandbox), **more))
    (stored,) = EvidenceStore(root / "evidence").records()
    assert verify_record(stored) == []
    assert stored.digest == result.record_digest
    leftovers = list(root.rglob(f"{STAGING_PREFIX}*"))
    assert leftovers == []
    return result


def content(root: Path) -> dict[str, str]:
    """Return digests of the artifact's own files."""
    own = [path for path in walk_files(root) if path.parts[0] not in {"evidence", "outputs"}]
    return {str(path): hashlib.sha256((root / path).read_bytes()).hexdigest() for path in own}


@pytest.mark.parametrize("sandbox", BOTH)
def test_fails(tmp_path: Path, sandbox: str) -> None:
    result = run(tmp_path / "a", "echo no such dataset >&2; exit 9\n", sandbox)
    assert (result.record.termination, result.record.exit_code) == ("exit", 9)
    assert result.message.splitlines()[-1] == "no such dataset"
    assert result.record.missing_outputs == ["metrics.json"]


@pytest.mark.parametrize("sandbox", BOTH)
def test_crashes(tmp_path: Path, sandbox: str) -> None:
    script = "python -c 'import ctypes; ctypes.string_at(0)'\nexit $?\n"
    result = run(tmp_path / "a", script, sandbox)
    assert (result.record.termination, result.record.exit_code) == ("signal", 139)
    assert "was ended by SIGSEGV" in result.message


@pytest.mark.clause("security/limits")
@pytest.mark.parametrize("sandbox", BOTH)
def test_hangs(tmp_path: Path, sandbox: str) -> None:
    script = "echo begun; sleep 600\n"
    result = with_growing_limit(
        lambda wall: run(tmp_path / str(wall), script, sandbox, wall_seconds=wall),
        lambda result: (result.outputs_dir / "stdout.txt").read_text() != "",
    )
    assert result.record.termination == "timeout"
    assert (result.outputs_dir / "stdout.txt").read_text() == "begun\n"


@pytest.mark.parametrize("sandbox", BOTH)
def test_ignores_the_request_to_end(
    tmp_path: Path, sandbox: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "GRACE_SECONDS", 0.2)
    script = "trap '' TERM HUP INT; echo deaf; while :; do sleep 600; done\n"
    result = with_growing_limit(
        lambda wall: run(tmp_path / str(wall), script, sandbox, wall_seconds=wall),
        lambda result: (result.outputs_dir / "stdout.txt").read_text() != "",
    )
    assert result.record.termination == "timeout"
    assert (result.outputs_dir / "stdout.txt").read_text() == "deaf\n"


@pytest.mark.clause("security/limits")
@pytest.mark.parametrize("sandbox", BOTH)
def test_leaves_a_daemon(tmp_path: Path, sandbox: str) -> None:
    script = DAEMON + "(setsid bash -c 'sleep 0.2; echo late > \"$RRA_OUTPUT_DIR/late\"' &)\n"
    result = run(tmp_path / "a", script, sandbox)
    assert result.record.termination == "ok"
    assert not (result.outputs_dir / "late").exists()
    assert not sleeping("607")


@pytest.mark.parametrize("sandbox", BOTH)
def test_leaves_a_daemon_that_cannot_be_recognised(tmp_path: Path, sandbox: str) -> None:
    script = (
        "setsid env -i /bin/bash -c 'echo $$ > pid; exec sleep 611' & "
        "until [ -s pid ]; do :; done; cat pid\n"
    )
    result = run(tmp_path / "a", script, sandbox)
    assert result.record.termination == "ok"
    if result.record.recorder.level == "strace" or sandbox == "bwrap":
        assert not sleeping("611")
    else:
        assert any("outlive" in gap for gap in result.record.sandbox.gaps)


def sleeping(seconds: str) -> bool:
    commands = (_read(path / "cmdline") for path in Path("/proc").glob("[0-9]*"))
    return any(command.split(b"\0")[:2] == [b"sleep", seconds.encode()] for command in commands)


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


@pytest.mark.clause("security/limits")
@pytest.mark.parametrize("sandbox", BOTH)
@pytest.mark.clause("execution-record/whole-streams-counted")
def test_prints_a_gigabyte(tmp_path: Path, sandbox: str) -> None:
    cap, whole = 1 << 20, 1 << 30
    result = run(tmp_path / "a", f"head -c {whole} /dev/zero\n", sandbox, stream_bytes=cap)
    assert (result.record.stdout.bytes, result.record.stdout.truncated) == (whole, True)
    assert (result.outputs_dir / "stdout.txt").stat().st_size == cap
    assert result.record.termination == "ok"


def test_keeps_64_mebibytes_of_what_is_printed_unless_told_otherwise(tmp_path: Path) -> None:
    result = run(tmp_path / "a", f"head -c {65 << 20} /dev/zero\n", "none")
    assert (result.outputs_dir / "stdout.txt").stat().st_size == 64 << 20


@pytest.mark.parametrize("sandbox", BOTH)
def test_writes_nothing(tmp_path: Path, sandbox: str) -> None:
    result = run(tmp_path / "a", "true\n", sandbox)
    assert (result.ok, result.record.termination) == (False, "ok")
    assert result.message.splitlines()[0].endswith("but without metrics.json")
    assert not (tmp_path / "a" / "outputs" / "main").exists()


@pytest.mark.parametrize("sandbox", BOTH)
def test_closes_its_descriptors(tmp_path: Path, sandbox: str) -> None:
    script = (
        'echo before\nexec 0<&- 1>&- 2>&-\nsleep 0.1\necho {} > "$RRA_OUTPUT_DIR/metrics.json"\n'
    )
    result = run(tmp_path / "a", script, sandbox)
    assert result.ok
    assert (result.outputs_dir / "stdout.txt").read_text() == "before\n"


@pytest.mark.parametrize("sandbox", BOTH)
def test_writes_outside(tmp_path: Path, sandbox: str) -> None:
    target = tmp_path / "outside.txt"
    result = run(tmp_path / "a", f"echo x > {target}\n", sandbox)
    assert target.exists() == (sandbox == "none")
    if sandbox == "none" and result.record.recorder.level == "strace":
        assert result.record.other_writes == [str(target)]
    assert any("outside" in gap for gap in result.record.sandbox.gaps) == (sandbox == "none")


@needs("bwrap")
@needs("strace")
def test_tries_to_write_to_the_system(tmp_path: Path) -> None:
    result = run(tmp_path / "a", "echo x > /usr/rra-test || exit 5\n", "bwrap")
    assert result.record.exit_code == 5
    assert result.record.other_writes == ["/usr/rra-test"]


@pytest.mark.clause("security/artifact-is-read-only")
@needs("bwrap")
def test_deletes_its_inputs_and_changes_nothing(tmp_path: Path) -> None:
    root = tmp_path / "a"
    script = 'rm -rf "$RRA_DATA_DIR" "$RRA_CODE_DIR"/* "$(dirname "$0")"/..\nls; exit 0\n'
    run(root, script, "bwrap")
    expected = write_artifact(
        tmp_path / "b",
        {"launchers/main.sh": script, "code/train.py": "print(1)\n", "data/x.csv": "1\n"},
        launchers={"main": {"outputs": ["metrics.json"], "limits": {}}},
        data={"x": {"path": "data/x.csv"}},
    )
    assert content(root) == content(expected.root)


def test_deletes_its_inputs_in_a_strangers_copy(tmp_path: Path) -> None:
    files = {"launchers/main.sh": 'rm -rf "$RRA_DATA_DIR"\n', "data/x.csv": "1\n"}
    artifact = write_artifact(tmp_path / "a", files, data={"x": {"path": "data/x.csv"}})
    before = content(artifact.root)
    place = stage_place(artifact, tmp_path / "place")
    result = run_launcher(request(place, sandbox=best_sandbox("none")))
    assert content(artifact.root) == before
    assert "data/x.csv" in result.record.other_writes
    assert not (place.root / "data" / "x.csv").exists()


@pytest.mark.parametrize("sandbox", BOTH)
def test_prints_bytes_that_are_no_text(tmp_path: Path, sandbox: str) -> None:
    script = "printf '\\377\\000\\033[2J'; printf '\\376\\n' >&2; exit 1\n"
    result = run(tmp_path / "a", script, sandbox)
    assert (result.outputs_dir / "stdout.txt").read_bytes() == b"\xff\x00\x1b[2J"
    assert result.message.splitlines()[-1] == "\N{REPLACEMENT CHARACTER}"


@pytest.mark.parametrize("sandbox", BOTH)
@pytest.mark.clause("execution-record/regular-outputs")
def test_leaves_links_pipes_and_names_that_are_no_text(tmp_path: Path, sandbox: str) -> None:
    (tmp_path / "secret").write_text("secret")
    script = (
        'cd "$RRA_OUTPUT_DIR"\n'
        f"ln -s {tmp_path}/secret metrics.json; mkfifo pipe; ln -s . loop\n"
        "echo 1 > $'\\377'; mkdir closed; echo 2 > closed/x; chmod 000 closed\n"
    )
    result = run(tmp_path / "a", script, sandbox)
    names = [one.path for one in result.record.outputs]
    assert names == ["\\xff", "closed/x", "stderr.txt", "stdout.txt"]
    assert result.record.missing_outputs == ["metrics.json"]
    assert "metrics.json: a link to" in result.message
    assert result.evidence_dir is not None
    events = read_events(result.evidence_dir / "events.jsonl")
    left_out = {event["path"] for event in events if event["kind"] == "left-out"}
    assert left_out == {"loop", "metrics.json", "pipe"}


@pytest.mark.parametrize("sandbox", BOTH)
def test_replaces_its_output_directory(tmp_path: Path, sandbox: str) -> None:
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "metrics.json").write_text("{}")
    script = f'rm -rf "$RRA_OUTPUT_DIR"; ln -s {tmp_path}/precious "$RRA_OUTPUT_DIR"; exit 0\n'
    result = run(tmp_path / "a", script, sandbox)
    assert not result.ok
    assert (tmp_path / "precious" / "metrics.json").read_text() == "{}"


@pytest.mark.clause("launcher/limits-end-a-run")
@pytest.mark.parametrize("sandbox", BOTH)
def test_leaves_more_than_its_limit(tmp_path: Path, sandbox: str) -> None:
    script = 'cd "$RRA_OUTPUT_DIR"; echo {} > metrics.json; truncate -s 1T huge\n'
    result = run(tmp_path / "a", script, sandbox, limits={"output": 1_000_000})
    assert (result.ok, result.record.termination) == (False, "disk")
    assert result.record.outputs[0].path == "metrics.json"
    assert "huge" in result.message


@pytest.mark.clause("security/limits")
@pytest.mark.parametrize("sandbox", BOTH)
def test_goes_on_writing_beyond_its_limit(tmp_path: Path, sandbox: str) -> None:
    script = 'head -c 2000000 /dev/zero > "$RRA_OUTPUT_DIR/big"; sleep 600\n'
    result = run(tmp_path / "a", script, sandbox, limits={"output": 1_000_000})
    assert result.record.termination == "disk"


@pytest.mark.parametrize("sandbox", BOTH)
def test_forges_what_the_observer_writes(tmp_path: Path, sandbox: str) -> None:
    precious = tmp_path / "precious"
    precious.write_text("as it was")
    script = (
        'cd "$RRA_CODE_DIR/../seen"; rm -f events; '
        f"ln -s {precious} events\n"
        "python -c 'import random; random.seed(3)'\n"
        "rm -f events; printf 'seed\\t99999999999999999999\\nx\\nread\\t\\\\\\n' > events\n"
    )
    result = run(tmp_path / "a", script, sandbox)
    assert result.record.seed.observed == []
    assert precious.read_text() == "as it was"


@needs("tmpfs")
def test_fills_the_disk(tmp_path: Path) -> None:
    with mounted_disk(tmp_path / "disk", "3m") as disk:
        files = {"launchers/main.sh": 'head -c 9000000 /dev/zero > "$RRA_OUTPUT_DIR/big"\n'}
        artifact = write_artifact(disk / "a", files)
        before = content(artifact.root)
        with pytest.raises(StorageError, match="no space left"):
            run_launcher(request(artifact))
        assert EvidenceStore(artifact.root / "evidence").records() == []
        assert content(artifact.root) == before
        assert list(artifact.root.rglob(f"{STAGING_PREFIX}*")) == []


@needs("tmpfs")
def test_fills_a_disk_that_others_empty_again(tmp_path: Path) -> None:
    with mounted_disk(tmp_path / "disk", "3m") as disk:
        script = 'head -c 9000000 /dev/zero > "$RRA_OUTPUT_DIR/big"\n'
        files = {"launchers/main.sh": script, "code/x": ""}
        artifact = write_artifact(disk / "a", files)
        reserve = disk / "reserve"
        reserve.write_bytes(bytes(500_000))
        result = run_launcher(
            request(artifact, on_line=lambda line: reserve.unlink(missing_ok=True))
        )
        assert result.record.termination == "disk"


@needs("tmpfs")
def test_a_disk_that_is_full_already_is_said(tmp_path: Path) -> None:
    with mounted_disk(tmp_path / "disk", "1m") as disk:
        artifact = write_artifact(disk / "a", {"launchers/main.sh": "true\n"})
        fill_up(disk / "fill")
        with pytest.raises(StorageError, match="no space left"):
            run_launcher(request(artifact))
        (disk / "fill").unlink()
        names = {path.name for path in artifact.root.iterdir()}
        assert names - {"outputs"} == {"code", "launchers", "rra.yaml"}
        assert run_launcher(request(artifact)).record.termination == "ok"


def fill_up(path: Path) -> None:
    with contextlib.suppress(OSError), path.open("wb", buffering=0) as file:
        while file.write(bytes(4096)):
            pass
