from __future__ import annotations

from pathlib import Path, PurePosixPath

import pytest

from rra._base.files import walk_files
from rra.errors import FormatError, UsageError
from rra.launch import place, stage_place
from rra.launch.outputs import provide_outputs
from rra.launch.place import copy_code
from rra.launch.workspace import workspace
from tests.support.runs import write_artifact

FILES = {
    "code/train.py": "print(1)\n",
    "launchers/main.sh": "python train.py\n",
    "data/x.csv": "1\n",
    "guide/GUIDE.md": "# guide\n",
    "environment/host/README.md": "Python\n",
    "README.md": "# small\n",
    "evidence/main/00/record.json": "{}",
    "outputs/main/metrics.json": "{}",
    ".git/config": "",
    "notes.txt": "belongs to no element",
}
DATA = {"x": {"path": "data/x.csv"}}
STAGED = [
    "README.md",
    "code/train.py",
    "data/x.csv",
    "environment/host/README.md",
    "guide/GUIDE.md",
    "launchers/main.sh",
    "rra.yaml",
]


def files(root: Path) -> list[str]:
    return [str(path) for path in walk_files(root)]


@pytest.mark.clause("reproduction/fresh-place")
def test_a_stranger_gets_the_elements_and_nothing_else(tmp_path: Path) -> None:
    artifact = write_artifact(tmp_path / "a", FILES, data=DATA)
    staged = stage_place(artifact, tmp_path / "b")
    assert files(staged.root) == STAGED
    assert staged.root == (tmp_path / "b").resolve()
    assert staged.manifest == artifact.manifest


def test_files_can_be_other_or_absent_in_the_copy(tmp_path: Path) -> None:
    artifact = write_artifact(tmp_path / "a", FILES, data=DATA)
    (artifact.root / "code" / "train.py").chmod(0o755)
    staged = stage_place(
        artifact,
        tmp_path / "b",
        overrides={PurePosixPath("code/train.py"): b"print(2)\n"},
        removed=[PurePosixPath("data/x.csv")],
    )
    assert (staged.root / "code" / "train.py").read_text() == "print(2)\n"
    assert (staged.root / "code" / "train.py").stat().st_mode & 0o777 == 0o755
    assert "data/x.csv" not in files(staged.root)
    assert (artifact.root / "code" / "train.py").read_text() == "print(1)\n"


def test_a_copy_replaces_an_older_one_and_a_broken_one_is_said(tmp_path: Path) -> None:
    artifact = write_artifact(tmp_path / "a", FILES, data=DATA)
    stage_place(artifact, tmp_path / "b", overrides={PurePosixPath("code/old.py"): b""})
    assert files(stage_place(artifact, tmp_path / "b").root) == STAGED
    with pytest.raises(FormatError):
        stage_place(artifact, tmp_path / "c", overrides={PurePosixPath("rra.yaml"): b"rra: 1"})


def test_an_entry_outside_the_launchers_comes_along(tmp_path: Path) -> None:
    launchers = {"main": {"entry": "run.sh", "outputs": ["metrics.json"]}}
    inside = {"run.sh": "", "code/x.py": ""}
    artifact = write_artifact(tmp_path / "a", inside, launchers=launchers)
    assert "run.sh" in files(stage_place(artifact, tmp_path / "b").root)


def test_the_copy_of_the_code_has_declared_data_where_the_code_expects_it(tmp_path: Path) -> None:
    inside = {"train.py": "", "inputs/x.csv": "1\n", "launchers/main.sh": "", "outputs/o": ""}
    data = {"x": {"path": "inputs/x.csv"}}
    artifact = write_artifact(tmp_path / "a", inside, code={"root": "."}, data=data)
    copy_code(artifact, tmp_path / "copy")
    assert files(tmp_path / "copy") == ["inputs/x.csv", "train.py"]
    (tmp_path / "copy" / "inputs" / "x.csv").write_text("2\n")
    assert (artifact.root / "inputs" / "x.csv").read_text() == "1\n"


def test_large_data_is_linked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(place, "LARGE", 2)
    inside = {"launchers/main.sh": "", "inputs/x.csv": "1\n", "inputs/y": "1"}
    data = {"x": {"path": "inputs"}}
    artifact = write_artifact(tmp_path / "a", inside, code={"root": "."}, data=data)
    copy_code(artifact, tmp_path / "copy")
    assert (tmp_path / "copy" / "inputs" / "x.csv").readlink() == artifact.root / "inputs/x.csv"
    assert not (tmp_path / "copy" / "inputs" / "y").is_symlink()


def test_links_out_of_the_code_into_the_artifact_still_lead_there(tmp_path: Path) -> None:
    artifact = write_artifact(tmp_path / "a", FILES, data=DATA)
    (artifact.code_root / "input").symlink_to("../data/x.csv")
    (artifact.code_root / "alias.py").symlink_to("train.py")
    (artifact.code_root / "gone").symlink_to("../nowhere")
    copy_code(artifact, tmp_path / "elsewhere" / "copy")
    copy = tmp_path / "elsewhere" / "copy"
    assert (copy / "input").read_text() == "1\n"
    assert str((copy / "alias.py").readlink()) == "train.py"
    assert (copy / "gone").is_symlink()


def test_outputs_of_earlier_launchers_are_there_or_asked_for(tmp_path: Path) -> None:
    root, target = tmp_path / "outputs", tmp_path / "seen"
    (root / "prepare" / "deep").mkdir(parents=True)
    (root / "prepare" / "deep" / "x").write_text("1")
    target.mkdir()
    provide_outputs(root, {"prepare": "prepare"}, target, "main")
    assert (target / "prepare" / "deep" / "x").read_text() == "1"
    with pytest.raises(UsageError, match="main needs the outputs of train") as caught:
        provide_outputs(root, {"train": "train"}, target, "main")
    assert caught.value.hint == "run train first"


def test_a_workspace_goes_with_its_run_and_a_killed_one_with_the_next(tmp_path: Path) -> None:
    with workspace(tmp_path / "outputs") as space:
        (space.code / "x").write_text("")
        with workspace(tmp_path / "outputs") as other:
            assert other.root != space.root
        assert (space.code / "x").exists()
    assert files(tmp_path / "outputs") == []
    assert not space.root.exists()
    left = tmp_path / "outputs" / space.root.name
    (left / "code").mkdir(parents=True)
    (left / ".owner").write_text("")
    with workspace(tmp_path / "outputs"):
        assert not left.exists()


def test_temporary_files_have_a_short_path(tmp_path: Path) -> None:
    deep = tmp_path / ("d" * 60)
    with workspace(deep) as space:
        assert len(str(space.temporary)) < 60
        assert space.temporary.is_dir()
    assert not space.temporary.exists()
