"""How much a launcher may use: what it declares, and bounds for what it does not."""

from __future__ import annotations

import os
import re
from decimal import Decimal

from rra.model import Launcher
from rra.sandbox import Limits, memory_of_machine
from rra.values.units import convert

DEFAULT_OUTPUT_BYTES = 4 * 1024**3
"""Size of all outputs together that is kept when the launcher declares no limit."""

_LEAST_PROCESSES, _PROCESSES_PER_PROCESSOR = 4096, 128
_MEMORY_TENTHS = 9
_SIZE = re.compile(r"([0-9.]+) ?([A-Za-z]+)")


def limits_of(launcher: Launcher) -> Limits:
    """Return the limits of a launcher's runs.

    What it declares to need of memory and processors is what it gets, here as on a cluster.
    Without a declaration nine tenths of the memory are its limit, so that what allocates without
    end takes the machine from nobody, and processors are not limited. Processes and threads are
    4096, or 128 for each processor where that is more.
    """
    resources = launcher.resources
    total, processors = memory_of_machine(), os.cpu_count() or 1
    declared = size_in_bytes(resources.memory) if resources and resources.memory else None
    wanted = resources.cpu if resources else None
    return Limits(
        memory=declared or total * _MEMORY_TENTHS // 10,
        processes=max(_LEAST_PROCESSES, _PROCESSES_PER_PROCESSOR * processors),
        cpu=wanted if wanted is not None and wanted < processors else None,
    )


def output_limit(launcher: Launcher) -> int:
    """Return the bytes of all outputs together that are kept."""
    declared = launcher.limits.output if launcher.limits else None
    return DEFAULT_OUTPUT_BYTES if declared is None else declared


def size_in_bytes(size: int | str) -> int:
    """Return a size of a manifest, a number of bytes or text such as ``8 GiB``, in bytes."""
    if isinstance(size, int):
        return size
    found = _SIZE.fullmatch(size)
    if found is None:
        raise AssertionError(size)  # the model lets only such text through
    return int(convert(Decimal(found[1]), found[2], "B"))
