"""What a packed interpreter says of itself, and whether it fits a machine."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rra.environment.runtime import Machine, RuntimeDescription, check_machine, read_description
from rra.errors import FormatError, PlatformError
from tests.support.archives import file, tar
from tests.support.runtimes import ELSEWHERE, FULL, HERE, description, pretend

GLIBC = Machine(HERE, (2, 31))


def said(**changes: Any) -> RuntimeDescription:
    return RuntimeDescription.model_validate(description(**changes))


def test_it_is_read_from_the_first_member_alone(tmp_path: Path) -> None:
    archive = pretend(tmp_path / "interpreter.tar", description(carried=["libz.so.1"]))
    found = read_description(archive, "interpreter.tar")
    assert (found.python, found.platform, found.carried) == (FULL, HERE, ["libz.so.1"])
    whole = archive.read_bytes()
    archive.write_bytes(whole[:1024])
    assert read_description(archive, "interpreter.tar") == found
    assert found.markers()["python_full_version"] == FULL
    assert found.markers()["sys_platform"] == "linux"


@pytest.mark.clause("environment/interpreter-describes-itself")
@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "does not begin with"),
        (b"PK\3\4" + bytes(600), "does not begin with"),
        (tar(file("python/bin/python3.11")), "does not begin with"),
        (tar(file("RUNTIME.json", b"{}")), "is not valid"),
        (tar(file("RUNTIME.json", b"[1]")), "is not valid"),
        (tar(file("RUNTIME.json", b"{,}")), "is not valid"),
        (tar(file("RUNTIME.json", b" " * 65537)), "longer than 65536 bytes"),
    ],
)
def test_what_says_nothing_is_refused(tmp_path: Path, content: bytes, why: str) -> None:
    archive = tmp_path / "interpreter.tar"
    archive.write_bytes(content)
    with pytest.raises(FormatError, match=why) as caught:
        read_description(archive, "environment/cpu/interpreter.tar")
    assert caught.value.problems[0].clause == "environment/interpreter-describes-itself"
    assert caught.value.problems[0].path == "environment/cpu/interpreter.tar"


@pytest.mark.parametrize(
    "changes",
    [
        {"type": "runtime/v2"},
        {"python": "3.11"},
        {"python": "3.11.7; rm"},
        {"platform": "windows-x86_64"},
        {"platform": "linux-vax"},
        {"executable": "/usr/bin/python3"},
        {"executable": "python/bin/../../../usr/bin/python3"},
        {"glibc": "two"},
        {"libraries": None},
        {"libraries": ["../libz.so.1"]},
    ],
)
def test_descriptions_that_are_none(tmp_path: Path, changes: dict[str, Any]) -> None:
    archive = pretend(tmp_path / "interpreter.tar", json.dumps(description(**changes)).encode())
    with pytest.raises(FormatError):
        read_description(archive, "interpreter.tar")


def test_what_fits() -> None:
    check_machine(said(), "cpu")
    check_machine(said(glibc="2.31"), "cpu", GLIBC)
    check_machine(said(glibc="2.9"), "cpu", GLIBC)
    check_machine(said(glibc=None), "cpu", Machine(HERE, None))


@pytest.mark.clause("environment/interpreter-fits")
@pytest.mark.parametrize(
    ("changes", "machine", "message"),
    [
        ({"platform": ELSEWHERE}, GLIBC, f"is for {ELSEWHERE}; this machine is {HERE}"),
        ({"glibc": "2.32"}, GLIBC, "needs glibc 2.32 or newer; this machine has glibc 2.31"),
        ({"glibc": "3.0"}, GLIBC, "needs glibc 3.0 or newer"),
        ({}, Machine(HERE, None), "this machine has another C library"),
        ({"libraries": ["libno-such.so.9"]}, GLIBC, "that are not here: libno-such.so.9"),
    ],
)
def test_what_does_not_fit_is_refused_with_what_is_missing(
    changes: dict[str, Any], machine: Machine, message: str
) -> None:
    with pytest.raises(PlatformError) as caught:
        check_machine(said(**changes), "cpu", machine)
    assert message in caught.value.message
    assert f"Python {FULL} that environment cpu carries" in caught.value.message
    assert caught.value.exit_code == 3
