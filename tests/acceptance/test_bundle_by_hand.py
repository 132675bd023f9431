"""A bundle is opened and run with a shell, sha256sum, zstd, tar and pip: nothing of ours."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.acceptance.command import rra
from tests.support.needs import needs
from tests.support.pythons import find_python
from tests.support.source import ROOT

PAGE = ROOT / "docs" / "how-to" / "bundles.md"
#: What the page names, and what launchers use beside it.
TOOLS = ["bash", "sh", "sha256sum", "zstd", "tar", "gzip", "cat", "mkdir", "cp", "rm", "mktemp"]
TOOLS += ["dirname", "basename", "chmod", "mv", "env", "find", "sed", "date", "head", "tail"]
TOOLS += ["tr", "tee", "touch", "sleep"]


@pytest.mark.slow
@needs("zstd")
def test_the_commands_of_the_page_open_and_run_the_wine_example(tmp_path: Path) -> None:
    (commands,) = re.findall(r"```sh\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    example = ROOT / "examples" / "wine-discriminant" / "artifact"
    rra("pack", example, "oci-layout:bundle", cwd=tmp_path).expect(0)
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in TOOLS:
        (tools / name).symlink_to(str(shutil.which(name)))
    (tools / "python3.11").symlink_to(find_python("3.11") or sys.executable)
    kept = {
        key: value for key, value in os.environ.items() if not key.startswith(("RRA_", "PYTHON"))
    }

    done = subprocess.run(
        [tools / "bash", "-euo", "pipefail", "-c", commands],
        cwd=tmp_path,
        env={**kept, "PATH": str(tools)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    metrics = json.loads((tmp_path / "study/outputs/table1/metrics.json").read_bytes())
    assert round(100 * metrics["lda"]["accuracy"], 1) == 98.9
    assert (tmp_path / "study/rra.yaml").read_bytes() == (example / "rra.yaml").read_bytes()


def test_a_changed_blob_is_seen_without_us_too(tmp_path: Path) -> None:
    example = ROOT / "examples" / "wine-discriminant" / "artifact"
    rra("pack", example, "oci-layout:bundle", cwd=tmp_path).expect(0)
    blob = max((tmp_path / "bundle/blobs/sha256").iterdir(), key=lambda path: path.stat().st_size)
    blob.write_bytes(blob.read_bytes()[:-1] + b"\0")
    (commands,) = re.findall(r"```sh\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    first = commands.splitlines()[0]
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", first], cwd=tmp_path, capture_output=True, check=False
    )
    assert done.returncode != 0
