"""Is a result copied from a place in the artifact? Found out by changing places and running.

Every number in a launcher's reach that matches a reported value is replaced by a decoy, all in
one run, each place by another decoy. What an outcome does then tells where it comes from:

* it stays the same: none of these places is its source;
* it becomes the decoy of a place: that place alone is changed again, in the other direction;
  an outcome that follows both ways is copied from there (`HARDCODED`);
* it becomes something else: it is computed with some of these numbers, or several copies are
  mixed; the other direction and one common decoy for all copies tell which.

Numbers whose change breaks the run are found by halving and set aside; they are tried together
with their copies by the common decoy, so that a check of one copy against another does not help.
The mechanism needs no tracing and no isolation. Files that cannot be searched are taken away to
see whether the result needs them; what stays open is said.
"""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from pathlib import PurePosixPath
from typing import Literal

from rra.artifact import Artifact
from rra.audit.decoy_plan import Question, choose, common
from rra.audit.decoys import Direction
from rra.audit.documents import Finding, Trial
from rra.audit.inquiry import Budget, Inquiry, Kind, Progress, Reading, Runner, Tried
from rra.audit.phrases import listed
from rra.audit.suspects import Search, Suspect, search_place
from rra.model.verdicts import FindingStatus
from rra.values.numbers import CONTEXT

MAX_CONFIRMED = 6
EVERYDAY = 3
"""Numbers of one digit in one file beyond which they are not taken apart one by one."""

_NATURAL_BOUNDS = (Decimal(0), Decimal(1), Decimal(100))

ProbeStatus = Literal["cleared", "hardcoded", "uncertain"]

CODES: dict[FindingStatus, str] = {
    "refuted": "HARDCODED",
    "supported": "no-copy-found",
    "uncertain": "copy-not-excluded",
}
"""Code of the probe's finding by what it says about the outcome."""

_STATUS: dict[ProbeStatus, FindingStatus] = {
    "cleared": "supported",
    "hardcoded": "refuted",
    "uncertain": "uncertain",
}


@dataclasses.dataclass(slots=True)
class _State:
    """What is known of one outcome while the probe runs."""

    question: Question
    suspects: tuple[Suspect, ...]
    status: ProbeStatus | None = None
    message: str = ""
    places: tuple[str, ...] = ()
    trials: list[Trial] = dataclasses.field(default_factory=list)
    unsettled: bool = False
    idle: set[Suspect] = dataclasses.field(default_factory=set)
    """Places whose change, in a run that succeeded, left the outcome as it was."""
    unmoved: set[Suspect] = dataclasses.field(default_factory=set)
    """Places that were changed all at once without any effect on the outcome."""

    def close(self, status: ProbeStatus, message: str, places: Iterable[str] = ()) -> None:
        self.status, self.message, self.places = status, message, tuple(places)

    @property
    def open(self) -> bool:
        return self.status is None


def probe(
    place: Artifact,
    launcher: str,
    questions: Sequence[Question],
    runner: Runner,
    *,
    budget: Budget | None = None,
    progress: Progress | None = None,
) -> dict[str, list[Finding]]:
    """Find out whether outcomes of a launcher are copied from the artifact's files.

    Args:
        place: A fresh copy of the artifact; its files change while a trial runs and are as
            before at the end.
        launcher: Id of the launcher.
        questions: Its numeric outcomes with the values that an unchanged run gave.
        runner: Runs the launcher on a place, always with the same seed.
        budget: Bounds on the number of runs and on time.
        progress: Told what is tried.

    Returns:
        Findings by outcome with the codes of `CODES`: copied, not copied, or not excluded;
        `NOT_ASSESSED`, material, when the budget ended first.
    """
    search = search_place(place, [question.wanted for question in questions])
    inquiry = Inquiry(
        place, launcher, questions, runner, budget=budget or Budget(), progress=progress
    )
    states = [
        _State(question, tuple(s for s in search.suspects if question.outcome in s.scales))
        for question in questions
    ]
    _Probe(inquiry, states, search).run()
    hidden = _unsearched(inquiry, place, search)
    return {state.question.outcome: [*_findings(state), *hidden(state)] for state in states}


class _Probe:
    """The order of trials for one launcher."""

    def __init__(self, inquiry: Inquiry, states: Sequence[_State], search: Search) -> None:
        self._inquiry = inquiry
        self._states = states
        self._suspects = search.suspects
        self._broken: list[Suspect] = []
        self._everyday: set[Suspect] = set()

    def run(self) -> None:
        for state in self._states:
            if not state.suspects:
                state.close("cleared", "no number in the artifact matches this value")
        changed: Sequence[Suspect] = self._suspects
        tried = self._all(changed, Direction.DOWN)
        if tried is not None and tried.failed:
            self._broken = self._isolate(self._suspects)
            changed = self._usable()
            tried = self._all(changed, Direction.DOWN) if changed else None
        self._judge(tried, changed, Direction.DOWN)
        if any(state.open for state in self._states) and self._usable():
            changed = self._usable()
            self._judge(self._all(changed, Direction.UP), changed, Direction.UP)
        for state in self._open():
            self._try_common(state)
        for state in self._open():
            self._conclude(state)

    def _open(self) -> list[_State]:
        return [state for state in self._states if state.open]

    def _usable(self) -> list[Suspect]:
        """Return the places whose change does not break the run and that still matter."""
        names = {state.question.outcome for state in self._open()}
        broken = set(self._broken)
        return [s for s in self._suspects if s not in broken and names.intersection(s.scales)]

    def _all(self, suspects: Iterable[Suspect], towards: Direction) -> Tried | None:
        decoys = choose(suspects, self._inquiry.questions, towards)
        return self._inquiry.try_numbers(decoys) if decoys else None

    def _judge(self, tried: Tried | None, changed: Sequence[Suspect], towards: Direction) -> None:
        """Confirm what followed, close what stayed the same."""
        if tried is None:
            return
        self._confirm_followed(tried, towards)
        for state in self._open():
            if tried.of(state.question).kind is not Kind.SAME:
                continue
            state.unmoved.update(changed)
            if not self._relevant_broken(state):
                state.close("cleared", _cleared(state))

    def _confirm_followed(self, tried: Tried, towards: Direction) -> None:
        for state in self._open():
            reading = tried.of(state.question)
            if tried.trial.number:
                state.trials.append(tried.trial)
            for suspect in self._likeliest(reading.followed):
                if towards is Direction.UP:
                    self._confirm_downwards(state, suspect)
                else:
                    self._confirm_upwards(state, suspect)
                if not state.open:
                    break

    def _likeliest(self, followed: Sequence[Suspect]) -> list[Suspect]:
        """Return the places to confirm: files with few numbers first, chance comes from many."""
        sizes = collections.Counter(suspect.path for suspect in self._suspects)
        return sorted(followed, key=lambda suspect: sizes[suspect.path])[:MAX_CONFIRMED]

    def _confirm_downwards(self, state: _State, suspect: Suspect) -> None:
        """An outcome followed a raised number: lower this one alone."""
        down = self._alone(state, suspect, Direction.DOWN).kind
        if down is Kind.FOLLOWS:
            self._close_copied(state, suspect)
        elif down is Kind.MOVED and self._follows(state, suspect, Direction.FAR):
            state.close("uncertain", _one_way(suspect, "raised", "lowered"), [suspect.place])

    def _confirm_upwards(self, state: _State, suspect: Suspect) -> None:
        """An outcome followed a lowered number: raise this one alone."""
        far = self._alone(state, suspect, Direction.FAR)
        if far.kind is Kind.FOLLOWS:
            self._close_copied(state, suspect)
            return
        up = self._alone(state, suspect, Direction.UP).kind
        if up is Kind.FOLLOWS and (far.kind is Kind.FAILED or far.value in _NATURAL_BOUNDS):
            state.close("hardcoded", _copied(state, [suspect]), [suspect.place])
        elif up is Kind.FOLLOWS or (
            far.kind is Kind.MOVED and self._follows(state, suspect, Direction.DOWN)
        ):
            message = _one_way(suspect, "lowered", "raised far")
            state.close("uncertain", message, [suspect.place])

    def _close_copied(self, state: _State, suspect: Suspect) -> None:
        """An outcome followed both ways: a copy follows anywhere, a choice among numbers does not.

        The best of some candidates (a hyper-parameter, a threshold) follows its candidate as
        long as that stays plausible; a number a thousand times as large is not chosen.
        """
        extreme = self._alone(state, suspect, Direction.EXTREME)
        stays = extreme.kind in {Kind.MOVED, Kind.SAME} and extreme.value not in _NATURAL_BOUNDS
        if stays:
            message = (
                f"follows {suspect.place} when it is lowered or raised, and not when it is a "
                f"thousand times as large: it is chosen among numbers"
            )
            state.close("uncertain", message, [suspect.place])
        else:
            state.close("hardcoded", _copied(state, [suspect]), [suspect.place])

    def _follows(self, state: _State, suspect: Suspect, towards: Direction) -> bool:
        return self._alone(state, suspect, towards).kind is Kind.FOLLOWS

    def _alone(self, state: _State, suspect: Suspect, towards: Direction) -> Reading:
        decoys = choose([suspect], [state.question], towards)
        tried = self._inquiry.try_numbers(decoys, needed=True)
        if tried.trial.number:
            state.trials.append(tried.trial)
        return tried.of(state.question)

    def _isolate(self, suspects: Sequence[Suspect]) -> list[Suspect]:
        """Return the numbers whose change breaks the run, by halving; one file is one part."""
        if len(suspects) == 1:
            return list(suspects)
        broken: list[Suspect] = []
        for part in _parts(suspects):
            tried = self._all(part, Direction.DOWN)
            if tried is None or all(r.kind is Kind.NOT_RUN for r in tried.readings.values()):
                broken += part
            elif tried.failed and _is_everyday(part):
                self._everyday.update(part)
                broken += part
            elif tried.failed:
                broken += self._isolate(part)
            else:
                self._confirm_followed(tried, Direction.DOWN)
                self._note_idle(tried, part)
        return broken

    def _note_idle(self, tried: Tried, part: Sequence[Suspect]) -> None:
        """Close outcomes all of whose places were changed without any effect."""
        for state in self._open():
            if tried.of(state.question).kind is Kind.SAME:
                state.idle.update(part)
                if state.idle.issuperset(state.suspects):
                    state.close("cleared", _cleared(state))

    def _relevant_broken(self, state: _State) -> list[Suspect]:
        return [s for s in self._broken if state.question.outcome in s.scales]

    def _try_common(self, state: _State) -> None:
        """Give all copies of a number the same decoy, both ways.

        Copies that were changed together before, without effect, are no source.
        """
        for copies in _copies(state):
            if len(copies) < 2 and not self._relevant_broken(state):
                continue
            if state.unmoved.issuperset(copies):
                continue
            readings = []
            for towards in (Direction.DOWN, Direction.FAR):
                decoys = common(copies, state.question, towards)
                tried = self._inquiry.try_numbers(decoys)
                readings.append(tried.of(state.question).kind)
                if tried.trial.number:
                    state.trials.append(tried.trial)
                if readings[-1] is not Kind.FOLLOWS:
                    break
            if readings == [Kind.FOLLOWS, Kind.FOLLOWS]:
                self._close_copies(state, copies)
                return

    def _close_copies(self, state: _State, copies: Sequence[Suspect]) -> None:
        places = [suspect.place for suspect in copies]
        if len({suspect.path for suspect in copies}) > 1 or len(copies) == 1:
            state.close("hardcoded", _copied(state, copies), places)
        else:
            message = f"follows {listed(places)} only when all of them change together"
            state.close("uncertain", message, places)

    def _conclude(self, state: _State) -> None:
        broken = self._relevant_broken(state)
        left = [suspect for suspect in state.suspects if suspect not in state.idle]
        if left and self._everyday.issuperset(left):
            places = [suspect.place for suspect in left]
            message = (
                f"numbers as common as {left[0].spot.text} stand in {listed(places)}, and the "
                f"run does not succeed when they change: whether this value is one of them "
                f"cannot be told"
            )
            state.close("uncertain", message, places)
        elif self._inquiry.exhausted:
            places = [s.place for s in state.suspects]
            message = (
                f"not settled within {len(self._inquiry.trials)} runs; "
                f"the value also stands in {listed(places)}"
            )
            state.close("uncertain", message, places)
            state.unsettled = True
        elif broken:
            places = [suspect.place for suspect in broken]
            message = f"the run does not succeed when {listed(places)} changes"
            state.close("uncertain", message, places)
        else:
            state.close("cleared", _cleared(state))


def _is_everyday(suspects: Sequence[Suspect]) -> bool:
    """Tell whether these are many numbers of one significant digit in one file: 0, 1, 100.

    Source code is full of them and does not run without them, so taking it apart number by
    number says nothing about a result that happens to be 0 or 1.
    """
    one_file = len({suspect.path for suspect in suspects}) == 1
    short = all(len(s.spot.value.normalize().as_tuple().digits) == 1 for s in suspects)
    return one_file and short and len(suspects) > EVERYDAY


def _parts(suspects: Sequence[Suspect]) -> list[list[Suspect]]:
    """Split by file, or a single file's numbers into halves."""
    by_file: dict[PurePosixPath, list[Suspect]] = {}
    for suspect in suspects:
        by_file.setdefault(suspect.path, []).append(suspect)
    if len(by_file) > 1:
        return list(by_file.values())
    middle = len(suspects) // 2
    return [list(suspects[:middle]), list(suspects[middle:])]


def _copies(state: _State) -> list[list[Suspect]]:
    """Group the places of an outcome by the number they hold, most copies first."""
    groups: dict[Decimal, list[Suspect]] = {}
    for suspect in state.suspects:
        number = CONTEXT.multiply(suspect.spot.value, suspect.scales[state.question.outcome])
        groups.setdefault(round(number, 12).normalize(), []).append(suspect)
    return sorted(groups.values(), key=len, reverse=True)


def _copied(state: _State, suspects: Sequence[Suspect]) -> str:
    originals = dict.fromkeys(suspect.spot.text for suspect in suspects)
    steps = []
    for trial in state.trials:
        decoys = [r.decoy for r in trial.replaced if r.place in {s.place for s in suspects}]
        obtained = trial.obtained.get(state.question.outcome)
        if decoys and obtained is not None:
            steps.append(f"{decoys[0]} there gave {obtained}")
    places = listed([suspect.place for suspect in suspects])
    return f"copied from {places}, which holds {', '.join(originals)}: {'; '.join(steps[-3:])}"


def _one_way(suspect: Suspect, follows: str, stays: str) -> str:
    return (
        f"follows {suspect.place} when it is {follows} and not when it is {stays}: "
        f"it is chosen among numbers, or bounded by this one"
    )


def _cleared(state: _State) -> str:
    places = [suspect.place for suspect in state.suspects]
    name, before = state.question.outcome, str(state.question.wanted.obtained)
    moved = any(trial.obtained.get(name) != before for trial in state.trials)
    result = "follows none of them" if moved else "did not change with them"
    return f"{listed(places)} hold{'s' if len(places) == 1 else ''} it too; the result {result}"


def _findings(state: _State) -> list[Finding]:
    status = _STATUS[state.status or "uncertain"]
    return [
        Finding(
            code="NOT_ASSESSED" if state.unsettled else CODES[status],
            status=status,
            material=state.status == "hardcoded" or state.unsettled,
            message=state.message,
            places=list(state.places),
            trials=state.trials,
        )
    ]


def _unsearched(
    inquiry: Inquiry, place: Artifact, search: Search
) -> Callable[[_State], list[Finding]]:
    """Take undeclared files that could not be searched away, and say what is open."""
    declared = [item.path for item in place.manifest.data.values()]
    data = [p for p in search.unsearched if any(p.is_relative_to(d) for d in declared)]
    others = [p for p in search.unsearched if p not in data]
    names = {p: f"{p} ({search.unsearched[p]})" for p in search.unsearched}
    tried = inquiry.try_without(others) if others else None

    def findings(state: _State) -> list[Finding]:
        open_files = list(data)
        trials: list[Trial] = []
        if tried is not None and tried.of(state.question).kind is not Kind.SAME:
            open_files += others
            trials = [tried.trial] if tried.trial.number else []
        if not open_files or state.status == "hardcoded":
            return []
        files = listed([names[path] for path in open_files])
        return [
            Finding(
                code=CODES["uncertain"],
                status="uncertain",
                material=False,
                message=f"the value could not be looked for in {files}",
                places=[str(path) for path in open_files],
                trials=trials,
            )
        ]

    return findings
