"""How much an archive may unpack to."""

from __future__ import annotations

import dataclasses

MAX_RATIO = 200
"""How many times its compressed length a layer may unpack to …"""

RATIO_FLOOR = 64 << 20
"""… where it unpacks to more than this many bytes."""

MAX_PAX_BYTES = 16 << 10
"""Longest pax header: a path and a link target of 4096 bytes each fit twice."""


@dataclasses.dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on what one extraction may bring, over all its archives.

    Bounds on single names (length, depth) are those of `rra.bundle.names`.

    Attributes:
        members: Files, folders and links.
        file_bytes: Length of one file.
        total_bytes: Length of the archives without compression, headers included.
        names_bytes: Length of all paths and link targets, which are held in memory.
    """

    members: int = 200_000
    file_bytes: int = 20 << 30
    total_bytes: int = 50 << 30
    names_bytes: int = 64 << 20

    def less(self, *, members: int, total_bytes: int, names_bytes: int) -> Limits:
        """Return what is left when so much is used."""
        return dataclasses.replace(
            self,
            members=self.members - members,
            total_bytes=self.total_bytes - total_bytes,
            names_bytes=self.names_bytes - names_bytes,
        )


def unpacked_limit(compressed_size: int) -> int:
    """Return to how many bytes a compressed layer of that length may unpack.

    Whoever packs stores a layer that goes beyond without compression.

    Args:
        compressed_size: Length of the blob in bytes.
    """
    return max(RATIO_FLOOR, MAX_RATIO * compressed_size)
