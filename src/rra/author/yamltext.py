"""Writing YAML by hand, so that a draft can carry comments where an author needs them."""

from __future__ import annotations

from rra._base.yaml import scalar

__all__ = ["comment", "flow_list", "flow_map", "scalar"]


def comment(text: str, indent: int = 0) -> str:
    """Write a line of comment, whatever the text holds."""
    plain = " ".join(text.split())
    plain = "".join(c if c.isprintable() else "?" for c in plain)
    return f"{' ' * indent}# {plain}\n"


def flow_list(values: list[str]) -> str:
    """Write a list of texts in one line."""
    return "[" + ", ".join(scalar(value) for value in values) + "]"


def flow_map(values: dict[str, str]) -> str:
    """Write a map of texts in one line."""
    return "{" + ", ".join(f"{scalar(k)}: {scalar(v)}" for k, v in values.items()) + "}"
