"""Two calls of ``rra run`` on one artifact at once make each run once, whatever becomes of one."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from rra.evidence import EvidenceStore, StoredRecord, verify_record
from tests.support.runs import path_without, write_artifact

ROOT = Path(__file__).resolve().parents[2]
RUNNER = (
    "import sys; from pathlib import Path\n"
    "from rra import api\n"
    "say = lambda line: print(line, flush=True)\n"
    "done = api.run(Path(sys.argv[1]), seeds='0:2', jobs=2, sandbox='none', progress=say)\n"
    "say('states ' + ' '.join(sorted(one.state for one in done.runs)))\n"
    "say('values ' + ' '.join(str(one.value) for one in done.values))\n"
    "sys.exit(done.exit_code)\n"
)
SEEDED = {"seeds": {}, "outputs": ["x"]}
LAUNCHERS = {"first": SEEDED, "second": {"needs": ["first"], **SEEDED}}
#: Goes on when nobody holds it any more.
WAITS = 'while [ -e "${RRA_DATA_DIR%/a/data}/hold" ]; do read -t 0.05 < <(sleep 1); done\n'
SCRIPTS = {
    "launchers/first.sh": f'echo begun; {WAITS}echo "$RRA_NONCE" > "$RRA_OUTPUT_DIR/x"\n',
    "launchers/second.sh": 'cat "$RRA_OUTPUTS_ROOT/first/x" > "$RRA_OUTPUT_DIR/x"\n',
}
SELECTOR = {
    "launcher": "second",
    "file": "x",
    "regex": "(?P<value>.+)",
    "pick": "first",
    "runs": {"seeds": [0]},
}
EXPERIMENTS = {
    "table": {"outcomes": {"n": {"type": "category", "reported": "x", "selector": SELECTOR}}}
}


@contextlib.contextmanager
def runner(root: Path, path: str) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        [sys.executable, "-c", RUNNER, str(root)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": f"{ROOT}/src:{ROOT}", "PATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def until(process: subprocess.Popen[str], *words: str) -> list[str]:
    """Read what a call says until each of some words was said; return the lines."""
    assert process.stdout is not None
    lines: list[str] = []
    missing = set(words)
    while missing:
        line = process.stdout.readline()
        assert line, lines
        lines.append(line)
        missing -= {word for word in missing if word in line}
    return lines


def artifact(folder: Path) -> tuple[Path, str]:
    (folder / "bin").mkdir()
    (folder / "hold").touch()
    path = path_without(folder / "bin", "strace")
    made = write_artifact(folder / "a", SCRIPTS, launchers=LAUNCHERS, experiments=EXPERIMENTS)
    return made.root, path


def records(root: Path) -> list[StoredRecord]:
    found = EvidenceStore(root / "evidence").records()
    assert [problem for one in found for problem in verify_record(one)] == []
    return found


def test_the_second_waits_and_takes_what_the_first_has_made(tmp_path: Path) -> None:
    root, path = artifact(tmp_path)
    with runner(root, path) as one, runner(root, path) as other:
        said = [
            *until(one, "first/seed=0", "first/seed=1"),
            *until(other, "first/seed=0", "first/seed=1"),
        ]
        (tmp_path / "hold").unlink()
        both = [process.communicate()[0] for process in (one, other)]
    assert [one.returncode, other.returncode] == [0, 0], both
    stored = records(root)
    named = sorted(f"{one.record.launcher.id}/{one.record.instance}" for one in stored)
    assert named == ["first/seed=0", "first/seed=1", "second/seed=0", "second/seed=1"]
    values = {line for text in both for line in text.splitlines() if line.startswith("values")}
    assert len(values) == 1, "both give the same"
    assert "waiting for that" in "".join([*said, *both])


def test_the_second_goes_on_where_the_first_was_killed(tmp_path: Path) -> None:
    root, path = artifact(tmp_path)
    with runner(root, path) as one:
        until(one, "first/seed=0: begun", "first/seed=1: begun")
        with runner(root, path) as other:
            until(other, "first/seed=0: another rra", "first/seed=1: another rra")
            one.kill()
            one.wait()
            (tmp_path / "hold").unlink()
            said = other.communicate()[0]
    assert other.returncode == 0, said
    ends = [one.record.termination for one in records(root)]
    assert sorted(ends) == ["infrastructure"] * 2 + ["ok"] * 4
    nonces = {one.record.nonce for one in records(root) if one.record.ok}
    assert len(nonces) == 1
    left = [path.read_text().strip() for path in (root / "outputs").glob("second/seed=*/x")]
    assert left == [*nonces] * 2


def test_a_forced_run_is_made_whatever_else_runs(tmp_path: Path) -> None:
    root, path = artifact(tmp_path)
    forced = RUNNER.replace("jobs=2", "jobs=2, force=True, launchers=['first']")
    with runner(root, path) as one:
        until(one, "first/seed=0: begun", "first/seed=1: begun")
        environment = {**os.environ, "PYTHONPATH": f"{ROOT}/src:{ROOT}", "PATH": path}
        with subprocess.Popen(
            [sys.executable, "-c", forced, str(root)],
            cwd=ROOT,
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
        ) as other:
            until(other, "first/seed=0: begun", "first/seed=1: begun")
            (tmp_path / "hold").unlink()
            other.communicate()
        one.communicate()
    assert len([one for one in records(root) if one.record.launcher.id == "first"]) == 4


def test_a_claim_names_who_has_it(tmp_path: Path) -> None:
    root, path = artifact(tmp_path)
    with runner(root, path) as one:
        until(one, "first/seed=0: begun")
        (claim,) = (root / "outputs" / ".rra-claims").glob("first+seed=0-*")
        assert json.loads(claim.read_text())["pid"] == one.pid
