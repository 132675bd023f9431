"""Names and places of an artifact's files (spec: the four elements)."""

from __future__ import annotations

from typing import Literal

Element = Literal["meta", "guide", "environment", "launchers", "code", "data"]

MANIFEST = "rra.yaml"
LOCK = "rra.lock"
IGNORE = ".rraignore"
GUIDE_DIR = "guide"
GUIDE = "guide/GUIDE.md"
SETTINGS = "guide/settings.yaml"
REPAIRS = "guide/repairs.yaml"
PATCHES_DIR = "guide/repairs"
ENVIRONMENT_DIR = "environment"
LAUNCHERS_DIR = "launchers"
DATA_DIR = "data"
EVIDENCE_DIR = "evidence"
OUTPUTS_DIR = "outputs"
HANDOFF_FILES = ("AGENTS.md", "CLAUDE.md", "GEMINI.md", ".agents/skills/reproduce/SKILL.md")
META_FILES = (MANIFEST, LOCK, IGNORE, "README.md", "LICENSE")

OWNED_DIRS = (GUIDE_DIR, ENVIRONMENT_DIR, LAUNCHERS_DIR, EVIDENCE_DIR, OUTPUTS_DIR)
"""Folders at the root that never hold code, also when the code is in place."""

OWNED_FILES = (MANIFEST, LOCK, IGNORE, *HANDOFF_FILES)
"""Files at the root that never belong to the code, also when the code is in place."""

SKIPPED_DIRS = frozenset(
    {".git", ".hg", ".svn", "__pycache__", ".venv", "venv", ".ipynb_checkpoints"}
    | {".pytest_cache", ".mypy_cache", ".ruff_cache", ".tox", ".nox", ".eggs", "node_modules"}
    | {"wandb"}
)
"""Folders that never belong to an artifact, unless ``code.exclude`` takes files in them back."""

BLANK_MARK = "⟦fill"
"""Start of a blank that a template left; it ends with ``⟧``."""
