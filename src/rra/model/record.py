"""The execution record: what one run was and did (spec: execution record)."""

from __future__ import annotations

from typing import Any, Literal

from rra.model.base import Digest, FormatVersion, Object

Role = Literal["code", "data", "config", "model", "reference", "launcher", "output", "unknown"]


class LauncherInfo(Object):
    """Which launcher ran, with the digest of its entry file."""

    id: str
    entry: str
    sha256: Digest


class SeedInfo(Object):
    """Seed that the run was given, and seeds that were seen being set."""

    declared: int | None = None
    observed: list[int] | None = None


class EnvironmentInfo(Object):
    """Environment of the run: its lock, what was installed, variables from the allow-list."""

    id: str
    lock: Digest
    installed: Digest
    variables: dict[str, str]


class InputFile(Object):
    """A file that the run could read or was seen to read; paths are artifact-relative."""

    path: str
    sha256: Digest
    size: int
    role: Role


class OutputFile(Object):
    """A file that the run left in its output directory."""

    path: str
    sha256: Digest
    size: int
    change: Literal["created", "modified"] = "created"


class Stream(Object):
    """Standard output or error as kept."""

    sha256: Digest
    bytes: int
    truncated: bool


class RecordResources(Object):
    """Seconds on the wall, seconds of processor, bytes of the largest process."""

    wall: float
    cpu: float
    max_rss: int


class SandboxInfo(Object):
    """How the run was isolated, and what could not be."""

    level: Literal["bwrap", "none"]
    gaps: list[str] = []


class RecorderInfo(Object):
    """What the recorder could see, and what it could not."""

    level: Literal["tree", "audit-hook", "strace", "imported"]
    gaps: list[str] = []


class ExecutionRecord(Object):
    """What one run of a launcher was and did; named by the digest of its canonical JSON."""

    rra: FormatVersion
    type: Literal["execution-record/v1"] = "execution-record/v1"
    artifact: str
    core: Digest
    launcher: LauncherInfo
    instance: str
    argv: list[str]
    nonce: str
    parameters: dict[str, Any]
    seed: SeedInfo
    started: str
    ended: str
    termination: Literal["ok", "exit", "signal", "timeout", "memory", "disk", "cancelled"]
    exit_code: int
    missing_outputs: list[str]
    environment: EnvironmentInfo
    inputs: list[InputFile]
    outputs: list[OutputFile]
    other_writes: list[str]
    network_attempts: list[str]
    platform: dict[str, Any]
    resources: RecordResources
    stdout: Stream
    stderr: Stream
    sandbox: SandboxInfo
    recorder: RecorderInfo
    events: Digest

    @property
    def ok(self) -> bool:
        """Whether the run ended with status 0 and left every required output."""
        return self.termination == "ok" and self.exit_code == 0 and not self.missing_outputs
