"""Looking for many literals in bytes at once."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from typing import Any

_WORD = 4
_BITS = 20
_FACTOR = 2_654_435_769
_SMALL = 1 << 15


class Literals:
    """A set of literals that are looked for together.

    The time hardly depends on how many there are: four bytes at each place are looked up in a
    table of the beginnings of all of them.
    """

    def __init__(self, literals: Iterable[bytes]) -> None:
        """Prepare the search."""
        self._all = tuple(dict.fromkeys(literals))
        self._short = tuple(one for one in self._all if len(one) < _WORD)
        self._long: dict[bytes, list[bytes]] = {}
        for one in self._all:
            if len(one) >= _WORD:
                self._long.setdefault(one[:_WORD], []).append(one)

    def find(self, data: bytes) -> Iterator[tuple[int, bytes]]:
        """Yield each place where a literal stands, and the literal; in no order."""
        if len(data) < _SMALL:
            yield from _each(data, self._all)
            return
        yield from _each(data, self._short)
        for place in self._likely(data):
            for literal in self._long.get(data[place : place + _WORD], ()):
                if data.startswith(literal, place):
                    yield place, literal

    def _likely(self, data: bytes) -> Iterator[int]:
        """Yield the places whose four bytes may be the beginning of a literal."""
        import numpy as np

        if not self._long:
            return
        table, words = self._table
        for shift in range(_WORD):
            count = (len(data) - shift) // _WORD
            read = np.frombuffer(data, "<u4", count=count, offset=shift)
            near = np.flatnonzero(table[_hashed(read)])
            sure = near[np.isin(read[near], words)]
            yield from (sure * _WORD + shift).tolist()

    @functools.cached_property
    def _table(self) -> tuple[Any, Any]:
        """Which hashes beginnings have, and the beginnings as numbers."""
        import numpy as np

        words = np.array([int.from_bytes(one, "little") for one in self._long], dtype="<u4")
        table = np.zeros(1 << _BITS, dtype=bool)
        table[_hashed(words)] = True
        return table, words


def _hashed(words: Any) -> Any:
    import numpy as np

    return (words * np.uint32(_FACTOR)) >> np.uint32(32 - _BITS)


def _each(data: bytes, literals: Iterable[bytes]) -> Iterator[tuple[int, bytes]]:
    for literal in literals:
        place = data.find(literal)
        while place >= 0:
            yield place, literal
            place = data.find(literal, place + 1)
