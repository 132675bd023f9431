"""B11: build metadata of a version, which no tag can hold, goes there and back unharmed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rra.api import copy, pull, push
from rra.bundle.annotations import CORE
from rra.bundle.reference import (
    LayoutReference,
    RegistryReference,
    parse_reference,
    tag_of_version,
    version_of_tag,
)
from rra.bundle.store import MANIFEST_TYPE
from rra.errors import UsageError
from tests.support.http_registry import HttpRegistry, sha256
from tests.support.kill_points import make_bundle

VERSION, TAG = "1.2.0+cu128", "1.2.0_cu128"
ANNOTATION = "org.opencontainers.image.version"


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> str:
    return make_bundle(tmp_path_factory.mktemp("bundle"), VERSION)


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> str:
    return make_bundle(tmp_path_factory.mktemp("other"), "1.2.0")


@pytest.mark.parametrize(
    ("version", "tag"),
    [
        (VERSION, TAG),
        ("1.0.0-rc.1+build.5", "1.0.0-rc.1_build.5"),
        ("1.0.0", "1.0.0"),
        ("1.0.0-rc.1", "1.0.0-rc.1"),
    ],
)
def test_b11_a_version_is_its_tag_both_ways(version: str, tag: str) -> None:
    assert tag_of_version(version) == tag
    assert version_of_tag(tag) == version


@pytest.mark.parametrize("tag", ["latest", "my_tag", "1_2", "1.2.0_a_b", "_", "1.2.0_", "v1.2.0_x"])
def test_b11_other_tags_stand_for_themselves(tag: str) -> None:
    assert version_of_tag(tag) == tag


def test_b11_a_reference_may_name_the_version() -> None:
    assert parse_reference(f"r.test/a:{VERSION}") == RegistryReference(
        "r.test", "a", TAG, None, VERSION
    )
    assert parse_reference(f"oci-layout:x:{VERSION}") == LayoutReference(
        Path("x"), TAG, None, VERSION
    )
    assert str(parse_reference(f"r.test/a:{VERSION}")) == f"r.test/a:{TAG}"
    with pytest.raises(UsageError, match="is not a tag"):
        parse_reference("r.test/a:my+tag")


def test_b11_push_list_pull(registry: HttpRegistry, bundle: str, tmp_path: Path) -> None:
    pushed = push(bundle, f"{registry.host}/lab/study")
    assert pushed.pushed is not None
    assert pushed.pushed.tag == TAG
    assert sorted(registry.manifests) == sorted([TAG, pushed.pushed.digest])
    manifest = json.loads(registry.manifests[TAG][0])
    assert manifest["annotations"][ANNOTATION] == VERSION
    for number, name in enumerate((VERSION, TAG)):
        pulled = pull(f"{registry.host}/lab/study:{name}", str(tmp_path / f"{number}"))
        assert pulled.digest == pushed.pushed.digest
        assert f'"version": "{VERSION}"' in (tmp_path / f"{number}/rra.yaml").read_text()


def test_b11_the_same_version_moves_its_tag(
    registry: HttpRegistry, bundle: str, tmp_path: Path
) -> None:
    push(bundle, f"{registry.host}/lab/study:{VERSION}")
    manifest = json.loads(registry.manifests[TAG][0])
    manifest["annotations"]["org.example.changed"] = "yes"
    for core, warned in ((manifest["annotations"][CORE], False), ("sha256:" + "0" * 64, True)):
        manifest["annotations"][CORE] = core
        data = json.dumps(manifest).encode()
        registry.manifests[TAG] = (data, MANIFEST_TYPE)
        done = push(bundle, f"{registry.host}/lab/study:{VERSION}")
        assert sha256(registry.manifests[TAG][0]) == bundle.partition("@")[2]
        said = [one.message for one in done.problems if "another artifact" in one.message]
        assert [text.startswith(f"was {sha256(data)}") for text in said] == [True] * warned


@pytest.mark.parametrize(
    ("annotations", "what"),
    [
        ({ANNOTATION: TAG}, f"holds version {TAG}"),
        ({ANNOTATION: "1.2.0"}, "holds version 1.2.0"),
        ({}, "holds something without a version"),
        (None, "holds something without a version"),
    ],
)
def test_b11_a_real_tag_of_that_name_is_not_overwritten(
    registry: HttpRegistry, bundle: str, annotations: dict[str, str] | None, what: str
) -> None:
    registry.add_manifest(TAG)
    document = json.loads(registry.manifests[TAG][0])
    if annotations is not None:
        document["annotations"] = annotations
    registry.manifests[TAG] = (json.dumps(document).encode(), MANIFEST_TYPE)
    before = dict(registry.manifests)
    with pytest.raises(UsageError, match="since tags have no") as caught:
        push(bundle, f"{registry.host}/lab/study")
    assert what in caught.value.message
    assert f"{registry.host}/lab/study:{TAG}" in caught.value.message
    assert VERSION in caught.value.message
    assert caught.value.exit_code == 2
    assert "another tag" in caught.value.hint
    assert registry.manifests == before
    assert registry.asked("POST") == registry.asked("PUT") == []  # not one blob was sent
    assert push(bundle, f"{registry.host}/lab/study:cu128").pushed is not None


def test_b11_another_version_does_not_take_the_tag(
    registry: HttpRegistry, bundle: str, other: str
) -> None:
    push(bundle, f"{registry.host}/lab/study")
    with pytest.raises(UsageError, match=r"holds version 1\.2\.0\+cu128, and version 1\.2\.0 is"):
        push(other, f"{registry.host}/lab/study:{TAG}")
    assert sha256(registry.manifests[TAG][0]) == bundle.partition("@")[2]
    assert push(other, f"{registry.host}/lab/study").pushed is not None  # its own is 1.2.0


def test_b11_a_pull_by_version_insists_on_it(
    registry: HttpRegistry, other: str, tmp_path: Path
) -> None:
    push(other, f"{registry.host}/lab/study:{TAG}")
    with pytest.raises(UsageError, match=r"holds version 1\.2\.0, not 1\.2\.0\+cu128"):
        pull(f"{registry.host}/lab/study:{VERSION}", str(tmp_path / "x"))
    assert pull(f"{registry.host}/lab/study:{TAG}", str(tmp_path / "x")).complete


def test_b11_folders_and_files_keep_to_the_same(bundle: str, other: str, tmp_path: Path) -> None:
    for form in ("oci-layout", "oci-archive"):
        place = f"{form}:{tmp_path}/{form}"
        assert copy(bundle, place).tag == TAG
        with pytest.raises(UsageError, match="since tags have no"):
            copy(other, f"{place}:{TAG}")
        assert copy(f"{place}:{VERSION}", f"oci-layout:{tmp_path}/again-{form}").tag == TAG


def test_b11_a_tag_that_says_another_version_is_refused(
    registry: HttpRegistry, other: str, tmp_path: Path
) -> None:
    for place in (f"{registry.host}/lab/study", f"oci-layout:{tmp_path}/b"):
        with pytest.raises(UsageError, match=r"is to hold version 1\.2\.0\+cu128, and the bundle"):
            copy(other, f"{place}:{VERSION}")
    assert not registry.manifests
    assert not (tmp_path / "b").exists()
