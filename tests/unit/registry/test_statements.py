"""What is attached to a bundle, and what each signature comes to."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rra._base.files import sha256_bytes
from rra.bundle.layout import LayoutStore
from rra.bundle.reader import read_bundle
from rra.bundle.store import Descriptor, read_blob, resolve
from rra.errors import UnavailableError
from rra.registry import statements
from rra.registry.attaching import NewStatement, attach_statement, signed, signed_by
from rra.registry.statements import (
    AttachedStatement,
    author_statement,
    document_type,
    read_statements,
)
from rra.signing import (
    NOBODY,
    PAYLOAD_TYPE,
    SignatureState,
    Statement,
    predicate_type,
    sign,
    trust_keys,
)
from rra.signing.dsse import Envelope, pae
from rra.signing.sigstore_bundle import SigstoreBundle, hint_of
from tests.support.bundles import locked_artifact, pack
from tests.support.signed import AUTHOR, LAB, OTHER, Desk, desk, policy

EMPTY = "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"


@pytest.fixture
def place(tmp_path: Path) -> Desk:
    return desk(tmp_path)


def only(found: tuple[AttachedStatement, ...]) -> AttachedStatement:
    (one,) = found
    return one


def manifest(place: Desk, descriptor: Descriptor) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(resolve(place.store, None, descriptor.digest)[0])
    return found


# ------------------------------------------------------------------------------- the form


@pytest.mark.clause("bundle/statement-form")
def test_an_unsigned_document_is_one_layer_of_its_own_type(place: Desk) -> None:
    document = place.document("review")
    said = manifest(place, place.attach("review", document))
    assert said["artifactType"] == "application/vnd.rra.review.v1+json"
    assert said["config"] == {
        "mediaType": "application/vnd.oci.empty.v1+json",
        "digest": EMPTY,
        "size": 2,
    }
    (layer,) = said["layers"]
    assert layer["mediaType"] == "application/vnd.rra.review.v1+json"
    about = place.bundle.descriptor
    assert said["subject"] == {
        "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "digest": about.digest,
        "size": about.size,
    }
    assert "annotations" not in said
    blob = Descriptor(layer["mediaType"], layer["digest"], layer["size"])
    assert json.loads(read_blob(place.store, blob, 10**6)) == document


@pytest.mark.clause("bundle/statement-form")
def test_a_signed_document_is_what_cosign_reads(place: Desk) -> None:
    said = manifest(place, place.attach("review", key=LAB))
    assert said["artifactType"] == "application/vnd.dev.sigstore.bundle.v0.3+json"
    assert said["annotations"] == {
        "dev.sigstore.bundle.content": "dsse-envelope",
        "dev.sigstore.bundle.predicateType": "https://w3id.org/rra/v1/review",
    }
    assert [layer["mediaType"] for layer in said["layers"]] == [said["artifactType"]]


def test_the_same_statement_twice_is_one(place: Desk) -> None:
    first, again = (place.attach("review", key=LAB) for _ in range(2))
    assert first == again
    assert len(place.store.referrers(place.bundle.descriptor.digest)) == 1


def test_the_bundle_stays_the_only_one_of_its_layout(place: Desk) -> None:
    before = place.bundle.descriptor.digest
    place.attach("review", key=LAB)
    assert read_bundle(LayoutStore(place.layout)).descriptor.digest == before


# ------------------------------------------------------------------------------ signatures


@pytest.mark.clause("bundle/signature-states-apart")
def test_four_states_are_told_apart(place: Desk) -> None:
    place.attach("review", key=LAB)
    place.attach("audit", key=OTHER)
    place.attach("notice")
    wrong = Statement.about(
        "sha256:" + "0" * 64, "x@1", predicate_type("reproduction"), place.document("reproduction")
    )
    attach_statement(place.store, place.bundle, signed("reproduction", sign(wrong, LAB)))
    found = {one.kind: one for one in place.read(trust_keys([LAB.public]))}
    states = {kind: one.verification.state for kind, one in found.items()}
    assert states == {
        "review": SignatureState.VALID,
        "audit": SignatureState.KEY_UNKNOWN,
        "notice": SignatureState.UNSIGNED,
        "reproduction": SignatureState.INVALID,
    }
    assert [kind for kind, one in found.items() if one.counts] == ["review"]
    assert found["audit"].claimed == OTHER.public.fingerprint
    assert found["audit"].usable
    assert not found["reproduction"].usable


@pytest.mark.clause("bundle/attached-signed")
def test_nobody_is_trusted_without_a_policy(place: Desk) -> None:
    place.attach("review", key=LAB)
    one = only(place.read())
    assert one.verification.state is SignatureState.KEY_UNKNOWN
    assert not one.counts


@pytest.mark.clause("bundle/attached-signed")
def test_a_signer_is_trusted_with_what_the_policy_says_only(place: Desk) -> None:
    place.attach("review", key=LAB)
    place.attach("reproduction", key=LAB)
    found = place.read(policy({"lab": ["reproduction"]}).trust)
    assert {one.kind: one.counts for one in found} == {"review": False, "reproduction": True}


def test_a_changed_document_does_not_keep_its_signature(place: Desk) -> None:
    payload = json.dumps(
        Statement.about(
            place.bundle.descriptor.digest,
            "x@1",
            predicate_type("review"),
            place.document("review"),
        ).to_json()
    ).encode()
    signature = LAB.sign(pae(PAYLOAD_TYPE, payload.replace(b"supported", b"refuted")))
    forged = SigstoreBundle(
        Envelope(PAYLOAD_TYPE, payload, signature), hint_of(LAB.public.fingerprint)
    )
    attach_statement(place.store, place.bundle, signed("review", forged.to_bytes()))
    one = only(place.read(trust_keys([LAB.public])))
    assert one.verification.state is SignatureState.INVALID
    assert not one.usable


@pytest.mark.clause("bundle/annotations-prove-nothing")
def test_the_annotation_does_not_decide_what_is_stated(place: Desk) -> None:
    made = signed_by(LAB, "notice", place.document("notice"), place.bundle)
    attach_statement(place.store, place.bundle, signed("review", made.data))
    one = only(place.read(trust_keys([LAB.public])))
    assert (one.kind, one.counts) == ("notice", True)


def test_an_author_states_artifact_version_and_core(place: Desk) -> None:
    place.sign()
    one = only(place.read(trust_keys([AUTHOR.public])))
    assert one.document == {
        "artifact": "tiny",
        "version": "1.0.0",
        "core": place.bundle.config.core,
    }
    assert one.counts


@pytest.mark.clause("bundle/author-statement")
@pytest.mark.parametrize("missing", ["artifact", "version", "core"])
def test_an_author_statement_says_all_three(place: Desk, missing: str) -> None:
    said = author_statement(place.bundle)
    del said[missing]
    place.attach("bundle", said, AUTHOR)
    one = only(place.read(trust_keys([AUTHOR.public])))
    assert (one.counts, one.problems[0].pointer) == (False, f"/{missing}")


# ------------------------------------------------------------------------ what does not fit


@pytest.mark.clause("bundle/attached-name-the-core")
def test_a_statement_on_another_core_does_not_belong(place: Desk) -> None:
    place.attach("review", place.document("review") | {"core": "sha256:" + "2" * 64}, LAB)
    one = only(place.read(trust_keys([LAB.public])))
    assert one.verification.trusted
    assert (one.belongs, one.usable, one.counts) == (False, False, False)
    assert one.why_not == "it is about another bundle"


def test_a_document_on_another_bundle_of_the_core_does_not_belong(place: Desk) -> None:
    place.attach("review", place.document("review", bundle="sha256:" + "2" * 64), LAB)
    assert not only(place.read(trust_keys([LAB.public]))).belongs


@pytest.mark.parametrize("state", ["moved", "copied"])
def test_a_statement_that_was_signed_for_another_bundle(
    place: Desk, tmp_path: Path, state: str
) -> None:
    """The whole of it is copied from an honest bundle to one with the same core."""
    pack(locked_artifact(tmp_path / "again", {"README.md": state}), tmp_path / "second", "1.0.0")
    second = Desk(tmp_path / "second")
    assert second.bundle.config.core == place.bundle.config.core
    made = signed_by(LAB, "review", place.document("review"), place.bundle)
    attach_statement(second.store, second.bundle, made)
    one = only(second.read(trust_keys([LAB.public])))
    assert one.verification.state is SignatureState.INVALID
    assert (one.belongs, one.counts) == (False, False)


def test_a_document_that_breaks_the_format_is_shown_with_its_faults(place: Desk) -> None:
    place.attach("reproduction", place.document("reproduction", level="L4"), LAB)
    one = only(place.read(trust_keys([LAB.public])))
    assert not one.counts
    assert one.problems[0].clause == "levels/l4-is-the-readers"


def test_a_level_that_is_not_shown_does_not_count(place: Desk) -> None:
    """Signed, valid by its schema, and it claims more than its runs give."""
    document = place.document("reproduction", "could-not-run", level="L3")
    place.attach("reproduction", document, LAB)
    one = only(place.read(trust_keys([LAB.public])))
    assert (one.verification.trusted, one.usable) == (True, False)
    assert one.problems[0].clause.startswith("levels/")


def test_other_artifacts_are_listed_and_left_alone(place: Desk) -> None:
    layer = b"SPDX-2.3"
    about = place.bundle.descriptor
    blob = Descriptor("text/spdx", sha256_bytes(layer), len(layer))
    place.store.put_blob(blob, [layer])
    document = {
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "artifactType": "text/spdx",
        "config": blob.to_json(),
        "layers": [blob.to_json()],
        "subject": {"mediaType": about.media_type, "digest": about.digest, "size": about.size},
    }
    place.store.put_referrer(json.dumps(document).encode(), about)
    one = only(place.read())
    assert (one.kind, one.usable) == (None, False)
    assert one.why_not == "not a statement of this format: text/spdx"


def test_a_signature_over_something_else_is_no_statement_of_this_format(place: Desk) -> None:
    about = place.bundle.descriptor.digest
    made = sign(Statement.about(about, "x", "https://slsa.dev/provenance/v1", {}), LAB)
    attach_statement(place.store, place.bundle, signed("review", made))
    one = only(place.read(trust_keys([LAB.public])))
    assert (one.kind, one.usable) == (None, False)


@pytest.mark.parametrize("data", [b"", b"{}", b"\xff\xfe", b'{"a": 1, "a": 2}', b"[" * 100_000])
@pytest.mark.parametrize("form", ["signed", "unsigned"])
def test_bytes_that_are_nothing_are_shown_as_such(place: Desk, data: bytes, form: str) -> None:
    made = signed("review", data)
    if form == "unsigned":
        made = NewStatement("review", document_type("review"), data)
    attach_statement(place.store, place.bundle, made)
    one = only(place.read(trust_keys([LAB.public])))
    assert (one.usable, one.counts, bool(one.why_not)) == (False, False, True)


def test_a_statement_whose_bytes_are_gone_is_shown_as_such(place: Desk) -> None:
    kept = place.attach("review", key=LAB)
    (layer,) = manifest(place, kept)["layers"]
    (place.layout / "blobs/sha256" / layer["digest"][7:]).unlink()
    one = only(place.read(trust_keys([LAB.public])))
    assert (one.usable, one.counts) == (False, False)
    assert layer["digest"] in one.why_not


def test_nobody_fills_a_readers_time(place: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(statements, "MAX_ALL_BYTES", 1000)
    for key in (LAB, OTHER):
        place.attach("review", key=key)
    with pytest.raises(UnavailableError, match="more than 1000 bytes"):
        place.read()


# ------------------------------------------------------------------------------------- once


def test_one_document_signed_twice_by_one_signer_is_one_statement(place: Desk) -> None:
    place.attach("review", key=LAB)
    document = place.document("review")
    made = signed_by(LAB, "review", document, place.bundle)
    spaced = signed("review", json.dumps(json.loads(made.data), indent=1).encode())
    assert spaced.data != made.data
    attach_statement(place.store, place.bundle, spaced)
    assert len(place.store.referrers(place.bundle.descriptor.digest)) == 2
    assert len(place.read(trust_keys([LAB.public]))) == 1


def test_only_some_kinds_are_read(place: Desk) -> None:
    place.attach("review", key=LAB)
    place.attach("notice", key=LAB)
    place.attach("notice")
    found = read_statements(place.store, place.bundle, NOBODY, kinds=("notice",))
    assert [one.kind for one in found] == ["notice", "notice"]
