"""cosign verifies what rra attach signs, and rra status counts what cosign signs."""

from __future__ import annotations

import base64
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from rra.api import attach, copy, inspect, status
from rra.bundle.layout import LayoutStore
from rra.bundle.reader import read_bundle
from rra.registry.statements import author_statement
from rra.signing import Algorithm, generate, predicate_type
from tests.services.registry import Registry
from tests.services.test_cosign import cosign, cosign_key, offline
from tests.support.needs import needs
from tests.support.signed import case

pytestmark = [needs("docker-registry"), needs("cosign")]

both_algorithms = pytest.mark.parametrize("algorithm", Algorithm)
REVIEW = predicate_type("review")


@pytest.fixture(autouse=True)
def password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COSIGN_PASSWORD", "a passphrase")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a trusted root that has nothing in it, so that none is fetched."""
    root = {"mediaType": "application/vnd.dev.sigstore.trustedroot+json;version=0.1"}
    (tmp_path / "root.json").write_text(json.dumps(root))
    return tmp_path


@pytest.fixture
def pushed(registry: Registry, layout: Path) -> str:
    """A bundle in the registry, by its digest."""
    done = copy(f"oci-layout:{layout}", f"{registry.host}/tiny:1.0.0")
    return f"{registry.host}/tiny@{done.digest}"


def review(layout: Path) -> dict[str, Any]:
    """A review about the bundle."""
    bundle = read_bundle(LayoutStore(layout))
    about = author_statement(bundle)
    return case("review", "smallest", **about)


def verified(folder: Path, key: str, kind: str, place: str) -> subprocess.CompletedProcess[str]:
    options = [*offline(folder, key), "--allow-http-registry", f"--type={kind}"]
    return cosign(folder, "verify-attestation", *options, place)


@both_algorithms
def test_cosign_verifies_what_we_attached(
    folder: Path, algorithm: Algorithm, pushed: str, layout: Path
) -> None:
    key = generate(algorithm)
    (folder / "ours.pub").write_text(key.public.to_pem())
    (folder / "other.pub").write_text(generate(algorithm).public.to_pem())
    (folder / "review.json").write_text(json.dumps(review(layout)))
    attach(pushed, [folder / "review.json"], key=key)
    attach(pushed, key=key)

    for kind in ("review", "bundle"):
        fine = verified(folder, "ours.pub", predicate_type(kind), pushed)
        assert fine.returncode == 0, fine.stderr
        said = json.loads(base64.b64decode(json.loads(fine.stdout)["payload"]))
        assert said["predicateType"] == predicate_type(kind)
        assert said["subject"][0]["digest"]["sha256"] == pushed[-64:]
    assert said["predicate"]["artifact"] == "tiny"
    wrong = verified(folder, "other.pub", REVIEW, pushed)
    assert wrong.returncode != 0
    assert "could not verify envelope" in wrong.stderr


@both_algorithms
@pytest.mark.parametrize("way", ["attest", "attest-blob"])
def test_what_cosign_signs_counts(
    folder: Path, algorithm: Algorithm, way: str, pushed: str, layout: Path
) -> None:
    """It is attached by cosign itself, or signed by it and attached by us."""
    private, public = cosign_key(folder, algorithm)
    (folder / "review.json").write_text(json.dumps(review(layout)))
    options = ["--new-bundle-format", "--tlog-upload=false", f"--key={private}", "--yes"]
    options += ["--predicate=review.json", f"--type={REVIEW}"]
    if way == "attest":
        done = cosign(folder, way, *options, "--allow-http-registry", pushed)
    else:
        manifest = layout / "blobs/sha256" / pushed[-64:]
        done = cosign(folder, way, *options, "--bundle=theirs.json", str(manifest))
    assert done.returncode == 0, done.stderr
    if way == "attest-blob":
        attach(pushed, signatures=[folder / "theirs.json"])

    def found(key: Path) -> tuple[bool, str]:
        standing = inspect(pushed, referrers=True, keys=[key]).standing
        assert standing is not None
        (one,) = standing.statements
        assert one.kind == "review"
        return one.counts, str(one.verification.state)

    (folder / "other.pub").write_text(generate(algorithm).public.to_pem())
    assert found(folder / public) == (True, "valid")
    assert found(folder / "other.pub") == (False, "key_unknown")
    policy = {
        "type": "rra-policy/v1",
        "trust": [{"name": "reviewer", "key": public, "predicates": ["review"]}],
        "require": [{"predicate": "review"}],
    }
    (folder / "policy.yaml").write_text(json.dumps(policy))
    shown = status(pushed, policy=folder / "policy.yaml")
    assert [one["met"] for one in shown.to_json()["requirements"]] == [True]
    assert shown.ok
