"""Three people and one bundle: an author signs, a stranger reproduces, a reader decides."""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.command import Answer, rra
from tests.acceptance.example import Example
from tests.services.registry import Registry, running
from tests.support.bundles import locked_artifact
from tests.support.debian13 import command
from tests.support.needs import needs

POLICY = """\
type: rra-policy/v1
trust:
- {{name: the authors, key: {author}, predicates: [bundle, notice]}}
- {{name: lab B, key: {lab}, predicates: [reproduction, review]}}
require:
- {{predicate: bundle, from: [the authors]}}
- {{predicate: reproduction, count: {count}}}
"""


@dataclasses.dataclass(frozen=True)
class Person:
    """Somebody with a folder, a state and a key of their own."""

    folder: Path

    def __call__(self, *argv: str | Path, passphrase: str | None = None) -> Answer:
        own = {"RRA_STATE": str(self.folder / "state"), "RRA_CACHE": str(self.folder / "cache")}
        text = "" if passphrase is None else f"{passphrase}\n"
        return rra(*argv, cwd=self.folder, env=own, text=text)


@pytest.fixture
def people(tmp_path: Path) -> dict[str, Person]:
    found = {}
    for name in ("author", "lab", "reader"):
        found[name] = Person(tmp_path / name)
        found[name].folder.mkdir()
    found["author"]("key", "generate", "author", "--unencrypted").expect(0)
    found["lab"](
        "key", "generate", "lab", "--passphrase-stdin", passphrase="correct horse"
    ).expect(0)  # fmt: skip
    return found


@pytest.fixture
def registry(tmp_path: Path) -> Iterator[Registry]:
    with running(tmp_path / "registry") as server:
        yield server


def write_policy(people: dict[str, Person], count: int = 1) -> Path:
    file = people["reader"].folder / "policy.yaml"
    author, lab = (people[name].folder / f"{name}.pub" for name in ("author", "lab"))
    file.write_text(POLICY.format(author=author, lab=lab, count=count))
    return file


def signed_bundle(author: Person, artifact: Path, place: str) -> str:
    """Push and sign as an author does; return the digest."""
    author("push", artifact, place).expect(0)
    answer = author("attach", place, "--sign", "--key", "author.key", "--json").expect(0)
    (one,) = answer.result["attached"]
    assert (one["kind"], one["signed"]) == ("bundle", True)
    digest: str = answer.result["digest"]
    return digest


def reproduced(lab: Person, place: str, *options: str | Path, code: int = 0) -> Answer:
    """Pull, verify and attach as somebody else does."""
    lab("pull", place, "study").expect(0)
    lab("verify", "study", "--out", "run", *options).expect(code)
    sign = ("--sign", "--key", "lab.key", "--passphrase-stdin")
    file = "run/reproduction.json"
    return lab("attach", place, file, *sign, "--json", passphrase="correct horse").expect(0)


@needs("docker-registry")
def test_a_reproduction_by_somebody_else_becomes_l4(
    people: dict[str, Person], registry: Registry, tmp_path: Path
) -> None:
    author, lab, reader = people["author"], people["lab"], people["reader"]
    place = f"{registry.host}/lab/tiny:1.0.0"
    locked_artifact(tmp_path / "artifact")
    digest = signed_bundle(author, tmp_path / "artifact", place)
    policy = write_policy(people)

    before = reader("status", place, "--policy", policy, "--json").expect(1).result
    assert [one["met"] for one in before["requirements"]] == [True, False]

    attached = reproduced(lab, place).result
    assert attached["digest"] == digest
    assert [(one["kind"], one["attempt"]) for one in attached["attached"]] == [("reproduction", 1)]

    after = reader("status", place, "--policy", policy, "--json").expect(0).result
    assert after["levels"]["trusted"]["level"] == "L4"
    assert after["levels"]["trusted"]["signer"] == "lab B"
    assert after["independent_reproductions"] == 1
    (reproduction,) = after["reproductions"]
    (outcome,) = reproduction["outcomes"]
    assert (outcome["reported"], outcome["verdict"]) == ("98.9", "reproduced")
    assert outcome["values"][0].startswith("98.876404494382")
    assert reproduction["statement"]["state"] == "valid"

    # Who knows nobody sees the same statements, and no level that anybody vouches for.
    alone = reader("status", place, "--json").expect(0).result
    assert alone["levels"]["trusted"] is None
    assert alone["levels"]["unknown"]["level"] == "L3"

    # The whole of it moves, and nothing has to be believed of the way.
    copy = f"oci-layout:{tmp_path / 'copy'}"
    reader("copy", place, copy).expect(0)
    moved = reader("status", copy, "--policy", policy, "--json").expect(0).result
    for key in set(after) - {"reference"}:
        assert moved[key] == after[key], key

    # Nobody's tags were touched, and the bundle is the one that was pushed.
    assert reader("inspect", place, "--json").expect(0).result["digest"] == digest
    two = write_policy(people, count=1).read_text().replace("count: 1", "count: 2")
    policy.write_text(two)
    answer = reader("status", place, "--policy", policy)
    assert answer.code == 4, answer.said  # it can never be met by the one who is trusted
    assert "never be met" in answer.said


@needs("docker-registry")
def test_a_withdrawal_reaches_everybody_who_opens_it(
    people: dict[str, Person], registry: Registry, tmp_path: Path
) -> None:
    author, reader = people["author"], people["reader"]
    place = f"{registry.host}/lab/tiny:1.0.0"
    locked_artifact(tmp_path / "artifact")
    signed_bundle(author, tmp_path / "artifact", place)
    why = ("--notice", "withdrawn", "--reason", "the split was wrong")
    author("attach", place, *why, "--sign", "--key", "author.key").expect(0)
    for verb in (("pull", place, "here"), ("lint", place), ("inspect", place), ("next", place)):
        answer = reader(*verb)
        assert answer.code in {0, 1}, answer.said
        assert "is withdrawn: the split was wrong" in answer.err, answer.said
        assert "signed with a key that is not known here" in answer.err
    policy = write_policy(people)
    shown = reader("status", place, "--policy", policy).expect(1).out
    assert "notice  withdrawn: the split was wrong" in shown
    assert "the authors: valid when signed, trusted" in shown


@needs("docker-registry")
def test_a_registry_that_went_away_never_says_yes(
    people: dict[str, Person], registry: Registry, tmp_path: Path
) -> None:
    place = f"{registry.host}/lab/tiny:1.0.0"
    locked_artifact(tmp_path / "artifact")
    signed_bundle(people["author"], tmp_path / "artifact", place)
    registry.kill()
    people["reader"]("status", place, "--policy", write_policy(people)).expect(3)


@pytest.mark.slow
@needs("docker-registry")
def test_a_shipped_example_that_does_not_fully_hold(
    people: dict[str, Person], registry: Registry
) -> None:
    """The wine example reaches L2: that is published, shown with its scores, and no success."""
    example = Example("wine-discriminant")
    place = f"{registry.host}/lab/wine:1.0.0"
    signed_bundle(people["author"], example.artifact, place)
    shared = Path(os.environ["RRA_CACHE"], "environments")
    shared.mkdir(parents=True, exist_ok=True)
    (people["lab"].folder / "cache").mkdir()
    (people["lab"].folder / "cache" / "environments").symlink_to(shared)  # not built once more
    reproduced(people["lab"], place, "--references", example.references, code=1)
    policy = write_policy(people)
    result = people["reader"]("status", place, "--policy", policy, "--json").expect(1).result
    assert result["levels"]["trusted"]["level"] == "L2"
    assert result["independent_reproductions"] == 0
    (reproduction,) = result["reproductions"]
    assert reproduction["agreement"] == {
        "pass": 2,
        "fail": 1,
        "inconclusive": 0,
        "not_assessed": 0,
    }
    found = {one["outcome"]: one for one in reproduction["outcomes"]}
    assert found["table1/1nn"]["values"] == ["95.5056179775280900"]
    assert found["table1/lda"]["half_width"].startswith("0.3308988")
    assert [one["met"] for one in result["requirements"]] == [True, False]


@needs("docker-registry")
@needs("oras")
def test_the_oras_command_lists_what_is_attached(
    people: dict[str, Person], registry: Registry, tmp_path: Path
) -> None:
    author = people["author"]
    place = f"{registry.host}/lab/tiny:1.0.0"
    locked_artifact(tmp_path / "artifact")
    signed_bundle(author, tmp_path / "artifact", place)
    author("attach", place, "--notice", "withdrawn", "--reason", "x").expect(0)
    argv = [command("oras"), "discover", "--plain-http", "--format", "json", place]
    done = subprocess.run(argv, capture_output=True, text=True, check=True)
    document: dict[str, Any] = json.loads(done.stdout)
    listed = document.get("referrers") or document.get("manifests") or []
    assert {one["artifactType"] for one in listed} == {
        "application/vnd.dev.sigstore.bundle.v0.3+json",
        "application/vnd.rra.notice.v1+json",
    }


@needs("docker-registry")
@needs("cosign")
def test_cosign_verifies_what_is_attached(
    people: dict[str, Person], registry: Registry, tmp_path: Path
) -> None:
    author = people["author"]
    place = f"{registry.host}/lab/tiny:1.0.0"
    locked_artifact(tmp_path / "artifact")
    digest = signed_bundle(author, tmp_path / "artifact", place)
    root = tmp_path / "root.json"
    root.write_text('{"mediaType": "application/vnd.dev.sigstore.trustedroot+json;version=0.1"}')

    def verify(key: Path) -> subprocess.CompletedProcess[str]:
        argv = [
            *(command("cosign"), "verify-attestation", "--new-bundle-format", "--offline"),
            *("--insecure-ignore-tlog=true", f"--trusted-root={root}", f"--key={key}"),
            *("--allow-http-registry", "--type=https://w3id.org/rra/v1/bundle"),
            f"{registry.host}/lab/tiny@{digest}",
        ]
        return subprocess.run(argv, capture_output=True, text=True, check=False)

    fine = verify(author.folder / "author.pub")
    assert fine.returncode == 0, fine.stderr
    assert verify(people["lab"].folder / "lab.pub").returncode != 0


@needs("docker-registry")
def test_what_a_registry_without_the_api_keeps(
    people: dict[str, Person], registry: Registry, tmp_path: Path
) -> None:
    """Read with nothing of ours: the list of the subject names the statement."""
    place = f"{registry.host}/lab/tiny:1.0.0"
    locked_artifact(tmp_path / "artifact")
    digest = signed_bundle(people["author"], tmp_path / "artifact", place)
    tag = digest.replace(":", "-")
    request = urllib.request.Request(
        f"http://{registry.host}/v2/lab/tiny/manifests/{tag}",
        headers={"Accept": "application/vnd.oci.image.index.v1+json"},
    )
    with urllib.request.urlopen(request) as answer:
        (entry,) = json.load(answer)["manifests"]
    assert entry["artifactType"] == "application/vnd.dev.sigstore.bundle.v0.3+json"
