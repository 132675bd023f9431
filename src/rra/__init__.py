"""Refined Reproducible Artifacts: make, run, check and judge them.

The functions of the library live in :mod:`rra.api`; the command line calls the same functions.
"""

from __future__ import annotations

__version__ = "0.1.0"
