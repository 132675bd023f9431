"""Keys as files: what is read, what is refused, and what openssl makes of them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization as ser
from cryptography.hazmat.primitives.asymmetric import ec, ed448, rsa

from rra.errors import FormatError, UsageError
from rra.signing import Algorithm, PublicKey, generate, read_private_key, read_public_key
from rra.signing.keys import MAX_BYTES, parse_private_key, parse_public_key
from tests.support.signing import ecdsa_key, ed25519_key

SPKI = (ser.Encoding.PEM, ser.PublicFormat.SubjectPublicKeyInfo)
PKCS8 = (ser.Encoding.PEM, ser.PrivateFormat.PKCS8, ser.NoEncryption())

#: RFC 8410 section 10.1: a public key on Ed25519.
RFC_8410 = b"""-----BEGIN PUBLIC KEY-----
MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=
-----END PUBLIC KEY-----
"""


def test_the_key_of_rfc_8410_is_read() -> None:
    key = parse_public_key(RFC_8410, source="k.pub")
    assert key.algorithm is Algorithm.ED25519
    # openssl pkey -pubin -outform DER | sha256sum
    digest = "a1e9156054e04fac899ae9f275132cdc07a5dbc4ea2c2ad3a1ffc6e0d253681f"
    assert key.fingerprint == f"sha256:{digest}"
    assert key.to_pem().encode() == RFC_8410


@pytest.mark.parametrize("algorithm", Algorithm)
def test_new_keys_differ_and_are_read_back(algorithm: Algorithm) -> None:
    one, two = generate(algorithm), generate(algorithm)
    assert one.algorithm is algorithm
    assert one.public != two.public
    read = parse_private_key(one.to_pem(b"secret"), b"secret", source="k")
    assert read.public == one.public
    assert parse_private_key(one.to_pem(None), None, source="k").public == one.public


def test_a_point_written_shorter_is_the_same_key() -> None:
    public = ec.derive_private_key(1, ec.SECP256R1()).public_key()
    short = public.public_bytes(ser.Encoding.X962, ser.PublicFormat.CompressedPoint)
    head = bytes.fromhex("3039301306072a8648ce3d020106082a8648ce3d030107032200")
    key = ser.load_der_public_key(head + short)
    pem = key.public_bytes(*SPKI)
    assert parse_public_key(pem, source="k") == ecdsa_key(1).public


def foreign_public() -> dict[str, bytes]:
    """Public keys of other algorithms."""
    return {
        "P-384": ec.derive_private_key(1, ec.SECP384R1()).public_key().public_bytes(*SPKI),
        "secp256k1": ec.derive_private_key(1, ec.SECP256K1()).public_key().public_bytes(*SPKI),
        "RSA": rsa.generate_private_key(65537, 2048).public_key().public_bytes(*SPKI),
        "Ed448": ed448.Ed448PrivateKey.generate().public_key().public_bytes(*SPKI),
    }


def test_keys_of_other_algorithms_are_refused() -> None:
    for name, pem in foreign_public().items():
        with pytest.raises(FormatError, match="another algorithm") as caught:
            parse_public_key(pem, source=name)
        assert "Ed25519" in caught.value.hint
    other = rsa.generate_private_key(65537, 2048).private_bytes(*PKCS8)
    with pytest.raises(FormatError, match="another algorithm"):
        parse_private_key(other, None, source="k")
    curve = ec.derive_private_key(1, ec.SECP384R1()).private_bytes(*PKCS8)
    with pytest.raises(FormatError, match="another algorithm"):
        parse_private_key(curve, None, source="k")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (ed25519_key().to_pem(None), "private key where a public one is wanted"),
        (RFC_8410 * 2, "not one public key"),
        (b"", "not one public key"),
        (b"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIH", "not one public key"),
        (RFC_8410.replace(b"MCow", b"MCox"), "cannot be read|another algorithm"),
        (RFC_8410.replace(b"PUBLIC KEY", b"CERTIFICATE"), "not one public key"),
    ],
    ids=["private", "two", "empty", "ssh", "damaged", "certificate"],
)
def test_what_is_no_public_key_is_refused(data: bytes, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        parse_public_key(data, source="k.pub")


def test_a_passphrase_that_is_wrong_or_missing() -> None:
    pem = ed25519_key().to_pem(b"right")
    with pytest.raises(UsageError, match="does not open"):
        parse_private_key(pem, b"wrong", source="k.key")
    for missing in (None, b""):
        with pytest.raises(UsageError, match="no passphrase is given"):
            parse_private_key(pem, missing, source="k.key")


def test_a_public_key_signs_nothing() -> None:
    pem = ed25519_key().public.to_pem().encode()
    with pytest.raises(FormatError, match="holds the public key") as caught:
        parse_private_key(pem, None, source="lab.pub")
    assert caught.value.hint == "give the .key file that was made with it"


def test_a_damaged_private_key() -> None:
    pem = ed25519_key().to_pem(None).replace(b"MC4", b"MC5")
    with pytest.raises(FormatError, match="cannot be read as a private key"):
        parse_private_key(pem, None, source="k.key")


def test_a_private_key_of_cosign_says_what_to_do() -> None:
    pem = b"-----BEGIN ENCRYPTED SIGSTORE PRIVATE KEY-----\nAAAA\n-----END"
    with pytest.raises(FormatError, match="only cosign opens") as caught:
        parse_private_key(pem, b"x", source="cosign.key")
    assert "attach" in caught.value.hint


def test_files_that_cannot_be_read_or_are_too_large(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        read_public_key(tmp_path / "absent.pub")
    with pytest.raises(UsageError, match="cannot be read"):
        read_private_key(tmp_path, None)
    large = tmp_path / "large.pub"
    large.write_bytes(RFC_8410 + b" " * MAX_BYTES)
    with pytest.raises(FormatError, match="larger than any key"):
        read_public_key(large)


@pytest.mark.parametrize(
    "signature", [b"", b"\0" * 64, b"\x30\x06\x02\x01\x00\x02\x01\x00", b"\xff" * 72], ids=len
)
def test_signatures_that_are_none_do_not_fit(signature: bytes) -> None:
    for key in (ed25519_key().public, ecdsa_key().public):
        assert isinstance(key, PublicKey)
        assert not key.fits(signature, b"data")


def test_a_private_key_does_not_show_itself() -> None:
    key = ed25519_key()
    assert "0101" not in repr(key)
    assert "object at" in repr(key)


def test_the_package_loads_no_heavy_library() -> None:
    """Verbs that list statements start as fast where nothing is signed."""
    probe = (
        "import sys, rra.signing; print(sorted({'cryptography', 'sigstore'} & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
