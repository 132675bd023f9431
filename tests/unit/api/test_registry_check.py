"""Many bundles are checked, one line each; a check that is killed goes on where it ended."""

from __future__ import annotations

import fcntl
import json
import os
import random
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from referencing import Registry, Resource

import rra
from rra.api import lint, registry_check
from rra.errors import FormatError, StorageError, UsageError
from rra.lint import lint_artifact
from tests.support.bundles import blob, locked_artifact, pack
from tests.support.disks import mounted_disk
from tests.support.needs import needs
from tests.unit.test_cli_schemas import FOLDER, call

DIGEST = "sha256:" + "0" * 64


@pytest.fixture(autouse=True)
def own_temporary(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Path:
    place = tmp_path_factory.mktemp("temporary")
    monkeypatch.setenv("TMPDIR", str(place))
    monkeypatch.setattr("tempfile.tempdir", None)
    return place


@pytest.fixture(scope="module")
def bundles(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bundle that passes, and one that a rule objects to."""
    place = tmp_path_factory.mktemp("bundles")
    good = locked_artifact(place / "good-artifact")
    pack(good, place / "good")
    bad = locked_artifact(place / "bad-artifact", {"guide/GUIDE.md": "# G\n\n⟦fill: why⟧\n"})
    pack(bad, place / "bad")
    return place


def lines(path: Path) -> list[dict[str, Any]]:
    found = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    schemas: Registry[Any] = Registry().with_resources(
        (schema["$id"], Resource.from_contents(schema))
        for name in ("registry-check-line", "shared")
        if (schema := json.loads((FOLDER / f"{name}.schema.json").read_text()))
    )
    schema = json.loads((FOLDER / "registry-check-line.schema.json").read_text())
    validator = Draft202012Validator(schema, registry=schemas)
    assert [error.message for line in found for error in validator.iter_errors(line)] == []
    return found


def references(place: Path, *names: str | Path) -> Path:
    file = place / "references.txt"
    file.write_text("".join(f"{name}\n" for name in names), "utf-8")
    return file


@pytest.mark.parametrize("jobs", [1, 4])
def test_one_line_for_each(bundles: Path, tmp_path: Path, jobs: int) -> None:
    good, bad = f"oci-layout:{bundles}/good", f"oci-layout:{bundles}/bad"
    file = references(tmp_path, good, "# a comment", bad, f"oci-layout:{bundles}/absent", ".")
    report = registry_check(file, tmp_path / "out.jsonl", jobs=jobs)
    assert report.verdicts == {"passed": 1, "failed": 1, "error": 2}
    assert (report.references, report.checked, report.exit_code) == (4, 4, 1)
    found = lines(tmp_path / "out.jsonl")
    assert [line["verdict"] for line in found] == ["passed", "failed", "error", "error"]
    index = json.loads((bundles / "good/index.json").read_text())
    assert found[0]["digest"] == index["manifests"][0]["digest"]
    assert found[0]["rra"] == rra.__version__
    expected = lint(f"oci-layout:{bundles}/bad").found.to_json()["counts"]
    assert found[1]["counts"] == expected
    assert "RRA401" in found[1]["rules"]
    assert [line["error"]["slug"] for line in found[2:]] == ["usage", "usage"]
    assert found[2]["digest"] is None


def test_nothing_is_left_in_the_temporary_folder(
    bundles: Path, tmp_path: Path, own_temporary: Path
) -> None:
    file = references(tmp_path, *[f"oci-layout:{bundles}/good"] * 2)
    registry_check(file, tmp_path / "out.jsonl")
    assert list(own_temporary.iterdir()) == []


def test_what_was_checked_is_not_checked_again(
    bundles: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out.jsonl"
    file = references(tmp_path, f"oci-layout:{bundles}/good", f"oci-layout:{bundles}/bad")
    registry_check(file, out)
    before = out.read_bytes()
    again = registry_check(file, out)
    assert (again.checked, again.verdicts["failed"], again.exit_code) == (0, 1, 1)
    assert out.read_bytes() == before
    assert registry_check(file, out, profile="archival").checked == 2  # another question
    monkeypatch.setattr(rra, "__version__", "99.0")  # other rules
    assert registry_check(file, out).checked == 2


def test_another_bundle_under_the_same_tag_is_checked(bundles: Path, tmp_path: Path) -> None:
    shutil.copytree(bundles / "good", tmp_path / "place")
    file = references(tmp_path, f"oci-layout:{tmp_path}/place")
    assert registry_check(file, tmp_path / "out.jsonl").ok
    shutil.rmtree(tmp_path / "place")
    shutil.copytree(bundles / "bad", tmp_path / "place")
    report = registry_check(file, tmp_path / "out.jsonl")
    assert (report.checked, report.exit_code) == (1, 1)


def test_what_could_not_be_checked_is_tried_again(bundles: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    file = references(tmp_path, f"oci-layout:{tmp_path}/later")
    assert registry_check(file, out).exit_code == 3
    shutil.copytree(bundles / "good", tmp_path / "later")
    assert registry_check(file, out).ok
    assert [line["verdict"] for line in lines(out)] == ["error", "passed"]


def test_one_bad_bundle_never_ends_the_others(
    bundles: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    damaged = tmp_path / "damaged"
    shutil.copytree(bundles / "good", damaged)
    index = json.loads((damaged / "index.json").read_text())
    manifest = json.loads(blob(damaged, index["manifests"][0]["digest"]).read_bytes())
    layer = blob(damaged, manifest["layers"][0]["digest"])
    layer.write_bytes(layer.read_bytes()[:-1] + b"\0")
    asked = iter([True])

    def raises_once(*args: Any, **more: Any) -> Any:
        if next(asked, False):
            raise ZeroDivisionError("a fault of ours")
        return lint_artifact(*args, **more)

    monkeypatch.setattr("rra.api._registry_check.lint_artifact", raises_once)
    good = f"oci-layout:{bundles}/good"
    file = references(tmp_path, good, f"oci-layout:{damaged}", "\x1b[2Jevil", good)
    report = registry_check(file, tmp_path / "out.jsonl", jobs=1)
    assert report.verdicts == {"passed": 1, "failed": 0, "error": 3}
    found = lines(tmp_path / "out.jsonl")
    slugs = [line["error"] and line["error"]["slug"] for line in found]
    assert slugs[0] == "internal"
    assert slugs[1] in {"artifact/digest-mismatch", "bundle/archive"}
    assert slugs[2:] == ["usage", None]
    assert "\x1b" not in (tmp_path / "out.jsonl").read_text()


def test_a_password_in_a_reference_is_not_written_down(tmp_path: Path) -> None:
    file = references(tmp_path, "me:pass-word@r.test/x:1")
    said: list[str] = []
    report = registry_check(file, tmp_path / "out.jsonl", progress=said.append)
    assert lines(tmp_path / "out.jsonl")[0]["reference"] == "…@r.test/x:1"
    assert "pass-word" not in f"{said} {report}" + (tmp_path / "out.jsonl").read_text()


# ------------------------------------------------------------------------- the file of lines


@pytest.mark.parametrize("cut", [1, 20, 0])
def test_a_line_that_was_cut_is_made_again(bundles: Path, tmp_path: Path, cut: int) -> None:
    """`cut` bytes of the last line are there; of zero, only its end is missing."""
    out = tmp_path / "out.jsonl"
    file = references(tmp_path, f"oci-layout:{bundles}/good", f"oci-layout:{bundles}/bad")
    registry_check(file, out)
    first, last = out.read_bytes().splitlines(keepends=True)
    out.write_bytes(first + last[: cut or -1])
    assert registry_check(file, out).checked == 1
    assert [line["verdict"] for line in lines(out)] == ["passed", "failed"]


@pytest.mark.parametrize(
    "text", ["mine\n", "{}\n", "[1]\n", '{"reference": 1}\n', "[" * 100_000 + "\n", "\0\n"]
)
def test_a_file_of_something_else_is_left_alone(bundles: Path, tmp_path: Path, text: str) -> None:
    out = tmp_path / "out.jsonl"
    out.write_text(text)
    with pytest.raises(FormatError, match=r"out\.jsonl:1"):
        registry_check(references(tmp_path, f"oci-layout:{bundles}/good"), out)
    assert out.read_text() == text


def test_two_checks_of_one_file(bundles: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    with out.open("w") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        with pytest.raises(UsageError, match="another rra registry check"):
            registry_check(references(tmp_path, "x"), out)


def test_calls_that_do_not_go_together(tmp_path: Path) -> None:
    file = references(tmp_path, "x")
    for options in ({"profile": "best"}, {"jobs": 0}, {"jobs": 33}):
        with pytest.raises(UsageError):
            registry_check(file, tmp_path / "out.jsonl", **options)
    with pytest.raises(UsageError, match="both read and written"):
        registry_check(file, file)
    with pytest.raises(UsageError, match="cannot be read"):
        registry_check(tmp_path / "absent", tmp_path / "out.jsonl")
    with pytest.raises(UsageError, match="is a directory"):
        registry_check(file, tmp_path)
    assert file.read_text() == "x\n"


@needs("tmpfs")
def test_a_disk_that_is_full(bundles: Path, tmp_path: Path) -> None:
    with mounted_disk(tmp_path / "disk", "64k") as disk:
        out = disk / "out.jsonl"
        file = references(tmp_path, *(f"oci-layout:{tmp_path}/{n}" for n in range(500)))
        with pytest.raises(StorageError) as caught:
            registry_check(file, out)
        assert caught.value.exit_code == 3
        out.rename(disk / "moved")
        shutil.copy(disk / "moved", tmp_path / "out.jsonl")
    whole = lines_that_are_whole(tmp_path / "out.jsonl")
    registry_check(file, tmp_path / "out.jsonl")
    assert len(lines(tmp_path / "out.jsonl")) == whole + 500  # errors are tried again


def lines_that_are_whole(path: Path) -> int:
    return path.read_bytes().count(b"\n")


@pytest.mark.slow
def test_killed_at_random_points_it_ends_with_one_line_for_each(
    bundles: Path, tmp_path: Path, own_temporary: Path
) -> None:
    chance = random.Random(5)
    places = []
    for number in range(24):
        place = tmp_path / f"bundle-{number}"
        shutil.copytree(bundles / ("bad" if number % 5 == 0 else "good"), place)
        places.append(f"oci-layout:{place}")
    file, out = references(tmp_path, *places), tmp_path / "out.jsonl"
    command = [sys.executable, "-m", "rra", "registry", "check", str(file), "--jsonl", str(out)]
    killed = 0
    for _ in range(12):
        wanted = (lines_that_are_whole(out) if out.exists() else 0) + chance.randint(1, 4)
        running = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, bufsize=0
        )
        assert running.stderr is not None
        for _, line in zip(range(wanted), running.stderr, strict=False):
            assert line.startswith("· ".encode())
        running.send_signal(signal.SIGKILL)
        killed += running.wait() == -signal.SIGKILL
        running.stderr.close()
        if chance.random() < 0.5 and out.exists():  # as a crash of the machine may leave it
            size = out.stat().st_size
            os.truncate(out, max(size - chance.randint(0, 80), 0))
    assert killed >= 3
    report = registry_check(file, out)
    assert report.verdicts == {"passed": 19, "failed": 5, "error": 0}
    found = lines(out)
    assert sorted(line["reference"] for line in found) == sorted(places)
    assert {line["reference"]: line["verdict"] for line in found} == {
        place: "failed" if number % 5 == 0 else "passed" for number, place in enumerate(places)
    }
    assert list(own_temporary.iterdir()) == []  # what the killed ones left is gone too


def test_what_is_printed(bundles: Path, tmp_path: Path) -> None:
    references(tmp_path, f"oci-layout:{bundles}/good", f"oci-layout:{bundles}/bad")
    arguments = ("registry", "check", "references.txt", "--jsonl", "out.jsonl")
    document = call(*arguments, cwd=tmp_path)
    assert document["exit_code"] == 1
    assert document["result"]["first"][0]["verdict"] == "failed"
    call("registry", "check", "absent.txt", "--jsonl", "out.jsonl", cwd=tmp_path)
    listed = call("registry", "list", "--from", "references.txt", cwd=tmp_path)
    assert len(listed["result"]["bundles"]) == 2
