"""Who works on something: one process, told from every other, also after the machine restarted."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from rra._base import proctree

State = Literal["alive", "gone", "elsewhere"]

_BOOT = Path("/proc/sys/kernel/random/boot_id")


@dataclasses.dataclass(frozen=True, slots=True)
class Owner:
    """A process, as it describes itself in a file that outlives it.

    Attributes:
        host: Name of its machine.
        boot: What the kernel drew when that machine started; empty where it does not say.
        namespace: Namespace that its number counts in; containers have their own.
        pid: Its number.
        start: When it was started, in ticks since the machine started: numbers are used again.
        job: Job of a cluster that it belongs to; empty outside of one.
    """

    host: str
    boot: str
    namespace: str
    pid: int
    start: int
    job: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return the owner as plain JSON."""
        return dataclasses.asdict(self)

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Owner:
        """Return the owner that `to_json` wrote.

        Raises:
            KeyError, TypeError, ValueError: It is none.
        """
        texts = {name: str(plain[name]) for name in ("host", "boot", "namespace", "job")}
        return cls(**texts, pid=int(plain["pid"]), start=int(plain["start"]))

    @property
    def state(self) -> State:
        """Whether it lives, as far as that can be told from here.

        A process of another machine is ``elsewhere``: from here nobody sees whether it lives. One
        of another namespace of this machine counts as gone, so that a lock has to tell.
        """
        here = this_process()
        same_kernel = bool(self.boot) and self.boot == here.boot
        if self.host != here.host and not same_kernel:
            return "elsewhere"
        if self.boot != here.boot:
            return "gone"  # the machine was started again
        if self.namespace != here.namespace or self == here:
            return "gone"
        return "alive" if proctree.started(self.pid) == self.start else "gone"


def this_process() -> Owner:
    """Return who we are."""
    try:
        boot = _BOOT.read_text("ascii").strip()
    except OSError:
        boot = ""
    try:
        namespace = os.readlink("/proc/self/ns/pid")  # noqa: PTH115 - its target is no path
    except OSError:
        namespace = ""
    pid = os.getpid()
    return Owner(os.uname().nodename, boot, namespace, pid, proctree.started(pid) or 0, _job())


def _job() -> str:
    """Return the job of Slurm that we belong to, as Slurm writes it."""
    array, index = os.environ.get("SLURM_ARRAY_JOB_ID"), os.environ.get("SLURM_ARRAY_TASK_ID")
    return f"{array}_{index}" if array and index else os.environ.get("SLURM_JOB_ID", "")
