"""The wine example, made anonymous: nobody is named, and every judgement is the same."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.acceptance.command import rra
from tests.acceptance.example import WINE_VERDICTS, Example, audited, verdicts
from tests.support.bundles import tree

WINE = Example("wine-discriminant")
GONE = (b"aeberhard", b"coomans", b"de vel", b"agnes", b"the rra authors", b"/dataset/109")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a copy of the artifact, its anonymous bundle, and the files of that."""
    folder = tmp_path_factory.mktemp("anonymous")
    shutil.copytree(WINE.artifact, folder / "wine")
    rra("pack", folder / "wine", f"oci-layout:{folder}/bundle", "--anonymous").expect(0)
    rra("unpack", f"oci-layout:{folder}/bundle", folder / "copy").expect(0)
    return folder


def test_nobody_is_named_and_the_artifact_is_untouched(place: Path) -> None:
    assert tree(place / "wine") == tree(WINE.artifact)
    files = tree(place / "copy")
    whole = b"\n".join(name.encode() + b"\n" + data for name, (_, data) in files.items()).lower()
    assert [text for text in GONE if text in whole] == []
    assert len(files) == len(tree(WINE.artifact))


def test_no_rule_objects_and_the_repairs_prove_themselves(place: Path) -> None:
    rra("lint", place / "copy").expect(0)
    repaired = rra("repair", place / "copy", "--json").expect(0).result
    assert repaired["equal"] is True
    assert repaired["source"] == repaired["computed"]
    assert repaired["source"] != f"swh:1:dir:{WINE.named_tree()}"
    assert len(repaired["steps"]) == len(WINE.patches)


def test_each_value_leads_to_the_same_number_run_and_script(place: Path) -> None:
    for outcome in ("lda", "qda", "1nn"):
        answers = (
            rra("trace", f"table1/{outcome}", "--json", cwd=place / name).expect(0).result
            for name in ("wine", "copy")
        )
        (before,), (after,) = (result["traces"] for result in answers)
        assert after["record"] != before["record"]
        same = ("value", "file", "place", "line", "launcher", "started", "recorder", "sha256")
        assert {key: after[key] for key in same} == {key: before[key] for key in same}
        assert after["scripts"] == before["scripts"]
        assert after["inputs"] == before["inputs"]
        assert list((place / "copy" / "evidence" / "table1").glob(after["record"][7:23]))


@pytest.mark.slow
def test_it_verifies_as_the_artifact_does(place: Path, tmp_path: Path) -> None:
    """The artifact does it in test_wine_example.py."""
    options = ("--references", str(WINE.references), "--accept-documented", "--json")
    state = {"RRA_STATE": str(tmp_path / "state")}
    anonymous = rra("verify", f"oci-layout:{place}/bundle", *options, cwd=tmp_path, env=state)
    assert anonymous.code == 0, anonymous.said
    assert verdicts(anonymous.result) == WINE_VERDICTS


@pytest.mark.slow
def test_its_audit_finds_what_the_audit_of_the_artifact_finds(place: Path, tmp_path: Path) -> None:
    found = []
    for name in ("wine", "copy"):
        state = {"RRA_STATE": str(tmp_path / name)}
        answer = rra("audit", "--accept-documented", "--json", cwd=place / name, env=state)
        found.append(
            {
                outcome: (value["verdict"], [one["code"] for one in value["findings"]])
                for outcome, value in audited(answer.expect(0).result).items()
            }
        )
    original, anonymous = found
    assert anonymous == original
    assert anonymous["table1/lda"] == ("SUPPORTED", ["no-copy-found"])


def test_the_same_bundle_comes_out_again(place: Path, tmp_path: Path) -> None:
    again = rra(
        *("pack", place / "wine", f"oci-archive:{tmp_path}/x.tar", "--anonymous", "--json"),
        env={"TMPDIR": str(tmp_path), "USER": "somebody", "HOME": str(tmp_path), "TZ": "EAST-14"},
    ).expect(0)
    mapping = json.loads((place / "bundle.private.json").read_bytes())
    assert again.result["digest"] == mapping["anonymous"]["digest"]
    assert again.result["core"] == mapping["anonymous"]["core"]
    assert (tmp_path / "x.tar.private.json").read_bytes() == (
        place / "bundle.private.json"
    ).read_bytes()
