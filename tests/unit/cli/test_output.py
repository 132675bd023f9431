"""Standard output that takes nothing is said, and no traceback is printed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from rra.cli.verb import answer
from tests.support.disks import mounted_disk
from tests.support.needs import needs

BIN = Path(sys.executable).with_name("rra")


@pytest.mark.parametrize(
    "words", [("explain", "L3"), ("explain", "L3", "--json"), ("explain", "no-such-word"), ("-h",)]
)
@pytest.mark.parametrize("streams", ["full", "closed", "both closed"])
def test_a_result_that_cannot_be_written(words: tuple[str, ...], streams: str) -> None:
    redirected = {"full": ">/dev/full", "closed": ">&-", "both closed": ">&- 2>&-"}[streams]
    done = subprocess.run(
        ["sh", "-c", f'exec "$0" "$@" {redirected}', BIN, *words],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr
    wrong = words[1:2] == ("no-such-word",)
    if streams == "full" and not wrong:
        assert done.returncode == 3
        assert "cannot be written to standard output: No space left on device" in done.stderr
    else:
        assert done.returncode == (2 if wrong else 0)


def test_an_interrupt_is_said_to_a_machine_too(capsys: pytest.CaptureFixture[str]) -> None:
    def interrupted(_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(SystemExit) as ending:
        answer("verify", interrupted, str, as_json=True)  # type: ignore[arg-type]
    assert ending.value.code == 130
    envelope = json.loads(capsys.readouterr().out)
    assert (envelope["verb"], envelope["ok"], envelope["exit_code"]) == ("verify", False, 130)
    assert envelope["result"]["error"]["slug"] == "interrupted"


@needs("tmpfs")
def test_a_disk_that_is_full_is_no_fault_of_ours(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def written(_: object) -> None:
        (disk / "big.bin").write_bytes(bytes(4 << 20))

    with mounted_disk(tmp_path / "disk", "1m") as disk, pytest.raises(SystemExit) as ending:
        answer("lock", written, str, as_json=False)  # type: ignore[arg-type]
    assert ending.value.code == 3
    said = capsys.readouterr().err
    assert "Traceback" not in said
    assert said.startswith("error: no space left on the disk of ")
    assert "TMPDIR names another place" in said
