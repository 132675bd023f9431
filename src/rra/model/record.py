"""The execution record: what one run was and did (spec: execution record)."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from rra._base.termination import Termination
from rra.model.base import Digest, FormatVersion, Id, Object
from rra.model.text import Count, Integer

_OUTSIDE = re.compile(r"/|([\s\S]*/)?\.\.(/|\Z)")


def _inside(path: str) -> str:
    if not path or _OUTSIDE.match(path):
        raise PydanticCustomError("inside", "not a path inside the artifact")
    return path


InsidePath = Annotated[str, AfterValidator(_inside)]
"""A path relative to the artifact or to the output directory; bytes that are no text as \\xNN."""

Time = Annotated[
    str,
    Field(
        pattern=r"^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"
        r"T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]Z$"
    ),
]
Instance = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._=,-]{0,127}$")]
"""Name of a configuration among several of a launcher."""

Seconds = Annotated[float, Field(ge=0)]
Scalar = str | int | float | bool
Role = Literal["code", "data", "config", "model", "reference", "launcher", "output", "unknown"]


class LauncherInfo(Object):
    """Which launcher ran, with the digest of its entry file."""

    id: Id
    entry: InsidePath
    sha256: Digest


class SeedInfo(Object):
    """Seed that the run was given, and seeds that were seen being set."""

    declared: Integer | None = None
    observed: list[Integer] | None = None


class EnvironmentInfo(Object):
    """Environment of the run: its lock, what was installed, variables from the allow-list.

    Attributes:
        interpreter: Digest of the carried interpreter; None for a Python of the machine.
    """

    id: Id
    lock: Digest
    installed: Digest
    interpreter: Digest | None = None
    variables: dict[str, str]


class InputFile(Object):
    """A file that the run could read or was seen to read; paths are artifact-relative."""

    path: InsidePath
    sha256: Digest
    size: Count
    role: Role


class OutputFile(Object):
    """A file that the run left in its output directory."""

    path: InsidePath
    sha256: Digest
    size: Count
    change: Literal["created", "modified"] = "created"


class FailedCell(Object):
    """A code cell that failed in an executed notebook.

    Attributes:
        path: The notebook, among the outputs.
        cell: Its place among the cells there, from 0.
        error: The error, in one line.
    """

    path: InsidePath
    cell: Count
    error: Annotated[str, Field(min_length=1)]


class Stream(Object):
    """Standard output or error as kept."""

    sha256: Digest
    bytes: Count
    truncated: bool


class RecordResources(Object):
    """Seconds on the wall, seconds of processor, bytes of the largest process.

    Attributes:
        peak: Bytes of all processes together at one time, file caches included; None where
            nothing counted them.
    """

    wall: Seconds
    cpu: Seconds
    max_rss: Count
    peak: Count | None = None


Reached = Literal["wall", "memory", "processes"]


class RecordLimits(Object):
    """Limits that held for all processes of a run together."""

    memory: Annotated[int, Field(ge=1)] | None = None
    processes: Annotated[int, Field(ge=1)] | None = None
    cpu: Annotated[float, Field(gt=0)] | None = None


class SandboxInfo(Object):
    """How the run was isolated and limited, and what could not be.

    Attributes:
        limits: What all its processes could use together: bytes of memory, processes and
            threads, processors; None where nothing was limited.
        reached: Limits that the run came up against.
    """

    level: Literal["bwrap", "container", "virtual-machine", "none"]
    gaps: list[str] = []
    limits: RecordLimits | None = None
    reached: list[Reached] | None = None


class RecorderInfo(Object):
    """What the recorder could see, and what it could not."""

    level: Literal["tree", "audit-hook", "strace", "imported"]
    gaps: list[str] = []


class Processor(Object):
    """The processor: model, number that could be used, level of the instruction set."""

    model: str | None = None
    count: Annotated[int, Field(ge=1)] | None = None
    level: str | None = None


class Platform(Object):
    """What of the machine can change a number; no name of a host or user."""

    os: str | None = None
    kernel: str | None = None
    libc: str | None = None
    machine: str | None = None
    cpu: Processor | None = None
    memory: Count | None = None
    gpu: list[dict[str, str]] | None = None
    python: str | None = None
    blas: str | None = None


class ExecutionRecord(Object):
    """What one run of a launcher was and did; named by the digest of its canonical JSON.

    Attributes:
        key: Digest over what decided the run, as whoever ran it saw it; None where nobody said.
    """

    rra: FormatVersion
    type: Literal["execution-record/v1"]
    artifact: Id
    core: Digest
    launcher: LauncherInfo
    instance: Instance
    key: Digest | None = None
    argv: Annotated[list[str], Field(min_length=1)]
    nonce: Annotated[str, Field(pattern=r"^[!-~]{1,256}$")]
    parameters: dict[str, Scalar]
    seed: SeedInfo
    started: Time
    ended: Time
    termination: Termination
    exit_code: Annotated[int, Field(ge=-255, le=255)]
    missing_outputs: list[str]
    failed_cells: Annotated[list[FailedCell], Field(min_length=1)] | None = None
    environment: EnvironmentInfo
    inputs: list[InputFile]
    outputs: list[OutputFile]
    other_writes: list[str]
    network_attempts: list[str]
    platform: Platform
    resources: RecordResources
    stdout: Stream
    stderr: Stream
    sandbox: SandboxInfo
    recorder: RecorderInfo
    events: Digest

    @property
    def ok(self) -> bool:
        """Whether it ended with status 0, left every required output, and no cell failed."""
        ended_well = self.termination == "ok" and self.exit_code == 0
        return ended_well and not self.missing_outputs and not self.failed_cells

    @property
    def end(self) -> str:
        """How the run ended, in a few words: ``exit 3``, or ``ok, outputs missing``."""
        words: list[str] = [self.termination]
        if self.termination in {"exit", "signal"}:
            words = [f"{self.termination} {abs(self.exit_code)}"]
        words += ["outputs missing"] if self.missing_outputs else []
        words += [f"cell {one.cell} failed" for one in (self.failed_cells or [])[:1]]
        return ", ".join(words)
