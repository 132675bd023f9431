"""Tasks as jobs of Slurm, spoken to by its own commands and by files on a shared file system."""

from __future__ import annotations

from rra.launch.backends.slurm.backend import SlurmBackend

__all__ = ["SlurmBackend"]
