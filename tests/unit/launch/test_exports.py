"""Plans as Makefiles and Snakefiles, carried out by make and Snakemake with nothing of ours."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from rra import api
from rra.api._run import ExportedPlan
from rra.errors import UsageError
from rra.launch.collect import _compile
from rra.launch.exports.expressions import expression
from tests.support.exports import ODD, TASKS, call, outputs_of, write_study
from tests.support.needs import needs
from tests.support.runs import write_artifact


@pytest.fixture(scope="module")
def wanted(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """What `rra run` leaves of the study."""
    root = write_study(tmp_path_factory.mktemp("own")).root
    assert api.run(root, seeds="declared", sandbox="none").ok
    found = outputs_of(root)
    assert found["train/seed=2/deep/x.txt"].decode() == f"2|{ODD}|it's $MODE"
    assert found["train/seed=2/stderr.txt"] == b"warned 2\n"
    return found


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write_study(tmp_path / "with space").root


def export(root: Path, name: str) -> ExportedPlan:
    done = api.run(root, seeds="declared", export=root / name).exported
    assert done is not None
    return done


def make(root: Path, *more: str) -> subprocess.CompletedProcess[str]:
    return call("make", "-f", "runs.mk", *more, cwd=root)


@needs("make")
def test_b29_make_leaves_what_a_run_leaves_and_does_nothing_twice(
    root: Path, wanted: dict[str, bytes]
) -> None:
    done = export(root, "runs.mk")
    assert (done.kind, done.tasks, done.start) == ("make", TASKS, "make -f runs.mk -j 2")
    bare = ("env", "-i", "PATH=/usr/bin:/bin")
    first = call(*bare, "make", "-f", "runs.mk", "-j", "2", cwd=root)
    assert (first.returncode, first.stderr) == (0, "")
    assert outputs_of(root) == wanted
    assert not list(root.rglob("p"))
    assert not list((root / "outputs").glob(".export.*"))
    again = make(root)
    assert again.stdout == "make: Nothing to be done for 'all'.\n"


@needs("make")
def test_what_changed_runs_again_with_what_reads_it(root: Path) -> None:
    export(root, "runs.mk")
    assert make(root).stdout.count("done ") == 5
    script = root / "launchers/train.sh"
    first = script.read_text()
    for text, line in ((f"{first}echo more\n", "said 1\nmore\n"), (first, "said 1\n")):
        script.write_text(text)
        export(root, "runs.mk")
        assert make(root).stdout.count("done ") == 5, "what another plan left is not its own"
        assert (root / "outputs/train/seed=1/stdout.txt").read_text() == line


@needs("make")
@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("echo last words >&2; exit 7", "train/seed=1: it ended with status 7"),
        ("true", "train/seed=1: it did not leave **/[!a-w]*.txt"),
        ('echo >"$RRA_OUTPUT_DIR/a.txt"', "train/seed=1: it did not leave **/[!a-w]*.txt"),
    ],
)
def test_a_failure_keeps_earlier_outputs_and_stops_what_needs_it(
    tmp_path: Path, script: str, said: str
) -> None:
    root = write_study(tmp_path, train=f"{script}\n").root
    (root / "outputs/train/seed=1").mkdir(parents=True)
    (root / "outputs/train/seed=1/old").write_text("old")
    export(root, "runs.mk")
    done = make(root)
    assert done.returncode == 2
    assert said in done.stderr
    assert ("last words" in done.stderr) == ("words" in script)
    assert outputs_of(root) == {"train/seed=1/old": b"old"}
    assert "score" not in done.stdout


@needs("make")
def test_a_limit_of_time_ends_a_run_and_what_it_started(tmp_path: Path) -> None:
    script = f"echo $$ >{tmp_path}/pid; sleep 1000 & echo $! >{tmp_path}/child; wait\n"
    launchers = {"main": {"outputs": ["x"], "limits": {"wall": 0.5}}}
    root = write_artifact(tmp_path / "a", {"launchers/main.sh": script}, launchers=launchers).root
    api.run(root, export=root / "runs.mk")
    assert "main: it was ended after 1 s" in make(root).stderr
    child = int((tmp_path / "child").read_text())
    assert not Path(f"/proc/{child}").exists() or "Z" in Path(f"/proc/{child}/stat").read_text()


@needs("make")
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_what_is_interrupted_leaves_earlier_outputs_and_runs_again(
    tmp_path: Path, how: signal.Signals
) -> None:
    mark = tmp_path / "begun"
    script = (
        f'echo new >"$RRA_OUTPUT_DIR/x"; [ -e "{mark}" ] && exit; echo $$ >"{mark}.part"\n'
        f'mv "{mark}.part" "{mark}"; n=0; while [ $((n += 1)) -lt 600 ]; do sleep 0.1; done\n'
    )
    root = write_artifact(
        tmp_path / "a", {"launchers/main.sh": script}, launchers={"main": {"outputs": ["x"]}}
    ).root
    (root / "outputs/main").mkdir(parents=True)
    (root / "outputs/main/x").write_text("old")
    api.run(root, export=root / "runs.mk")
    with subprocess.Popen(["make", "-f", "runs.mk"], cwd=root, start_new_session=True) as started:
        wait_for(mark.exists)
        os.killpg(started.pid, how)
        assert started.wait(60) != 0
    launcher = int(mark.read_text())
    if how == signal.SIGKILL:
        os.kill(launcher, signal.SIGKILL)
    else:
        wait_for(lambda: not list((root / "outputs").glob(".export.*")))
        with pytest.raises(ProcessLookupError):
            os.kill(launcher, 0)
    assert outputs_of(root) == {"main/x": b"old"}
    assert make(root).returncode == 0
    assert (root / "outputs/main/x").read_text() == "new\n"


def wait_for(seen: Callable[[], bool]) -> None:
    for _ in range(600):
        if seen():
            return
        time.sleep(0.1)
    raise AssertionError("it did not happen")


@needs("make")
def test_programs_come_from_the_folder_that_a_variable_names(tmp_path: Path) -> None:
    launchers = {"main": {"entry": "launchers/main.py", "outputs": ["x"]}}
    script = (
        "import os, sys\n"
        "with open(os.environ['RRA_OUTPUT_DIR'] + '/x', 'w') as f: f.write(sys.executable)\n"
    )
    root = write_artifact(tmp_path / "a", {"launchers/main.py": script}, launchers=launchers).root
    programs = tmp_path / "its programs"
    programs.mkdir()
    (programs / "python").symlink_to(sys.executable)
    api.run(root, export=root / "runs.mk")
    assert "is not there" in call("make", "-f", "runs.mk", cwd=root, RRA_BIN_HOST="no").stderr
    done = call("make", "-f", "runs.mk", cwd=root, RRA_BIN_HOST="../its programs")
    assert done.returncode == 0, done.stderr
    assert (root / "outputs/main/x").read_text() == str(programs / "python")


@pytest.mark.slow
def test_snakemake_leaves_what_a_run_leaves_and_does_nothing_twice(
    tmp_path: Path, root: Path, wanted: dict[str, bytes]
) -> None:
    uv = Path(sys.executable).with_name("uv")
    place = tmp_path / "snakemake"
    subprocess.run([uv, "venv", "-q", "--python", sys.executable, place], check=True)
    subprocess.run([uv, "pip", "install", "-q", "--python", place, "snakemake"], check=True)
    export(root, "runs.smk")
    argv = (place / "bin/snakemake", "-s", "runs.smk", "--cores", "2")
    first = call(*argv, cwd=root, HOME=str(tmp_path))
    assert first.returncode == 0, first.stderr
    assert outputs_of(root) == wanted
    assert not list(root.rglob("p"))
    assert "Nothing to be done" in call(*argv, cwd=root, HOME=str(tmp_path)).stderr


@pytest.mark.parametrize("name", ["runs.mk", "runs.smk", "runs.sbatch"])
@pytest.mark.parametrize("value", ["a\nb", "a\rb", "\t\x00", "a\u2028b"])
def test_b29_a_line_break_in_a_value_is_refused(root: Path, name: str, value: str) -> None:
    with pytest.raises(UsageError, match=r"^train/.*: a value holds the character"):
        api.run(root, seeds="declared", export=root / name, parameters={"eq": value})
    assert not (root / name).exists()


def test_a_file_of_somebody_else_is_kept(root: Path) -> None:
    (root / "Makefile").write_text("all:\n\techo mine\n")
    with pytest.raises(UsageError, match="something is there that no export has written"):
        export(root, "Makefile")
    assert (root / "Makefile").read_text() == "all:\n\techo mine\n"
    with pytest.raises(UsageError, match="does not say what to write"):
        export(root, "runs.txt")


def test_a_file_may_not_become_part_of_the_artifact(root: Path, tmp_path: Path) -> None:
    for name in ("code/runs.mk", "launchers/runs.mk", "data/runs.mk"):
        with pytest.raises(UsageError, match="a part of the artifact"):
            export(root, name)
    export(root, "outputs/runs.mk")
    in_place = write_artifact(tmp_path / "b", {"launchers/main.sh": ""}, code={"root": "."}).root
    with pytest.raises(UsageError, match="a part of the artifact"):
        api.run(in_place, export=in_place / "runs.mk")


def test_folders_are_made_below_outputs_alone(root: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"there is no folder .*/new"):
        export(root, str(tmp_path / "new" / "runs.mk"))
    assert not (tmp_path / "new").exists()
    export(root, "outputs/new/runs.mk")


def test_a_launcher_that_needs_its_copy_of_the_code_is_warned_of(tmp_path: Path) -> None:
    files = {
        "launchers/bare.sh": 'cd "$RRA_CODE_DIR"\n',
        "launchers/own.sh": 'cd "${RRA_CODE_DIR:-code}"\n',
    }
    made = write_artifact(tmp_path / "a", files, launchers={"bare": {}, "own": {}}).root
    done = api.run(made, export=made / "runs.mk")
    said = [one.message for one in done.problems if "RRA_CODE_DIR" in one.message]
    assert said == ["bare uses RRA_CODE_DIR, which is not set where the file is started"]


@pytest.mark.parametrize(
    ("option", "value"),
    [("dry_run", True), ("force", True), ("resume", True), ("jobs", 2), ("backend", "slurm")],
)
def test_options_without_a_meaning_are_refused(root: Path, option: str, value: object) -> None:
    with pytest.raises(UsageError, match=f"--{option.replace('_', '-')} says nothing"):
        api.run(root, export=root / "runs.mk", **{option: value})  # type: ignore[arg-type]


def test_a_notebook_that_is_collected_from_is_refused(tmp_path: Path) -> None:
    launchers = {"nb": {"entry": "launchers/nb.ipynb", "collect": {"x": "x"}}}
    root = write_artifact(tmp_path, {"launchers/nb.ipynb": "{}"}, launchers=launchers).root
    with pytest.raises(UsageError, match="nb is a notebook whose results are collected"):
        api.run(root, export=root / "runs.mk")


NAMES = """
a b ab a/b a/b/c x.txt xxtxt deep/x.txt [ ] ^ - ! a^ [a] a] \\ a+ aa é z _ .h d/e/x.txt (a) {1} $
"""
PATTERNS = """
a * ? ** **/*.txt *.txt a/** a/* deep **/b/** [ab] [!ab] [!a-z] [a-c] [c-a] [^] [^a] [a^] [-a] [a-]
[!] []a] [abc [[] [![] [!^-] [^-z] \\ a+ [\\] (a) {1} $ [/a] [!-]
"""
MATCH = 'for name in "${@:2}"; do if [[ $name =~ $1 ]]; then printf "%s\\n" "$name"; fi; done'


@pytest.mark.parametrize("pattern", PATTERNS.split())
def test_expressions_of_bash_match_what_patterns_of_the_format_match(pattern: str) -> None:
    said = subprocess.run(
        ["bash", "-c", MATCH, "bash", expression(pattern), *NAMES.split()],
        env={"LC_ALL": "C.UTF-8", "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=True,
    )
    own = _compile(pattern)[0]
    wanted = [name for name in NAMES.split() if own.fullmatch(name)]
    assert (said.stdout.splitlines(), said.stderr) == (wanted, "")
