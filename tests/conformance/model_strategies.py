"""Strategies that make documents from the fields of a pydantic model, and spoil them."""

from __future__ import annotations

import copy
import functools
import itertools
import re
import types
from collections.abc import Callable, Iterator
from types import NoneType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from hypothesis import strategies as st
from pydantic import AfterValidator, BaseModel, RootModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import PydanticCustomError

from rra.model.base import validate_document

Key = str | int
Path = tuple[Key, ...]
Change = Callable[[Any, Key], None]
Metadata = tuple[Any, ...]
Strategy = st.SearchStrategy[Any]

#: Texts that readers are known to take for something else, and some that are fine anywhere.
TEXTS = [
    "",
    " ",
    "98.90",
    "no",
    "1.0",
    "2026-01-01",
    "../up",
    "/abs",
    "a b",
    "é",
    "x\n",
    "a/b",
    "~",
]
FINE = ["a", "main-run", "table1/lda", "metrics.json", "1.5"]
#: What nobody may write for a value of another kind.
STRANGE = [None, "", " ", "x\n", "Not An Id", 0, -1, 1.0, 1.5, True, [], {}, [None], {"a": None}]
NAMES = st.from_regex(r"[a-z][a-z-]{0,6}", fullmatch=True)


def plain_text() -> Strategy:
    letters = st.characters(codec="utf-8", exclude_categories=("Cc", "Cs"))
    return st.sampled_from(FINE) | st.sampled_from(TEXTS) | st.text(letters, max_size=6)


def any_number() -> Strategy:
    return st.floats(-1e6, 1e6, allow_nan=False) | st.integers(-3, 1000)


def anything() -> Strategy:
    scalars = st.none() | st.booleans() | any_number() | plain_text()
    return scalars | st.lists(scalars, max_size=2) | st.dictionaries(NAMES, scalars, max_size=2)


def _limit(metadata: Metadata, name: str, otherwise: Any = None) -> Any:
    """Return a constraint of a type, such as its ``ge``; the last one that is said counts."""
    return next(
        (v for one in metadata[::-1] if (v := getattr(one, name, None)) is not None), otherwise
    )


@functools.cache
def _matching(pattern: str) -> Strategy:
    """Return a strategy for texts of a pattern; long digests are slow to draw one by one."""
    long = re.sub(r"\[0-9a-f\]\{(40|64)\}", lambda found: "0d1e" * (int(found[1]) // 4), pattern)
    exact = long[:-1] + r"\Z" if long.endswith("$") else long
    return st.from_regex(exact).filter(lambda text: len(text) < 100)


def _text(metadata: Metadata) -> Strategy:
    pattern = _limit(metadata, "pattern")
    if pattern is not None and pattern != r"[^ \t\r\n]":
        return _matching(getattr(pattern, "pattern", pattern))
    least = 1 if pattern else _limit(metadata, "min_length", 0)
    checks: list[Any] = [one.func for one in metadata if isinstance(one, AfterValidator)]
    return plain_text().filter(lambda text: len(text.strip()) >= least and _passes(checks, text))


def _passes(checks: list[Any], text: str) -> bool:
    """Whether functions that check a text take it; what they refuse comes from changes."""
    try:
        for check in checks:
            check(text)
    except (ValueError, PydanticCustomError):
        return False
    return True


def _number(metadata: Metadata, *, whole: bool) -> Strategy:
    least, most = _limit(metadata, "ge"), _limit(metadata, "le")
    above, below = _limit(metadata, "gt"), _limit(metadata, "lt")
    low = next((one for one in (least, above) if one is not None), -3)
    high = next((one for one in (most, below) if one is not None), max(low, 0) + 1000)
    if whole:
        return st.integers(low + (above is not None), high - (below is not None))
    inside = st.floats(low, high, exclude_min=above is not None, exclude_max=below is not None)
    return inside | st.integers(int(low), int(high)).filter(
        lambda number: (above is None or number > above) and (below is None or number < below)
    )


def _is_accepted(model: type[BaseModel], data: Any) -> bool:
    """Whether a part of a document obeys its rules; parts that do not come from changes."""
    try:
        validate_document(model, data)
    except ValidationError:
        return False
    return True


def _plain(kind: Any, metadata: Metadata) -> Strategy:
    if kind is bool:
        return st.booleans()
    if kind in {int, float}:
        return _number(metadata, whole=kind is int)
    if kind is str:
        return _text(metadata)
    if kind is Any:
        return anything()
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        made = documents(kind)
        ruled = set(kind.__pydantic_decorators__.model_validators) - {"_as_the_schemas"}
        return made.filter(functools.partial(_is_accepted, kind)) if ruled else made
    raise TypeError(f"no strategy for {kind!r}")


def values(annotation: Any, metadata: Metadata = ()) -> Strategy:
    """Return a strategy for the JSON values that a type of a model stands for."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    least = _limit(metadata, "min_length", 0)
    size = {"min_size": least, "max_size": max(least, 1)}
    if origin is Annotated:
        groups = [one.metadata if isinstance(one, FieldInfo) else [one] for one in arguments[1:]]
        return values(arguments[0], (*metadata, *itertools.chain(*groups)))
    if origin in {Union, types.UnionType}:
        return st.one_of([values(kind, metadata) for kind in arguments if kind is not NoneType])
    if origin is Literal:
        return st.sampled_from(arguments)
    if origin is list:
        return st.lists(values(arguments[0]), **size)
    if origin is dict:
        return st.dictionaries(values(arguments[0]), values(arguments[1]), **size)
    return _plain(annotation, metadata)


def _later(field: FieldInfo) -> Strategy:
    return st.deferred(lambda: values(field.annotation, tuple(field.metadata)))


@functools.cache
def documents(model: type[BaseModel]) -> Strategy:
    """Return a strategy for documents of a model: optional keys or not, unknown ones too."""
    if issubclass(model, RootModel):
        field = model.model_fields["root"]
        return values(field.annotation, tuple(field.metadata))
    required: dict[str, Strategy] = {}
    optional: dict[str, Strategy] = {}
    for name, field in model.model_fields.items():
        made = _later(field)
        (required if field.is_required() else optional)[field.alias or name] = made
    known = st.fixed_dictionaries(required, optional=optional)
    keys = st.builds(str.__add__, st.sampled_from(["x-", "unknown-"]), NAMES)
    unknown = st.dictionaries(keys, anything(), max_size=1)
    return st.tuples(known, unknown).map(lambda parts: {**parts[1], **parts[0]})


def places(data: Any, path: Path = ()) -> Iterator[Path]:
    """Yield the path of every value of a document."""
    yield path
    if isinstance(data, dict | list):
        for key, value in data.items() if isinstance(data, dict) else enumerate(data):
            yield from places(value, (*path, key))


def changed(data: Any, path: Path, change: Change) -> Any:
    """Return a copy of a document after a change to the holder of one value."""
    box: list[Any] = [copy.deepcopy(data)]
    holder: Any = box
    full: Path = (0, *path)
    for key in full[:-1]:
        holder = holder[key]
    change(holder, full[-1])
    return box[0] if box else None


def drop(holder: Any, key: Key) -> None:
    del holder[key]


def twice(holder: Any, key: Key) -> None:
    if isinstance(holder[key], list):
        holder[key] += holder[key]


def rename(name: str) -> Change:
    def change(holder: Any, key: Key) -> None:
        if isinstance(holder, dict):
            holder[name] = holder.pop(key)

    return change


def longer(more: str) -> Change:
    def change(holder: Any, key: Key) -> None:
        if isinstance(holder[key], str):
            holder[key] += more

    return change


def other(value: Any) -> Change:
    def change(holder: Any, key: Key) -> None:
        holder[key] = copy.deepcopy(value)

    return change


CHANGES: list[Change] = [
    drop,
    twice,
    *map(other, STRANGE),
    *map(rename, ("Not An Id", "x-a", "a" * 64, "a\n", "")),
    *map(longer, ("\n", " ", "\x00", "/../x", "\u2028", "é")),
]


@st.composite
def spoiled(draw: st.DrawFn, base: Strategy) -> Any:
    """Return a strategy for the documents of another with one change that may break a rule."""
    data = draw(base)
    path = draw(st.sampled_from(list(places(data))))
    change = draw(st.sampled_from(CHANGES))
    return changed(data, path, change)
