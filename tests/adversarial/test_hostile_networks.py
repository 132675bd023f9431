"""Launchers that open the network: held back, and named by what was seen of their tries."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.adversarial.hostile_launchers import events, run
from tests.support.needs import needs
from tests.support.runs import path_without

LOCAL = """\
import socket, sys
server = socket.create_server(("127.0.0.1", 0))
socket.create_connection(server.getsockname()).close()
try:
    socket.create_connection(("127.0.0.1", 1))
except ConnectionRefusedError:
    sys.exit(4)
"""
NAMES = "import urllib.request; urllib.request.urlopen('http://data.example/x')\n"


@needs("bwrap")
@needs("strace")
def test_opens_the_network(tmp_path: Path) -> None:
    script = "exec 3<>/dev/tcp/192.0.2.7/443 || exit 6\n"
    result = run(tmp_path / "a", script, "bwrap")
    assert (result.record.termination, result.record.exit_code) == ("network-denied", 6)
    assert result.record.network_attempts == ["192.0.2.7:443"]
    assert "tried to reach 192.0.2.7:443, and declares no network" in result.message
    (event,) = events(result, "connect")
    assert (event["address"], event["refused"]) == ("192.0.2.7:443", True)
    assert result.record.recorder.gaps == []


@needs("bwrap")
@needs("strace")
def test_does_without_the_network_that_it_tried(tmp_path: Path) -> None:
    script = (
        "(exec 3<>/dev/tcp/192.0.2.7/443) || true\necho '{}' > \"$RRA_OUTPUT_DIR/metrics.json\"\n"
    )
    result = run(tmp_path / "a", script, "bwrap")
    assert (result.record.termination, result.record.network_attempts) == ("ok", ["192.0.2.7:443"])


@needs("bwrap")
@needs("strace")
def test_what_it_does_on_its_own_machine_is_no_network(tmp_path: Path) -> None:
    script = 'python "$RRA_CODE_DIR/local.py"\n'
    result = run(tmp_path / "a", script, "bwrap", files={"code/local.py": LOCAL})
    assert (result.record.termination, result.record.exit_code) == ("exit", 4)
    assert result.record.network_attempts == []


@needs("bwrap")
@needs("strace")
@pytest.mark.parametrize("server", ["192.0.2.53", "127.0.0.53"])
def test_asks_for_a_name(tmp_path: Path, server: str) -> None:
    """A service of names elsewhere is out of reach, and the one of this machine is not inside."""
    ask = f"exec 3<>/dev/udp/{server}/53; echo x >&3; read -t 0.1 -u 3 || exit 6\n"
    record = run(tmp_path / "a", ask, "bwrap").record
    assert (record.termination, record.exit_code) == ("network-denied", 6)
    assert record.network_attempts == [f"{server}:53"]


@needs("bwrap")
def test_without_a_trace_it_rests_on_what_python_tried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", path_without(tmp_path / "bin", "strace"))
    script = 'python "$RRA_CODE_DIR/names.py" 2>/dev/null\n'
    result = run(tmp_path / "a", script, "bwrap", files={"code/names.py": NAMES})
    record = result.record
    assert (record.termination, record.recorder.level) == ("network-denied", "audit-hook")
    assert record.network_attempts == ["data.example:80"]
    assert record.recorder.gaps is not None
    assert record.recorder.gaps[-1].startswith("network-denied rests on what Python programs tried")
    assert "refused" not in events(result, "connect")[0]


@needs("bwrap")
def test_what_nobody_saw_is_not_guessed_from_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", path_without(tmp_path / "bin", "strace"))
    script = "exec 3<>/dev/tcp/192.0.2.7/443 || { echo Network is unreachable >&2; exit 6; }\n"
    record = run(tmp_path / "a", script, "bwrap").record
    assert (record.termination, record.exit_code) == ("exit", 6)
    assert record.recorder.level == "tree"
    assert "what the launcher tried to reach was not observed" in (record.recorder.gaps or [])
