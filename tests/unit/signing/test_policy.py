"""A policy that is not understood in any part trusts nobody."""

from __future__ import annotations

from pathlib import Path

import pytest

from rra.errors import FormatError, UsageError
from rra.signing import (
    NOBODY,
    Identity,
    Policy,
    SignatureState,
    Verification,
    load_policy,
    sign,
    verify,
)
from tests.support.signing import (
    DIGEST,
    REVIEW,
    ecdsa_key,
    ed25519_key,
    review_statement,
)

AUDIT = "https://w3id.org/rra/v1/audit"
ISSUER = "https://issuer.example"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with three keys and something that can stand for a trusted root."""
    for name, key in (("ada", ed25519_key(1)), ("bob", ecdsa_key(2)), ("eve", ed25519_key(3))):
        (tmp_path / f"{name}.pub").write_text(key.public.to_pem())
    kind = "application/vnd.dev.sigstore.trustedroot+json;version=0.1"
    (tmp_path / "root.json").write_text(f'{{"mediaType": "{kind}"}}')
    (tmp_path / "other.json").write_text('{"mediaType": "application/json"}')
    return tmp_path


def policy(folder: Path, text: str) -> Policy:
    """Read a policy whose type is given already."""
    path = folder / "policy.yaml"
    path.write_text(f"type: rra-policy/v1\n{text}")
    return load_policy(path)


ADA_AND_BOB = """\
trust:
- {name: Ada, key: ada.pub, predicates: [review, audit]}
- {name: Bob, key: bob.pub, predicates: [review]}
"""


def test_a_policy_trusts_whom_it_names_with_what_it_names(folder: Path) -> None:
    found = policy(folder, ADA_AND_BOB)
    ada, bob, eve = (
        Identity("anybody", fingerprint=key.public.fingerprint)
        for key in (ed25519_key(1), ecdsa_key(2), ed25519_key(3))
    )
    assert found.trusts(ada, REVIEW)
    assert found.trusts(ada, AUDIT)
    assert found.trusts(bob, REVIEW)
    assert not found.trusts(bob, AUDIT)
    assert not found.trusts(eve, REVIEW)
    assert not found.trusts(Identity("Ada"), REVIEW)  # a name proves nothing


def test_an_empty_policy_trusts_nobody(folder: Path) -> None:
    found = policy(folder, "")
    assert found == Policy()
    assert found.trust == NOBODY
    data = sign(review_statement(), ed25519_key(1))
    state = verify(data, subject=DIGEST, trust=found.trust).state
    assert state is SignatureState.KEY_UNKNOWN


def test_identities_match_to_the_letter(folder: Path) -> None:
    carol = f"name: Carol, identity: c@example.org, issuer: '{ISSUER}', predicates: ['x:y']"
    found = policy(folder, f"trust: [{{{carol}}}]\ntrusted_root: root.json")
    assert found.trust.trusted_root == folder / "root.json"

    def trusted(subject: str | None, issuer: str | None, fingerprint: str | None = None) -> bool:
        return found.trusts(Identity("", fingerprint, subject, issuer), "x:y")

    assert trusted("c@example.org", ISSUER)
    assert not trusted("c@example.org", ISSUER + "/")
    assert not trusted("C@example.org", ISSUER)
    assert not trusted("c@example.org", None)
    assert not trusted(None, None)
    assert not trusted("c@example.org", ISSUER, "sha256:" + "00" * 32)


ADA = "{name: A, key: ada.pub, predicates: [review]}"
FAULTS = {
    "no type": ("trust: []", "type: rra-policy/v1"),
    "another type": ("type: rra-policy/v2", "type: rra-policy/v1"),
    "a list": ("[]", "type: rra-policy/v1"),
    "unknown member": ("trusted: []", "'trusted' is none of"),
    "key given twice": ("trust: []\ntrust: []", "twice"),
    "trust is no list": ("trust: {}", "trust is a list"),
    "entry is a name": ("trust: [Ada]", "an entry of trust"),
    "unknown member of an entry": (
        "trust: [{name: A, key: ada.pub, predicates: [review], expires: never}]",
        "'expires' is none of",
    ),
    "no name": ("trust: [{key: ada.pub, predicates: [review]}]", "name is missing"),
    "no predicates": ("trust: [{name: A, key: ada.pub}]", "predicates is a list"),
    "empty predicates": (
        "trust: [{name: A, key: ada.pub, predicates: []}]",
        "predicates is a list",
    ),
    "unknown predicate": (
        "trust: [{name: A, key: ada.pub, predicates: [reviews]}]",
        "'reviews' is neither",
    ),
    "key and identity": (
        "trust: [{name: A, key: ada.pub, identity: a, issuer: b, predicates: [review]}]",
        "either a key, or an identity",
    ),
    "neither": ("trust: [{name: A, predicates: [review]}]", "identity is missing"),
    "identity without issuer": (
        "trust: [{name: A, identity: a@b, predicates: [review]}]\ntrusted_root: root.json",
        "issuer is missing",
    ),
    "identity without trusted root": (
        "trust: [{name: A, identity: a@b, issuer: 'x:y', predicates: [review]}]",
        "trusted_root, and none",
    ),
    "trusted root is absent": ("trusted_root: absent.json", "cannot be read"),
    "trusted root is a folder": ("trusted_root: .", "cannot be read"),
    "trusted root is no JSON": ("trusted_root: ada.pub", "cannot be read"),
    "trusted root is something else": ("trusted_root: other.json", "does not say mediaType"),
    "no such key": ("trust: [{name: A, key: no.pub, predicates: [review]}]", "cannot be read"),
    "bad key": ("trust: [{name: A, key: root.json, predicates: [review]}]", "not one public key"),
    "name given twice": (
        f"trust: [{ADA}, {{name: A, key: bob.pub, predicates: [review]}}]",
        "the same name",
    ),
    "key given under two names": (
        f"trust: [{ADA}, {{name: B, key: ada.pub, predicates: [review]}}]",
        "the same signer",
    ),
    "require is no list": ("require: 2", "require is a list"),
    "unknown member of a requirement": (
        ADA_AND_BOB + "require: [{predicate: review, atleast: 2}]",
        "'atleast' is none of",
    ),
    "no predicate": (ADA_AND_BOB + "require: [{count: 1}]", "None is neither"),
    "count of 0": (ADA_AND_BOB + "require: [{predicate: review, count: 0}]", "at least 1"),
    "count of true": (ADA_AND_BOB + "require: [{predicate: review, count: true}]", "at least 1"),
    "count as text": (ADA_AND_BOB + "require: [{predicate: review, count: '1'}]", "at least 1"),
    "more than can be": (ADA_AND_BOB + "require: [{predicate: audit, count: 2}]", "never be met"),
    "nobody is trusted with it": ("require: [{predicate: review}]", "never be met"),
    "from somebody unknown": (
        ADA_AND_BOB + "require: [{predicate: review, from: [Ada, Eve]}]",
        "'Eve' is nobody",
    ),
    "from somebody not trusted with it": (
        ADA_AND_BOB + "require: [{predicate: audit, from: [Ada, Bob]}]",
        "'Bob' is nobody",
    ),
    "from an empty list": (ADA_AND_BOB + "require: [{predicate: review, from: []}]", "from is a"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_stops_the_policy(name: str, folder: Path) -> None:
    text, message = FAULTS[name]
    head = "" if name in {"no type", "another type", "a list"} else "type: rra-policy/v1\n"
    path = folder / "policy.yaml"
    path.write_text(head + text)
    with pytest.raises(FormatError) as caught:
        load_policy(path)
    assert message in " ".join(map(str, caught.value.problems))
    assert all(problem.line for problem in caught.value.problems)


def test_all_faults_are_listed_with_their_places(folder: Path) -> None:
    with pytest.raises(FormatError, match="2 faults") as caught:
        policy(folder, "trust:\n- {name: A, key: no.pub, predicates: [review]}\n- 7\n")
    assert [(problem.line, problem.pointer) for problem in caught.value.problems] == [
        (3, "/trust/0/key"),
        (4, "/trust/1"),
    ]


def test_no_fault_is_listed_that_follows_from_another(folder: Path) -> None:
    text = (
        "trust:\n- {name: A, key: ada.pub, predicate: [review]}\nrequire: [{predicate: review}]\n"
    )
    with pytest.raises(FormatError) as caught:
        policy(folder, text)
    assert [problem.pointer for problem in caught.value.problems] == [
        "/trust/0/predicate",
        "/trust/0",
    ]


def test_a_policy_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        load_policy(tmp_path / "absent.yaml")
    large = tmp_path / "large.yaml"
    large.write_bytes(b"#" * (1024 * 1024 + 1))
    with pytest.raises(FormatError, match="larger than"):
        load_policy(large)


def trusted_review(name: str, *, trusted: bool = True) -> Verification:
    """A review that is valid, by somebody."""
    return Verification(SignatureState.VALID, Identity(name), trusted, review_statement())


@pytest.mark.parametrize(
    ("found", "signers"),
    [(["Ada", "Bob"], ("Ada", "Bob")), (["Ada", "Ada", "Ada"], ("Ada",)), ([], ())],
    ids=["two signers", "one signer three times", "none"],
)
def test_each_signer_counts_once(folder: Path, found: list[str], signers: tuple[str, ...]) -> None:
    rules = policy(folder, ADA_AND_BOB + "require: [{predicate: review, count: 2}]")
    (result,) = rules.requirements([trusted_review(name) for name in found])
    met = len(signers) == 2
    assert result.met is met
    assert result.signers == signers
    assert result.to_json() == {
        "predicate_type": REVIEW,
        "count": 2,
        "from": None,
        "signers": list(signers),
        "met": met,
    }


def test_only_trusted_statements_of_the_kind_count(folder: Path) -> None:
    text = "require: [{predicate: audit}, {predicate: review, from: [Bob]}]"
    rules = policy(folder, ADA_AND_BOB + text)
    results = rules.requirements([trusted_review("Bob", trusted=False), trusted_review("Ada")])
    assert [(result.met, result.signers) for result in results] == [(False, ()), (False, ())]
