"""The oras command sees our statements, and we see its, in a registry and in a folder."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from rra.api import copy, pull
from rra.bundle.layout import LayoutStore
from rra.bundle.reference import RegistryReference
from rra.registry import open_store
from tests.services.registry import Registry
from tests.services.test_docker_registry import content
from tests.services.test_referrers import attach, repository, texts
from tests.support.debian13 import command
from tests.support.http_registry import http_registry
from tests.support.needs import needs
from tests.support.statements import REVIEW

pytestmark = [needs("docker-registry"), needs("oras")]


def oras(*arguments: str, folder: Path) -> str:
    done = subprocess.run(
        [command("oras"), *arguments], capture_output=True, text=True, check=False, cwd=folder
    )
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout


def discovered(*arguments: str, folder: Path) -> dict[str, str]:
    """Return the kinds of what oras finds, by digest."""
    found: dict[str, Any] = json.loads(
        oras("discover", "--format", "json", *arguments, folder=folder)
    )
    return {one["digest"]: one["artifactType"] for one in found["manifests"]}


@pytest.fixture
def review(tmp_path: Path) -> str:
    """A file that oras attaches."""
    (tmp_path / "review.json").write_text("by oras")
    return f"review.json:{REVIEW}"


def test_oras_finds_what_we_attached_in_a_registry(
    registry: Registry, layout: Path, digest: str, tmp_path: Path
) -> None:
    copy(f"oci-layout:{layout}", f"{registry.host}/tiny:1.0.0")
    kept = attach(repository(registry, "tiny"), digest, "one", "two")
    found = discovered("--plain-http", f"{registry.host}/tiny:1.0.0", folder=tmp_path)
    assert found == {one.digest: REVIEW for one in kept}


def test_oras_finds_what_we_attached_in_a_folder(layout: Path, digest: str, tmp_path: Path) -> None:
    copy(f"oci-layout:{layout}", f"oci-layout:{tmp_path}/ours")
    kept = attach(LayoutStore(tmp_path / "ours"), digest, "one", "two")
    found = discovered("--oci-layout", "ours:1.0.0", folder=tmp_path)
    assert found == {one.digest: REVIEW for one in kept}


def test_we_find_what_oras_attached_in_a_registry(
    registry: Registry, layout: Path, digest: str, tmp_path: Path, review: str
) -> None:
    copy(f"oci-layout:{layout}", f"{registry.host}/tiny:1.0.0")
    target = f"{registry.host}/tiny:1.0.0"
    oras("attach", "--plain-http", "--artifact-type", REVIEW, target, review, folder=tmp_path)
    assert texts(repository(registry, "tiny"), digest) == {"by oras"}
    attach(repository(registry, "tiny"), digest, "by us")
    assert texts(repository(registry, "tiny"), digest) == {"by oras", "by us"}
    assert len(discovered("--plain-http", target, folder=tmp_path)) == 2
    done = pull(target, f"oci-layout:{tmp_path}/back")
    assert done.referrers == 2
    assert texts(LayoutStore(tmp_path / "back"), digest) == {"by oras", "by us"}


def test_we_find_what_oras_attached_in_a_folder(
    layout: Path, artifact: Path, digest: str, tmp_path: Path, review: str
) -> None:
    copy(f"oci-layout:{layout}", f"oci-layout:{tmp_path}/ours")
    oras("attach", "--oci-layout", "--artifact-type", REVIEW, "ours:1.0.0", review, folder=tmp_path)
    store = LayoutStore(tmp_path / "ours")
    assert texts(store, digest) == {"by oras"}
    assert store.get_manifest(None)[1].digest == digest  # still the only bundle
    attach(store, digest, "by us")
    assert len(discovered("--oci-layout", "ours:1.0.0", folder=tmp_path)) == 2
    assert content(artifact)


def test_oras_carries_our_bundle_with_statements_to_a_folder_and_back(
    registry: Registry, layout: Path, artifact: Path, digest: str, tmp_path: Path
) -> None:
    copy(f"oci-layout:{layout}", f"{registry.host}/tiny:1.0.0")
    attach(repository(registry, "tiny"), digest, "one", "two")
    source = f"{registry.host}/tiny:1.0.0"
    oras(
        "cp", "-r", "--from-plain-http", "--to-oci-layout", source, "theirs:1.0.0", folder=tmp_path
    )
    store = LayoutStore(tmp_path / "theirs")
    assert texts(store, digest) == {"one", "two"}
    assert store.get_manifest(None)[1].digest == digest
    target = f"{registry.host}/again:1.0.0"
    oras(
        "cp", "-r", "--from-oci-layout", "--to-plain-http", "theirs:1.0.0", target, folder=tmp_path
    )
    assert texts(repository(registry, "again"), digest) == {"one", "two"}
    assert pull(target, str(tmp_path / "back")).digest == digest
    assert content(tmp_path / "back") == content(artifact)


def test_oras_carries_what_we_copied(
    registry: Registry, layout: Path, digest: str, tmp_path: Path
) -> None:
    """A statement on a statement, too."""
    copy(f"oci-layout:{layout}", f"oci-layout:{tmp_path}/ours")
    store = LayoutStore(tmp_path / "ours")
    (first,) = attach(store, digest, "one")
    attach(store, first.digest, "on one")
    copy(f"oci-layout:{tmp_path}/ours", f"{registry.host}/tiny:1.0.0")
    source = f"{registry.host}/tiny:1.0.0"
    oras(
        "cp", "-r", "--from-plain-http", "--to-oci-layout", source, "theirs:1.0.0", folder=tmp_path
    )
    theirs = LayoutStore(tmp_path / "theirs")
    assert (texts(theirs, digest), texts(theirs, first.digest)) == ({"one"}, {"on one"})


def test_oras_speaks_to_the_double_of_the_other_tests(
    layout: Path, digest: str, tmp_path: Path, review: str
) -> None:
    """What those tests show of the referrers API, another client sees as well."""
    with http_registry() as server:
        target = f"{server.host}/tiny:1.0.0"
        copy(f"oci-layout:{layout}", target)
        ours = attach(open_store(RegistryReference(server.host, "tiny")), digest, "ours")
        kind = "application/x-other"
        (tmp_path / "other").write_text("other")
        arguments = ("attach", "--plain-http", "--artifact-type")
        oras(*arguments, REVIEW, target, review, folder=tmp_path)
        oras(*arguments, kind, target, f"other:{kind}", folder=tmp_path)
        server.page = 2
        found = discovered("--plain-http", target, folder=tmp_path)
        assert sorted(found.values()) == sorted([REVIEW, REVIEW, kind])
        only = discovered("--plain-http", "--artifact-type", kind, target, folder=tmp_path)
        assert list(only.values()) == [kind]
        assert ours[0].digest in found
        store = open_store(RegistryReference(server.host, "tiny"))
        assert {one.digest for one in store.referrers(digest)} == set(found)
        assert all(":" in tag or tag == "1.0.0" for tag in server.manifests)
