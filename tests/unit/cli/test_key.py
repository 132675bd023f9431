"""What ``rra key`` asks, prints and refuses, called as people call it."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from rra.signing import read_private_key, read_public_key
from tests.unit.test_cli_schemas import call


def rra(*arguments: str, cwd: Path, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "rra", *arguments],
        cwd=cwd,
        input=given,
        capture_output=True,
        check=False,
    )


def test_the_passphrase_comes_from_standard_input(tmp_path: Path) -> None:
    done = rra("key", "generate", "me", "--passphrase-stdin", cwd=tmp_path, given=b"a secret\n")
    assert done.returncode == 0, done.stderr
    key = read_private_key(tmp_path / "me.key", b"a secret")
    assert key.public == read_public_key(tmp_path / "me.pub")
    text = done.stdout.decode()
    assert key.public.fingerprint in text
    assert "under the passphrase" in text
    assert b"a secret" not in done.stdout + done.stderr


@pytest.mark.parametrize("given", [b"", b"\n", b"a\nb\n", b"a\0b", b"x" * 4097])
def test_what_is_no_passphrase_makes_no_key(given: bytes, tmp_path: Path) -> None:
    done = rra("key", "generate", "--passphrase-stdin", cwd=tmp_path, given=given)
    assert done.returncode == 2
    assert b"one line with a passphrase" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_without_a_terminal_nobody_is_asked(tmp_path: Path) -> None:
    done = rra("key", "generate", cwd=tmp_path)
    assert done.returncode == 2
    assert b"--passphrase-stdin" in done.stderr
    assert b"--unencrypted" in done.stderr
    assert list(tmp_path.iterdir()) == []


def typed(tmp_path: Path, *answers: bytes) -> str:
    """Run the verb on a terminal, answer its questions, and return all that it showed."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "rra", "key", "generate", "me"]
    child = subprocess.Popen(
        command, cwd=tmp_path, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True
    )
    os.close(theirs)
    shown = b""
    waiting = list(answers)
    while True:
        try:
            shown += os.read(ours, 4096)
        except OSError:  # the other end is closed
            break
        if waiting and shown.endswith(b": "):
            os.write(ours, waiting.pop(0) + b"\n")
    child.wait()
    os.close(ours)
    return shown.decode()


def test_on_a_terminal_it_is_asked_twice_and_not_shown(tmp_path: Path) -> None:
    shown = typed(tmp_path, "grün".encode(), b"grun", b"blue", b"blue")
    assert "do not match" in shown
    assert "blue" not in shown
    assert shown.count("Passphrase of the new key") == 2
    assert read_private_key(tmp_path / "me.key", b"blue").algorithm == "ed25519"


def test_a_key_without_passphrase_has_to_be_asked_for(tmp_path: Path) -> None:
    done = rra("key", "generate", "--unencrypted", cwd=tmp_path)
    assert done.returncode == 0
    assert b"not encrypted" in done.stdout
    assert read_private_key(tmp_path / "rra.key", None).algorithm == "ed25519"
    both = ["key", "generate", "x", "--unencrypted", "--passphrase-stdin"]
    assert rra(*both, cwd=tmp_path, given=b"x").returncode == 2


def test_for_machines(tmp_path: Path) -> None:
    arguments = ["key", "generate", "k", "--algorithm", "ecdsa-p256", "--unencrypted"]
    made = call(*arguments, cwd=tmp_path)["result"]
    assert made["encrypted"] is False
    assert made["algorithm"] == "ecdsa-p256"
    shown = call("key", "show", "k.pub", cwd=tmp_path)["result"]
    assert shown == {
        "public": "k.pub",
        "algorithm": "ecdsa-p256",
        "fingerprint": made["fingerprint"],
    }
    again = call(*arguments, cwd=tmp_path)
    assert again["exit_code"] == 2
    assert "never overwritten" in again["result"]["error"]["message"]
    private = call("key", "show", "k.key", cwd=tmp_path)
    assert private["exit_code"] == 4


def test_a_refused_passphrase_is_a_document_too(tmp_path: Path) -> None:
    done = rra("key", "generate", "--json", cwd=tmp_path)
    document = json.loads(done.stdout)
    assert (document["verb"], document["exit_code"]) == ("key-generate", 2)
