"""B40: metadata that names what is not there, and claims of a profile that is not met."""

from __future__ import annotations

from pathlib import Path

import pytest

from rra.lint import Profile, lint_artifact
from tests.lint.support import MANIFEST, write_artifact

LAUNCHER = (
    "launchers:\n  lda: {entry: launchers/lda.sh, environment: cpu, outputs: [metrics.json]}\n"
)
ENVIRONMENT = (
    'environments: {cpu: {kind: pylock, python: "3.11", lock: environment/cpu/pylock.toml}}\n'
)
WHERE: dict[str, tuple[str, str, str]] = {
    "entry": (LAUNCHER, "launchers/lda.sh", "work/e1/80ed/lda.sh"),
    "lock": (ENVIRONMENT, "environment/cpu/pylock.toml", "environment/gpu/pylock.toml"),
    "data": ("data: {wine: {path: data/wine.csv}}\n", "data/wine.csv", "data/work/wine.csv"),
    "code": ("code: {root: code}\n", "root: code", "root: source"),
    "guide": ("guide: guide/GUIDE.md\n", "guide/GUIDE.md", "guide/README.md"),
}


@pytest.mark.parametrize("key", WHERE)
def test_b40_a_path_that_is_not_in_the_artifact_is_named(tmp_path: Path, key: str) -> None:
    section, right, wrong = WHERE[key]
    files = {"data/wine.csv": "1,2\n"} if key == "data" else {}
    good = write_artifact(tmp_path / "good", {**files, "rra.yaml": section})
    assert "RRA003" not in {finding.rule for finding in lint_artifact(good).findings}
    bad = write_artifact(tmp_path / "bad", {**files, "rra.yaml": section.replace(right, wrong)})
    found = [finding for finding in lint_artifact(bad).findings if finding.rule == "RRA003"]
    assert len(found) == 1
    assert wrong.removeprefix("root: ") in found[0].message
    assert found[0].path == "rra.yaml"
    assert found[0].line


def test_b40_an_output_by_its_name_while_it_ran_is_not_the_file(tmp_path: Path) -> None:
    """The report that gave the id: ``work/e1/80ed/r.txt`` is declared, ``r.txt`` is written."""
    text = MANIFEST.replace("file: metrics.json", "file: work/e1/80ed/metrics.json")
    root = write_artifact(tmp_path / "a", {"rra.yaml": text})
    (found,) = [f for f in lint_artifact(root).findings if f.rule == "RRA501"]
    assert "work/e1/80ed/metrics.json" in found.message


@pytest.mark.parametrize(
    ("change", "rule", "profile"),
    [
        ("license: null\n", "RRA001", Profile.BASIC),
        ("source: null\n", "RRA104", Profile.REPRODUCIBLE),
        ("source: null\n", "RRA104", Profile.ARCHIVAL),
    ],
)
def test_b40_a_profile_is_what_is_there_not_what_is_claimed(
    tmp_path: Path, change: str, rule: str, profile: Profile
) -> None:
    """A claim, also one that `rra` does not know, has no say in the verdict."""
    claim = f"keywords: [{profile}]\nx-profile: {profile}\n"
    whole = lint_artifact(write_artifact(tmp_path / "a", {"rra.yaml": claim}), profile=profile)
    short = write_artifact(tmp_path / "b", {"rra.yaml": change + claim})
    assert rule not in {finding.rule for finding in whole.findings}
    assert rule in {finding.rule for finding in lint_artifact(short, profile=profile).findings}
