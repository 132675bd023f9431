"""Where the commands lie that `tools/debian13_tools.sh` and `tools/apptainer.sh` bring."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

#: Found when this is imported: tests have homes and caches of their own.
TOOLS = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "rra-tools"
BIN = TOOLS / "debian13/usr/bin"
APPTAINER = TOOLS / "apptainer/bin/apptainer"


def command(name: str) -> str:
    """Return the path of ``oras`` or ``cosign``: from the folder, or else from PATH."""
    ours = BIN / name
    return str(ours) if ours.is_file() else shutil.which(name) or name
