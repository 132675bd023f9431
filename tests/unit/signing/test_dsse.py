"""The bytes that are signed, against the vector of the specification and by hand."""

from __future__ import annotations

import base64

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from hypothesis import given
from hypothesis import strategies as st

from rra.errors import FormatError
from rra.signing import Algorithm, PrivateKey
from rra.signing.dsse import Envelope, pae, parse_envelope

#: secure-systems-lab/dsse, protocol.md, "Test Vectors".
TYPE = "http://example.com/HelloWorld"
BODY = b"hello world"
D = 97358161215184420915383655311931858321456579547487070936769975997791359926199
X = 46950820868899156662930047687818585632848591499744589407958293238635476079160
Y = 5640078356564379163099075877009565129882514886557779369047442380624545832820
RAW = base64.b64decode(
    "A3JqsQGtVsJ2O2xqrI5IcnXip5GToJ3F+FnZ+O88SjtR6rDAajabZKciJTfUiHqJPcIAriEGAHTVeCUjW2JIZA=="
)


@pytest.mark.parametrize(
    ("kind", "body", "expected"),
    [
        (TYPE, BODY, b"DSSEv1 29 http://example.com/HelloWorld 11 hello world"),
        ("", b"", b"DSSEv1 0  0 "),
        ("é", "∞".encode(), b"DSSEv1 2 \xc3\xa9 3 \xe2\x88\x9e"),
        ("t", b"\0\n 5", b"DSSEv1 1 t 4 \0\n 5"),
    ],
    ids=["vector of the specification", "nothing", "bytes are counted", "any bytes"],
)
def test_pre_authentication_encoding(kind: str, body: bytes, expected: bytes) -> None:
    assert pae(kind, body) == expected


def take_apart(encoded: bytes) -> tuple[bytes, bytes]:
    """Read a pre-authentication encoding as the specification defines it."""
    head, length, rest = encoded.split(b" ", 2)
    assert head == b"DSSEv1"
    kind, rest = rest[: int(length)], rest[int(length) :]
    assert rest[:1] == b" "
    length, body = rest[1:].split(b" ", 1)
    assert int(length) == len(body)
    return kind, body


@given(st.text(), st.binary())
def test_every_pair_has_its_own_encoding(kind: str, body: bytes) -> None:
    assert take_apart(pae(kind, body)) == (kind.encode(), body)


def test_ecdsa_signature_is_the_one_of_the_specification() -> None:
    key = PrivateKey(ec.EllipticCurvePrivateNumbers(D, _numbers()).private_key())
    signature = key.sign(pae(TYPE, BODY))
    r, s = decode_dss_signature(signature)
    assert r.to_bytes(32) + s.to_bytes(32) == RAW
    assert key.algorithm is Algorithm.ECDSA_P256
    assert key.public.fits(signature, pae(TYPE, BODY))


def _numbers() -> ec.EllipticCurvePublicNumbers:
    return ec.EllipticCurvePublicNumbers(X, Y, ec.SECP256R1())


def test_ed25519_signature_is_the_one_of_rfc_8032() -> None:
    # RFC 8032 section 7.1, TEST 3
    secret = bytes.fromhex("c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7")
    signature = bytes.fromhex(
        "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac"
        "18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a"
    )
    key = PrivateKey(ed25519.Ed25519PrivateKey.from_private_bytes(secret))
    assert key.sign(b"\xaf\x82") == signature
    assert key.public.fits(signature, b"\xaf\x82")
    assert not key.public.fits(signature, b"\xaf\x83")


@given(st.text(min_size=1), st.binary(min_size=1), st.binary(min_size=1, max_size=200))
def test_an_envelope_is_read_as_it_was_written(kind: str, body: bytes, signature: bytes) -> None:
    envelope = Envelope(kind, body, signature)
    assert parse_envelope(envelope.to_json()) == envelope


def test_url_safe_base64_is_read_as_dsse_asks_for() -> None:
    written = Envelope("t", b"\xfb\xff", b"\xfe\xff").to_json()
    written["payload"] = base64.urlsafe_b64encode(b"\xfb\xff").decode()
    written["signatures"] = [{"sig": base64.urlsafe_b64encode(b"\xfe\xff").decode()}]
    assert parse_envelope(written) == Envelope("t", b"\xfb\xff", b"\xfe\xff")


def test_unknown_members_are_passed_over() -> None:
    written = Envelope("t", b"x", b"y").to_json()
    written["more"] = 1
    written["signatures"][0]["keyid"] = "anything"
    assert parse_envelope(written) == Envelope("t", b"x", b"y")


@pytest.mark.parametrize(
    "text",
    ["YQ", "YQ=", "YR==", "YQ==\n", " YQ==", "Y Q==", "+-==", "YQ==YQ==", "=", "é", "", 7, None],
)
def test_base64_with_two_readings_is_refused(text: object) -> None:
    written = Envelope("t", b"x", b"y").to_json()
    written["payload"] = text
    with pytest.raises(FormatError, match="the payload is"):
        parse_envelope(written)


@pytest.mark.parametrize(
    "signatures",
    [[], [{"sig": "YQ=="}, {"sig": "YQ=="}], None, {}, "YQ==", ["YQ=="], [{}], [{"sig": ""}]],
    ids=str,
)
def test_one_signature_is_wanted(signatures: object) -> None:
    written = Envelope("t", b"x", b"y").to_json()
    written["signatures"] = signatures
    with pytest.raises(FormatError, match="signature"):
        parse_envelope(written)


def test_a_signature_longer_than_any_is_refused() -> None:
    with pytest.raises(FormatError, match="1025 bytes"):
        parse_envelope(Envelope("t", b"x", b"y" * 1025).to_json())
