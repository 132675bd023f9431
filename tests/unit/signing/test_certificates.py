"""Whom a certificate names, and who vouched for it; certificates made here."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from sigstore.verify import Verifier
from sigstore.verify import policy as sigstore_policy

from rra.signing import SignatureState, Trust, verify
from rra.signing.keyless import _has_issued, _identity

ISSUER_V1 = x509.ObjectIdentifier("1.3.6.1.4.1.57264.1.1")
ISSUER_V2 = x509.ObjectIdentifier("1.3.6.1.4.1.57264.1.8")
USER_NAME = x509.ObjectIdentifier("1.3.6.1.4.1.57264.1.7")
START = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
KEY = ec.derive_private_key(7, ec.SECP256R1())
MAIL = x509.RFC822Name("ada@example.org")
HERE = Path(__file__).parent / "sigstore"


def utf8(text: str) -> bytes:
    """A UTF8String in DER, lengths up to 255 bytes."""
    data = text.encode()
    head = b"\x0c\x81" if len(data) >= 0x80 else b"\x0c"
    return head + bytes([len(data)]) + data


def certificate(
    names: list[x509.GeneralName],
    issuers: dict[x509.ObjectIdentifier, bytes],
    signer: ec.EllipticCurvePrivateKey = KEY,
) -> x509.Certificate:
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "authority")])
    builder = x509.CertificateBuilder(
        issuer_name=name,
        subject_name=name,
        public_key=KEY.public_key(),
        serial_number=1,
        not_valid_before=START,
        not_valid_after=START + dt.timedelta(minutes=10),
    )
    if names:
        builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=True)
    for oid, value in issuers.items():
        builder = builder.add_extension(x509.UnrecognizedExtension(oid, value), critical=False)
    return builder.sign(signer, hashes.SHA256())


GOOD = {ISSUER_V2: utf8("https://login.example")}


@pytest.mark.parametrize(
    ("name", "subject"),
    [
        (MAIL, "ada@example.org"),
        (x509.UniformResourceIdentifier("https://ci.example/x@1"), "https://ci.example/x@1"),
        (x509.OtherName(USER_NAME, utf8("ada!login.example")), "ada!login.example"),
    ],
    ids=["mail", "URI", "user name"],
)
def test_the_subject_is_what_the_library_takes_it_for(name: x509.GeneralName, subject: str) -> None:
    made = certificate([name], GOOD)
    found = _identity(made)
    assert (found.subject, found.issuer) == (subject, "https://login.example")
    assert found.fingerprint is None
    both = certificate([name], GOOD | {ISSUER_V1: b"https://login.example"})
    if isinstance(name, x509.OtherName):
        return  # the library compares the DER of these
    sigstore_policy.Identity(identity=subject, issuer="https://login.example").verify(both)


@pytest.mark.parametrize(
    ("issuers", "expected"),
    [
        ({ISSUER_V1: b"https://old.example"}, "https://old.example"),
        ({ISSUER_V1: b"https://old.example"} | GOOD, "https://login.example"),
        ({ISSUER_V2: utf8("https://" + "x" * 200)}, "https://" + "x" * 200),
    ],
    ids=["old", "both", "long"],
)
def test_who_vouched_for_it(issuers: dict[x509.ObjectIdentifier, bytes], expected: str) -> None:
    assert _identity(certificate([MAIL], issuers)).issuer == expected


@pytest.mark.parametrize(
    ("names", "issuers"),
    [
        ([MAIL, x509.RFC822Name("eve@example.org")], GOOD),
        ([], GOOD),
        ([x509.DNSName("example.org"), MAIL], GOOD),
        ([x509.OtherName(x509.ObjectIdentifier("1.2.3.4"), utf8("ada"))], GOOD),
        ([x509.OtherName(USER_NAME, b"\x13\x03ada")], GOOD),
        ([MAIL], {}),
        ([MAIL], {ISSUER_V2: b"https://login.example"}),
        ([MAIL], {ISSUER_V2: utf8("https://login.example") + b"x"}),
        ([MAIL], {ISSUER_V2: b"\x0c"}),
        ([MAIL], {ISSUER_V2: utf8("")}),
        ([MAIL], {ISSUER_V1: b"\xff"}),
    ],
    ids=[
        "two subjects",
        "no subject",
        "a host and a mail address",
        "a name of an unknown kind",
        "a user name that is no UTF8String",
        "nobody vouched",
        "an issuer that is no UTF8String",
        "an issuer with a tail",
        "an issuer cut off",
        "an empty issuer",
        "an issuer that is no text",
    ],
)
def test_a_certificate_that_names_nobody_clearly(
    names: list[x509.GeneralName], issuers: dict[x509.ObjectIdentifier, bytes]
) -> None:
    with pytest.raises((ValueError, x509.ExtensionNotFound)):
        _identity(certificate(names, issuers))


def test_an_authority_is_one_that_signed_whatever_its_name() -> None:
    other = ec.derive_private_key(8, ec.SECP256R1())
    authority = certificate([MAIL], GOOD)
    assert _has_issued(authority, certificate([MAIL], GOOD))
    assert not _has_issued(authority, certificate([MAIL], GOOD, signer=other))


def test_what_the_library_read_has_to_be_what_we_read(monkeypatch: pytest.MonkeyPatch) -> None:
    def another(*arguments: Any) -> tuple[str, bytes]:
        return ("application/vnd.in-toto+json", b"{}")

    monkeypatch.setattr(Verifier, "verify_dsse", another)
    data = (HERE / "log-v1.sigstore.json").read_bytes()
    subject = "sha256:a0cfc71271d6e278e57cd332ff957c3f7043fdda354c4cbb190a30d56efa01bf"
    found = verify(data, subject=subject, trust=Trust((), HERE / "trusted_root.production.json"))
    assert found.state is SignatureState.INVALID
    assert "two readings" in found.reason
    made = json.loads(data)
    made["dsse_envelope"] = made["dsseEnvelope"]
    monkeypatch.undo()
    found = verify(
        json.dumps(made).encode(),
        subject=subject,
        trust=Trust((), HERE / "trusted_root.production.json"),
    )
    assert found.state is SignatureState.INVALID
