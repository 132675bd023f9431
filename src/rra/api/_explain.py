"""``rra explain``: rules, verdicts, levels and errors in plain words."""

from __future__ import annotations

import dataclasses
import re
from typing import Any

from rra.api._result import Progress, VerbResult, silent
from rra.lint import explain as explain_rule
from rra.lint.rule import rules
from rra.report.clauses import clause_pages
from rra.report.words import catalogue, explain_word

_RULE = re.compile(r"(?i)rra\d{3}")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Explanation(VerbResult):
    """An explanation as Markdown; without a topic, the list of topics."""

    topic: str
    text: str

    def to_json(self) -> dict[str, Any]:
        """Return the result as plain JSON."""
        return {"topic": self.topic, "text": self.text}


def explain(topic: str | None = None, *, progress: Progress = silent) -> Explanation:
    """Explain a rule (``RRA401``), a verdict, a level, a clause, or an error's slug.

    The name of a page of the specification gives the clauses of that page.

    Args:
        topic: What to explain; the list of all topics by default.
        progress: Not used; every function of the api takes it.

    Raises:
        UsageError: There is nothing of that name; near names are given.
    """
    del progress
    if topic is None:
        return Explanation(topic="", text=_topics())
    if _RULE.fullmatch(topic.strip()):
        return Explanation(topic=topic, text=explain_rule(topic.strip().upper()))
    return Explanation(topic=topic, text=explain_word(topic))


def _topics() -> str:
    """Return all topics by kind, one a line."""
    lines = ["# rules"]
    lines += [f"{code}  {rule.name}" for code, rule in rules().items()]
    kind = ""
    for word in sorted(catalogue().values(), key=lambda word: word.kind):
        if word.kind != kind:
            kind = word.kind
            lines += ["", f"# {kind}"]
        lines.append(word.word)
    lines += ["", "# clauses of the specification, by page (rra explain PAGE lists those of one)"]
    lines += [
        f"{page}  {count} clause{'s' * (count != 1)}" for page, count in clause_pages().items()
    ]
    return "\n".join(lines)
