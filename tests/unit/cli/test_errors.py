from __future__ import annotations

from pathlib import Path

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
    assert done.stderr.count("not valid YAML") == 1
