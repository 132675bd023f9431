"""Reading plain JSON documents of other versions without stumbling over a missing part."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal, InvalidOperation
from typing import Any


class Doc:
    """A JSON object, or the absence of one; every part that is missing is empty."""

    __slots__ = ("_data",)

    def __init__(self, data: Any) -> None:
        """Wrap a JSON value; what is not an object counts as an empty one."""
        self._data: dict[str, Any] = data if isinstance(data, dict) else {}

    def __bool__(self) -> bool:
        return bool(self._data)

    def get(self, *keys: str) -> Any:
        """Return the value below a path of keys, or None."""
        value: Any = self._data
        for key in keys:
            value = value.get(key) if isinstance(value, dict) else None
        return value

    def doc(self, *keys: str) -> Doc:
        """Return the object below a path of keys."""
        return Doc(self.get(*keys))

    def text(self, *keys: str) -> str:
        """Return a value as text; empty when it is missing."""
        value = self.get(*keys)
        if value is None or isinstance(value, dict | list):
            return ""
        return str(value).lower() if isinstance(value, bool) else str(value)

    def items_of(self, *keys: str) -> list[Any]:
        """Return a list; empty when it is missing."""
        value = self.get(*keys)
        return value if isinstance(value, list) else []

    def docs(self, *keys: str) -> list[Doc]:
        """Return the objects of a list."""
        return [Doc(item) for item in self.items_of(*keys)]

    def texts(self, *keys: str) -> list[str]:
        """Return the texts and numbers of a list as text."""
        return [str(item) for item in self.items_of(*keys) if not isinstance(item, dict | list)]

    def number(self, *keys: str) -> Decimal | None:
        """Return a finite number, given as text or as a number."""
        return number(self.get(*keys))

    def numbers(self, *keys: str) -> tuple[Decimal, ...]:
        """Return the finite numbers of a list."""
        found = (number(item) for item in self.items_of(*keys))
        return tuple(value for value in found if value is not None)

    def pair(self, *keys: str) -> tuple[Decimal, Decimal] | None:
        """Return an interval."""
        values = self.numbers(*keys)
        return (values[0], values[1]) if len(values) == 2 else None

    def items(self) -> Iterator[tuple[str, Any]]:
        """Yield the members of the object."""
        yield from self._data.items()


def number(value: object) -> Decimal | None:
    """Return a value as a finite number, or None."""
    if value is None or isinstance(value, bool):
        return None
    try:
        found = Decimal(str(value).strip())
    except InvalidOperation:
        return None
    return found if found.is_finite() else None
