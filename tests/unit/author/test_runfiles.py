from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from rra.artifact import Artifact, load_artifact
from rra.author import apply_init, plan_init
from tests.support.lookalikes import write

TRAIN = "import argparse\np = argparse.ArgumentParser()\np.add_argument('--alpha', type=float)\n"


def drafted(root: Path, files: dict[str, str | bytes]) -> tuple[Artifact, tuple[str, ...]]:
    plan = plan_init(write(root, files))
    apply_init(plan)
    return load_artifact(root), plan.notes


def commands(artifact: Artifact, launcher: str) -> list[str]:
    text = (artifact.root / f"launchers/{launcher}.sh").read_text("utf-8")
    body = text.split("run() {\n", 1)[1].split("\n}\n", 1)[0]
    return [line.strip() for line in body.splitlines()]


# ------------------------------------------------------------------------------ MLproject


def test_entry_points_of_mlproject_become_launchers_with_parameters(tmp_path: Path) -> None:
    artifact, notes = drafted(
        tmp_path,
        {
            "MLproject": (
                "name: wine\npython_env: python_env.yaml\nentry_points:\n"
                "  main:\n    parameters:\n      alpha: {type: float, default: 1}\n"
                "      ratio: 0.1\n      data: {type: path, default: d a.csv}\n"
                "    command: python train.py {alpha} --ratio={ratio} {data} '{other}'\n"
                "  validate:\n    parameters: {run: string}\n    command: python v.py {run}\n"
            ),
            "python_env.yaml": "python: '3.11.4'\ndependencies:\n- -r req.txt\n- mlflow==2.3\n",
            "train.py": TRAIN,
            "v.py": "",
        },
    )
    (launcher,) = artifact.manifest.launchers.values()
    parameters = {n: (p.type, p.default) for n, p in launcher.parameters.items()}
    assert parameters == {
        "alpha": ("number", 1),
        "ratio": ("number", 0.1),
        "data": ("string", "d a.csv"),
    }
    expected = 'python train.py "$RRA_PARAM_ALPHA" --ratio="$RRA_PARAM_RATIO" "$RRA_PARAM_DATA" '
    assert commands(artifact, "main") == [expected + "'{other}'"]
    assert "MLproject:10: validate has no default for run; write a launcher" in notes
    environment = artifact.manifest.environments["cpu"]
    assert environment.python == "3.11"
    assert "mlflow==2.3" in (environment.requirements or [])


@pytest.mark.parametrize("parameters", ["", "null", "{}"])
def test_b29_no_parameters_are_none(tmp_path: Path, parameters: str) -> None:
    artifact, _ = drafted(
        tmp_path,
        {
            "MLproject": f"entry_points:\n  main:\n    parameters: {parameters}\n"
            "    command: python train.py --alpha 1\n",
            "train.py": TRAIN,
        },
    )
    assert commands(artifact, "main") == ["python train.py --alpha 1"]


def test_b29_no_name_and_no_value_of_a_parameter_reaches_a_shell(tmp_path: Path) -> None:
    artifact, _ = drafted(
        tmp_path / "r",
        {
            "MLproject": (
                "entry_points:\n  main:\n    parameters:\n"
                "      'a;touch p1': {default: '$(touch p2)'}\n"
                "      eq: {default: '1 + 2 = 3; touch p3'}\n"
                '    command: "python show.py {a;touch p1} {eq} && python show.py {eq}"\n'
            ),
            "show.py": "import sys\nprint(sys.argv[1:])\n",
        },
    )
    python = write(tmp_path / "bin", {}) / "python"
    python.symlink_to(Path(sys.executable).resolve())
    done = subprocess.run(
        ["bash", artifact.root / "launchers/main.sh"],
        env={
            **os.environ,
            "PATH": f"{python.parent}:{os.environ['PATH']}",
            "TMPDIR": str(tmp_path),
        },
        check=True,
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert done.stdout == "['$(touch p2)', '1 + 2 = 3; touch p3']\n['1 + 2 = 3; touch p3']\n"
    assert not list(tmp_path.rglob("p[123]"))


# --------------------------------------------------------------------------------- dvc.yaml


def test_stages_of_dvc_are_run_in_order_with_their_metrics_and_settings(tmp_path: Path) -> None:
    artifact, notes = drafted(
        tmp_path,
        {
            "dvc.yaml": (
                "stages:\n"
                "  evaluate:\n    cmd: python evaluate.py model.pkl\n"
                "    deps: [model.pkl, evaluate.py]\n    metrics: [{scores.json: {cache: false}}]\n"
                "  train:\n    wdir: src\n    cmd: python train.py --alpha ${train.alpha}\n"
                "    deps: [../data/ready]\n"
                "    outs: [../model.pkl]\n"
                "  prepare:\n    cmd: [mkdir -p data/ready, 'python prepare.py > data/ready/a']\n"
                "    outs: [data/ready]\n"
            ),
            "params.yaml": "# of the paper\ntrain:\n  alpha: 0.5\n  deep: {n: 3}\n",
            "src/train.py": TRAIN,
            "prepare.py": "print(1)\n",
            "evaluate.py": "",
            "raw.csv.dvc": "outs: [{md5: x, path: raw.csv}]\n",
        },
    )
    assert set(artifact.manifest.launchers) == {"evaluate"}
    said = commands(artifact, "evaluate")
    assert said == [
        "'mkdir' -p data/ready",
        "bash -c 'python prepare.py > data/ready/a'",
        "(cd -- src && python train.py --alpha 0.5)",
        "python evaluate.py model.pkl",
    ]
    assert (artifact.manifest.launchers["evaluate"].collect or {})["scores.json"] == "scores.json"
    assert "raw.csv is kept by DVC and is not here: dvc pull, or say where it is from" in notes


def test_parameters_of_stages_become_settings_with_their_places(tmp_path: Path) -> None:
    artifact, _ = drafted(
        tmp_path,
        {
            "dvc.yaml": (
                "stages:\n  train:\n    cmd: python train.py --alpha ${train.alpha}\n"
                "    params: [train, {more.yaml: [depth]}]\n    outs: [m.pkl]\n"
            ),
            "params.yaml": "# of the paper\ntrain:\n  alpha: 0.5\n  deep: {n: 3}\n",
            "more.yaml": "depth: 7\n",
            "train.py": "",
        },
    )
    found = {n: (s.value, s.source, s.where, s.launchers) for n, s in artifact.settings.items()}
    assert found == {
        "train-alpha": (0.5, "code", "params.yaml:3", ["train"]),
        "train-deep-n": (3, "code", "params.yaml:4", ["train"]),
        "depth": (7, "code", "more.yaml:1", ["train"]),
    }


def test_stages_that_are_unrolled_unresolved_cyclic_or_broken(tmp_path: Path) -> None:
    artifact, notes = drafted(
        tmp_path,
        {
            "dvc.yaml": (
                "vars: [{names: [a, b]}]\nstages:\n"
                "  each:\n    foreach: ${names}\n    do: {cmd: 'python t.py ${item}'}\n"
                "  grid:\n    matrix: {x: [1, 2], y: [q]}\n"
                "    cmd: python t.py ${item.x}${item.y}\n"
                "  open: {cmd: 'python t.py ${nowhere}'}\n"
                "  empty: null\n"
                "  one: {cmd: python t.py 1, deps: [f2], outs: [f1]}\n"
                "  two: {cmd: python t.py 2, deps: [f1], outs: [f2]}\n"
            ),
            "t.py": "",
        },
    )
    ran = {name: commands(artifact, name)[-1] for name in artifact.manifest.launchers}
    assert ran == {
        "each-a": "python t.py a",
        "each-b": "python t.py b",
        "grid-1-q": "python t.py 1q",
        "grid-2-q": "python t.py 2q",
    }
    assert any("stage open: ${nowhere} has no value" in note for note in notes)
    assert any("stage empty: it has no command" in note for note in notes)
    assert any("one, two need each other in a cycle" in note for note in notes)


@pytest.mark.parametrize("name", ["MLproject", "dvc.yaml", "metadata/metadata.yml"])
@pytest.mark.parametrize("text", ["{", "[]", "stages: 3\nentry_points: x\n", "", "a: 1\na: 2\n"])
def test_files_that_are_broken_stop_nothing(tmp_path: Path, name: str, text: str) -> None:
    files: dict[str, str | bytes] = {name: text, "main.py": "print(1)\n", "code/run": "true\n"}
    artifact, _ = drafted(tmp_path, files)
    assert artifact.manifest.launchers


# --------------------------------------------------------------------------------- capsules


def test_a_capsule_gives_its_run_its_authors_and_its_packages(tmp_path: Path) -> None:
    root = write(
        tmp_path / "c",
        {
            "metadata/metadata.yml": (
                "name: 'Trees: {{ a }} study'\nauthors:\n- name: Ada Ü.\n- {affiliations: []}\n"
            ),
            "environment/Dockerfile": (
                "FROM registry.example/codeocean/miniconda3:4.7.10-cuda10.1-python3.11\n"
                "# RUN pip install nothing\n"
                "RUN apt-get update && apt-get install -y --no-install-recommends \\\n"
                "        libgl1=1.2 && rm -rf /var/lib/apt/lists/*\n"
                "RUN pip3 install -U --no-cache-dir -i https://h/s \\\n"
                "    numpy==1.26.4 \\\n    'scipy>=1.2' git+https://h/x.git\n"
                "RUN conda install -y pytorch=2.1.0 unheard-of && python -m pip install six\n"
            ),
            "code/run": "#!/bin/bash\npython main.py --out /results\n",
            "code/main.py": "import numpy, sklearn\n",
            "data/x.csv": "1\n",
        },
    )
    plan = plan_init(root, nested=True)
    apply_init(plan)
    artifact = load_artifact(root)
    manifest = artifact.manifest
    assert manifest.title == "Trees: {{ a }} study"
    assert [author.name for author in manifest.authors or []] == ["Ada Ü."]
    environment = manifest.environments["cpu"]
    assert environment.python == "3.11"
    assert (environment.requirements or []) == [
        *("numpy==1.26.4", "scipy>=1.2", "torch==2.1.0", "six", "scikit-learn")
    ]
    assert commands(artifact, "run") == [
        "(cd -- code && 'mkdir' -p ../results)",
        "(cd -- code && bash run)",
    ]
    assert manifest.launchers["run"].collect == {"results/**": "results"}
    text = (root / "rra.yaml").read_text("utf-8")
    assert "code/run names /results, which only a capsule has" in text
    said = " ".join(plan.notes)
    assert "packages of the system: libgl1" in said
    assert "unheard-of has no reviewed distribution" in said
