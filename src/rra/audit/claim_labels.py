"""Which numbers of the outputs are named as a reported number is.

A label of a table (``1-NN (z-transformed)``) and the keys on the way to a number (``1nn``,
``accuracy``) are cut into words; a label is matched in full, in part or not at all. Matching is
evidence for a binding, never proof.
"""

from __future__ import annotations

import collections
import re
from collections.abc import Iterable, Sequence

_BRACKETS = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")
_WORDS = re.compile(r"[^\W\d_]+|\d+(?:\.\d+)?")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_EMPTY = frozenset(
    {"the", "of", "in", "a", "an", "and", "on", "for", "with", "by", "to", "our", "ours", "this"}
    | {"that", "model", "method", "reported", "paper", "value", "values", "result", "results"}
    | {"published", "original", "claimed", "artifact", "reproduced", "obtained"}
    | {"score", "rate", "final", "table", "json", "csv", "txt", "npz", "stdout", "metrics"}
)
_SAME = {
    **dict.fromkeys(("acc", "accuracies"), "accuracy"),
    **dict.fromkeys(("err", "errors"), "error"),
    **dict.fromkeys(("val", "valid"), "validation"),
    **dict.fromkeys(("prec", "precisions"), "precision"),
    **dict.fromkeys(("rec", "recalls"), "recall"),
    **dict.fromkeys(("avg", "average", "averaged"), "mean"),
    **dict.fromkeys(("std", "stdev", "stddev"), "sd"),
    **dict.fromkeys(("sec", "secs", "second", "seconds", "runtime"), "time"),
    **dict.fromkeys(("auroc", "aucroc", "rocauc"), "auc"),
    **dict.fromkeys(("ppl",), "perplexity"),
    **dict.fromkeys(("training",), "train"),
    **dict.fromkeys(("testing",), "test"),
    **dict.fromkeys(("param", "parameters", "parameter"), "params"),
}

_MANY = 5_000

NONE, PART, FULL = 0, 1, 2
"""How well a label is found: not, at least half of its words, all of them."""


def words(text: str) -> frozenset[str]:
    """Return the words of a label or key in the form in which they are compared.

    Remarks in brackets go, unless nothing else is there; so do words that name nothing.
    """
    plain = _BRACKETS.sub(" ", text)
    found = _cut(plain) or _cut(text)
    if "auc" in found:
        found -= {"roc"}
    return frozenset(found)


def key_words(text: str) -> frozenset[str]:
    """Return the words of a key, those inside ``testAccuracy`` as well."""
    return words(text) | words(_CAMEL.sub(" ", text))


def _cut(text: str) -> set[str]:
    parts: list[str] = _WORDS.findall(text)
    canonical = (_canonical(part.lower()) for part in parts)
    return {word for word in canonical if word not in _EMPTY}


def _canonical(word: str) -> str:
    if word in _SAME:
        return _SAME[word]
    single = word[:-1] if len(word) > 4 and word.endswith("s") and not word.endswith("ss") else word
    return _SAME.get(single, single)


class LabelIndex:
    """Words of many keys, asked for the numbers that a label names."""

    def __init__(self, keys: Iterable[Sequence[str]]) -> None:
        """Take the keys of each number, in the order in which they are counted."""
        self._having: dict[str, list[int]] = collections.defaultdict(list)
        self._scores: dict[tuple[frozenset[str], str], dict[int, int]] = {}
        known: dict[str, frozenset[str]] = {}
        self._count = 0
        for position, texts in enumerate(keys):
            self._count += 1
            found: set[str] = set()
            for text in texts:
                if text not in known:
                    known[text] = key_words(text)
                found |= known[text]
            for word in found:
                self._having[word].append(position)

    def scores(self, label: str) -> dict[int, int]:
        """Return how well each number is named by a label; those that are not are left out."""
        wanted = words(label)
        joined = "".join(_WORDS.findall(_BRACKETS.sub(" ", label))).lower()  # k-NN is knn
        key = (wanted, joined)
        if key not in self._scores:
            telling = self._telling(wanted)
            counts: collections.Counter[int] = collections.Counter()
            for word in telling:
                counts.update(self._having.get(word, ()))
            scores = {
                position: FULL if count == len(telling) else PART
                for position, count in counts.items()
                if 2 * count >= len(telling)
            }
            self._scores[key] = scores | dict.fromkeys(self._having.get(joined, ()), FULL)
        return self._scores[key]

    def _telling(self, wanted: frozenset[str]) -> list[str]:
        """Leave out words that a large part of very many numbers have, unless all are such."""
        most = max(_MANY, self._count // 5)
        rare = [word for word in wanted if len(self._having.get(word, ())) <= most]
        return rare or list(wanted)
