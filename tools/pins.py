"""Write the hashed pins in requirements/ from pyproject.toml and requirements/bootstrap.in.

``python tools/pins.py`` keeps the versions that are pinned already and adds or removes what
pyproject.toml asks for; ``--upgrade`` takes the newest versions. The files carry names, versions
and digests only: where the packages come from is the index of whoever installs them.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
REQUIREMENTS = ROOT / "requirements"
OLDEST_PYTHON = "3.11"
HEADER = "# Made by tools/pins.py; do not edit.\n"
#: The options after which a line would say where a package comes from.
ADDRESS = re.compile(
    r"^\s*(?:-i|-f|--(?:extra-)?index-url|--find-links|--index)\b|://", re.MULTILINE
)


def compile_pins(
    sources: list[str], target: str, *, constraints: list[str], upgrade: bool, extras: list[str]
) -> None:
    """Resolve ``sources`` into the hashed requirements file ``target``.

    Raises:
        SystemExit: uv found no resolution, or its answer names an address.
    """
    output = REQUIREMENTS / target
    with tempfile.TemporaryDirectory() as scratch:
        draft = Path(scratch, target)
        if output.exists() and not upgrade:
            draft.write_bytes(output.read_bytes())  # uv keeps the versions it finds there
        argv = ["uv", "pip", "compile", "--quiet", "--universal", "--generate-hashes"]
        argv += ["--python-version", OLDEST_PYTHON, "--no-emit-index-url", "--no-annotate"]
        argv += ["--no-header", "--output-file", str(draft)]
        argv += [f"--extra={extra}" for extra in extras]
        argv += [f"--constraint={REQUIREMENTS / name}" for name in constraints]
        if upgrade:
            argv.append("--upgrade")
        result = subprocess.run([*argv, *sources], cwd=ROOT, check=False)
        if result.returncode:
            sys.exit(f"uv could not resolve {target}: see above")
        pins = draft.read_text(encoding="utf-8")
    if ADDRESS.search(pins):
        sys.exit(f"{target} would name an address; is the index configured in pyproject.toml?")
    output.write_text(HEADER + pins, encoding="utf-8")
    print(f"requirements/{target}: {pins.count('==')} pins")


def main() -> None:
    """Write all three files, the development pins first: they hold for the other two."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--upgrade", action="store_true", help="take the newest versions")
    upgrade = parser.parse_args().upgrade
    bootstrap = "requirements/bootstrap.in"
    everything = ["pyproject.toml", bootstrap]
    compile_pins(everything, "dev.txt", constraints=[], upgrade=upgrade, extras=["dev"])
    for target, sources in (("bootstrap.txt", [bootstrap]), ("runtime.txt", everything)):
        compile_pins(sources, target, constraints=["dev.txt"], upgrade=False, extras=[])


if __name__ == "__main__":
    main()
