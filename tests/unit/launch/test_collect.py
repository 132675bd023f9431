from __future__ import annotations

import os
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from rra._base.files import remove_tree
from rra.launch.collect import (
    collect,
    is_output,
    limit_size,
    make_safe,
    missing_outputs,
    take_over,
    untouched,
    used_bytes,
)
from rra.launch.inventory import TreeSnapshot
from rra.model import Launcher

PLACE = Path("/where/the/outputs/were")


@pytest.fixture
def code(tmp_path: Path) -> Path:
    (tmp_path / "code").mkdir()
    return tmp_path / "code"


@pytest.fixture
def outputs(tmp_path: Path) -> Path:
    (tmp_path / "outputs").mkdir()
    return tmp_path / "outputs"


def write(root: Path, *names: str) -> None:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(name)


def kept(outputs: Path) -> list[str]:
    found = [path for path in outputs.rglob("*") if not path.is_dir()]
    return sorted(str(path.relative_to(outputs)) for path in found)


@pytest.mark.clause("launcher/patterns")
@pytest.mark.parametrize(
    ("table", "expected"),
    [
        ({"results/m.json": "metrics.json"}, ["metrics.json"]),
        ({"results/m.json": "there/"}, ["there/m.json"]),
        ({"results/*.json": "all"}, ["all/m.json", "all/n.json"]),
        ({"results/?.json": "."}, ["m.json", "n.json"]),
        ({"results/[!m].json": "x"}, ["x/n.json"]),
        ({"results": "r"}, ["r/deep/er/p.csv", "r/m.json", "r/n.json"]),
        ({"results/": "r"}, ["r/deep/er/p.csv", "r/m.json", "r/n.json"]),
        ({"**/*.csv": "tables"}, ["tables/results/deep/er/p.csv", "tables/top.csv"]),
        ({"results/**": "r"}, ["r/deep/er/p.csv", "r/m.json", "r/n.json"]),
        ({"results/**/p.csv": "."}, ["deep/er/p.csv"]),
        ({"results/(m).json": "x"}, []),
        ({"result": "x", "results/m": "y"}, []),
    ],
)
def test_patterns_and_places(
    code: Path, outputs: Path, table: dict[str, str], expected: list[str]
) -> None:
    before = TreeSnapshot(code)
    write(code, "results/m.json", "results/n.json", "results/deep/er/p.csv", "top.csv")
    collect(table, before.changes(), code, outputs)
    assert kept(outputs) == expected


def test_a_committed_file_that_was_not_written_is_never_collected(
    code: Path, outputs: Path
) -> None:
    write(code, "results/m.json", "results/n.json")
    before = TreeSnapshot(code)
    write(code, "results/n.json")
    taken = collect({"results/*.json": "."}, before.changes(), code, outputs)
    assert taken == [(PurePosixPath("results/n.json"), PurePosixPath("n.json"))]
    launcher = launcher_with(["m.json"], collect={"results/m.json": "m.json"})
    assert missing_outputs(launcher, outputs) == ["m.json"]
    assert untouched("m.json", launcher, outputs, code) == (
        "results/m.json is in the code, but this run did not write it"
    )


def launcher_with(outputs: list[Any], **more: Any) -> Launcher:
    document = {"entry": "launchers/a.sh", "environment": "cpu", "outputs": outputs, **more}
    return Launcher.model_validate(document)


@pytest.mark.clause("launcher/patterns")
def test_required_outputs_may_be_files_folders_and_patterns(outputs: Path) -> None:
    write(outputs, "metrics.json", "figures/a.png")
    (outputs / "empty").mkdir()
    optional = {"name": "extra.csv", "required": False}
    names = ["metrics.json", "figures", "figures/*.png", "empty", "logs/*.txt", optional]
    assert missing_outputs(launcher_with(names), outputs) == ["empty", "logs/*.txt"]


@pytest.mark.clause("execution-record/regular-outputs")
def test_links_within_become_files_and_others_go(code: Path, outputs: Path) -> None:
    write(outputs, "run-1/m.json")
    write(code, "n.json")
    (outputs / "latest").symlink_to("run-1/m.json")
    (outputs / "from-code").symlink_to(code / "n.json")
    (outputs / "absolute").symlink_to(PLACE / "run-1" / "m.json")
    (outputs / "folder").symlink_to("run-1")
    (outputs / "passwords").symlink_to("/etc/passwd")
    (outputs / "dangling").symlink_to("nowhere")
    os.mkfifo(outputs / "pipe")
    left_out = {one.path: one.why for one in make_safe(outputs, code, place=PLACE)}
    assert kept(outputs) == ["absolute", "from-code", "latest", "run-1/m.json"]
    assert not (outputs / "latest").is_symlink()
    assert (outputs / "latest").read_text() == "run-1/m.json"
    assert sorted(left_out) == ["dangling", "folder", "passwords", "pipe"]
    assert left_out["passwords"] == "a link to /etc/passwd, outside what is kept"
    assert left_out["pipe"] == "neither a file nor a folder"


@pytest.mark.parametrize("replacement", ["link", "link above", "file", "nothing"])
def test_an_output_directory_that_is_none_any_more(
    tmp_path: Path, outputs: Path, replacement: str
) -> None:
    write(tmp_path / "elsewhere", "own/precious")
    own = outputs / "own"
    if replacement == "link":
        own.symlink_to(tmp_path / "elsewhere" / "own")
    elif replacement == "link above":
        outputs.rmdir()
        outputs.symlink_to(tmp_path / "elsewhere")
    elif replacement == "file":
        own.write_text("")
    (left_out,) = take_over(own, tmp_path / "taken")
    assert left_out.path == "."
    assert kept(tmp_path / "taken") == []
    assert kept(tmp_path / "elsewhere") == ["own/precious"]


def test_a_copy_of_the_code_that_is_a_link_opens_nothing(
    tmp_path: Path, code: Path, outputs: Path
) -> None:
    write(tmp_path / "elsewhere", "secret")
    code.rmdir()
    code.symlink_to(tmp_path / "elsewhere")
    (outputs / "m.json").symlink_to(code / "secret")
    (left_out,) = make_safe(outputs, code, place=PLACE)
    assert left_out.path == "m.json"
    assert kept(outputs) == []


def test_a_closed_output_directory_is_taken_over(tmp_path: Path, outputs: Path) -> None:
    write(outputs, "x")
    outputs.chmod(0)
    assert take_over(outputs, tmp_path / "taken") == []
    assert kept(tmp_path / "taken") == ["x"]


def test_names_that_are_no_text_are_written_with_escapes(code: Path, outputs: Path) -> None:
    (outputs / os.fsdecode(b"\xff")).symlink_to("nowhere")
    assert [one.path for one in make_safe(outputs, code, place=PLACE)] == ["\\xff"]


def test_modes_do_not_hide_what_was_left(code: Path, outputs: Path) -> None:
    write(outputs, "closed/m.json")
    (outputs / "closed" / "m.json").chmod(0)
    (outputs / "closed").chmod(0)
    assert make_safe(outputs, code, place=PLACE) == []
    assert (outputs / "closed" / "m.json").stat().st_mode & 0o600 == 0o600


def test_the_largest_files_go_first(outputs: Path) -> None:
    for name, size in (("a", 10), ("b", 300), ("c", 200)):
        (outputs / name).write_bytes(bytes(size))
    assert [one.path for one in limit_size(outputs, 510)] == []
    assert [one.path for one in limit_size(outputs, 250)] == ["b"]
    assert kept(outputs) == ["a", "c"]


def test_a_place_that_is_a_link_is_not_written_through(
    tmp_path: Path, code: Path, outputs: Path
) -> None:
    before = TreeSnapshot(code)
    write(code, "m.json")
    (tmp_path / "elsewhere").mkdir()
    (outputs / "there").symlink_to(tmp_path / "elsewhere")
    assert collect({"m.json": "there/m.json"}, before.changes(), code, outputs) == []
    assert list((tmp_path / "elsewhere").iterdir()) == []


@pytest.mark.clause("selector/file-is-an-output")
@pytest.mark.parametrize(
    ("said", "file", "folder", "may_be_left"),
    [
        ({}, "stderr.txt", False, True),
        ({}, "Stdout.txt", False, False),
        ({"entry": "launchers/deep/run.ipynb"}, "run.ipynb", False, True),
        ({"outputs": ["deep"]}, "deep/er/m.json", False, True),
        ({"outputs": ["*.json"]}, "deep/m.json", False, False),
        ({"outputs": ["runs/*/events"]}, "runs/1", True, True),
        ({"outputs": ["runs/*/events"]}, "runs/1", False, False),
        ({"outputs": ["runs/*/events"]}, "other", True, False),
        ({"collect": {"results/*.json": "all/"}}, "all/m.json", False, True),
        ({"collect": {"results/*.json": "all"}}, "m.json", False, False),
        ({"collect": {"logs/1/e": "kept/logs/e"}}, "kept", True, True),
        ({"collect": {"results/m.json": "./"}}, "m.json", False, True),
        ({"collect": {"results/m.json": "./"}}, "x.json", False, False),
        ({"collect": {"results": "./"}}, "x.json", False, True),
        ({"collect": {"results/*.json": "./"}}, "m.json", False, True),
        ({"collect": {"results/*.json": "./"}}, "m.csv", False, False),
    ],
)
def test_what_a_run_may_leave(
    said: dict[str, Any], file: str, *, folder: bool, may_be_left: bool
) -> None:
    plain = {"entry": "launchers/a.sh", "environment": "cpu", **said}
    assert is_output(Launcher.model_validate(plain), file, folder=folder) is may_be_left


@pytest.mark.clause("launcher/patterns")
@pytest.mark.parametrize(
    ("pattern", "file", "matches"),
    [
        ("[a-c]", "b", True),
        ("[a-c]", "-", False),
        ("[a-]", "-", True),
        ("[c-a]", "b", False),
        ("x[!c-a]", "xb", True),
        ("[!a-c]", "b", False),
        ("[!a]", "^", True),
        ("[^a]", "^", True),
        ("[!]", "!", True),
        ("[!]a]", "!a]", True),
        ("[]a]", "[]a]", True),
        ("[]a]", "a", False),
        ("[abc", "[abc", True),
        ("[**]", "*", True),
        ("x[!a]y", "x/y", False),
        ("x[.-0]y", "x/y", False),
        ("a/**", "a", True),
        ("a/**", "b", False),
    ],
)
def test_sets_of_characters(pattern: str, file: str, *, matches: bool) -> None:
    plain = {"entry": "launchers/a.sh", "environment": "cpu", "outputs": [pattern]}
    assert is_output(Launcher.model_validate(plain), file) is matches


@pytest.mark.clause("selector/file-is-an-output")
@pytest.mark.parametrize(
    ("keys", "folder", "expected"),
    [
        ({"outputs": ["a/b"]}, True, True),
        ({"collect": {"a": "./"}}, True, True),
        ({}, True, False),
        ({"outputs": ["**"]}, False, False),
    ],
)
def test_the_output_directory_itself(keys: dict[str, Any], *, folder: bool, expected: bool) -> None:
    plain = {"entry": "launchers/a.sh", "environment": "cpu", **keys}
    assert is_output(Launcher.model_validate(plain), "./", folder=folder) is expected


@pytest.mark.parametrize(("name", "times"), [("d" * 10, 600), ("d" * 40, 101), ("d", 3000)])
def test_what_no_path_can_name_is_left_out_and_the_rest_is_kept(
    code: Path, outputs: Path, name: str, times: int
) -> None:
    write(outputs, "kept.txt", "a/b/c.txt")
    here = os.getcwd()  # noqa: PTH109 - a folder is made deep from inside
    try:
        os.chdir(outputs)
        for _ in range(times):
            os.mkdir(name)  # noqa: PTH102
            os.chdir(name)
        Path("lost.txt").write_text("")
        os.chmod(".", 0o500)  # noqa: PTH101
    finally:
        os.chdir(here)
    assert used_bytes(outputs) >= len("kept.txt")
    (left_out,) = make_safe(outputs, code, place=PLACE)
    assert left_out.path.startswith(f"{name}/{name}/")
    assert left_out.why == "its path has more than 2048 bytes or 100 folders"
    assert [path for path in kept(outputs) if not path.startswith("d")] == ["a/b/c.txt", "kept.txt"]
    assert not list(outputs.parent.glob(".rra-staging-*"))
    remove_tree(outputs)
    assert not outputs.exists()
