"""Recorded keyless signatures, checked offline: who signed, when, and what does not hold."""

from __future__ import annotations

import base64
import datetime as dt
import json
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rra._base import clock
from rra.errors import FormatError
from rra.signing import SignatureState, Trust, Verification, load_policy, verify
from tests.support.signing import b64

HERE = Path(__file__).parent / "sigstore"
PRODUCTION = HERE / "trusted_root.production.json"
STAGING = HERE / "trusted_root.staging.json"
SUBJECT = "sha256:a0cfc71271d6e278e57cd332ff957c3f7043fdda354c4cbb190a30d56efa01bf"
BEACON = (
    "https://github.com/sigstore-conformance/extremely-dangerous-public-oidc-beacon"
    "/.github/workflows/extremely-dangerous-oidc-beacon.yml@refs/heads/main"
)
ISSUER = "https://token.actions.githubusercontent.com"
SLSA = "https://slsa.dev/provenance/v1"


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """No connection can be made: everything is checked with what lies here."""

    def refuse(*arguments: Any) -> None:
        raise AssertionError("a connection was asked for")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


def recorded(name: str) -> bytes:
    return (HERE / f"{name}.sigstore.json").read_bytes()


def checked(data: bytes, root: Path | None = PRODUCTION) -> Verification:
    return verify(data, subject=SUBJECT, trust=Trust((), root))


@pytest.mark.parametrize(
    ("name", "root", "moment"),
    [
        # The log's own time: integratedTime 1734374576.
        ("log-v1", PRODUCTION, dt.datetime(2024, 12, 16, 18, 42, 56, tzinfo=dt.UTC)),
        # The time stamp: openssl ts -reply -text says "May 13 19:23:33 2026 GMT".
        ("log-v2", STAGING, dt.datetime(2026, 5, 13, 19, 23, 33, tzinfo=dt.UTC)),
    ],
)
def test_a_recorded_signature_was_valid_when_signed(
    name: str, root: Path, moment: dt.datetime
) -> None:
    found = checked(recorded(name), root)
    assert found.state is SignatureState.VALID
    assert found.identity is not None
    assert (found.identity.subject, found.identity.issuer) == (BEACON, ISSUER)
    assert found.identity.fingerprint is None
    assert found.signed_at == moment
    assert not found.trusted  # nobody is named
    assert found.statement is not None
    assert found.statement.predicate_type == SLSA


def test_the_certificate_has_run_out_long_ago() -> None:
    der = json.loads(recorded("log-v1"))["verificationMaterial"]["certificate"]["rawBytes"]
    certificate = x509.load_der_x509_certificate(base64.b64decode(der))
    assert certificate.not_valid_after_utc < clock.now()
    assert certificate.not_valid_after_utc - certificate.not_valid_before_utc == dt.timedelta(
        minutes=10
    )
    signed_at = checked(recorded("log-v1")).signed_at
    assert signed_at is not None
    assert certificate.not_valid_before_utc <= signed_at <= certificate.not_valid_after_utc


def policy_for(folder: Path, identity: str, issuer: str, predicate: str = SLSA) -> Trust:
    (folder / "root.json").write_bytes(PRODUCTION.read_bytes())
    signer = {"name": "CI", "identity": identity, "issuer": issuer, "predicates": [predicate]}
    policy = {"type": "rra-policy/v1", "trust": [signer], "trusted_root": "root.json"}
    (folder / "policy.yaml").write_text(json.dumps(policy))
    return load_policy(folder / "policy.yaml").trust


def test_the_identity_of_the_policy_is_trusted(tmp_path: Path) -> None:
    trust = policy_for(tmp_path, BEACON, ISSUER)
    found = verify(recorded("log-v1"), subject=SUBJECT, trust=trust)
    assert found.state is SignatureState.VALID
    assert found.trusted
    assert found.identity is not None
    assert (found.identity.name, found.identity.subject) == ("CI", BEACON)


@pytest.mark.parametrize(
    ("identity", "issuer", "predicate"),
    [
        (BEACON, "https://accounts.example", SLSA),
        (BEACON + "x", ISSUER, SLSA),
        (BEACON.partition("@")[0], ISSUER, SLSA),
        (BEACON, ISSUER + "/", SLSA),
        (BEACON, ISSUER, "review"),
    ],
    ids=["other issuer", "longer", "prefix", "slash", "other predicate"],
)
def test_another_identity_is_valid_but_not_trusted(
    identity: str, issuer: str, predicate: str, tmp_path: Path
) -> None:
    trust = policy_for(tmp_path, identity, issuer, predicate)
    found = verify(recorded("log-v1"), subject=SUBJECT, trust=trust)
    assert found.state is SignatureState.VALID
    assert not found.trusted


@pytest.mark.parametrize(
    ("name", "root", "reason"),
    [
        ("log-v1-bad-signature", PRODUCTION, "invalid signature"),
        ("log-v1-other-envelope", PRODUCTION, "payload hash does not match"),
        ("log-v1-other-signature", PRODUCTION, "signatures do not match"),
        ("log-v2-other-envelope", STAGING, "inconsistent with other materials"),
    ],
)
def test_what_the_conformance_suite_calls_a_failure_is_invalid(
    name: str, root: Path, reason: str
) -> None:
    found = checked(recorded(name), root)
    assert found.state is SignatureState.INVALID
    assert reason in found.reason


def test_about_something_else(tmp_path: Path) -> None:
    trust = policy_for(tmp_path, BEACON, ISSUER)
    found = verify(recorded("log-v1"), subject="sha256:" + "0" * 64, trust=trust)
    assert found.state is SignatureState.INVALID


def test_a_certificate_of_an_authority_that_is_not_known() -> None:
    found = checked(recorded("log-v1"), STAGING)
    assert found.state is SignatureState.KEY_UNKNOWN
    assert "no authority of the trusted root" in found.reason
    assert found.signed_at is None


def test_without_a_trusted_root_no_certificate_is_known() -> None:
    found = checked(recorded("log-v1"), None)
    assert found.state is SignatureState.KEY_UNKNOWN
    assert "no trusted root" in found.reason


def test_without_the_extra_no_certificate_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sigstore", None)
    found = checked(recorded("log-v1"))
    assert found.state is SignatureState.KEY_UNKNOWN
    assert "rra[sigstore]" in found.reason


@pytest.mark.parametrize("text", ["", "{}", '{"mediaType": "x"}', "[]"])
def test_a_trusted_root_that_is_none_stops_it(text: str, tmp_path: Path) -> None:
    (tmp_path / "root.json").write_text(text)
    with pytest.raises(FormatError, match="cannot be used as a trusted root"):
        checked(recorded("log-v1"), tmp_path / "root.json")


def entry(made: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = made["verificationMaterial"]["tlogEntries"][0]
    return found


def another_payload(made: dict[str, Any]) -> None:
    payload = base64.b64decode(made["dsseEnvelope"]["payload"])
    made["dsseEnvelope"]["payload"] = b64(payload.replace(b"buildType", b"buildtype"))


def another_certificate(made: dict[str, Any]) -> None:
    other = json.loads(recorded("log-v1-other-envelope"))["verificationMaterial"]["certificate"]
    assert other != made["verificationMaterial"]["certificate"]
    made["verificationMaterial"]["certificate"] = other


def own_signature(made: dict[str, Any]) -> None:
    made["dsseEnvelope"]["signatures"][0]["sig"] = b64(b"\x30\x06\x02\x01\x01\x02\x01\x01")


TAMPERED: dict[str, Callable[[dict[str, Any]], object]] = {
    "payload": another_payload,
    "signature": own_signature,
    "certificate of another signing": another_certificate,
    "no log entry": lambda made: made["verificationMaterial"]["tlogEntries"].clear(),
    "two log entries": lambda made: made["verificationMaterial"]["tlogEntries"].append(entry(made)),
    "time of the log after the certificate ran out": lambda made: entry(made).update(
        integratedTime="1765910576"
    ),
    "time of the log a second later": lambda made: entry(made).update(integratedTime="1734374577"),
    "log's promise taken away": lambda made: entry(made).pop("inclusionPromise"),
    "proof taken away": lambda made: entry(made).pop("inclusionProof"),
    "checkpoint taken away": lambda made: entry(made)["inclusionProof"].pop("checkpoint"),
    "place in the log": lambda made: entry(made)["inclusionProof"].update(logIndex="7"),
    "entry of something else": lambda made: entry(made).update(
        canonicalizedBody=entry(json.loads(recorded("log-v2")))["canonicalizedBody"]
    ),
    "certificate is no certificate": lambda made: made["verificationMaterial"].update(
        certificate={"rawBytes": b64(b"\x30\x00")}
    ),
}


@pytest.mark.parametrize("name", TAMPERED)
def test_tampered_with(name: str) -> None:
    made = json.loads(recorded("log-v1"))
    TAMPERED[name](made)
    found = checked(json.dumps(made).encode())
    assert found.state is SignatureState.INVALID
    assert found.signed_at is None
    assert found.identity is None


def test_a_log_without_time_needs_a_time_stamp() -> None:
    made = json.loads(recorded("log-v2"))
    del made["verificationMaterial"]["timestampVerificationData"]
    found = checked(json.dumps(made).encode(), STAGING)
    assert found.state is SignatureState.INVALID
    assert "signed timestamp" in found.reason


def test_a_time_stamp_over_another_signature_gives_no_time() -> None:
    made = json.loads(recorded("log-v2"))
    other = json.loads(recorded("log-v2-other-envelope"))
    stamps = "timestampVerificationData"
    made["verificationMaterial"][stamps] = other["verificationMaterial"][stamps]
    assert checked(json.dumps(made).encode(), STAGING).state is SignatureState.INVALID


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(data=st.data())
def test_no_changed_byte_makes_it_say_something_else(data: Any) -> None:
    whole = recorded("log-v1")
    honest = checked(whole)
    changed = bytearray(whole)
    changed[data.draw(st.integers(0, len(changed) - 1))] ^= 1 << data.draw(st.integers(0, 6))
    found = checked(bytes(changed))
    if found.state is SignatureState.VALID:
        assert found == honest
