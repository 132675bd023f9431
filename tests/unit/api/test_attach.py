"""Attaching documents: what is refused, what goes along, and what lies there afterwards."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rra import api
from rra.api._attach import NoticeRequest
from rra.errors import FormatError, RraError, UsageError
from rra.registry.attaching import signed_by
from rra.signing import Statement, sign, trust_keys
from tests.support.signed import LAB, Desk, desk


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    monkeypatch.setenv("RRA_STATE", str(tmp_path / "state"))
    return desk(tmp_path)


def write(path: Path, document: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document), "utf-8")
    return path


def kinds(place: Desk) -> list[str]:
    return sorted(one.kind or "" for one in place.read())


# ----------------------------------------------------------------------------- documents


def test_a_document_is_known_by_its_type_not_by_its_name(place: Desk, tmp_path: Path) -> None:
    file = write(tmp_path / "what-bob-said.txt", place.document("review"))
    report = api.attach(place.reference, [file])
    (one,) = report.attached
    assert (one.kind, one.signed, one.signer) == ("review", False, None)
    assert report.digest == place.bundle.descriptor.digest
    assert kinds(place) == ["review"]


def test_each_document_is_signed(place: Desk, tmp_path: Path) -> None:
    files = [
        write(tmp_path / f"{kind}.json", place.document(kind))
        for kind in ("review", "audit", "reproduction", "notice")
    ]
    report = api.attach(place.reference, files, key=LAB)
    assert {one.signer for one in report.attached} == {LAB.public.fingerprint}
    found = place.read(trust_keys([LAB.public]))
    assert sorted(one.kind or "" for one in found if one.counts) == [
        "audit",
        "notice",
        "reproduction",
        "review",
    ]


def test_without_a_document_the_bundle_is_signed(place: Desk) -> None:
    (one,) = api.attach(place.reference, key=LAB).attached
    assert (one.kind, one.signed) == ("bundle", True)


def test_nothing_to_attach(place: Desk) -> None:
    with pytest.raises(UsageError, match="nothing to attach"):
        api.attach(place.reference)


def test_an_archive_takes_statements_too(place: Desk, tmp_path: Path) -> None:
    archive = f"oci-archive:{tmp_path / 'b.tar'}"
    api.copy(place.reference, archive)
    file = write(tmp_path / "r.json", place.document("review"))
    api.attach(archive, [file], key=LAB)
    assert [one.kind for one in api.status(archive).standing.statements] == ["review"]
    assert api.status(archive).digest == place.bundle.descriptor.digest


CORE = "sha256:" + "2" * 64
REFUSED: dict[str, tuple[dict[str, Any], type[RraError], str]] = {
    "another core": ({"core": CORE}, UsageError, f"is about core {CORE}"),
    "another bundle": ({"bundle": CORE}, UsageError, f"is about bundle {CORE}"),
    "a fault of the schema": ({"claims": 7}, FormatError, "claims"),
    "a fault of a rule": ({"ended": "2026-11-29T17:00:00Z"}, FormatError, "before it started"),
    "no type": ({"type": None}, UsageError, "its type is None"),
    "a plan": ({"type": "verification-plan/v1"}, UsageError, "travels inside its reproduction"),
    "another major": ({"type": "review/v2"}, UsageError, "its type is 'review/v2'"),
}


@pytest.mark.clause("bundle/statement-checked")
@pytest.mark.parametrize("what", REFUSED)
def test_what_is_refused_and_nothing_is_attached(place: Desk, tmp_path: Path, what: str) -> None:
    changes, error, words = REFUSED[what]
    fine = write(tmp_path / "fine.json", place.document("audit"))
    wrong = write(tmp_path / "wrong.json", place.document("review") | changes)
    with pytest.raises(error) as caught:
        api.attach(place.reference, [fine, wrong], key=LAB)
    assert words in caught.value.message
    assert caught.value.hint
    assert place.read() == ()


@pytest.mark.parametrize("text", ["", "[]", "7", "type: review/v1\n", '{"type": "review/v1"'])
def test_what_is_no_document(place: Desk, tmp_path: Path, text: str) -> None:
    file = tmp_path / "x.json"
    file.write_text(text)
    with pytest.raises((UsageError, FormatError)) as caught:
        api.attach(place.reference, [file])
    assert str(file) in caught.value.message


def test_a_file_that_is_not_there(place: Desk, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        api.attach(place.reference, [tmp_path / "absent.json"])


def test_a_directory_is_no_bundle(place: Desk) -> None:
    with pytest.raises(UsageError, match="is a directory, not a bundle"):
        api.attach(str(place.layout.parent / "artifact"), key=LAB)


def test_a_file_of_the_web_is_only_read() -> None:
    with pytest.raises(UsageError, match="which is only read"):
        api.attach(f"https://archive.example/x.oci.tar#{CORE}", key=LAB)


# ---------------------------------------------------------------------------- signatures


def test_a_signature_of_another_tool_goes_as_it_is(place: Desk, tmp_path: Path) -> None:
    made = signed_by(LAB, "review", place.document("review"), place.bundle)
    file = tmp_path / "r.sigstore.json"
    file.write_bytes(json.dumps(json.loads(made.data), indent=3).encode())
    (one,) = api.attach(place.reference, signatures=[file]).attached
    assert (one.kind, one.signer) == ("review", LAB.public.fingerprint)
    (found,) = place.read(trust_keys([LAB.public]))
    assert found.counts


@pytest.mark.parametrize("about", ["another bundle", "another kind", "another core"])
def test_a_signature_that_does_not_fit_is_refused(place: Desk, tmp_path: Path, about: str) -> None:
    digest = CORE if about == "another bundle" else place.bundle.descriptor.digest
    kind = "https://slsa.dev/provenance/v1" if about == "another kind" else None
    document = place.document("review", **({"core": CORE} if about == "another core" else {}))
    statement = Statement.about(digest, "x", kind or "https://w3id.org/rra/v1/review", document)
    file = tmp_path / "r.sigstore.json"
    file.write_bytes(sign(statement, LAB))
    with pytest.raises(UsageError):
        api.attach(place.reference, signatures=[file])
    assert place.read() == ()


# ------------------------------------------------------------------------------- notices


def test_a_notice_is_written_for_the_bundle(place: Desk) -> None:
    api.attach(place.reference, notice=NoticeRequest("embargo", "under review", until="2127-03-01"))
    (one,) = place.read()
    assert one.usable
    said = dict(one.document or {})
    assert (said["kind"], said["reason"], said["until"]) == (
        "embargo",
        "under review",
        "2127-03-01",
    )
    assert said["bundle"] == place.bundle.descriptor.digest


@pytest.mark.parametrize(
    ("request_", "clause"),
    [
        (NoticeRequest("withdrawn", "", None), "notice/reason-is-said"),
        (NoticeRequest("embargo", "x", until="1999-01-01"), "notice/ends-after-issue"),
        (
            NoticeRequest("superseded", "x", superseded_by="https://a:b@h/x"),
            "notice/reference-is-safe",
        ),
    ],
)
def test_a_notice_that_breaks_its_page_is_not_attached(
    place: Desk, request_: NoticeRequest, clause: str
) -> None:
    with pytest.raises(FormatError) as caught:
        api.attach(place.reference, notice=request_)
    assert [problem.clause for problem in caught.value.problems] == [clause]
    assert place.read() == ()


@pytest.mark.parametrize(
    ("request_", "says"),
    [
        (NoticeRequest("superseded", "newer"), "--superseded-by names"),
        (NoticeRequest("withdrawn", "x", superseded_by="h.org/x:2"), "--superseded-by names"),
        (NoticeRequest("superseded", "x", superseded_by="oci-layout:x"), "could get"),
        (NoticeRequest("withdrawn", "x", until="2127-01-01"), "only an embargo has a day"),
        (NoticeRequest("embargo", "x", until="2127-02-30"), "2127-02-30 is not a day"),
    ],
)
def test_options_of_a_notice_that_do_not_go_together(
    place: Desk, request_: NoticeRequest, says: str
) -> None:
    with pytest.raises(UsageError, match=says):
        api.attach(place.reference, notice=request_)
    assert place.read() == ()


# ------------------------------------------------------------------------------ attempts


def kept(place: Desk, tmp_path: Path, number: int, of: int, name: str = "smallest") -> Path:
    """Write a verification as the state folder keeps it."""
    document = place.attempt(number, of, name)
    document["plan"]["nonce"] = f"{number:032x}"
    if number < of and name == "smallest":
        document["plan"]["runs"][0]["seeds"] = [None]
    core = place.bundle.config.core.removeprefix("sha256:")[:16]
    folder = tmp_path / "state" / "verifications" / core / f"{number:016x}"
    return write(folder / "reproduction.json", document)


def test_failed_attempts_go_with_the_successful_one(place: Desk, tmp_path: Path) -> None:
    kept(place, tmp_path, 1, 1, "could-not-run")
    last = kept(place, tmp_path, 2, 2)
    report = api.attach(place.reference, [last], key=LAB)
    assert [(one.attempt, one.signer) for one in report.attached] == [
        ((1, 1), LAB.public.fingerprint),
        ((2, 2), LAB.public.fingerprint),
    ]
    assert report.problems == ()
    assert len(place.read()) == 2


def test_an_attempt_that_left_nothing_is_said(place: Desk, tmp_path: Path) -> None:
    last = kept(place, tmp_path, 3, 3)
    kept(place, tmp_path, 1, 1)
    report = api.attach(place.reference, [last])
    (problem,) = report.problems
    assert problem.message == "attempt 2 of 3 left no result here and is not attached"
    assert problem.clause == "reproduction/attempts-published"
    assert [one.attempt for one in report.attached] == [(1, 1), (3, 3)]


def test_a_failed_attempt_can_be_published_alone(place: Desk, tmp_path: Path) -> None:
    kept(place, tmp_path, 2, 2)
    first = kept(place, tmp_path, 1, 1, "could-not-run")
    report = api.attach(place.reference, [first])
    assert [one.attempt for one in report.attached] == [(1, 1)]


# --------------------------------------------------------------------------- two readers


@pytest.mark.clause("bundle/policy-fails-closed")
def test_a_policy_that_cannot_be_used_answers_nothing(place: Desk, tmp_path: Path) -> None:
    place.sign()
    with pytest.raises(UsageError):
        api.status(place.reference, policy=tmp_path / "absent.yaml")
    broken = tmp_path / "policy.yaml"
    broken.write_text("type: rra-policy/v1\nrequires: []\n")
    with pytest.raises(FormatError):
        api.status(place.reference, policy=broken)
    with pytest.raises(FormatError):
        api.inspect(place.reference, referrers=True, policy=broken)


def test_a_policy_and_keys_are_one_or_the_other(place: Desk, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="both given"):
        api.status(place.reference, policy=tmp_path / "p", keys=[tmp_path / "k"])
    with pytest.raises(UsageError, match="not asked for"):
        api.inspect(place.reference, keys=[tmp_path / "k"])


def test_the_answer_is_no_where_a_requirement_is_not_met(place: Desk, tmp_path: Path) -> None:
    (tmp_path / "lab.pub").write_text(LAB.public.to_pem())
    policy = tmp_path / "policy.yaml"
    policy.write_text(
        "type: rra-policy/v1\n"
        "trust:\n- {name: lab, key: lab.pub, predicates: [reproduction]}\n"
        "require:\n- {predicate: reproduction}\n"
    )
    place.attach("reproduction")
    for ask in (
        lambda: api.status(place.reference, policy=policy),
        lambda: api.inspect(place.reference, referrers=True, policy=policy),
    ):
        assert ask().exit_code == 1
    place.attach("reproduction", key=LAB)
    assert api.status(place.reference, policy=policy).exit_code == 0
    assert api.inspect(place.reference, referrers=True, policy=policy).exit_code == 0
