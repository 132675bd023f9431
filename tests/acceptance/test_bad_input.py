"""Bad input: what is said, with which exit code, and that nothing is left half-written."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.acceptance.command import PATIENCE_SECONDS, Answer, rra
from tests.support.needs import needs

if TYPE_CHECKING:
    from collections.abc import Callable

MANIFEST = """\
rra: "1.0"
name: bad-input
version: 1.0.0
license: MIT
environments:
  cpu: {kind: pylock, python: "3.11", lock: environment/cpu/pylock.toml}
launchers:
  main:
    entry: launchers/main.sh
    environment: cpu
    outputs: [metrics.json]
    deterministic: true
    limits: {wall: 60}
experiments:
  table1:
    outcomes:
      accuracy:
        type: number
        reported: "98.9"
        unit: percent
        selector: {launcher: main, file: metrics.json, json: /accuracy, unit: fraction}
"""
WRITES = 'echo \'{"accuracy": 0.989}\' >"$RRA_OUTPUT_DIR/metrics.json"\n'


@pytest.fixture
def artifact(stages: dict[str, Path], tmp_path: Path) -> Callable[..., Path]:
    """Makes an artifact whose launcher is given; its environment has no package."""

    def make(launcher: str = WRITES, *, manifest: str = MANIFEST) -> Path:
        place = tmp_path / "artifact"
        shutil.copytree(stages["lock"] / "environment", place / "environment")
        (environment,) = [path for path in (place / "environment").iterdir() if path.is_dir()]
        if environment.name != "cpu":
            environment.rename(environment.with_name("cpu"))
        (place / "launchers").mkdir()
        (place / "launchers" / "main.sh").write_text(f"#!/bin/bash\nset -e\n{launcher}")
        (place / "code").mkdir()
        (place / "code" / "main.py").write_text("print('hello')\n")
        (place / "rra.yaml").write_text(manifest)
        return place

    return make


def snapshot(place: Path) -> dict[str, bytes]:
    """Every file with its content."""
    return {
        path.relative_to(place).as_posix(): path.read_bytes()
        for path in sorted(place.rglob("*"))
        if path.is_file()
    }


# ------------------------------------------------------------------------- the manifest


@pytest.mark.parametrize("verb", ["lock", "run", "guide", "lint", "verify", "audit", "report"])
def test_a_directory_that_does_not_exist(verb: str, tmp_path: Path) -> None:
    where = ("-C",) if verb == "run" else ()
    answer = rra(verb, *where, tmp_path / "nowhere").expect(2)

    assert "nowhere" in answer.said
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.parametrize("verb", ["lock", "run", "guide", "lint", "verify", "audit", "report"])
def test_a_directory_without_a_manifest(verb: str, tmp_path: Path) -> None:
    answer = rra(verb, cwd=tmp_path).expect(2)

    assert "rra.yaml" in answer.said
    assert "rra init" in answer.said
    assert snapshot(tmp_path) == {}


@pytest.mark.parametrize("verb", ["lock", "run", "guide", "lint", "verify", "audit", "report"])
def test_a_manifest_that_is_no_yaml(verb: str, artifact: Callable[..., Path]) -> None:
    place = artifact(manifest=MANIFEST.replace("name: bad-input", "name: [bad-input"))
    before = snapshot(place)

    answer = rra(verb, cwd=place).expect(4)

    assert "rra.yaml:3:" in answer.said
    assert snapshot(place) == before


def test_all_faults_of_a_manifest_are_named_at_once(artifact: Callable[..., Path]) -> None:
    faulty = MANIFEST.replace('reported: "98.9"', "reported: 98.9").replace("license: MIT\n", "")
    place = artifact(manifest=faulty)

    answer = rra("run", cwd=place).expect(4)

    assert "license" in answer.said
    assert "rra.yaml:18:" in answer.said
    assert "quote" in answer.said


def test_a_missing_launcher(artifact: Callable[..., Path]) -> None:
    place = artifact()
    (place / "launchers" / "main.sh").unlink()

    answer = rra("run", cwd=place).expect(1)

    assert "launchers/main.sh" in answer.said
    assert not (place / "outputs" / "main").exists()


def test_a_missing_lock_file(artifact: Callable[..., Path]) -> None:
    place = artifact()
    (place / "environment" / "cpu" / "pylock.toml").unlink()

    answer = rra("run", cwd=place).expect(2)

    assert "environment/cpu/pylock.toml" in answer.said
    assert "rra lock" in answer.said
    assert not (place / "evidence").exists()


def test_missing_references(artifact: Callable[..., Path], tmp_path: Path) -> None:
    place = artifact()

    answer = rra("verify", "--references", tmp_path / "nowhere.yaml", cwd=place).expect(2)

    assert "nowhere.yaml" in answer.said


@pytest.mark.parametrize(
    ("faulty", "named"),
    [
        (MANIFEST.replace("launchers/main.sh", "../main.sh"), "../main.sh"),
        (MANIFEST.replace("environment/cpu/pylock.toml", "/etc/passwd"), "/etc/passwd"),
        (MANIFEST.replace("file: metrics.json", "file: ../../../secret.json"), "../secret.json"),
        (MANIFEST + "data:\n  d: {path: ../../data}\n", "../../data"),
    ],
    ids=["launcher", "lock", "selector", "data"],
)
@pytest.mark.parametrize("verb", ["run", "verify"])
def test_a_path_outside_the_artifact(
    verb: str, faulty: str, named: str, artifact: Callable[..., Path]
) -> None:
    place = artifact(manifest=faulty)
    before = snapshot(place)

    answer = rra(verb, cwd=place).expect(4)

    assert named in answer.said
    assert snapshot(place) == before


def test_a_launcher_that_is_a_link_to_outside(
    artifact: Callable[..., Path], tmp_path: Path
) -> None:
    place = artifact()
    shutil.move(place / "launchers" / "main.sh", tmp_path / "main.sh")
    (place / "launchers" / "main.sh").symlink_to("../../main.sh")

    answer = rra("run", cwd=place).expect(4)

    assert "launchers/main.sh" in answer.said
    assert not (place / "evidence").exists()


# ------------------------------------------------------------------------- the launcher


def records(place: Path) -> list[Path]:
    """The execution records that are kept."""
    return sorted(place.glob("evidence/main/*/record.json"))


def staging(place: Path) -> list[str]:
    """What is left of unfinished writing."""
    return [
        path.name
        for path in place.rglob("*")
        if "staging" in path.name or path.name.endswith((".tmp", ".part"))
    ]


def test_a_launcher_that_fails(artifact: Callable[..., Path]) -> None:
    place = artifact("echo 'no such table' >&2\nexit 3\n")

    answer = rra("run", cwd=place).expect(1)

    assert "main" in answer.said
    assert "no such table" in answer.said
    assert "3" in answer.said
    assert len(records(place)) == 1
    assert not (place / "outputs" / "main").exists()
    assert staging(place) == []


def test_a_launcher_that_fails_could_not_be_verified(artifact: Callable[..., Path]) -> None:
    place = artifact("exit 3\n")

    answer = rra("verify", "--json", cwd=place).expect(1)

    assert "could_not_run" in answer.out
    assert "launcher failed" in answer.out


def test_a_failing_run_keeps_the_outputs_of_the_one_before(artifact: Callable[..., Path]) -> None:
    place = artifact()
    rra("run", cwd=place).expect(0)
    before = (place / "outputs" / "main" / "metrics.json").read_bytes()
    (place / "launchers" / "main.sh").write_text('echo x >"$RRA_OUTPUT_DIR/metrics.json"; exit 1')

    rra("run", cwd=place).expect(1)

    assert (place / "outputs" / "main" / "metrics.json").read_bytes() == before


def test_a_launcher_that_hangs_is_ended_with_all_it_started(
    artifact: Callable[..., Path],
) -> None:
    launcher = "sleep 98765 &\necho started\nsleep 98765\n"
    place = artifact(launcher, manifest=MANIFEST.replace("wall: 60", "wall: 5"))

    answer = rra("run", "--json", cwd=place).expect(1)

    message = answer.result["runs"][0]["message"]
    assert message.startswith("main had not ended at its limit of time, and was ended after 5.")
    left = subprocess.run(["pgrep", "-f", "sleep 98765"], capture_output=True, check=False)
    assert left.returncode == 1, "a child of the launcher is still running"
    assert (records(place)[0].parent / "stdout.txt").read_text() == "started\n"


def test_a_launcher_that_writes_nothing(artifact: Callable[..., Path]) -> None:
    place = artifact("exit 0\n")

    answer = rra("run", cwd=place).expect(1)

    assert "metrics.json" in answer.said
    assert len(records(place)) == 1
    assert not (place / "outputs" / "main").exists()


@pytest.mark.parametrize(
    ("content", "shown"),
    [
        ('{"accuracy": "n/a"}', "n/a"),
        ('{"accuracy": null}', "null"),
        ('{"precision": 0.9}', "/accuracy"),
        ("accuracy 0.989", "metrics.json"),
        ("", "metrics.json"),
    ],
    ids=["text", "null", "other-key", "no-json", "empty"],
)
def test_a_launcher_that_writes_no_number(
    content: str, shown: str, artifact: Callable[..., Path]
) -> None:
    place = artifact(f"printf '%s' '{content}' >\"$RRA_OUTPUT_DIR/metrics.json\"\n")

    answer = rra("run", "--json", cwd=place).expect(1)

    (value,) = answer.result["values"]
    assert value["outcome"] == "table1/accuracy"
    assert value["value"] is None
    assert shown in value["error"]
    verified = rra("verify", "--json", cwd=place).expect(1)
    assert '"reproduced"' not in verified.out.replace("not_reproduced", "")


@pytest.mark.parametrize(
    ("number", "said"),
    [("NaN", "NaN"), ("Infinity", "infinity"), ("-Infinity", "minus infinity")],
)
def test_a_launcher_that_writes_no_finite_number(
    number: str, said: str, artifact: Callable[..., Path]
) -> None:
    place = artifact(f'echo \'{{"accuracy": {number}}}\' >"$RRA_OUTPUT_DIR/metrics.json"\n')

    answer = rra("verify", "--json", cwd=place).expect(1)

    (outcome,) = answer.result["reproduction"]["outcomes"]
    assert outcome["verdict"] not in {"reproduced", "deviates_as_documented"}
    assert f"a fresh value is {said};" in outcome["reason"]


@pytest.mark.slow
def test_a_launcher_that_prints_a_gigabyte(artifact: Callable[..., Path]) -> None:
    place = artifact(
        "head -c 1000000000 /dev/zero\n" + WRITES,
        manifest=MANIFEST.replace("wall: 60", "wall: 200"),
    )

    answer = rra("run", "--json", cwd=place).expect(0)

    assert len(answer.out) < 100_000
    (record,) = records(place)
    assert (record.parent / "stdout.txt").stat().st_size <= 64 << 20
    stdout = json.loads(record.read_bytes())["stdout"]
    assert stdout["truncated"] is True
    assert stdout["bytes"] == 1_000_000_000


# ----------------------------------------------------------------------------- full disk


def on_full_disk(place: Path, room_kilobytes: int, *argv: str) -> tuple[Answer, list[str]]:
    """Run `rra` on a copy of the artifact on a small disk that has no more than this room.

    Returns:
        What the command answered, and the files that are there when the disk has room again and
        somebody has looked at the evidence.
    """
    disk = place.parent / "disk"
    disk.mkdir(exist_ok=True)
    script = """
        mount -t tmpfs -o size=4m none "$1" && cp -R "$2/." "$1" && cd "$1" || exit 99
        head -c "$(($3 * 1024))" /dev/zero >room
        cat /dev/zero >filler 2>/dev/null
        rm room && files=$4 && shift 4
        "$@"
        code=$?
        rm filler
        [ ! -d outputs ] || "$1" -m rra evidence list >"$files.list" 2>&1
        find . -type f | sort >"$files"
        exit $code
    """
    files = place.parent / "files"
    done = subprocess.run(
        [
            *("unshare", "--mount", "bash", "-c", script, "bash"),
            *(str(disk), str(place), str(room_kilobytes), str(files)),
            *(sys.executable, "-m", "rra", *argv),
        ],
        env=dict(os.environ),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    answer = Answer(argv, done.returncode, done.stdout, done.stderr)
    return answer, files.read_text().split()


@needs("root")
@needs("tmpfs")
@pytest.mark.parametrize("room", [0, 16, 64, 256])
def test_a_full_disk_while_running(room: int, artifact: Callable[..., Path]) -> None:
    place = artifact('head -c 5000000 /dev/zero >"$RRA_OUTPUT_DIR/big"\n' + WRITES)

    answer, left = on_full_disk(place, room, "run")

    assert answer.code in {1, 3}, answer
    assert "space" in answer.said or "disk" in answer.said
    # The plan, once it is there, is what `--resume` takes up; a claim is an empty file to lock.
    ours = ("./outputs/.rra-runs", "./outputs/.rra-claims")
    kept = [name for name in left if not (room and name.startswith(ours))]
    assert not any("staging" in name or name.startswith("./outputs/") for name in kept), kept


@needs("root")
@needs("tmpfs")
@pytest.mark.parametrize(
    "verb",
    [("lock",), ("guide",), ("report", "--output", "report.html")],
    ids=["lock", "guide", "report"],
)
def test_a_full_disk_while_writing(verb: tuple[str, ...], artifact: Callable[..., Path]) -> None:
    place = artifact()
    (place / "guide").mkdir()
    (place / "guide" / "GUIDE.md").write_text(
        "# Guide\n\n<!-- rra:begin results -->\n<!-- rra:end results -->\n"
    )
    before = {f"./{name}" for name in snapshot(place)}

    answer, left = on_full_disk(place, 0, *verb)

    answer.expect(3)
    assert "no space left" in answer.said
    assert set(left) == before


@needs("root")
@needs("tmpfs")
def test_a_full_disk_while_drafting(stages: dict[str, Path], tmp_path: Path) -> None:
    place = Path(shutil.copytree(stages["found"], tmp_path / "nearest-mean"))
    before = {f"./{name}" for name in snapshot(place)}

    answer, left = on_full_disk(place, 0, "init", "--no-input")

    answer.expect(3)
    assert "space" in answer.said
    assert set(left) == before


@pytest.mark.parametrize("form", ["", "./", "oci-layout:", "oci-archive:", "a.b/"])
@pytest.mark.parametrize("verb", ["inspect", "lint", "unpack", "report"])
def test_a_path_that_no_file_can_have(verb: str, form: str, tmp_path: Path) -> None:
    """Found by fuzzing: asking for such a path is an error of the system, not an absent file."""
    name = form + "x" * 300
    answer = rra(verb, name, *(["out"] if verb == "unpack" else []), cwd=tmp_path).expect(2)
    assert "Traceback" not in answer.said
    assert "what to do:" in answer.said
