"""Runs with changed files, bounded in number, each one kept as evidence."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Callable, Collection, Mapping, Sequence
from decimal import Decimal
from pathlib import PurePosixPath

from rra._base import clock
from rra.artifact import Artifact, load_artifact
from rra.audit.decoy_plan import Assignment, Question
from rra.audit.documents import Replacement, Trial
from rra.audit.perturb import files_changed, perturbed
from rra.audit.suspects import Suspect
from rra.errors import RraError
from rra.values.numbers import CONTEXT
from rra.values.selectors import Value

Progress = Callable[[str], None]
MAX_SHOWN = 50


@dataclasses.dataclass(frozen=True, slots=True)
class Answer:
    """What a run gave.

    Attributes:
        values: Value of each outcome in its unit; None where the selector found none.
        failed: Why the run gave nothing at all; empty when it succeeded.
    """

    values: Mapping[str, Value | None]
    failed: str = ""


Runner = Callable[[Artifact], Answer]
"""Runs a launcher (and what it needs) on a place and reads its outcomes."""


@dataclasses.dataclass(frozen=True, slots=True)
class Budget:
    """What a probe may use.

    Attributes:
        runs: Most runs for one launcher; numbers and texts are counted apart.
        seconds: After this time only runs that are needed to confirm a suspicion are made.
    """

    runs: int = 24
    seconds: float = 900.0


class Kind(enum.Enum):
    """What an outcome did when numbers were replaced."""

    SAME = "stayed the same"
    FOLLOWS = "became a decoy"
    MOVED = "became something else"
    FAILED = "was not obtained"
    NOT_RUN = "was not tried"


@dataclasses.dataclass(frozen=True, slots=True)
class Reading:
    """What an outcome did, and which places it followed."""

    kind: Kind
    followed: tuple[Suspect, ...] = ()
    value: Decimal | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Tried:
    """A trial and what it did to each outcome."""

    trial: Trial
    readings: Mapping[str, Reading]

    def of(self, question: Question) -> Reading:
        """Return the reading of an outcome."""
        return self.readings[question.outcome]

    @property
    def failed(self) -> bool:
        """Whether any outcome was not obtained."""
        return any(reading.kind is Kind.FAILED for reading in self.readings.values())


class Inquiry:
    """The trials on one launcher."""

    def __init__(
        self,
        place: Artifact,
        launcher: str,
        questions: Sequence[Question],
        runner: Runner,
        *,
        budget: Budget,
        progress: Progress | None = None,
        texts: Sequence[str] = (),
    ) -> None:
        """Prepare; nothing runs yet.

        Args:
            place: A copy of the artifact that may be changed for the time of a run.
            launcher: Id of the launcher.
            questions: The outcomes that it makes.
            runner: Runs it on a place.
            budget: Bounds.
            progress: Told what is tried.
            texts: Ids of outcomes that are no numbers, for `try_contents`.
        """
        self._place = place
        self._launcher = launcher
        self.questions = tuple(questions)
        self._names = (*(question.outcome for question in questions), *texts)
        self._runner = runner
        self._budget = budget
        self._progress = progress
        self._started = clock.monotonic()
        self._known: dict[frozenset[tuple[Suspect, bytes]], Tried] = {}
        self.trials: list[Trial] = []
        self.exhausted = False

    def try_numbers(self, changes: Assignment, *, needed: bool = False) -> Tried:
        """Run with some numbers replaced; what was tried before is not tried again.

        Args:
            changes: A decoy for each suspect.
            needed: The run confirms a suspicion, so time does not count against it.
        """
        replaced = [
            Replacement(place=suspect.place, original=suspect.spot.text, decoy=decoy.text)
            for suspect, decoy in changes.items()
        ]
        key = frozenset((suspect, decoy.content) for suspect, decoy in changes.items())
        if key in self._known:
            return self._known[key]
        if not changes or not self._allowed(needed=needed):
            return self._not_run(replaced)
        contents: Mapping[PurePosixPath, bytes | None] = perturbed(
            self._place.root, {suspect: decoy.content for suspect, decoy in changes.items()}
        )
        answer = self._run(contents, f"with {_count(len(changes), 'number')} replaced")
        trial = self._keep(answer, replaced, [])
        readings = {
            question.outcome: read(question, answer, changes) for question in self.questions
        }
        self._known[key] = Tried(trial, readings)
        return self._known[key]

    def try_without(self, paths: Collection[PurePosixPath]) -> Tried:
        """Run with some files taken away."""
        if not paths or not self._allowed(needed=False):
            return self._not_run([])
        answer = self._run(dict.fromkeys(paths), f"without {_count(len(paths), 'file')}")
        trial = self._keep(answer, [], sorted(str(path) for path in paths))
        return Tried(trial, {q.outcome: read(q, answer, {}) for q in self.questions})

    def try_contents(
        self,
        contents: Mapping[PurePosixPath, bytes | None],
        replaced: list[Replacement],
        *,
        needed: bool = False,
    ) -> tuple[Trial, Answer] | None:
        """Run with files changed by the caller; None when the budget has ended.

        Args:
            contents: New content of files; None takes one away.
            replaced: What was replaced, for the record.
            needed: The run confirms a suspicion, so time does not count against it.
        """
        if not self._allowed(needed=needed):
            return None
        removed = sorted(str(path) for path, content in contents.items() if content is None)
        what = f"with {_count(len(replaced), 'text')} replaced"
        if removed:
            what = f"without {_count(len(removed), 'file')}"
        answer = self._run(contents, what)
        return self._keep(answer, replaced, removed), answer

    def _allowed(self, *, needed: bool) -> bool:
        in_time = needed or clock.monotonic() - self._started < self._budget.seconds
        allowed = len(self.trials) < self._budget.runs and (in_time or not self.trials)
        self.exhausted = self.exhausted or not allowed
        return allowed

    def _not_run(self, replaced: list[Replacement]) -> Tried:
        trial = Trial(number=0, launcher=self._launcher, replaced=replaced[:MAX_SHOWN])
        return Tried(trial, {q.outcome: Reading(Kind.NOT_RUN) for q in self.questions})

    def _run(self, contents: Mapping[PurePosixPath, bytes | None], what: str) -> Answer:
        if self._progress is not None:
            self._progress(f"probe of {self._launcher}: run {len(self.trials) + 1} {what}")
        try:
            with files_changed(self._place.root, contents):
                return self._runner(load_artifact(self._place.root, tables=False))
        except RraError as error:
            return Answer({}, error.message)

    def _keep(self, answer: Answer, replaced: list[Replacement], removed: list[str]) -> Trial:
        obtained = {name: _text(answer.values.get(name)) for name in self._names}
        trial = Trial(
            number=len(self.trials) + 1,
            launcher=self._launcher,
            replaced=replaced[:MAX_SHOWN],
            replaced_count=len(replaced),
            removed=removed[:MAX_SHOWN],
            obtained=obtained,
            failed=answer.failed or None,
        )
        self.trials.append(trial)
        return trial


def read(question: Question, answer: Answer, changes: Assignment) -> Reading:
    """Tell what an outcome did.

    It follows a place when it equals the decoy there at the decoy's or its own decimals, or has
    moved by exactly as much as the number in that place (a constant or noise on top of it).
    """
    value = answer.values.get(question.outcome)
    if not isinstance(value, Decimal):
        return Reading(Kind.FAILED)
    before, tolerance = question.wanted.obtained, question.tolerance
    if value == before or (question.spread and abs(value - before) <= question.spread):
        return Reading(Kind.SAME, value=value)
    if not value.is_finite():
        return Reading(Kind.MOVED, value=value)
    followed = []
    for suspect, decoy in changes.items():
        scale = suspect.scales.get(question.outcome)
        if scale is None:
            continue
        target = CONTEXT.multiply(decoy.value, scale)
        offset = before - CONTEXT.multiply(suspect.spot.value, scale)
        allowed = max(tolerance, abs(target) * suspect.spot.precision)
        if min(abs(value - target), abs(value - target - offset)) <= allowed:
            followed.append(suspect)
    return Reading(Kind.FOLLOWS if followed else Kind.MOVED, tuple(followed), value)


def _text(value: Value | None) -> str | None:
    if isinstance(value, tuple):
        return ", ".join(value)
    return None if value is None else str(value)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
