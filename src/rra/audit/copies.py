"""Asking the probe about the outcomes of one group of runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal

from rra.artifact import Artifact
from rra.audit.decoy_plan import Question
from rra.audit.documents import Finding
from rra.audit.groups import Group
from rra.audit.hardcoding import probe
from rra.audit.inquiry import Budget, Progress
from rra.audit.rerun import Ground, probe_runner
from rra.audit.text_probe import probe_texts
from rra.audit.text_question import TextQuestion
from rra.audit.wanted import Wanted
from rra.errors import SelectError
from rra.model import Outcome
from rra.values.numbers import ReportedNumber
from rra.values.selectors import Value


def find_copies(
    ground: Ground,
    group: Group,
    values: Mapping[str, Sequence[Value]],
    outcomes: Mapping[str, Outcome],
    *,
    budget: Budget | None = None,
    progress: Progress | None = None,
) -> dict[str, list[Finding]]:
    """Look whether outcomes of a group are copied from the artifact (`rra.audit.hardcoding`).

    Args:
        ground: Where runs happen; its place is as before at the end.
        group: The runs.
        values: Values of each outcome from unchanged runs, first report first.
        outcomes: Outcomes as the unchanged artifact declares them.
        budget: Bounds.
        progress: Told what is tried.

    Returns:
        Findings for every outcome that has values.
    """
    findings: dict[str, list[Finding]] = {}
    questions: list[Question] = []
    texts: list[TextQuestion] = []
    for name, obtained in values.items():
        question = _question(ground.place, name, outcomes[name], obtained)
        text = _text_question(ground.place, name, outcomes[name], obtained)
        if question is not None:
            questions.append(question)
        elif text is not None:
            texts.append(text)
        else:
            findings[name] = [_not_assessed(outcomes[name])]
    if questions:
        asked = {question.outcome: outcomes[question.outcome] for question in questions}
        runner = probe_runner(group, asked, ground)
        findings |= probe(
            ground.place, group.launcher, questions, runner, budget=budget, progress=progress
        )
    if texts:
        asked = {text.outcome: outcomes[text.outcome] for text in texts}
        runner = probe_runner(group, asked, ground)
        findings |= probe_texts(
            ground.place, group.launcher, texts, runner, budget=budget, progress=progress
        )
    return findings


def _question(
    place: Artifact, name: str, outcome: Outcome, obtained: Sequence[Value]
) -> Question | None:
    numbers = [value for value in obtained if isinstance(value, Decimal) and value.is_finite()]
    if outcome.type != "number" or not isinstance(outcome.reported, str) or not numbers:
        return None
    try:
        reported = ReportedNumber.parse(outcome.reported)
    except SelectError:
        return None
    declared = tuple(item.path for item in place.manifest.data.values())
    excluded = declared if outcome.scope == "aggregated" else ()
    spread = max(numbers) - min(numbers)
    return Question(Wanted(name, reported, numbers[0], excluded), spread)


def _text_question(
    place: Artifact, name: str, outcome: Outcome, obtained: Sequence[Value]
) -> TextQuestion | None:
    if outcome.type == "number":
        return None
    values = [value if isinstance(value, tuple) else (str(value),) for value in obtained]
    reported = outcome.reported
    if isinstance(reported, str):
        reported = reported.split(",") if outcome.type == "list" else [reported]
    if not all(item.strip() for item in (*reported, *values[0])) or not values[0]:
        return None
    known = place.manifest.outcomes().values()
    others = {
        one.reported: None
        for one in known
        if one.type == "category" and isinstance(one.reported, str)
    }
    declared = tuple(item.path for item in place.manifest.data.values())
    return TextQuestion(
        name,
        tuple(item.strip() for item in reported),
        tuple(values),
        unordered=outcome.type == "list" and outcome.order == "set",
        excluded=declared if outcome.scope == "aggregated" else (),
        others=tuple(others),
    )


def _not_assessed(outcome: Outcome) -> Finding:
    what = "finite number" if outcome.type == "number" else "text"
    message = f"whether the value is copied was not looked at: there is no {what}"
    return Finding(code="NOT_ASSESSED", status="uncertain", material=False, message=message)
