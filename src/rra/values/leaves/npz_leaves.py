"""Numbers of small NumPy arrays; nothing is unpickled."""

from __future__ import annotations

import itertools
import zipfile
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

from rra.errors import SelectError
from rra.values.leaves.leaf import MAX_LEAVES, FileLeaves, Leaf, Locator, number_of

MAX_ELEMENTS = 10_000
"""Largest array that is taken as results; larger ones are data, predictions or weights."""

_NUMBERS = "iuf"
_HEADER_BYTES = 4096
_MAGIC = b"\x93NUMPY"


def npz_leaves(path: Path, file: str) -> FileLeaves:
    """Return the elements of the small numeric arrays of a ``.npz`` or ``.npy`` file.

    Raises:
        SelectError: It holds pickled objects only, no small array of numbers, or is damaged.
    """
    import numpy as np

    reasons: list[str] = []
    leaves: list[Leaf] = []
    try:
        for key, array in _arrays(path, np, reasons):
            leaves += itertools.islice(_elements(key, array), MAX_LEAVES + 1 - len(leaves))
    except (ValueError, OSError, EOFError, MemoryError, zipfile.BadZipFile) as error:
        pickled = "pickle" in str(error) or "objects" in str(error).lower()
        what = "holds pickled objects, which are never loaded" if pickled else "damaged"
        raise SelectError(what) from error
    if not leaves:
        raise SelectError("; ".join(reasons[:3]) or "holds no numbers")
    complete = len(leaves) <= MAX_LEAVES and not reasons
    return FileLeaves(file, "npz", tuple(leaves[:MAX_LEAVES]), complete, _locate)


def _arrays(path: Path, np: Any, reasons: list[str]) -> Iterator[tuple[str, Any]]:
    if not zipfile.is_zipfile(path):
        with path.open("rb") as file:
            if file.read(len(_MAGIC)) != _MAGIC:
                raise ValueError("not a file of NumPy")
        array = np.load(path, allow_pickle=False, mmap_mode="r")
        if _is_small(path.stem, array, reasons):
            yield "", array
        return
    with zipfile.ZipFile(path) as archive:
        sizes = {info.filename: info.file_size for info in archive.infolist()}
    with np.load(path, allow_pickle=False) as arrays:
        for name, size in sizes.items():
            key = name.removesuffix(".npy")
            if size > MAX_ELEMENTS * 16 + _HEADER_BYTES:
                reasons.append(f"{key} has more than {MAX_ELEMENTS} elements")
                continue
            try:
                array = arrays[key]
            except ValueError:
                reasons.append(f"{key} holds pickled objects, which are never loaded")
                continue
            if _is_small(key, array, reasons):
                yield key, array


def _is_small(name: str, array: Any, reasons: list[str]) -> bool:
    if not hasattr(array, "dtype") or array.dtype.kind not in _NUMBERS:
        reasons.append(f"{name} holds no plain numbers")
        return False
    if array.size > MAX_ELEMENTS:
        reasons.append(f"{name} has more than {MAX_ELEMENTS} elements")
        return False
    return True


def _elements(key: str, array: Any) -> Iterator[Leaf]:
    for index in itertools.product(*map(range, array.shape)):
        number = number_of(str(array[index]))
        if number is None:
            continue
        text, value, _ = number
        keys = (key,) if key else ()
        yield _leaf(key, index, text, value, keys)


def _leaf(
    key: str, index: tuple[int, ...], text: str, value: Decimal, keys: tuple[str, ...]
) -> Leaf:
    row = ", ".join(map(str, index[:-1]))
    field = str(index[-1]) if index else key
    return Leaf(value, text, None, None, keys, f"{key}[{row}]", field, (key, *index))


def _locate(leaf: Leaf) -> Locator:
    key, *index = leaf.at
    content: dict[str, object] = {"key": key} if key else {}
    if index:
        content["index"] = index[0] if len(index) == 1 else list(index)
    return Locator("npz", content)
