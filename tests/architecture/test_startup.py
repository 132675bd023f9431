"""The command starts without the heavy libraries."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

HEAVY = (
    "cookiecutter",
    "cryptography",
    "jsonschema",
    "mpmath",
    "nbformat",
    "numpy",
    "oras",
    "pydantic",
    "requests",
    "rich",
    "ruamel",
    "sigstore",
)
PROBE = """
import json, sys
from rra.cli.main import main
sys.argv = ["rra", *json.loads(sys.argv[1])]
status = 0
try:
    main()
except SystemExit as end:
    status = end.code
loaded = sorted({name.split(".")[0] for name in sys.modules})
print("\\n" + json.dumps({"status": status or 0, "loaded": loaded}))
"""


@pytest.mark.parametrize("argv", [["--version"], ["--help"], []], ids=["version", "help", "bare"])
def test_start_loads_no_heavy_library(argv: list[str]) -> None:
    run = subprocess.run(
        [sys.executable, "-c", PROBE, json.dumps(argv)], capture_output=True, text=True, check=True
    )
    end = json.loads(run.stdout.splitlines()[-1])
    assert [name for name in HEAVY if name in end["loaded"]] == []
    assert "click" in end["loaded"]
    assert end["status"] == (2 if argv == [] else 0)


LIGHT = """
import sys
import rra.api._copy, rra.api._push, rra.bundle.layout, rra.bundle.reader, rra.registry.transfer
print(*sys.modules)
"""


def test_a_bundle_is_sent_without_what_artifacts_are_made_of() -> None:
    """The objects of the format would double what a small push takes, and a fifth of its memory."""
    run = subprocess.run([sys.executable, "-c", LIGHT], capture_output=True, text=True, check=True)
    loaded = set(run.stdout.split())
    assert {"rra.registry.transfer", "rra.bundle.config"} <= loaded
    assert not loaded & {"rra.model.manifest", "rra.model.experiment", "rra.artifact.reader"}


def test_version_is_the_one_of_the_package() -> None:
    from rra import __version__

    run = subprocess.run(
        [sys.executable, "-m", "rra", "--version"], capture_output=True, text=True, check=True
    )
    assert run.stdout.strip().endswith(__version__)
