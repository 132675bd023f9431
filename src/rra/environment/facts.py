"""Facts of the machine that can change a number, and nothing else about it."""

from __future__ import annotations

import functools
import os
import platform
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rra._base import process
from rra.errors import UnavailableError

_NUMERIC_NAMES = frozenset(
    {"PYTHONHASHSEED", "CUBLAS_WORKSPACE_CONFIG", "CUDA_VISIBLE_DEVICES", "NVIDIA_TF32_OVERRIDE"}
    | {"TF_DETERMINISTIC_OPS", "TF_CUDNN_DETERMINISTIC", "TF_ENABLE_ONEDNN_OPTS", "XLA_FLAGS"}
    | {"NUMBA_NUM_THREADS", "NUMEXPR_NUM_THREADS", "VECLIB_MAXIMUM_THREADS", "BLIS_NUM_THREADS"}
    | {"JAX_ENABLE_X64", "NPY_DISABLE_CPU_FEATURES", "ATEN_CPU_CAPABILITY", "LC_ALL", "LC_NUMERIC"}
    | {"LANG", "TZ"}
)
_NUMERIC_PREFIXES = ("OMP_", "MKL_", "OPENBLAS_", "GOTO_", "KMP_")

_V2 = frozenset({"cx16", "lahf_lm", "popcnt", "sse4_1", "sse4_2", "ssse3"})
_V3 = _V2 | {"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe", "xsave"}
_V4 = _V3 | {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}
_LEVELS = ((_V4, "x86-64-v4"), (_V3, "x86-64-v3"), (_V2, "x86-64-v2"))


def numeric_variables(env: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that can change a number; the rest is nobody's business.

    Args:
        env: A whole environment, such as that of a run.
    """
    return {
        name: value
        for name, value in sorted(env.items())
        if name in _NUMERIC_NAMES or name.startswith(_NUMERIC_PREFIXES)
    }


def platform_facts() -> dict[str, Any]:
    """Return facts of this machine that can change a number; no names of host or user.

    ``os``, ``kernel``, ``libc``, ``machine``, ``cpu`` (model, count of usable processors,
    x86-64 level by the System V ABI), ``memory`` in bytes, ``python``, and ``gpu`` (name,
    driver) where there is one.
    """
    return dict(_facts())


@functools.cache
def _facts() -> dict[str, Any]:
    model, flags = _processor()
    cpu: dict[str, Any] = {"model": model, "count": _usable_processors()}
    if platform.machine() == "x86_64":
        cpu["level"] = x86_level(flags)
    facts: dict[str, Any] = {
        "os": _os_name(),
        "kernel": f"{platform.system()} {platform.release()}",
        "libc": " ".join(part for part in platform.libc_ver() if part) or "unknown",
        "machine": platform.machine(),
        "cpu": cpu,
        "memory": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "python": platform.python_version(),
    }
    gpus = _gpus()
    if gpus:
        facts["gpu"] = gpus
    return facts


def x86_level(flags: frozenset[str]) -> str:
    """Return the x86-64 level (System V ABI, AMD64 supplement) of a processor's flags."""
    return next((name for needed, name in _LEVELS if needed <= flags), "x86-64-v1")


def _usable_processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _processor() -> tuple[str, frozenset[str]]:
    path = Path("/proc/cpuinfo")
    text = path.read_text("utf-8", "replace") if path.is_file() else ""
    model = re.search(r"^(?:model name|Processor|cpu model)\s*:\s*(.+)$", text, re.MULTILINE)
    flags = re.search(r"^(?:flags|Features)\s*:\s*(.+)$", text, re.MULTILINE)
    name = model[1].strip() if model else platform.processor() or "unknown"
    return name, frozenset(flags[1].split() if flags else ())


def _os_name() -> str:
    try:
        return platform.freedesktop_os_release().get("PRETTY_NAME", platform.system())
    except OSError:
        return f"{platform.system()} {platform.version()}"


def _gpus() -> list[dict[str, str]]:
    tool = process.find_tool("nvidia-smi")
    if tool is None:
        return []
    query = "--query-gpu=name,driver_version,memory.total"
    try:
        done = process.run([tool, query, "--format=csv,noheader"], timeout=10)
    except UnavailableError:
        return [{"name": "unknown", "driver": "nvidia-smi does not answer"}]
    gpus = []
    for line in done.stdout.splitlines() if done.ok else []:
        fields = [field.strip() for field in line.split(",")]
        if len(fields) == 3:
            gpus.append({"name": fields[0], "driver": fields[1], "memory": fields[2]})
    return gpus
