"""Which scripts come before which, and why."""

from __future__ import annotations

from pathlib import Path

import pytest

from rra.scan import Scan, scan_repository
from rra.scan.order import WrittenNames, cycles
from tests.support.lookalikes import write


def scanned(folder: Path, files: dict[str, str]) -> Scan:
    return scan_repository(write(folder / "repository", files))


def edges(scan: Scan) -> list[tuple[str, str, str]]:
    return [(str(one.first), str(one.then), one.file) for one in scan.order_issues]


def test_values_of_commands_join_scripts(tmp_path: Path) -> None:
    scan = scanned(
        tmp_path,
        {
            "README.md": "```\npython sample.py --out s.npz\npython fid.py s.npz\n```\n",
            "sample.py": (
                "import argparse, numpy as np\np = argparse.ArgumentParser()\n"
                "p.add_argument('--out', default='other.npz')\na = p.parse_args()\n"
                "np.savez(a.out)\n"
            ),
            "fid.py": "import sys\nimport numpy as np\nnp.load(sys.argv[1])\n",
        },
    )
    assert edges(scan) == [("sample.py", "fid.py", "s.npz")]
    assert scan.order_issues[0].reason == (
        "sample.py writes it at sample.py:5; fid.py reads it at fid.py:3"
    )


def test_prerequisites_of_a_makefile_and_redirections_join_scripts(tmp_path: Path) -> None:
    scan = scanned(
        tmp_path,
        {
            "Makefile": (
                "t.csv: m.bin\n\tpython score.py > $@\nm.bin: d.npz\n\tpython fit.py\n"
                "d.npz:\n\tpython get.py\n"
            ),
            "get.py": "print(1)\n",
            "fit.py": "print(1)\n",
            "score.py": "print(1)\n",
            "plot.R": 'x <- read.csv("t.csv")\n',
        },
    )
    assert sorted(edges(scan)) == [
        ("fit.py", "score.py", "m.bin"),
        ("get.py", "fit.py", "d.npz"),
        ("score.py", "plot.R", "t.csv"),
    ]
    reason = next(one.reason for one in scan.order_issues if one.file == "m.bin")
    assert "its rule makes it at Makefile:4" in reason
    assert "its rule needs it at Makefile:2" in reason


def test_a_script_that_starts_another_is_not_before_it(tmp_path: Path) -> None:
    scan = scanned(
        tmp_path,
        {
            "run.sh": "python prepare.py\npython -m pkg.train\n",
            "prepare.py": "open('d.json', 'w')\n",
            "pkg/__init__.py": "",
            "pkg/train.py": "open('d.json')\n",
        },
    )
    assert edges(scan) == [("prepare.py", "pkg/train.py", "d.json")]


def test_scripts_that_need_each_other_are_said(tmp_path: Path) -> None:
    scan = scanned(
        tmp_path,
        {
            "a.py": "open('b.csv')\nopen('a.csv', 'w')\n",
            "b.py": "open('a.csv')\nopen('b.csv', 'w')\n",
        },
    )
    assert [[str(one) for one in group] for group in cycles(scan.order_issues)] == [
        ["a.py", "b.py"]
    ]
    assert any("need files of each other" in str(problem) for problem in scan.problems)


@pytest.mark.parametrize(
    ("read", "written", "same"),
    [
        ("runs/3.json", "runs/*.json", True),
        ("runs/*.json", "runs/3.json", True),
        ("processed", "processed/train.npz", True),
        ("processed/a.npz", "processed/b.npz", False),
        ("a", "b/a", False),
        ("m.ckpt-600", "m.ckpt", True),
        ("c/x/m.ckpt-600", "c/*/m.ckpt", True),
    ],
)
def test_names_that_meet(read: str, written: str, same: bool) -> None:  # noqa: FBT001
    assert WrittenNames([written]).meeting(read) == ([written] if same else [])


def test_a_missing_file_says_who_makes_it(tmp_path: Path) -> None:
    scan = scanned(
        tmp_path,
        {
            "conf/config.yaml": "train_file: data/train.csv\nout_dir: runs/a\nlr: 0.1\n",
            "fit.R": 'x <- read.csv("data/in.csv")\nsaveRDS(x, "x.rds")\n',
            "plot.R": 'y <- readRDS("x.rds")\n',
            "data/in.csv": "1\n",
        },
    )
    found = {one.path: ([str(r) for r in one.readers], one.size) for one in scan.data_paths}
    assert found == {
        "data/in.csv": (["fit.R"], 2),
        "data/train.csv": (["conf/config.yaml"], None),
        "x.rds": (["plot.R"], None),
    }
    assert [str(s) for d in scan.data_paths if d.path == "x.rds" for s in d.made_by] == ["fit.R"]
    assert [one.path for one in scan.traits.absent_data] == ["data/train.csv"]
    assert [str(one.path) for one in scan.data_files] == ["data/in.csv"]
