from __future__ import annotations

import json
from pathlib import Path

import pytest

from rra import api
from rra.errors import UsageError
from tests.support.lookalikes import write

STUDY = {
    "README.md": "# Study\n\n```\npython train.py --epochs 3\npython gone.py\n```\n",
    "train.py": (
        "import argparse\nimport yaml\nimport my_lab_tools\n"
        "p = argparse.ArgumentParser()\np.add_argument('--epochs', type=int, default=5)\n"
        "open('data/rows.csv')\nopen('out/loss.txt', 'w')\nROOT = '/home/agnes/rows'\n"
    ),
    "data/rows.csv": "1,2\n",
}


def test_the_document_holds_what_was_found(tmp_path: Path) -> None:
    result = api.scan(write(tmp_path / "study", STUDY), output=tmp_path / "scan.json")
    document = json.loads((tmp_path / "scan.json").read_text("utf-8"))
    assert document == result.document == result.to_json()["scan"]
    assert document["type"] == "rra-scan/v1"
    assert document["files"] == {
        "count": 3,
        "bytes": sum(len(text) for text in STUDY.values()),
        "truncated": False,
    }
    (entry,) = document["entry_points"]
    assert [(one["flags"], one["default"]) for one in entry["parameters"]] == [(["--epochs"], 5)]
    assert [(one["script"], one["target"]) for one in document["commands"]] == [
        ("train.py", None),
        (None, "gone.py"),
    ]
    assert document["imports"] == [
        {"name": "my_lab_tools", "distribution": None},
        {"name": "yaml", "distribution": "pyyaml"},
    ]
    assert [one["path"] for one in document["data_paths"]] == ["data/rows.csv"]
    assert [one["path"] for one in document["outputs"]] == ["out/loss.txt"]
    assert [one["text"] for one in document["absolute_paths"]] == ["/home/agnes/rows"]
    assert document["licence"] is None


def test_the_document_says_nothing_of_this_machine(tmp_path: Path) -> None:
    first = api.scan(write(tmp_path / "one", STUDY)).document
    assert first == api.scan(write(tmp_path / "elsewhere" / "two", STUDY)).document
    assert str(tmp_path) not in json.dumps(first)


def test_nothing_of_the_repository_is_run_or_changed(tmp_path: Path) -> None:
    trap = "import shutil\nshutil.rmtree('data')\n"
    root = write(tmp_path / "study", {**STUDY, "setup.py": trap, "conftest.py": trap})
    before = {path: path.stat().st_mtime_ns for path in root.rglob("*")}
    api.scan(root)
    assert {path: path.stat().st_mtime_ns for path in root.rglob("*")} == before


def test_a_directory_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such directory"):
        api.scan(tmp_path / "none")


@pytest.mark.parametrize("there", ["# Study\n", "[1]", '{"type": "rra-lint/v1"}', ""])
def test_no_file_is_replaced_but_an_older_scan(tmp_path: Path, there: str) -> None:
    root = write(tmp_path / "study", STUDY)
    place = tmp_path / "scan.json"
    place.write_text(there, encoding="utf-8")
    with pytest.raises(UsageError, match=r"scan\.json is there and is no scan"):
        api.scan(root, output=place)
    assert place.read_text("utf-8") == there
    place.unlink()
    first = api.scan(root, output=place).document
    (root / "more.py").write_text("print(2)\n", encoding="utf-8")
    second = api.scan(root, output=place).document
    assert json.loads(place.read_text("utf-8")) == second != first
