"""What a signature comes to, and each shape that is refused by name."""

from __future__ import annotations

import base64
import json
import sys
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rra.errors import FormatError
from rra.signing import (
    NOBODY,
    PAYLOAD_TYPE,
    Identity,
    PrivateKey,
    SignatureState,
    Signer,
    Trust,
    sign,
    trust_keys,
    verify,
)
from rra.signing.dsse import pae
from rra.signing.sigstore_bundle import MAX_BYTES
from tests.support.signing import (
    DIGEST,
    OTHER_DIGEST,
    REVIEW,
    b64,
    dumped,
    ecdsa_key,
    ed25519_key,
    members,
    review_statement,
)

KEYS = [ed25519_key(), ecdsa_key()]
both_algorithms = pytest.mark.parametrize("key", KEYS, ids=lambda key: str(key.algorithm))


@both_algorithms
def test_a_known_key_is_valid_and_trusted(key: PrivateKey) -> None:
    found = verify(sign(review_statement(), key), subject=DIGEST, trust=trust_keys([key.public]))
    assert found.state is SignatureState.VALID
    assert found.trusted
    assert found.identity == Identity(key.public.fingerprint, key.public.fingerprint)
    assert found.statement == review_statement()
    assert found.signed_at is None  # a signature says nothing about time


@both_algorithms
def test_the_same_statement_is_signed_with_the_same_bytes(key: PrivateKey) -> None:
    assert sign(review_statement(), key) == sign(review_statement(), key)


@both_algorithms
def test_the_bundle_has_the_shape_of_sigstore_v03(key: PrivateKey) -> None:
    made = members(sign(review_statement(verdict="accept"), key))
    assert made["mediaType"] == "application/vnd.dev.sigstore.bundle.v0.3+json"
    assert list(made["verificationMaterial"]) == ["publicKey", "tlogEntries"]
    assert made["verificationMaterial"]["tlogEntries"] == []
    hint = base64.b64decode(made["verificationMaterial"]["publicKey"]["hint"])
    assert "sha256:" + hint.hex() == key.public.fingerprint
    assert made["dsseEnvelope"]["payloadType"] == "application/vnd.in-toto+json"
    assert json.loads(base64.b64decode(made["dsseEnvelope"]["payload"])) == {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [{"name": "study@1.0.0", "digest": {"sha256": "ab" * 32}}],
        "predicateType": "https://w3id.org/rra/v1/review",
        "predicate": {"verdict": "accept"},
    }


@both_algorithms
def test_a_key_that_nobody_knows_is_told_apart_from_a_bad_signature(key: PrivateKey) -> None:
    data = sign(review_statement(), key)
    for trust in (NOBODY, trust_keys([ed25519_key(7).public, ecdsa_key(7).public])):
        found = verify(data, subject=DIGEST, trust=trust)
        assert found.state is SignatureState.KEY_UNKNOWN
        assert found.identity is None
        assert not found.trusted
        assert key.public.fingerprint in found.reason
        assert found.statement == review_statement()


@both_algorithms
@pytest.mark.parametrize("hint", ["", "whoever", None], ids=["empty", "other", "missing"])
def test_without_a_hint_every_known_key_is_tried(key: PrivateKey, hint: str | None) -> None:
    made = members(sign(review_statement(), key))
    made["verificationMaterial"]["publicKey"] = {} if hint is None else {"hint": hint}
    known = trust_keys([ecdsa_key(7).public, ed25519_key(7).public, key.public])
    assert verify(dumped(made), subject=DIGEST, trust=known).trusted
    unknown = trust_keys([ecdsa_key(7).public])
    found = verify(dumped(made), subject=DIGEST, trust=unknown)
    assert found.state is SignatureState.KEY_UNKNOWN


def test_a_fingerprint_in_hexadecimal_is_a_hint_too() -> None:
    made = members(sign(review_statement(), ed25519_key(2)))
    made["verificationMaterial"]["publicKey"]["hint"] = ed25519_key(1).public.fingerprint
    trust = trust_keys([ed25519_key(1).public, ed25519_key(2).public])
    assert verify(dumped(made), subject=DIGEST, trust=trust).state is SignatureState.INVALID


def test_a_signer_is_trusted_with_some_statements_only() -> None:
    key = ed25519_key()
    audit = frozenset({"https://w3id.org/rra/v1/audit"})
    trust = Trust((Signer("Ada", audit, key=key.public),))
    found = verify(sign(review_statement(), key), subject=DIGEST, trust=trust)
    assert found.state is SignatureState.VALID
    assert not found.trusted
    assert found.identity == Identity("Ada", key.public.fingerprint)
    assert "Ada, who is not trusted with https://w3id.org/rra/v1/review" in found.reason


@both_algorithms
def test_about_something_else_is_invalid_whoever_signed(key: PrivateKey) -> None:
    data = sign(review_statement(OTHER_DIGEST), key)
    for trust in (NOBODY, trust_keys([key.public])):
        found = verify(data, subject=DIGEST, trust=trust)
        assert found.state is SignatureState.INVALID
        assert "cdcdcd" in found.reason
        assert DIGEST in found.reason
        assert found.statement is None


def test_a_digest_has_to_be_equal_to_the_letter() -> None:
    key = ed25519_key()
    data = sign(review_statement(), key)
    for subject in ("sha256:" + "AB" * 32, "ab" * 32, "sha256:ab", "", "sha512:" + "ab" * 32):
        found = verify(data, subject=subject, trust=trust_keys([key.public]))
        assert found.state is SignatureState.INVALID


def test_a_weak_digest_names_nothing() -> None:
    key = ed25519_key()
    weak = statement_with(subject=[{"digest": {"md5": "ab" * 16, "sha1": "ab" * 20}}])
    data = signed_by_hand(key, weak)
    for subject in ("md5:" + "ab" * 16, "sha1:" + "ab" * 20, "sha256:" + "ab" * 32):
        found = verify(data, subject=subject, trust=trust_keys([key.public]))
        assert found.state is SignatureState.INVALID


def signed_by_hand(key: PrivateKey, payload: bytes, kind: str = PAYLOAD_TYPE) -> bytes:
    """A bundle around any payload, with a signature that fits."""
    made = members(sign(review_statement(), key))
    made["dsseEnvelope"] = {
        "payload": b64(payload),
        "payloadType": kind,
        "signatures": [{"sig": b64(key.sign(pae(kind, payload)))}],
    }
    return dumped(made)


def test_hint_of_a_known_key_with_the_signature_of_another_key() -> None:
    known, other = ed25519_key(1), ed25519_key(2)
    made = members(sign(review_statement(), other))
    made["verificationMaterial"] = members(sign(review_statement(), known))["verificationMaterial"]
    for keys in ([known], [known, other]):
        found = verify(dumped(made), subject=DIGEST, trust=trust_keys(k.public for k in keys))
        assert found.state is SignatureState.INVALID
        assert known.public.fingerprint in found.reason


@pytest.mark.parametrize(
    ("hinted", "signer"),
    [(ed25519_key(), ecdsa_key()), (ecdsa_key(), ed25519_key())],
    ids=["ed25519 hint, ecdsa signature", "ecdsa hint, ed25519 signature"],
)
def test_algorithm_confusion(hinted: PrivateKey, signer: PrivateKey) -> None:
    made = members(sign(review_statement(), signer))
    made["verificationMaterial"] = members(sign(review_statement(), hinted))["verificationMaterial"]
    trust = trust_keys([hinted.public, signer.public])
    assert verify(dumped(made), subject=DIGEST, trust=trust).state is SignatureState.INVALID


@both_algorithms
def test_wrong_payload_type_with_a_signature_that_fits(key: PrivateKey) -> None:
    payload = review_statement().to_bytes()
    for kind in ("application/json", PAYLOAD_TYPE.upper(), PAYLOAD_TYPE + ";v=1"):
        data = signed_by_hand(key, payload, kind)
        found = verify(data, subject=DIGEST, trust=trust_keys([key.public]))
        assert found.state is SignatureState.INVALID
        assert "payload" in found.reason


@both_algorithms
def test_payload_type_that_was_not_signed(key: PrivateKey) -> None:
    made = members(signed_by_hand(key, review_statement().to_bytes(), "application/json"))
    made["dsseEnvelope"]["payloadType"] = PAYLOAD_TYPE
    found = verify(dumped(made), subject=DIGEST, trust=trust_keys([key.public]))
    assert found.state is SignatureState.INVALID
    assert "does not fit" in found.reason


def statement_with(**changes: Any) -> bytes:
    """A statement with members changed; None takes one away."""
    changed = review_statement().to_json() | changes
    return dumped({name: value for name, value in changed.items() if value is not None})


PAYLOADS = {
    "not JSON": b"nothing",
    "a list": b"[]",
    "another type": statement_with(_type="https://in-toto.io/Statement/v2"),
    "no type": statement_with(_type=None),
    "no subject": statement_with(subject=[]),
    "subject is no list": statement_with(subject={"digest": {"sha256": "ab" * 32}}),
    "1001 subjects": statement_with(subject=[{"digest": {"sha256": "ab" * 32}}] * 1001),
    "subject without digest": statement_with(subject=[{"name": "x", "digest": {}}]),
    "digest in capitals": statement_with(subject=[{"digest": {"sha256": "AB" * 32}}]),
    "no predicate type": statement_with(predicateType=None),
    "predicate type is no URI": statement_with(predicateType="review"),
    "predicate is no object": statement_with(predicate="accept"),
    "duplicate keys": b'{"predicate":{},"predicate":{},' + review_statement().to_bytes()[1:],
    "NaN": review_statement().to_bytes().replace(b'"accept"', b"NaN"),
    "nested deeply": review_statement().to_bytes().replace(b'"accept"', b"[" * 5000 + b"]" * 5000),
    "byte order mark": b"\xef\xbb\xbf" + review_statement().to_bytes(),
    "UTF-16": review_statement().to_bytes().decode().encode("utf-16"),
}


@both_algorithms
@pytest.mark.parametrize("name", PAYLOADS)
def test_a_payload_that_is_no_statement_is_invalid_though_signed(
    name: str, key: PrivateKey
) -> None:
    data = signed_by_hand(key, PAYLOADS[name])
    found = verify(data, subject=DIGEST, trust=trust_keys([key.public]))
    assert found.state is SignatureState.INVALID
    assert found.reason
    assert not found.trusted


def without(*path: str) -> Callable[[dict[str, Any]], object]:
    """A change that takes a member away."""

    def change(made: dict[str, Any]) -> object:
        for name in path[:-1]:
            made = made[name]
        return made.pop(path[-1])

    return change


SHAPES: dict[str, Callable[[dict[str, Any]], object]] = {
    "two signatures": lambda made: made["dsseEnvelope"]["signatures"].append({"sig": "YQ=="}),
    "the same signature twice": lambda made: made["dsseEnvelope"]["signatures"].extend(
        made["dsseEnvelope"]["signatures"][:]
    ),
    "no signatures": lambda made: made["dsseEnvelope"]["signatures"].clear(),
    "signatures missing": without("dsseEnvelope", "signatures"),
    "empty signature": lambda made: made["dsseEnvelope"].update(signatures=[{"sig": ""}]),
    "no envelope": without("dsseEnvelope"),
    "no payload": without("dsseEnvelope", "payload"),
    "a message signature beside it": lambda made: made.update(messageSignature={}),
    "no material": without("verificationMaterial"),
    "neither key nor certificate": lambda made: made.update(verificationMaterial={}),
    "key and certificate": lambda made: made["verificationMaterial"].update(certificate={}),
    "chain of certificates": lambda made: made.update(
        verificationMaterial={"x509CertificateChain": {}}
    ),
    "hint is a number": lambda made: made["verificationMaterial"]["publicKey"].update(hint=7),
    "other media type": lambda made: made.update(mediaType="application/json"),
    "older version": lambda made: made.update(
        mediaType="application/vnd.dev.sigstore.bundle+json;version=0.2"
    ),
    "no media type": without("mediaType"),
    "padding missing": lambda made: made["dsseEnvelope"]["signatures"][0].update(
        sig=made["dsseEnvelope"]["signatures"][0]["sig"].rstrip("=")
    ),
    "white space in base64": lambda made: made["dsseEnvelope"].update(
        payload=made["dsseEnvelope"]["payload"] + "\n"
    ),
}


@pytest.mark.parametrize("name", SHAPES)
def test_a_shape_that_is_refused(name: str) -> None:
    key = ed25519_key()
    made = members(sign(review_statement(), key))
    SHAPES[name](made)
    found = verify(dumped(made), subject=DIGEST, trust=trust_keys([key.public]))
    assert found.state is SignatureState.INVALID
    assert found.reason
    assert found.identity is None


def test_duplicate_keys_in_the_bundle() -> None:
    key = ed25519_key()
    data = sign(review_statement(), key)
    doubled = b'{"mediaType":"application/vnd.dev.sigstore.bundle.v0.3+json",' + data[1:]
    found = verify(doubled, subject=DIGEST, trust=trust_keys([key.public]))
    assert found.state is SignatureState.INVALID
    assert "twice" in found.reason


def test_a_huge_bundle_is_not_even_parsed() -> None:
    data = b" " * (MAX_BYTES + 1)
    found = verify(data, subject=DIGEST, trust=NOBODY)
    assert found.state is SignatureState.INVALID
    assert "larger than" in found.reason


def test_what_would_be_too_large_to_read_is_not_signed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules["rra.signing.verify"], "MAX_BYTES", 2000)
    assert sign(review_statement(text="x" * 600), ed25519_key())
    with pytest.raises(FormatError, match="more than the 2000"):
        sign(review_statement(text="x" * 2000), ed25519_key())


@both_algorithms
@given(data=st.data())
def test_no_bit_of_payload_or_signature_can_be_changed(key: PrivateKey, data: Any) -> None:
    made = members(sign(review_statement(), key))
    envelope = made["dsseEnvelope"]
    payload = bytearray(base64.b64decode(envelope["payload"]))
    signature = bytearray(base64.b64decode(envelope["signatures"][0]["sig"]))
    target = data.draw(st.sampled_from([payload, signature]))
    target[data.draw(st.integers(0, len(target) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    envelope["payload"], envelope["signatures"] = b64(payload), [{"sig": b64(signature)}]
    found = verify(dumped(made), subject=DIGEST, trust=trust_keys([key.public]))
    assert found.state is SignatureState.INVALID


@given(st.binary(max_size=200))
def test_no_bytes_make_it_raise(data: bytes) -> None:
    assert verify(data, subject=DIGEST, trust=NOBODY).state is SignatureState.INVALID


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["payload", "sig", "hint", "publicKey", "signatures", "certificate"]),
            inner,
            max_size=3,
        )
    ),
    max_leaves=8,
)


@given(
    value=json_values, place=st.sampled_from(["verificationMaterial", "dsseEnvelope", "mediaType"])
)
@example(value={"publicKey": {}}, place="verificationMaterial")
def test_no_member_makes_it_raise(value: Any, place: str) -> None:
    key = ed25519_key()
    made = members(sign(review_statement(), key)) | {place: value}
    found = verify(dumped(made), subject=DIGEST, trust=trust_keys([key.public]))
    # A hint is not needed: the signature itself is still whole.
    whole = place == "verificationMaterial" and isinstance(value, dict) and "publicKey" in value
    assert (found.state is SignatureState.VALID) <= whole


def test_a_statement_with_several_subjects_is_about_each() -> None:
    key = ed25519_key()
    subjects = [{"digest": {"sha256": "cd" * 32}}, {"digest": {"sha256": "ab" * 32}}]
    data = signed_by_hand(key, statement_with(subject=subjects))
    for digest in (DIGEST, OTHER_DIGEST):
        assert verify(data, subject=digest, trust=trust_keys([key.public])).trusted


def test_the_result_is_plain_json() -> None:
    key = ed25519_key()
    found = verify(sign(review_statement(), key), subject=DIGEST, trust=trust_keys([key.public]))
    print_ = key.public.fingerprint
    assert found.to_json() == {
        "state": "valid",
        "identity": {"name": print_, "fingerprint": print_},
        "trusted": True,
        "predicate_type": REVIEW,
        "reason": f"valid when signed by {print_}",
        "signed_at": None,
    }
