from __future__ import annotations

from pathlib import Path, PurePosixPath

import pytest

from rra.scan import scan_repository
from rra.scan.snakefiles import is_snakefile, snakefile_lines, snakefile_scripts

RULES = '''rule all:
    input:
        "out.tsv",

rule filter:
    output: "rare.tsv"
    shell:
        "python scripts/filter.py {input} --max 0.1 "
        "--out {output} 2> {log}"

rule long:
    shell: """
        # a remark
        Rscript scripts/fit.R {input} \\
            {output}
        """

rule plot:
    script:
        "scripts/plot.py"
'''


def test_commands_of_rules_with_their_strings_joined() -> None:
    assert [(one.text, one.line) for one in snakefile_lines(RULES)] == [
        ("python scripts/filter.py {input} --max 0.1 --out {output} 2> {log}", 7),
        ("Rscript scripts/fit.R {input} {output}", 12),
    ]
    assert list(snakefile_scripts(RULES)) == [(19, "scripts/plot.py")]


@pytest.mark.parametrize(
    ("name", "told"),
    [("Snakefile", True), ("workflow/rules/a.smk", True), ("Snakefile.md", False), ("a.py", False)],
)
def test_names_of_workflows(name: str, told: bool) -> None:  # noqa: FBT001
    assert is_snakefile(PurePosixPath(name)) is told


@pytest.mark.parametrize(
    "text", ["", "rule a:", "rule a:\n    shell:", 'rule a:\n    shell: "x', "\x00"]
)
def test_broken_workflows_do_no_harm(text: str) -> None:
    assert snakefile_lines(text) == []


def test_scripts_of_rules_are_started(tmp_path: Path) -> None:
    (tmp_path / "scripts").mkdir()
    for name in ("filter.py", "fit.R", "plot.py"):
        (tmp_path / "scripts" / name).write_text("")
    (tmp_path / "Snakefile").write_text(RULES)
    found = scan_repository(tmp_path).nested_commands
    assert [str(command.script) for command in found] == [
        "scripts/filter.py",
        "scripts/fit.R",
        "scripts/plot.py",
    ]
