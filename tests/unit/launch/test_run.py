from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from rra._base import canonical
from rra._base.files import sha256_bytes
from rra._base.yaml import parse_yaml
from rra.bundle import core_digest
from rra.errors import LaunchError, StorageError, UsageError
from rra.evidence import EvidenceStore, read_events, verify_record
from rra.launch import RunResult, run_launcher
from rra.sandbox import best_sandbox
from rra.schema import check_document
from tests.support.needs import needs
from tests.support.runs import NONCE, host_environment, path_without, request, write_artifact

SCRIPT = 'echo \'{"accuracy": 0.989}\' > "$RRA_OUTPUT_DIR/metrics.json"\n'
LADDER = [
    pytest.param(("bwrap", "strace"), id="bwrap+strace", marks=[needs("bwrap"), needs("strace")]),
    pytest.param(("bwrap",), id="bwrap", marks=needs("bwrap")),
    pytest.param(("strace",), id="strace", marks=needs("strace")),
    pytest.param((), id="neither"),
]


@pytest.fixture
def tools(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[str, ...]:
    """Have only these of bwrap and strace on PATH."""
    (tmp_path / "bin").mkdir()
    missing = {"bwrap", "strace"} - {*request.param}
    monkeypatch.setenv("PATH", path_without(tmp_path / "bin", *missing))
    found: tuple[str, ...] = request.param
    return found


def run(root: Path, files: dict[str, str], launcher: str = "main", **more: Any) -> RunResult:
    """Write an artifact and run one launcher of it; keys of the request are told from others."""
    asked = {key: more.pop(key) for key in list(more) if key in REQUEST}
    return run_launcher(request(write_artifact(root, files, **more), launcher, **asked))


REQUEST = {"seed", "parameters", "smoke", "instance", "sandbox", "wall_seconds", "evidence", "core"}


@pytest.mark.parametrize("tools", LADDER, indirect=True)
@pytest.mark.clause("execution-record/never-fails-for-a-level")
@pytest.mark.clause("execution-record/observed-reads")
@pytest.mark.clause("execution-record/observed-seeds")
def test_a_run_is_recorded_as_closely_as_the_machine_allows(
    tmp_path: Path, tools: tuple[str, ...]
) -> None:
    files = {
        "launchers/main.sh": "python train.py data.txt\necho done\necho wrong >&2\n",
        "code/train.py": (
            "import json, os, random, sys\n"
            "random.seed(int(os.environ['RRA_SEED']))\n"
            "value = float(open(sys.argv[1]).read()) + float(open(os.environ['RRA_DATA_DIR'] +"
            " '/x.csv').read())\n"
            "open('own.txt', 'w').write('1'); open('own.txt').read()\n"
            "out = os.environ['RRA_OUTPUT_DIR'] + '/metrics.json'\n"
            "json.dump({'accuracy': value}, open(out, 'w'))\n"
        ),
        "code/data.txt": "0.5\n",
        "code/unread.txt": "",
        "data/x.csv": "0.25\n",
        "data/other.csv": "",
    }
    data = {"x": {"path": "data/x.csv"}, "other": {"path": "data/other.csv"}}
    launchers = {"main": {"outputs": ["metrics.json"], "inputs": ["x"], "seeds": {"values": [5]}}}
    artifact = write_artifact(tmp_path / "a", files, launchers=launchers, data=data)
    result = run_launcher(request(artifact))
    record = result.record
    assert (result.ok, record.termination, record.exit_code) == (True, "ok", 0)
    assert record.sandbox.level == ("bwrap" if "bwrap" in tools else "none")
    assert record.recorder.level == ("strace" if "strace" in tools else "audit-hook")
    inputs = {one.path: one.role for one in record.inputs}
    read = {
        "code/data.txt": "unknown",
        "code/train.py": "code",
        "data/x.csv": "data",
        "launchers/main.sh": "launcher",
    }
    expected = read if "strace" in tools else {**read, "code/unread.txt": "unknown"}
    assert inputs == expected
    assert bool(record.recorder.gaps) == ("strace" not in tools)
    assert (record.seed.declared, record.seed.observed) == (5, [5])
    assert [one.path for one in record.outputs] == ["metrics.json", "stderr.txt", "stdout.txt"]
    assert json.loads((result.outputs_dir / "metrics.json").read_text()) == {"accuracy": 0.75}
    assert (result.outputs_dir / "stdout.txt").read_text() == "done\n"
    assert result.evidence_dir is not None
    events = read_events(result.evidence_dir / "events.jsonl")
    seen = {event["path"] for event in events if event["kind"] == "read"}
    assert {"code/data.txt", "code/train.py", "data/x.csv"} - seen <= (
        set() if "strace" in tools else {"code/train.py"}  # Python opens its script before us
    )
    assert (record.other_writes, record.network_attempts) == ([], [])


def test_the_record_is_valid_named_by_its_digest_and_verifies(tmp_path: Path) -> None:
    artifact = write_artifact(tmp_path / "a", {"launchers/main.sh": SCRIPT})
    result = run_launcher(request(artifact))
    document = result.record.to_json()
    assert canonical.digest(document) == result.record_digest
    text = canonical.dumps(document).decode()
    assert check_document(parse_yaml(text, source="record.json"), "execution-record") == []
    (stored,) = EvidenceStore(artifact.root / "evidence").records()
    assert stored.directory == result.evidence_dir
    assert verify_record(stored) == []
    assert result.record.nonce == NONCE
    assert result.record.core == core_digest(artifact)
    assert result.record.argv == ["bash", "launchers/main.sh"]


@pytest.mark.clause(
    "launcher/given-variables", "launcher/nothing-of-the-caller", "launcher/private-copy"
)
@pytest.mark.clause("execution-record/no-person")
@pytest.mark.clause("execution-record/nonce-is-given")
def test_what_the_launcher_is_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "x")
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.setenv("LC_ALL", "C")
    script = 'env > "$RRA_OUTPUT_DIR/env"; cat "$RRA_PARAMETERS"; ls "$RRA_OUTPUT_DIR"; pwd\n'
    launchers = {
        "main": {
            "outputs": ["env"],
            "parameters": {"k-folds": {"type": "integer", "default": 10}},
            "variables": {"PYTHONHASHSEED": "0", "PYTHONPATH": "src"},
        }
    }
    files = {"launchers/main.sh": script, "code/src/x.py": ""}
    result = run(tmp_path / "a", files, launchers=launchers, seed=4, smoke=True)
    lines = (result.outputs_dir / "env").read_text().splitlines()
    env = dict(line.split("=", 1) for line in lines)
    assert env["RRA_NONCE"] == NONCE
    assert (env["RRA_SEED"], env["RRA_PARAM_K_FOLDS"], env["RRA_SMOKE"]) == ("4", "10", "1")
    assert (env["PYTHONHASHSEED"], env["OMP_NUM_THREADS"], env["LANG"]) == ("0", "1", "C.UTF-8")
    assert env["PYTHONPATH"].endswith(":src")
    assert env["RRA_DATA_DIR"] == str(tmp_path / "a" / "data")
    assert env["RRA_OUTPUT_DIR"] == env["RRA_OUTPUTS_ROOT"] + "/main"
    assert env["PATH"].split(":")[0] == str(host_environment().bin)
    assert not {"SECRET_TOKEN", "LC_ALL", "USER", "RRA_CACHE", "RRA_STATE"} & env.keys()
    printed = (result.outputs_dir / "stdout.txt").read_text().splitlines()
    assert printed[0] == '{"k-folds":10}'
    assert printed[1:] == ["env", env["RRA_CODE_DIR"]]
    assert result.record.environment.variables == {
        "LANG": "C.UTF-8",
        "OMP_NUM_THREADS": "1",
        "PYTHONHASHSEED": "0",
    }
    assert result.record.parameters == {"k-folds": 10}


@pytest.mark.clause("launcher/runs-in-its-environment")
def test_python_launchers_run_in_the_environment(tmp_path: Path) -> None:
    script = "import os, sys; open(os.environ['RRA_OUTPUT_DIR'] + '/p', 'w').write(sys.prefix)"
    launchers = {"main": {"entry": "launchers/main.py", "outputs": ["p"]}}
    result = run(tmp_path / "a", {"launchers/main.py": script}, launchers=launchers)
    assert (result.outputs_dir / "p").read_text() == str(host_environment().bin.parent)
    assert result.record.argv == ["python", "launchers/main.py"]


def test_an_entry_that_is_missing_is_said(tmp_path: Path) -> None:
    with pytest.raises(LaunchError, match="is not there"):
        run(tmp_path / "c", {})


@pytest.mark.clause("launcher/collects-what-was-written", "launcher/success")
@pytest.mark.clause("execution-record/written-by-this-run")
def test_only_what_this_run_wrote_is_collected(tmp_path: Path) -> None:
    committed = {"code/results/old.json": "{}", "code/results/new.json": "{}"}
    script = "echo '{\"accuracy\": 1}' > results/new.json\n"
    launchers = {
        "main": {"outputs": ["new.json"], "collect": {"results/*.json": "."}},
        "lazy": {"outputs": ["old.json"], "collect": {"results/old.json": "old.json"}},
    }
    files = {**committed, "launchers/main.sh": script, "launchers/lazy.sh": "true\n"}
    result = run(tmp_path / "a", files, launchers=launchers)
    names = sorted(path.name for path in result.outputs_dir.iterdir())
    assert names == ["new.json", "stderr.txt", "stdout.txt"]
    lazy = run(tmp_path / "a", files, "lazy", launchers=launchers)
    assert (lazy.ok, lazy.record.missing_outputs) == (False, ["old.json"])
    assert "results/old.json is in the code, but this run did not write it" in lazy.message
    assert (tmp_path / "a" / "code" / "results" / "new.json").read_text() == "{}"


def test_results_that_nothing_took_are_named(tmp_path: Path) -> None:
    script = (
        "mkdir -p results __pycache__ .pytest_cache && echo 1 > results/x.bin\n"
        "echo 2 > scores.json; echo 3 > named; echo 4 > unnamed; echo 5 > taken.json\n"
        "echo 6 > copied.json; cp copied.json $RRA_OUTPUT_DIR/metrics.json\n"
        "echo 7 > __pycache__/a.json; echo 8 > .pytest_cache/b.json; echo 9 > old.csv\n"
    )
    files = {"launchers/main.sh": script, "code/README.md": "Writes `named`.\n"}
    files |= {"code/old.csv": "", "code/untouched.csv": ""}
    launchers = {"main": {"outputs": ["metrics.json"], "collect": {"taken.json": "taken.json"}}}
    result = run(tmp_path / "a", files, launchers=launchers)
    assert result.ok
    assert result.uncollected == ("named", "old.csv", "results/x.bin", "scores.json")


@pytest.mark.clause("launcher/given-outputs-of-needs")
def test_a_launcher_reads_the_outputs_of_those_it_needs(tmp_path: Path) -> None:
    files = {
        "launchers/first.sh": 'echo 7 > "$RRA_OUTPUT_DIR/x"\n',
        "launchers/second.sh": 'cat "$RRA_OUTPUTS_ROOT/first/x" > "$RRA_OUTPUT_DIR/y"\n',
    }
    launchers = {"first": {"outputs": ["x"]}, "second": {"outputs": ["y"], "needs": ["first"]}}
    with pytest.raises(UsageError, match="needs the outputs of first"):
        run(tmp_path / "a", files, "second", launchers=launchers)
    run(tmp_path / "a", files, "first", launchers=launchers)
    result = run(tmp_path / "a", files, "second", launchers=launchers)
    assert (result.outputs_dir / "y").read_text() == "7\n"
    assert ("outputs/first/x", "output") in [(i.path, i.role) for i in result.record.inputs]


@pytest.mark.clause("launcher/artifact-is-read-only")
@needs("bwrap")
@pytest.mark.clause("execution-record/private-code")
def test_outputs_of_others_and_the_artifact_are_read_only(tmp_path: Path) -> None:
    second = (
        'echo 8 > "$RRA_OUTPUTS_ROOT/first/x" || echo refused\n'
        'echo 8 > "$RRA_DATA_DIR/x.csv" || echo refused\n'
        'rm -rf "$RRA_DATA_DIR" || echo refused\n'
        'ls -a "$RRA_DATA_DIR/.."\n'
        'ls "$RRA_DATA_DIR/../evidence" "$RRA_DATA_DIR/../outputs"\n'
    )
    files = {
        "launchers/first.sh": 'echo 7 > "$RRA_OUTPUT_DIR/x"\n',
        "launchers/second.sh": second,
        "data/x.csv": "1\n",
        ".git/HEAD": "ref: x",
    }
    launchers = {"first": {"outputs": ["x"]}, "second": {"needs": ["first"]}}
    data = {"x": {"path": "data/x.csv"}}
    run(tmp_path / "a", files, "first", launchers=launchers, data=data)
    result = run(tmp_path / "a", files, "second", launchers=launchers, data=data)
    printed = (result.outputs_dir / "stdout.txt").read_text()
    assert printed.count("refused") == 3
    assert "HEAD" not in printed
    assert "first" not in printed
    assert (tmp_path / "a" / "outputs" / "first" / "x").read_text() == "7\n"
    assert (tmp_path / "a" / "data" / "x.csv").read_text() == "1\n"


def test_instances_have_outputs_of_their_own(tmp_path: Path) -> None:
    files = {"launchers/main.sh": SCRIPT}
    result = run(tmp_path / "a", files, instance="seed-3", seed=3)
    assert result.outputs_dir == tmp_path / "a" / "outputs" / "main" / "seed-3"
    assert (result.outputs_dir / "metrics.json").is_file()
    assert result.record.instance == "seed-3"


@pytest.mark.clause("launcher/success")
@pytest.mark.clause("execution-record/every-run")
def test_a_failure_keeps_its_evidence_and_the_outputs_of_the_last_success(tmp_path: Path) -> None:
    good = run(tmp_path / "a", {"launchers/main.sh": SCRIPT})
    bad = run(tmp_path / "a", {"launchers/main.sh": SCRIPT + "echo why >&2; exit 3\n"})
    assert (bad.ok, bad.record.termination, bad.record.exit_code) == (False, "exit", 3)
    assert bad.message.splitlines()[0].startswith("main ended with exit status 3 after ")
    assert bad.message.splitlines()[1:] == ["why"]
    assert bad.evidence_dir is not None
    assert bad.outputs_dir == bad.evidence_dir / "outputs"
    assert (bad.outputs_dir / "metrics.json").is_file()
    assert (good.outputs_dir / "stderr.txt").read_text() == ""


def test_without_a_store_no_evidence_is_kept(tmp_path: Path) -> None:
    result = run(tmp_path / "a", {"launchers/main.sh": SCRIPT}, evidence=None)
    assert (result.ok, result.evidence_dir) == (True, None)
    assert (result.outputs_dir / "metrics.json").is_file()
    assert not (tmp_path / "a" / "evidence").exists()


@pytest.mark.clause("launcher/output-directory-starts-empty", "launcher/private-copy")
@pytest.mark.clause("execution-record/empty-outputs")
def test_outputs_start_empty_and_nothing_else_is_left_behind(tmp_path: Path) -> None:
    first = SCRIPT + 'touch "$RRA_OUTPUT_DIR/first"\n'
    run(tmp_path / "a", {"launchers/main.sh": first})
    result = run(tmp_path / "a", {"launchers/main.sh": SCRIPT})
    assert not (result.outputs_dir / "first").exists()
    assert [path.name for path in (tmp_path / "a" / "outputs").iterdir()] == ["main"]
    assert list((tmp_path / "a" / "code").iterdir()) == []


def test_two_runs_have_two_records(tmp_path: Path) -> None:
    one = run(tmp_path / "a", {"launchers/main.sh": SCRIPT})
    two = run(tmp_path / "a", {"launchers/main.sh": SCRIPT})
    assert one.record_digest != two.record_digest
    assert len(EvidenceStore(tmp_path / "a" / "evidence").records("main")) == 2


def test_unknown_names_are_usage_errors(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no launcher 'mian'") as caught:
        run(tmp_path / "a", {"launchers/main.sh": SCRIPT}, "mian")
    assert caught.value.hint == "did you mean main?"
    with pytest.raises(UsageError, match="no parameter 'x'"):
        run(tmp_path / "a", {"launchers/main.sh": SCRIPT}, parameters={"x": 1})


@needs("bwrap")
def test_a_network_for_some_hosts_is_said_to_be_open_for_all(tmp_path: Path) -> None:
    launchers = {"main": {"network": ["data.example.org"], "outputs": ["metrics.json"]}}
    result = run(tmp_path / "a", {"launchers/main.sh": SCRIPT}, launchers=launchers)
    (gap,) = result.record.sandbox.gaps
    assert "data.example.org" in gap


@pytest.mark.clause("execution-record/elsewhere-is-said")
def test_writes_elsewhere_are_recorded_without_isolation(tmp_path: Path) -> None:
    files = {"launchers/main.sh": SCRIPT + 'echo 2 > "$RRA_DATA_DIR/x.csv"\n', "data/x.csv": "1"}
    result = run(tmp_path / "a", files, sandbox=best_sandbox("none"))
    assert result.ok
    assert result.record.other_writes == ["data/x.csv"]
    assert any("artifact included" in gap for gap in result.record.sandbox.gaps)


@needs("strace")
@pytest.mark.parametrize(
    "level", ["none", pytest.param("bwrap", marks=needs("bwrap"))], ids=["none", "bwrap"]
)
@pytest.mark.clause("execution-record/elsewhere-is-said")
def test_what_stays_in_the_memory_of_the_machine_is_a_write_elsewhere(
    tmp_path: Path, level: str
) -> None:
    """What a run removed there again, as semaphores are, has no name that says anything."""
    if not os.access("/dev/shm", os.W_OK):
        pytest.skip("/dev/shm cannot be written here")
    name = f"/dev/shm/rra-test-{os.getpid()}"
    script = f"echo 1 > {name}; echo 2 > {name}.gone; rm {name}.gone; echo 3 > /dev/null\n"
    try:
        result = run(
            tmp_path / "a", {"launchers/main.sh": SCRIPT + script}, sandbox=best_sandbox(level)
        )
        assert Path(name).exists() == (level == "none")
    finally:
        Path(name).unlink(missing_ok=True)
    assert result.ok
    assert result.record.other_writes == ([name] if level == "none" else [])


@pytest.mark.clause("launcher/limits-end-a-run")
def test_the_smallest_wall_limit_counts(tmp_path: Path) -> None:
    launchers = {
        "main": {
            "outputs": ["metrics.json"],
            "limits": {"wall": 600},
            "smoke": {"wall": 0.2},
        }
    }
    files = {"launchers/main.sh": "sleep 600\n"}
    result = run(tmp_path / "a", files, launchers=launchers, smoke=True)
    assert result.record.termination == "timeout"
    assert "had not ended at its limit of time" in result.message


def test_b13_a_launcher_that_is_not_executable_runs_by_its_interpreter(tmp_path: Path) -> None:
    script = '#!/bin/sh\necho \'{"accuracy": 1}\' > "$RRA_OUTPUT_DIR/metrics.json"\n'
    artifact = write_artifact(tmp_path / "a", {"launchers/main.sh": script})
    (artifact.root / "launchers/main.sh").chmod(0o644)
    result = run_launcher(request(artifact))
    assert result.ok
    assert result.record.argv == ["bash", "launchers/main.sh"]


@pytest.mark.parametrize("first", ["#!/bin/sh", "#!/usr/bin/env bash", "echo 1"])
def test_b14_a_launcher_with_windows_line_ends_is_refused_with_the_reason(
    tmp_path: Path, first: str
) -> None:
    artifact = write_artifact(tmp_path / "a", {"launchers/main.sh": f"{first}\r\necho 2\r\n"})
    with pytest.raises(LaunchError, match=r"main.sh has Windows line ends \(CRLF\)") as caught:
        run_launcher(request(artifact))
    assert caught.value.hint == "convert it: sed -i 's/\\r$//' launchers/main.sh"


@needs("bwrap")
def test_outputs_and_evidence_may_be_links_to_another_disk(tmp_path: Path) -> None:
    """They are hidden all the same, and what others put there is set aside, not removed."""
    script = SCRIPT + 'ls -A "$RRA_OUTPUTS_ROOT/../../.." >"$RRA_OUTPUT_DIR/seen.txt" || true\n'
    artifact = write_artifact(tmp_path / "a", {"launchers/main.sh": script})
    for name in ("outputs", "evidence"):
        (tmp_path / "scratch" / name).mkdir(parents=True)
        (artifact.root / name).symlink_to(f"../scratch/{name}")
    (tmp_path / "scratch/outputs/main").mkdir()
    (tmp_path / "scratch/outputs/main/mine.txt").write_text("mine\n")
    asked = request(artifact, sandbox=best_sandbox("bwrap"))
    result = run_launcher(asked)
    assert result.ok, result.message
    assert (tmp_path / "scratch/outputs/main/metrics.json").is_file()
    (kept,) = (tmp_path / "scratch/outputs/.rra-kept").glob("main-*/mine.txt")
    assert kept.read_text() == "mine\n"
    assert "set aside" in result.message
    assert run_launcher(asked).message.count("set aside") == 0


@pytest.mark.parametrize("sandbox", ["none", pytest.param("bwrap", marks=needs("bwrap"))])
def test_outputs_and_code_with_folders_too_deep_for_a_path_leave_a_record(
    tmp_path: Path, sandbox: str
) -> None:
    name = "d" * 100  # 60 of them are longer than the system takes as one path
    deep = f"for i in $(seq 60); do mkdir {name} && cd {name}; done; echo 1 > lost.txt\n"
    script = f'({deep})\ncd "$RRA_OUTPUT_DIR"\n{SCRIPT}{deep}'
    result = run(tmp_path / "a", {"launchers/main.sh": script}, sandbox=best_sandbox(sandbox))
    assert result.ok
    first, note = result.message.splitlines()
    assert first.startswith("main ended well")
    assert note.startswith("left out of the outputs: dddddddddd")
    assert len(note) < 400
    assert note.endswith("its path has more than 2048 bytes or 100 folders")
    assert any("too deep to be looked at" in gap for gap in result.record.recorder.gaps)
    assert (result.outputs_dir / "metrics.json").is_file()
    assert not list((tmp_path / "a" / "outputs").glob(".rra-staging-*"))
    assert result.evidence_dir is not None
    store = EvidenceStore(tmp_path / "a" / "evidence")
    assert verify_record(store.read(result.evidence_dir)) == []


def test_an_input_has_the_digest_from_before_the_run_that_changed_it(tmp_path: Path) -> None:
    script = (
        SCRIPT + 'cat "$RRA_DATA_DIR"/*.csv\necho evil >> "$RRA_DATA_DIR/in.csv"\n'
        'rm "$RRA_DATA_DIR/gone.csv"\n'
    )
    names = {"in": "1\n", "gone": "2\n", "same": "3\n"}
    files = {f"data/{name}.csv": text for name, text in names.items()}
    artifact = write_artifact(
        tmp_path / "a",
        {"launchers/main.sh": script, **files},
        data={name: {"path": f"data/{name}.csv"} for name in names},
    )
    result = run_launcher(request(artifact, sandbox=best_sandbox("none")))
    assert result.ok
    listed = {one.path: one.sha256 for one in result.record.inputs}
    assert {path: sha256_bytes(text.encode()) for path, text in files.items()}.items() <= (
        listed.items()
    )
    gaps = [gap for gap in result.record.recorder.gaps if gap.startswith("changed during the run")]
    assert gaps == [
        "changed during the run, data/gone.csv: its digest is from before",
        "changed during the run, data/in.csv: its digest is from before",
    ]


def test_no_launcher_is_started_or_blamed_where_others_filled_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rra.launch.ending.little_room", lambda place: True)
    with pytest.raises(StorageError, match="main was not started: no space left") as caught:
        run(tmp_path / "a", {"launchers/main.sh": SCRIPT})
    assert caught.value.exit_code == 3
    assert not (tmp_path / "a" / "evidence").exists()
    assert not list((tmp_path / "a" / "outputs").glob(".rra-staging-*"))


def test_outputs_beyond_a_limit_are_not_called_a_full_disk(tmp_path: Path) -> None:
    launchers = {"main": {"outputs": [{"name": "metrics.json", "max_bytes": 4}]}}
    result = run(tmp_path / "a", {"launchers/main.sh": SCRIPT}, launchers=launchers)
    assert result.record.termination == "disk"
    assert result.message.splitlines()[0] == "main left more outputs than its limits allow"
