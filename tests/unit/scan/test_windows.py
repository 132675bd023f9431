from __future__ import annotations

from pathlib import Path

import pytest

from rra.scan import scan_repository
from rra.scan.windows import as_unix, batch_lines, expand_percent

BATCH = "@echo off\nrem trains\nset DATA=data\\leaves\npython src\\train.py --data %DATA%\npause\n"


def test_a_batch_file_gives_its_commands() -> None:
    assert [(one.text, one.line) for one in batch_lines(BATCH)] == [
        ("set DATA=data\\leaves", 3),
        ("python src\\train.py --data %DATA%", 4),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (r"python src\train.py --out models\a.h5", "python src/train.py --out models/a.h5"),
        (r"python src\other.py", r"python src\other.py"),
        (r"python src/train.py --re 'a\d+'", r"python src/train.py --re 'a\d+'"),
        ("python src/train.py", "python src/train.py"),
    ],
)
def test_backslashes_part_folders_where_a_file_is_there(text: str, expected: str) -> None:
    assert as_unix(text, {"src/train.py"}.__contains__) == expected


def test_variables_of_a_command_prompt() -> None:
    assert expand_percent("a %X% %Y% 5%", {"X": "b"}) == "a b %Y% 5%"


def test_a_repository_for_windows(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "train.py").write_text("import argparse\n")
    (tmp_path / "all.bat").write_text(BATCH.replace("\n", "\r\n"))
    (tmp_path / "count.ps1").write_text(
        "foreach ($y in 1, 2) {\n  python src\\train.py --y $y\n}\n"
    )
    (tmp_path / "README.md").write_text(
        "```bat\npy -3.8 -m venv env\nall.bat\npython src\\train.py --data data\\x\n```\n"
        "```powershell\nPS> .\\count.ps1\n```\n"
    )
    scan = scan_repository(tmp_path)
    assert [(c.argv[0], str(c.script)) for c in scan.commands] == [
        ("python", "None"),
        ("all.bat", "all.bat"),
        ("python", "src/train.py"),
        ("./count.ps1", "count.ps1"),
    ]
    assert scan.commands[2].argv == ("python", "src/train.py", "--data", "data/x")
    nested = [(str(c.source), str(c.script)) for c in scan.nested_commands]
    assert nested == [("all.bat", "src/train.py"), ("count.ps1", "src/train.py")]
    assert not [p for p in scan.problems if p.clause == "scan/crlf"]
