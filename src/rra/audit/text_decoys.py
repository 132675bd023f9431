"""Decoys for lists and categories: another order of the same items, another text."""

from __future__ import annotations

import string
from collections.abc import Iterator, Mapping, Sequence

from rra.audit.text_question import Items, TextQuestion, fold
from rra.audit.wordings import Wording

_MOST = 400


def choose(
    wordings: Sequence[Wording],
    questions: Mapping[str, TextQuestion],
    *,
    avoid: Sequence[Items] = (),
    marked: bool = False,
) -> dict[Wording, Items]:
    """Choose a decoy for each place, distinct as long as there are enough.

    Args:
        wordings: The places; none overlaps another.
        questions: The outcomes by id.
        avoid: Decoys that must not be used.
        marked: Take texts that stand nowhere else instead of another order or category.
    """
    chosen: dict[Wording, Items] = {}
    taken: set[Items] = {_key(items) for items in avoid}
    for index, wording in enumerate(wordings):
        asked = [questions[name] for name in sorted(wording.outcomes) if name in questions]
        if not asked:
            continue
        spare: Items | None = None
        for items in _candidates(wording.items, asked, index, marked=marked):
            if _is_usable(items, wording, asked, avoid):
                spare = spare or items
                if _key(items) not in taken:
                    spare = items
                    break
        if spare is not None:
            chosen[wording] = spare
            taken.add(_key(spare))
    return chosen


def _key(items: Sequence[str]) -> Items:
    return tuple(map(fold, items))


def _is_usable(
    items: Items, wording: Wording, asked: Sequence[TextQuestion], avoid: Sequence[Items]
) -> bool:
    return _key(items) not in {_key(one) for one in avoid} and not any(
        question.key(items)
        in {*question.keys, question.key(question.reported), question.key(wording.items)}
        for question in asked
    )


def _candidates(
    items: Items, asked: Sequence[TextQuestion], index: int, *, marked: bool
) -> Iterator[Items]:
    if not marked and len(items) == 1:
        others = [other for question in asked for other in question.others]
        yield from ((other,) for other in others[index:] + others[:index])
    elif not marked and not all(question.unordered for question in asked):
        yield from orders(items)
    for number in range(index * 7, index * 7 + _MOST):
        place = number % len(items)
        changed = list(items)
        changed[place] = mark(items[place], number)
        yield tuple(changed)


def orders(items: Items) -> Iterator[Items]:
    """Yield other orders of the items: rotations, then rotations with two items exchanged."""
    count = len(items)
    for by in range(1, count):
        yield items[by:] + items[:by]
    for first in range(count):
        for second in range(first + 1, count):
            for by in range(count):
                changed = list(items[by:] + items[:by])
                changed[first], changed[second] = changed[second], changed[first]
                yield tuple(changed)


def mark(text: str, number: int) -> str:
    """Return another text of the same length: a number for a number, letters for letters."""
    made = []
    left = number
    for index, character in enumerate(reversed(text)):
        alphabet = next(
            (letters for letters in _ALPHABETS if character in letters),
            _ALPHABETS[1] if character.isalpha() else "",
        )
        if not alphabet:
            made.append(character)
            continue
        shift = 5 + 2 * index + left % (len(alphabet) - 6)
        left //= len(alphabet) - 6
        digit = (
            alphabet[(alphabet.index(character) + shift) % len(alphabet)]
            if (character in alphabet)
            else alphabet[shift % len(alphabet)]
        )
        made.append("3" if digit == "0" else digit)
    return "".join(reversed(made))


_ALPHABETS = (string.digits, string.ascii_lowercase, string.ascii_uppercase)
