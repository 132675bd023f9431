"""NumPy files (``.npz``, ``.npy``): an element of an array. Pickled objects are never loaded."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

from rra.errors import SelectError
from rra.values.readers.candidate import Candidate, nearest

MAX_ARRAY_BYTES = 1 << 30
"""Largest array, unpacked, that is read."""

_NUMBERS = "iuf"
_TEXTS = "USb"


def read_npz(path: Path, locator: dict[str, Any]) -> list[Candidate]:
    """Return one element of an array, or a whole one-dimensional array as a list.

    Floating point values are written with the fewest digits that give the same value in the
    array's own precision.

    Args:
        path: ``.npz`` or ``.npy`` file.
        locator: ``{key: name of the array, index: number or list of numbers}``; without
            ``index`` the array must have one element or one dimension; ``.npy`` has no key.

    Raises:
        SelectError: There is no such array or element, or the array holds Python objects.
    """
    unknown = set(locator) - {"key", "index"}
    if unknown:
        raise SelectError(
            f"the npz locator {locator!r} is not understood",
            hint="write npz: {key: accuracy, index: 0}",
        )
    key = locator.get("key")
    array = _array(path, None if key is None else str(key))
    name = f"{key}" if key is not None else path.stem
    if array.dtype.kind not in _NUMBERS + _TEXTS:
        raise SelectError(f"{path.name}: {name} holds {array.dtype}, not numbers or text")
    kind = "number" if array.dtype.kind in _NUMBERS else "text"
    index = _index(path, name, array, locator.get("index"))
    if index is None:
        return [Candidate(tuple(map(_written, array.tolist())), name, None, {}, "list")]
    place = f"{name}[{', '.join(map(str, index))}]" if index else name
    return [Candidate(_written(array[index]), place, None, {}, kind)]


def _array(path: Path, key: str | None) -> Any:
    import numpy as np

    try:
        if zipfile.is_zipfile(path):
            return _member(path, key, np)
        if key is not None and path.suffix != ".npy":
            raise SelectError(f"{path.name} is not a .npz file")
        return np.load(path, allow_pickle=False, mmap_mode="r")
    except (ValueError, OSError, EOFError, MemoryError, zipfile.BadZipFile) as error:
        if "pickle" in str(error) or "objects" in str(error):
            raise SelectError(
                f"{path.name} holds pickled Python objects, which are never loaded",
                hint="save plain arrays: numpy.savez(path, accuracy=value)",
            ) from error
        raise SelectError(f"{path.name} cannot be read as NumPy data: {error}") from error


def _member(path: Path, key: str | None, np: Any) -> Any:
    with zipfile.ZipFile(path) as archive:
        sizes = {info.filename.removesuffix(".npy"): info.file_size for info in archive.infolist()}
    if key is None and len(sizes) == 1:
        key = next(iter(sizes))
    if key is None or key not in sizes:
        wanted = "names no `key`" if key is None else f"has no array {key!r}"
        subject = "the selector" if key is None else path.name
        raise SelectError(f"{subject} {wanted}", hint=nearest(key or "", sizes))
    if sizes[key] > MAX_ARRAY_BYTES:
        raise SelectError(f"{path.name}: {key} has {sizes[key]} bytes, over {MAX_ARRAY_BYTES}")
    with np.load(path, allow_pickle=False) as arrays:
        return arrays[key]


def _index(path: Path, name: str, array: Any, index: Any) -> tuple[int, ...] | None:
    """Return the position of one element, or None for a whole list."""
    shape = tuple(array.shape)
    if index is None:
        if array.size == 1:
            return (0,) * int(array.ndim)
        if array.ndim == 1:
            return None
        raise SelectError(
            f"{path.name}: {name} has the shape {shape} and the selector names no `index`",
            hint=f"name one element, for example index: {[0] * array.ndim}",
        )
    parts = index if isinstance(index, list) else [index]
    if not all(isinstance(part, int) and not isinstance(part, bool) for part in parts):
        raise SelectError(f"index {index!r} is not a whole number or a list of them")
    inside = len(parts) == array.ndim and all(
        -size <= part < size for part, size in zip(parts, shape, strict=True)
    )
    if not inside:
        raise SelectError(
            f"{path.name}: {name} has the shape {shape}; there is no element {index!r}",
            hint="positions start at 0, one for each dimension",
        )
    return tuple(int(part) for part in parts)


def _written(value: Any) -> str:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    text = str(value)
    return text.lower() if text in {"True", "False"} else text
