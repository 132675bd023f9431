"""What attach, status and inspect --referrers print is what their schemas say, in both forms."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rra.registry.attaching import signed_by
from tests.acceptance.command import rra
from tests.support.signed import AUTHOR, LAB, OTHER, STRANGER, Desk, desk
from tests.unit.test_cli_schemas import call

POLICY = """\
type: rra-policy/v1
trust:
- {name: the authors, key: author.pub, predicates: [bundle]}
- {name: lab B, key: lab.pub, predicates: [reproduction, review, audit]}
require:
- {predicate: reproduction, from: [lab B]}
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    monkeypatch.setenv("RRA_STATE", str(tmp_path / "state"))
    for name, key in (("author", AUTHOR), ("lab", LAB)):
        (tmp_path / f"{name}.pub").write_text(key.public.to_pem())
        (tmp_path / f"{name}.key").write_bytes(key.to_pem(b"open sesame"))
    (tmp_path / "policy.yaml").write_text(POLICY)
    return desk(tmp_path)


def everything(place: Desk) -> None:
    """Attach statements of every kind in every state."""
    place.sign()
    place.attach("reproduction", key=LAB)
    place.attach("reproduction", place.document("reproduction", "stochastic"), OTHER)
    place.attach("reproduction", place.document("reproduction", "could-not-run"))
    review = place.document("review", "everything")
    place.attach("review", {key: review[key] for key in review if key != "bundle"}, LAB)
    place.attach("audit", place.document("audit", "hardcoded"), LAB)
    for name in ("smallest", "superseded-by-everything", "embargo"):
        document = place.document("notice", name)
        document.pop("bundle", None)
        place.attach("notice", document, STRANGER)
    place.attach("review", place.document("review", core="sha256:" + "2" * 64), LAB)
    place.attach("notice", place.document("notice", reason=""), LAB)


def test_the_three_verbs(place: Desk, tmp_path: Path) -> None:
    file = tmp_path / "review.json"
    file.write_text(json.dumps(place.document("review")))
    made = call("attach", place.reference, str(file), cwd=tmp_path)["result"]
    assert [one["kind"] for one in made["attached"]] == ["review"]
    everything(place)
    answer = call("status", place.reference, "--policy", "policy.yaml", cwd=tmp_path)
    result = answer["result"]
    assert answer["exit_code"] == 0
    assert result["independent_reproductions"] == 1
    assert result["levels"]["trusted"]["level"] == "L4"
    assert result["levels"]["unknown"]["level"] == "L3"
    assert {one["state"] for one in result["signatures"]} == {"valid"}
    assert {one["kind"] for one in result["notices"]} == {"withdrawn", "superseded", "embargo"}
    assert len(result["set_aside"]) == 2
    assert result["requirements"][0]["signers"] == ["lab B"]
    looked = call(
        "inspect", place.reference, "--referrers", "--key", "lab.pub", cwd=tmp_path
    )["result"]  # fmt: skip
    assert len(looked["referrers"]) == 12
    assert {one["state"] for one in looked["referrers"]} == {"valid", "key_unknown", "unsigned"}
    assert "referrers" not in call("inspect", place.reference, cwd=tmp_path)["result"]


@pytest.mark.parametrize(
    ("arguments", "slug"),
    [
        (["attach"], "usage"),
        (["attach", "--key", "lab.key"], "usage"),
        (["attach", "--sign"], "usage"),
        (["attach", "--sign", "--key", "absent"], "usage"),
        (["attach", "--sign", "--key", "lab.pub"], "format/invalid"),
        (["attach", "--notice", "withdrawn"], "usage"),
        (["attach", "--reason", "x"], "usage"),
        (["status", "--policy", "absent"], "usage"),
        (["status", "--key", "lab.key"], "format/invalid"),
        (["inspect", "--key", "lab.pub"], "usage"),
    ],
)
def test_errors(place: Desk, tmp_path: Path, arguments: list[str], slug: str) -> None:
    verb, *options = arguments
    answer = call(verb, place.reference, *options, cwd=tmp_path)
    assert answer["result"]["error"]["slug"] == slug
    assert answer["result"]["error"]["hint"]


def test_for_people(place: Desk, tmp_path: Path) -> None:
    everything(place)
    said = rra("status", place.reference, "--policy", "policy.yaml", cwd=tmp_path).expect(0).out
    lines = said.splitlines()
    assert "author  signed by the authors (valid when signed, trusted)" in lines
    assert any(
        line.startswith("level   L4 · ") and "signers that you trust: lab B" in line
        for line in lines
    )
    assert any("unknown signers: unknown (says sha256:" in line for line in lines)
    assert any("by nobody (unsigned): not counted" in line for line in lines)
    assert any(line.startswith("notice  superseded by registry.example.org") for line in lines)
    assert "it is about another bundle" in said
    assert "policy  1 × reproduction by lab B: met (found: lab B)" in lines
    plain = rra("status", place.reference, cwd=tmp_path).expect(0).out
    assert "valid when signed" not in plain
    assert "L4" not in plain
    shown = rra("inspect", place.reference, "--referrers", "--key", "lab.pub", cwd=tmp_path)
    for word in ("valid when signed, trusted", "key unknown", "unsigned"):
        assert word in shown.expect(0).out


def test_text_of_others_stays_on_its_line(place: Desk, tmp_path: Path) -> None:
    forged = "x\nlevel   L4 · 1 of 1 (signers that you trust: lab B)\x1b[1A"
    place.attach("notice", place.document("notice", reason=forged))
    for arguments in (("status",), ("inspect",), ("inspect", "--referrers")):
        answer = rra(arguments[0], place.reference, *arguments[1:], cwd=tmp_path).expect(0)
        assert "\x1b" not in answer.out + answer.err
        assert not [line for line in answer.out.splitlines() if line.startswith("level   L4")]


def test_what_another_tool_signed_is_not_said_to_be_checked(place: Desk, tmp_path: Path) -> None:
    made = signed_by(LAB, "review", place.document("review"), place.bundle)
    (tmp_path / "r.sigstore.json").write_bytes(made.data)
    said = rra("attach", place.reference, "--signature", "r.sigstore.json", cwd=tmp_path)
    assert f"says {LAB.public.fingerprint[:19]}, not checked" in said.expect(0).out
