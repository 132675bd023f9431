from __future__ import annotations

import pytest

from rra.scan.pipelines import pipelines


@pytest.mark.parametrize(
    ("line", "commands"),
    [
        ("python a.py", ["python a.py"]),
        ("cd x && python a.py --n 3", ["cd x", "python a.py --n 3"]),
        ("python a.py | tee log.txt", ["python a.py | tee log.txt"]),
        ("python a.py 2>&1 | tee log.txt", ["python a.py 2>&1 | tee log.txt"]),
        ("python a.py | python b.py", ["python a.py", "python b.py"]),
        ("python a.py &> log & python b.py", ["python a.py &> log", "python b.py"]),
        ("for s in 0 1; do python a.py $s; done", ["python a.py $s"]),
        (
            "if [ ${stage} -le 1 ] && [ $x -ge 1 ]; then python a.py > out; fi",
            ["[ ${stage} -le 1 ]", "[ $x -ge 1 ]", "python a.py > out"],
        ),
        (
            "case $1 in train) python a.py ;; test|dev) python b.py ;; esac",
            ["python a.py", "python b.py"],
        ),
        ("python a.py --title 'a; b && c | d'", ["python a.py --title 'a; b && c | d'"]),
        ("(cd x && python a.py)", ["cd x", "python a.py"]),
        ("python a.py $(ls a; ls b)", ["python a.py $(ls a; ls b)"]),
        ("python a.py # first; then\npython b.py", ["python a.py", "python b.py"]),
        ("f() { python a.py; }", ["python a.py"]),
        ("", []),
        ("&& || ; |", []),
        ("python a.py 'open quote; and more", ["python a.py 'open quote; and more"]),
    ],
)
def test_pipelines_are_returned_as_written(line: str, commands: list[str]) -> None:
    assert pipelines(line) == commands
