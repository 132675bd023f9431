"""Files of keys: what openssl makes of them, who may read them, and that none is overwritten."""

from __future__ import annotations

import base64
import os
import stat
import subprocess
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from hypothesis import given, settings
from hypothesis import strategies as st

from rra._base.files import STAGING_PREFIX, write_new
from rra.errors import StorageError, UsageError
from rra.signing import Algorithm, generate, read_private_key, read_public_key, write_key_pair
from rra.signing.pkcs8 import encrypt
from tests.support.needs import needs

PASSPHRASE = "grün & long".encode()
both_algorithms = pytest.mark.parametrize("algorithm", Algorithm)


def openssl(*arguments: str, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(["openssl", *arguments], input=given, capture_output=True, check=False)


@needs("openssl")
@both_algorithms
def test_openssl_reads_both_files(algorithm: Algorithm, tmp_path: Path) -> None:
    key = generate(algorithm)
    private, public = write_key_pair(tmp_path / "me", key, PASSPHRASE)
    read = openssl("pkey", "-in", str(private), "-passin", "stdin", "-pubout", given=PASSPHRASE)
    assert read.returncode == 0, read.stderr
    assert read.stdout == public.read_bytes()
    der = openssl("pkey", "-pubin", "-in", str(public), "-outform", "DER")
    digest = openssl("dgst", "-sha256", "-r", given=der.stdout)
    assert f"sha256:{digest.stdout.split()[0].decode()}" == key.public.fingerprint
    wrong = openssl("pkey", "-in", str(private), "-passin", "stdin", given=b"grun & long")
    assert wrong.returncode != 0


@needs("openssl")
@both_algorithms
def test_openssl_accepts_a_signature(algorithm: Algorithm, tmp_path: Path) -> None:
    key = generate(algorithm)
    _, public = write_key_pair(tmp_path / "me", key, None)
    (tmp_path / "data").write_bytes(b"said")
    (tmp_path / "signature").write_bytes(key.sign(b"said"))
    options = ["-pubin", "-inkey", str(public), "-in", str(tmp_path / "data")]
    options += ["-rawin"] if algorithm is Algorithm.ED25519 else ["-rawin", "-digest", "sha256"]
    done = openssl("pkeyutl", "-verify", *options, "-sigfile", str(tmp_path / "signature"))
    assert done.returncode == 0, done.stderr


@needs("openssl")
def test_a_key_of_openssl_is_read(tmp_path: Path) -> None:
    path = tmp_path / "theirs.key"
    arguments = ["-algorithm", "ed25519", "-aes256", "-pass", "stdin", "-out", str(path)]
    assert openssl("genpkey", *arguments, given=PASSPHRASE).returncode == 0
    public = openssl("pkey", "-in", str(path), "-passin", "stdin", "-pubout", given=PASSPHRASE)
    (tmp_path / "theirs.pub").write_bytes(public.stdout)
    assert read_private_key(path, PASSPHRASE).public == read_public_key(tmp_path / "theirs.pub")


@both_algorithms
def test_the_pair_is_read_back(algorithm: Algorithm, tmp_path: Path) -> None:
    key = generate(algorithm)
    private, public = write_key_pair(tmp_path / "keys" / "v1.2", key, PASSPHRASE)
    assert (private.name, public.name) == ("v1.2.key", "v1.2.pub")
    assert read_private_key(private, PASSPHRASE).public == key.public
    assert read_public_key(public) == key.public
    assert sorted(p.name for p in private.parent.iterdir()) == ["v1.2.key", "v1.2.pub"]


@pytest.mark.parametrize("mask", [0o000, 0o022, 0o077])
def test_only_the_owner_may_read_the_private_key(mask: int, tmp_path: Path) -> None:
    before = os.umask(mask)
    try:
        private, public = write_key_pair(tmp_path / "me", generate(), PASSPHRASE)
    finally:
        os.umask(before)
    assert stat.S_IMODE(private.stat().st_mode) == 0o600
    assert stat.S_IMODE(public.stat().st_mode) == 0o644


@pytest.mark.parametrize("there", ["me.key", "me.pub"])
@pytest.mark.parametrize("kind", ["file", "dangling link"])
def test_nothing_is_overwritten_and_nothing_is_left(there: str, kind: str, tmp_path: Path) -> None:
    path = tmp_path / there
    if kind == "file":
        path.write_text("precious")
    else:
        path.symlink_to("nowhere")
    with pytest.raises(UsageError, match=f"{there} is there already"):
        write_key_pair(tmp_path / "me", generate(), PASSPHRASE)
    assert [p.name for p in tmp_path.iterdir()] == [there]


@pytest.mark.parametrize("name", ["", ".", "..", "keys/.."])
def test_a_name_that_is_none(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match="names no file"):
        write_key_pair(Path(name), generate(), PASSPHRASE)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "keys").write_text("")
    with pytest.raises(StorageError, match="cannot be made"):
        write_key_pair(tmp_path / "keys" / "me", generate(), PASSPHRASE)
    assert [p.name for p in tmp_path.iterdir()] == ["keys"]


def test_a_file_that_appears_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "me.key"
    path.write_text("precious")
    with pytest.raises(UsageError, match="is there already"):
        write_new(path, b"other", mode=0o600)
    assert path.read_text() == "precious"
    assert not list(tmp_path.glob(f"{STAGING_PREFIX}*"))


def test_the_passphrase_is_stretched() -> None:
    """The parameters of scrypt stand in the file: N 2^14, r 8, p 5."""
    pem = generate().to_pem(PASSPHRASE)
    raw = base64.b64decode(b"".join(pem.splitlines()[1:-1]))
    assert bytes.fromhex("02024000020108020105") in raw


@settings(max_examples=10, deadline=None)
@given(passphrase=st.binary(min_size=1, max_size=100))
def test_any_passphrase_opens_what_it_closed(passphrase: bytes) -> None:
    plain = generate()._key.private_bytes(
        serialization.Encoding.DER,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    opened = serialization.load_pem_private_key(encrypt(plain, passphrase), passphrase)
    again = opened.private_bytes(
        serialization.Encoding.DER,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    assert again == plain
