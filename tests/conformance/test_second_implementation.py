"""The second implementation, in Node, agrees with the corpus.

It was written from the specification and the corpus alone by somebody who had not seen this
code, with two libraries: one reads YAML, one applies JSON Schemas.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from rra._base.resources import schema_path
from tests.support.needs import needs

NODE = Path(__file__).parent / "node"
CORPUS = schema_path("manifest").parents[1] / "conformance" / "v1"
TOPS = ("valid", "invalid")

pytestmark = needs("node-packages")


def agreement(corpus: Path) -> dict[str, Any]:
    """Run the second implementation over a corpus and return its report."""
    run = subprocess.run(
        ["node", str(NODE / "corpus.mjs"), str(corpus), "--json"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode in {0, 1}, run.stderr
    report: dict[str, Any] = json.loads(run.stdout)
    assert run.returncode == bool(report["disagreements"])
    return report


def test_it_agrees_with_every_case() -> None:
    report = agreement(CORPUS)
    assert report["disagreements"] == []
    cases = sum(1 for top in TOPS for _ in (CORPUS / top).glob("*/*/expect.yaml"))
    assert sum(stage["agree"] for stage in report["counts"].values()) == cases > 1000


@pytest.mark.parametrize(
    ("case", "old", "new"),
    [
        ("invalid/manifest/version-a-number", "verdict: invalid", "verdict: valid"),
        ("invalid/launcher/needs-itself", "stage: semantic", "stage: schema"),
        ("valid/manifest/smallest", "verdict: valid", "verdict: invalid"),
    ],
)
def test_a_wrong_expectation_is_noticed(case: str, old: str, new: str, tmp_path: Path) -> None:
    shutil.copytree(CORPUS / case, tmp_path / case)
    expect = tmp_path / case / "expect.yaml"
    text = expect.read_text("utf-8")
    assert old in text
    expect.write_text(text.replace(old, new), "utf-8")
    assert len(agreement(tmp_path)["disagreements"]) == 1
