"""Finding numbers of interest in binary data: arrays, pickles, and any 4 or 8 bytes."""

from __future__ import annotations

import ast
import pickletools
from collections.abc import Iterator, Sequence
from decimal import Decimal

from rra.audit.forms import MACHINE_FORMS, Spot, unpack
from rra.audit.text_search import embedded_spots
from rra.audit.wanted import Wanted, intervals

_WINDOWS = ("<f8", ">f8", "<f4", ">f4")
_PICKLE_INTEGERS = {"BININT": "<i4", "BININT1": "<u1", "BININT2": "<u2"}


def binary_spots(data: bytes, wanted: Sequence[Wanted]) -> tuple[list[Spot], bool]:
    """Find numbers of interest in binary data.

    Returns:
        The spots, and whether the data was understood: a number in data that was not may
        hide in a compressed or coded form.
    """
    array = _array(data)
    if array is not None:
        form, start = array
        return list(_views(data, wanted, (form,), start=start, step=int(form[2:]))), True
    integers = _pickled_integers(data)
    spots = [
        *_views(data, wanted, _WINDOWS),
        *embedded_spots(data, wanted),
        *(_matching(data, integers or (), wanted)),
    ]
    return _disjoint(spots), integers is not None


def _array(data: bytes) -> tuple[str, int] | None:
    """Return the element type and the start of the elements of a NumPy file."""
    if not data.startswith(b"\x93NUMPY"):
        return None
    wide = data[6:7] != b"\x01"
    start = 12 if wide else 10
    size = int.from_bytes(data[8:start], "little")
    try:
        header = ast.literal_eval(data[start : start + size].decode("utf-8"))
        form = str(header["descr"]).replace("|", "<").replace("=", "<")
    except (ValueError, SyntaxError, KeyError, TypeError):
        return None
    return (form, start + size) if form in MACHINE_FORMS else None


def _pickled_integers(data: bytes) -> list[tuple[int, str]] | None:
    """Return offset and type of the integers of a pickle; None when the data is not one."""
    if data[:1] != b"\x80" or data[-1:] != b".":
        return None
    found: list[tuple[int, str]] = []
    try:
        for opcode, _, position in pickletools.genops(data):
            if opcode.name in _PICKLE_INTEGERS and position is not None:
                found.append((position + 1, _PICKLE_INTEGERS[opcode.name]))
    except (ValueError, IndexError, EOFError, UnicodeDecodeError):
        return None
    return found


def _matching(
    data: bytes, places: Sequence[tuple[int, str]], wanted: Sequence[Wanted]
) -> Iterator[Spot]:
    for start, form in places:
        yield from _spot(data, start, form, wanted)


def _spot(data: bytes, start: int, form: str, wanted: Sequence[Wanted]) -> Iterator[Spot]:
    end = start + int(form[2:])
    value = unpack(form, data[start:end])
    if value.is_finite() and any(item.scale_of(value) for item in wanted):
        yield Spot(start, end, form, _shown(value), value)


def _shown(value: Decimal) -> str:
    return f"{value:f}" if abs(value.adjusted()) < 16 else str(value)


def _views(
    data: bytes, wanted: Sequence[Wanted], forms: Sequence[str], *, start: int = 0, step: int = 1
) -> Iterator[Spot]:
    """Look at every position of the data as a number of each form."""
    import numpy as np

    bounds = np.array([end for span in intervals(wanted, zero=False) for end in span])
    for form in forms:
        size = int(form[2:])
        for shift in range(start, start + size, step):
            count = (len(data) - shift) // size
            if count <= 0 or not len(bounds):
                continue
            numbers = np.frombuffer(data, form, count, shift)
            with np.errstate(invalid="ignore"):
                inside = np.searchsorted(bounds, numbers) % 2 == 1
            for index in np.flatnonzero(inside):
                yield from _spot(data, shift + int(index) * size, form, wanted)


def _disjoint(spots: list[Spot]) -> list[Spot]:
    """Drop readings that overlap a wider one, or an earlier one of the same width."""
    kept: list[Spot] = []
    for spot in sorted(spots, key=lambda spot: (spot.start, -spot.end)):
        if not kept or spot.start >= kept[-1].end:
            kept.append(spot)
        elif spot.end - spot.start > kept[-1].end - kept[-1].start:
            kept[-1] = spot
    return kept
