"""Carrying out a plan on a backend: order, failures, what stands, what is cancelled."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import pytest

from rra.artifact import Artifact, load_artifact
from rra.errors import EnvironmentBuildError, LaunchError, UnavailableError, UsageError
from rra.evidence import EvidenceStore
from rra.launch import Asked, Campaign, carry_out, find_backend, make_plan, run_launcher
from rra.launch.backends import Running
from rra.launch.backends.local import LocalBackend, fits
from rra.launch.execute import TaskResult
from rra.launch.schedule import TaskEnd
from rra.launch.standing import Standings
from rra.launch.tasks import Share, Task
from tests.support.needs import needs
from tests.support.runs import host_environment, request, write_artifact

LAUNCHERS: dict[str, dict[str, Any]] = {
    "first": {"seeds": {}, "outputs": ["x"]},
    "second": {"needs": ["first"], "outputs": ["x"]},
    "other": {"outputs": ["x"]},
}
SCRIPTS = {f"launchers/{name}.sh": 'echo 1 > "$RRA_OUTPUT_DIR/x"\n' for name in LAUNCHERS}


@dataclasses.dataclass
class Fake:
    """A backend that ends tasks one by one, as it is told."""

    ordered: bool = False
    fails: tuple[str, ...] = ()
    raises: BaseException | None = None
    name: str = "fake"
    submitted: list[str] = dataclasses.field(default_factory=list)
    live: list[str] = dataclasses.field(default_factory=list)
    cancelled: list[str] = dataclasses.field(default_factory=list)
    closed: bool = False

    def open(self, campaign: Campaign) -> Fake:
        return self

    def submit(self, tasks: Sequence[Task]) -> None:
        self.submitted += [task.id for task in tasks]
        self.live += [task.id for task in tasks]

    def poll(self, seconds: float) -> Collection[str]:
        if self.raises is not None:
            error, self.raises = self.raises, None
            raise error
        return [self.live.pop(0)] if self.live else []

    def collect(self, task: Task) -> TaskResult:
        ok = task.id not in self.fails
        return TaskResult(task=task.id, ok=ok, message="", record="sha256:x" if ok else "")

    def running(self) -> Sequence[Running]:
        return [Running(task=name, state="running") for name in self.live]

    def cancel(self) -> None:
        self.cancelled = list(self.live)

    def close(self) -> None:
        self.closed = True


def artifact(root: Path) -> Artifact:
    return write_artifact(root, SCRIPTS, launchers=LAUNCHERS)


def carried(made: Artifact, backend: Any, **more: Any) -> list[TaskEnd]:
    plan = make_plan(made, more.pop("asked", Asked()))
    campaign = Campaign(
        artifact=made, plan=plan, directory=made.root, progress=lambda line: None, jobs=2
    )
    return carry_out(campaign, backend, **more)


def states(ends: Sequence[TaskEnd]) -> dict[str, str]:
    return {
        end.task.id: end.state if end.ok or end.state == "blocked" else "failed" for end in ends
    }


def record(made: Artifact, launcher: str, seeds: tuple[int, ...] | None = None) -> None:
    """Run the tasks of a launcher as a backend does, without one."""
    plan = make_plan(made, Asked(seeds=seeds))
    for task in plan.of_launcher(launcher):
        needs = {need.place: need.task for need in task.needs}
        asked = {"instance": task.instance, "key": task.key, "seed": task.seed, "needs": needs}
        assert run_launcher(request(made, launcher, **asked)).ok


def test_a_task_is_given_out_when_what_it_needs_has_succeeded(tmp_path: Path) -> None:
    backend = Fake()
    ends = carried(artifact(tmp_path), backend)
    assert backend.submitted == ["first", "other", "second"]
    assert [end.task.id for end in ends] == ["first", "second", "other"]
    assert states(ends) == {"first": "ran", "second": "ran", "other": "ran"}
    assert backend.closed


def test_a_failure_stops_only_what_needs_it(tmp_path: Path) -> None:
    backend = Fake(fails=("first",))
    ends = carried(artifact(tmp_path), backend)
    assert states(ends) == {"first": "failed", "second": "blocked", "other": "ran"}
    assert [end.reason for end in ends if end.state == "blocked"] == ["first did not succeed"]
    assert backend.submitted == ["first", "other"]


def test_an_ordered_backend_gets_everything_at_once(tmp_path: Path) -> None:
    backend = Fake(ordered=True, fails=("first", "second"))
    ends = carried(artifact(tmp_path), backend)
    assert backend.submitted == ["first", "second", "other"]
    assert states(ends) == {"first": "failed", "second": "blocked", "other": "ran"}


@pytest.mark.parametrize("error", [KeyboardInterrupt(), UnavailableError("away", hint="wait")])
def test_what_ends_the_call_cancels_what_runs(tmp_path: Path, error: BaseException) -> None:
    backend = Fake(raises=error)
    with pytest.raises(type(error)):
        carried(artifact(tmp_path), backend)
    assert backend.cancelled == ["first", "other"]
    assert backend.closed


def test_what_stands_is_left_alone_and_what_reads_a_new_output_is_not(tmp_path: Path) -> None:
    made = artifact(tmp_path)
    for name in ("first", "second", "other"):
        record(made, name)
    backend = Fake()
    assert set(states(carried(made, backend)).values()) == {"current"}
    assert backend.submitted == []
    (made.root / "launchers/other.sh").write_text('echo 2 > "$RRA_OUTPUT_DIR/x"\n')
    ends = carried(load_artifact(made.root), backend)
    assert states(ends) == {"first": "current", "second": "current", "other": "ran"}
    assert ends[2].reason == "launchers/other.sh changed"
    assert states(carried(made, Fake(), forced={"first"}))["first"] == "ran"


def standing(made: Artifact, name: str, **asked: Any) -> tuple[str, str]:
    plan = make_plan(made, Asked(**asked))
    found = Standings(made, plan, made.root / "outputs").of(plan.task(name))
    return found.state, found.reason


def test_b28_stale_evidence_is_named(tmp_path: Path) -> None:
    launchers = {"main": {"outputs": ["x"], "parameters": {"lr": {"default": "0.1"}, "w": {}}}}
    files = {"launchers/main.sh": 'cat a.txt > "$RRA_OUTPUT_DIR/x"\n', "code/a.txt": "1\n"}
    made = write_artifact(tmp_path, files, launchers=launchers)
    assert standing(made, "main") == ("due", "it has not run yet")
    plan = make_plan(made, Asked(parameters={"w": "5"}))
    run_launcher(request(made, key=plan.tasks[0].key, parameters={"w": "5"}))
    assert standing(made, "main", parameters={"w": "5"}) == ("current", "up to date")
    assert standing(made, "main") == ("due", "w was 5 and is gone")
    again = {"w": "5", "lr": "0.2"}
    assert standing(made, "main", parameters=again) == ("due", "lr was 0.1 and is 0.2")
    assert standing(made, "main", parameters={"w": "5"}, seed=3)[1] == "it had no seed and has 3"
    (made.root / "code/a.txt").write_text("2\n")
    changed = load_artifact(made.root)
    assert standing(changed, "main", parameters={"w": "5"}) == ("due", "code/a.txt changed")


@needs("strace")
def test_b28_files_that_no_run_read_are_named_where_they_make_it_due(tmp_path: Path) -> None:
    files = {
        "launchers/main.sh": 'cat "$RRA_CODE_DIR/pi.txt" > "$RRA_OUTPUT_DIR/x"\n',
        "pi.txt": "3\n",
        "README.md": "text\n",
    }
    made = write_artifact(
        tmp_path, files, launchers={"main": {"outputs": ["x"]}}, code={"root": "."}
    )

    def run_now() -> None:
        now = load_artifact(made.root)
        run_launcher(request(now, key=make_plan(now, Asked()).tasks[0].key))

    def reason() -> str:
        return standing(load_artifact(made.root), "main")[1]

    run_now()
    for text in ("4\n", "3\n"):
        (made.root / "pi.txt").write_text(text)
        if text == "4\n":
            assert reason() == "pi.txt changed"
            run_now()
    assert reason().startswith("up to date")
    (made.root / "README.md").write_text("more\n")
    (made.root / "junk.dat").write_text("new\n")
    assert "pi.txt" not in reason()
    why = "its code, data, environment or definition changed"
    assert reason() == f"{why}; written since: README.md, junk.dat"


def test_outputs_that_were_changed_are_put_back_from_the_evidence(
    tmp_path: Path,
) -> None:
    made = artifact(tmp_path)
    record(made, "other")
    place = made.root / "outputs/other/x"
    place.write_text("forged\n")
    assert standing(made, "other") == ("kept", "up to date; its outputs are put back")
    assert states(carried(made, Fake(), asked=Asked(launchers=("other",)))) == {"other": "kept"}
    assert place.read_text() == "1\n"
    (stored,) = EvidenceStore(made.root / "evidence").records()
    (stored.outputs / "x").write_text("forged too\n")
    place.write_text("forged\n")
    why = f"its evidence was changed: evidence/other/{stored.directory.name}/outputs/x"
    assert standing(made, "other") == ("due", why)


def test_a_record_of_an_earlier_version_stands_while_nothing_changes(tmp_path: Path) -> None:
    made = artifact(tmp_path)
    run_launcher(request(made, "other"))  # no key
    assert standing(made, "other")[0] == "current"
    (made.root / "code/new.py").write_text("")
    assert standing(load_artifact(made.root), "other")[0] == "due"


@pytest.mark.clause("launcher/instance-reads-its-own")
def test_what_reads_an_instance_is_due_when_that_instance_changes(tmp_path: Path) -> None:
    launchers = {
        "first": {"seeds": {}, "outputs": ["x"]},
        "second": {"needs": ["first"], "seeds": {}, "outputs": ["x"]},
    }
    copies = 'cat "$RRA_OUTPUTS_ROOT/first/x" > "$RRA_OUTPUT_DIR/x"\n'
    files = {
        "launchers/first.sh": 'echo "$RRA_SEED" > "$RRA_OUTPUT_DIR/x"\n',
        "launchers/second.sh": copies,
    }
    made = write_artifact(tmp_path, files, launchers=launchers)
    record(made, "first", (4, 5))
    record(made, "second", (4, 5))
    for seed in (4, 5):
        assert (made.root / f"outputs/second/seed={seed}/x").read_text() == f"{seed}\n"
        assert standing(made, f"second/seed={seed}", seeds=(4, 5))[0] == "current"
    (made.root / "outputs/first/seed=4/x").write_text("other\n")
    assert standing(made, "second/seed=4", seeds=(4, 5)) == ("due", "outputs/first/x changed")
    assert standing(made, "second/seed=5", seeds=(4, 5))[0] == "current"


def test_the_local_backend_keeps_to_what_the_machine_has() -> None:
    whole = Share(cpu=4, memory=8, gpu=1)
    assert fits(Share(cpu=2, memory=4), [Share(cpu=2, memory=4)], whole)
    assert not fits(Share(cpu=3), [Share(cpu=2)], whole)
    assert not fits(Share(memory=5), [Share(memory=4)], whole)
    assert not fits(Share(gpu=1), [Share(gpu=1)], whole)
    assert fits(Share(cpu=64, memory=64), [], whole), "too much for the machine runs alone"


def test_backends_are_found_by_name() -> None:
    assert isinstance(find_backend("local"), LocalBackend)
    with pytest.raises(UsageError, match="no backend is called 'pbs'") as caught:
        find_backend("pbs")
    assert "local" in caught.value.hint


@pytest.fixture
def on_host(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run tasks in the environment of the tests, so that none has to be built."""
    monkeypatch.setattr("rra.launch.execute.build_environment", lambda *_, **__: host_environment())


@pytest.mark.usefixtures("on_host")
def test_the_local_backend_runs_tasks_side_by_side(tmp_path: Path) -> None:
    """Each of two launchers waits until the other has begun, as only parallel ones can."""
    meet = tmp_path / "meet"
    meet.mkdir()
    script = (
        'touch "{meet}/{own}"; for n in $(seq 600); do [ -e "{meet}/{other}" ] && break;'
        " read -t 0.05 < <(sleep 1); done\n"
        '[ -e "{meet}/{other}" ] && echo 1 > "$RRA_OUTPUT_DIR/x"\n'
    )
    files = {
        "launchers/a.sh": script.format(meet=meet, own="a", other="b"),
        "launchers/b.sh": script.format(meet=meet, own="b", other="a"),
    }
    launchers = {name: {"outputs": ["x"], "resources": {"cpu": 0.5}} for name in ("a", "b")}
    made = write_artifact(tmp_path / "artifact", files, launchers=launchers)
    plan = make_plan(made, Asked(), sandbox="none")
    lines: list[str] = []
    campaign = Campaign(artifact=made, plan=plan, directory=tmp_path, progress=lines.append, jobs=2)
    ends = carry_out(campaign, LocalBackend())
    assert states(ends) == {"a": "ran", "b": "ran"}
    stored = EvidenceStore(made.root / "evidence").records()
    assert {one.record.key for one in stored} == {task.key for task in plan}
    assert sorted(lines) == ["running a (sandbox none)", "running b (sandbox none)"]


@pytest.mark.usefixtures("on_host")
def test_an_interrupt_cancels_and_leaves_records_that_say_so(tmp_path: Path) -> None:
    files = {"launchers/main.sh": "echo begun; read -t 60 < <(sleep 60); echo late\n"}
    made = write_artifact(tmp_path, files)
    plan = make_plan(made, Asked(), sandbox="none")
    begun: list[str] = []

    def tick(running: Sequence[Running]) -> None:
        if begun and running:
            raise KeyboardInterrupt

    campaign = Campaign(
        artifact=made,
        plan=plan,
        directory=tmp_path,
        progress=lambda line: None,
        on_line=lambda task, line: begun.append(line),
    )
    with pytest.raises(KeyboardInterrupt):
        carry_out(campaign, LocalBackend(), tick=tick)
    (stored,) = EvidenceStore(made.root / "evidence").records()
    assert (stored.record.termination, stored.record.ok) == ("cancelled", False)
    assert (stored.directory / "stdout.txt").read_text() == "begun\n"
    assert standing(made, "main") == ("due", "no run of it succeeded")


def test_what_cannot_even_be_tried_is_raised(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise EnvironmentBuildError("no such package", hint="lock again")

    monkeypatch.setattr("rra.launch.execute.build_environment", refuse)
    with pytest.raises(EnvironmentBuildError):
        carried(artifact(tmp_path), LocalBackend())


@pytest.mark.usefixtures("on_host")
@pytest.mark.parametrize("jobs", [1, 2])
def test_b14_a_launcher_that_is_refused_stops_only_what_needs_it(tmp_path: Path, jobs: int) -> None:
    files = {**SCRIPTS, "launchers/first.sh": "#!/bin/sh\r\necho 1\r\n"}
    made = write_artifact(tmp_path / "a", files, launchers=LAUNCHERS)
    plan = make_plan(made, Asked(), sandbox="none")
    campaign = Campaign(
        artifact=made, plan=plan, directory=tmp_path, progress=lambda line: None, jobs=jobs
    )
    ends = carry_out(campaign, LocalBackend())
    assert states(ends) == {"first": "failed", "second": "blocked", "other": "ran"}
    result = ends[0].result
    assert result is not None
    assert result.error is not None
    assert result.error["exit_code"] == 1
    assert "cannot run it (convert it: sed -i" in result.message


@pytest.mark.usefixtures("on_host")
def test_a_plan_of_which_nothing_can_be_tried_is_an_error(tmp_path: Path) -> None:
    made = write_artifact(tmp_path / "a", {"launchers/main.sh": "#!/bin/sh\r\necho 1\r\n"})
    plan = make_plan(made, Asked(), sandbox="none")
    campaign = Campaign(artifact=made, plan=plan, directory=tmp_path, progress=lambda line: None)
    with pytest.raises(LaunchError, match="Windows line ends"):
        carry_out(campaign, LocalBackend())


def test_a_damaged_record_stands_for_nothing(tmp_path: Path) -> None:
    made = artifact(tmp_path)
    record(made, "other")
    (stored,) = EvidenceStore(made.root / "evidence").records("other")
    folder = stored.directory
    for name in ("stdout.txt", "stderr.txt", "events.jsonl", "outputs/x"):
        before = (folder / name).read_bytes()
        damaged = ("due", f"its evidence was changed: evidence/other/{folder.name}/{name}")
        (folder / name).unlink()  # it may be a second name of an output
        (folder / name).write_bytes(before + b"\n")
        assert standing(made, "other") == damaged
        (folder / name).unlink()
        assert standing(made, "other") == damaged
        (folder / name).write_bytes(before)
        assert standing(made, "other") == ("current", "up to date")
    text = (folder / "record.json").read_text()
    (folder / "record.json").write_text(text.replace('"exit_code":0', '"exit_code":1'))
    assert standing(made, "other")[0] == "due"
    (folder / "record.json").write_text(text)
    (folder / "outputs/more").write_text("")
    assert standing(made, "other")[1].endswith(f"{folder.name}/outputs/more")
    record(made, "other")
    assert standing(made, "other") == ("current", "up to date")
