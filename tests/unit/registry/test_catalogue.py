"""A catalogue loses no entry, whoever writes at the same time, and lists without reading layers."""

from __future__ import annotations

import json
import threading
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from referencing import Registry, Resource

from rra.api import copy, push, registry_list, registry_tags
from rra.bundle.reference import RegistryReference
from rra.errors import FormatError, RegistryError, RraError, UsageError
from rra.registry import open_store
from rra.registry.catalogue import CATALOG_TYPE, CatalogueStore, Entry
from tests.acceptance.command import rra
from tests.support.bundles import locked_artifact, pack
from tests.support.http_registry import HttpRegistry, Reply, Seen, sha256
from tests.unit.test_cli_schemas import FOLDER

CORE = sha256(b"core")


def entry(name: str, content: bytes = b"") -> Entry:
    return Entry(f"r.test/lab/{name}:1.0.0", sha256(content), name, "1.0.0", f"On {name}", CORE)


def catalogue(registry: HttpRegistry, tag: str | None = None) -> CatalogueStore:
    reference = RegistryReference(registry.host, "lab/index", tag)
    return CatalogueStore(open_store(reference))


def document(registry: HttpRegistry, tag: str = "catalog") -> dict[str, Any]:
    """Return what has a tag, read with nothing of ours."""
    manifest = json.loads(registry.manifests[tag][0])
    assert manifest["artifactType"] == CATALOG_TYPE
    found: dict[str, Any] = json.loads(registry.blobs[manifest["layers"][0]["digest"]])
    return found


def names(registry: HttpRegistry) -> list[str]:
    return [found.name for found in catalogue(registry).read().sorted()]


# ------------------------------------------------------------------------------- writing


def test_a_catalogue_is_made_and_grows(registry: HttpRegistry) -> None:
    for name in ("wine", "iris"):
        catalogue(registry).add(entry(name))
    found = document(registry)
    assert [one["reference"] for one in found["entries"]] == [
        "r.test/lab/iris:1.0.0",
        "r.test/lab/wine:1.0.0",
    ]
    schemas: Registry[Any] = Registry().with_resources(
        (schema["$id"], Resource.from_contents(schema))
        for name in ("catalog", "shared")
        if (schema := json.loads((FOLDER / f"{name}.schema.json").read_text()))
    )
    validator = Draft202012Validator(
        json.loads((FOLDER / "catalog.schema.json").read_text()), registry=schemas
    )
    assert list(validator.iter_errors(found)) == []


def test_an_entry_for_the_same_reference_is_replaced(registry: HttpRegistry) -> None:
    catalogue(registry).add(entry("wine", b"1"))
    catalogue(registry).add(entry("wine", b"2"))
    (found,) = document(registry)["entries"]
    assert (found["digest"], found["number"]) == (sha256(b"2"), 2)


def test_what_is_listed_already_is_not_written_again(registry: HttpRegistry) -> None:
    catalogue(registry).add(entry("wine"))
    registry.seen.clear()
    done = catalogue(registry).add(entry("wine"))
    assert {seen.method for seen in registry.seen} == {"GET"}
    assert done.descriptor is not None


def test_two_pushes_at_once_lose_no_entry(registry: HttpRegistry) -> None:
    """The second reads the list, the first writes and verifies its own, then the second writes."""
    other = [entry("wine")]

    def late(seen: Seen) -> Reply | None:
        if seen.method == "PUT" and seen.path.endswith("/manifests/catalog") and other:
            catalogue(registry).add(other.pop())  # all of it, between reading and writing
        return None

    registry.rules.append(late)
    catalogue(registry).add(entry("iris"))
    assert other == []
    assert [one["name"] for one in document(registry)["entries"]] == ["iris"]  # what was lost …
    assert names(registry) == ["iris", "wine"]  # … is found by who reads …
    catalogue(registry).add(entry("digits"))
    listed = [one["name"] for one in document(registry)["entries"]]
    assert listed == ["digits", "iris", "wine"]  # … and put back by who writes next


def test_an_older_entry_never_takes_the_place_of_a_newer_one(registry: HttpRegistry) -> None:
    """A list that was read before a bundle was pushed anew is written after it."""
    catalogue(registry).add(entry("wine", b"old"))
    newer = [entry("wine", b"new")]

    def late(seen: Seen) -> Reply | None:
        if seen.method == "PUT" and seen.path.endswith("/manifests/catalog") and newer:
            catalogue(registry).add(newer.pop())
        return None

    registry.rules.append(late)
    catalogue(registry).add(entry("iris"))
    found = {one.name: one.digest for one in catalogue(registry).read().sorted()}
    assert found == {"iris": sha256(b""), "wine": sha256(b"new")}


def test_many_at_once(registry: HttpRegistry) -> None:
    wanted = [f"study-{number:02}" for number in range(12)]
    threads = [
        threading.Thread(target=lambda name=name: catalogue(registry).add(entry(name)))
        for name in wanted
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert names(registry) == wanted


def test_a_list_that_is_never_ours_ends(registry: HttpRegistry) -> None:
    """Somebody puts an empty list back after each of our writes: the entry stays findable."""
    catalogue(registry).add(entry("iris"))
    before = registry.manifests["catalog"]

    def put_back(seen: Seen) -> Reply | None:
        if seen.method == "PUT" and seen.path.endswith("/manifests/catalog"):
            reply = registry.plain(seen)
            registry.manifests["catalog"] = before
            return reply
        return None

    registry.rules.append(put_back)
    catalogue(registry).add(entry("wine"))
    assert names(registry) == ["iris", "wine"]


def test_a_registry_that_lists_no_tags_has_its_list(registry: HttpRegistry) -> None:
    registry.rules.append(lambda seen: Reply(405) if seen.path.endswith("/tags/list") else None)
    for name in ("wine", "iris"):
        catalogue(registry).add(entry(name))
    assert names(registry) == ["iris", "wine"]


def test_what_has_the_tag_and_is_no_catalogue_is_left_alone(registry: HttpRegistry) -> None:
    data = registry.add_manifest("catalog")
    with pytest.raises(UsageError, match="something else than a catalogue"):
        catalogue(registry).add(entry("wine"))
    assert registry.manifests["catalog"][0] == data
    assert registry.asked("PUT") == []


def test_its_own_tags_are_not_among_those_of_bundles(registry: HttpRegistry) -> None:
    registry.add_manifest("1.0.0")
    catalogue(registry).add(entry("wine"))
    assert registry_tags(f"{registry.host}/lab/index").tags == ("1.0.0", "catalog")
    assert sum(tag.startswith("rra-entry-") for tag in registry.manifests) == 1


def test_a_blob_that_the_registry_forgets_is_sent_again(registry: HttpRegistry) -> None:
    """Debian's docker-registry does so for a moment while another push sends the same blob."""
    refusals = iter([400, 400])

    def forgets(seen: Seen) -> Reply | None:
        if seen.method == "PUT" and "/manifests/" in seen.path:
            for status in refusals:
                registry.blobs.pop(sha256(b"{}"), None)
                return Reply(status, b'{"errors": [{"code": "MANIFEST_BLOB_UNKNOWN"}]}')
        return None

    registry.rules.append(forgets)
    catalogue(registry).add(entry("wine"))
    assert names(registry) == ["wine"]
    assert registry.blobs[sha256(b"{}")] == b"{}"


# ------------------------------------------------------------------------ what others write


def put(registry: HttpRegistry, body: bytes, tag: str = "catalog") -> None:
    layer = registry.add_blob(body, CATALOG_TYPE)
    manifest = json.loads(registry.add_manifest(tag, layer))
    data = json.dumps({**manifest, "artifactType": CATALOG_TYPE}).encode()
    registry.manifests[tag] = (data, registry.manifests[tag][1])


@pytest.mark.parametrize(
    "change",
    [
        {"reference": "../x"},
        {"reference": "r.test/lab/wine"},
        {"reference": f"r.test/lab/wine:1.0.0@{CORE}"},
        {"reference": "oci-layout:/etc:x"},
        {"reference": "me:word@r.test/x:1"},
        {"digest": "sha256:../../x"},
        {"core": None},
        {"title": 7},
        {"title": "x" * 1001},
        {"name": ["x"]},
        {"number": -1},
        {"number": True},
        {"number": 10**12},
    ],
)
def test_entries_that_cannot_be_used_are_left_out_and_counted(
    registry: HttpRegistry, change: dict[str, Any]
) -> None:
    good = entry("iris").to_json()
    bad = {**entry("wine").to_json(), **change}
    put(registry, json.dumps({"entries": [good, bad, "no object"]}).encode())
    listing = registry_list(f"{registry.host}/lab/index")
    assert [bundle.name for bundle in listing.bundles] == ["iris"]
    assert "2 entries cannot be used" in listing.problems[0].message


@pytest.mark.parametrize(
    "body",
    [b"", b"[]", b"{}", b'{"entries": {}}', b"[" * 10_000, b'{"entries": [], "entries": []}'],
)
def test_lists_that_are_none(registry: HttpRegistry, body: bytes) -> None:
    put(registry, body)
    with pytest.raises(FormatError):
        registry_list(f"{registry.host}/lab/index")


def test_an_entry_tag_speaks_for_its_own_reference_only(registry: HttpRegistry) -> None:
    catalogue(registry).add(entry("iris"))
    (tag,) = (tag for tag in registry.manifests if tag.startswith("rra-entry-"))
    put(registry, json.dumps({"entries": [entry("wine").to_json()]}).encode(), f"{tag[:-1]}2")
    assert names(registry) == ["iris"]


# ------------------------------------------------------------------------------- listing


@pytest.fixture
def layout(tmp_path: Path) -> Path:
    artifact = locked_artifact(tmp_path / "a", name="tiny", title="Tiny\n\x1b[2J study")
    pack(artifact, tmp_path / "layout")
    return tmp_path / "layout"


def test_pushing_puts_it_in_and_listing_reads_it(registry: HttpRegistry, layout: Path) -> None:
    index = f"{registry.host}/lab/index"
    pushed = push(f"oci-layout:{layout}", f"{registry.host}/lab/tiny:1.0.0", catalog=index)
    assert pushed.catalog is not None
    assert pushed.catalog.startswith(f"{index}:catalog@sha256:")
    listing = registry_list(index, check=True)
    (found,) = listing.bundles
    assert f"{found.reference}@{found.digest}" == pushed.target
    assert (found.name, found.version, found.state) == ("tiny", "1.0.0", "there")
    assert listing.source == pushed.catalog
    assert listing.ok


def test_what_moved_and_what_is_gone(registry: HttpRegistry) -> None:
    for name in ("wine", "iris"):
        one = entry(name)
        reference = one.reference.replace("r.test", registry.host).replace("1.0.0", name)
        catalogue(registry).add(Entry(reference, *list(one.to_json().values())[1:-1]))
    registry.add_manifest("wine")
    listing = registry_list(f"{registry.host}/lab/index", check=True)
    assert {bundle.name: bundle.state for bundle in listing.bundles} == {
        "iris": "gone",
        "wine": "moved",
    }
    assert listing.exit_code == 1


def test_nothing_is_sent_where_the_catalogue_is_none(registry: HttpRegistry, layout: Path) -> None:
    registry.add_manifest("catalog")
    index = f"{registry.host}/lab/index"
    with pytest.raises(UsageError, match="something else than a catalogue"):
        push(f"oci-layout:{layout}", f"{registry.host}/lab/tiny:1", catalog=index)
    with pytest.raises(UsageError):
        push(f"oci-layout:{layout}", f"{registry.host}/lab/tiny:1", catalog="oci-layout:x")
    assert registry.asked("PUT") == []


def test_a_catalogue_that_fails_later_is_told_apart_from_the_push(
    registry: HttpRegistry, layout: Path
) -> None:
    registry.rules.append(
        lambda seen: Reply(403) if seen.method == "PUT" and "/lab/index/" in seen.path else None
    )
    index = f"{registry.host}/lab/index"
    with pytest.raises(RegistryError, match="is there, but not listed in") as caught:
        push(f"oci-layout:{layout}", f"{registry.host}/lab/tiny:1.0.0", catalog=index)
    assert f"{registry.host}/lab/tiny:1.0.0@sha256:" in caught.value.message
    assert "1.0.0" in registry.manifests


def test_a_file_is_listed_from_manifest_and_config_alone(
    registry: HttpRegistry, layout: Path, tmp_path: Path
) -> None:
    push(f"oci-layout:{layout}", f"{registry.host}/lab/tiny:1.0.0")
    manifest = json.loads(registry.manifests["1.0.0"][0])
    registry.seen.clear()
    file = tmp_path / "references.txt"
    lines = [
        "# mine",
        "",
        f"{registry.host}/lab/tiny:1.0.0",
        f"  oci-layout:{layout}  ",
        f"{registry.host}/lab/tiny:absent",
        "me:pass-word@r.test/x:1",
        "not a reference",
        "x" * 100_000,
    ]
    file.write_text("\ufeff" + "\n".join(lines), "utf-8")
    listing = registry_list(file=file)
    assert [bundle.name for bundle in listing.bundles] == ["tiny", "tiny", "", "", "", ""]
    assert listing.exit_code == 3
    fetched = {seen.path.rpartition("/")[2] for seen in registry.asked("GET", "/blobs/")}
    assert fetched == {manifest["config"]["digest"]}
    assert "pass-word" not in json.dumps(listing.to_json())


def test_ten_thousand_entries_take_little_memory(registry: HttpRegistry) -> None:
    entries = [
        {**entry(f"study-{number:05}").to_json(), "title": f"{number} " * 20}
        for number in range(10_000)
    ]
    put(registry, json.dumps({"entries": entries}).encode())
    place = catalogue(registry)
    tracemalloc.start()
    found = place.read()
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(found.entries) == 10_000
    assert most < 64 << 20
    assert len(registry.seen) < 10


def test_order_is_that_of_the_file_whatever_the_jobs(layout: Path, tmp_path: Path) -> None:
    file = tmp_path / "references.txt"
    file.write_text("\n".join(f"oci-layout:{tmp_path}/{number}" for number in range(50)))
    listed = [bundle.reference for bundle in registry_list(file=file, jobs=8).bundles]
    assert listed == file.read_text().split()


@pytest.mark.parametrize("name", ["r.test/x@" + CORE, ".", "oci-layout:x", "https://r.test/x"])
def test_what_is_no_catalogue(name: str) -> None:
    with pytest.raises(RraError) as caught:
        registry_list(name)
    assert caught.value.exit_code == 2


def test_neither_or_both(tmp_path: Path, registry: HttpRegistry) -> None:
    with pytest.raises(UsageError):
        registry_list()
    with pytest.raises(UsageError):
        registry_list("r.test/x", file=tmp_path / "x")
    with pytest.raises(UsageError, match="cannot be read"):
        registry_list(file=tmp_path / "absent")
    with pytest.raises(UsageError, match="no catalogue"):
        registry_list(f"{registry.host}/x")


def test_a_title_steers_no_terminal_and_stays_on_its_line(
    registry: HttpRegistry, layout: Path
) -> None:
    index = f"{registry.host}/lab/index"
    push(f"oci-layout:{layout}", f"{registry.host}/lab/tiny:1.0.0", catalog=index)
    shown = rra("registry", "list", index).expect(0).out
    assert "\x1b" not in shown
    assert f"{registry.host}/lab/tiny:1.0.0  tiny 1.0.0 Tiny \\x1b[2J study\n" in shown


def test_no_bundle_takes_the_place_of_a_catalogue(registry: HttpRegistry, tmp_path: Path) -> None:
    catalogue(registry).add(entry("wine"))
    before = dict(registry.manifests)
    artifact = locked_artifact(tmp_path / "a")
    pack(artifact, tmp_path / "b")
    for send in (push, copy):
        with pytest.raises(UsageError, match="holds a catalogue, whose entries would be lost"):
            send(f"oci-layout:{tmp_path}/b", f"{registry.host}/lab/index:catalog")
    with pytest.raises(UsageError, match="holds a catalogue"):
        push(str(artifact.root), f"{registry.host}/lab/index:catalog")
    with pytest.raises(UsageError, match="cannot be both"):
        push(
            str(artifact.root),
            f"{registry.host}/lab/index:catalog",
            catalog=f"{registry.host}/lab/index",
        )
    assert registry.manifests == before
    assert names(registry) == ["wine"]
