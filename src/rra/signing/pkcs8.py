"""Private keys under a passphrase: PKCS#8 with scrypt and AES-256-CBC.

`cryptography` writes encrypted PKCS#8 with PBKDF2 and 2,048 rounds, which a graphics card guesses
through by the million in a second, and has no parameter for it. The few fields of RFC 5958 and
RFC 8018 are therefore written here, with scrypt (RFC 7914) as key derivation; openssl and
`cryptography` read it.
"""

from __future__ import annotations

import base64
import os

COST, BLOCK_SIZE, PARALLEL = 2**14, 8, 5
"""scrypt's N, r and p: 16 MiB, and the work of N = 2^17 with p = 1. More memory openssl refuses."""

_PBES2 = bytes.fromhex("06092a864886f70d01050d")  # 1.2.840.113549.1.5.13
_SCRYPT = bytes.fromhex("06092b06010401da47040b")  # 1.3.6.1.4.1.11591.4.11
_AES_256_CBC = bytes.fromhex("060960864801650304012a")  # 2.16.840.1.101.3.4.1.42
_BEGIN, _END = b"-----BEGIN ENCRYPTED PRIVATE KEY-----", b"-----END ENCRYPTED PRIVATE KEY-----"
_LINE = 64


def encrypt(der: bytes, passphrase: bytes) -> bytes:
    """Return a private key as PEM that only its passphrase opens.

    Args:
        der: The key as PKCS#8 (RFC 5958, PrivateKeyInfo).
        passphrase: Any bytes but none.
    """
    from cryptography.hazmat.primitives import padding
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
    from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

    salt, vector = os.urandom(16), os.urandom(16)
    key = Scrypt(salt=salt, length=32, n=COST, r=BLOCK_SIZE, p=PARALLEL).derive(passphrase)
    padder = padding.PKCS7(128).padder()
    encryptor = Cipher(algorithms.AES256(key), modes.CBC(vector)).encryptor()
    hidden = encryptor.update(padder.update(der) + padder.finalize()) + encryptor.finalize()
    derivation = _sequence(
        _SCRYPT,
        _sequence(_octets(salt), _integer(COST), _integer(BLOCK_SIZE), _integer(PARALLEL)),
    )
    scheme = _sequence(_PBES2, _sequence(derivation, _sequence(_AES_256_CBC, _octets(vector))))
    text = base64.b64encode(_sequence(scheme, _octets(hidden)))
    lines = [text[start : start + _LINE] for start in range(0, len(text), _LINE)]
    return b"\n".join([_BEGIN, *lines, _END, b""])


def _tagged(tag: int, content: bytes) -> bytes:
    """Return one value in DER (X.690): tag, length, content."""
    length = len(content)
    if length < 0x80:
        return bytes([tag, length]) + content
    digits = length.to_bytes((length.bit_length() + 7) // 8)
    return bytes([tag, 0x80 | len(digits)]) + digits + content


def _sequence(*parts: bytes) -> bytes:
    return _tagged(0x30, b"".join(parts))


def _octets(content: bytes) -> bytes:
    return _tagged(0x04, content)


def _integer(number: int) -> bytes:
    return _tagged(0x02, number.to_bytes(number.bit_length() // 8 + 1))
