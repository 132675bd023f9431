"""What every test gets: its own cache and state, no colours, and the checks for outside tools."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.support.needs import require

ROOT = Path(__file__).resolve().parent.parent

# Examples are the same in every run, and a slow machine is no failure.
settings.register_profile(
    "rra", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("rra")

# Where Python is told to write no bytecode, each of the thousands of processes that the tests start
# would compile all that it imports, which doubles the time of the suite; pytest's own too.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# A shell lets what it starts in the background ignore Ctrl-C, and children inherit that; tests
# that interrupt one would wait for ever.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test whose tool is missing, or fail it where tools are required."""
    for mark in item.iter_markers("needs"):
        require(mark.args[0])


@pytest.fixture(autouse=True)
def _own_surroundings(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Keep each test away from the state of whoever runs it.

    Built environments are shared by the whole session (they are named by the digest of their
    lock); everything else starts empty.
    """
    session = tmp_path_factory.getbasetemp()
    shared = session.parent if session.name.startswith("popen-") else session
    monkeypatch.setenv("RRA_CACHE", str(shared / "rra-cache"))
    monkeypatch.setenv("RRA_STATE", str(tmp_path_factory.mktemp("rra-state")))
    monkeypatch.setenv("NO_COLOR", "1")
    for name in ("RRA_CODE_DIR", "RRA_OUTPUTS_ROOT", "RRA_OUTPUT_DIR", "RRA_DATA_DIR", "RRA_NONCE"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="session")
def root() -> Path:
    """The root of the checkout."""
    return ROOT
