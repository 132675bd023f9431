"""Secrets: handed over by name, and nowhere in what is kept."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rra import api
from rra._base.streams import BLOCK
from rra.errors import UsageError
from rra.launch import RunResult, run_launcher
from rra.launch.secrets import consented
from rra.sandbox import best_sandbox
from tests.support.needs import needs
from tests.support.runs import request, write_artifact

VALUE = "correct-horse-battery"
TOKEN = {"env": "HUB_TOKEN", "purpose": "download of the gated weights"}
ENDS = """echo '{"accuracy": 98.9}' > "$RRA_OUTPUT_DIR/metrics.json"\n"""


def run(root: Path, script: str, *secrets: dict[str, Any], **more: Any) -> RunResult:
    launchers = {"main": {"outputs": ["metrics.json"], "secrets": list(secrets)}}
    artifact = write_artifact(root, {"launchers/main.sh": script + ENDS}, launchers=launchers)
    return run_launcher(request(artifact, **more))


def kept(root: Path) -> bytes:
    """Return everything that an artifact keeps of its runs."""
    files = [path for name in ("evidence", "outputs") for path in (root / name).rglob("*")]
    return b"".join(path.read_bytes() for path in files if path.is_file())


@pytest.mark.parametrize("sandbox", [pytest.param("bwrap", marks=needs("bwrap")), "none"])
def test_only_what_is_declared_is_handed_over(tmp_path: Path, sandbox: str) -> None:
    script = 'echo "${#HUB_TOKEN} ${OTHER:-none}"\n'
    given = {"HUB_TOKEN": VALUE, "OTHER": "x" * 20}
    box = best_sandbox(sandbox)
    result = run(tmp_path / "a", script, TOKEN, secrets=given, sandbox=box)
    assert (result.outputs_dir / "stdout.txt").read_text() == f"{len(VALUE)} none\n"


@pytest.mark.clause("launcher/secrets-stay-out")
def test_the_value_is_in_nothing_that_is_kept_or_shown(tmp_path: Path) -> None:
    lines: list[str] = []
    script = (
        'echo "token=$HUB_TOKEN!"; echo "$HUB_TOKEN" >&2; touch "$RRA_OUTPUT_DIR/$HUB_TOKEN"\n'
        'echo "a $HUB_TOKEN" > "$RRA_OUTPUT_DIR/log.txt"; mkdir "/tmp/$HUB_TOKEN"; exit 3\n'
    )
    given = {"HUB_TOKEN": VALUE}
    result = run(tmp_path / "a", script, TOKEN, secrets=given, on_line=lines.append)
    assert VALUE.encode() not in kept(tmp_path / "a")
    assert (result.outputs_dir / "stdout.txt").read_text() == f"token={'*' * len(VALUE)}!\n"
    assert VALUE not in " ".join([*lines, result.message])
    assert lines
    assert "log.txt: it holds the value of a secret" in result.message
    assert [one.path for one in result.record.outputs] == ["stderr.txt", "stdout.txt"]


def test_a_value_across_blocks_is_found(tmp_path: Path) -> None:
    script = f'printf "%{BLOCK - 4}s%s%s" "" "$HUB_TOKEN" "$HUB_TOKEN"\n'
    result = run(tmp_path / "a", script, TOKEN, secrets={"HUB_TOKEN": VALUE})
    text = (result.outputs_dir / "stdout.txt").read_text()
    assert text[BLOCK - 4 :] == "*" * 2 * len(VALUE)
    assert not result.record.stdout.truncated


def test_a_secret_is_no_recorded_variable(tmp_path: Path) -> None:
    secret = {"env": "MKL_TOKEN"}
    result = run(tmp_path / "a", "", secret, secrets={"MKL_TOKEN": VALUE})
    assert "MKL_TOKEN" not in result.record.environment.variables


def test_a_missing_secret_is_said_before_the_run(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        run(tmp_path / "a", "touch ran\n", TOKEN, secrets={})
    message = "launcher main needs a secret that is not set: HUB_TOKEN"
    assert caught.value.message == f"{message} (download of the gated weights)"
    assert "RRA_SECRETS=HUB_TOKEN" in caught.value.hint
    assert not (tmp_path / "a" / "evidence").exists()


def test_an_optional_secret_may_be_missing(tmp_path: Path) -> None:
    assert run(tmp_path / "a", "", {**TOKEN, "optional": True}, secrets={}).ok


def test_a_stranger_gets_what_the_caller_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HUB_TOKEN", VALUE)
    monkeypatch.delenv("RRA_SECRETS", raising=False)
    assert consented() == {}
    monkeypatch.setenv("RRA_SECRETS", "OTHER, HUB_TOKEN")
    assert consented() == {"HUB_TOKEN": VALUE}


def test_rra_run_hands_over_what_is_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HUB_TOKEN", VALUE)
    launchers = {"main": {"outputs": ["metrics.json"], "secrets": [TOKEN]}}
    files = {"launchers/main.sh": 'echo "${#HUB_TOKEN}"\n' + ENDS}
    write_artifact(tmp_path / "a", files, launchers=launchers)
    done = api.run(tmp_path / "a", sandbox="none")
    assert [run.ok for run in done.runs] == [True]
    assert (tmp_path / "a/outputs/main/stdout.txt").read_text() == f"{len(VALUE)}\n"
