from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

from rra.launch import probe_recorder, recorder, run_launcher
from rra.launch.recorder import Recorder
from rra.launch.strace import TraceReader, strace_command, try_strace
from rra.launch.workspace import Workspace, workspace
from rra.sandbox import best_sandbox
from tests.support.needs import needs
from tests.support.runs import request, write_artifact

PLAIN = best_sandbox("none")


def start(space: Workspace, python: str = "3.11.7") -> Recorder:
    return Recorder.start(space, PLAIN, readable=[], python=python)


@needs("strace")
def test_the_probe_says_what_was_tried() -> None:
    found = probe_recorder()
    assert (found.name, found.works) == ("strace", True)
    assert found.why.startswith("strace -- version ")


def test_without_strace_the_probe_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    found = probe_recorder()
    assert (found.works, found.why) == (False, "strace is not on PATH")


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("echo 'strace: ptrace: Operation not permitted' >&2; exit 1", "Operation not permitted"),
        ("exec true", "does not see which files are opened"),
    ],
)
def test_a_strace_that_does_not_see_is_not_used(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, script: str, why: str
) -> None:
    monkeypatch.setattr("rra.launch.strace._TRIAL_END_SECONDS", 0.1)
    (tmp_path / "strace").write_text(f"#!/bin/sh\n{script}\n")
    (tmp_path / "strace").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    found = try_strace(PLAIN)
    assert not found.works
    assert why in found.why
    artifact = write_artifact(tmp_path / "a", {"launchers/main.sh": "python -c pass\n"})
    assert run_launcher(request(artifact, sandbox=PLAIN)).record.recorder.level == "audit-hook"


def test_what_no_python_reported_is_known_from_the_tree(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with workspace(tmp_path / "outputs") as space:
        seen, level = start(space).finish()
    assert level == "tree"
    assert seen.gaps[0].startswith("reads were not observed")


@pytest.mark.parametrize(
    ("version", "level", "gap"),
    [("3.8.18", "audit-hook", ""), ("3.7.16", "tree", ""), ("2.7.18", "tree", "too old")],
)
def test_the_level_is_what_that_python_can_do(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, version: str, level: str, gap: str
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with workspace(tmp_path / "outputs") as space:
        watched = start(space, version)
        assert (watched.python_path is None) == bool(gap)
        (space.seen / "events").write_text(f"python\t{version}\n")
        seen, found = watched.finish()
    assert found == level
    assert any("too old" in one for one in seen.gaps) == bool(gap)


def test_events_behind_a_link_are_not_taken(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "events").write_text("seed\t3\n")
    with workspace(tmp_path / "outputs") as space:
        watched = start(space)
        space.seen.rmdir()
        space.seen.symlink_to(tmp_path / "other")
        seen, _ = watched.finish()
    assert seen.seeds == {}


def test_events_that_make_no_sense_are_passed_over(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with workspace(tmp_path / "outputs") as space:
        watched = start(space)
        (space.seen / "events").write_bytes(b"\xff\tx\nread\t\\x\nread\nseed\t1e5\nseed\t7\n")
        seen, _ = watched.finish()
    assert (list(seen.reads), list(seen.seeds)) == ([], [7])


def test_a_trace_that_nobody_writes_ends_when_it_is_asked_to(tmp_path: Path) -> None:
    reader = TraceReader(tmp_path / "trace", tmp_path, 1)
    reader.start()
    assert reader.finish(0.01).reads == {}
    assert not reader.complete


def test_a_trace_that_was_cut_is_a_gap(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(recorder, "_TRACE_DRAIN_SECONDS", 0.01)
    with workspace(tmp_path / "outputs") as space:
        reader = TraceReader(space.trace, space.code, 1)
        reader.start()
        seen, level = Recorder(space, reader, Path("strace"), observed=True).finish()
    assert level == "strace"
    assert seen.gaps == ["the trace ended before the last process"]


def test_only_the_calls_that_matter_stop_a_program(tmp_path: Path) -> None:
    command = strace_command(Path("/usr/bin/strace"), tmp_path / "trace")
    assert {"-f", "--seccomp-bpf", "-DD"} < set(command)
    (calls,) = [part for part in command if part.startswith("trace=")]
    assert "?openat," in calls
    assert "read" not in calls.removeprefix("trace=").replace("?", "").split(",")


def test_the_observer_is_plain_python_of_the_oldest_version(tmp_path: Path) -> None:
    source = recorder.observer_source(tmp_path / 'a"b', ["/x"], hook=True)
    tree = ast.parse(source, feature_version=(3, 7))
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import)]
    imported = {alias.name for node in imports for alias in node.names}
    assert imported == {"_thread", "os", "sys"}
    assert imported <= sys.modules.keys()
