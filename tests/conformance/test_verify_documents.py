"""Plans, reproductions, audits and reviews: what is written keeps to the schemas and the pages."""

from __future__ import annotations

import getpass
import json
import re
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from rra._base.yaml import YamlDocument
from rra.artifact import Artifact
from rra.artifact.checking import check_bytes
from rra.artifact.pointers import check_pointers
from rra.audit import AuditResult, audit_artifact
from rra.audit import Options as AuditOptions
from rra.model import ReferencesDocument, Review
from rra.model.base import validate_document
from rra.sandbox import best_sandbox
from rra.schema.validate import load_schema
from rra.verify import Options, Reproduction, verify_artifact
from rra.verify.documents import VerificationPlan
from tests.support.artifacts import COMPUTES, DEVIATES, make_artifact, outcome, record_run

PLAIN = best_sandbox("none")
SEEDED = 'import os, random\nrandom.seed(int(os.environ["RRA_SEED"]))\n' + COMPUTES.replace(
    "/ 89", "/ 89 + random.uniform(-1, 1)"
)
COPIED = "print('{\"accuracy\": 98.9}')\n"
LAUNCHER = {"entry": "launchers/main.sh", "environment": "cpu", "outputs": ["metrics.json"]}


def launchers(**more: Any) -> dict[str, Any]:
    return {"main": {**LAUNCHER, **more}}


def table(*values: str, **more: Any) -> dict[str, Any]:
    found = {f"v{n}": outcome(value, **more) for n, value in enumerate(values)}
    return {"table": {"outcomes": found}}


KINDS: dict[str, tuple[str, dict[str, Any]]] = {
    "computed": (COMPUTES, {}),
    "copied": (COPIED, {}),
    "deviating": (DEVIATES, {}),
    "documented": (
        DEVIATES,
        {"experiments": table("98.9", deviation={"observed": "95.5", "explanation": "as it is"})},
    ),
    "failing": ("raise SystemExit(3)\n", {}),
    "valueless": ("print('{}')\n", {}),
    "seeded": (SEEDED, {"launchers": launchers(seeds={"values": [1]}, deterministic=False)}),
    "of-unknown-nature": (COMPUTES, {"launchers": launchers()}),
    "partly": (COMPUTES, {"experiments": table("98.9", "11.1")}),
    "category": (
        'print(\'{"accuracy": "Yes"}\')\n',
        {"experiments": table("yes", type="category")},
    ),
    "timed": (COMPUTES, {"experiments": table("98.9", comparable="never")}),
}


def made(root: Path, kind: str) -> Artifact:
    code, changes = KINDS[kind]
    return make_artifact(root, {"main.py": code}, **changes)


def verified(artifact: Artifact, place: Path, **options: Any) -> tuple[Reproduction, Path]:
    found = verify_artifact(artifact, place, Options(**{"sandbox": PLAIN, **options}))
    return found, place


def fine(data: bytes, name: str) -> Any:
    """Insist that a document is valid at every stage; return what it says."""
    document = json.loads(data)
    assert list(Draft202012Validator(load_schema(name)).iter_errors(document)) == []
    checked = check_bytes(data, name, source=f"{name}.json")
    assert [str(problem) for problem in checked.problems] == []
    return document


@pytest.mark.parametrize("kind", KINDS)
def test_what_verify_and_audit_write_is_valid_and_comes_back(kind: str, tmp_path: Path) -> None:
    artifact = made(tmp_path / "a", kind)
    result, place = verified(artifact, tmp_path / "v")
    plan = fine((place / "plan.json").read_bytes(), "plan")
    assert validate_document(VerificationPlan, plan).to_json() == plan
    reproduction = fine((place / "reproduction.json").read_bytes(), "reproduction")
    assert validate_document(Reproduction, reproduction) == result
    audit = audit_artifact(artifact, AuditOptions(sandbox=PLAIN))
    document = fine(json.dumps(audit.to_json()).encode(), "audit")
    assert validate_document(AuditResult, document).to_json() == document


def test_with_references_and_with_evidence(tmp_path: Path) -> None:
    artifact = made(tmp_path / "a", "computed")
    record_run(artifact)
    scores = [{"value": "98.87640449438202", "operator": f"lab {n}"} for n in range(5)]
    references = ReferencesDocument.model_validate({"table/accuracy": {"scores": scores}})
    result, place = verified(artifact, tmp_path / "v", references=references)
    assert result.outcomes[0].repeatability == "pass"
    fine((place / "reproduction.json").read_bytes(), "reproduction")
    for rerun in (False, True):
        audit = audit_artifact(artifact, AuditOptions(sandbox=PLAIN, rerun=rerun))
        assert audit.values[0].evidence_level == ("E4" if rerun else "E3")
        fine(json.dumps(audit.to_json()).encode(), "audit")


@pytest.mark.clause("reproduction/runs-everything")
def test_every_launcher_runs_also_one_that_nothing_is_read_from(tmp_path: Path) -> None:
    both = {**launchers(deterministic=True), "figures": {**LAUNCHER, "deterministic": True}}
    artifact = make_artifact(tmp_path / "a", {"main.py": COMPUTES}, launchers=both)
    result, _ = verified(artifact, tmp_path / "v")
    assert {run.launcher for run in result.runs} == {"main", "figures"}
    assert set(result.plan.launchers) == {"main", "figures"}


@pytest.mark.clause("reproduction/fresh-environment")
def test_the_environment_is_built_for_the_verification(tmp_path: Path) -> None:
    from rra.environment import materialise

    places: list[Path | None] = []

    def build(artifact: Artifact, env_id: str, *, target: Path | None = None) -> Any:
        places.append(target)
        assert target is not None
        assert not target.exists()
        return materialise(artifact, env_id, target=target)

    artifact = made(tmp_path / "a", "computed")
    verified(artifact, tmp_path / "v", build=build)
    assert [place.relative_to(tmp_path / "v").parts[0] for place in places if place] == ["place"]


@pytest.mark.clause("levels/why-not-more")
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in {"computed", "timed"}])
def test_a_reproduction_says_why_it_earned_no_more(kind: str, tmp_path: Path) -> None:
    result, _ = verified(made(tmp_path / "a", kind), tmp_path / "v")
    assert result.level == "L3" or result.level_reasons


@pytest.mark.clause("audit/artifact-is-read-only")
def test_an_audit_changes_nothing(tmp_path: Path) -> None:
    artifact = made(tmp_path / "a", "copied")
    record_run(artifact)
    before = snapshot(artifact.root)
    audit_artifact(artifact, AuditOptions(sandbox=PLAIN))
    assert snapshot(artifact.root) == before


def snapshot(root: Path) -> dict[str, tuple[bytes, float]]:
    files = (path for path in sorted(root.rglob("*")) if path.is_file())
    return {str(path): (path.read_bytes(), path.stat().st_mtime) for path in files}


def texts(value: Any) -> Iterator[str]:
    """Yield every text in a document, keys included."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from texts(inner)
    elif isinstance(value, str):
        yield value


@pytest.mark.clause("privacy/no-names", "privacy/relative-paths")
def test_documents_name_no_host_user_or_place(tmp_path: Path) -> None:
    artifact = made(tmp_path / "secretive-folder-name", "copied")
    result, place = verified(artifact, tmp_path / "v")
    audit = audit_artifact(artifact, AuditOptions(sandbox=PLAIN))
    record = json.loads(next(place.glob("evidence/main/*/record.json")).read_bytes())
    found = [*texts(result.to_json()), *texts(audit.to_json()), *texts(record)]
    assert not [text for text in found if str(tmp_path) in text]
    assert not [text for text in found if "secretive-folder-name" in text]
    words = {word for text in found for word in re.findall(r"[A-Za-z0-9._-]+", text)}
    assert socket.gethostname() not in words
    if getpass.getuser() != "root":
        assert getpass.getuser() not in words


# ---------------------------------------------------------------------------------- reviews

POINTER = {"file": "outputs/m.json", "pointer": "/a/0", "value": "98.90"}


def review(**pointer: Any) -> YamlDocument:
    claim = {"outcome": "t/a", "verdict": "supported", "reason": "r", "judged_by": "rule"}
    document = {"claims": [{**claim, "pointers": [pointer]}]}
    return YamlDocument(document, "", "review.json", {})


@pytest.mark.clause("review/pointers-resolve")
@pytest.mark.parametrize(
    ("pointer", "why"),
    [
        ({"file": "gone.json"}, "there is no file"),
        ({"file": "../m.json"}, "cannot be read"),
        ({"sha256": "sha256:" + "0" * 64}, "is another file"),
        ({"pointer": "/a/1"}, "has nothing at /a/1"),
        ({"value": "98.9"}, "has '98.90' at /a/0, not '98.9'"),
        ({"pointer": "/b"}, "has nothing at /b"),
        ({"file": "log.txt", "pointer": "/a"}, "is not JSON"),
        ({"file": "log.txt", "line": 9}, "has 2 lines"),
        ({"file": "log.txt", "line": 1}, "does not stand at that place"),
        ({"file": "log.txt", "value": "97"}, "does not stand at that place"),
    ],
)
def test_a_pointer_that_does_not_resolve(pointer: dict[str, Any], why: str, tmp_path: Path) -> None:
    (tmp_path / "outputs").mkdir()
    (tmp_path / "outputs" / "m.json").write_text('{"a": [98.90]}\n')
    (tmp_path / "log.txt").write_text("start\naccuracy 98.90\n")
    base = dict(POINTER)
    if pointer.get("file", "").endswith(".txt") and "pointer" not in pointer:
        del base["pointer"]
    (problem,) = check_pointers(review(**{**base, **pointer}), tmp_path)
    assert why in problem.message
    assert (problem.pointer, problem.clause) == ("/claims/0/pointers/0", "review/pointers-resolve")


@pytest.mark.parametrize(
    "pointer",
    [
        POINTER,
        {"file": "log.txt", "value": "98.90"},
        {"file": "log.txt", "line": 2, "value": "98.90"},
    ],
)
def test_a_pointer_that_resolves(pointer: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "outputs").mkdir()
    (tmp_path / "outputs" / "m.json").write_text('{"a": [98.90]}\n')
    (tmp_path / "log.txt").write_text("start\naccuracy 98.90\n")
    assert list(check_pointers(review(**pointer), tmp_path)) == []


@pytest.mark.clause("privacy/anonymous-review")
def test_a_review_needs_no_name() -> None:
    folder = Path(__file__).parents[2] / "schemas/conformance/v1/valid/review"
    for case in folder.iterdir():
        document = fine((case / "review.json").read_bytes(), "review")
        assert validate_document(Review, document).to_json().keys() >= document.keys()
    anonymous = json.loads((folder / "anonymous" / "review.json").read_bytes())
    assert anonymous["reviewer"] == {"anonymous": True}
