"""What is asked for when a launcher is run, and what comes back."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rra._base.streams import KEPT_BYTES
from rra.artifact import Artifact
from rra.environment import Built
from rra.evidence import EvidenceStore
from rra.launch.live import Growing
from rra.launch.secrets import consented
from rra.model import ExecutionRecord
from rra.sandbox import Gpu, Sandbox

DEFAULT_INSTANCE = "default"


@dataclasses.dataclass(frozen=True, kw_only=True)
class RunRequest:
    """One run of one launcher.

    Attributes:
        artifact: The artifact.
        launcher: Id of the launcher.
        environment: Its environment, built.
        outputs_root: Folder in which outputs of launchers are kept by their ids.
        evidence: Where the record goes; None keeps none.
        nonce: Drawn by whoever asks, so that a run cannot be an earlier one.
        seed: Seed; the first declared one by default.
        parameters: Values by name; text is read as the parameter's type.
        smoke: Whether this is a short run that only shows that the launcher works.
        instance: Name of this run among several of the launcher.
        sandbox: Isolation; the best that works by default.
        on_line: Called from another thread with the newest line that the launcher prints.
        on_place: Told where the run writes, just before it starts.
        core: Core digest of the artifact; computed when it is not given.
        wall_seconds: Limit; the launcher's own by default, the smaller one counts.
        stream_bytes: Bytes kept of standard output and of standard error.
        needs: Place below `outputs_root` of the outputs that it reads, by the place where it
            finds them; those of the launchers it needs, each where it is, by default.
        key: Digest of everything that decides what it does, for the record.
        secrets: Values of secrets by variable; a launcher gets those that it declares. Those
            that the caller names in ``RRA_SECRETS`` by default.
        gpus: Cards that are its own; None for all.
        cancelled: Asked now and then, at least every few seconds; true ends the run.
    """

    artifact: Artifact
    launcher: str
    environment: Built
    outputs_root: Path
    evidence: EvidenceStore | None
    nonce: str
    seed: int | None = None
    parameters: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    smoke: bool = False
    instance: str = DEFAULT_INSTANCE
    sandbox: Sandbox | None = None
    on_line: Callable[[str], None] | None = None
    on_place: Callable[[Growing], None] | None = None
    core: str | None = None
    wall_seconds: float | None = None
    stream_bytes: int = KEPT_BYTES
    needs: Mapping[str, str] | None = None
    key: str | None = None
    secrets: Mapping[str, str] = dataclasses.field(default_factory=consented)
    gpus: Sequence[Gpu] | None = None
    cancelled: Callable[[], bool] = lambda: False

    @property
    def output_place(self) -> Path:
        """Place of the outputs below an outputs root: the launcher, and the instance if named."""
        place = Path(self.launcher)
        return place if self.instance == DEFAULT_INSTANCE else place / self.instance


@dataclasses.dataclass(frozen=True, kw_only=True)
class RunResult:
    """What one run gave.

    Attributes:
        record: What the run was and did.
        record_digest: Digest that names the record.
        outputs_dir: What it left, ``stdout.txt`` included; after a failure the copy in the
            evidence, since only a success replaces the outputs of earlier runs.
        evidence_dir: Folder of the record, when evidence is kept.
        ok: Whether it ended with status 0 and left every required output.
        message: What went wrong, with the last lines of its errors, or that all went well.
        uncollected: Files in the copy of the code that look like results and are not kept.
    """

    record: ExecutionRecord
    record_digest: str
    outputs_dir: Path
    evidence_dir: Path | None
    ok: bool
    message: str
    uncollected: tuple[str, ...] = ()
