"""cosign accepts what we sign and we accept what it signs, offline, and both refuse a wrong key."""

from __future__ import annotations

import base64
import json
import subprocess
from pathlib import Path

import pytest

from rra._base.files import sha256_bytes
from rra.api import copy
from rra.bundle.reference import RegistryReference, parse_reference
from rra.bundle.store import Descriptor, read_blob
from rra.registry import open_store
from rra.signing import (
    NOBODY,
    Algorithm,
    PrivateKey,
    SignatureState,
    Statement,
    generate,
    predicate_type,
    read_public_key,
    sign,
    trust_keys,
    verify,
)
from tests.services.registry import Registry
from tests.support.debian13 import command
from tests.support.needs import needs

pytestmark = needs("cosign")

REVIEW = predicate_type("review")
BUNDLE_TYPE = "application/vnd.dev.sigstore.bundle.v0.3+json"
PASSWORD = "a passphrase"  # of cosign's own keys
DOCUMENT = {"verdict": "accept", "share": 0.5}

both_algorithms = pytest.mark.parametrize("algorithm", Algorithm)


@pytest.fixture(autouse=True)
def password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COSIGN_PASSWORD", PASSWORD)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a manifest, and a trusted root with nothing in it, so that none is fetched."""
    manifest = {"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json"}
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    root = {"mediaType": "application/vnd.dev.sigstore.trustedroot+json;version=0.1"}
    (tmp_path / "root.json").write_text(json.dumps(root))
    return tmp_path


def cosign(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run cosign in a folder."""
    return subprocess.run(
        [command("cosign"), *arguments], cwd=folder, capture_output=True, text=True, check=False
    )


def offline(folder: Path, key: str) -> list[str]:
    """The options that leave nothing to a service."""
    root = f"--trusted-root={folder / 'root.json'}"
    return ["--new-bundle-format", f"--key={key}", root, "--offline", "--insecure-ignore-tlog=true"]


def cosign_verifies(folder: Path, bundle: str, key: str, blob: str = "manifest.json") -> str:
    """Let cosign verify a statement about a file; return what it said, empty when it is fine."""
    options = offline(folder, key)
    done = cosign(
        folder, "verify-blob-attestation", *options, f"--type={REVIEW}", f"--bundle={bundle}", blob
    )
    if done.returncode == 0:
        assert "Verified OK" in done.stderr
        return ""
    return done.stderr


def digest(path: Path) -> str:
    return sha256_bytes(path.read_bytes())


def signed_by_us(folder: Path, key: PrivateKey, about: str | None = None) -> bytes:
    about = about or digest(folder / "manifest.json")
    return sign(Statement.about(about, "study@1.0.0", REVIEW, DOCUMENT), key)


@both_algorithms
def test_cosign_accepts_what_we_sign(folder: Path, algorithm: Algorithm) -> None:
    key = generate(algorithm)
    (folder / "ours.pub").write_text(key.public.to_pem())
    (folder / "other.pub").write_text(generate(algorithm).public.to_pem())
    (folder / "ours.json").write_bytes(signed_by_us(folder, key))
    assert cosign_verifies(folder, "ours.json", "ours.pub") == ""
    assert "could not verify envelope" in cosign_verifies(folder, "ours.json", "other.pub")
    (folder / "other.txt").write_text("something else")
    said = cosign_verifies(folder, "ours.json", "ours.pub", blob="other.txt")
    assert "does not match any digest" in said


@both_algorithms
def test_cosign_refuses_what_was_changed_after_we_signed(
    folder: Path, algorithm: Algorithm
) -> None:
    key = generate(algorithm)
    (folder / "ours.pub").write_text(key.public.to_pem())
    made = json.loads(signed_by_us(folder, key))
    payload = base64.b64decode(made["dsseEnvelope"]["payload"]).replace(b"accept", b"reject")
    made["dsseEnvelope"]["payload"] = base64.b64encode(payload).decode()
    (folder / "changed.json").write_text(json.dumps(made))
    assert "could not verify envelope" in cosign_verifies(folder, "changed.json", "ours.pub")


def signed_by_cosign(folder: Path, key: str) -> bytes:
    (folder / "document.json").write_text(json.dumps(DOCUMENT))
    done = cosign(
        folder,
        "attest-blob",
        "--new-bundle-format",
        "--bundle=theirs.json",
        "--tlog-upload=false",
        f"--key={key}",
        "--predicate=document.json",
        f"--type={REVIEW}",
        "--yes",
        "manifest.json",
    )
    assert done.returncode == 0, done.stderr
    return (folder / "theirs.json").read_bytes()


def cosign_key(folder: Path, algorithm: Algorithm) -> tuple[str, str]:
    """Make a key with cosign, or import one of ours there; return the names of its files."""
    if algorithm is Algorithm.ECDSA_P256:
        done = cosign(folder, "generate-key-pair", "--output-key-prefix=theirs")
    else:  # cosign makes none, but takes one without a passphrase
        (folder / "ours.key").write_bytes(generate(algorithm).to_pem(None))
        done = cosign(folder, "import-key-pair", "--key=ours.key", "--output-key-prefix=theirs")
    assert done.returncode == 0, done.stderr
    return "theirs.key", "theirs.pub"


@both_algorithms
def test_we_accept_what_cosign_signs(folder: Path, algorithm: Algorithm) -> None:
    private, public = cosign_key(folder, algorithm)
    data = signed_by_cosign(folder, private)
    subject = digest(folder / "manifest.json")
    known = read_public_key(folder / public)
    assert known.algorithm is algorithm
    found = verify(data, subject=subject, trust=trust_keys([known]))
    assert found.state is SignatureState.VALID
    assert found.trusted
    assert found.statement is not None
    assert found.statement.predicate == DOCUMENT
    assert found.statement.predicate_type == REVIEW

    others = trust_keys([generate(algorithm).public])
    for trust in (NOBODY, others):
        found = verify(data, subject=subject, trust=trust)
        assert found.state is SignatureState.KEY_UNKNOWN
        assert known.fingerprint in found.reason  # cosign's hint is the fingerprint
    about_another = verify(data, subject="sha256:" + "0" * 64, trust=trust_keys([known]))
    assert about_another.state is SignatureState.INVALID
    changed = json.loads(data)
    changed["dsseEnvelope"] = json.loads(signed_by_us(folder, generate(algorithm)))["dsseEnvelope"]
    found = verify(json.dumps(changed).encode(), subject=subject, trust=trust_keys([known]))
    assert found.state is SignatureState.INVALID


def oras(folder: Path, *arguments: str) -> str:
    """Run the oras command in a folder."""
    done = subprocess.run(
        [command("oras"), *arguments], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@needs("docker-registry")
@needs("oras")
@both_algorithms
def test_cosign_finds_our_statement_in_a_registry(
    folder: Path, algorithm: Algorithm, registry: Registry
) -> None:
    """oras attaches it as the clients of the field do; cosign verifies it from there."""
    key = generate(algorithm)
    (folder / "ours.pub").write_text(key.public.to_pem())
    (folder / "other.pub").write_text(generate(algorithm).public.to_pem())
    place = f"{registry.host}/signed-{algorithm}"
    oras(folder, "push", "--plain-http", f"{place}:1", "manifest.json:text/plain")
    about = oras(folder, "resolve", "--plain-http", f"{place}:1").strip()
    (folder / "ours.json").write_bytes(signed_by_us(folder, key, about))
    oras(
        folder,
        "attach",
        "--plain-http",
        f"--artifact-type={BUNDLE_TYPE}",
        "--annotation=dev.sigstore.bundle.content=dsse-envelope",
        f"--annotation=dev.sigstore.bundle.predicateType={REVIEW}",
        f"{place}:1",
        f"ours.json:{BUNDLE_TYPE}",
    )

    def verified(public: str) -> subprocess.CompletedProcess[str]:
        options = [*offline(folder, public), "--allow-http-registry", f"--type={REVIEW}"]
        return cosign(folder, "verify-attestation", *options, f"{place}@{about}")

    fine = verified("ours.pub")
    assert fine.returncode == 0, fine.stderr
    payload = json.loads(base64.b64decode(json.loads(fine.stdout)["payload"]))
    assert payload["predicate"] == DOCUMENT
    wrong = verified("other.pub")
    assert wrong.returncode != 0
    assert "could not verify envelope" in wrong.stderr


@needs("docker-registry")
@both_algorithms
def test_we_find_the_statement_of_cosign_in_a_registry(
    folder: Path, algorithm: Algorithm, registry: Registry, layout: Path
) -> None:
    """cosign attaches it to a bundle of ours; it is listed, read and verified from there."""
    private, public = cosign_key(folder, algorithm)
    (folder / "document.json").write_text(json.dumps(DOCUMENT))
    place = f"{registry.host}/tiny"
    about = copy(f"oci-layout:{layout}", f"{place}:1.0.0").digest
    done = cosign(
        folder,
        "attest",
        "--new-bundle-format",
        "--tlog-upload=false",
        f"--key={private}",
        "--predicate=document.json",
        f"--type={REVIEW}",
        "--allow-http-registry",
        "--yes",
        f"{place}@{about}",
    )
    assert done.returncode == 0, done.stderr

    reference = parse_reference(f"{place}@{about}")
    assert isinstance(reference, RegistryReference)
    store = open_store(reference)
    (found,) = store.referrers(about, BUNDLE_TYPE)
    manifest = json.loads(store.get_manifest(found.digest)[0])
    assert manifest["annotations"]["dev.sigstore.bundle.predicateType"] == REVIEW
    (layer,) = manifest["layers"]
    blob = Descriptor(layer["mediaType"], layer["digest"], layer["size"])
    data = read_blob(store, blob, 1 << 20)
    verification = verify(data, subject=about, trust=trust_keys([read_public_key(folder / public)]))
    assert verification.state is SignatureState.VALID
    assert verification.statement is not None
    assert verification.statement.predicate == DOCUMENT
    assert verify(data, subject=about, trust=NOBODY).state is SignatureState.KEY_UNKNOWN
