"""Running launchers that misbehave: one small artifact each, its evidence checked every time."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest

from rra._base.files import STAGING_PREFIX, walk_files
from rra.evidence import EvidenceStore, read_events, verify_record
from rra.launch import RunResult, run_launcher
from rra.sandbox import Sandbox, best_sandbox
from tests.support.needs import needs
from tests.support.runs import request, write_artifact

BOTH = [pytest.param("bwrap", marks=needs("bwrap")), "none"]


def run(root: Path, script: str, sandbox: str | Sandbox, **more: Any) -> RunResult:
    """Run one launcher of a small artifact and check that its evidence holds."""
    declared: dict[str, Any] = {
        key: more.pop(key) for key in ("limits", "resources", "variables") if key in more
    }
    box = best_sandbox(sandbox) if isinstance(sandbox, str) else sandbox
    files = {
        "launchers/main.sh": script,
        "code/train.py": "print(1)\n",
        "data/x.csv": "1\n",
        **more.pop("files", {}),
    }
    artifact = write_artifact(
        root,
        files,
        launchers={"main": {"outputs": ["metrics.json"], "limits": {}, **declared}},
        data={"x": {"path": "data/x.csv"}},
    )
    result = run_launcher(request(artifact, sandbox=box, **more))
    (stored,) = EvidenceStore(root / "evidence").records()
    assert verify_record(stored) == []
    assert stored.digest == result.record_digest
    leftovers = list(root.rglob(f"{STAGING_PREFIX}*"))
    assert leftovers == []
    return result


def content(root: Path) -> dict[str, str]:
    """Return digests of the artifact's own files."""
    own = [path for path in walk_files(root) if path.parts[0] not in {"evidence", "outputs"}]
    return {str(path): hashlib.sha256((root / path).read_bytes()).hexdigest() for path in own}


def events(result: RunResult, kind: str) -> list[dict[str, Any]]:
    """Return the events of one kind that the evidence of a run has."""
    assert result.evidence_dir is not None
    return [one for one in read_events(result.evidence_dir / "events.jsonl") if one["kind"] == kind]


def sleeping(seconds: str) -> bool:
    """Tell whether some process sleeps for so many seconds."""
    commands = (cmdline(path) for path in Path("/proc").glob("[0-9]*"))
    return any(command.split(b"\0")[:2] == [b"sleep", seconds.encode()] for command in commands)


def cmdline(process: Path, name: str = "cmdline") -> bytes:
    """Return a file of a process; nothing when it has ended."""
    try:
        return (process / name).read_bytes()
    except OSError:
        return b""
