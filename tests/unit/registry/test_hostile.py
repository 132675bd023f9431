"""What a registry may answer and must not get away with: cases that need a whole bundle."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rra.api import pull
from rra.bundle.layout import LayoutStore
from rra.bundle.store import INDEX_TYPE, MANIFEST_TYPE
from rra.cli.verb import safe
from rra.errors import CorruptError, FormatError, RegistryError, RraError, UsageError
from rra.registry import RegistryStore
from rra.registry.transfer import transfer
from tests.support.http_registry import HttpRegistry, Reply, sha256

Open = Callable[[HttpRegistry], RegistryStore]


def serve(registry: HttpRegistry, data: bytes, kind: str = MANIFEST_TYPE) -> str:
    """Put bytes under the tag 1.0; return the reference."""
    registry.manifests["1.0"] = registry.manifests[sha256(data)] = (data, kind)
    return f"{registry.host}/team/bundle:1.0"


def document(registry: HttpRegistry) -> dict[str, Any]:
    """Return a manifest that looks like one of a bundle, whose blobs are there."""
    layer = registry.add_blob(b"layer", "application/vnd.rra.guide.v1.tar")
    config = registry.add_blob(b"{}", "application/vnd.rra.config.v1+json")
    manifest: dict[str, Any] = json.loads(registry.add_manifest("1.0", layer, config=config))
    return {**manifest, "artifactType": "application/vnd.rra.bundle.v1"}


def refused(registry: HttpRegistry, reference: str, tmp_path: Path) -> RraError:
    """Pull, in all forms; return the error, after nothing was written and no layer read."""
    errors = []
    for form in ("", "oci-layout:", "oci-archive:"):
        with pytest.raises(RraError) as caught:
            pull(reference, f"{form}{tmp_path}/out")
        errors.append(caught.value)
        assert not (tmp_path / "out").exists()
    assert len({type(error) for error in errors}) == 1
    assert registry.asked("GET", sha256(b"layer")) == []
    return errors[0]


@pytest.mark.parametrize(
    "data",
    [
        b"[" * 500_000,
        b'{"config":' * 100_000,
        b'{"schemaVersion": 2, "schemaVersion": 2}',
        b'{"schemaVersion": NaN}',
        b'{"schemaVersion": 1e999}',
        b"[]",
        b"\xff\xfe",
        b"",
    ],
    ids=["deep-list", "deep-map", "twice", "nan", "infinity", "list", "utf-16", "empty"],
)
def test_json_that_is_no_manifest(registry: HttpRegistry, tmp_path: Path, data: bytes) -> None:
    error = refused(registry, serve(registry, data), tmp_path)
    assert isinstance(error, FormatError | CorruptError)


@pytest.mark.parametrize("size", [-1, 1.0, True, "5", None, [5]])
def test_sizes_that_are_none(registry: HttpRegistry, tmp_path: Path, size: object) -> None:
    manifest = document(registry)
    manifest["layers"][0]["size"] = size
    error = refused(registry, serve(registry, json.dumps(manifest).encode()), tmp_path)
    assert isinstance(error, FormatError)


@pytest.mark.parametrize(
    "digest",
    [
        "sha256:../../x",
        "sha256:" + "A" * 64,
        "sha256:abc",
        "md5:" + "0" * 32,
        "sha512:" + "0" * 128,
    ],
)
def test_digests_that_are_none(registry: HttpRegistry, tmp_path: Path, digest: str) -> None:
    manifest = document(registry)
    manifest["layers"][0]["digest"] = digest
    before = len(registry.seen)
    error = refused(registry, serve(registry, json.dumps(manifest).encode()), tmp_path)
    assert isinstance(error, FormatError)
    assert not [seen for seen in registry.seen[before:] if digest in seen.target]


def test_a_manifest_that_is_an_index_too(registry: HttpRegistry, tmp_path: Path) -> None:
    manifest = document(registry)
    manifest["manifests"] = [{"mediaType": MANIFEST_TYPE, "digest": sha256(b""), "size": 0}]
    error = refused(registry, serve(registry, json.dumps(manifest).encode()), tmp_path)
    assert isinstance(error, FormatError | CorruptError | UsageError)


def test_an_index_in_an_index_is_not_followed(registry: HttpRegistry, tmp_path: Path) -> None:
    inner = {"mediaType": INDEX_TYPE, "digest": sha256(b"inner"), "size": 5}
    index = {"schemaVersion": 2, "mediaType": INDEX_TYPE, "manifests": [inner]}
    data = json.dumps(index).encode()
    error = refused(registry, serve(registry, data, INDEX_TYPE), tmp_path)
    assert isinstance(error, FormatError | UsageError)
    assert registry.asked("GET", sha256(b"inner")) == []


def test_foreign_addresses_are_never_fetched(
    registry: HttpRegistry, elsewhere: HttpRegistry, opened: Open, tmp_path: Path
) -> None:
    manifest = document(registry)
    layer = manifest["layers"][0]
    layer["urls"] = [f"{elsewhere.url}/layer"]
    del registry.blobs[layer["digest"]]
    serve(registry, json.dumps(manifest).encode())
    with pytest.raises(CorruptError, match="is missing"):
        transfer(opened(registry), LayoutStore(tmp_path / "x"), wanted=("1.0", None), tag=None)
    assert elsewhere.seen == []
    assert not (tmp_path / "x").exists()


def test_embedded_data_that_does_not_match_is_not_used(
    registry: HttpRegistry, opened: Open, tmp_path: Path
) -> None:
    manifest = document(registry)
    manifest["layers"][0]["data"] = "ZXZpbA=="
    serve(registry, json.dumps(manifest).encode())
    place = LayoutStore(tmp_path / "x")
    transfer(opened(registry), place, wanted=("1.0", None), tag="1.0")
    written = tmp_path / "x/blobs/sha256" / sha256(b"layer").removeprefix("sha256:")
    assert written.read_bytes() == b"layer"


@pytest.mark.parametrize("title", ["../../out-evil", "/etc/passwd", "a\x1b[31mb", "a\nb", "\u202e"])
def test_titles_are_no_paths_and_steer_no_terminal(
    registry: HttpRegistry, opened: Open, tmp_path: Path, title: str
) -> None:
    manifest = document(registry)
    manifest["layers"][0]["annotations"] = {"org.opencontainers.image.title": title}
    serve(registry, json.dumps(manifest).encode())
    said: list[str] = []
    place = LayoutStore(tmp_path / "in" / "x")
    transfer(opened(registry), place, wanted=("1.0", None), tag=None, progress=said.append)
    assert {path.name for path in (tmp_path / "in").iterdir()} == {"x"}
    assert {path.parent for path in (tmp_path / "in").rglob("*") if path.is_file()} == {
        tmp_path / "in/x",
        tmp_path / "in/x/blobs/sha256",
    }
    assert all("\x1b" not in safe(line) and "\u202e" not in safe(line) for line in said)


def test_a_warning_with_escapes_is_not_shown(
    registry: HttpRegistry, opened: Open, notices: list[str]
) -> None:
    data = registry.add_manifest("1.0")
    headers = {"Content-Type": MANIFEST_TYPE, "Warning": '299 - "\x1b]0;title\x07 \x1b[2J"'}
    registry.rules.append(
        lambda seen: Reply(200, data, headers) if "/manifests/" in seen.path else None
    )
    assert opened(registry).get_manifest("1.0")[0] == data
    assert all(line.isprintable() for line in notices)


@pytest.mark.parametrize("header", ["", "Negotiate", "bearer", "Basic", "x" * 60_000])
def test_a_refusal_with_another_challenge(
    registry: HttpRegistry, opened: Open, header: str
) -> None:
    registry.rules.append(
        lambda seen: (
            Reply(401, headers={"WWW-Authenticate": header}) if "/blobs/" in seen.path else None
        )
    )
    with pytest.raises(RegistryError, match="login"):
        opened(registry).has(sha256(b""))
    assert len(registry.asked("HEAD")) <= 4


def test_a_refusal_without_any_challenge(registry: HttpRegistry, opened: Open) -> None:
    registry.rules.append(lambda seen: Reply(401) if "/blobs/" in seen.path else None)
    with pytest.raises(RegistryError, match="wants a login"):
        opened(registry).has(sha256(b""))
