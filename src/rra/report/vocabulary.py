"""Verdict words in plain language, with their colours."""

from __future__ import annotations

from rra.report.page import Tone, Verdict

_VERDICTS: dict[str, tuple[str, Tone]] = {
    "reproduced": ("reproduced", "good"),
    "deviates_as_documented": ("deviates as documented", "mixed"),
    "deviates": ("deviates", "bad"),
    "partial": ("partial", "mixed"),
    "not_reproduced": ("not reproduced", "bad"),
    "inconclusive": ("inconclusive", "mixed"),
    "could_not_run": ("could not run", "none"),
    "not_assessed": ("not assessed", "none"),
    "not_verified": ("not verified", "none"),
}
_ANSWERS: dict[str, tuple[str, Tone]] = {
    "pass": ("yes", "good"),
    "fail": ("no", "bad"),
    "inconclusive": ("open", "mixed"),
    "not_assessed": ("not asked", "none"),
}

NOT_VERIFIED = Verdict("not_verified", "not verified", "none")
ORDER = tuple(_VERDICTS)
"""Verdict words from best to worst, as counts are shown."""


def verdict(word: str, detail: str = "") -> Verdict:
    """Return a verdict word in plain language; an unknown word is shown as it is."""
    text, tone = _VERDICTS.get(word, (word.replace("_", " "), "none"))
    return Verdict(word, f"{text} ({detail})" if detail else text, tone)


def answer(word: str) -> Verdict:
    """Return the answer to one of the two questions in plain language."""
    text, tone = _ANSWERS.get(word, ("not asked", "none"))
    return Verdict(word, text, tone)


def overall(words: list[str]) -> Tone:
    """Return the colour of a whole set of verdicts: that of the worst."""
    tones = {verdict(word).tone for word in words}
    worst: tuple[Tone, ...] = ("bad", "none", "mixed", "good")
    return next((tone for tone in worst if tone in tones), "none")
