"""The worked example of the core digest, made again with tar, sha256sum and plain Python."""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from rra._base.yaml import parse_yaml
from rra.artifact import load_artifact
from rra.bundle import core_digest, core_document
from rra.model import Environment, Launcher, Outcome
from tests.conformance.plain_json import canonical_text

ROOT = Path(__file__).parents[2]
WORKED = ROOT / "schemas/conformance/v1/valid/core-digest/worked"
CORE = ROOT / "schemas/conformance/v1/vectors/core-digest/core.json"
PAGE = (ROOT / "spec/v1/core-digest.md").read_text("utf-8")
MEMBERS = {
    "code": ["code", "code/main.py"],
    "environment": [
        "environment",
        "environment/cpu",
        "environment/cpu/README.md",
        "environment/cpu/pylock.toml",
        "environment/cpu/requirements.txt",
    ],
    "launchers": ["launchers", "launchers/lda.sh"],
}


def diff_id(members: list[str]) -> str:
    """Return what the command of the page prints for an element."""
    command = (
        "tar --format=ustar --no-recursion --blocking-factor=1 --numeric-owner --owner=0 --group=0"
        " --mtime=@315532800 --mode=u=rwX,go=rX -cf - -T - | sha256sum"
    )
    names = "".join(f"{name}\n" for name in members)
    done = subprocess.run(
        ["sh", "-c", command], cwd=WORKED, input=names, capture_output=True, text=True, check=True
    )
    return "sha256:" + done.stdout.split()[0]


def elements() -> dict[str, str]:
    nothing = "sha256:" + hashlib.sha256(bytes(1024)).hexdigest()
    return {name: diff_id(members) for name, members in MEMBERS.items()} | {"data": nothing}


def document() -> dict[str, Any]:
    """Return the core document of the worked example, from its manifest by hand."""
    manifest = parse_yaml((WORKED / "rra.yaml").read_text("utf-8"), source="rra.yaml").data
    launcher = manifest["launchers"]["lda"]
    return {
        "type": "core/v1",
        "elements": elements(),
        "environments": manifest["environments"],
        "launchers": {"lda": {**launcher, "outputs": [{"name": "metrics.json"}]}},
        "outcomes": {"table1/accuracy": manifest["experiments"]["table1"]["outcomes"]["accuracy"]},
    }


@pytest.mark.clause("core-digest/digest")
@pytest.mark.clause("core-digest/members")
def test_the_core_of_the_worked_example_needs_none_of_our_code() -> None:
    form = canonical_text(document())
    assert CORE.read_bytes() == form.encode() + b"\n"
    core = "sha256:" + hashlib.sha256(form.encode()).hexdigest()
    artifact = load_artifact(WORKED)
    assert core_document(artifact) == document()
    assert core_digest(artifact) == core
    lock = json.loads((WORKED / "rra.lock").read_text("utf-8"))
    assert lock["core"] == core
    diff_ids = {name: lock["elements"][name]["diff_id"] for name in elements()}
    assert diff_ids == elements()
    assert core in PAGE


def test_the_document_of_the_page() -> None:
    fence = re.compile(r"^```json example=test [^\n]*\n(.*?)\n```", re.MULTILINE | re.DOTALL)
    (form,) = fence.findall(PAGE)
    assert form == canonical_text(document())
    for name, digest in elements().items():
        assert re.search(rf"^{name} +{digest}$", PAGE, re.MULTILINE)


@pytest.mark.clause("core-digest/defaults")
def test_the_defaults_of_the_page_are_those_that_are_left_out() -> None:
    row = re.compile(r"^\| (.+?) \| `(\w+)` \| `(.+?)` \|$", re.MULTILINE)
    said = {(what, member): WORDS.get(value, value) for what, member, value in row.findall(PAGE)}
    found: dict[tuple[str, str], Any] = {}
    _defaults(Environment, "environment", found)
    _defaults(Launcher, "launcher", found)
    _defaults(Outcome, "outcome", found)
    assert said == found


WORDS: dict[str, Any] = {"[]": [], "{}": {}, "true": True, "false": False}
NAMES = {
    "outputs": "an output of a launcher",
    "parameters": "a parameter of a launcher",
    "seeds": "`seeds` of a launcher",
    "secrets": "a secret of a launcher",
    "selector": "`selector` of an outcome",
}


def _defaults(model: Any, what: str, found: dict[tuple[str, str], Any]) -> None:
    from pydantic_core import PydanticUndefined

    for name, field in model.model_fields.items():
        default = field.get_default(call_default_factory=True)
        if default is not None and default is not PydanticUndefined:
            found[what, field.alias or name] = default
        for inner in _models(field.annotation):
            _defaults(inner, NAMES.get(name, name), found)


def _models(annotation: Any) -> list[Any]:
    from typing import get_args

    from pydantic import BaseModel

    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [one for part in get_args(annotation) for one in _models(part)]
