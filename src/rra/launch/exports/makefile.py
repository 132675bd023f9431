"""A plan as a Makefile for GNU make."""

from __future__ import annotations

from rra.launch.exports.steps import Exported, Step


def makefile(exported: Exported) -> str:
    """Return the text: one target for each task, which is its stamp."""
    stamps = " \\\n  ".join(step.stamp for step in exported.steps)
    rules = "\n".join(_rule(exported, step) for step in exported.steps)
    return f"""\
{exported.head}
SHELL := bash
.SUFFIXES:
.PHONY: all
all: {stamps}

define rra_functions
{_doubled(exported.functions)}endef
export rra_functions

{rules}"""


def _rule(exported: Exported, step: Step) -> str:
    lines = ['eval "$$rra_functions"', *(_doubled(line) for line in step.lines)]
    needs = "".join(f" {stamp}" for stamp in exported.stamps(step))
    recipe = "; \\\n\t".join(lines)
    return f"{step.stamp}:{needs}\n\t@{recipe}\n"


def _doubled(text: str) -> str:
    """Keep make from reading a variable of its own; nothing else in a recipe is make's."""
    return text.replace("$", "$$")
