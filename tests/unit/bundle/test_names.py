"""Names that an archive may hold."""

from __future__ import annotations

import os
from pathlib import Path, PurePosixPath

import pytest

from rra.bundle import diff_id
from rra.bundle.names import check_links, check_names, printable
from rra.errors import FormatError


def faults(*names: str) -> list[str]:
    return [f"{p.path}: {p.message}" for p in check_names(PurePosixPath(name) for name in names)]


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("a\\b", "a\\b: name holds a backslash"),
        ("a:b", "a:b: name holds a colon"),
        ("a\nb", "a\\nb: name holds a control character"),
        ("a\x1b[31mb", "a\\x1b[31mb: name holds a control character"),
        ("a\u202eb", "a\\u202eb: name holds a character that changes the direction of writing"),
        ("e\u0301", "e\u0301: name is not in Unicode normalisation form C"),
        ("bad\udcff", "bad\\udcff: name holds bytes that are not UTF-8"),
        ("/etc/passwd", "/etc/passwd: path is not relative to the artifact"),
        ("a/../b", "a/../b: path is not relative to the artifact"),
    ],
)
def test_names_that_do_not_travel(name: str, fault: str) -> None:
    assert faults(name) == [fault]


def test_limits_are_in_bytes_and_inclusive() -> None:
    assert faults("é" * 127) == []  # 254 bytes
    assert len(faults("é" * 128)) == 1
    assert faults("/".join(["d"] * 64)) == []
    assert faults("/".join(["d"] * 65))[0].endswith("path is deeper than 64 levels")
    long = "/".join(["x" * 200] * 20)  # 4019 bytes
    assert faults(long) == []
    assert faults(long + "/" + "x" * 77)[0].endswith("path is longer than 4096 bytes")


def test_ordinary_names_pass() -> None:
    assert faults("README.md", "src/naïve data (1).csv", "データ/図1.png", ".hidden", "a b") == []


def test_names_that_differ_in_case_only_collide() -> None:
    assert faults("Readme", "README", "other") == ["README: differs from Readme in case only"]
    assert faults("straße", "STRASSE") == ["STRASSE: differs from straße in case only"]


def test_every_fault_is_reported_at_once(tmp_path: Path) -> None:
    for name in ("a:b", "ok", "Ok"):
        (tmp_path / name).touch()
    with pytest.raises(FormatError) as caught:
        diff_id(tmp_path, [PurePosixPath(name) for name in ("a:b", "ok", "Ok")])
    assert [problem.path for problem in caught.value.problems] == ["a:b", "ok"]
    assert caught.value.message == "cannot be archived: a:b name holds a colon (and 1 more)"


@pytest.mark.clause("security/safe-printing")
def test_a_name_of_other_bytes_on_disk_is_refused_and_shown_safely(tmp_path: Path) -> None:
    name = os.fsdecode(b"caf\xe9")
    (tmp_path / name).touch()
    with pytest.raises(FormatError) as caught:
        diff_id(tmp_path, [PurePosixPath(name)])
    assert caught.value.problems[0].path == "caf\\udce9"
    caught.value.message.encode("utf-8")


def test_printable_keeps_what_is_harmless() -> None:
    assert printable("naïve データ") == "naïve データ"
    assert printable("a\tb\u2066") == "a\\tb\\u2066"


@pytest.mark.parametrize("name", ["con", "CON.txt", "a/aux.py", "nul .x", "Lpt1", "com¹.csv"])
def test_names_of_devices_do_not_travel(name: str) -> None:
    assert faults(name) == [f"{name}: name is that of a device on some systems"]


@pytest.mark.parametrize("name", ["a.", "b ", "d./x", "...", "d /x"])
def test_names_that_lose_their_end_do_not_travel(name: str) -> None:
    assert faults(name) == [f"{name}: a part of the path ends with a dot or a space"]


def test_names_near_those_of_devices_pass() -> None:
    assert faults("console", "aux_1.py", "com10", "my.con", ".nul") == []


@pytest.mark.parametrize(
    ("target", "fault"),
    [
        ("d", ""),
        ("d/x", ""),
        ("d/../f", ""),
        ("../../x", "that leads out of the archive"),
        ("gone/../../../f", "that leads out of the archive"),
        ("gone/../f", "to something that is not in the archive"),
        ("f/../f", "to something that is not in the archive"),
        ("d/", "whose target is not in its plain form"),
        ("d//x", "whose target is not in its plain form"),
        ("./f", "whose target is not in its plain form"),
        ("", "whose target is not in its plain form"),
        ("m/../f", "that leads through another link"),
        ("l", "that leads through another link"),
    ],
)
def test_each_step_of_a_link_is_in_the_archive(target: str, fault: str) -> None:
    links = {PurePosixPath("l"): target, PurePosixPath("m"): "d"}
    found = [p.message for p in check_links(links, {"f", "d/x"}, {"d"})]
    assert found == ([f"is a symbolic link {fault}: {target}"] if fault else [])


def test_many_links_are_checked_in_one_go() -> None:
    links = {PurePosixPath(f"l{number}"): "f" for number in range(20_000)}
    assert list(check_links(links, {"f"}, set())) == []
