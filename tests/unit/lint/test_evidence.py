from __future__ import annotations

from pathlib import Path

from rra.lint import Severity, lint_artifact
from tests.support.artifacts import make_artifact, record_run

MAIN = "import json\nprint(json.dumps({'accuracy': sum(x % 7 == 3 for x in range(90))}))\n"


def found(root: Path) -> list[tuple[str, str]]:
    result = lint_artifact(root, select=["RRA502"])
    assert {finding.rule for finding in result.findings} <= {"RRA502"}
    return [(finding.path, finding.message) for finding in result.findings]


def recorded(tmp_path: Path) -> tuple[Path, Path, str]:
    artifact = make_artifact(tmp_path / "a", {"main.py": MAIN})
    run = record_run(artifact)
    assert run.ok
    assert run.evidence_dir is not None
    return artifact.root, run.evidence_dir, f"evidence/main/{run.evidence_dir.name}"


def test_fresh_evidence_is_in_order(tmp_path: Path) -> None:
    root, _, _ = recorded(tmp_path)
    assert found(root) == []


def test_a_launcher_that_was_edited_makes_its_evidence_stale(tmp_path: Path) -> None:
    root, _, place = recorded(tmp_path)
    launcher = root / "launchers" / "main.sh"
    launcher.write_text(launcher.read_text("utf-8") + "true\n", "utf-8")
    assert found(root) == [(f"{place}/record.json", "the launcher has changed since this run")]


def test_an_environment_that_was_locked_again_is_said(tmp_path: Path) -> None:
    root, _, place = recorded(tmp_path)
    lock = root / "environment" / "cpu" / "pylock.toml"
    lock.write_text(lock.read_text("utf-8") + "# again\n", "utf-8")
    assert found(root) == [
        (f"{place}/record.json", "the environment was locked again since this run")
    ]


def test_an_output_that_was_edited_is_an_error(tmp_path: Path) -> None:
    root, directory, place = recorded(tmp_path)
    (directory / "outputs" / "metrics.json").write_text('{"accuracy": 99}', "utf-8")
    result = lint_artifact(root, select=["RRA502"])
    assert [f.severity for f in result.findings] == [Severity.ERROR]
    assert result.findings[0].path == f"{place}/outputs/metrics.json"
    assert "the record says sha256:" in result.findings[0].message


def test_a_record_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    root, directory, place = recorded(tmp_path)
    (directory / "record.json").write_text("{", "utf-8")
    result = lint_artifact(root, select=["RRA502"])
    assert [f.severity for f in result.findings] == [Severity.ERROR]
    assert result.findings[0].path == f"{place}/record.json"
    assert "not an execution record" in result.findings[0].message
    assert result.findings[0].hint
