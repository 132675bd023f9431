"""A name is found however it is written, and not inside of other words."""

from __future__ import annotations

import base64
import gzip
import unicodedata
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rra.author.anonymous.identifier import Finder, Identifier, Kind
from rra.author.anonymous.identity import commit
from rra.author.anonymous.literals import Literals
from rra.author.anonymous.people import Words, account, email, host, person


def named(name: str) -> Finder:
    return Finder(person(name, Words(), "test"))


def kinds(finder: Finder, data: bytes) -> list[str]:
    return [str(hit.identifier.kind) for hit in finder.find(data) if hit.identifier.certain]


NAME = "Käthe Müßiggang"


@pytest.mark.parametrize(
    "written",
    [
        "Käthe Müßiggang",
        "KÄTHE MÜSSIGGANG",
        "käthe müßiggang",
        "Müßiggang, Käthe",
        "Müßiggang K.",
        "K. Müßiggang",
        "Kaethe Muessiggang",
        "Kathe Mussiggang",
        "kaethe.muessiggang",
        "kaethe_muessiggang",
        "KaetheMuessiggang",
        "Käthe\n# Müßiggang",
        unicodedata.normalize("NFD", "Käthe Müßiggang"),
        quote("Käthe Müßiggang"),
        "K\\u00e4the M\\u00fc\\u00dfiggang",
        "K&auml;the M&uuml;&szlig;iggang",
        "K&#228;the M&#xfc;&#223;iggang",
        r"K{\"a}the M\"{u}{\ss}iggang".replace(r"{\ss}", "ß"),
        "K=C3=A4the M=C3=BC=C3=9Figgang",
    ],
)
def test_a_person_is_found(written: str) -> None:
    assert kinds(named(NAME), f"by {written}; more".encode())


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16", "utf-16-be", "utf-16-le"])
def test_a_person_is_found_in_other_encodings(encoding: str) -> None:
    assert kinds(named(NAME), f"by {NAME} in 2026".encode(encoding))


@pytest.mark.parametrize("before", ["", "a", "ab", "abc: "])
def test_a_person_is_found_inside_of_base64_at_any_offset(before: str) -> None:
    data = base64.b64encode(f"{before}{NAME} and more".encode())
    (hit,) = named(NAME).find(b'{"x": "' + data + b'"}')
    assert hit.form == "base64"


def test_a_person_is_found_in_hexadecimal() -> None:
    (hit, *_) = named(NAME).find(NAME.encode().hex().upper().encode())
    assert hit.form == "hexadecimal"


@pytest.mark.parametrize(
    "text", ["annotation", "Hannover", "planning", "scanner", "banns", "ANNEX", "5ann3", "johann"]
)
def test_a_user_name_is_no_part_of_a_word(text: str) -> None:
    finder = Finder(account("ann", Words(), "test"))
    assert list(finder.find(text.encode())) == []


@pytest.mark.parametrize(
    "text",
    ["/home/ann/x", "ann@host", "~ann", "ann_model", "annData", "user=ann", "-ann-", "“ann”"],
)
def test_a_user_name_is_found_as_a_word(text: str) -> None:
    finder = Finder(account("ann", Words(), "test"))
    assert kinds(finder, text.encode()) == ["account"]


def test_hexadecimal_digits_around_a_short_user_name_make_no_find() -> None:
    finder = Finder(account("ada", Words(), "test"))
    assert list(finder.find(b"sha256:5ada90ada7")) == []


def test_a_family_name_that_is_a_word_counts_with_a_capital_only() -> None:
    finder = named("Rosa Long")
    assert kinds(finder, b"a long way, so long") == []
    assert kinds(finder, b"as Long (2020) says") == ["family name"]


def test_particles_belong_to_the_family_name() -> None:
    texts = {str(one.kind): one.text for one in person("Olivier de Vel", Words(), "test")}
    assert texts["family name"] == "de Vel"


@pytest.mark.parametrize(
    "text",
    [
        "mia@uni-x.example",
        "mia%40uni-x.example",
        "mia [at] uni-x [dot] example",
        "mia at uni-x.example",
    ],
)
def test_an_address_is_found_in_disguise(text: str) -> None:
    finder = Finder(email("mia@uni-x.example", Words(), "test"))
    assert "e-mail address" in kinds(finder, text.encode())


@pytest.mark.parametrize("text", ["O'Brien", "O’Brien", "OBrien", "O&#39;Brien", "o\\'brien"])
def test_an_apostrophe_is_written_in_many_ways(text: str) -> None:
    assert kinds(named("Niamh O'Brien"), text.encode()) == ["family name"]


def test_a_commit_is_found_and_replaced_in_any_length() -> None:
    name = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
    finder = Finder([commit(name, "test")])
    assert finder.replace(f"v1-g{name[:9]} {name} {name[:7]} {name[:6]}".encode()) == (
        f"v1-g0000000 0000000 0000000 {name[:6]}".encode()
    )


def test_hosts_of_everybodys_mail_are_no_institutions() -> None:
    found = {one.text for one in email("mia.r@gmail.com", Words(), "test")}
    assert found == {"mia.r@gmail.com", "mia.r"}


def test_the_domain_of_an_institution_is_found_in_other_addresses() -> None:
    finder = Finder(email("mia@cs.uni-x.ac.uk", Words(), "test"))
    assert kinds(finder, b"https://data.uni-x.ac.uk/set") == ["domain"]


def test_names_that_many_machines_have_say_nothing() -> None:
    for name in ("root", "ubuntu", "runner", "localhost"):
        assert list(account(name, Words(), "test")) == []
        assert list(host(name, "test")) == []


def test_what_is_replaced_is_replaced_by_one_word() -> None:
    finder = named("Bo Sample")
    text = b"Bo Sample, SAMPLE B. and bo.sample; samples stay"
    assert finder.replace(text) == b"Anon1, Anon1 and Anon1; samples stay"


def test_what_only_this_machine_knows_is_found_and_not_replaced() -> None:
    one = Identifier("node17", Kind.HOST, "host1", "test", replaced=False)
    finder = Finder([one])
    assert finder.replace(b"on node17") == b"on node17"
    assert kinds(finder, b"on node17") == ["host"]


def test_compressed_bytes_do_not_speak() -> None:
    assert kinds(named(NAME), gzip.compress(NAME.encode() * 50)) == []


def test_a_name_without_a_letter_of_ascii_is_found() -> None:
    finder = named("王 小明")
    assert kinds(finder, "作者:王小明。".encode())
    assert kinds(finder, b"\\u738b\\u5c0f\\u660e")


@given(
    st.lists(st.binary(min_size=1, max_size=6), min_size=1, max_size=8),
    st.lists(st.integers(0, 7), max_size=30),
    st.integers(0, 3),
)
def test_many_literals_are_found_as_one_by_one(
    literals: list[bytes], order: list[int], shift: int
) -> None:
    middle = b"".join(literals[index % len(literals)] for index in order)
    data = b"\1" * shift + middle + b"\2" * 40_000 + middle
    expected = {
        (place, one)
        for one in literals
        for place in range(len(data))
        if data.startswith(one, place)
    }
    assert set(Literals(literals).find(data)) == expected


@pytest.mark.parametrize("before", [(4 << 20) - 9, (4 << 20) - 1, 4 << 20, (8 << 20) - 5])
def test_a_name_across_two_blocks_is_found_once(before: int) -> None:
    data = b"\n" * before + NAME.encode() + b"\n" * 100
    assert [(hit.start, hit.end) for hit in named(NAME).find(data)] == [
        (before, before + len(NAME.encode()))
    ]
    assert named(NAME).replace(data) == b"\n" * before + b"Anon1" + b"\n" * 100
