"""Facts of whole repositories: notebooks, links, languages, versions, stale results, bad input."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from rra.scan import Scan, inventory, scan_repository
from tests.support.lookalikes import write

POINTER = (
    "version https://git-lfs.github.com/spec/v1\n"
    "oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 11157\n"
)


def scanned(root: Path, files: dict[str, str | bytes]) -> Scan:
    return scan_repository(write(root, files))


def clauses(scan: Scan) -> dict[str, str]:
    return {problem.path: problem.clause for problem in scan.problems}


def notebook(*cells: tuple[str, int | None], error: str = "") -> str:
    outputs: list[Any] = [
        {"output_type": "error", "ename": "NameError", "evalue": error, "traceback": []}
    ]
    code: list[dict[str, Any]] = [
        {
            "cell_type": "code",
            "metadata": {},
            "execution_count": count,
            "outputs": outputs if error else [],
            "source": source,
        }
        for source, count in cells
    ]
    return json.dumps({"nbformat": 4, "nbformat_minor": 4, "metadata": {}, "cells": code})


def test_how_notebooks_were_left(tmp_path: Path) -> None:
    old = {
        "nbformat": 3,
        "nbformat_minor": 0,
        "metadata": {},
        "worksheets": [
            {
                "cells": [
                    {
                        "cell_type": "code",
                        "language": "python",
                        "input": "print(gone)",
                        "outputs": [],
                        "prompt_number": 1,
                        "collapsed": False,
                        "metadata": {},
                    }
                ]
            }
        ],
    }
    scan = scanned(
        tmp_path / "a",
        {
            "good.ipynb": notebook(
                ("import numpy as np\nx = [i for i in np.arange(3)]", 1), ("x", 2)
            ),
            "mixed.ipynb": notebook(("def f(a):\n    return a", 5), ("f(3)", 2)),
            "wrong.ipynb": notebook(("height + 1", 1), error="name 'height' is not defined"),
            "magic.ipynb": notebook(("%run other.py", 1), ("made_there", 2)),
            "fresh.ipynb": notebook(("!ls\nx = 1", None)),
            "old.ipynb": json.dumps(old),
            "broken.ipynb": "{",
        },
    )
    left = {str(one.path): one for one in scan.traits.notebooks}
    assert (left["good.ipynb"].in_order, left["good.ipynb"].missing_names) == (True, ())
    assert (left["mixed.ipynb"].in_order, left["mixed.ipynb"].missing_names) == (False, ())
    assert left["wrong.ipynb"].errors == ("NameError: name 'height' is not defined",)
    assert left["wrong.ipynb"].missing_names == ("height",)
    assert left["magic.ipynb"].missing_names == ()
    assert (left["fresh.ipynb"].executed, left["fresh.ipynb"].in_order) == (0, True)
    assert left["old.ipynb"].missing_names == ("gone",)
    assert left["broken.ipynb"].problem.startswith("not a notebook")


def test_b36_pointers_whatever_their_names(tmp_path: Path) -> None:
    large = "x" * 2000
    scan = scanned(
        tmp_path,
        {"paper.pdf": POINTER, "model.bin": POINTER.replace("\n", "\r\n"), "notes.txt": large},
    )
    found = [(str(one.path), one.size, one.oid[:14]) for one in scan.traits.lfs_pointers]
    assert found == [("model.bin", 11157, "sha256:4d7a214"), ("paper.pdf", 11157, "sha256:4d7a214")]
    assert clauses(scan)["paper.pdf"] == "scan/lfs-pointer"


def test_submodules_without_their_content_and_without_passwords(tmp_path: Path) -> None:
    text = (
        '[submodule "a"]\n\tpath = third/a\n\turl = https://me:secret@git.example/a.git\n'
        '[submodule "b"]\n\tpath = third/b\n\turl = ../b.git\n[submodule "c"]\n\tpath = ../c\n'
    )
    scan = scanned(tmp_path, {".gitmodules": text, "third/b/x.c": "int x;\n"})
    found = [(str(one.path), one.url, one.present) for one in scan.traits.submodules]
    assert found == [
        ("third/a", "https://git.example/a.git", False),
        ("third/b", "../b.git", True),
        ("../c", "", False),
    ]
    assert clauses(scan)["third/a"] == "scan/submodule"


def test_b13_b14_scripts_that_no_kernel_starts(tmp_path: Path) -> None:
    scan = scanned(
        tmp_path,
        {
            "README.md": "```\n./go.sh\n./ok.sh\n```\n",
            "go.sh": "#!/bin/sh\necho 1\n",
            "dos.sh": "echo 1\r\necho 2\r\n",
            "ok.sh": "#!/bin/sh\necho 1\n",
            "data.csv": "1,2\r\n",
        },
    )
    (tmp_path / "ok.sh").chmod(0o755)
    scan = scan_repository(tmp_path)
    assert clauses(scan) == {"go.sh": "scan/mode", "dos.sh": "scan/crlf"}


def commit(root: Path, day: int, *names: str) -> None:
    moment = f"2021-03-{day:02d}T12:00:00Z"
    env = {**os.environ, "GIT_AUTHOR_DATE": moment, "GIT_COMMITTER_DATE": moment}
    identity = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    for words in (["add", *names], [*identity, "commit", "-q", "-m", "x"]):
        subprocess.run(["git", *words], cwd=root, env=env, check=True)


def test_b34_results_that_are_older_than_their_code(tmp_path: Path) -> None:
    code = "open('out/old.csv', 'w')\nopen('out/new.csv', 'w')\n"
    root = write(tmp_path, {"run.py": code, "out/old.csv": "1\n", "other.csv": "2\n"})
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    trap = root / "trap"
    for key in ("core.fsmonitor", "core.hooksPath", "gpg.program"):
        subprocess.run(["git", "config", key, f"touch {trap}; false"], cwd=root, check=True)
    subprocess.run(["git", "config", "core.fsmonitor", "false"], cwd=root, check=True)
    commit(root, 1, "out/old.csv", "other.csv")
    commit(root, 5, "run.py")
    write(root, {"out/new.csv": "3\n"})
    commit(root, 9, "out/new.csv")
    subprocess.run(["git", "config", "core.fsmonitor", f"touch {trap}"], cwd=root, check=True)
    subprocess.run(["git", "config", "log.showSignature", "true"], cwd=root, check=True)
    scan = scan_repository(root)
    assert [(str(one.path), str(one.code), one.days) for one in scan.traits.stale] == [
        ("out/old.csv", "run.py", 4)
    ]
    assert not trap.exists()


def test_languages_by_name_with_what_they_need(tmp_path: Path) -> None:
    scan = scanned(
        tmp_path,
        {
            "Makefile": "all:\n\tg++ a.cpp\n",
            "a.cpp": "int main(){}\n" * 9,
            "a.h": "int x;\n",
            "fit.R": "library(MASS)\n",
            "renv.lock": "{}\n",
            "solve.jl": "using X\n",
            "Project.toml": "name = 'x'\n",
            "step.m": "x = 1;\n",
            "run": "#!/usr/bin/env bash\necho 1\n",
            "notes": "nothing\n",
        },
    )
    named = {one.name: one for one in scan.traits.languages}
    assert set(named) == {"C++", "Make", "R", "Julia", "MATLAB", "Shell"}
    assert scan.traits.languages[0].name == "C++"
    assert named["C++"].files == 2
    assert [str(path) for path in named["C++"].build] == ["Makefile"]
    assert [str(path) for path in named["R"].environment] == ["renv.lock"]
    assert [str(path) for path in named["Julia"].environment] == ["Project.toml"]


@pytest.mark.parametrize(
    ("files", "minimum", "below"),
    [
        ({"a.py": "x = f'{1}'\n", "b.py": "if (n := 1): pass\n"}, "3.8", ""),
        ({"a.py": "print 'x'\n"}, "", "3.0"),
        ({"a.py": "x = f'{1}'\n", "b.py": "import imp\n"}, "3.6", "3.12"),
        ({".python-version": "3.9.7\n", "a.py": "x = 1\n"}, "3.9", "3.10"),
        ({"pyproject.toml": "[project]\nrequires-python = '>=3.8,<3.12'\n"}, "3.8", "3.12"),
        ({"pyproject.toml": "[tool.poetry.dependencies]\npython = '^3.7'\n"}, "3.7", "4.0"),
        ({"README.md": "Tested with Python 3.6.\n"}, "", ""),
        ({"a.py": "x = f'{1}'\n", "b.py": "y = f'{1}'\n", "old.py": "print 'x'\n"}, "3.6", ""),
        ({"tests/t.py": "match x:\n  case 1: pass\n", "a.py": "x = 1\n"}, "", ""),
    ],
)
def test_range_of_python_versions(
    tmp_path: Path, files: dict[str, str | bytes], minimum: str, below: str
) -> None:
    found = scanned(tmp_path, files).traits.python
    assert (found.minimum, found.below) == (minimum, below)


@pytest.mark.parametrize(
    ("files", "need"),
    [
        ({"a.py": "net.cuda()\n"}, "needed"),
        ({"a.py": "import cupy\n"}, "needed"),
        ({"a.py": "if torch.cuda.is_available():\n    net.cuda()\n"}, "optional"),
        (
            {"a.py": "d = torch.device('cuda' if torch.cuda.is_available() else 'cpu')\n"},
            "optional",
        ),
        ({"a.py": "import torch\n", "go.sh": "CUDA_VISIBLE_DEVICES=0 python a.py\n"}, "none"),
    ],
)
def test_whether_a_gpu_is_needed(tmp_path: Path, files: dict[str, str | bytes], need: str) -> None:
    assert scanned(tmp_path, files).traits.gpu.need == need


def test_b38_draws_that_nothing_seeds(tmp_path: Path) -> None:
    scan = scanned(
        tmp_path,
        {
            "run.py": "import numpy as np\nimport model\nnp.random.seed(1)\n",
            "model.py": "import numpy as np\ndef noise():\n    return np.random.randn(3)\n",
            "other.py": "import random\nprint(random.random())\n",
        },
    )
    assert [(str(one.path), one.library) for one in scan.traits.unseeded] == [
        ("other.py", "random")
    ]


def test_trained_models_that_are_named_or_there(tmp_path: Path) -> None:
    scan = scanned(
        tmp_path,
        {
            "README.md": "```\npython eval.py --checkpoint runs/best.pt\n```\n",
            "eval.py": "import torch\ntorch.load('base.pth')\nopen('rows.csv')\n",
            "base.pth": b"\x80\x02",
            "kept/model.pkl": b"\x80\x02",
        },
    )
    found = {one.name: (str(one.path), one.committed) for one in scan.traits.checkpoints}
    assert found == {
        "runs/best.pt": ("README.md", False),
        "base.pth": ("eval.py", True),
        "kept/model.pkl": ("kept/model.pkl", True),
    }


def test_bad_input_is_read_and_never_run(tmp_path: Path) -> None:
    trap = "import pathlib\npathlib.Path('trap').write_text('x')\n"
    root = write(
        tmp_path,
        {
            "setup.py": trap,
            "latin.py": "# caf\xe9\nx = 1\n".encode("latin-1"),
            "wide.py": "print('x')\n".encode("utf-16"),
            "nul.py": b"x = 1\x00\n",
            "deep.py": "x = " + "(" * 5000 + ")" * 5000 + "\n",
            "long.py": "y = " + "+".join(["1"] * 20000) + "\n",
            ".gitmodules": b"\xff\xfe\x00[submodule",
        },
    )
    (root / "loop").symlink_to(root)
    (root / "gone").symlink_to(root / "nowhere")
    scan = scan_repository(root)
    assert {"latin.py", "wide.py"} <= {str(path) for path in scan.python_files}
    assert not any("loop" in path.parts for path in scan.files)
    assert not (root / "trap").exists()


def test_a_repository_with_too_many_files_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inventory, "MAX_FILES", 20)
    scan = scanned(tmp_path, {f"data/{number}.txt": "x" for number in range(30)})
    assert (len(scan.files), scan.truncated) == (20, True)


def test_how_exactly_manifests_name_what_is_needed(tmp_path: Path) -> None:
    text = "numpy==1.26.4\npandas>=2\nscipy==1.*\ntorch\n"
    (pins,) = scanned(tmp_path, {"requirements.txt": text}).traits.pins
    assert (str(pins.path), pins.requirements, pins.pinned) == ("requirements.txt", 4, 1)
    assert pins.committed == ""


def test_data_that_is_read_but_neither_there_nor_made(tmp_path: Path) -> None:
    code = (
        "import argparse\np = argparse.ArgumentParser()\n"
        "p.add_argument('--data-root', default='data/faces')\n"
        "p.add_argument('--out', default='o/x')\n"
        "open('data/rows.csv')\nopen('data/gone.csv')\nopen('made.csv')\nopen('made.csv', 'w')\n"
        "open('/abs/far.csv')\n"
    )
    scan = scanned(tmp_path, {"fit.py": code, "data/rows.csv": "1\n"})
    assert [one.path for one in scan.traits.absent_data] == [
        "/abs/far.csv",
        "data/faces",
        "data/gone.csv",
    ]


def test_licence_of_three_clauses_in_either_wording(tmp_path: Path) -> None:
    text = (
        "Redistribution and use in source and binary forms are permitted.\n"
        "3. Neither name of copyright holders nor the names of its contributors may be used.\n"
    )
    licence = scanned(tmp_path, {"COPYRIGHT": text}).licence
    assert licence is not None
    assert licence.spdx == "BSD-3-Clause"
