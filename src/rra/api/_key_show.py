"""``rra key show``: say which key a file holds."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

from rra.api._result import Progress, VerbResult, silent
from rra.signing import Algorithm, read_public_key


@dataclasses.dataclass(frozen=True, kw_only=True)
class ShownKey(VerbResult):
    """A public key.

    Attributes:
        public: Its file.
        algorithm: How it signs.
        fingerprint: ``sha256:<hex>`` of it, to compare on another way.
    """

    public: Path
    algorithm: Algorithm
    fingerprint: str

    def to_json(self) -> dict[str, Any]:
        """Return the result as plain JSON."""
        return {
            "public": str(self.public),
            "algorithm": self.algorithm.value,
            "fingerprint": self.fingerprint,
        }


def key_show(path: str | Path, *, progress: Progress = silent) -> ShownKey:
    """Read a public key and say what identifies it.

    Args:
        path: The file.
        progress: Not used; every function of the api takes it.

    Raises:
        UsageError: The file cannot be read.
        FormatError: It is no public key, or of an algorithm that is not used here.
    """
    del progress
    key = read_public_key(Path(path))
    return ShownKey(public=Path(path), algorithm=key.algorithm, fingerprint=key.fingerprint)
