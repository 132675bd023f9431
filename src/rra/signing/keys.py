"""Keys that sign without any service: Ed25519 (RFC 8032) and ECDSA on P-256 (FIPS 186-5).

Private keys are PKCS#8 (RFC 5958), public ones SubjectPublicKeyInfo (RFC 5280), both as PEM, as
openssl and cosign read and write them. `cryptography` is imported inside the functions: it takes
some 50 ms and 15 MiB.
"""

from __future__ import annotations

import dataclasses
import enum
from pathlib import Path
from typing import TYPE_CHECKING

from rra._base.files import sha256_bytes, write_new
from rra.errors import FormatError, RraError, UsageError
from rra.signing.pkcs8 import encrypt

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

MAX_BYTES = 64 * 1024
"""Size up to which a key file is read."""

PRIVATE_END, PUBLIC_END = ".key", ".pub"

_PUBLIC_START = b"-----BEGIN PUBLIC KEY-----"
_COSIGN_STARTS = (b"ENCRYPTED SIGSTORE PRIVATE KEY", b"ENCRYPTED COSIGN PRIVATE KEY")
_WHICH = "Ed25519 and ECDSA on P-256 are read"


class Algorithm(enum.StrEnum):
    """How a key signs."""

    ED25519 = "ed25519"
    ECDSA_P256 = "ecdsa-p256"


@dataclasses.dataclass(frozen=True, slots=True)
class PublicKey:
    """A key that signatures are checked with.

    Attributes:
        algorithm: The only one that this key is used with, whatever a signature says.
        der: SubjectPublicKeyInfo, as DER.
    """

    algorithm: Algorithm
    der: bytes

    @property
    def fingerprint(self) -> str:
        """``sha256:<hex>`` of the DER."""
        return sha256_bytes(self.der)

    def to_pem(self) -> str:
        """Return the key as PEM."""
        from cryptography.hazmat.primitives import serialization

        key = serialization.load_der_public_key(self.der)
        return key.public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        ).decode("ascii")

    def fits(self, signature: bytes, data: bytes) -> bool:
        """Tell whether a signature over data was made with this key's private half."""
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives import hashes, serialization
        from cryptography.hazmat.primitives.asymmetric import ec, ed25519

        key = serialization.load_der_public_key(self.der)
        try:
            if isinstance(key, ed25519.Ed25519PublicKey):
                key.verify(signature, data)
            elif isinstance(key, ec.EllipticCurvePublicKey):
                key.verify(signature, data, ec.ECDSA(hashes.SHA256()))
            else:
                return False
        except InvalidSignature:
            return False
        return True


class PrivateKey:
    """A key that signs."""

    def __init__(self, key: Ed25519PrivateKey | EllipticCurvePrivateKey) -> None:
        """Take a key of `cryptography`.

        Raises:
            FormatError: It is of an algorithm that is not used here.
        """
        self._key = key
        self.public = _public(key.public_key(), "the private key")

    @property
    def algorithm(self) -> Algorithm:
        """How it signs."""
        return self.public.algorithm

    def sign(self, data: bytes) -> bytes:
        """Return the signature over data; the same data gives the same signature.

        ECDSA takes its nonce from key and data (RFC 6979), so that nothing hangs on a source
        of randomness; where OpenSSL is too old for that (before 3.2) it is random.
        """
        from cryptography.exceptions import UnsupportedAlgorithm
        from cryptography.hazmat.primitives import hashes
        from cryptography.hazmat.primitives.asymmetric import ec, ed25519

        if isinstance(self._key, ed25519.Ed25519PrivateKey):
            return self._key.sign(data)
        try:
            scheme = ec.ECDSA(hashes.SHA256(), deterministic_signing=True)
        except UnsupportedAlgorithm:
            scheme = ec.ECDSA(hashes.SHA256())
        return self._key.sign(data, scheme)

    def to_pem(self, passphrase: bytes | None) -> bytes:
        """Return the key as PKCS#8 PEM, encrypted when there is a passphrase."""
        from cryptography.hazmat.primitives import serialization

        encoding = serialization.Encoding.DER if passphrase else serialization.Encoding.PEM
        plain = self._key.private_bytes(
            encoding, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        return encrypt(plain, passphrase) if passphrase else plain


def generate(algorithm: Algorithm = Algorithm.ED25519) -> PrivateKey:
    """Make a new key."""
    from cryptography.hazmat.primitives.asymmetric import ec, ed25519

    if algorithm is Algorithm.ED25519:
        return PrivateKey(ed25519.Ed25519PrivateKey.generate())
    return PrivateKey(ec.generate_private_key(ec.SECP256R1()))


def parse_public_key(pem: bytes, *, source: str) -> PublicKey:
    """Read a public key from PEM.

    Args:
        pem: The file's bytes.
        source: Name of the file for messages.

    Raises:
        FormatError: It is no public key, a private one, several, or of another algorithm.
    """
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives import serialization

    if b"PRIVATE KEY" in pem:
        raise FormatError(
            f"{source} holds a private key where a public one is wanted",
            hint="give the .pub file; a private key is shown to nobody",
        )
    if pem.count(b"-----BEGIN ") != 1 or _PUBLIC_START not in pem:
        raise FormatError(
            f"{source} is not one public key as PEM",
            hint="it has to hold one block that begins with -----BEGIN PUBLIC KEY-----",
        )
    try:
        key = serialization.load_pem_public_key(pem)
    except (ValueError, UnsupportedAlgorithm) as error:
        raise FormatError(
            f"{source} cannot be read as a public key: {error}", hint=_WHICH
        ) from error
    return _public(key, source)


def read_public_key(path: Path) -> PublicKey:
    """Read a public key from a file.

    Raises:
        UsageError: The file cannot be read.
        FormatError: As `parse_public_key`.
    """
    return parse_public_key(read_key_file(path), source=str(path))


def parse_private_key(pem: bytes, passphrase: bytes | None, *, source: str) -> PrivateKey:
    """Read a private key from PEM.

    Args:
        pem: The file's bytes.
        passphrase: What opens it; not looked at when it is not encrypted.
        source: Name of the file for messages.

    Raises:
        UsageError: The passphrase is missing or wrong.
        FormatError: It is no private key, or of an algorithm that is not used here.
    """
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import ec, ed25519

    refuse_cosign_key(pem, source)
    encrypted = is_encrypted(pem)
    if encrypted and not passphrase:
        raise UsageError(
            f"{source} is encrypted and no passphrase is given",
            hint="type it when asked, or hand it over with --passphrase-stdin",
        )
    _refuse_public_key(pem, source)
    try:
        key = serialization.load_pem_private_key(pem, passphrase if encrypted else None)
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise _unreadable(source, error, encrypted=encrypted) from error
    if not isinstance(key, ed25519.Ed25519PrivateKey | ec.EllipticCurvePrivateKey):
        raise FormatError(f"{source} is a key of another algorithm", hint=_WHICH)
    return PrivateKey(key)


def is_encrypted(pem: bytes) -> bool:
    """Tell whether a private key needs a passphrase."""
    return b"ENCRYPTED" in pem


def _unreadable(source: str, error: Exception, *, encrypted: bool) -> RraError:
    if encrypted:
        return UsageError(
            f"the passphrase does not open {source}", hint="try again; nothing was signed"
        )
    return FormatError(f"{source} cannot be read as a private key: {error}", hint=_WHICH)


def _refuse_public_key(pem: bytes, source: str) -> None:
    if b"BEGIN PUBLIC KEY" in pem:
        raise FormatError(
            f"{source} holds the public key, which nothing can be signed with",
            hint="give the .key file that was made with it",
        )


def refuse_cosign_key(pem: bytes, source: str) -> None:
    """Say what to do with a private key in cosign's own encryption.

    Raises:
        FormatError: It is one.
    """
    if any(start in pem for start in _COSIGN_STARTS):
        raise FormatError(
            f"{source} is a private key in cosign's own encryption, which only cosign opens",
            hint="sign with cosign attest-blob --new-bundle-format and attach what it writes",
        )


def read_private_key(path: Path, passphrase: bytes | None) -> PrivateKey:
    """Read a private key from a file.

    Raises:
        UsageError: The file cannot be read; the passphrase is missing or wrong.
        FormatError: As `parse_private_key`.
    """
    return parse_private_key(read_key_file(path), passphrase, source=str(path))


def write_key_pair(base: Path, key: PrivateKey, passphrase: bytes | None) -> tuple[Path, Path]:
    """Write a key and its public half to ``<base>.key`` and ``<base>.pub``.

    Neither file may be there before. The private one can be read by its owner only, from its first
    byte on.

    Raises:
        UsageError: One of the files is there already, or the name is none; nothing is written.
        StorageError: The disk is full or refuses.
    """
    if base.name in {"", ".."}:
        raise UsageError(f"{str(base)!r} names no file", hint="give a NAME, such as keys/reviewer")
    private, public = (base.with_name(base.name + end) for end in (PRIVATE_END, PUBLIC_END))
    for path in (private, public):
        if path.exists() or path.is_symlink():
            raise UsageError(
                f"{path} is there already, and a key is never overwritten",
                hint="give another NAME, or move the file away",
            )
    write_new(private, key.to_pem(passphrase), mode=0o600)
    write_new(public, key.public.to_pem().encode(), mode=0o644)
    return private, public


def read_key_file(path: Path) -> bytes:
    """Read the bytes of a key file, up to a size that no key has.

    Raises:
        UsageError: The file cannot be read.
        FormatError: It is larger than any key.
    """
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise UsageError(
            f"the key {path} cannot be read: {error.strerror}", hint="check its path and its mode"
        ) from error
    if len(data) > MAX_BYTES:
        raise FormatError(f"{path} is larger than any key", hint="give a file with one key as PEM")
    return data


def _public(key: object, source: str) -> PublicKey:
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import ec, ed25519

    if isinstance(key, ed25519.Ed25519PublicKey):
        algorithm = Algorithm.ED25519
    elif isinstance(key, ec.EllipticCurvePublicKey) and isinstance(key.curve, ec.SECP256R1):
        algorithm = Algorithm.ECDSA_P256
    else:
        raise FormatError(f"{source} is a key of another algorithm", hint=_WHICH)
    der = key.public_bytes(
        serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    return PublicKey(algorithm, der)
