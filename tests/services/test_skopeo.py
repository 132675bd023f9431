"""Another client carries our bundles both ways, and every digest stays what it is."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from rra.api import copy, pull
from tests.services.registry import PASSWORD, USER, Registry
from tests.services.test_docker_registry import content
from tests.support.needs import needs

pytestmark = [needs("docker-registry"), needs("skopeo")]


def skopeo(*arguments: str) -> str:
    done = subprocess.run(
        ["skopeo", "--insecure-policy", *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def blobs(layout: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (layout / "blobs/sha256").iterdir()}


def test_skopeo_reads_what_we_pushed(
    registry: Registry, layout: Path, digest: str, tmp_path: Path
) -> None:
    copy(f"oci-layout:{layout}", f"{registry.host}/tiny:1.0.0")
    found = skopeo("inspect", "--tls-verify=false", "--raw", f"docker://{registry.host}/tiny:1.0.0")
    assert found.encode() == (layout / "blobs/sha256" / digest.removeprefix("sha256:")).read_bytes()
    skopeo(
        "copy",
        "--src-tls-verify=false",
        f"docker://{registry.host}/tiny:1.0.0",
        f"oci:{tmp_path / 'theirs'}:1.0.0",
    )
    assert blobs(tmp_path / "theirs") == blobs(layout)
    index = json.loads((tmp_path / "theirs/index.json").read_text())
    assert [entry["digest"] for entry in index["manifests"]] == [digest]


def test_we_read_what_skopeo_pushed(
    registry: Registry, artifact: Path, layout: Path, digest: str, tmp_path: Path
) -> None:
    skopeo(
        "copy",
        "--dest-tls-verify=false",
        f"oci:{layout}:1.0.0",
        f"docker://{registry.host}/lab/tiny:theirs",
    )
    assert pull(f"{registry.host}/lab/tiny:theirs", str(tmp_path / "back")).digest == digest
    assert content(tmp_path / "back") == content(artifact)


@pytest.mark.parametrize("form", ["oci", "oci-archive"])
def test_round_the_whole_way(
    registry: Registry, layout: Path, digest: str, tmp_path: Path, form: str
) -> None:
    """Registry → skopeo → folder or file → rra → registry → skopeo."""
    ours = "oci-layout" if form == "oci" else form
    copy(f"oci-layout:{layout}", f"{registry.host}/one:1.0.0")
    skopeo(
        "copy",
        "--src-tls-verify=false",
        f"docker://{registry.host}/one:1.0.0",
        f"{form}:{tmp_path}/theirs:1.0.0",
    )
    there = copy(f"{ours}:{tmp_path}/theirs:1.0.0", f"{registry.host}/two:1.0.0")
    back = copy(f"{registry.host}/two:1.0.0", f"{ours}:{tmp_path}/ours:1.0.0")
    skopeo(
        "copy",
        "--dest-tls-verify=false",
        f"{form}:{tmp_path}/ours:1.0.0",
        f"docker://{registry.host}/three:1.0.0",
    )
    last = copy(f"{registry.host}/three:1.0.0", f"oci-layout:{tmp_path}/last")
    assert {there.digest, back.digest, last.digest} == {digest}
    assert blobs(tmp_path / "last") == blobs(layout)


def test_a_login_of_skopeo_is_ours_too(
    guarded: Registry,
    layout: Path,
    digest: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("REGISTRY_AUTH_FILE", str(tmp_path / "auth.json"))
    skopeo("login", "--tls-verify=false", "-u", USER, "-p", PASSWORD, guarded.host)
    assert copy(f"oci-layout:{layout}", f"{guarded.host}/lab/tiny:1").digest == digest


Keep = Callable[..., Path]


def test_our_login_is_read_where_skopeo_reads_it(
    guarded: Registry, layout: Path, digest: str, log_in: Keep, tmp_path: Path
) -> None:
    log_in(guarded)
    copy(f"oci-layout:{layout}", f"{guarded.host}/lab/tiny:1")
    skopeo(
        "copy",
        "--src-tls-verify=false",
        f"docker://{guarded.host}/lab/tiny:1",
        f"oci:{tmp_path / 'theirs'}:1",
    )
    assert blobs(tmp_path / "theirs") == blobs(layout)
