"""The grammar of addresses: what vouches for the file is in them, and nothing secret is."""

from __future__ import annotations

import contextlib
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rra.bundle.reference import Reference, WebReference, parse_reference
from rra.errors import UsageError

HEX = "0123456789abcdef" * 4
FILE = f"sha256:{HEX}"
DIGEST = f"sha256:{HEX[::-1]}"
URL = "https://zenodo.example/records/1/files/x.oci.tar"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"{URL}#{FILE}", WebReference(URL, FILE)),
        (f"{URL}#{FILE}:1.0.0", WebReference(URL, FILE, "1.0.0")),
        (f"{URL}#{FILE}@{DIGEST}", WebReference(URL, FILE, None, DIGEST)),
        (f"{URL}#{FILE}:v1@{DIGEST}", WebReference(URL, FILE, "v1", DIGEST)),
        (f"{URL}?download=1&a=b/c?#{FILE}", WebReference(f"{URL}?download=1&a=b/c?", FILE)),
        (f"https://h:8443/a%20b@c:d#{FILE}", WebReference("https://h:8443/a%20b@c:d", FILE)),
        (f"http://127.0.0.1:80/x#{FILE}", WebReference("http://127.0.0.1:80/x", FILE)),
        (f"http://localhost/x#{FILE}", WebReference("http://localhost/x", FILE)),
        (f"http://[::1]:5000/x#{FILE}", WebReference("http://[::1]:5000/x", FILE)),
        (f"https://[2001:db8::1]/x#{FILE}", WebReference("https://[2001:db8::1]/x", FILE)),
    ],
)
def test_addresses_of_bundles(text: str, expected: object) -> None:
    parsed = parse_reference(text)
    assert parsed == expected
    assert str(parsed) == text


def test_a_version_with_build_metadata() -> None:
    parsed = parse_reference(f"{URL}#{FILE}:1.2.0+cu128")
    assert parsed == WebReference(URL, FILE, "1.2.0_cu128", None, "1.2.0+cu128")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"https:///x#{FILE}", "not the name of a host"),
        (f"https://h#{FILE}", "not the address of a file"),
        (f"https://h/#{FILE}", "not the address of a file"),
        (f"https://H/x#{FILE}", "not the name of a host"),
        (f"https://h:0/x#{FILE}", "not the name of a host"),
        (f"https://h:65536/x#{FILE}", "not the name of a host"),
        (f"https://h_/x#{FILE}", "not the name of a host"),
        (f"https://h\\evil/x#{FILE}", "not the name of a host"),
        (f"https://h/a b#{FILE}", "not the address of a file"),
        (f"https://h/a%2#{FILE}", "not the address of a file"),
        (f"https://h/a\\b#{FILE}", "not the address of a file"),
        (f"https://h/a\nb#{FILE}", "not the address of a file"),
        (f"https://h/\x1b[2J#{FILE}", "not the address of a file"),
        (f"https://h/é#{FILE}", "not the address of a file"),
        (f"https://h/{'x' * 3000}#{FILE}", "not the address of a file"),
        (f"http://h/x#{FILE}", "goes without TLS"),
        (f"http://127.0.0.1.evil.example/x#{FILE}", "goes without TLS"),
        (f"http://localhost.evil.example/x#{FILE}", "goes without TLS"),
        (f"{URL}#", "not the digest of a file"),
        (f"{URL}#{HEX}", "not the digest of a file"),
        (f"{URL}#sha256:{HEX.upper()}", "not the digest of a file"),
        (f"{URL}#{FILE[:-1]}", "not the digest of a file"),
        (f"{URL}#{FILE}0", "not the digest of a file"),
        (f"{URL}#{FILE}#{FILE}", "not the digest of a file"),
        (f"{URL}#sha512:{HEX}{HEX}", "not the digest of a file"),
        (f"{URL}#{FILE}:", "not a tag"),
        (f"{URL}#{FILE}:a/b", "not a tag"),
        (f"{URL}#{FILE}@sha256:12", "not a digest"),
        (f"{URL}@{DIGEST}", "nothing vouches for what comes"),
        (f"ftp://h/x#{FILE}", "ftp:// is no way to get a bundle"),
        (f"HTTPS://h/x#{FILE}", "HTTPS:// is no way to get a bundle"),
        (f"file:///etc/passwd#{FILE}", "file:// is no way to get a bundle"),
    ],
)
def test_what_is_no_address_of_a_bundle(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        parse_reference(text)


def test_without_a_digest_it_says_what_to_write() -> None:
    with pytest.raises(UsageError, match=f"nothing vouches for what comes from {URL}") as caught:
        parse_reference(URL)
    assert f"'{URL}#sha256:…'" in caught.value.hint
    assert "which proves nothing" in caught.value.hint


@pytest.mark.parametrize("login", ["me:hunter2", "hunter2", "me:hunter2@x", ":hunter2"])
@pytest.mark.parametrize("rest", [f"#{FILE}", "", "?a"])
def test_a_login_is_refused_and_not_said_again(login: str, rest: str) -> None:
    with pytest.raises(UsageError, match="holds no user name or password") as caught:
        parse_reference(f"https://{login}@h.example/x{rest}")
    assert "hunter2" not in caught.value.message + caught.value.hint


MARKS = st.text(
    string.ascii_letters + string.digits + "._~!$&'()*+,;=:@/-?%#[]\\ \n\0é", max_size=40
)


@given(st.sampled_from(["https://", "http://localhost", "https://h/", "https://h/x#", URL]), MARKS)
def test_what_is_read_is_read_again(start: str, rest: str) -> None:
    """Any text gives the same reference when it is written and read, or a usage error."""
    for text in (start + rest, f"{start}{rest}#{FILE}", f"{start}#{FILE}{rest}"):
        parsed: Reference | None = None
        with contextlib.suppress(UsageError):
            parsed = parse_reference(text)
        if isinstance(parsed, WebReference):
            assert parse_reference(str(parsed)) == parsed or parsed.version
            assert parsed.url.isascii()
            assert parsed.url.isprintable()
            assert "@" not in parsed.url.split("/")[2]
