"""``rra registry`` as it is typed: prompts, standard input, and where passwords may not be."""

from __future__ import annotations

import base64
import json
import os
import pty
import select
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.acceptance.command import PATIENCE_SECONDS, Answer
from tests.support.http_registry import HttpRegistry, Reply, Seen, http_registry
from tests.unit.test_cli_schemas import check

WORD = "right-word-7731"
PACKED = base64.b64encode(f"author:{WORD}".encode()).decode()


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "home"
    place.mkdir()
    monkeypatch.setenv("HOME", str(place))
    for name in ("REGISTRY_AUTH_FILE", "DOCKER_CONFIG", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    return place


@pytest.fixture
def registry() -> Iterator[HttpRegistry]:
    def basic(seen: Seen) -> Reply | None:
        if seen.login == f"Basic {PACKED}":
            return None
        return Reply(401, headers={"WWW-Authenticate": 'Basic realm="test"'})

    with http_registry() as server:
        server.rules.append(basic)
        yield server


def rra(*argv: str, given: bytes = b"") -> Answer:
    done = subprocess.run(
        [sys.executable, "-m", "rra", *argv],
        input=given,
        capture_output=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    return Answer(argv, done.returncode, done.stdout.decode(), done.stderr.decode())


@pytest.mark.parametrize("ending", [b"", b"\n", b"\r\n"])
def test_a_password_from_standard_input(registry: HttpRegistry, home: Path, ending: bytes) -> None:
    arguments = ("registry", "login", registry.host, "--username", "author", "--password-stdin")
    done = rra(*arguments, given=WORD.encode() + ending).expect(0)
    assert f"logged in to {registry.host} as author" in done.out
    kept = json.loads((home / ".docker/config.json").read_text())
    assert kept == {"auths": {registry.host: {"auth": PACKED}}}


@pytest.mark.parametrize("as_json", [True, False])
def test_passwords_are_in_no_output(registry: HttpRegistry, *, as_json: bool) -> None:
    flags = ("--json",) if as_json else ()
    for word, code in ((WORD, 0), (f"{WORD}-not", 3)):
        call = ("registry", "login", registry.host, "-u", "author", "--password-stdin", *flags)
        done = rra(*call, given=word.encode()).expect(code)
        assert word not in done.out + done.err
        assert base64.b64encode(f"author:{word}".encode()).decode() not in done.out + done.err
        if as_json:
            check("registry-login", done.envelope)


@pytest.mark.parametrize(
    ("given", "fault"),
    [(b"", "empty"), (b"\n", "empty"), (b"\xff\xfe", "UTF-8"), (b"x" * (1 << 21), "1 MiB")],
)
def test_standard_input_that_is_no_password(
    registry: HttpRegistry, home: Path, given: bytes, fault: str
) -> None:
    done = rra(
        "registry", "login", registry.host, "-u", "author", "--password-stdin", given=given
    ).expect(2)
    assert fault in done.said
    assert list(home.iterdir()) == []


@pytest.mark.parametrize(
    ("flags", "option"), [((), "--username"), (("-u", "author"), "--password-stdin")]
)
def test_without_a_terminal_nothing_is_asked(
    registry: HttpRegistry, flags: tuple[str, ...], option: str
) -> None:
    done = rra("registry", "login", registry.host, *flags).expect(2)
    assert option in done.said
    assert rra("registry", "login", registry.host, *flags, "--json").expect(2).envelope
    assert registry.seen == []


def test_there_is_no_option_for_a_password(registry: HttpRegistry) -> None:
    rra("registry", "login", registry.host, "-u", "author", "--password", WORD).expect(2)
    rra("registry", "login", registry.host, "-u", "author", "-p", WORD).expect(2)


def typed(arguments: list[str], answers: list[tuple[str, str]]) -> tuple[int, str]:
    """Run ``rra`` on a terminal; type each answer when its question is there."""
    child, terminal = pty.fork()
    if child == 0:  # pragma: no cover - another process
        os.execv(sys.executable, [sys.executable, "-m", "rra", *arguments])
    shown, waiting = "", list(answers)
    from_here = 0
    try:
        while select.select([terminal], [], [], PATIENCE_SECONDS)[0]:
            try:
                data = os.read(terminal, 4096)
            except OSError:  # the other side of the terminal is closed
                break
            if not data:
                break
            shown += data.decode("utf-8", "replace")
            if waiting and waiting[0][0] in shown[from_here:]:
                from_here = len(shown)
                os.write(terminal, waiting.pop(0)[1].encode() + b"\n")
    finally:
        os.close(terminal)
    assert waiting == [], shown
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), shown


def test_on_a_terminal_it_asks_and_shows_no_password(registry: HttpRegistry, home: Path) -> None:
    code, shown = typed(
        ["registry", "login", registry.host], [("User name:", "author"), ("Password:", WORD)]
    )
    assert code == 0, shown
    assert WORD not in shown
    assert json.loads((home / ".docker/config.json").read_text())["auths"]


@pytest.mark.parametrize("agrees", [True, False])
def test_on_a_terminal_it_asks_before_another_host_gets_the_login(
    registry: HttpRegistry, home: Path, *, agrees: bool
) -> None:
    challenge = 'Bearer realm="https://localhost:1/token",service="test"'
    registry.rules.insert(0, lambda seen: Reply(401, headers={"WWW-Authenticate": challenge}))
    question = "Send the login there?"
    answers = [(question, "y"), ("Password:", WORD)] if agrees else [(question, "n")]
    code, shown = typed(["registry", "login", registry.host, "-u", "author"], answers)
    assert "localhost:1" in shown
    assert code == (3 if agrees else 130), shown  # nobody listens on port 1
    assert {seen.login for seen in registry.seen} == {""}
    assert list(home.iterdir()) == []


def test_logging_out_and_listing_tags(registry: HttpRegistry, home: Path) -> None:
    registry.add_manifest("1.0.0")
    registry.add_manifest("0.9.0")
    call = ("registry", "login", registry.host, "-u", "author", "--password-stdin")
    rra(*call, given=WORD.encode()).expect(0)
    listed = rra("registry", "tags", f"{registry.host}/team/bundle").expect(0)
    assert listed.out == "0.9.0\n1.0.0\n"
    as_json = rra("registry", "tags", f"{registry.host}/team/bundle", "--json").expect(0)
    check("registry-tags", as_json.envelope)
    assert as_json.result["tags"] == ["0.9.0", "1.0.0"]
    out = rra("registry", "logout", registry.host, "--json").expect(0)
    check("registry-logout", out.envelope)
    assert out.result["removed_from"] == [str(home / ".docker/config.json")]
    assert "no login" in rra("registry", "logout", registry.host).expect(0).out
    refused = rra("registry", "tags", f"{registry.host}/team/bundle").expect(3)
    assert f"rra registry login {registry.host}" in refused.said


@pytest.mark.parametrize(
    ("name", "hint"),
    [("x/y:1", "give"), ("oci-layout:x", "in a registry"), (".", "in a registry")],
)
def test_tags_of_what_is_no_repository(name: str, hint: str, registry: HttpRegistry) -> None:
    target = name.replace("x/y", f"{registry.host}/x/y")
    assert hint in rra("registry", "tags", target).expect(2).said


def test_tags_of_a_repository_that_is_empty(registry: HttpRegistry) -> None:
    registry.rules[:] = []
    assert "has no tags" in rra("registry", "tags", f"{registry.host}/x").expect(2).said
