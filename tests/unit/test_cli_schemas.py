"""What the verbs print with ``--json`` is what ``schemas/cli`` says, and nothing beside it."""

from __future__ import annotations

import contextlib
import io
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from referencing import Registry, Resource

from rra.artifact import load_artifact
from rra.cli.main import main
from tests.lint.support import write_artifact
from tests.support.artifacts import make_artifact, record_run
from tests.support.source import ROOT
from tests.support.verbs import verbs

FOLDER = ROOT / "schemas" / "cli"
NAMES = sorted(path.name.removesuffix(".schema.json") for path in FOLDER.iterdir())
NOT_VERBS = {"envelope", "shared", "catalog", "registry-check-line", "lock-event"}
COMPUTE = """\
import json
hits = [wine % 97 != 5 for wine in range(178)]
print(json.dumps({"accuracy": 100 * sum(hits) / len(hits)}))
"""


def read(name: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((FOLDER / f"{name}.schema.json").read_text("utf-8"))
    return document


def closed(schema: Any, *, top: bool = True) -> Any:
    """Return a schema in which objects have no other properties than those described."""
    if isinstance(schema, list):
        return [closed(item, top=False) for item in schema]
    if not isinstance(schema, dict):
        return schema
    copy = {
        key: {name: closed(part, top=False) for name, part in value.items()}
        if key in {"properties", "$defs"}
        else closed(value, top=False)
        for key, value in schema.items()
    }
    if not top and schema.get("type") == "object" and "properties" in schema:
        copy.setdefault("additionalProperties", False)
    return copy


REGISTRY: Registry[Any] = Registry().with_resources(
    (read(name)["$id"], Resource.from_contents(closed(read(name)))) for name in NAMES
)


def check(verb: str, document: Any) -> None:
    validator = Draft202012Validator(closed(read(verb)), registry=REGISTRY)
    faults = [
        f"{'/'.join(map(str, error.absolute_path))}: {error.message}"
        for error in _leaves(validator, document)
    ]
    assert faults == []
    assert document["ok"] == (document["exit_code"] == 0)


def _leaves(validator: Draft202012Validator, document: Any) -> Iterator[Any]:
    for error in validator.iter_errors(document):
        yield from error.context or [error]


def call(*arguments: str, cwd: Path) -> dict[str, Any]:
    """Run a verb with ``--json``; standard output is one JSON document, whatever happens."""
    output = io.StringIO()
    with (
        pytest.MonkeyPatch.context() as patch,
        contextlib.redirect_stdout(output),
        contextlib.chdir(cwd),
    ):
        patch.setattr(sys, "argv", ["rra", *arguments, "--json"])
        with pytest.raises(SystemExit) as ending:
            main()
    document: dict[str, Any] = json.loads(output.getvalue())
    assert document["exit_code"] == ending.value.code
    check(document["verb"], document)
    assert " ".join(arguments).startswith(document["verb"].replace("-", " "))
    return document


def test_every_verb_has_a_schema() -> None:
    assert set(NAMES) - NOT_VERBS == {name.replace(" ", "-") for name in verbs()}


@pytest.mark.parametrize("name", NAMES)
def test_the_schema_is_one_and_describes_everything(name: str) -> None:
    schema = read(name)
    Draft202012Validator.check_schema(schema)
    assert schema["$id"] == f"https://w3id.org/rra/v1/cli/{name}.schema.json"
    assert [where for where, part in properties(schema, name) if not described(part)] == []


def properties(schema: Any, where: str) -> Iterator[tuple[str, Any]]:
    if isinstance(schema, dict):
        for key, part in schema.get("properties", {}).items():
            yield f"{where}.{key}", part
        for key, value in schema.items():
            if key not in {"allOf", "if", "then", "else"}:
                yield from properties(value, f"{where}/{key}")
    elif isinstance(schema, list):
        for value in schema:
            yield from properties(value, where)


def described(part: Any) -> bool:
    return "description" in part or "$ref" in part or set(part) in ({"const"}, {"anyOf"})


@pytest.mark.parametrize(
    "arguments",
    [
        ["lint", "absent"],
        ["verify", "absent"],
        ["explain", "nothing-like-that"],
        ["trace", "98.9", "absent"],
        ["lint", "--profile", "basic", "broken"],
    ],
)
def test_errors_are_documents_too(arguments: list[str], tmp_path: Path) -> None:
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "rra.yaml").write_text("rra: [1\n", encoding="utf-8")
    document = call(*arguments, cwd=tmp_path)
    assert document["exit_code"] in {2, 4}
    assert document["result"]["error"]["message"]
    assert document["result"]["error"]["hint"]


def test_findings_of_every_kind(tmp_path: Path) -> None:
    files = {
        "rra.yaml": "keyword: [x]\nx-lint: {ignore: {RRA102: upstream's comment}}\n",
        "code/main.py": "open('/home/agnes/x')\n",
        "guide/GUIDE.md": "⟦fill: why⟧\n",
    }
    document = call("lint", str(write_artifact(tmp_path / "a", files)), cwd=tmp_path)
    result = document["result"]
    assert document["exit_code"] == 1
    assert {"RRA002", "RRA401"} <= {finding["rule"] for finding in result["findings"]}
    assert [item["finding"]["rule"] for item in result["suppressed"]] == ["RRA102"]


def test_the_format_itself(tmp_path: Path) -> None:
    write_artifact(tmp_path / "a")
    folder = tmp_path / "cases" / "one"
    folder.mkdir(parents=True)
    expect = "title: x\ndocument: settings\nfile: settings.yaml\nstage: schema\nverdict: valid\n"
    (folder / "expect.yaml").write_text(expect, encoding="utf-8")
    (folder / "settings.yaml").write_text("a: 1\nx-b: 2\n", encoding="utf-8")
    assert call("spec", "conformance", "cases", cwd=tmp_path)["exit_code"] == 1
    for arguments in (
        ["spec", "versions"],
        ["spec", "schema", "lock"],
        ["spec", "schema", "nothing-like-it"],
        ["spec", "migrate", "a"],
        ["lint", "cases/one/settings.yaml"],
    ):
        call(*arguments, cwd=tmp_path)


def test_verbs_that_only_look(tmp_path: Path) -> None:
    root = write_artifact(tmp_path / "a")
    (root / "guide" / "GUIDE.md").write_text("# Guide\n\n⟦fill: why⟧\n", encoding="utf-8")
    for arguments in (
        ["explain"],
        ["explain", "RRA102"],
        ["doctor"],
        ["scan", str(root)],
        ["repair", str(root)],
        ["guide", str(root)],
        ["next", str(root)],
        ["trace", "98.9", str(root)],
        ["report", str(root), "--output", "page.html"],
    ):
        call(*arguments, cwd=tmp_path)
    assert (tmp_path / "page.html").is_file()


@pytest.mark.parametrize("reported", ["98.9", "97.2"])
def test_the_whole_way_from_run_to_report(tmp_path: Path, reported: str) -> None:
    outcome = {
        "type": "number",
        "reported": reported,
        "selector": {"launcher": "main", "file": "metrics.json", "json": "/accuracy"},
    }
    experiments = {"table": {"outcomes": {"accuracy": outcome}}}
    make_artifact(tmp_path / "a", {"main.py": COMPUTE}, experiments=experiments)
    call("lock", "a", "--keep", cwd=tmp_path)
    run = call("run", cwd=tmp_path / "a")
    assert run["result"]["values"][0]["value"].startswith("98.876")
    made = call("run", "--export", "runs.mk", cwd=tmp_path / "a")["result"]["exported"]
    assert made == {
        "file": "runs.mk",
        "kind": "make",
        "tasks": ["main"],
        "start": "make -f runs.mk -j 2",
    }
    verdict = call("verify", "a", cwd=tmp_path)["result"]["reproduction"]["verdict"]
    assert verdict == ("reproduced" if reported == "98.9" else "not_reproduced")
    call("audit", "a", cwd=tmp_path)
    call("trace", reported, "a", cwd=tmp_path)
    call("next", "a", cwd=tmp_path)
    page = call("report", "a", "--output", "page.html", cwd=tmp_path)["result"]
    assert page["nonce"] in (tmp_path / "page.html").read_text("utf-8")


def test_a_draft(tmp_path: Path) -> None:
    repository = tmp_path / "study"
    repository.mkdir()
    (repository / "run.py").write_text("print('accuracy: 98.9')\n", encoding="utf-8")
    (repository / "README.md").write_text("# Study\n\nRun `python run.py`.\n", encoding="utf-8")
    document = call("init", ".", "--no-input", cwd=repository)
    assert document["exit_code"] == 0
    assert document["result"]["blanks"]


def test_proposals_of_every_standing(tmp_path: Path) -> None:
    table = (
        "## Results\n\n| model | accuracy (%) | width | cut |\n|--|--|--|--|\n"
        "| LDA | 98.9 | 0.5 | 98.8 |\n| QDA | 97.2 ± 0.3 | 0.25 | |\n"
    )
    files = {"main.py": COMPUTE + "print(0.25, 0.25)\n", "README.md": table}
    root = make_artifact(tmp_path / "a", files).root
    assert call("claims", "suggest", "a", cwd=tmp_path)["exit_code"] == 1
    record_run(load_artifact(root))
    paper = tmp_path / "p.md"
    paper.write_text(table + "\n## Options\n\n| option | n |\n|--|--|\n| a | 1 |\n", "utf-8")
    document = call("claims", "suggest", "a", "--paper", str(paper), cwd=tmp_path)
    assert document["verb"] == "claims-suggest"
    result = document["result"]
    assert {one["standing"] for one in result["proposals"]} >= {"ambiguous", "truncated"}
    assert result["declared"]
    assert result["not_found"]
    assert result["passed_over"]
    call("claims", "suggest", "a", "--write", "--accept", "nothing", cwd=tmp_path)
