"""Selectors: from an output directory to the one value that an outcome names.

A selector names a file and one locator in it. Two matches are an error unless `pick` says which
one counts: a silent choice of the best epoch would be a leak.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from pathlib import Path, PurePosixPath
from typing import Any, Literal

from rra._base.files import safe_join, sha256_file, walk_files
from rra._base.streams import KEPT_BYTES
from rra.errors import SelectError
from rra.model import Outcome, PickAt, Selector
from rra.values.aggregate import aggregate
from rra.values.numbers import parse_value
from rra.values.readers.candidate import Candidate, nearest
from rra.values.readers.cell import read_cell
from rra.values.readers.csv_file import read_csv
from rra.values.readers.json_file import read_json
from rra.values.readers.mlflow_store import read_mlflow
from rra.values.readers.npz_file import read_npz
from rra.values.readers.regex_lines import read_regex
from rra.values.readers.tensorboard import read_tensorboard
from rra.values.units import convert, same_unit

Value = Decimal | str | tuple[str, ...]
"""A number, a category, or a list of names."""

OutcomeType = Literal["number", "category", "list"]

_READERS: dict[str, Callable[[Path, Any], list[Candidate]]] = {
    "json": read_json,
    "csv": read_csv,
    "regex": read_regex,
    "npz": read_npz,
    "cell": read_cell,
    "tensorboard": read_tensorboard,
    "mlflow": read_mlflow,
}
_FOLDERS = frozenset({"tensorboard", "mlflow"})
"""Locators that read a folder."""

_STREAMS = frozenset({"stdout.txt", "stderr.txt"})
_NEED_ALL = ("last", "max", "min")

SUPPORTED_LOCATORS = tuple(_READERS)
"""Locators that this version reads."""


class NotReadError(SelectError):
    """A locator of the format that this version of rra does not read."""


@dataclasses.dataclass(frozen=True, slots=True)
class Selected:
    """A value found in a file, with everything needed to find it again.

    Attributes:
        value: The value, in the unit of the file. A number may be NaN or infinite: say so.
        text: The value as it stands in the file; items of a list joined with ", ".
        file: Path inside the output directory; of the file in it where a folder was read.
        sha256: Digest of the whole file.
        place: Where in the file: a JSON pointer, row and column, line, array element.
        line: 1-based line, for files that have lines.
        candidates: How many places matched before `pick`.
    """

    value: Value
    text: str
    file: str
    sha256: str
    place: str
    line: int | None
    candidates: int


@dataclasses.dataclass(frozen=True, slots=True)
class OutcomeValue:
    """The value of an outcome, from one run or aggregated over several.

    Attributes:
        value: The value in the unit of the outcome.
        text: As it stands in the file for a single value, else the aggregate's digits.
        parts: What was selected from each run, in the order of the runs.
    """

    value: Value
    text: str
    parts: tuple[Selected, ...]


def select(
    outputs_dir: Path,
    selector: Selector,
    outcome_type: OutcomeType = "number",
    *,
    streams: Mapping[str, Path] | None = None,
) -> Selected:
    """Find the value that a selector names in the outputs of one run.

    Args:
        outputs_dir: Output directory of the run.
        selector: What to look for; its `runs`, `aggregate` and `unit` are not applied here.
        outcome_type: What the value must be.
        streams: Files that are outputs too but lie elsewhere, by name (``stdout.txt``).

    Returns:
        The value in the unit of the file.

    Raises:
        SelectError: The file or the value is missing, several match, or it is not a value of
            the type. The message names the file and what was found instead.
        UnsafePathError: The file lies outside the output directory.
    """
    name, locator = locator_of(selector)
    path = _place(outputs_dir, selector.file, streams or {}, folder=name in _FOLDERS)
    cut = selector.file in _STREAMS and path.stat().st_size == KEPT_BYTES
    if cut and selector.pick in _NEED_ALL:
        raise _cut_short(f"{selector.file}: `pick: {selector.pick}` needs all matches")
    try:
        candidates = _READERS[name](path, locator)
    except OSError as error:
        raise SelectError(f"{selector.file} cannot be read: {error.strerror}") from error
    except SelectError as error:
        if not cut:
            raise
        raise _cut_short(error.message, error.hint) from error
    found = len(candidates)
    chosen = _listed(candidates) if outcome_type == "list" else None
    if chosen is None:
        chosen = _pick(candidates, selector)
    value = _typed(chosen, outcome_type, selector)
    text = chosen.content if isinstance(chosen.content, str) else ", ".join(chosen.content)
    file = selector.file
    if chosen.inside is not None:
        path, file = path / chosen.inside, (PurePosixPath(file) / chosen.inside).as_posix()
    digest = sha256_file(path)
    return Selected(value, text.strip(), file, digest, chosen.place, chosen.line, found)


def _cut_short(message: str, hint: str = "") -> SelectError:
    """Say of a stream that its value may be in the part that was not kept."""
    return SelectError(
        f"{message}; only the first {KEPT_BYTES >> 20} MiB of what the run printed were kept",
        hint="; or ".join(filter(None, (hint, "let the run write it into a file of its own"))),
    )


def select_outcome(
    outputs: Sequence[Path],
    outcome: Outcome,
    *,
    streams: Sequence[Mapping[str, Path]] | None = None,
) -> OutcomeValue:
    """Find the value of an outcome, aggregated over runs and in the unit of the outcome.

    Args:
        outputs: Output directories of the runs that the selector takes, one for each run.
        outcome: Its selector's `aggregate` and `unit` are applied.
        streams: For each run, as in `select`.

    Raises:
        SelectError: As `select`, or `aggregate` or the units do not fit.
        UnsafePathError: As `select`.
    """
    selector = outcome.selector
    own = streams if streams is not None else [{}] * len(outputs)
    parts = tuple(
        select(directory, selector, outcome.type, streams=extra)
        for directory, extra in zip(outputs, own, strict=True)
    )
    numbers = [part.value for part in parts if isinstance(part.value, Decimal)]
    if outcome.type == "number":
        number = aggregate(numbers, selector.aggregate)
        percent = all(part.text.endswith("%") for part in parts)
        unit = "percent" if percent and selector.unit is None else selector.unit
        value = convert(number, unit, outcome.unit)
        return OutcomeValue(value, parts[0].text if len(parts) == 1 else str(number), parts)
    if len(parts) != 1:
        raise SelectError(
            f"{len(parts)} runs give a {outcome.type}; only numbers can be aggregated",
            hint="name one run in the selector's `runs`",
        )
    return OutcomeValue(parts[0].value, parts[0].text, parts)


def locator_of(selector: Selector) -> tuple[str, Any]:
    """Return the name and content of the one locator of a selector.

    Raises:
        NotReadError: This version does not read it.
    """
    name, content = next(iter(selector.locators().items()))
    if name not in SUPPORTED_LOCATORS:
        raise NotReadError(
            f"the locator {name!r} is not read by this version of rra",
            hint=f"supported are: {', '.join(SUPPORTED_LOCATORS)}; let the run write the value "
            "into a JSON file",
        )
    return name, content


def _place(outputs_dir: Path, name: str, streams: Mapping[str, Path], *, folder: bool) -> Path:
    path = safe_join(outputs_dir, name)
    if not path.exists() and name in streams:
        path = streams[name]
    if path.is_file() or (folder and path.is_dir()):
        return path
    if path.is_dir():
        raise SelectError(f"{name} is a directory, not a file")
    present = [str(file) for file in walk_files(outputs_dir)] if outputs_dir.is_dir() else []
    present.extend(streams)
    listing = nearest(name, present).replace("it has:", "the run wrote:")
    raise SelectError(
        f"the run wrote no file {name}",
        hint=listing or "the run wrote nothing; look in its stdout.txt and stderr.txt",
    )


def _listed(candidates: list[Candidate]) -> Candidate | None:
    """Join several matches into one list; None when the file has the list itself."""
    if any(not isinstance(candidate.content, str) for candidate in candidates):
        return None
    items = tuple(str(candidate.content) for candidate in candidates)
    return dataclasses.replace(candidates[0], content=items, kind="list")


def _pick(candidates: list[Candidate], selector: Selector) -> Candidate:
    pick = selector.pick
    if isinstance(pick, PickAt):
        candidates = _at(candidates, pick, selector.file)
        pick = "only"
    if pick == "only":
        if len(candidates) > 1:
            raise _ambiguous(candidates, selector.file)
        return candidates[0]
    if pick in {"first", "last"}:
        return candidates[0 if pick == "first" else -1]
    values = [_number(candidate, selector) for candidate in candidates]
    if not all(value.is_finite() for value in values):
        raise SelectError(
            f"{selector.file}: `pick: {pick}` over values that are not all finite",
            hint="a NaN has no rank; pick a step by name",
        )
    best = max(values) if pick == "max" else min(values)
    return candidates[values.index(best)]


def _at(candidates: list[Candidate], pick: PickAt, file: str) -> list[Candidate]:
    wanted = pick.at
    found = [
        candidate
        for candidate in candidates
        if all(_same(candidate.labels.get(name), str(value)) for name, value in wanted.items())
    ]
    if not found:
        asked = ", ".join(f"{name} {value}" for name, value in wanted.items())
        seen = [
            ", ".join(f"{name} {candidate.labels.get(name, '(none)')}" for name in wanted)
            for candidate in candidates
        ]
        raise SelectError(f"{file}: no match at {asked}", hint=nearest(asked, seen))
    return found


def _same(label: str | None, wanted: str) -> bool:
    if label is None:
        return False
    try:
        return label == wanted or parse_value(label) == parse_value(wanted)
    except SelectError:
        return False


def _ambiguous(candidates: list[Candidate], file: str) -> SelectError:
    shown = "; ".join(
        f"{file}{f':{candidate.line}' if candidate.line else ''} ({candidate.place}): "
        f"{candidate.content if isinstance(candidate.content, str) else list(candidate.content)}"
        for candidate in candidates[:5]
    )
    more = f"; and {len(candidates) - 5} more" if len(candidates) > 5 else ""
    return SelectError(
        f"{len(candidates)} places match in {file}: {shown}{more}",
        hint="make the selector narrower, or say which one counts: pick: last (first, at, …)",
    )


def _number(candidate: Candidate, selector: Selector) -> Decimal:
    line = f":{candidate.line}" if candidate.line else ""
    where = f"{selector.file}{line}: {candidate.place}"
    if not isinstance(candidate.content, str):
        message = f"{where} is a list of {len(candidate.content)}, not a number"
        raise SelectError(message, hint="name one element")
    text = candidate.content.strip()
    if text.endswith("%") and selector.unit is not None and not same_unit(selector.unit, "%"):
        raise SelectError(
            f"{where} is {text!r}, and the selector says that the unit is {selector.unit!r}",
            hint="write unit: percent in the selector",
        )
    try:
        return parse_value(text.removesuffix("%"))
    except SelectError as error:
        raise SelectError(f"{where}: {error}", hint=error.hint) from error


def _typed(candidate: Candidate, outcome_type: OutcomeType, selector: Selector) -> Value:
    if outcome_type == "number":
        return _number(candidate, selector)
    if outcome_type == "list":
        content = candidate.content
        return (content.strip(),) if isinstance(content, str) else content
    if not isinstance(candidate.content, str):
        raise SelectError(f"{selector.file}: {candidate.place} is a list, not a category")
    return candidate.content.strip()
