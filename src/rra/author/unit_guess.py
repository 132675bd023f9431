"""Guessing units: what a table means, and what a script prints."""

from __future__ import annotations

import re
from decimal import Decimal

from rra.author.code_hints import LauncherHints
from rra.author.patterns import is_mentioned, label_pattern
from rra.errors import SelectError
from rra.scan import ResultValue
from rra.values.numbers import ReportedNumber, matches
from rra.values.tokens import number_tokens
from rra.values.units import same_unit

_PROPORTION = re.compile(
    r"accurac|(?<![a-z])(?:acc|precision|recall|f-?1|auc|auroc|miou|iou|dice|error rate|error|"
    r"coverage|tpr|fpr|sensitivity|specificity|hits?@?\d*|top-?[15])(?![a-z])",
    re.IGNORECASE,
)
_NO_PROPORTION = re.compile(
    r"squared?(?![a-z])|absolute|standard error|(?<![a-z])r?mse(?![a-z])|(?<![a-z])mae(?![a-z])",
    re.IGNORECASE,
)
_TIMES_100 = re.compile(
    r"(?<![\w.])100(?:\.0*)?\s*\*|\*\s*100(?:\.0*)?(?![\w.])|percent|\.1%|\.2%|\.0%"
)
_FRACTION = re.compile(
    r"accuracy_score|f1_score|roc_auc_score|precision_score|recall_score|cross_val_score|"
    r"\.score\(|\.mean\(|np\.mean|/\s*len\(|\.evaluate\("
)


def outcome_unit(value: ResultValue) -> str | None:
    """Return the unit of a reported number: as written, or percent where nothing else fits.

    A proportion (accuracy, F1, …) above 1 and up to 100 can only be in percent.
    """
    if value.unit is not None:
        return "percent" if same_unit(value.unit, "percent") else value.unit
    label = f"{value.column} {value.row}"
    if "%" in label or re.search(r"\bpercent", label, re.IGNORECASE):
        return "percent"
    if not _PROPORTION.search(label) or _NO_PROPORTION.search(label):
        return None
    try:
        number = ReportedNumber.parse(value.text).value
    except SelectError:
        return None
    return "percent" if Decimal("1.5") < number <= 100 else None


def selector_unit(
    value: ResultValue, unit: str | None, hints: LauncherHints, scale: Decimal | None
) -> tuple[str | None, str]:
    """Guess the unit in which a launcher gives a value: (unit, why it is taken to be that).

    Args:
        value: The reported value.
        unit: Its unit.
        hints: What the files behind the launcher say.
        scale: Factor from a committed copy of the file to the reported value, when known.

    Returns:
        No unit where it is not a proportion: then the file's unit is that of the paper.
    """
    if unit != "percent":
        return None, ""
    if scale is not None:
        word = "fraction" if scale == 100 else "percent"
        return word, "a committed copy of the file has it so"
    for word, why in _signs(value, hints):
        return word, why
    return "percent", "nothing in the code says otherwise"


def _signs(value: ResultValue, hints: LauncherHints) -> list[tuple[str, str]]:
    """Return what speaks for percent or fraction, the most telling first."""
    signs: list[tuple[str, str]] = []
    label = label_pattern(value.column)
    lines = [text for text in hints.printed if is_mentioned(label, [text])] or list(hints.printed)
    if any("%%" in text or re.search(r"[}\d]\s*%(?![a-zA-Z(])", text) for text in lines):
        signs.append(("percent", "a printed text has a % sign"))
    if any(re.search(r"\{:[^{}]*%\}", text) for text in lines):
        signs.append(("percent", "a printed format multiplies by 100"))
    reported = ReportedNumber.parse(value.text)
    for texts, what in ((hints.printed, "printed text"), (hints.results, "committed result")):
        found = _scales(texts, reported)
        if len(found) == 1:
            word = "fraction" if found == {Decimal(100)} else "percent"
            signs.append((word, f"a {what} holds the value so"))
    code = "\n".join(hints.code)
    if _TIMES_100.search(code):
        signs.append(("percent", "the code multiplies by 100"))
    found = _scales(hints.code, reported)
    if len(found) == 1:
        word = "fraction" if found == {Decimal(100)} else "percent"
        signs.append((word, "a number in the code is the value so"))
    if _FRACTION.search(code):
        signs.append(("fraction", "the code computes a mean or a score"))
    return signs


def _scales(texts: tuple[str, ...], reported: ReportedNumber) -> set[Decimal]:
    """Return under which factors numbers of the texts give the reported value."""
    found = set()
    for text in texts:
        for token in number_tokens(text[:200_000]):
            if token.decimals < 2 and abs(token.value) <= 1:
                continue
            scale = matches(token.value, reported, (Decimal(1), Decimal(100)))
            if scale is not None:
                found.add(scale)
    return found
