"""Numbers of things in words."""

from __future__ import annotations


def counted(count: int, one: str, several: str = "") -> str:
    """Return ``1 file``, ``2 files``.

    Args:
        count: How many.
        one: The word for one.
        several: The word for several, where it is not that with an ``s``.
    """
    return f"{count} {one if count == 1 else several or f'{one}s'}"
