"""``rra key generate``: make a key that statements are signed with."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

from rra.api._result import Progress, VerbResult, silent
from rra.errors import UsageError
from rra.signing import Algorithm, generate, write_key_pair


@dataclasses.dataclass(frozen=True, kw_only=True)
class NewKey(VerbResult):
    """A key that was made.

    Attributes:
        private: File of the private key.
        public: File of the public key.
        algorithm: How it signs.
        fingerprint: ``sha256:<hex>`` of the public key, to compare on another way.
        encrypted: Whether the private key is under a passphrase.
    """

    private: Path
    public: Path
    algorithm: Algorithm
    fingerprint: str
    encrypted: bool

    def to_json(self) -> dict[str, Any]:
        """Return the result as plain JSON."""
        return {
            "private": str(self.private),
            "public": str(self.public),
            "algorithm": self.algorithm.value,
            "fingerprint": self.fingerprint,
            "encrypted": self.encrypted,
        }


def key_generate(
    name: str | Path = "rra",
    *,
    passphrase: bytes | None,
    algorithm: str = Algorithm.ED25519,
    progress: Progress = silent,
) -> NewKey:
    """Make a key and write it to ``<name>.key`` and ``<name>.pub``, which may not be there before.

    Args:
        name: Path of the two files without their ends.
        passphrase: What the private key is encrypted with; None leaves it open to whoever has
            the file, which has to be meant.
        algorithm: ``ed25519`` or ``ecdsa-p256``.
        progress: Not used; every function of the api takes it.

    Raises:
        UsageError: A file is there already; the algorithm is none; the passphrase is empty.
        StorageError: The disk is full or refuses.
    """
    del progress
    if algorithm not in list(Algorithm):
        known = " and ".join(Algorithm)
        raise UsageError(f"no algorithm is called {algorithm!r}", hint=f"there are {known}")
    if passphrase is not None and not passphrase:
        raise UsageError("the passphrase is empty", hint="choose one that is hard to guess")
    key = generate(Algorithm(algorithm))
    private, public = write_key_pair(Path(name), key, passphrase)
    return NewKey(
        private=private,
        public=public,
        algorithm=key.algorithm,
        fingerprint=key.public.fingerprint,
        encrypted=passphrase is not None,
    )
