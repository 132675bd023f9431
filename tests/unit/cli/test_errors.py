from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.artifacts import make_artifact
from tests.unit.cli.test_main import call


def test_a_single_problem_is_said_once(tmp_path: Path) -> None:
    root = make_artifact(tmp_path, {"main.py": ""}).root
    (root / "code" / "old.csv").symlink_to("gone.csv")
    done = call("lock", str(root), "--keep")
    assert done.returncode == 4
    said = [line for line in done.stderr.splitlines() if not line.startswith("·")]
    link = "code/old.csv is a symbolic link to something that is not in the archive: gone.csv"
    hint = "remove the link, or exclude it (code.exclude in rra.yaml): it leads to no file"
    assert said == [
        f"error: cannot be archived: {link} [canonical-tar/links] [format/invalid]",
        f"  what to do: {hint}",
    ]


def test_a_manifest_that_is_not_yaml_is_said_once(tmp_path: Path) -> None:
    (tmp_path / "rra.yaml").write_text("rra: [\n")
    done = call("lint", str(tmp_path))
    assert done.returncode == 4
    assert (done.stdout + done.stderr).count("not valid YAML") == 1
    assert done.stdout.startswith("rra.yaml:2:1: error RRA001 not valid YAML")


@pytest.mark.parametrize("way", ["artifact", "document"])
def test_every_form_of_lint_carries_a_fault_of_the_text(tmp_path: Path, way: str) -> None:
    by_itself = way == "document"
    manifest = tmp_path / "rra.yaml"
    manifest.write_text('rra: "1.0"\nname: a\nname: b\n')
    more = [str(manifest), "--document", "manifest"] if by_itself else [str(tmp_path)]
    place = str(manifest) if by_itself else "rra.yaml"

    github = call("lint", *more, "--format", "github")
    first = f"::error file={place},title=RRA001,line=3,col=1::key 'name' is given twice"
    assert github.stdout.startswith(first)
    assert "[documents/duplicate-key]" in github.stdout.splitlines()[0]

    sarif = call("lint", *more, "--format", "sarif")
    (found,) = json.loads(sarif.stdout)["runs"][0]["results"]
    assert found["ruleId"] == "RRA001"
    assert found["properties"]["clause"] == "documents/duplicate-key"
    region = found["locations"][0]["physicalLocation"]["region"]
    assert region == {"startLine": 3, "startColumn": 1}

    plain = call("lint", *more, "--format", "json")
    said = json.loads(plain.stdout)["findings"]
    envelope = call("lint", *more, "--json")
    whole = json.loads(envelope.stdout)
    assert whole["result"]["findings"] == said
    assert whole["result"]["error"]["slug"] == "format/invalid"
    (problem,) = whole["problems"]
    for one in (*said, problem):
        assert (one["path"], one["line"], one["column"]) == (place, 3, 1)
        assert (one["clause"], one["pointer"]) == ("documents/duplicate-key", "")
    schema = Path(__file__).parents[3] / "schemas" / "cli" / "lint.schema.json"
    result_schema = json.loads(schema.read_text())["$defs"]["result"]
    assert set(whole["result"]) == set(result_schema["properties"])
    assert {done.returncode for done in (github, sarif, plain, envelope)} == {4}


def test_a_file_of_unknown_name_is_told_the_option_that_the_verb_has(tmp_path: Path) -> None:
    (tmp_path / "foo.txt").write_text("{}\n")
    lint = call("lint", str(tmp_path / "foo.txt"))
    assert lint.returncode == 2
    assert "--document manifest|settings|" in lint.stderr
    migrate = call("spec", "migrate", str(tmp_path / "foo.txt"))
    assert migrate.returncode == 2
    assert "the names are rra.yaml, settings.yaml" in migrate.stderr
    assert "document it is" not in migrate.stderr
    assert "--document" not in migrate.stderr
