"""The verbs of the command line, those inside groups with their full name."""

from __future__ import annotations

import importlib

import click

from rra.cli.main import COMMANDS


def verbs() -> dict[str, click.Command]:
    """Return each command that can be called by its words: ``audit``, ``claims suggest``."""
    found: dict[str, click.Command] = {}
    for name in COMMANDS:
        command: click.Command = importlib.import_module(f"rra.cli.commands.{name}").command
        if isinstance(command, click.Group):
            found |= {f"{name} {inner}": one for inner, one in command.commands.items()}
        else:
            found[name] = command
    return found
