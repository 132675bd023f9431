"""Files in which other tools keep how a repository is run: MLflow, DVC, Code Ocean."""

from __future__ import annotations

from rra.author.runfiles.capsule import read_capsule
from rra.author.runfiles.dvc import read_dvc
from rra.author.runfiles.mlproject import read_mlproject
from rra.author.runfiles.objects import FoundSetting, RunFiles, joined
from rra.scan import Scan

__all__ = ["FoundSetting", "RunFiles", "read_run_files"]


def read_run_files(scan: Scan) -> RunFiles:
    """Read all such files at the root of a repository; nothing of them is run.

    Args:
        scan: The scan of the repository.
    """
    return joined((read_mlproject(scan), read_dvc(scan), read_capsule(scan)))
