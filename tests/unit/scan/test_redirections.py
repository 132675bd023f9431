from __future__ import annotations

import pytest

from rra.scan.redirections import redirected


@pytest.mark.parametrize(
    ("line", "files"),
    [
        ("python a.py > out.txt", ["out.txt"]),
        ("python a.py 2>&1 | tee -a logs/run.log", ["logs/run.log"]),
        ("python a.py &> all.txt", ["all.txt"]),
        ("python a.py >> out.txt 2> err.txt", ["out.txt", "err.txt"]),
        ("python a.py > /dev/null 2>&1", []),
        ("python a.py --rule 'a > b'", []),
        ("python a.py | tee a.txt b.txt | head", ["a.txt", "b.txt"]),
        ("python a.py > <your file>", []),
        ("python a.py 'open", []),
    ],
)
def test_files_that_a_shell_writes(line: str, files: list[str]) -> None:
    assert list(redirected(line)) == files
