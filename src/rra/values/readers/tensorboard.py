"""TensorBoard event files: the scalars of one tag.

TFRecord frames (length, checksum, data, checksum) around protocol buffers ``tensorflow.Event``;
only the few fields that a scalar needs are read (tensorflow/core/util/event.proto,
framework/summary.proto, framework/tensor.proto), so that neither library has to be installed.
"""

from __future__ import annotations

import dataclasses
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rra.errors import SelectError
from rra.values.readers.candidate import MAX_CANDIDATES, Candidate, nearest, too_many

MAX_RECORD = 256 * 1024 * 1024
"""Largest record that is read; images and graphs are records too."""

_MARK = "tfevents"
_STEP, _SUMMARY, _VALUE = 2, 5, 1
_TAG, _SIMPLE, _TENSOR = 1, 2, 8
_CONTENT = 4
_NAMED = 8
_MASK = 0xA282EAD8
_POLYNOMIAL = 0x82F63B78
_TYPES = {1: ("<f4", 5), 2: ("<f8", 6), 3: ("<i4", 7), 9: ("<i8", 10), 19: ("<f2", 13)}
"""DataType → NumPy's name for it, and the field that holds its values when not as raw bytes."""

Field = tuple[int, int, bytes]
"""Number, wire type, and content; a varint as eight bytes, so that all are alike."""


class _BrokenRecordError(ValueError):
    """Bytes that are no record or no message."""


@dataclasses.dataclass(frozen=True, slots=True)
class _Scalar:
    step: int
    tag: str
    text: str | None


def read_tensorboard(path: Path, locator: dict[str, Any]) -> list[Candidate]:
    """Return every recorded scalar of a tag, in the order of the files, labelled by ``step``.

    Values are written with the fewest digits that give the same number in the precision that
    they were recorded in, nearly always 32 bits.

    Args:
        path: An event file, or the folder of those of one run.
        locator: ``{tag: …}``.

    Raises:
        SelectError: There is no event file or no such tag, a file was cut or is damaged, or the
            tag holds something else than scalars.
    """
    wanted = str(locator["tag"])
    found: list[Candidate] = []
    tags: dict[str, None] = {}
    for file in _event_files(path):
        inside = file.name if path.is_dir() else None
        for scalar in _scalars(file, wanted, tags):
            if scalar.text is None:
                raise SelectError(f"{file.name}: {wanted} holds no scalars")
            place = f"{wanted} at step {scalar.step}"
            labels = {"step": str(scalar.step)}
            found.append(Candidate(scalar.text, place, None, labels, "number", inside))
            if len(found) > MAX_CANDIDATES:
                raise too_many(path.name)
    if not found:
        raise SelectError(f"{path.name} has no scalars of {wanted!r}", hint=nearest(wanted, tags))
    return found


def _event_files(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    files = sorted(one for one in path.iterdir() if _MARK in one.name and one.is_file())
    if files:
        return files
    below = sorted({one.parent.relative_to(path).as_posix() for one in path.rglob(f"*{_MARK}*")})
    hint = "let the run write them into its output directory"
    if below:
        hint = f"name the folder of one run: {', '.join(below[:_NAMED])}"
    raise SelectError(f"{path.name} holds no event files", hint=hint)


def _scalars(file: Path, wanted: str, tags: dict[str, None]) -> Iterator[_Scalar]:
    """Yield the scalars of a tag; the names of all tags are noted."""
    done = 0
    try:
        for data, checksum in _records(file):
            yield from _of_event(data, checksum, wanted, tags)
            done += 1
    except (_BrokenRecordError, struct.error, UnicodeDecodeError) as error:
        raise SelectError(
            f"{file.name}: record {done + 1} {error}",
            hint="check that the run ended and closed its writer",
        ) from error


def _records(file: Path) -> Iterator[tuple[bytes, int]]:
    with file.open("rb") as source:
        while head := source.read(12):
            if len(head) < 12:
                raise _BrokenRecordError("is cut off")
            length, checksum = struct.unpack("<QI", head)
            if _masked(head[:8]) != checksum or length > MAX_RECORD:
                raise _BrokenRecordError("is damaged: its length has another checksum")
            data, tail = source.read(length), source.read(4)
            if len(data) < length or len(tail) < 4:
                raise _BrokenRecordError("is cut off")
            yield data, struct.unpack("<I", tail)[0]


def _of_event(data: bytes, checksum: int, wanted: str, tags: dict[str, None]) -> Iterator[_Scalar]:
    step, summaries = 0, []
    for number, wire, content in _fields(data):
        if number == _STEP and wire == 0:
            (step,) = struct.unpack("<q", content)
        elif number == _SUMMARY and wire == 2:
            summaries.append(content)
    for summary in summaries:
        for number, wire, content in _fields(summary):
            if number == _VALUE and wire == 2:
                scalar = _value(step, content, wanted)
                tags[scalar.tag] = None
                if scalar.tag == wanted:
                    if _masked(data) != checksum:
                        raise _BrokenRecordError("is damaged: it has another checksum")
                    yield scalar


def _value(step: int, data: bytes, wanted: str) -> _Scalar:
    tag, text, tensor = "", None, None
    for number, wire, content in _fields(data):
        if number == _TAG and wire == 2:
            tag = content.decode()
        elif number == _SIMPLE and wire == 5:
            text = _written(content, "<f4")
        elif number == _TENSOR and wire == 2:
            tensor = content
    if text is None and tensor is not None and tag == wanted:
        text = _tensor(tensor)
    return _Scalar(step, tag, text)


def _tensor(data: bytes) -> str | None:
    """Return the one number of a tensor; None when it holds more, or something else."""
    fields = list(_fields(data))
    kind = next((content[0] for number, wire, content in fields if (number, wire) == (1, 0)), 0)
    if kind not in _TYPES:
        return None
    name, own = _TYPES[kind]
    size = int(name[2:])
    for number, wire, content in fields:
        if number == _CONTENT and wire == 2 and len(content) == size:
            return _written(content, name)
        if number == own and name[1] == "f" and size > 2 and len(content) == size:
            return _written(content, name)
        if number == own and wire == 0:  # a varint: whole numbers, and the bits of a half
            return _written(content[:size], name)
        if number == own and wire == 2 and (size == 2 or name[1] == "i"):
            value, rest = _varint(content, 0)
            packed = struct.pack("<Q", value)[:size]
            return _written(packed, name) if rest == len(content) else None
    return None


def _written(content: bytes, name: str) -> str:
    import numpy as np

    return str(np.frombuffer(content, dtype=name)[0])


def _fields(data: bytes) -> Iterator[Field]:
    """Yield the fields of a message (protocol buffers, encoding)."""
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        number, wire = key >> 3, key & 7
        if wire == 0:
            value, at = _varint(data, at)
            yield number, wire, struct.pack("<Q", value)
            continue
        if wire == 2:
            size, at = _varint(data, at)
        elif wire in {1, 5}:
            size = 8 if wire == 1 else 4
        else:
            raise _BrokenRecordError("is no event")
        if at + size > len(data):
            raise _BrokenRecordError("is no event")
        yield number, wire, data[at : at + size]
        at += size


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        if at >= len(data):
            break
        value |= (data[at] & 0x7F) << shift
        at += 1
        if data[at - 1] < 0x80:
            return value & (1 << 64) - 1, at
    raise _BrokenRecordError("is no event")


def _table() -> list[int]:
    rows = []
    for number in range(256):
        for _ in range(8):
            number = number >> 1 ^ (_POLYNOMIAL if number & 1 else 0)  # noqa: PLW2901 - meant so
        rows.append(number)
    return rows


_TABLE = _table()


def _masked(data: bytes) -> int:
    """Return the CRC-32C of bytes as TFRecord masks it."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ _TABLE[(crc ^ byte) & 0xFF]
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + _MASK) & 0xFFFFFFFF
