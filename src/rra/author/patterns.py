"""Drafting the regular expression that finds a printed value.

The drafts serve scripts that print ``accuracy: 98.9``, ``LDA  98.9 %``, ``{"acc": 0.989}`` or the
bare number. Authors are expected to read and to sharpen them.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable

NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?|\b(?:nan|inf)\b"
"""A printed number; NaN is one, so that a run that gives it is told so."""

_SHORT_FORMS = (
    (r"accurac(?:y|ies)", r"acc(?:urac(?:y|ies))?"),
    (r"f-?1(?:[ -]?score)?", r"f-?1(?:[ _-]?score)?"),
    (r"(?:au)?roc(?:[ -]?auc)?|auc", r"(?:auroc|roc[ _-]?auc|auc)"),
    (r"error(?: rate)?", r"err(?:or)?(?:[ _-]?rate)?"),
    (r"perplexity|ppl", r"(?:perplexity|ppl)"),
    (r"average precision", r"(?:average[ _-]?precision|ap)"),
)


def label_pattern(label: str) -> str:
    """Return a pattern for a label of a table as code may print it.

    Units and remarks in brackets are left out, words may be joined by anything that is no
    letter or digit, and a few metrics have their short forms. Empty for a label without words.

    Args:
        label: Such as ``Accuracy (%)`` or ``1-NN (z-transformed)``.
    """
    plain = re.sub(r"\([^()]*\)|\[[^\[\]]*\]", " ", label)
    words = re.findall(r"[^\W_]+", plain) or re.findall(r"[^\W_]+", label)
    if not words:
        return ""
    joined = " ".join(words).lower()
    for known, short in _SHORT_FORMS:
        if re.fullmatch(known, joined):
            return _bounded(short)
    return _bounded(r"[\W_]*".join(re.escape(word) for word in words))


def _bounded(pattern: str) -> str:
    return rf"(?<![^\W_]){pattern}(?![^\W_])"


def is_mentioned(pattern: str, texts: Iterable[str]) -> bool:
    """Tell whether any of the texts holds a label."""
    return bool(pattern) and _is_mentioned(pattern, tuple(texts))


@functools.lru_cache(maxsize=4096)
def _is_mentioned(pattern: str, texts: tuple[str, ...]) -> bool:
    """Look once: the values of a table share their rows and columns, and texts are long."""
    compiled = re.compile(pattern, re.IGNORECASE)
    return any(compiled.search(text) for text in texts)


def value_pattern(labels: list[str], *, bare: bool, position: int = 0) -> str:
    """Return the pattern of a selector.

    Args:
        labels: Patterns of labels that stand in front of the value in its line, in any order but
            the last one nearest to the value.
        bare: Whether a line that holds nothing but a number is taken as well.
        position: How many numbers stand between the last label and the value.
    """
    value = rf"(?P<value>{NUMBER})"
    if not labels:
        return rf"(?i)^\W*?{value}\s*%?\W*$" if bare else rf"(?i)^\D*?{value}"
    ahead = "".join(f"(?=.*?{label})" for label in labels[:-1])
    skipped = rf"\D*?(?:{NUMBER})\D+?" * position
    head = rf"{ahead}.*?{labels[-1]}{skipped}\D*?"
    if bare:
        return rf"(?i)^(?:{head}|(?=\W*(?:{NUMBER})\s*%?\W*$)\W*?){value}"
    return rf"(?i)^{head}{value}"
