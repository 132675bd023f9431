"""What is stated about runs, read and verified by the tools of others, each stricter in its way."""

from __future__ import annotations

import base64
import datetime as dt
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.serialization import load_pem_public_key
from google.protobuf import json_format
from in_toto_attestation.predicates.provenance.v1 import provenance_pb2
from in_toto_attestation.v1 import statement_pb2
from in_toto_attestation.v1.resource_descriptor import ResourceDescriptor
from in_toto_attestation.v1.statement import Statement
from securesystemslib.dsse import Envelope
from securesystemslib.exceptions import VerificationError
from securesystemslib.signer._key import SSlibKey
from sigstore.dsse import Statement as SigstoreStatement
from sigstore.dsse._predicate import SLSAPredicateV1_0
from sigstore_models.bundle.v1 import Bundle

from rra import api
from rra._base.files import sha256_bytes
from rra.artifact import Artifact
from rra.evidence import EvidenceStore, StoredRecord
from rra.launch import run_launcher
from rra.sandbox import best_sandbox
from rra.signing import Algorithm, PublicKey, generate
from tests.support.debian13 import command
from tests.support.needs import needs
from tests.support.runs import request, write_artifact

SCRIPT = """\
cat "data/table of ä.csv" > "$RRA_OUTPUT_DIR/copy.csv"
echo "{\\"accuracy\\": 98.9}" > "$RRA_OUTPUT_DIR/metrics.json"
mkdir "$RRA_OUTPUT_DIR/ümlaut"; echo 1 > "$RRA_OUTPUT_DIR/ümlaut/$(printf 'b\\303')"
"""
LAUNCHERS = {
    "main": {
        "outputs": ["metrics.json"],
        "parameters": {
            "depth": {"type": "integer", "default": 9007199254740991},
            "rate": {"type": "number", "default": 1e-5},
            "note": {"default": "a = 'b'\n"},
            "fast": {"type": "boolean", "default": False},
        },
        "seeds": {},
    }
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Artifact, StoredRecord]:
    """A run with everything that a record of one can hold."""
    files = {"launchers/main.sh": SCRIPT, "code/data/table of ä.csv": "1,2\n"}
    artifact = write_artifact(tmp_path_factory.mktemp("study") / "a", files, launchers=LAUNCHERS)
    done = run_launcher(request(artifact, sandbox=best_sandbox("none"), seed=7))
    assert done.ok, done.message
    (stored,) = EvidenceStore(artifact.root / "evidence").records()
    return artifact, stored


def stated(artifact: Artifact, folder: Path, **options: Any) -> bytes:
    (one,) = api.evidence_attest(artifact.root, output=folder, **options).statements
    return one.file.read_bytes()


def test_in_toto_reads_the_statement_and_knows_every_field_of_it(
    made: tuple[Artifact, StoredRecord], tmp_path: Path
) -> None:
    """Its readers refuse members that the definitions do not have, also within the predicate."""
    artifact, stored = made
    text = stated(artifact, tmp_path).decode()
    statement = json_format.Parse(text, statement_pb2.Statement())
    Statement.copy_from_pb(statement).validate()
    assert {one.name: dict(one.digest) for one in statement.subject} == {
        one.path: {"sha256": one.sha256.removeprefix("sha256:")} for one in stored.record.outputs
    }
    predicate = json_format.ParseDict(
        json.loads(text)["predicate"], provenance_pb2.Provenance(), ignore_unknown_fields=False
    )
    definition, details = predicate.build_definition, predicate.run_details
    for one in [*definition.resolved_dependencies, *details.byproducts, *statement.subject]:
        ResourceDescriptor.copy_from_pb(one).validate()
        (digits,) = one.digest.values()
        assert len(bytes.fromhex(digits)) == 32
    assert definition.build_type == "https://w3id.org/rra/v1/run"
    parameters = dict(definition.external_parameters["parameters"])
    assert parameters["depth"] == 9007199254740991
    assert parameters["note"] == "a = 'b'\n"
    assert definition.external_parameters["seed"] == 7
    roles = {one.name: one.annotations["role"] for one in definition.resolved_dependencies}
    assert roles["launchers/main.sh"] == "launcher"
    assert {"core", "environment host: lock"} < roles.keys()
    assert len(roles) == len(definition.resolved_dependencies), "each name once"
    assert details.builder.id == "https://w3id.org/rra/v1/recorder/none"
    assert details.metadata.invocation_id == stored.digest
    began = details.metadata.started_on.ToDatetime(tzinfo=dt.UTC)
    assert began == dt.datetime.fromisoformat(stored.record.started)
    assert began <= details.metadata.finished_on.ToDatetime(tzinfo=dt.UTC)
    for one in details.byproducts:
        content = (stored.directory / one.name).read_bytes()
        content = content.splitlines()[-1] if one.name == "events.jsonl" else content
        content = content.removesuffix(b"\n") if one.name == "record.json" else content
        assert sha256_bytes(content) == f"sha256:{one.digest['sha256']}"


def test_sigstore_takes_statement_and_predicate(
    made: tuple[Artifact, StoredRecord], tmp_path: Path
) -> None:
    """Its models of the predicate, which ``sigstore attest`` checks, know no other members."""
    artifact, stored = made
    data = stated(artifact, tmp_path)
    SigstoreStatement(data)
    predicate = SLSAPredicateV1_0.model_validate(json.loads(data)["predicate"])
    assert predicate.run_details.metadata is not None
    assert predicate.run_details.metadata.invocation_id == stored.digest


@pytest.mark.parametrize("algorithm", Algorithm)
def test_securesystemslib_verifies_the_envelope(
    made: tuple[Artifact, StoredRecord], tmp_path: Path, algorithm: Algorithm
) -> None:
    key = generate(algorithm)
    artifact, _ = made
    document = json.loads(stated(artifact, tmp_path, key=key))
    bundle = Bundle.from_json(json.dumps(document))
    assert bundle.verification_material.public_key is not None
    assert bundle.dsse_envelope is not None
    hint = bundle.verification_material.public_key.hint or ""
    assert base64.b64decode(hint).hex() == key.public.fingerprint.removeprefix("sha256:")

    envelope = document["dsseEnvelope"]
    assert envelope["payloadType"] == "application/vnd.in-toto+json"
    envelope["signatures"][0]["keyid"] = "ours"  # optional in DSSE, and not in that library
    read = Envelope.from_dict(envelope)
    Statement.copy_from_pb(json_format.Parse(read.payload, statement_pb2.Statement())).validate()
    assert read.verify([public(key.public)], 1)
    with pytest.raises(VerificationError):
        read.verify([public(generate(algorithm).public)], 1)
    changed = Envelope(read.payload + b" ", read.payload_type, read.signatures)
    with pytest.raises(VerificationError):
        changed.verify([public(key.public)], 1)


def public(key: PublicKey) -> SSlibKey:
    return SSlibKey.from_crypto(load_pem_public_key(key.to_pem().encode()), keyid="ours")


@needs("cosign")
@pytest.mark.parametrize("algorithm", Algorithm)
def test_cosign_verifies_what_is_stated_of_an_output(
    made: tuple[Artifact, StoredRecord], tmp_path: Path, algorithm: Algorithm
) -> None:
    artifact, stored = made
    key = generate(algorithm)
    (tmp_path / "ours.pub").write_text(key.public.to_pem())
    (tmp_path / "ours.json").write_bytes(stated(artifact, tmp_path, key=key))
    root = {"mediaType": "application/vnd.dev.sigstore.trustedroot+json;version=0.1"}
    (tmp_path / "root.json").write_text(json.dumps(root))

    def verified(file: Path) -> subprocess.CompletedProcess[str]:
        argv = [
            *(command("cosign"), "verify-blob-attestation", "--new-bundle-format", "--offline"),
            *("--insecure-ignore-tlog=true", "--trusted-root=root.json", "--key=ours.pub"),
            *("--type=https://slsa.dev/provenance/v1", "--bundle=ours.json", str(file)),
        ]
        return subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, check=False)

    for name in ("metrics.json", "copy.csv"):
        done = verified(stored.outputs / name)
        assert done.returncode == 0, done.stderr
    (tmp_path / "metrics.json").write_text('{"accuracy": 99.9}\n')
    assert verified(tmp_path / "metrics.json").returncode != 0
