"""The page of a rule, and the examples that stand in it."""

from __future__ import annotations

import dataclasses
import inspect
import re

from rra.errors import UsageError
from rra.lint.rule import Rule, rules

_FENCE = re.compile(
    r"^(?P<ticks>`{3,})(?P<language>\w+) title=\"(?P<title>[^\"]+)\"\n"
    r"(?P<body>.*?)^(?P=ticks)$",
    re.MULTILINE | re.DOTALL,
)


@dataclasses.dataclass(frozen=True, slots=True)
class Example:
    """Files that show a rule at work; they stand in for those of a small valid artifact.

    Attributes:
        good: Whether the rule has nothing to object to.
        files: Content by path. Of ``rra.yaml`` only the top-level keys that matter are given.
    """

    good: bool
    files: dict[str, str]


def explain(code: str) -> str:
    """Return the page of a rule as Markdown.

    Raises:
        UsageError: There is no rule of this code.
    """
    known = rules()
    rule = known.get(code.upper())
    if rule is None:
        raise UsageError(f"there is no rule {code}", hint=f"the rules are {', '.join(known)}")
    return render_page(rule)


def render_page(rule: type[Rule]) -> str:
    """Return a rule's page: name, attributes, and its docstring."""
    row = (rule.severity, rule.profile, rule.fix, rule.since, rule.clause or "–")
    return (
        f"# {rule.code}: {rule.name}\n\n"
        "| severity | profile | fix | since | clause |\n"
        "|---|---|---|---|---|\n"
        f"| {' | '.join(map(str, row))} |\n\n"
        f"{inspect.getdoc(rule)}\n"
    )


def examples(rule: type[Rule]) -> list[Example]:
    """Return the examples of a rule's page: under ``Bad:`` and under ``Good:``."""
    page = (inspect.getdoc(rule) or "").split("\n## Example\n", 1)[1]
    parts = re.split(r"^(Bad|Good):$", page, flags=re.MULTILINE)
    return [
        Example(
            word == "Good",
            {match["title"]: match["body"] for match in _FENCE.finditer(body)},
        )
        for word, body in zip(parts[1::2], parts[2::2], strict=True)
    ]
