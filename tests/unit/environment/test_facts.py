"""Facts of the machine."""

from __future__ import annotations

import json
import os
import platform
import socket
from pathlib import Path

import pytest

from rra.environment import numeric_variables, platform_facts
from rra.environment.facts import x86_level


@pytest.mark.clause("privacy/variables")
def test_only_variables_that_change_numbers_are_kept() -> None:
    env = {
        "OMP_NUM_THREADS": "1",
        "MKL_CBWR": "AVX2",
        "PYTHONHASHSEED": "0",
        "CUBLAS_WORKSPACE_CONFIG": ":4096:8",
        "AWS_SECRET_ACCESS_KEY": "s3cret",
        "HOME": "/home/ana",
        "COMPANY_OMP_": "x",
    }
    assert numeric_variables(env) == {
        "CUBLAS_WORKSPACE_CONFIG": ":4096:8",
        "MKL_CBWR": "AVX2",
        "OMP_NUM_THREADS": "1",
        "PYTHONHASHSEED": "0",
    }


def test_facts_are_those_of_this_machine() -> None:
    facts = platform_facts()
    assert facts["machine"] == platform.machine() == os.uname().machine
    assert facts["kernel"] == f"Linux {os.uname().release}"
    assert facts["cpu"]["count"] == len(os.sched_getaffinity(0))
    total = Path("/proc/meminfo").read_text().split()[1]
    assert abs(facts["memory"] - int(total) * 1024) <= 1024 * 1024
    assert facts["python"] == platform.python_version()


@pytest.mark.clause("privacy/no-names")
def test_facts_name_neither_host_nor_user() -> None:
    text = json.dumps(platform_facts())
    assert socket.gethostname() not in text
    assert str(Path.home()) not in text


@pytest.mark.parametrize(
    ("flags", "level"),
    [
        ("", "x86-64-v1"),
        ("cx16 lahf_lm popcnt sse4_1 sse4_2 ssse3", "x86-64-v2"),
        (
            "cx16 lahf_lm popcnt sse4_1 sse4_2 ssse3 avx avx2 bmi1 bmi2 f16c fma abm movbe xsave",
            "x86-64-v3",
        ),
    ],
)
def test_levels_of_processors(flags: str, level: str) -> None:
    assert x86_level(frozenset(flags.split())) == level
