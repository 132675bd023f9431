"""Bundles go to Debian's docker-registry and come back; what goes wrong there is said."""

from __future__ import annotations

import hashlib
import http.client
import json
import os
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

import pytest

from rra.api import copy, lint, pull, push, verify
from rra.bundle.reference import RegistryReference
from rra.bundle.store import Descriptor
from rra.errors import CorruptError, LoginError, RegistryError, RraError, UsageError
from rra.registry import open_store
from tests.acceptance.command import rra
from tests.services.conftest import BIG
from tests.services.registry import Registry, running
from tests.support.needs import needs
from tests.unit.test_cli_schemas import check

pytestmark = needs("docker-registry")

MANIFEST = "application/vnd.oci.image.manifest.v1+json"


def content(root: Path) -> dict[str, tuple[bytes, bool]]:
    """Return every file of a directory with its bytes and whether it is executable."""
    return {
        str(path.relative_to(root)): (path.read_bytes(), os.access(path, os.X_OK))
        for path in root.rglob("*")
        if path.is_file()
    }


def fetch(registry: Registry, path: str) -> bytes:
    """Read from the registry with nothing of ours."""
    request = urllib.request.Request(
        f"http://{registry.host}/v2/{path}", headers={"Accept": MANIFEST}
    )
    with urllib.request.urlopen(request) as answer:
        data: bytes = answer.read()
    return data


# ------------------------------------------------------------------------------ the way


def test_an_artifact_goes_there_and_comes_back(
    registry: Registry, artifact: Path, digest: str, tmp_path: Path
) -> None:
    pushed = push(str(artifact), f"{registry.host}/lab/tiny")
    assert pushed.target == f"{registry.host}/lab/tiny:1.0.0@{digest}"
    manifest = fetch(registry, "lab/tiny/manifests/1.0.0")
    assert "sha256:" + hashlib.sha256(manifest).hexdigest() == digest
    assert json.loads(fetch(registry, "lab/tiny/tags/list"))["tags"] == ["1.0.0"]
    pulled = pull(f"{registry.host}/lab/tiny:1.0.0", str(tmp_path / "back"))
    assert (pulled.digest, pulled.complete) == (digest, True)
    assert content(tmp_path / "back") == content(artifact)


def test_what_is_there_is_not_sent_again(registry: Registry, layout: Path) -> None:
    source = f"oci-layout:{layout}:1.0.0"
    first = push(source, f"{registry.host}/tiny:1").pushed
    second = push(source, f"{registry.host}/tiny:2").pushed
    assert first is not None
    assert second is not None
    assert first.sent == sum(blob.descriptor.size for blob in first.blobs) > 0
    assert second.sent == 0
    assert sorted(json.loads(fetch(registry, "tiny/tags/list"))["tags"]) == ["1", "2"]


def test_a_neighbour_is_given_the_blobs_without_sending(
    registry: Registry, layout: Path, tmp_path: Path
) -> None:
    copy(f"oci-layout:{layout}", f"{registry.host}/lab/one:1")
    answer = rra("copy", f"{registry.host}/lab/one:1", f"{registry.host}/two:1", "--json").expect(0)
    check("copy", answer.envelope)
    assert answer.result["sent"] == 0
    assert {(blob["copied"], blob["mounted"]) for blob in answer.result["blobs"]} == {(False, True)}
    assert pull(f"{registry.host}/two:1", str(tmp_path / "back")).digest == answer.result["digest"]


@pytest.mark.parametrize("source", ["oci-layout", "oci-archive", "registry"])
@pytest.mark.parametrize("target", ["oci-layout", "oci-archive", "registry"])
def test_every_form_becomes_every_other(
    registry: Registry, layout: Path, digest: str, tmp_path: Path, source: str, target: str
) -> None:
    def place(form: str, name: str) -> str:
        if form == "registry":
            return f"{registry.host}/{name}:1.0.0"
        return f"{form}:{tmp_path / name}:1.0.0"

    first = copy(f"oci-layout:{layout}", place(source, "one"))
    second = copy(place(source, "one"), place(target, "two"))
    third = copy(place(target, "two"), f"oci-layout:{tmp_path / 'last'}")
    assert {first.digest, second.digest, third.digest} == {digest}
    assert content(tmp_path / "last") == content(layout)


def test_parts_of_a_bundle(registry: Registry, layout: Path, tmp_path: Path) -> None:
    copy(f"oci-layout:{layout}", f"{registry.host}/tiny:1")
    part = pull(f"{registry.host}/tiny:1", str(tmp_path / "part"), only=["launchers"])
    assert not part.complete
    assert list(content(tmp_path / "part")) == ["launchers/main.sh"]


def test_a_bundle_is_judged_from_its_reference(
    registry: Registry,
    layout: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    copy(f"oci-layout:{layout}", f"{registry.host}/tiny:1.0.0")
    empty = tmp_path / "empty"
    empty.mkdir()
    monkeypatch.chdir(empty)
    assert lint(f"{registry.host}/tiny:1.0.0").ok
    result = verify(f"{registry.host}/tiny:1.0.0", sandbox="none").to_json()
    verdicts = {one["outcome"]: one["verdict"] for one in result["reproduction"]["outcomes"]}
    assert verdicts == {"table/accuracy": "reproduced"}
    assert list(empty.iterdir()) == []


def test_the_version_is_the_tag_and_plus_becomes_underscore(
    registry: Registry, artifact: Path, tmp_path: Path
) -> None:
    from rra.api import lock
    from tests.support.artifacts import COMPUTES, make_artifact

    files = {"main.py": COMPUTES, "guide/GUIDE.md": "# Guide\n", "LICENSE": "MIT\n"}
    make_artifact(tmp_path / "cuda", files, version="1.2.0+cu128")
    lock(tmp_path / "cuda", keep=True)
    push(str(tmp_path / "cuda"), f"{registry.host}/cuda")
    assert json.loads(fetch(registry, "cuda/tags/list"))["tags"] == ["1.2.0_cu128"]
    manifest = json.loads(fetch(registry, "cuda/manifests/1.2.0_cu128"))
    assert manifest["annotations"]["org.opencontainers.image.version"] == "1.2.0+cu128"


def test_the_command_line(registry: Registry, artifact: Path, tmp_path: Path) -> None:
    reference = f"localhost:{registry.port}/lab/tiny:1"
    pushed = rra("push", artifact, reference, "--json").expect(0)
    check("push", pushed.envelope)
    said = rra("pull", reference, tmp_path / "back").expect(0)
    digest = pushed.result["digest"]
    assert f"{reference} is {digest}" in said.err
    assert digest in said.out
    pulled = rra("pull", reference, f"oci-archive:{tmp_path}/tiny.tar", "--json").expect(0)
    check("pull", pulled.envelope)
    copied = rra(
        "copy", f"oci-archive:{tmp_path}/tiny.tar", f"oci-layout:{tmp_path}/l", "--json"
    ).expect(0)
    check("copy", copied.envelope)
    assert copied.result["digest"] == digest
    assert "rra verify" in rra("push", f"oci-layout:{tmp_path}/l", reference).expect(0).out


# ------------------------------------------------------------------------------ refusals


def test_secrets_stop_the_push(registry: Registry, artifact: Path, tmp_path: Path) -> None:
    from rra.api import lock
    from tests.support.artifacts import COMPUTES, make_artifact

    key = "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAABG5vbmU=\n"
    files = {"main.py": COMPUTES, "guide/GUIDE.md": "# Guide\n", "id_rsa": key}
    make_artifact(tmp_path / "leaky", files)
    lock(tmp_path / "leaky", keep=True)
    stopped = push(str(tmp_path / "leaky"), f"{registry.host}/leaky")
    assert (stopped.exit_code, stopped.pushed) == (1, None)
    assert any("id_rsa" in problem.path for problem in stopped.problems)
    with pytest.raises(urllib.error.HTTPError, match="404"):
        fetch(registry, "leaky/tags/list")
    answer = rra("push", tmp_path / "leaky", f"{registry.host}/leaky", "--json").expect(1)
    check("push", answer.envelope)


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (["push", ".", "oci-layout:x"], "rra pack"),
        (["pull", "oci-layout:x"], "rra unpack"),
        (["pull", "localhost:1/x:1", "oci-layout:y", "--only", "code"], "name a directory"),
        (["copy", "oci-layout:x", "somewhere"], "oci-layout:somewhere"),
        (["copy", ".", "oci-layout:x"], "oci-layout:."),
        (["copy", "oci-layout:x", "localhost:1/x@sha256:" + "0" * 64], "leave the digest out"),
        (["push", ".", "Upper/Case:5000/x:1"], ""),
    ],
)
def test_calls_that_do_not_go_together(arguments: list[str], hint: str, artifact: Path) -> None:
    answer = rra(*arguments, "--json", cwd=artifact).expect(2)
    check(arguments[0], answer.envelope)
    assert hint in answer.result["error"]["hint"]


def test_a_tag_that_is_not_there(registry: Registry, layout: Path, tmp_path: Path) -> None:
    copy(f"oci-layout:{layout}", f"{registry.host}/tiny:1.0.0")
    with pytest.raises(UsageError, match=r"has no bundle 1\.0\.1") as caught:
        pull(f"{registry.host}/tiny:1.0.1", str(tmp_path / "back"))
    assert caught.value.hint == "its tags: 1.0.0"
    with pytest.raises(UsageError, match="has no tags"):
        pull(f"{registry.host}/other", str(tmp_path / "back"))
    assert not (tmp_path / "back").exists()


def test_an_absent_registry(artifact: Path, tmp_path: Path) -> None:
    with running(tmp_path / "gone") as gone:
        reference = f"{gone.host}/tiny:1.0.0"
    for arguments in (["push", str(artifact), reference], ["pull", reference, str(tmp_path / "x")]):
        answer = rra(*arguments, "--json").expect(3)
        check(arguments[0], answer.envelope)
        assert answer.result["error"]["slug"] == "registry/unavailable"
        assert gone.host in answer.result["error"]["message"]
        assert "refused" in answer.result["error"]["message"]
    assert not (tmp_path / "x").exists()


# -------------------------------------------------------------------------------- logins


def test_a_registry_that_wants_a_login(
    guarded: Registry, layout: Path, digest: str, log_in: Callable[..., Path], tmp_path: Path
) -> None:
    source, place = f"oci-layout:{layout}", f"{guarded.host}/lab/tiny:1.0.0"
    with pytest.raises(LoginError, match="wants a login to use") as none:
        push(source, place)
    assert guarded.host in none.value.message
    assert ".docker/config.json" in none.value.hint

    path = log_in(guarded, "wrong-word")
    with pytest.raises(LoginError, match="refuses") as wrong:
        push(source, place)
    assert (wrong.value.exit_code, wrong.value.slug) == (3, "registry/login")
    assert f"the credential from {path}" in wrong.value.message
    assert "wrong-word" not in f"{wrong.value.message}{wrong.value.hint}"
    with pytest.raises(LoginError):
        pull(place, str(tmp_path / "back"))
    assert not (tmp_path / "back").exists()

    log_in(guarded)
    assert push(source, place).pushed is not None
    assert pull(place, str(tmp_path / "back")).digest == digest


def test_podman_keeps_logins_in_a_file_of_its_own(
    guarded: Registry,
    layout: Path,
    log_in: Callable[..., Path],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = log_in(guarded)
    elsewhere = path.rename(path.with_name("auth.json"))
    monkeypatch.setenv("REGISTRY_AUTH_FILE", str(elsewhere))
    assert push(f"oci-layout:{layout}", f"{guarded.host}/tiny:1").ok


# ------------------------------------------------------------------------- what is damaged


@pytest.fixture
def layer(registry: Registry, layout: Path) -> Path:
    """The file in the storage of the registry that is the launchers' layer of the bundle."""
    copied = copy(f"oci-layout:{layout}", f"{registry.host}/tiny:1.0.0")
    blob = next(blob for blob in copied.blobs if blob.title == "launchers")
    return registry.blob(blob.descriptor.digest)


@pytest.mark.parametrize(
    ("damage", "fault"),
    [
        (lambda data: bytes([data[0] ^ 1]) + data[1:], "has other content"),
        (lambda data: data[:-1], "bytes where the manifest says"),
        (lambda data: data + b"\0", "bytes where the manifest says"),
        (lambda data: b"", "bytes where the manifest says"),
        (None, "is missing"),
    ],
    ids=["tampered", "truncated", "longer", "empty", "missing"],
)
def test_a_blob_that_is_damaged_in_the_registry(
    registry: Registry,
    layer: Path,
    tmp_path: Path,
    damage: Callable[[bytes], bytes] | None,
    fault: str,
) -> None:
    if damage is None:
        layer.unlink()
    else:
        layer.write_bytes(damage(layer.read_bytes()))
    reference = f"{registry.host}/tiny:1.0.0"
    for target in (
        str(tmp_path / "x"),
        f"oci-layout:{tmp_path / 'x'}",
        f"oci-archive:{tmp_path}/x",
    ):
        with pytest.raises(CorruptError, match=fault) as caught:
            pull(reference, target)
        assert caught.value.exit_code == 4
        assert registry.host in caught.value.message
        assert [path.name for path in tmp_path.glob("*x*")] == []


def test_a_manifest_that_is_damaged_in_the_registry(
    registry: Registry, layer: Path, digest: str, tmp_path: Path
) -> None:
    manifest = registry.blob(digest)
    manifest.write_bytes(manifest.read_bytes().replace(b"launchers", b"launcherz", 1))
    for reference in (f"{registry.host}/tiny:1.0.0", f"{registry.host}/tiny@{digest}"):
        with pytest.raises(RraError) as caught:
            pull(reference, str(tmp_path / "x"))
        assert caught.value.exit_code in {3, 4}
    assert not (tmp_path / "x").exists()


def test_another_manifest_than_the_digest_asked_for(
    registry: Registry, layer: Path, digest: str, tmp_path: Path
) -> None:
    other = digest[:-1] + ("0" if digest[-1] != "0" else "1")
    with pytest.raises(UsageError, match="has no bundle"):
        pull(f"{registry.host}/tiny:1.0.0@{other}", str(tmp_path / "x"))
    assert not (tmp_path / "x").exists()


# --------------------------------------------------------------------- died in the middle


def test_a_registry_that_dies_in_a_push(tmp_path: Path, layout: Path, digest: str) -> None:
    def fail(line: str) -> None:
        if line.startswith("launchers:"):
            registry.kill()

    with running(tmp_path / "storage") as registry:
        with pytest.raises(RegistryError, match=f"{registry.host}") as caught:
            push(f"oci-layout:{layout}", f"{registry.host}/tiny:1.0.0", progress=fail)
        assert caught.value.exit_code == 3
    with running(tmp_path / "storage") as registry:
        with pytest.raises(UsageError, match="has no tags"):
            pull(f"{registry.host}/tiny", str(tmp_path / "x"))
        assert push(f"oci-layout:{layout}", f"{registry.host}/tiny:1.0.0").pushed is not None
        assert pull(f"{registry.host}/tiny:1.0.0", str(tmp_path / "x")).digest == digest


def read_on_after(stream: BinaryIO, event: Callable[[], None]) -> None:
    assert stream.read(1 << 20) == bytes(1 << 20)
    event()
    while stream.read(1 << 20):
        pass


def test_a_registry_that_dies_in_a_blob(tmp_path: Path) -> None:
    data = b"\0" * BIG
    blob = Descriptor("application/x-test", "sha256:" + hashlib.sha256(data).hexdigest(), BIG)

    def dying() -> Iterator[bytes]:
        yield data[: BIG // 2]
        registry.kill()
        yield data[BIG // 2 :]

    with running(tmp_path / "storage") as registry:
        store = open_store(RegistryReference(registry.host, "big"))
        with pytest.raises(RegistryError, match="broke"):
            store.put_blob(blob, dying())
    with running(tmp_path / "storage") as registry:
        store = open_store(RegistryReference(registry.host, "big"))
        assert not store.has(blob.digest)
        store.put_blob(blob, [data])
        with pytest.raises(RegistryError, match="broke"), store.open(blob) as stream:
            read_on_after(stream, registry.kill)


def test_a_registry_that_dies_in_a_pull(tmp_path: Path, layout: Path) -> None:
    def fail(line: str) -> None:
        if line == "unpacking launchers" or line.startswith("launchers:"):
            registry.kill()

    for number, target in enumerate(("", "oci-layout:", "oci-archive:")):
        with running(tmp_path / f"storage-{number}") as registry:
            copy(f"oci-layout:{layout}", f"{registry.host}/tiny:1.0.0")
            with pytest.raises(RegistryError) as caught:
                pull(f"{registry.host}/tiny:1.0.0", f"{target}{tmp_path}/back", progress=fail)
            assert caught.value.exit_code == 3
    assert [path.name for path in tmp_path.iterdir() if "back" in path.name] == []
    assert list(tmp_path.glob(".rra-staging-*")) == []


def test_nothing_is_left_open(registry: Registry, layout: Path) -> None:
    """A push of ours leaves no half upload behind in the registry."""
    push(f"oci-layout:{layout}", f"{registry.host}/tiny:1.0.0")
    uploads = registry.folder / "storage/docker/registry/v2/repositories/tiny/_uploads"
    assert list(uploads.iterdir()) == []
    connection = http.client.HTTPConnection("127.0.0.1", registry.port)
    connection.request("GET", "/v2/")
    assert connection.getresponse().status == 200
    connection.close()
