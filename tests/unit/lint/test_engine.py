from __future__ import annotations

import errno
import os
from collections.abc import Iterable
from pathlib import Path

import pytest

from rra.artifact import Artifact
from rra.errors import FormatError, NotAnArtifactError, StorageError, UsageError
from rra.lint import Finding, Profile, Severity, lint_artifact, lint_document
from rra.lint.context import Context
from rra.lint.rule import rules
from rra.lint.rules.rra103_lfs_pointer import LfsPointer
from tests.lint.support import MANIFEST, write_artifact

POINTER = "version https://git-lfs.github.com/spec/v1\nsize 3\n"
REPAIRS = """\
0001-path:
  title: T
  symptom: S
  cause: C
  patch: guide/repairs/0001-path.patch
  category: path
  effect_on_results: none
  rationale: R
"""
PERSONAL = {"code/main.py": "open('/home/agnes/wine.csv')\n"}


def codes(findings: Iterable[Finding]) -> list[str]:
    return [finding.rule for finding in findings]


def test_a_rule_that_raises_becomes_a_finding_and_the_others_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(self: LfsPointer, context: Context) -> Iterable[Finding]:
        yield self.at("code/x", "first")
        raise ValueError("no such luck")

    monkeypatch.setattr(LfsPointer, "check", broken)
    result = lint_artifact(write_artifact(tmp_path, PERSONAL))
    assert codes(result.findings) == ["RRA102", "RRA103", "RRA000"]
    assert result.findings[2].message == "RRA103 (lfs-pointer) failed: ValueError: no such luck"
    assert result.findings[2].severity is Severity.ERROR
    assert not result.ok


def test_a_full_disk_is_no_finding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No rule can look then, and the artifact is not to blame."""

    def full(self: LfsPointer, context: Context) -> Iterable[Finding]:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "/tmp/rra-x")

    monkeypatch.setattr(LfsPointer, "check", full)
    with pytest.raises(StorageError, match="no space left on the disk of /tmp/rra-x"):
        lint_artifact(write_artifact(tmp_path, PERSONAL))


@pytest.mark.parametrize(
    ("entry", "rule", "message"),
    [
        ("python main.py\n", "RRA301", "has no #! in its first line"),
        (None, "RRA003", "launcher launchers/one.sh is not there (named in 2 more places)"),
    ],
)
def test_a_file_that_launchers_share_is_named_once(
    tmp_path: Path, entry: str | None, rule: str, message: str
) -> None:
    launchers = "".join(
        f"  {name}: {{entry: launchers/one.sh, environment: cpu, outputs: [metrics.json]}}\n"
        for name in ("lda", "qda", "knn")
    )
    one = next(line for line in MANIFEST.splitlines() if line.startswith("  lda:")) + "\n"
    files = {"rra.yaml": MANIFEST.replace(one, launchers)}
    files |= {"launchers/one.sh": entry} if entry else {}
    result = lint_artifact(write_artifact(tmp_path, files), select=[rule])
    assert [finding.message for finding in result.findings] == [message]


def test_what_a_rule_says_twice_of_one_place_is_one_finding(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def twice(self: LfsPointer, context: Context) -> Iterable[Finding]:
        del context
        yield from [self.at("code/x", "same", line=1), self.at("code/x", "same", line=1)]
        yield self.at("code/x", "same", line=2)

    monkeypatch.setattr(LfsPointer, "check", twice)
    result = lint_artifact(write_artifact(tmp_path), select=["RRA103"])
    assert [finding.line for finding in result.findings] == [1, 2]


def test_a_tool_that_is_missing_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    files = {
        "guide/repairs.yaml": REPAIRS,
        "guide/repairs/0001-path.patch": "diff --git a/x b/x\n",
    }
    result = lint_artifact(write_artifact(tmp_path / "artifact", files), select=["RRA101"])
    assert codes(result.findings) == ["RRA000"]
    assert "git" in result.findings[0].message
    assert result.findings[0].hint


def test_a_warning_alone_is_a_yes(tmp_path: Path) -> None:
    result = lint_artifact(write_artifact(tmp_path, {"rra.yaml": "keyword: [a]\n"}))
    assert codes(result.findings) == ["RRA002"]
    assert result.ok


@pytest.mark.parametrize("reason", ["a comment of upstream", {"reason": "x", "paths": ["code/*"]}])
def test_a_reason_overlooks_a_finding(tmp_path: Path, reason: object) -> None:
    manifest = f"x-lint: {{ignore: {{RRA102: {reason!r}}}}}\n"
    result = lint_artifact(write_artifact(tmp_path, {**PERSONAL, "rra.yaml": manifest}))
    assert result.findings == ()
    assert [item.finding.path for item in result.suppressed] == ["code/main.py"]
    assert result.suppressed[0].reason in str(reason)


def test_a_reason_for_other_files_overlooks_nothing(tmp_path: Path) -> None:
    manifest = 'x-lint: {ignore: {RRA102: {reason: x, paths: ["guide/*"]}}}\n'
    result = lint_artifact(write_artifact(tmp_path, {**PERSONAL, "rra.yaml": manifest}))
    assert codes(result.findings) == ["RRA102"]


def test_without_a_reason_the_finding_stands(tmp_path: Path) -> None:
    manifest = 'x-lint: {ignore: {RRA102: " "}}\n'
    result = lint_artifact(write_artifact(tmp_path, {**PERSONAL, "rra.yaml": manifest}))
    assert codes(result.findings) == ["RRA102", "RRA004"]


def test_blanks_cannot_be_overlooked(tmp_path: Path) -> None:
    files = {"rra.yaml": "x-lint: {ignore: {RRA401: later}}\n", "README.md": "⟦fill: title⟧\n"}
    result = lint_artifact(write_artifact(tmp_path, files))
    assert codes(result.findings) == ["RRA401", "RRA004"]


def test_profiles_contain_each_other(tmp_path: Path) -> None:
    root = write_artifact(tmp_path, {"rra.yaml": "source: null\n"})
    assert codes(lint_artifact(root, profile="basic").findings) == []
    assert codes(lint_artifact(root, profile="reproducible").findings) == ["RRA104"]
    found = codes(lint_artifact(root, profile=Profile.ARCHIVAL).findings)
    assert sorted(found) == ["RRA104", "RRA203", "RRA203"]


def test_select_and_ignore_take_codes_and_families(tmp_path: Path) -> None:
    files = {**PERSONAL, "code/model.bin": POINTER}
    root = write_artifact(tmp_path, files, remove=["LICENSE"])
    assert codes(lint_artifact(root, select=["RRA1"]).findings) == ["RRA102", "RRA103"]
    assert codes(lint_artifact(root, select=["rra102"]).findings) == ["RRA102"]
    assert codes(lint_artifact(root, ignore=["RRA1"]).findings) == ["RRA801"]


@pytest.mark.parametrize("options", [{"select": ["RRA999"]}, {"ignore": ["X"]}, {"profile": "all"}])
def test_a_name_that_fits_nothing_is_an_error(tmp_path: Path, options: dict[str, str]) -> None:
    with pytest.raises(UsageError) as caught:
        lint_artifact(write_artifact(tmp_path), **options)  # type: ignore[arg-type]
    assert caught.value.exit_code == 2
    assert caught.value.hint


def test_a_manifest_that_breaks_the_schema_gives_findings(tmp_path: Path) -> None:
    result = lint_artifact(write_artifact(tmp_path, {"rra.yaml": 'version: 1.0\nname: "A b"\n'}))
    assert codes(result.findings) == ["RRA001", "RRA001"]
    assert {finding.pointer for finding in result.findings} == {"/version", "/name"}
    assert result.skipped["RRA101"] == "the manifest cannot be used"
    assert result.unchecked.startswith("whether each id that is used is defined")


def test_an_id_that_is_defined_nowhere_leaves_no_later_check_of_the_document(
    tmp_path: Path,
) -> None:
    launchers = "launchers: {lda: {entry: launchers/lda.sh, environment: gpu}}\n"
    result = lint_artifact(write_artifact(tmp_path, {"rra.yaml": launchers}))
    assert "no environment is called 'gpu'" in result.findings[0].message
    assert result.unchecked == ""


def test_one_document_that_breaks_the_schema_says_what_was_not_looked_at(tmp_path: Path) -> None:
    (tmp_path / "rra.yaml").write_text('rra: "1.0"\nname: A b\n')
    result = lint_document(tmp_path / "rra.yaml")
    assert "" in {finding.to_json()["pointer"] for finding in result.findings}
    assert result.unchecked.startswith("whether each id that is used is defined")


def test_a_manifest_that_is_not_yaml_is_an_error(tmp_path: Path) -> None:
    root = write_artifact(tmp_path, {"rra.yaml": "rra: [1\n"})
    with pytest.raises(FormatError) as caught:
        lint_artifact(root)
    assert caught.value.exit_code == 4
    assert caught.value.problems[0].line == 2


def test_a_directory_that_is_no_artifact_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(NotAnArtifactError):
        lint_artifact(tmp_path)
    with pytest.raises(NotAnArtifactError):
        lint_artifact(tmp_path / "absent")


def test_pipes_and_links_are_passed_over(tmp_path: Path) -> None:
    root = write_artifact(tmp_path / "artifact")
    os.mkfifo(root / "guide" / "pipe")
    (root / "guide" / "loop").symlink_to(root / "guide")
    (root / "guide" / "away").symlink_to("/etc/passwd")
    (root / "guide" / "nowhere").symlink_to("absent")
    assert lint_artifact(root, select=["RRA4", "RRA7", "RRA103"]).findings == ()


def test_binary_and_undecodable_files_are_passed_over(tmp_path: Path) -> None:
    root = write_artifact(tmp_path)
    (root / "guide" / "blob").write_bytes(b"\0/home/agnes/x")
    (root / "guide" / "latin.txt").write_bytes(b"caf\xe9 /home/agnes/x")
    result = lint_artifact(root, select=["RRA102"])
    assert [finding.place for finding in result.findings] == ["guide/latin.txt:1:6"]


def test_the_guide_is_compared_with_what_the_caller_renders(tmp_path: Path) -> None:
    root = write_artifact(tmp_path, {"guide/GUIDE.md": "# Guide\n\nold\n"})

    def render(artifact: Artifact) -> str:
        return f"# Guide\n\n{artifact.manifest.name}\n"

    result = lint_artifact(root, expected_guide=render)
    assert [finding.place for finding in result.findings] == ["guide/GUIDE.md:3"]
    assert codes(result.findings) == ["RRA402"]
    assert "RRA402" in lint_artifact(root).skipped
    assert lint_artifact(root, expected_guide=lambda _: "# Guide\n\nold\n").findings == ()
    longer = lint_artifact(root, expected_guide=lambda _: "# Guide\n\nold\nmore\n")
    assert [finding.place for finding in longer.findings] == ["guide/GUIDE.md:4"]


def test_every_rule_is_found() -> None:
    assert list(rules()) == sorted(rules())
    assert {"RRA001", "RRA102", "RRA701"} <= set(rules())
    assert len(rules()) >= 20


def test_progress_names_each_rule(tmp_path: Path) -> None:
    lines: list[str] = []
    result = lint_artifact(write_artifact(tmp_path), progress=lines.append)
    assert [line.split()[0] for line in lines] == list(result.rules)


def test_the_manifest_itself_stands_for_its_directory(tmp_path: Path) -> None:
    (tmp_path / "rra.yaml").write_text("[]\n")
    result = lint_artifact(tmp_path / "rra.yaml")
    assert [(f.place, f.rule) for f in result.findings] == [("rra.yaml:1:1", "RRA001")]
    assert result.stage == "schema"
