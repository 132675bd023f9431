"""Launchers that misbehave: each comes to an end, is recorded, and harms nothing."""

from __future__ import annotations

import contextlib
import os
import sys
import textwrap
from pathlib import Path

import pytest

from rra._base import clock, process
from rra._base.files import STAGING_PREFIX
from rra.errors import StorageError
from rra.evidence import EvidenceStore, verify_record
from rra.launch import limits, run_launcher, stage_place
from rra.sandbox import best_sandbox, cgroups
from rra.sandbox.bubblewrap import BubblewrapSandbox
from tests.adversarial.hostile_launchers import BOTH, cmdline, content, events, run, sleeping
from tests.support.disks import mounted_disk
from tests.support.needs import needs
from tests.support.patience import with_growing_limit
from tests.support.runs import request, write_artifact

DAEMON = "setsid bash -c 'echo $$ > pid; exec sleep 607' & until [ -s pid ]; do :; done\n"


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
    (end,) = events(result, "ended")
    # A process namespace ends with its first process, and with it all that is left in it.
    assert (end["left_behind"] > 0) == (sandbox == "none")


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


@pytest.mark.clause("security/limits")
@pytest.mark.parametrize("sandbox", BOTH)
@pytest.mark.clause("execution-record/whole-streams-counted")
def test_prints_five_gigabytes(tmp_path: Path, sandbox: str) -> None:
    cap, whole = 1 << 20, 5000 << 20
    script = "dd if=/dev/zero bs=1M count=5000 status=none\n"
    result = run(tmp_path / "a", script, sandbox, stream_bytes=cap)
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
    script = 'rm -rf "$RRA_DATA_DIR" "$RRA_CODE_DIR"/* "$0"; ls; exit 0\n'
    record = run(root, script, "bwrap").record
    if record.recorder.level == "strace":
        assert record.other_writes == ["data/x.csv", "launchers/main.sh"]
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
    left_out = {event["path"] for event in events(result, "left-out")}
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
        result = run_launcher(request(artifact))
        (stored,) = EvidenceStore(artifact.root / "evidence").records()
        assert verify_record(stored) == []
        assert (result.record.termination, result.record.exit_code) == ("disk", 1)
        assert "there was no room left on the disk of" in result.message
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


ALLOCATES = "python -c 'b = []\nwhile True: b.append(bytearray(1 << 20))'\nexit $?\n"
FORKS = "python -c 'import os\nwhile True:\n  try: os.fork()\n  except OSError: 0' 2>/dev/null\n"
GROUPS = needs("control-groups")


@pytest.mark.clause("security/limits")
@GROUPS
@pytest.mark.parametrize("sandbox", BOTH)
def test_allocates_without_end(tmp_path: Path, sandbox: str) -> None:
    result = run(tmp_path / "a", ALLOCATES, sandbox, resources={"memory": "48 MiB"})
    assert result.record.termination == "memory"
    assert result.record.sandbox.reached == ["memory"]
    assert result.record.sandbox.limits is not None
    assert result.record.sandbox.limits.memory == 48 << 20
    assert "its limit was 48.0 MiB, resources.memory in rra.yaml" in result.message


@GROUPS
def test_a_worker_that_had_no_memory_is_named_whatever_its_parent_says(tmp_path: Path) -> None:
    script = ALLOCATES.replace("exit $?", "exit 3")
    result = run(tmp_path / "a", script, "none", resources={"memory": "48 MiB"})
    assert (result.record.termination, result.record.exit_code) == ("memory", 3)


@GROUPS
def test_what_declares_no_memory_is_held_to_what_the_machine_has(tmp_path: Path) -> None:
    held = run(tmp_path / "a", "true\n", "none").record.sandbox.limits
    assert held is not None
    assert held.memory == cgroups.memory_of_machine() * 9 // 10


@pytest.mark.clause("security/limits")
@GROUPS
@pytest.mark.parametrize("sandbox", BOTH)
def test_is_a_fork_bomb(tmp_path: Path, sandbox: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "_LEAST_PROCESSES", 24)
    monkeypatch.setattr(limits, "_PROCESSES_PER_PROCESSOR", 0)
    monkeypatch.setattr(process, "GRACE_SECONDS", 0.2)
    result = with_growing_limit(
        lambda wall: run(tmp_path / str(wall), FORKS, sandbox, wall_seconds=wall),
        lambda result: "processes" in (result.record.sandbox.reached or []),
    )
    assert result.record.termination == "timeout"
    assert result.record.sandbox.reached == ["wall", "processes"]
    assert result.record.sandbox.limits is not None
    assert result.record.sandbox.limits.processes == 24
    assert "refused more than 24 processes" in result.message
    assert not any(str(tmp_path).encode() in cmdline(path, "environ") for path in processes())


def processes() -> list[Path]:
    return [path for path in Path("/proc").glob("[0-9]*") if path.name != str(os.getpid())]


@pytest.mark.clause("execution-record/limits-are-said")
@pytest.mark.parametrize("sandbox", BOTH)
def test_limits_that_cannot_be_set_are_said(
    tmp_path: Path, sandbox: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cgroups, "_trial", lambda: ({}, "none"))
    result = run(tmp_path / "a", "true\n", sandbox, resources={"cpu": 0.5})
    gaps = [gap for gap in result.record.sandbox.gaps if gap.startswith("unlimited")]
    assert gaps == ["unlimited: memory", "unlimited: processes", "unlimited: processors"]
    assert result.record.sandbox.limits is None


@GROUPS
@pytest.mark.parametrize("sandbox", BOTH)
def test_a_daemon_that_hides_is_found_by_its_control_group(tmp_path: Path, sandbox: str) -> None:
    script = (
        "setsid env -i /bin/bash -c 'echo $$ > pid; exec sleep 613' >/dev/null 2>&1 & "
        "until [ -s pid ]; do :; done\n"
    )
    run(tmp_path / "a", script, sandbox)
    assert not sleeping("613")


@pytest.mark.parametrize("sandbox", BOTH)
def test_has_its_time_to_end_well(tmp_path: Path, sandbox: str) -> None:
    script = "trap 'sleep 0.3; echo saved; exit 0' TERM\necho ready\nwhile :; do sleep 0.1; done\n"
    result = with_growing_limit(
        lambda wall: run(tmp_path / str(wall), script, sandbox, wall_seconds=wall),
        lambda result: (result.outputs_dir / "stdout.txt").read_text() != "",
    )
    assert result.record.termination == "timeout"
    assert (result.outputs_dir / "stdout.txt").read_text() == "ready\nsaved\n"


@needs("strace")
def test_is_not_started_by_what_isolates_it(tmp_path: Path) -> None:
    broken = tmp_path / "bwrap"
    broken.write_text("#!/bin/sh\necho 'bwrap: no permissions' >&2\nexit 1\n")
    broken.chmod(0o755)
    result = run(tmp_path / "a", "true\n", BubblewrapSandbox(broken))
    assert (result.record.termination, result.record.exit_code) == ("infrastructure", 1)
    assert result.message.splitlines() == [
        "main was not started: what isolates it failed",
        "bwrap: no permissions",
    ]


@needs("tmpfs")
def test_fills_the_disk_beside_its_outputs(tmp_path: Path) -> None:
    with mounted_disk(tmp_path / "disk", "8m") as disk:
        script = 'while :; do head -c 60000 /dev/zero >> "$RRA_CODE_DIR/big" || exit 1; done\n'
        result = run(disk / "a", script, "none")
        assert result.record.termination == "disk"


@pytest.mark.parametrize("sandbox", BOTH)
def test_changes_the_clock_that_it_sees(tmp_path: Path, sandbox: str) -> None:
    before = clock.now()
    script = 'date() { echo 1999; }; date; unset RRA_NONCE; "$0" 2>/dev/null; exit 0\n'
    variables = {"LD_PRELOAD": "/usr/lib/faketime/libfaketime.so.1", "FAKETIME": "-20y"}
    record = run(tmp_path / "a", script, sandbox, variables=variables).record
    assert clock.iso(before) <= record.started <= record.ended <= clock.iso(clock.now())
    assert 0 < record.resources.wall < 120
    said = "LD_PRELOAD was set: programs may have been shown another time, or other files"
    assert said in (record.recorder.gaps or [])


@pytest.mark.parametrize("sandbox", BOTH)
def test_takes_the_terminal(tmp_path: Path, sandbox: str) -> None:
    artifact = write_artifact(
        tmp_path / "a",
        {"launchers/main.sh": "read -r line </dev/tty && echo took $line; tty; exit 0\n"},
    )
    program = f"""
        from pathlib import Path
        from rra.artifact import load_artifact
        from rra.launch import run_launcher
        from rra.sandbox import best_sandbox
        from tests.support.runs import request
        open("/dev/tty").close()
        asked = request(load_artifact(Path({str(artifact.root)!r})))
        import dataclasses
        run_launcher(dataclasses.replace(asked, sandbox=best_sandbox({sandbox!r})))
        """
    pid, terminal = os.forkpty()
    if pid == 0:
        os.execv(sys.executable, [sys.executable, "-c", textwrap.dedent(program)])
    os.write(terminal, b"secret\n")
    with contextlib.suppress(OSError):  # the terminal ends with the program
        while os.read(terminal, 1 << 16):
            pass
    os.close(terminal)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    (stored,) = EvidenceStore(artifact.root / "evidence").records()
    assert (stored.directory / "stdout.txt").read_text() == "not a tty\n"


@pytest.mark.parametrize("sandbox", BOTH)
def test_is_cancelled(tmp_path: Path, sandbox: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "GRACE_SECONDS", 0.2)
    result = run(tmp_path / "a", "exec sleep 600\n", sandbox, cancelled=lambda: True)
    assert (result.ok, result.record.termination) == (False, "cancelled")


@pytest.mark.clause("execution-record/every-run")
def test_is_interrupted_and_recorded(tmp_path: Path) -> None:
    def interrupt() -> bool:
        calls.append(1)
        if len(calls) == 1:
            raise KeyboardInterrupt
        return False

    calls: list[int] = []
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path / "a", "exec sleep 600\n", "none", cancelled=interrupt)
    (stored,) = EvidenceStore(tmp_path / "a" / "evidence").records()
    assert stored.record.termination == "cancelled"
