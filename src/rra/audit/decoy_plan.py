"""Choosing decoys for many places at once, so that each can be told from every other."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from decimal import ROUND_FLOOR, Decimal

from rra.audit.decoys import Direction, values
from rra.audit.suspects import Suspect
from rra.audit.wanted import Wanted
from rra.values.numbers import CONTEXT, decimals_of

_FALLBACKS = {
    Direction.DOWN: (Direction.DOWN, Direction.UP, Direction.FAR),
    Direction.UP: (Direction.UP, Direction.FAR, Direction.DOWN),
    Direction.FAR: (Direction.FAR, Direction.UP, Direction.DOWN),
    Direction.EXTREME: (Direction.EXTREME,),
}
_MIN_SHIFT = 5
_TOLD_APART = 1000
"""Places from this number on take the first usable decoy, be it distinct or not."""


@dataclasses.dataclass(frozen=True)
class Question:
    """An outcome that is asked whether it is copied.

    Attributes:
        wanted: Its numbers.
        spread: Range of its values over equal runs; 0 when they repeat exactly.
    """

    wanted: Wanted
    spread: Decimal = Decimal(0)

    @property
    def outcome(self) -> str:
        """Id of the outcome."""
        return self.wanted.outcome

    @property
    def tolerance(self) -> Decimal:
        """Largest distance at which a value still is a decoy: rounding and spread."""
        ulp = Decimal(1).scaleb(-min(decimals_of(self.wanted.obtained), 15), CONTEXT)
        noise = min(3 * self.spread, abs(self.wanted.obtained) / 20)
        return max(ulp * Decimal("1.01"), noise, abs(self.wanted.obtained) * Decimal("1e-9"))


@dataclasses.dataclass(frozen=True, slots=True)
class Decoy:
    """What replaces a suspect number.

    Attributes:
        content: Bytes to write.
        value: The number they stand for.
        text: It, for a person.
    """

    content: bytes
    value: Decimal
    text: str


Assignment = Mapping[Suspect, Decoy]


def choose(
    suspects: Iterable[Suspect], questions: Sequence[Question], direction: Direction
) -> dict[Suspect, Decoy]:
    """Choose a decoy for each suspect, distinct as results of each outcome where possible.

    A direction without room (above 100 %) falls back to the others. A suspect whose form holds
    no usable decoy is left out.
    """
    by_name = {question.outcome: question for question in questions}
    taken: set[tuple[str, int]] = set()
    chosen: dict[Suspect, Decoy] = {}
    for index, suspect in enumerate(suspects):
        decoy = _choose(suspect, by_name, direction, index, taken)
        if decoy is not None:
            chosen[suspect] = decoy
            taken.update(_cells(suspect, decoy.value, by_name))
    return chosen


def common(
    suspects: Iterable[Suspect], question: Question, direction: Direction
) -> dict[Suspect, Decoy]:
    """Choose one decoy and give it to every suspect, each at its own scale.

    Suspects whose form cannot hold it are left out.
    """
    chosen: dict[Suspect, Decoy] = {}
    result: Decimal | None = None
    ordered = sorted(suspects, key=lambda suspect: len(suspect.spot.text))
    for suspect in ordered:
        scale = suspect.scales[question.outcome]
        if result is None:
            first = choose([suspect], [question], direction).get(suspect)
            if first is None:
                continue
            chosen[suspect] = first
            result = CONTEXT.multiply(first.value, scale)
            continue
        encoded = suspect.spot.encode(result / scale)
        if encoded is not None:
            chosen[suspect] = _decoy(suspect, *encoded)
    return chosen


def _choose(
    suspect: Suspect,
    questions: Mapping[str, Question],
    direction: Direction,
    index: int,
    taken: set[tuple[str, int]],
) -> Decoy | None:
    spare: Decoy | None = None
    for towards in _FALLBACKS[direction]:
        for value in values(suspect.spot.value, towards, index):
            encoded = suspect.spot.encode(value)
            if encoded is None or not _usable(suspect, encoded[1], questions):
                continue
            decoy = _decoy(suspect, *encoded)
            if index >= _TOLD_APART or not taken.intersection(
                _cells(suspect, decoy.value, questions, around=1)
            ):
                return decoy
            spare = spare or decoy
        if spare is not None:
            return spare
    return None


def _decoy(suspect: Suspect, content: bytes, value: Decimal) -> Decoy:
    if suspect.spot.form[0] in "<>":
        return Decoy(content, value, str(value))
    return Decoy(content, value, content.decode(suspect.spot.form))


def _usable(suspect: Suspect, value: Decimal, questions: Mapping[str, Question]) -> bool:
    """Tell whether a decoy differs enough from the original and is no reported number."""
    for name, scale in suspect.scales.items():
        question = questions.get(name)
        if question is None:
            continue
        shift = abs(CONTEXT.multiply(value - suspect.spot.value, scale))
        if shift < _MIN_SHIFT * question.tolerance and shift < abs(question.wanted.obtained) / 4:
            return False
    return value != suspect.spot.value and not any(
        question.wanted.scale_of(value) for question in questions.values()
    )


def _cells(
    suspect: Suspect, value: Decimal, questions: Mapping[str, Question], around: int = 0
) -> list[tuple[str, int]]:
    """Return the cells of a grid, one per outcome, whose width tells results apart."""
    cells = []
    for name, scale in suspect.scales.items():
        question = questions.get(name)
        if question is not None:
            width = 2 * question.tolerance
            cell = int((value * scale / width).to_integral_value(ROUND_FLOOR))
            cells += [(name, cell + side) for side in range(-around, around + 1)]
    return cells
