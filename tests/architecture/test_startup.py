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


def test_version_is_the_one_of_the_package() -> None:
    from rra import __version__

    run = subprocess.run(
        [sys.executable, "-m", "rra", "--version"], capture_output=True, text=True, check=True
    )
    assert run.stdout.strip().endswith(__version__)
