"""Running launchers: order, private places, parameters, recording, collecting, evidence."""

from __future__ import annotations

from rra.launch.building import build_environment, isolation_level
from rra.launch.place import copy_code, remove_place, stage_place
from rra.launch.plan import order_launchers
from rra.launch.recorder import probe_recorder
from rra.launch.request import DEFAULT_INSTANCE, RunRequest, RunResult
from rra.launch.run import DEFAULT_OUTPUT_BYTES, isolation_of, run_launcher

__all__ = [
    "DEFAULT_INSTANCE",
    "DEFAULT_OUTPUT_BYTES",
    "RunRequest",
    "RunResult",
    "build_environment",
    "copy_code",
    "isolation_level",
    "isolation_of",
    "order_launchers",
    "probe_recorder",
    "remove_place",
    "run_launcher",
    "stage_place",
]
