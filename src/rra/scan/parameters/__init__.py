"""Command lines of scripts: which arguments they take, found without running anything."""

from __future__ import annotations

from rra.scan.parameters.console import console_scripts
from rra.scan.parameters.flags import (
    AcceptedFlags,
    accepted_flags,
    arguments_for,
    given_values,
    own_arguments,
    unknown_flags,
)
from rra.scan.parameters.modules import Modules
from rra.scan.parameters.read import read_command_line

__all__ = [
    "AcceptedFlags",
    "Modules",
    "accepted_flags",
    "arguments_for",
    "console_scripts",
    "given_values",
    "own_arguments",
    "read_command_line",
    "unknown_flags",
]
