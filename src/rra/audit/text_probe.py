"""Is a list or a category copied from a place in the artifact? Found out as for numbers.

Every place that holds the value (`rra.audit.wordings`) gets another order of the items or
another text, each place its own, and the launcher runs again. An outcome that becomes what was
written into one place, twice, is copied from there. A category, a set and a short list can also
be names that an honest program chooses from; where something says so (`rra.audit.choices`), it
stays open, and that is said.
"""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Literal

from rra.artifact import Artifact
from rra.audit.choices import sign_of_choice, sign_of_labels
from rra.audit.documents import Finding, Replacement, Trial
from rra.audit.inquiry import MAX_SHOWN, Budget, Inquiry, Kind, Progress, Runner
from rra.audit.perturb import Change, rewritten
from rra.audit.phrases import common_name, listed
from rra.audit.text_decoys import choose, orders
from rra.audit.text_question import Items, TextQuestion
from rra.audit.wordings import Wording, search_wordings
from rra.model.verdicts import FindingStatus
from rra.values.selectors import Value

MAX_CONFIRMED = 6
EVERYDAY = 3
"""Times that a short word may stand in one file before it is not taken apart any more."""

_SHORT = 3

Decoys = Mapping[Wording, Items]


@dataclasses.dataclass(slots=True)
class _State:
    question: TextQuestion
    places: tuple[Wording, ...]
    trials: list[Trial] = dataclasses.field(default_factory=list)
    idle: set[Wording] = dataclasses.field(default_factory=set)
    """Places whose change left the outcome as it was."""
    computed: set[Wording] = dataclasses.field(default_factory=set)
    """Places whose change alone made something else of the outcome."""
    finding: Finding | None = None
    doubt: str = ""
    doubted: tuple[str, ...] = ()
    moved: bool = False

    def close(
        self,
        code: Literal["HARDCODED", "no-copy-found", "copy-not-excluded", "NOT_ASSESSED"],
        message: str,
        places: Iterable[str] = (),
    ) -> None:
        status: FindingStatus = "uncertain"
        if code in {"HARDCODED", "no-copy-found"}:
            status = "refuted" if code == "HARDCODED" else "supported"
        self.finding = Finding(
            code=code,
            status=status,
            material=code in {"HARDCODED", "NOT_ASSESSED"},
            message=message,
            places=list(places),
            trials=self.trials,
        )

    @property
    def open(self) -> bool:
        return self.finding is None


def probe_texts(
    place: Artifact,
    launcher: str,
    questions: Sequence[TextQuestion],
    runner: Runner,
    *,
    budget: Budget | None = None,
    progress: Progress | None = None,
) -> dict[str, list[Finding]]:
    """Find out whether lists and categories of a launcher are copied from the artifact's files.

    Args:
        place: A fresh copy of the artifact; its files change while a trial runs and are as
            before at the end.
        launcher: Id of the launcher.
        questions: Its lists and categories, with the values of unchanged runs.
        runner: Runs the launcher on a place, always with the same seed.
        budget: Bounds on the number of runs and on time.
        progress: Told what is tried.

    Returns:
        Findings by outcome: `HARDCODED`, ``no-copy-found``, ``copy-not-excluded``, or, when the
        budget ended first, `NOT_ASSESSED`, material.
    """
    wordings, unsearched = search_wordings(place, questions)
    names = [question.outcome for question in questions]
    inquiry = Inquiry(
        place, launcher, (), runner, budget=budget or Budget(), progress=progress, texts=names
    )
    states = [
        _State(question, tuple(w for w in wordings if question.outcome in w.outcomes))
        for question in questions
    ]
    trial = _TextProbe(place, inquiry, states)
    trial.run()
    hidden = trial.without(unsearched)
    found = {}
    for state in states:
        name = state.question.outcome
        own = [state.finding] if state.finding is not None else []
        copied = any(finding.invalidates for finding in own)
        found[name] = own if copied else [*own, *hidden.get(name, [])]
    return found


class _TextProbe:
    """The order of trials for one launcher."""

    def __init__(self, place: Artifact, inquiry: Inquiry, states: Sequence[_State]) -> None:
        self._place = place
        self._inquiry = inquiry
        self._states = states
        self._questions = {state.question.outcome: state.question for state in states}
        self._declared = [item.path for item in place.manifest.data.values()]
        self._broken: set[Wording] = set()
        self._everyday: set[Wording] = set()
        self._values: Mapping[str, Value | None] = {}

    def run(self) -> None:
        for state in self._states:
            if not state.places:
                state.close("no-copy-found", "no text in the artifact holds this value")
        for layer in _layers({w for state in self._states for w in state.places}):
            self._try_layer(layer)
        for state in self._open():
            self._one_by_one(state)
        for state in self._open():
            self._try_common(state)
        for state in self._open():
            self._conclude(state)

    def _open(self) -> list[_State]:
        return [state for state in self._states if state.open]

    # ------------------------------------------------------------------ trials

    def _try(self, decoys: Decoys, *, needed: bool = False, rows: bool = False) -> dict[str, Kind]:
        """Run with decoys and say what each outcome did; FOLLOWS is told by `_followed`."""
        replaced = [
            Replacement(
                place=wording.place, original=", ".join(wording.items), decoy=", ".join(items)
            )
            for wording, items in decoys.items()
        ]
        changes: dict[PurePosixPath, list[Change]] = {}
        for wording, items in decoys.items():
            parts = wording.rows if rows else wording.parts
            texts = _moved_rows(wording, items) if rows else items
            changes.setdefault(wording.path, []).extend(
                wording.text.change(part, text) for part, text in zip(parts, texts, strict=True)
            )
        tried = self._inquiry.try_contents(
            rewritten(self._place.root, changes), replaced, needed=needed
        )
        self._values = tried[1].values if tried else {}
        kinds = {}
        for state in self._states:
            question = state.question
            if tried is None:
                kinds[question.outcome] = Kind.NOT_RUN
                continue
            if state.open and any(question.outcome in wording.outcomes for wording in decoys):
                trial = tried[0]
                own = [r for r in trial.replaced if r.place in {w.place for w in state.places}]
                state.trials.append(trial.model_copy(update={"replaced": own[:MAX_SHOWN]}))
            kinds[question.outcome] = self._kind(question, decoys)
        return kinds

    def _kind(self, question: TextQuestion, decoys: Decoys) -> Kind:
        items = _items(self._values.get(question.outcome))
        if items is None:
            return Kind.FAILED
        key = question.key(items)
        if key in question.keys:
            return Kind.SAME
        follows = any(question.key(decoy) == key for decoy in decoys.values())
        return Kind.FOLLOWS if follows else Kind.MOVED

    def _followed(self, question: TextQuestion, decoys: Decoys) -> list[Wording]:
        key = question.key(_items(self._values.get(question.outcome)) or ())
        same = [w for w, items in decoys.items() if question.key(items) == key]
        sizes = collections.Counter(wording.path for wording in decoys)
        return sorted(same, key=lambda w: (not w.is_quoted, sizes[w.path]))[:MAX_CONFIRMED]

    def _try_layer(self, layer: Sequence[Wording]) -> None:
        names = {state.question.outcome for state in self._open()}
        wordings = [wording for wording in layer if names & wording.outcomes]
        decoys = choose(wordings, self._questions)
        self._broken |= set(wordings) - set(decoys)
        if not decoys:
            return
        kinds = self._try(decoys)
        if Kind.FAILED not in kinds.values():
            self._read(decoys, kinds)
            return
        for part in _parts(list(decoys)):
            self._isolate(part)

    def _isolate(self, wordings: Sequence[Wording]) -> None:
        """Set the places apart whose change breaks the run, by halving."""
        names = {state.question.outcome for state in self._open()}
        left = [wording for wording in wordings if names & wording.outcomes]
        decoys = choose(left, self._questions)
        if not decoys:
            return
        kinds = self._try(decoys)
        values = set(kinds.values())
        if values == {Kind.NOT_RUN}:
            self._broken.update(left)
        elif Kind.FAILED not in values:
            self._read(decoys, kinds)
        elif len(left) == 1:
            self._isolate_one(left[0], decoys)
        elif _is_everyday(left):
            self._everyday.update(left)
            self._broken.update(left)
        else:
            for part in _parts(left):
                self._isolate(part)

    def _isolate_one(self, wording: Wording, decoys: Decoys) -> None:
        """Try a place whose first decoy breaks the run with one of the other kind."""
        other = choose([wording], self._questions, avoid=[decoys[wording]], marked=True)
        kinds = self._try(other) if other else {}
        if not kinds or set(kinds.values()) & {Kind.FAILED, Kind.NOT_RUN}:
            self._broken.add(wording)
        else:
            self._read(other, kinds)

    def _read(self, decoys: Decoys, kinds: Mapping[str, Kind]) -> None:
        """Confirm what followed; note places that an outcome does not come from."""
        followed = {
            state.question.outcome: self._followed(state.question, decoys)
            for state in self._open()
            if kinds[state.question.outcome] is Kind.FOLLOWS
        }
        for state in self._open():
            name = state.question.outcome
            own = [wording for wording in decoys if name in wording.outcomes]
            if kinds[name] is Kind.SAME:
                state.idle.update(own)
                if state.idle.issuperset(state.places):
                    state.close("no-copy-found", _cleared(state))
            elif kinds[name] is Kind.MOVED and own:
                state.moved = True
                if len(own) == 1:
                    state.computed.update(own)
            for wording in followed.get(name, []):
                if name in wording.outcomes and state.open:
                    self._confirm(state, wording, decoys[wording])

    # ------------------------------------------------------------ confirmation

    def _confirm(self, state: _State, wording: Wording, first: Items) -> None:
        """An outcome became what was written into a place: write something else there alone."""
        question = {state.question.outcome: state.question}
        sign = self._may_be_chosen(state.question, wording)
        if wording.rows:
            decoys = _other_order(wording, first)
            kind = self._try(decoys, needed=True, rows=True)[state.question.outcome]
            if kind is not Kind.FOLLOWS:
                sign = sign or "its rows can change places without any effect"
        else:
            marked = not state.question.is_telling
            decoys = choose([wording], question, avoid=[first], marked=marked)
            if not decoys:
                return
            kind = self._try(decoys, needed=True)[state.question.outcome]
        if kind is Kind.FOLLOWS and not sign:
            state.close("HARDCODED", _copied(state, [wording]), [wording.place])
        elif kind is Kind.FOLLOWS or wording.rows:
            state.doubt = _chosen(wording, sign)
            state.doubted = (wording.place,)
        elif kind in {Kind.FAILED, Kind.NOT_RUN}:
            state.doubt = (
                f"follows {wording.place} when another known text stands there, and the run "
                f"gives no value with an unknown one: whether it is chosen or copied cannot "
                f"be told"
            )
            state.doubted = (wording.place,)

    def _may_be_chosen(self, question: TextQuestion, wording: Wording) -> str:
        """Return why an honest outcome could follow this place."""
        declared = any(wording.path.is_relative_to(folder) for folder in self._declared)
        if wording.is_within_more:
            return "it is a part of a longer list"
        if wording.strided and not wording.rows:
            return "other texts stand between its items"
        if question.is_telling:
            header = declared and wording.text.line(wording.parts[0].start) == 1
            return "it is the head of a table of data" if header else sign_of_labels(wording)
        return "it stands in data" if declared else sign_of_choice(wording)

    def _one_by_one(self, state: _State) -> None:
        """Try the places of an outcome that moved, each alone, until one is followed."""
        if not state.moved or state.doubt:
            return
        for wording in sorted(state.places, key=lambda w: not w.is_quoted):
            if wording in state.idle | state.computed | self._broken or not state.open:
                continue
            decoys = choose([wording], {state.question.outcome: state.question})
            if not decoys:
                continue
            kinds = self._try(decoys)
            if kinds[state.question.outcome] is Kind.NOT_RUN:
                return
            if kinds[state.question.outcome] is Kind.FAILED:
                self._broken.add(wording)
            else:
                self._read(decoys, kinds)

    def _try_common(self, state: _State) -> None:
        """Give all places the same decoy, twice: copies that are checked against each other."""
        broken = [wording for wording in state.places if wording in self._broken]
        copies = [wording for wording in state.places if wording not in state.idle]
        if state.doubt or len(copies) < 2 or not (broken or state.moved):
            return
        if self._everyday.intersection(state.places):
            return
        layer = _layers(copies)[0]
        question = {state.question.outcome: state.question}
        given: list[Items] = []
        for _ in range(2):
            one = choose(layer[:1], question, avoid=given, marked=not state.question.is_telling)
            if not one:
                return
            given.append(next(iter(one.values())))
            kinds = self._try(dict.fromkeys(layer, given[-1]), needed=bool(given[1:]))
            if kinds[state.question.outcome] is not Kind.FOLLOWS:
                return
        signs = [self._may_be_chosen(state.question, wording) for wording in layer]
        if all(signs) or len({wording.path for wording in layer}) == 1:
            places = [wording.place for wording in layer]
            state.doubt = f"follows {listed(places)} when all of them change together"
            state.doubted = tuple(places)
        else:
            state.close("HARDCODED", _copied(state, layer), [w.place for w in layer])

    # -------------------------------------------------------------- conclusion

    def _conclude(self, state: _State) -> None:
        places = [wording.place for wording in state.places]
        broken = [wording for wording in state.places if wording in self._broken]
        settled = state.idle | state.computed
        if state.doubt:
            state.close("copy-not-excluded", state.doubt, state.doubted)
        elif broken and self._everyday.issuperset(broken):
            message = (
                f"{common_name(state.question.obtained[0])} stands in {listed(places)}, and the "
                f"run does not succeed when that changes: whether this value is copied from "
                f"there cannot be told"
            )
            state.close("copy-not-excluded", message, [w.place for w in broken])
        elif self._inquiry.exhausted and not settled.issuperset(state.places):
            runs = len(self._inquiry.trials)
            message = f"not settled within {runs} runs; the value also stands in {listed(places)}"
            state.close("NOT_ASSESSED", message, places)
        elif broken:
            at = [wording.place for wording in broken]
            message = f"the run does not succeed when {listed(at)} changes"
            state.close("copy-not-excluded", message, at)
        else:
            state.close("no-copy-found", _cleared(state))

    def without(self, unsearched: Mapping[PurePosixPath, str]) -> dict[str, list[Finding]]:
        """Take undeclared files that could not be searched away, and say what stays open."""
        below = [p for p in unsearched if any(p.is_relative_to(d) for d in self._declared)]
        others = [path for path in unsearched if path not in below]
        tried = self._inquiry.try_contents(dict.fromkeys(others), []) if others else None
        self._values = tried[1].values if tried else {}
        found = {}
        for name, question in self._questions.items():
            needed = bool(others) and self._kind(question, {}) is not Kind.SAME
            left = [*below, *(others if needed else [])]
            names = [f"{path} ({unsearched[path]})" for path in left]
            if left:
                found[name] = [
                    Finding(
                        code="copy-not-excluded",
                        status="uncertain",
                        material=False,
                        message=f"the value could not be looked for in {listed(names)}",
                        places=[str(path) for path in left],
                        trials=[tried[0]] if tried and needed else [],
                    )
                ]
        return found


def _items(value: Value | None) -> Items | None:
    if isinstance(value, tuple):
        return value
    return None if value is None else (str(value),)


def _layers(wordings: Iterable[Wording]) -> list[list[Wording]]:
    """Split places into groups within which none overlaps another, lists first."""
    ordered = sorted(wordings, key=lambda w: (-len(w.parts), str(w.path), w.parts[0].start))
    layers: list[tuple[list[Wording], set[tuple[PurePosixPath, tuple[str, ...], int]]]] = []
    for wording in ordered:
        parts = wording.rows or wording.parts
        own = {
            (wording.path, wording.text.members, offset)
            for part in parts
            for offset in range(part.start, part.end)
        }
        for members, taken in layers:
            if taken.isdisjoint(own):
                members.append(wording)
                taken.update(own)
                break
        else:
            layers.append(([wording], own))
    return [members for members, _ in layers]


def _parts(wordings: Sequence[Wording]) -> list[list[Wording]]:
    """Split into texts and mere words, then by file, then into halves."""
    quoted = [wording for wording in wordings if wording.is_quoted]
    if 0 < len(quoted) < len(wordings):
        return [quoted, [wording for wording in wordings if not wording.is_quoted]]
    by_file: dict[PurePosixPath, list[Wording]] = {}
    for wording in wordings:
        by_file.setdefault(wording.path, []).append(wording)
    if len(by_file) > 1:
        return list(by_file.values())
    middle = len(wordings) // 2
    halves = [list(wordings[:middle]), list(wordings[middle:])]
    return [half for half in halves if half]


def _is_everyday(wordings: Sequence[Wording]) -> bool:
    """Tell whether these are many short words of one file, such as ``yes`` or ``a``."""
    one_file = len({wording.path for wording in wordings}) == 1
    short = all(len(w.parts) == 1 and len(w.items[0]) <= _SHORT for w in wordings)
    return one_file and short and len(wordings) > EVERYDAY


def _other_order(wording: Wording, first: Items) -> dict[Wording, Items]:
    """Return another order of a place's items than the first decoy."""
    usable = (o for o in orders(wording.items) if o not in {first, wording.items})
    return {wording: next(usable, first)}


def _moved_rows(wording: Wording, items: Items) -> list[str]:
    """Return the rows of a place in the order of items."""
    left = list(zip(wording.items, wording.rows, strict=True))
    moved = []
    for item in items:
        at = next((i for i, (own, _) in enumerate(left) if own == item), 0)
        moved.append(left.pop(at)[1].text)
    return moved


def _copied(state: _State, wordings: Sequence[Wording]) -> str:
    places = [wording.place for wording in wordings]
    steps = []
    for trial in state.trials:
        decoys = [r.decoy for r in trial.replaced if r.place in places]
        obtained = trial.obtained.get(state.question.outcome)
        if decoys and obtained is not None:
            steps.append(f"{decoys[0]} there gave {obtained}")
    held = ", ".join(wordings[0].items)
    return f"copied from {listed(places)}, which holds {held}: {'; '.join(steps[-2:])}"


def _chosen(wording: Wording, sign: str) -> str:
    return (
        f"follows {wording.place}, but a computed value can do so too ({sign}): whether it is "
        f"chosen or copied cannot be told"
    )


def _cleared(state: _State) -> str:
    places = [wording.place for wording in state.places]
    result = "follows none of them" if state.moved else "did not change with them"
    return f"{listed(places)} hold{'s' if len(places) == 1 else ''} it too; the result {result}"
