"""Launchers that follow links out of what is theirs, to read there and to write there."""

from __future__ import annotations

from pathlib import Path

import pytest

from rra.errors import FormatError
from rra.launch import run_launcher
from rra.sandbox import best_sandbox
from tests.adversarial.hostile_launchers import BOTH, events, run
from tests.support.needs import needs
from tests.support.runs import request, write_artifact

WRITES = [
    'ln -s {outside} "$RRA_OUTPUT_DIR/link"; echo x > "$RRA_OUTPUT_DIR/link/written"\n',
    "ln -s {outside} link; cd link && echo x > written\n",
    "ln -s {outside}/written here; echo x > here\n",
    "ln -s {outside} a; ln -s a/../$(basename {outside}) b; echo x > b/written\n",
]
READS = 'set -e; ln -s {outside} link; cat link/secret; cat link/secret > "$RRA_OUTPUT_DIR/x"\n'


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    place = tmp_path / "outside"
    place.mkdir()
    (place / "secret").write_text("of somebody else\n")
    return place


@pytest.mark.parametrize("script", WRITES, ids=["output", "folder", "file", "chain"])
@pytest.mark.parametrize("sandbox", BOTH)
def test_writes_through_a_link(tmp_path: Path, outside: Path, sandbox: str, script: str) -> None:
    result = run(tmp_path / "a", script.format(outside=outside) + "exit 0\n", sandbox)
    assert (outside / "written").exists() == (sandbox == "none")
    if sandbox == "none" and result.record.recorder.level == "strace":
        assert result.record.other_writes == [str(outside / "written")]
    assert any("write outside" in gap for gap in result.record.sandbox.gaps) == (sandbox == "none")


@pytest.mark.parametrize("sandbox", BOTH)
def test_reads_through_a_link(tmp_path: Path, outside: Path, sandbox: str) -> None:
    result = run(tmp_path / "a", READS.format(outside=outside), sandbox)
    printed = (result.outputs_dir / "stdout.txt").read_text()
    if sandbox == "none":
        assert printed == "of somebody else\n"
        assert any("could read any file" in gap for gap in result.record.sandbox.gaps)
    else:
        assert (printed, result.record.termination) == ("", "exit")
        assert "No such file or directory" in result.message
    assert (outside / "secret").read_text() == "of somebody else\n"


@pytest.mark.parametrize("sandbox", BOTH)
def test_hands_out_what_a_link_leads_to(tmp_path: Path, outside: Path, sandbox: str) -> None:
    """A link among the outputs is not followed by whoever keeps them, either."""
    script = f'ln -s {outside}/secret "$RRA_OUTPUT_DIR/metrics.json"\n'
    result = run(tmp_path / "a", script, sandbox)
    assert not result.ok
    assert [one.path for one in result.record.outputs] == ["stderr.txt", "stdout.txt"]
    (left_out,) = events(result, "left-out")
    assert left_out["path"] == "metrics.json"
    assert str(outside) in left_out["why"]


@pytest.mark.parametrize("sandbox", BOTH)
def test_removes_through_a_link(tmp_path: Path, outside: Path, sandbox: str) -> None:
    script = f"ln -s {outside} link; rm -rf link/secret; exit 0\n"
    result = run(tmp_path / "a", script, sandbox)
    assert (outside / "secret").exists() == (sandbox != "none")
    if sandbox == "none" and result.record.recorder.level == "strace":
        assert result.record.other_writes == [str(outside / "secret")]


@pytest.mark.parametrize("sandbox", BOTH)
@pytest.mark.parametrize("place", ["code/x", "launchers/x.sh"])
def test_an_artifact_that_brings_such_a_link_is_not_run(
    tmp_path: Path, outside: Path, sandbox: str, place: str
) -> None:
    artifact = write_artifact(tmp_path / "a", {"launchers/main.sh": "exit 0\n", "data/z": ""})
    (artifact.root / place).symlink_to(outside / "secret")
    with pytest.raises(FormatError, match=f"{place} is a symbolic link to an absolute path"):
        run_launcher(request(artifact, sandbox=best_sandbox(sandbox)))
    assert not (artifact.root / "evidence").exists()


@needs("bwrap")
def test_data_that_are_a_link_out_are_not_there(tmp_path: Path, outside: Path) -> None:
    script = 'cat "$RRA_DATA_DIR/x"\n'
    artifact = write_artifact(tmp_path / "a", {"launchers/main.sh": script, "data/z": ""})
    (artifact.root / "data/x").symlink_to(outside / "secret")
    record = run_launcher(request(artifact, sandbox=best_sandbox("bwrap"))).record
    assert (record.termination, record.stdout.bytes) == ("exit", 0)
    assert "secret" not in {Path(one.path).name for one in record.inputs}
