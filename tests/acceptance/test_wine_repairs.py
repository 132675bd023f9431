"""The wine example: each of its repairs is needed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.acceptance.command import rra
from tests.acceptance.example import Example
from tests.support.needs import needs

EXAMPLE = Example("wine-discriminant")


@needs("git")
@pytest.mark.parametrize(
    ("without", "verb", "code", "said"),
    [
        ("0001", "lock", 3, "scikit-learn 0.19.2 has no wheel for Python 3.11"),
        ("0002", "run", 1, "module 'numpy' has no attribute 'float'"),
        ("0003", "run", 1, "No such file or directory: '/home/agnes/work/wine/wine.npz'"),
        ("0004", "run", 1, "No module named 'sklearn.cross_validation'"),
        ("0005", "run", 1, "Missing parentheses in call to 'print'"),
        ("0006", "run", 1, "metrics.json"),
    ],
)
def test_no_repair_can_be_left_out(
    without: str, verb: str, code: int, said: str, tmp_path: Path
) -> None:
    place = EXAMPLE.without(without, tmp_path / "artifact")

    assert said in rra(verb, cwd=place).expect(code).said
