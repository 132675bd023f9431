"""Searching reported numbers in the outputs of recorded runs (evidence design, steps S2 to S4).

A number is found where it rounds to what is reported, in its own unit or one that converts to it.
What speaks for a place: that its keys name it as the table does, that few numbers of the same
form are found in places named as well (`p`), and that its neighbours in the table are found
beside it. All of it proposes; only a selector that the author accepts binds a number to a place.
"""

from __future__ import annotations

import bisect
import collections
import dataclasses
import heapq
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from pathlib import PurePosixPath

from rra.audit.claim_chance import ValueIndex, chance, decoys, interval, p_value
from rra.audit.claim_labels import FULL, LabelIndex, words
from rra.audit.claim_readings import Reading, readings
from rra.audit.claim_runs import SearchedRun
from rra.values.leaves import FileLeaves, Leaf
from rra.values.numbers import ReportedNumber, rounds_to, truncates_to

MAX_MATCHES = 500
"""Most places of one number that are ranked; what is found more often is anything but unique."""

_KINDS = {"json": 0, "csv": 1, "npz": 2, "regex": 3}


@dataclasses.dataclass(frozen=True, slots=True)
class Claim:
    """A reported number to look for.

    Attributes:
        reported: The number as written.
        unit: Its unit, where one is known.
        row: Label of its row.
        column: Label of its column.
        table: What tells its table from others.
    """

    reported: ReportedNumber
    unit: str | None
    row: str
    column: str
    table: str


@dataclasses.dataclass(frozen=True, slots=True)
class Match:
    """A place in the outputs that holds a reported number.

    Attributes:
        run: The run.
        file: The file.
        leaf: The number there.
        reading: In which unit it is taken.
        row: How well its keys name the row: 0 not, 1 in part, 2 in full.
        column: How well they name the column.
        truncated: It is cut to the reported digits, not rounded.
        found: Decoys that are found in places named as well as this one.
        decoys: How many decoys there were.
        support: Share of the neighbours in the table that are found beside it, 0 to 2.
    """

    run: SearchedRun
    file: FileLeaves
    leaf: Leaf
    reading: Reading
    row: int
    column: int
    truncated: bool
    found: int
    decoys: int
    support: float = 0.0

    @property
    def p(self) -> float:
        """The chance of a match at least as well named."""
        return p_value(self.found, self.decoys)

    @property
    def evidence(self) -> int:
        """How well the keys name the number, 0 to 4."""
        return self.row + self.column


@dataclasses.dataclass(frozen=True, slots=True)
class ClaimMatches:
    """What was found of one claim.

    Attributes:
        claim: The claim.
        matches: Places, the best first; at most `MAX_MATCHES`.
        total: How many places there are.
        anywhere: Decoys that are found anywhere in the outputs.
        decoys: How many decoys there were.
    """

    claim: Claim
    matches: tuple[Match, ...]
    total: int
    anywhere: int
    decoys: int

    @property
    def p_anywhere(self) -> float:
        """The chance that a number of this form is found somewhere in the outputs."""
        return p_value(self.anywhere, self.decoys)

    @property
    def rivals(self) -> tuple[Match, ...]:
        """Places that are named as well as the best one and are no copies of it.

        The same number once in each of several files of one run is taken for copies. Where keys
        name the best place, repetitions in a log do not count.
        """
        if not self.matches:
            return ()
        best = self.matches[0]
        named = best.file.kind != "regex" and FULL in {best.row, best.column}
        equal = [
            match
            for match in self.matches
            if (match.evidence, match.truncated) == (best.evidence, best.truncated)
            and not (named and match.file.kind == "regex" and match.run is best.run)
        ]
        places = collections.Counter((match.run.launcher, match.file.file) for match in equal)
        one_run = len({launcher for launcher, _ in places}) == 1
        if one_run and max(places.values()) == 1:
            return ()
        return tuple(match for match in equal if match is not best)


def find_claims(
    claims: Sequence[Claim],
    runs: Sequence[SearchedRun],
    *,
    progress: Callable[[str], None] | None = None,
) -> list[ClaimMatches]:
    """Look for every claim in the outputs of every run.

    Args:
        claims: The reported numbers.
        runs: The runs.
        progress: Called with one line for every hundred claims.
    """
    pool = _Pool(runs)
    found = []
    for number, claim in enumerate(claims):
        if progress is not None and number and number % 100 == 0:
            progress(f"{number} of {len(claims)} numbers searched")
        found.append(pool.search(claim))
    return _supported(found)


@dataclasses.dataclass(frozen=True, slots=True)
class _Entry:
    run: SearchedRun
    file: FileLeaves
    leaf: Leaf


@dataclasses.dataclass(frozen=True)
class _Values:
    """All numbers as read in one unit, in order."""

    values: list[Decimal]
    places: list[tuple[int, Reading]]
    index: ValueIndex
    by_leaf: list[tuple[Decimal, ...]]


class _Pool:
    """All numbers of all runs."""

    def __init__(self, runs: Sequence[SearchedRun]) -> None:
        self._entries = [
            _Entry(run, file, leaf)
            for run in runs
            for file in run.index.files
            for leaf in file.leaves
        ]
        self._labels = LabelIndex(self._keys())
        self._units: dict[str | None, _Values] = {}
        self._scopes: dict[tuple[object, ...], ValueIndex] = {}

    def _keys(self) -> Iterator[tuple[str, ...]]:
        names: dict[tuple[int, str], tuple[str, ...]] = {}
        for entry in self._entries:
            key = (id(entry.run), entry.file.file)
            if key not in names:
                stem = str(PurePosixPath(entry.file.file).with_suffix(""))
                names[key] = tuple(n for n in (*entry.run.names, stem) if _is_telling(n))
            yield (*entry.leaf.keys, *names[key])

    def _read(self, unit: str | None) -> _Values:
        """Return all numbers in a unit."""
        if unit not in self._units:
            found = [
                (reading.value, position, reading)
                for position, entry in enumerate(self._entries)
                for reading in readings(entry.leaf, unit)
            ]
            found.sort(key=lambda item: (item[0], item[1]))
            by_leaf: list[list[Decimal]] = [[] for _ in self._entries]
            for value, position, _ in found:
                by_leaf[position].append(value)
            values = [value for value, _, _ in found]
            self._units[unit] = _Values(
                values,
                [(position, reading) for _, position, reading in found],
                ValueIndex(values),
                [tuple(numbers) for numbers in by_leaf],
            )
        return self._units[unit]

    def search(self, claim: Claim) -> ClaimMatches:
        """Return the places of one claim, ranked without their support."""
        known = self._read(claim.unit)
        others = decoys(claim.reported, claim.unit)
        anywhere, count = chance(others, known.index)
        places = self._places(claim, known, rounds_to)
        truncated = not places
        if truncated:
            places = self._places(claim, known, truncates_to)
        rows, columns = self._labels.scores(claim.row), self._labels.scores(claim.column)
        chances: dict[tuple[int, int], tuple[int, int]] = {}
        matches = []
        for position, reading in places.items():
            named = rows.get(position, 0), columns.get(position, 0)
            if named not in chances:
                scope = self._scope(claim, known, *named)
                chances[named] = chance(others, scope, truncated=truncated)
            entry = self._entries[position]
            matches.append(
                Match(
                    entry.run, entry.file, entry.leaf, reading, *named, truncated, *chances[named]
                )
            )
        best = heapq.nsmallest(MAX_MATCHES, matches, key=_rank)
        return ClaimMatches(claim, tuple(best), len(matches), anywhere, count)

    @staticmethod
    def _places(
        claim: Claim, known: _Values, agrees: Callable[[Decimal, ReportedNumber], bool]
    ) -> dict[int, Reading]:
        low, high = interval(claim.reported)
        start = bisect.bisect_left(known.values, low)
        end = bisect.bisect_right(known.values, high)
        found: dict[int, Reading] = {}
        for value, (position, reading) in zip(
            known.values[start:end], known.places[start:end], strict=True
        ):
            changed = claim.unit is None and reading.unit is not None
            if changed and claim.reported.decimals <= 0:
                continue  # a share is not reported as a whole number
            if agrees(value, claim.reported):
                found.setdefault(position, reading)
        return dict(sorted(found.items()))

    def _scope(self, claim: Claim, known: _Values, row: int, column: int) -> ValueIndex:
        """Return the numbers that are named at least as well."""
        if not row and not column:
            return known.index
        asked = [(claim.row, row), (claim.column, column)]
        levels = tuple((label, least) for label, least in asked if least)
        if (claim.unit, levels) not in self._scopes:
            chosen = self._named(levels)
            self._scopes[claim.unit, levels] = ValueIndex(
                value for position in chosen for value in known.by_leaf[position]
            )
        return self._scopes[claim.unit, levels]

    def _named(self, levels: Sequence[tuple[str, int]]) -> list[int]:
        """Return the numbers that every label names well enough, the rarest label first."""
        scores = sorted(
            ((self._labels.scores(label), least) for label, least in levels),
            key=lambda item: len(item[0]),
        )
        rarest, *others = scores
        return [
            position
            for position, score in rarest[0].items()
            if score >= rarest[1]
            and all(other.get(position, 0) >= least for other, least in others)
        ]


def _is_telling(name: str) -> bool:
    """Tell whether a name says more than a number: ``table1`` does not, ``resnet50`` does."""
    return any(not word[0].isdigit() for word in words(name))


def _rank(match: Match) -> tuple[object, ...]:
    precision = -len(match.leaf.text)
    return (
        match.truncated,
        -match.evidence,
        -match.support,
        _KINDS[match.file.kind],
        match.file.file == "stderr.txt",
        precision,
        match.run.launcher,
        match.file.file,
        match.leaf.line or 0,
    )


def _supported(found: list[ClaimMatches]) -> list[ClaimMatches]:
    """Rank again, with the neighbours of each number in its table."""
    rows = _Neighbours(found, lambda claim: claim.row, lambda match: match.leaf.group)
    columns = _Neighbours(found, lambda claim: claim.column, lambda match: match.leaf.field)
    ranked = []
    for number, one in enumerate(found):
        matches = [
            dataclasses.replace(
                match, support=rows.share(number, match) + columns.share(number, match)
            )
            for match in one.matches
        ]
        ranked.append(dataclasses.replace(one, matches=tuple(sorted(matches, key=_rank))))
    return ranked


class _Neighbours:
    """How many claims of one row (or column) are found in one row (or column) of the outputs."""

    def __init__(
        self,
        found: list[ClaimMatches],
        line: Callable[[Claim], str],
        place: Callable[[Match], str],
    ) -> None:
        self._place = place
        self._lines = [(one.claim.table, line(one.claim)) for one in found]
        self._sizes = collections.Counter(self._lines)
        self._claims: dict[tuple[object, ...], set[int]] = collections.defaultdict(set)
        for number, one in enumerate(found):
            for match in one.matches:
                self._claims[self._key(number, match)].add(number)

    def _key(self, number: int, match: Match) -> tuple[object, ...]:
        return (self._lines[number], match.run.launcher, match.file.file, self._place(match))

    def share(self, number: int, match: Match) -> float:
        """Return the share of the other claims of a claim's line that are found beside a match."""
        others = self._sizes[self._lines[number]] - 1
        return (len(self._claims[self._key(number, match)]) - 1) / others if others else 0.0
