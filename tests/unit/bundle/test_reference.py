"""The grammar of references."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rra.bundle.reference import (
    ArchiveReference,
    DirectoryReference,
    LayoutReference,
    RegistryReference,
    parse_reference,
    tag_of_version,
)
from rra.errors import UsageError

HEX = "0123456789abcdef" * 4
DIGEST = f"sha256:{HEX}"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("oci-layout:b", LayoutReference(Path("b"))),
        ("oci-layout:/x/b:1.0.0", LayoutReference(Path("/x/b"), "1.0.0")),
        (f"oci-layout:b@{DIGEST}", LayoutReference(Path("b"), None, DIGEST)),
        (f"oci-layout:a@home/b:v1@{DIGEST}", LayoutReference(Path("a@home/b"), "v1", DIGEST)),
        ("oci-archive:study.tar", ArchiveReference(Path("study.tar"))),
        ("oci-archive:../s.tar:_x", ArchiveReference(Path("../s.tar"), "_x")),
        ("localhost:5000/a/b:1", RegistryReference("localhost:5000", "a/b", "1")),
        ("localhost/a", RegistryReference("localhost", "a")),
        (f"r.example/a@{DIGEST}", RegistryReference("r.example", "a", None, DIGEST)),
        (f"r.example/a:t@{DIGEST}", RegistryReference("r.example", "a", "t", DIGEST)),
        ("127.0.0.1:5000/a--b/c_d", RegistryReference("127.0.0.1:5000", "a--b/c_d")),
        ("[::1]:5000/a:t", RegistryReference("[::1]:5000", "a", "t")),
    ],
)
def test_references_to_bundles(text: str, expected: object) -> None:
    parsed = parse_reference(text)
    assert parsed == expected
    assert str(parsed) == text


@pytest.mark.parametrize(
    "text",
    [".", "..", "/x/y", "./r.example/a:1", "study", "a/b", "a:b", "../r.example/a", "UPPER/x"],
)
def test_everything_else_that_looks_like_a_path_is_a_directory(text: str) -> None:
    assert parse_reference(text) == DirectoryReference(Path(text))


def test_a_directory_that_is_there_wins_over_a_host_without_tag(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "v1.0" / "study").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    assert parse_reference("v1.0/study") == DirectoryReference(Path("v1.0/study"))
    assert parse_reference("v1.0/other") == RegistryReference("v1.0", "other")
    assert parse_reference("v1.0/study:x") == RegistryReference("v1.0", "study", "x")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "names nothing"),
        ("oci-layout:", "names no path"),
        ("oci-layout::1.0", "names no path"),
        ("oci-layout:a:b:c", "'b:c' is not a tag"),
        ("oci-layout:a:-x", "'-x' is not a tag"),
        ("oci-layout:a:1.0+cu128", "'1.0+cu128' is not a tag"),
        (f"oci-layout:a@sha256:{HEX.upper()}", "is not a digest"),
        ("oci-layout:a@sha256:../../x", "is not a digest"),
        ("oci-layout:a@sha256:abc", "is not a digest"),
        (f"oci-layout:a@sha512:{HEX}{HEX}", "is not a digest"),
        ("https://x.example/y.tar", "nothing vouches for what comes from"),
        ("HTTP://evil/x:y", "HTTP:// is no way to get a bundle"),
        ("user:pw@r.example/a:1", "no user name or password"),
        ("r.example/A:1", "'A' is not the name of a repository"),
        ("r.example/../x:1", "'../x' is not the name of a repository"),
        ("r.example/a//b:1", "is not the name of a repository"),
        ("r.example:0/a:1", "is not the name of a host"),
        ("r.example:99999/a:1", "is not the name of a host"),
        ("-x.example/a:1", "is not the name of a host"),
        ("r.example/a:b:c", "'b:c' is not a tag"),
        ("r.example/" + "a" * 256 + ":1", "is not the name of a repository"),
        ("r.example/a:" + "t" * 129, "is not a tag"),
        ("oci-layout:a\0b", "names nothing"),
    ],
)
def test_what_is_no_reference_is_refused_with_advice(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=re.escape(message)) as caught:
        parse_reference(text)
    assert caught.value.hint


def test_build_metadata_of_a_version_becomes_an_underscore() -> None:
    assert tag_of_version("1.2.0+cu128") == "1.2.0_cu128"
    with pytest.raises(UsageError, match="cannot be a tag"):
        tag_of_version("1 beta")


@given(st.text(alphabet="aA1.:/@-_+[]~ oci-layout", max_size=40))
def test_any_text_is_either_a_reference_that_reads_back_or_refused(text: str) -> None:
    try:
        parsed = parse_reference(text)
    except UsageError:
        return
    if not isinstance(parsed, DirectoryReference):
        assert parse_reference(str(parsed)) == parsed


@pytest.mark.parametrize("scheme", ["oci-layout:", "oci-archive:"])
def test_a_path_with_a_colon_that_is_there_is_not_taken_for_a_tag(
    tmp_path: Path, scheme: str
) -> None:
    (tmp_path / "a:b.tar").mkdir()
    with pytest.raises(UsageError, match="behind a colon begins a tag"):
        parse_reference(f"{scheme}{tmp_path}/a:b.tar")
    assert str(parse_reference(f"{scheme}{tmp_path}/c:b.tar")) == f"{scheme}{tmp_path}/c:b.tar"
    with pytest.raises(UsageError, match="it is too long"):
        parse_reference(f"{scheme}{'x/' * 3000}a:b")
