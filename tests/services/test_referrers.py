"""Statements on bundles in Debian's docker-registry 2.8, which has no referrers API."""

from __future__ import annotations

import json
import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from rra.api import copy, pull, push
from rra.bundle.archive import ArchiveStore
from rra.bundle.layout import LayoutStore
from rra.bundle.reference import RegistryReference
from rra.bundle.store import BlobStore, Descriptor, read_blob
from rra.registry import RegistryStore, open_store
from tests.acceptance.command import rra
from tests.services.registry import Registry, running
from tests.services.test_docker_registry import fetch
from tests.support.needs import needs
from tests.support.statements import REVIEW, put_blobs, statement
from tests.unit.test_cli_schemas import check

pytestmark = needs("docker-registry")


def repository(registry: Registry, name: str = "lab/tiny") -> RegistryStore:
    return open_store(RegistryReference(registry.host, name))


def attach(store: BlobStore, digest: str, *texts: str) -> list[Descriptor]:
    """Attach a review for each text, as another tool does: blobs, then the manifest."""
    _, subject = store.get_manifest(digest)
    with store.writing():
        for text in texts:
            put_blobs(store, text)
        return [store.put_referrer(statement(subject, text), subject) for text in texts]


def texts(store: BlobStore, digest: str) -> set[str]:
    """Return what the reviews of a bundle say, every byte verified."""
    found = set()
    for one in store.referrers(digest, REVIEW):
        manifest = json.loads(store.get_manifest(one.digest)[0])
        (layer,) = manifest["layers"]
        blob = Descriptor(layer["mediaType"], layer["digest"], layer["size"])
        found.add(read_blob(store, blob, 1000).decode())
    return found


@pytest.fixture
def reviewed(layout: Path, digest: str, tmp_path: Path) -> Path:
    """A folder with the bundle and two reviews of it."""
    place = tmp_path / "reviewed"
    copy(f"oci-layout:{layout}", f"oci-layout:{place}")
    attach(LayoutStore(place), digest, "fine", "numbers agree")
    return place


def collect_garbage(folder: Path) -> str:
    """Run the registry's own collection on its storage, while no server runs."""
    env = {name: text for name, text in os.environ.items() if not name.startswith("REGISTRY_")}
    done = subprocess.run(
        ["docker-registry", "garbage-collect", "--delete-untagged", str(folder / "config.yml")],
        capture_output=True,
        text=True,
        check=False,
        env=env,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_list_and_a_tag_for_each_statement(
    registry: Registry, reviewed: Path, digest: str
) -> None:
    answer = rra(
        "copy", f"oci-layout:{reviewed}", f"{registry.host}/lab/tiny:1.0.0", "--json"
    ).expect(0)
    check("copy", answer.envelope)
    assert answer.result["referrers"] == 2
    code = digest.removeprefix("sha256:")
    tags = json.loads(fetch(registry, "lab/tiny/tags/list"))["tags"]
    reserved = [tag for tag in tags if tag.startswith(f"sha256-{code}")]
    assert len(reserved) == 3
    assert set(tags) - set(reserved) == {"1.0.0"}
    store = repository(registry)
    listed = json.loads(store.get_manifest(f"sha256-{code}")[0])
    assert len(listed["manifests"]) == 2
    assert store.tags() == ["1.0.0"]
    assert texts(store, digest) == {"fine", "numbers agree"}


def test_statements_survive_the_collection_of_garbage(
    tmp_path: Path, reviewed: Path, digest: str
) -> None:
    """Also a bundle and a review beside it that nobody names are collected: it does work."""
    folder = tmp_path / "collected"
    with running(folder) as server:
        push(f"oci-layout:{reviewed}", f"{server.host}/lab/tiny:1.0.0")
        store = repository(server)
        _, subject = store.get_manifest(digest)
        put_blobs(store, "only in a list")
        data = statement(subject, "only in a list")
        alone = store.put_manifest(data, None)
        put_index = json.loads(store.get_manifest(f"sha256-{digest[7:]}")[0])
        put_index["manifests"].append(alone.to_json())
        store.put_manifest(
            json.dumps(put_index).encode(),
            f"sha256-{digest[7:]}",
            media_type=put_index["mediaType"],
        )
        assert texts(store, digest) == {"fine", "numbers agree", "only in a list"}
    assert "blob eligible for deletion" in collect_garbage(folder)
    with running(folder) as server:
        store = repository(server)
        assert texts(store, digest) == {"fine", "numbers agree"}
        done = pull(f"{server.host}/lab/tiny:1.0.0", f"oci-layout:{tmp_path / 'back'}")
        assert (done.digest, done.referrers) == (digest, 2)
    assert texts(LayoutStore(tmp_path / "back"), digest) == {"fine", "numbers agree"}


def test_a_list_with_entries_that_were_collected_can_be_added_to(
    tmp_path: Path, reviewed: Path, digest: str
) -> None:
    """This registry refuses an index that names what is not there."""
    folder = tmp_path / "collected"
    with running(folder) as server:
        push(f"oci-layout:{reviewed}", f"{server.host}/lab/tiny:1.0.0")
        store = repository(server)
        _, subject = store.get_manifest(digest)
        put_blobs(store, "lost")
        lost = store.put_manifest(statement(subject, "lost"), None)
        index = json.loads(store.get_manifest(f"sha256-{digest[7:]}")[0])
        index["manifests"].append(lost.to_json())
        data = json.dumps(index).encode()
        store.put_manifest(data, f"sha256-{digest[7:]}", media_type=index["mediaType"])
    collect_garbage(folder)
    with running(folder) as server:
        attach(repository(server), digest, "new")
        assert texts(repository(server), digest) == {"fine", "numbers agree", "new"}
        index = json.loads(repository(server).get_manifest(f"sha256-{digest[7:]}")[0])
        assert lost.digest not in {entry["digest"] for entry in index["manifests"]}


@pytest.mark.parametrize("target", ["oci-layout", "oci-archive", "registry"])
@pytest.mark.parametrize("source", ["oci-layout", "oci-archive", "registry"])
def test_statements_go_from_every_form_to_every_other(
    registry: Registry, reviewed: Path, digest: str, tmp_path: Path, source: str, target: str
) -> None:
    def place(form: str, name: str) -> str:
        if form == "registry":
            return f"{registry.host}/{name}:1.0.0"
        return f"{form}:{tmp_path / name}:1.0.0"

    counts = [
        copy(f"oci-layout:{reviewed}", place(source, "one")).referrers,
        copy(place(source, "one"), place(target, "two")).referrers,
        copy(place(target, "two"), f"oci-layout:{tmp_path / 'last'}").referrers,
    ]
    assert counts == [2, 2, 2]
    assert texts(LayoutStore(tmp_path / "last"), digest) == {"fine", "numbers agree"}


def test_again_sends_nothing(registry: Registry, reviewed: Path) -> None:
    first = copy(f"oci-layout:{reviewed}", f"{registry.host}/tiny:1.0.0")
    tags = sorted(json.loads(fetch(registry, "tiny/tags/list"))["tags"])
    second = copy(f"oci-layout:{reviewed}", f"{registry.host}/tiny:1.0.0")
    assert (first.referrers, second.referrers, second.sent) == (2, 2, 0)
    assert sorted(json.loads(fetch(registry, "tiny/tags/list"))["tags"]) == tags


def test_statements_are_left_behind_where_that_is_wanted(
    registry: Registry, reviewed: Path, digest: str
) -> None:
    target = f"{registry.host}/tiny:1.0.0"
    answer = rra("copy", "--no-referrers", f"oci-layout:{reviewed}", target, "--json").expect(0)
    assert answer.result["referrers"] == 0
    assert repository(registry, "tiny").referrers(digest) == []


def test_pull_and_push_say_how_many_came_along(
    registry: Registry, reviewed: Path, tmp_path: Path
) -> None:
    target = f"{registry.host}/tiny:1.0.0"
    pushed = rra("push", f"oci-layout:{reviewed}", target, "--json").expect(0)
    check("push", pushed.envelope)
    pulled = rra("pull", target, f"oci-archive:{tmp_path}/x.tar", "--json").expect(0)
    check("pull", pulled.envelope)
    unpacked = rra("pull", target, str(tmp_path / "tiny"), "--json").expect(0)
    check("pull", unpacked.envelope)
    counts = [one.result["referrers"] for one in (pushed, pulled, unpacked)]
    assert counts == [2, 2, 0]
    said = rra("copy", target, f"oci-layout:{tmp_path}/said").expect(0)
    assert "2 statements on it" in said.out


def test_three_writers_at_once_lose_nothing(registry: Registry, layout: Path, digest: str) -> None:
    """Each other writer replaces the list at most once without ours, and three writes are made."""
    copy(f"oci-layout:{layout}", f"{registry.host}/lab/tiny:1.0.0")
    words = [f"review {number}" for number in range(3)]
    with ThreadPoolExecutor(3) as pool:
        list(pool.map(lambda word: attach(repository(registry), digest, word), words))
    assert texts(repository(registry), digest) == set(words)


def test_an_archive_is_added_to(
    registry: Registry, reviewed: Path, digest: str, tmp_path: Path
) -> None:
    file = tmp_path / "x.oci.tar"
    copy(f"oci-layout:{reviewed}", f"oci-archive:{file}")
    attach(ArchiveStore(file), digest, "later")
    push(f"oci-archive:{file}", f"{registry.host}/tiny:1.0.0")
    found = texts(repository(registry, "tiny"), digest)
    assert found == {"fine", "numbers agree", "later"}
