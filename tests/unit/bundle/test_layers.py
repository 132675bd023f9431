"""Which files go into which layer."""

from __future__ import annotations

import os
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from rra.bundle.belonging import foreign_files
from rra.bundle.layers import PlannedLayer, Thresholds, assign_files, plan_layers
from rra.errors import FormatError
from tests.support.bundles import locked_artifact

SMALL = Thresholds(wheel=1000, file=4000, group=10_000, part=50_000)


def data(*paths: str) -> dict[str, Any]:
    return {f"d{number}": {"path": path} for number, path in enumerate(paths)}


def noise(size: int) -> bytes:
    return os.urandom(size)


def titles(layers: tuple[PlannedLayer, ...]) -> dict[str, PlannedLayer]:
    found = {layer.title: layer for layer in layers}
    assert len(found) == len(layers)
    return found


def names(layer: PlannedLayer) -> list[str]:
    return [str(path) for path in layer.files]


def test_each_element_is_a_layer_and_small_ones_come_first(tmp_path: Path) -> None:
    artifact = locked_artifact(
        tmp_path, {"big.py": "#" * 9000, "evidence/main/0a/record.json": "{}"}
    )
    layers = plan_layers(artifact)
    assert {layer.title for layer in layers} == {
        "meta",
        "guide",
        "environment",
        "launchers",
        "code",
        "evidence-main",
    }
    sizes = [layer.size for layer in layers]
    assert sizes == sorted(sizes)
    assert layers[-1].title == "code"
    everything = [path for layer in layers for path in layer.files]
    assert len(everything) == len(set(everything))


def test_evidence_is_a_layer_for_each_launcher(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        f"evidence/{name}/0a/record.json": "{}" for name in ("main", "other")
    }
    layers = titles(plan_layers(locked_artifact(tmp_path, files)))
    assert names(layers["evidence-main"]) == ["evidence/main/0a/record.json"]
    assert names(layers["evidence-other"]) == ["evidence/other/0a/record.json"]


@pytest.mark.clause("bundle/each-file-once")
def test_a_file_that_two_elements_claim_goes_into_one(tmp_path: Path) -> None:
    artifact = locked_artifact(tmp_path, {"code/wine.csv": "1"}, data=data("code/wine.csv"))
    owners = assign_files(artifact)
    assert owners[PurePosixPath("code/wine.csv")] == "data"
    assert owners[PurePosixPath("code/main.py")] == "code"
    here = locked_artifact(tmp_path / "in-place", {}, code={"root": "."})
    assert assign_files(here)[PurePosixPath("README.md")] == "code"
    assert assign_files(here)[PurePosixPath("rra.yaml")] == "meta"


def test_large_data_that_no_compression_helps_is_raw(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "data/small.csv": "1,2\n",
        "data/text.csv": "1,2\n" * 2000,
        "data/photo.bin": noise(8000),
    }
    layers = titles(plan_layers(locked_artifact(tmp_path, files, data=data("data")), SMALL))
    assert layers["data/photo.bin"].raw
    assert not layers["data/text.csv.tar"].raw
    assert names(layers["data.tar"]) == ["data/small.csv"]


def test_an_executable_file_keeps_its_bit_in_an_archive(tmp_path: Path) -> None:
    path = tmp_path / "data" / "tool"
    path.parent.mkdir()
    path.write_bytes(noise(8000))
    path.chmod(0o755)
    layers = titles(plan_layers(locked_artifact(tmp_path, data=data("data")), SMALL))
    assert not layers["data/tool.tar"].raw


def test_large_wheels_are_raw_and_shared(tmp_path: Path) -> None:
    environments = {
        "cpu": {
            "kind": "pylock",
            "python": "3.11",
            "lock": "environment/cpu/pylock.toml",
            "wheels": "environment/cpu/wheels",
        }
    }
    files: dict[str, str | bytes] = {
        "environment/cpu/wheels/big-1.whl": b"x" * 2000,
        "environment/cpu/wheels/small-1.whl": b"x" * 10,
    }
    artifact = locked_artifact(tmp_path, files, environments=environments)
    layers = titles(plan_layers(artifact, SMALL))
    assert layers["environment/cpu/wheels/big-1.whl"].raw
    assert layers["environment/cpu/wheels/big-1.whl"].element == "wheels"
    assert names(layers["wheels"]) == ["environment/cpu/wheels/small-1.whl"]
    assert names(layers["environment.tar"]) == [
        "environment/cpu/README.md",
        "environment/cpu/pylock.toml",
        "environment/cpu/requirements.txt",
    ]


def carrying(**more: str) -> dict[str, Any]:
    cpu = {"kind": "pylock", "python": "3.11", "lock": "environment/cpu/pylock.toml", **more}
    return {"cpu": cpu}


def test_what_an_environment_carries_to_run_on_is_runtime(tmp_path: Path) -> None:
    environments = carrying(
        interpreter="environment/cpu/interpreter.tar", rootfs="environment/cpu/rootfs.tar"
    )
    files: dict[str, str | bytes] = {
        "environment/cpu/interpreter.tar": b"x" * 2000,
        "environment/cpu/rootfs.tar": b"x" * 10,
        "environment/cpu/other.tar": b"x" * 10,
    }
    layers = titles(plan_layers(locked_artifact(tmp_path, files, environments=environments), SMALL))
    alone = layers["environment/cpu/interpreter.tar.tar"]
    assert (alone.element, alone.raw) == ("runtime", False), "it is compressed as a layer"
    assert layers["runtime"].element == "runtime"
    assert names(layers["runtime"]) == ["environment/cpu/rootfs.tar"]
    assert "environment/cpu/other.tar" in names(layers["environment.tar"])


@pytest.mark.clause("bundle/files")
@pytest.mark.parametrize("key", ["interpreter", "rootfs"])
def test_what_an_environment_says_to_carry_has_to_be_there(tmp_path: Path, key: str) -> None:
    artifact = locked_artifact(tmp_path, environments=carrying(**{key: "environment/cpu/gone.tar"}))
    with pytest.raises(FormatError, match=f"{key} environment/cpu/gone.tar is not there"):
        plan_layers(artifact)


@pytest.mark.clause("bundle/elements")
def test_a_runtime_layer_brings_what_the_environment_names_and_nothing_else(
    tmp_path: Path,
) -> None:
    named = "environment/cpu/interpreter.tar"
    manifest = locked_artifact(tmp_path, {named: b"x"}, environments=carrying(interpreter=named))
    paths = [PurePosixPath(named), PurePosixPath("environment/cpu/pylock.toml")]
    found = list(foreign_files(manifest.manifest, "runtime", paths))
    assert [problem.path for problem in found] == ["environment/cpu/pylock.toml"]


@pytest.mark.clause("bundle/layer-size")
def test_files_over_the_limit_of_registries_are_cut_into_numbered_parts(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {"data/huge.bin": noise(120_000)}
    layers = titles(plan_layers(locked_artifact(tmp_path, files, data=data("data")), SMALL))
    parts = [layers[f"data/huge.bin.part-00{number}"] for number in (1, 2, 3)]
    assert [(p.start, p.size) for p in parts] == [(0, 50_000), (50_000, 50_000), (100_000, 20_000)]
    assert [p.part.number for p in parts if p.part] == [1, 2, 3]
    assert all(p.raw and p.part and p.part.of == 3 for p in parts)


def test_small_data_goes_together_up_to_a_size(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {f"data/{n:02}.bin": noise(3000) for n in range(7)}
    layers = titles(plan_layers(locked_artifact(tmp_path, files, data=data("data")), SMALL))
    assert [len(layers[name].files) for name in ("data", "data-2", "data-3")] == [3, 3, 1]


@pytest.mark.clause("bundle/layer-count")
def test_there_are_never_more_layers_than_allowed(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {f"data/{n:03}.bin": noise(4100 + n) for n in range(30)}
    files |= {f"evidence/run-{n}/0a/record.json": "{}" for n in range(10)}
    artifact = locked_artifact(tmp_path, files, data=data("data"))
    thresholds = Thresholds(file=4000, layers=20)
    layers = titles(plan_layers(artifact, thresholds))
    assert len(layers) <= 20
    assert len(layers["evidence"].files) == 10
    alone = [name for name in layers if name.startswith("data/")]
    assert "data/029.bin" in alone
    assert "data/000.bin" not in alone
    with pytest.raises(FormatError, match="needs 7 layers; 3 are allowed"):
        plan_layers(artifact, Thresholds(layers=3))


def link(root: Path, path: str, target: str) -> None:
    place = root / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to(target)


@pytest.mark.clause("bundle/links")
def test_b6_a_link_into_another_layer_is_refused_and_named(tmp_path: Path) -> None:
    link(tmp_path, "data/latest", "../code/seed.txt")
    artifact_of = {"code/seed.txt": "7\n", "data/a.csv": "1\n"}
    with pytest.raises(FormatError) as caught:
        plan_layers(make_unlocked(tmp_path, artifact_of, data=data("data")))
    (problem,) = caught.value.problems
    assert problem.path == "data/latest"
    assert problem.message == "is a symbolic link from data into code: ../code/seed.txt"
    assert problem.hint.startswith("replace the link by a copy of the file")


def make_unlocked(root: Path, files: dict[str, str], **changes: Any) -> Any:
    """Write an artifact that cannot be locked, because a link in it leads away."""
    from tests.support.artifacts import make_artifact

    return make_artifact(root, {"main.py": "print(1)\n", **files}, **changes)


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("/etc/passwd", "absolute"),
        ("../../outside.txt", "leads out"),
        ("absent.txt", "absent.txt"),
        ("one", "link"),
    ],
)
def test_links_that_lead_away_are_refused(tmp_path: Path, target: str, message: str) -> None:
    link(tmp_path, "code/one", "main.py")
    link(tmp_path, "code/two", target)
    with pytest.raises(FormatError) as caught:
        plan_layers(make_unlocked(tmp_path, {}))
    (problem,) = caught.value.problems
    assert problem.path == "code/two"
    assert message in problem.message


def test_links_within_an_element_stay_with_what_they_lead_to(tmp_path: Path) -> None:
    link(tmp_path, "data/latest", "2024/big.bin")
    files: dict[str, str | bytes] = {"data/2024/big.bin": noise(9000), "data/z.bin": noise(9000)}
    layers = titles(plan_layers(locked_artifact(tmp_path, files, data=data("data")), SMALL))
    assert names(layers["data.tar"]) == ["data/2024/big.bin", "data/latest"]
    assert layers["data/z.bin"].raw


@pytest.mark.clause("bundle/files")
def test_b9_b15_missing_files_are_all_named_with_what_is_near(tmp_path: Path) -> None:
    artifact = locked_artifact(tmp_path, {"data/wine.csv": "1"}, data=data("data/wine.csv"))
    (tmp_path / "data" / "wine.csv").rename(tmp_path / "data" / "Wine.CSV")
    (tmp_path / "launchers" / "main.sh").rename(tmp_path / "launchers" / "mian.sh")
    (tmp_path / "environment/cpu/requirements.txt").unlink()
    with pytest.raises(FormatError) as caught:
        plan_layers(artifact)
    said = {problem.message: problem.hint for problem in caught.value.problems}
    assert said["launcher launchers/main.sh is not there, or not part of the artifact"] == (
        "did you mean launchers/mian.sh?"
    )
    assert any("data/wine.csv" in message for message in said)
    assert any("environment/cpu/requirements.txt" in message for message in said)
    assert {problem.path for problem in caught.value.problems} == {"rra.yaml"}
    assert "and 2 more" in caught.value.message


def test_names_that_some_system_cannot_keep_are_all_named(tmp_path: Path) -> None:
    files: dict[str, str] = {
        "code/a:b.py": "",
        "code/A.py": "",
        "code/a.py": "",
        "code/e\u0301": "",
    }
    with pytest.raises(FormatError) as caught:
        plan_layers(make_unlocked(tmp_path, files))
    assert len(caught.value.problems) == 3


@pytest.mark.clause("bundle/no-references")
@pytest.mark.clause("references/outside-the-artifact")
def test_references_never_travel(tmp_path: Path) -> None:
    references = '{"table/accuracy": {"scores": [{"value": "98.8"}]}}\n'
    artifact = make_unlocked(tmp_path, {"code/references.json": references})
    with pytest.raises(FormatError, match=r"code/references\.json holds references"):
        plan_layers(artifact)
    (tmp_path / "code" / "references.json").write_text('[{"title": "On Computable Numbers"}]')
    plan_layers(artifact)


@pytest.mark.clause("security/git-folders")
def test_nothing_of_git_travels(tmp_path: Path) -> None:
    artifact = make_unlocked(
        tmp_path, {"code/.git/config": "x"}, code={"exclude": ["!.git/config"]}
    )
    with pytest.raises(FormatError, match=r"code/\.git/config belongs to git"):
        plan_layers(artifact)


def test_special_files_are_refused(tmp_path: Path) -> None:
    artifact = make_unlocked(tmp_path, {})
    os.mkfifo(tmp_path / "code" / "pipe")
    with pytest.raises(FormatError, match=r"code/pipe is a named pipe, not a file"):
        plan_layers(artifact)


def test_a_link_to_nothing_is_to_be_removed_or_excluded_not_copied(tmp_path: Path) -> None:
    link(tmp_path, "code/old.csv", "gone.csv")
    with pytest.raises(FormatError) as caught:
        plan_layers(make_unlocked(tmp_path, {}))
    (problem,) = caught.value.problems
    assert problem.path == "code/old.csv"
    assert problem.hint.startswith("remove the link, or exclude it")
    assert "copy" not in problem.hint
