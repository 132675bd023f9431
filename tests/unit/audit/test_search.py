"""Numbers of interest are found in every form, and only the bytes of a number change."""

from __future__ import annotations

import contextlib
import gzip
import io
import pickle
import random
import struct
import zipfile
from decimal import Decimal
from pathlib import Path, PurePosixPath

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rra.audit.binary_search import binary_spots
from rra.audit.containers import MAX_PART_BYTES, open_container
from rra.audit.decoy_plan import Question, choose, common
from rra.audit.decoys import Direction
from rra.audit.forms import Spot, pack, unpack
from rra.audit.perturb import files_changed, perturbed
from rra.audit.suspects import Suspect, search_place
from rra.audit.text_search import decode, text_spots
from rra.audit.wanted import Wanted, digit_filter, intervals
from rra.values.numbers import ReportedNumber
from tests.support.artifacts import make_artifact

WANTED = [Wanted("t/a", ReportedNumber.parse("98.9"), Decimal("98.87640449438202"))]


def texts(spots: list[Spot] | None) -> list[tuple[str, int | None]]:
    assert spots is not None
    return [(spot.text, spot.line) for spot in spots]


def test_numbers_in_text_by_line_at_any_scale() -> None:
    text = "x = 98.9\ny = 0.989 # 98.90%\nn = 178\nlast 9887.6, 98,9 and 97.9\nv1.98.9\n"
    assert texts(text_spots(text.encode(), WANTED)) == [
        ("98.9", 1),
        ("0.989", 2),
        ("98.90", 2),
        ("9887.6", 4),
        ("98,9", 4),
    ]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-32", "latin-1"])
def test_offsets_are_those_of_the_bytes(encoding: str) -> None:
    content = "prix é: 98.9 et 12\n".encode(encoding)
    spots = text_spots(content, WANTED)
    assert spots is not None
    assert len(spots) == 1
    spot = spots[0]
    assert content[spot.start : spot.end].decode(spot.form) == "98.9"


def test_binary_data_is_not_text() -> None:
    assert decode(bytes(range(256))) is None
    assert decode(np.arange(4.0).tobytes()) is None
    assert text_spots(pickle.dumps([98.9]), WANTED) is None


@pytest.mark.parametrize("form", ["<f8", ">f8", "<f4", ">f4"])
def test_machine_numbers_at_any_offset(form: str) -> None:
    data = b"\x00\x01\x02" + struct.pack(form[0] + {"8": "d", "4": "f"}[form[2]], 98.9) + b"\xff"
    spots, understood = binary_spots(data, WANTED)
    assert [(spot.start, spot.form) for spot in spots] == [(3, form)]
    assert not understood


def test_integers_in_arrays_and_pickles() -> None:
    wanted = [Wanted("t/n", ReportedNumber.parse("178"), Decimal(178))]
    stream = io.BytesIO()
    np.save(stream, np.array([1, 178], "<i4"))
    spots, understood = binary_spots(stream.getvalue(), wanted)
    assert [(spot.form, spot.text) for spot in spots] == [("<i4", "178")]
    assert understood
    spots, understood = binary_spots(pickle.dumps({"n": 178, "m": 3}), wanted)
    assert [(spot.form, spot.text) for spot in spots] == [("<u1", "178")]
    assert understood


@pytest.mark.parametrize("form", ["<f8", ">f4", "<f2", ">i4", "<u1", "<i8"])
def test_machine_numbers_go_both_ways(form: str) -> None:
    packed = pack(form, Decimal(42))
    assert packed is not None
    assert packed[1] == 42
    assert unpack(form, packed[0]) == 42
    if form == "<u1":
        assert pack(form, Decimal(300)) is None


def test_every_line_with_a_number_of_interest_passes_the_filter() -> None:
    pattern = digit_filter(WANTED)
    assert pattern is not None
    for line in ("98.9", "0.98876", "9.89e1", ".989", "98,9", "9887", "98.850"):
        assert pattern.search(line), line
    assert not pattern.search("12 97.1 98.41")
    assert digit_filter([Wanted("t/a", ReportedNumber.parse("0"), Decimal(0))]) is None
    assert digit_filter([Wanted("t/a", ReportedNumber.parse("1"), Decimal(1))]) is None


@given(st.decimals(min_value="0.01", max_value="9999", places=2))
def test_intervals_hold_what_matches(value: Decimal) -> None:
    wanted = Wanted("t/a", ReportedNumber.parse(str(value)), value)
    spans = intervals([wanted])
    assert spans == sorted(spans)
    for scale in (Decimal(1), Decimal(100), Decimal("0.01")):
        assert any(low <= float(value / scale) <= high for low, high in spans)


def _suspect(content: bytes, needle: bytes, *members: str) -> Suspect:
    start = content.index(needle)
    spot = Spot(start, start + len(needle), "utf-8", needle.decode(), Decimal(needle.decode()), 1)
    return Suspect(PurePosixPath("f"), members, spot, {"t/a": Decimal(1)})


def test_only_the_number_changes(tmp_path: Path) -> None:
    content = b'{"a": 98.9,\r\n "b": "\xc3\xa9"}\n'
    (tmp_path / "f").write_bytes(content)
    changed = perturbed(tmp_path, {_suspect(content, b"98.9"): b"141.33"})
    assert changed == {PurePosixPath("f"): content.replace(b"98.9", b"141.33")}


def test_parts_of_containers_change_and_the_others_stay(tmp_path: Path) -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.txt", "acc 98.9\n")
        archive.writestr("b.bin", bytes(100))
    (tmp_path / "f").write_bytes(gzip.compress(stream.getvalue()))
    suspect = _suspect(b"acc 98.9\n", b"98.9", "gzip", "a.txt")
    content = perturbed(tmp_path, {suspect: b"12.3"})[PurePosixPath("f")]
    with zipfile.ZipFile(io.BytesIO(gzip.decompress(content))) as archive:
        assert archive.read("a.txt") == b"acc 12.3\n"
        assert archive.read("b.bin") == bytes(100)
        assert archive.infolist()[0].compress_type == zipfile.ZIP_DEFLATED


def test_damaged_and_huge_containers_stay_closed() -> None:
    assert open_container(b"PK\x03\x04 not a zip") is None
    assert open_container(gzip.compress(b"x")[:-4]) is None
    assert open_container(b"SQLite format 3\x00" + bytes(100)) is None
    assert open_container(gzip.compress(bytes(MAX_PART_BYTES + 1))) is None


def test_files_come_back_also_after_an_error(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"one")
    (tmp_path / "a").chmod(0o755)
    (tmp_path / "b").write_bytes(b"two")
    paths: dict[PurePosixPath, bytes | None] = {
        PurePosixPath("a"): b"other",
        PurePosixPath("b"): None,
    }
    with contextlib.suppress(ValueError), files_changed(tmp_path, paths):
        assert (tmp_path / "a").read_bytes() == b"other"
        assert not (tmp_path / "b").exists()
        raise ValueError
    assert (tmp_path / "a").read_bytes() == b"one"
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o755
    assert (tmp_path / "b").read_bytes() == b"two"


def test_many_places_get_distinct_decoys_that_are_no_reported_value() -> None:
    lines = "".join(f"acc {98.9 + n / 1000:.3f}\n" for n in range(-40, 40)).encode()
    spots = text_spots(lines, WANTED)
    assert spots is not None
    suspects = [Suspect(PurePosixPath("f"), (), spot, {"t/a": Decimal(1)}) for spot in spots]
    decoys = choose(suspects, [Question(WANTED[0])], Direction.DOWN)
    assert len(decoys) == len(suspects) == 80
    found = [decoy.value for decoy in decoys.values()]
    assert len(set(found)) == 80
    assert all(value < 60 for value in found)


def test_a_common_decoy_is_the_same_result_at_every_scale() -> None:
    content = b"98.9 0.989"
    first, second = _suspect(content, b"98.9"), _suspect(content, b"0.989")
    share = Suspect(PurePosixPath("g"), (), second.spot, {"t/a": Decimal(100)})
    decoys = common([first, share], Question(WANTED[0]), Direction.DOWN)
    assert decoys[first].value == 100 * decoys[share].value


def test_only_what_launchers_get_and_what_is_reported_is_searched_in_the_manifest(
    tmp_path: Path,
) -> None:
    launcher = {
        "entry": "launchers/main.sh",
        "environment": "cpu",
        "outputs": ["metrics.json"],
        "variables": {"TARGET": "98.9"},
        "limits": {"wall": 98.9},
    }
    artifact = make_artifact(tmp_path, {"main.py": ""}, launchers={"main": launcher})
    search = search_place(artifact, WANTED)
    lines = (tmp_path / "rra.yaml").read_text().splitlines()
    found = [lines[int(s.place.split(":")[1]) - 1].split(":")[0].strip() for s in search.suspects]
    assert found == ['"TARGET"', '"reported"']


def test_locks_are_not_searched(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "main.py": "",
        "environment/cpu/notes.txt": "98.9",
        "guide/GUIDE.md": "98.9\n",
    }
    artifact = make_artifact(tmp_path, files)
    (tmp_path / "rra.lock").write_text('{"x": 98.9}')
    paths = {str(suspect.path) for suspect in search_place(artifact, WANTED).suspects}
    assert paths == {"guide/GUIDE.md", "rra.yaml"}


def test_a_file_in_which_too_many_numbers_match_is_named(tmp_path: Path) -> None:
    generator = random.Random(0)
    rows = "".join(f"{98.85 + generator.random() / 10:.6f}\n" for _ in range(20_500))
    artifact = make_artifact(tmp_path, {"main.py": "", "big.csv": rows})
    search = search_place(artifact, WANTED)
    assert "too many" in search.unsearched[PurePosixPath("code/big.csv")]


def test_a_result_of_zero_is_found_in_text_only() -> None:
    wanted = [Wanted("t/a", ReportedNumber.parse("0.0"), Decimal("0.03"))]
    assert texts(text_spots(b"x = 0.03\n", wanted)) == [("0.03", 1)]
    assert binary_spots(b"\x00\x01" + bytes(64), wanted)[0] == []


def test_indexes_of_a_sparse_matrix_are_no_shares() -> None:
    # Ten of twelve is 83.3333 %; in a LIBSVM file 10 and 12 are indexes on every line.
    wanted = [Wanted("t/a", ReportedNumber.parse("83.3333"), Decimal("83.3333"))]
    line = "+1 1:0.708333 2:1 10:-0.225806 12:1 13:-1"
    assert text_spots("\n".join([line] * 20).encode(), wanted) == []
    written = "\n".join([line] * 20 + ["right = 10 / 12"]).encode()
    assert texts(text_spots(written, wanted)) == [("10", 21)]
    assert texts(text_spots(b'{"right": 10,\n"all": 12}', wanted)) == [("10", 1)]
