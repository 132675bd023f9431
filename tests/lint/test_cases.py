"""Cases in ``tests/lint/<code>/cases.yaml``: files, and the findings that they must give.

``files`` stand in for those of the smallest valid artifact (`tests.lint.support`). ``expect``
lists ``place: text``: the place of the finding, and a part of its message or hint. ``<N>`` in
a file becomes N letters and digits, so that no file of this repository looks like a secret.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from rra.lint import Profile, lint_artifact
from tests.lint.support import write_artifact

HERE = Path(__file__).parent


def load() -> list[tuple[str, dict[str, Any]]]:
    return [
        (path.parent.name, case)
        for path in sorted(HERE.glob("*/cases.yaml"))
        for case in YAML(typ="safe").load(path.read_text(encoding="utf-8"))
    ]


def expand(text: str) -> str:
    return re.sub(r"<(\d+)>", lambda m: ("a1B2c3D4" * 40)[: int(m[1])], text)


@pytest.mark.parametrize(
    ("code", "case"), load(), ids=[f"{code}-{case['case']}" for code, case in load()]
)
def test_case(code: str, case: dict[str, Any], tmp_path: Path) -> None:
    files = {name: expand(text) for name, text in case.get("files", {}).items()}
    root = write_artifact(tmp_path / "artifact", files, remove=case.get("remove", ()))
    for name, target in case.get("links", {}).items():
        (root / name).symlink_to(target)
    result = lint_artifact(root, profile=Profile.ARCHIVAL, select=[code])
    expected = case["expect"]
    found = [(f.place, f"{f.severity}: {f.message} | {f.hint}") for f in result.findings]
    assert [place for place, _ in found] == [place for item in expected for place in item]
    for (place, text), item in zip(found, expected, strict=True):
        assert item[place] in text
