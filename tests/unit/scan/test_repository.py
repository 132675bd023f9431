from __future__ import annotations

import json
from pathlib import Path, PurePosixPath

import pytest

from rra.errors import UsageError
from rra.scan import Scan, files_behind_script, scan_repository, third_party_imports
from tests.support.lookalikes import write

MESSY = {
    "README.md": (
        "# Wine\n\n| m | accuracy (%) |\n|--|--|\n| LDA | 98.9 |\n\n"
        "```\npython classify.py --folds 10\npython prepare.py\n```\nTested with python 2.7.\n"
    ),
    "LICENSE": "MIT License\n\nPermission is hereby granted, free of charge, to any person\n",
    "requirements.txt": "numpy\n",
    "config.py": "WORK = '/home/agnes/wine'\nOUT = 'results'\n",
    "prepare.py": (
        "import os, numpy as np\nfrom config import WORK\n"
        "rows = open('data/wine.csv')\nnp.savez(os.path.join(WORK, 'wine.npz'))\n"
    ),
    "classify.py": (
        "import argparse, os, sys\nimport numpy as np\nimport torch.nn\nfrom config import *\n"
        "import helpers\n"
        "p = argparse.ArgumentParser()\np.add_argument('--folds', type=int, default=5)\n"
        "F = os.path.join(OUT, 'accuracy.csv')\n"
        "if os.path.exists(F):\n    sys.exit(0)\n"
        "d = np.load(os.path.join(WORK, 'wine.npz'))\nopen(F, 'w').write('1')\n"
    ),
    "helpers/__init__.py": "import yaml\n",
    "data/wine.csv": "1,2\n",
    "results/accuracy.csv": "m,a\n",
}


@pytest.fixture
def messy(tmp_path: Path) -> Scan:
    return scan_repository(write(tmp_path / "wine", MESSY))


def test_commands_resolve_to_scripts_with_their_arguments(messy: Scan) -> None:
    runs = [(str(c.script), c.line) for c in messy.commands if c.kind == "run"]
    assert runs == [("classify.py", 8), ("prepare.py", 9)]
    entry = next(e for e in messy.entry_points if str(e.path) == "classify.py")
    assert entry.documented
    assert [(a.name, a.default) for a in entry.arguments] == [("folds", 5)]


def test_imports_data_outputs_and_facts(messy: Scan) -> None:
    assert messy.imports == ("numpy", "torch", "yaml")
    assert [str(d.path) for d in messy.data_files] == ["data/wine.csv"]
    assert [(o.pattern, str(o.writer), o.committed) for o in messy.outputs] == [
        ("results/accuracy.csv", "classify.py", True),
        ("/home/agnes/wine/wine.npz", "prepare.py", False),
    ]
    assert [str(p) for p in messy.result_files] == ["results/accuracy.csv"]
    assert messy.licence is not None
    assert messy.licence.spdx == "MIT"
    assert [(h.text, h.source) for h in messy.python] == [("2.7", "README.md:11")]
    assert [str(m) for m in messy.manifests] == ["requirements.txt"]


def test_what_will_get_in_the_way_is_said_with_its_place(messy: Scan) -> None:
    found = {(problem.clause, problem.place) for problem in messy.problems}
    assert found == {
        ("scan/absolute-path", "config.py:1"),
        ("scan/order", "classify.py"),
        ("scan/skips-when-present", "classify.py:9"),
    }
    (issue,) = messy.order_issues
    assert (str(issue.first), str(issue.then)) == ("prepare.py", "classify.py")
    assert issue.file == "/home/agnes/wine/wine.npz"
    assert issue.documented_wrong


def test_what_lies_behind_a_script(messy: Scan) -> None:
    behind = files_behind_script(messy, PurePosixPath("classify.py"))
    assert [str(path) for path in behind] == ["classify.py", "config.py", "helpers/__init__.py"]


def test_shell_scripts_lead_to_what_they_start(tmp_path: Path) -> None:
    root = write(
        tmp_path,
        {
            "run.sh": "#!/bin/sh\npython src/a.py data/in.dat\npython -c 'import b; b.f()'\n",
            "src/a.py": "print(1)\n",
            "b.py": "",
            "data/in.dat": "",
        },
    )
    scan = scan_repository(root)
    behind = files_behind_script(scan, PurePosixPath("run.sh"))
    assert sorted(map(str, behind)) == ["b.py", "run.sh", "src/a.py"]
    assert [str(d.path) for d in scan.data_files] == ["data/in.dat"]


def test_notebooks_are_read_and_broken_ones_reported(tmp_path: Path) -> None:
    cell = {
        "cell_type": "code",
        "source": ["%matplotlib inline\n", "import pandas\n", "pandas.read_csv('d.csv')"],
    }
    notebook: dict[str, object] = {
        "cells": [{**cell, "metadata": {}, "outputs": [], "execution_count": None}]
    }
    notebook |= {"metadata": {}, "nbformat": 4, "nbformat_minor": 2}
    root = write(tmp_path, {"a.ipynb": json.dumps(notebook), "b.ipynb": "{", "d.csv": ""})
    scan = scan_repository(root)
    assert scan.imports == ("pandas",)
    assert [str(d.path) for d in scan.data_files] == ["d.csv"]
    assert [(p.clause, p.path) for p in scan.problems] == [("scan/notebook", "b.ipynb")]


def test_a_readme_in_utf_16_with_windows_line_ends(tmp_path: Path) -> None:
    text = "# W\r\n\r\n| m | accuracy |\r\n|--|--|\r\n| é | 0.91 |\r\n\r\n    python a.py\r\n"
    root = write(tmp_path, {"README.md": text.encode("utf-16"), "a.py": b"print('\xe9')\r\n"})
    scan = scan_repository(root)
    assert [(v.row, v.text, v.line) for t in scan.results for v in t.values] == [("é", "0.91", 5)]
    assert [c.argv for c in scan.commands] == [("python", "a.py")]


def test_a_repository_without_anything(tmp_path: Path) -> None:
    scan = scan_repository(tmp_path)
    assert (len(scan.commands), len(scan.results), len(scan.problems)) == (0, 0, 0)
    assert scan.licence is None
    with pytest.raises(UsageError, match="no such directory"):
        scan_repository(tmp_path / "none")


def test_tables_come_before_sentences_and_the_readme_before_others(tmp_path: Path) -> None:
    table = "## Results\n\n| m | accuracy |\n|--|--|\n| a | 0.9 |\n"
    files = {"README.md": "accuracy: 0.5\n", "docs/results.md": table}
    scan = scan_repository(write(tmp_path / "a", files))
    assert [(str(t.source), t.prose) for t in scan.results] == [("docs/results.md", False)]
    scan = scan_repository(write(tmp_path / "b", {**files, "README.md": table}))
    assert [str(t.source) for t in scan.results] == ["README.md"]
    scan = scan_repository(write(tmp_path / "c", {"README.md": "accuracy: 0.5\n"}))
    assert [(t.values[0].text, t.prose) for t in scan.results] == [("0.5", True)]


@pytest.mark.parametrize(
    ("text", "spdx"),
    [
        ("Apache License\n   Version 2.0, January 2004", "Apache-2.0"),
        ("GNU GENERAL PUBLIC LICENSE\n Version 3, 29 June 2007", "GPL-3.0-only"),
        ("Redistribution and use in source and binary forms ... Neither the name", "BSD-3-Clause"),
        ("Redistribution and use in source and binary forms are permitted", "BSD-2-Clause"),
        ("do what you like", ""),
    ],
)
def test_licences_are_known_by_their_words(tmp_path: Path, text: str, spdx: str) -> None:
    scan = scan_repository(write(tmp_path, {"COPYING": text}))
    assert scan.licence is not None
    assert scan.licence.spdx == spdx


@pytest.mark.parametrize(
    ("name", "text", "version", "exact"),
    [
        (".python-version", "3.9.18\n", "3.9.18", True),
        ("environment.yml", "dependencies:\n  - python=3.8\n", "3.8", True),
        ("pyproject.toml", "[project]\nrequires-python = '>=3.8,<3.11'\n", ">=3.8,<3.11", False),
        ("setup.py", "setup(python_requires='>=3.6')\n", ">=3.6", False),
    ],
)
def test_python_versions(tmp_path: Path, name: str, text: str, version: str, exact: bool) -> None:  # noqa: FBT001
    (hint,) = scan_repository(write(tmp_path, {name: text})).python
    assert (hint.text, hint.exact) == (version, exact)


def test_third_party_imports_of_some_files(tmp_path: Path) -> None:
    write(
        tmp_path,
        {"a.py": "import numpy, b, os\n", "b.py": "import sklearn.svm\n", "c.py": "import x\n"},
    )
    files = [PurePosixPath("a.py"), PurePosixPath("b.py")]
    assert third_party_imports(tmp_path, files) == ("numpy", "sklearn")


def test_what_is_read_of_very_many_files_lies_near_the_top_and_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rra.scan.codefiles._MAX_PYTHON_FILES", 2)
    for name in ("a/b/deep.py", "a/c/deep.py", "train.py", "z/near.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("import argparse\nargparse.ArgumentParser().parse_args()\n")
    found = scan_repository(tmp_path)
    assert [str(one.path) for one in found.entry_points] == ["train.py", "z/near.py"]
    said = [one.message for one in found.problems]
    assert any(text.startswith("only 2 of 4 Python files and notebooks were read") for text in said)
