"""A catalogue in Debian's docker-registry: what is pushed is listed, checked and found again."""

from __future__ import annotations

import json
import shutil
import threading
from pathlib import Path

import pytest

from rra.api import push, registry_check, registry_list, registry_tags
from tests.acceptance.command import rra
from tests.services.registry import Registry
from tests.services.test_skopeo import skopeo
from tests.support.needs import needs
from tests.unit.test_cli_schemas import check

pytestmark = needs("docker-registry")


def test_pushes_at_once_are_all_listed(registry: Registry, layout: Path) -> None:
    index = f"{registry.host}/lab/index"
    names = [f"{registry.host}/lab/study-{number}:1.0.0" for number in range(6)]
    threads = [
        threading.Thread(
            target=push, args=(f"oci-layout:{layout}", name), kwargs={"catalog": index}
        )
        for name in names
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    listing = registry_list(index, check=True)
    assert [bundle.reference for bundle in listing.bundles] == names
    assert {bundle.state for bundle in listing.bundles} == {"there"}
    assert registry_tags(index).tags == ("catalog",)


@pytest.mark.needs("skopeo")
def test_the_whole_way_on_the_command_line(
    registry: Registry, layout: Path, digest: str, tmp_path: Path
) -> None:
    index, place = f"{registry.host}/lab/index", f"{registry.host}/lab/tiny:1.0.0"
    pushed = rra("push", f"oci-layout:{layout}", place, "--catalog", index, "--json").expect(0)
    check("push", pushed.envelope)
    assert f"listed in {index}:catalog@sha256:" in (
        rra("push", f"oci-layout:{layout}", place, "--catalog", index).expect(0).out
    )
    listed = rra("registry", "list", index, "--json").expect(0)
    check("registry-list", listed.envelope)
    assert [bundle["digest"] for bundle in listed.result["bundles"]] == [digest]
    assert place in rra("registry", "list", index).expect(0).out
    raw = skopeo("inspect", "--tls-verify=false", "--raw", f"docker://{index}:catalog")
    assert json.loads(raw)["artifactType"] == "application/vnd.rra.catalog.v1+json"
    file = tmp_path / "references.txt"
    file.write_text(f"{place}\n{registry.host}/lab/tiny@{digest}\n{registry.host}/no:1\n")
    done = rra("registry", "check", file, "--jsonl", tmp_path / "out.jsonl", "--json").expect(3)
    check("registry-check", done.envelope)
    assert done.result["verdicts"] == {"passed": 2, "failed": 0, "error": 1}


def test_the_registry_comes_back_and_the_check_goes_on(
    registry: Registry, layout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rra._base.clock.sleep", lambda _: None)
    push(f"oci-layout:{layout}", f"{registry.host}/lab/tiny:1.0.0")
    away = registry.folder / "away"
    shutil.move(registry.folder / "storage", away)
    file = tmp_path / "references.txt"
    file.write_text(f"{registry.host}/lab/tiny:1.0.0\n")
    assert registry_check(file, tmp_path / "out.jsonl").exit_code == 3
    shutil.move(away, registry.folder / "storage")
    assert registry_check(file, tmp_path / "out.jsonl").ok
