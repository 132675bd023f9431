"""A run that installs into its own environment is recorded as one."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from rra.environment import MaterialisedEnvironment
from rra.evidence import EVENTS, read_events
from rra.launch import run_launcher
from rra.launch.installed import changed_packages
from rra.sandbox import best_sandbox
from tests.support.needs import needs
from tests.support.runs import host_environment, request, write_artifact

INSTALLS = """\
place="$(echo {root}/lib/python*/site-packages)"
mkdir -p "$place/extra-1.0.dist-info"
cd "$place/extra-1.0.dist-info"
printf 'Metadata-Version: 2.1\\nName: extra\\nVersion: 1.0\\n' > METADATA
rm -rf "$place"/locked-*
echo '{{}}' > "$RRA_OUTPUT_DIR/metrics.json"
"""
SAID = (
    "the environment is no longer what its lock says: "
    "extra is 1.0, locked nothing; locked is missing, locked 2.0"
)


@pytest.fixture
def environment(tmp_path: Path) -> MaterialisedEnvironment:
    """An environment with one package, which is its own."""
    host = host_environment()
    place = tmp_path / "env"
    packages = place / "lib" / "python3.11" / "site-packages"
    (packages / "locked-2.0.dist-info").mkdir(parents=True)
    metadata = "Metadata-Version: 2.1\nName: locked\nVersion: 2.0\n"
    (packages / "locked-2.0.dist-info" / "METADATA").write_text(metadata)
    return dataclasses.replace(host, root=place, packages=(("locked", "2.0"),))


def test_packages_that_a_run_changed_are_in_its_record(
    tmp_path: Path, environment: MaterialisedEnvironment
) -> None:
    assert changed_packages(environment) == []
    script = INSTALLS.format(root=environment.root)
    artifact = write_artifact(tmp_path / "a", {"launchers/main.sh": script})
    done = run_launcher(request(artifact, environment=environment, sandbox=best_sandbox("none")))
    assert done.ok, done.message
    assert SAID in done.record.recorder.gaps
    assert done.evidence_dir is not None
    events = read_events(done.evidence_dir / EVENTS)
    found = [
        (one["name"], one["before"], one["after"]) for one in events if one["kind"] == "package"
    ]
    assert found == [("extra", None, "1.0"), ("locked", "2.0", None)]


@needs("bwrap")
def test_in_a_sandbox_it_cannot(tmp_path: Path, environment: MaterialisedEnvironment) -> None:
    script = INSTALLS.format(root=environment.root)
    artifact = write_artifact(tmp_path / "a", {"launchers/main.sh": script})
    done = run_launcher(request(artifact, environment=environment, sandbox=best_sandbox("bwrap")))
    assert done.evidence_dir is not None
    assert "Read-only file system" in (done.evidence_dir / "stderr.txt").read_text()
    assert changed_packages(environment) == []
    assert not [gap for gap in done.record.recorder.gaps if "lock" in gap]


def test_environments_of_other_kinds_are_not_looked_at(
    environment: MaterialisedEnvironment,
) -> None:
    other = dataclasses.replace(environment, kind="conda", packages=(("locked", "3.0"),))
    assert changed_packages(other) == []
