"""Logins are kept where other tools find them, and whatever else is in those files stays."""

from __future__ import annotations

import base64
import json
import os
import stat
import threading
from pathlib import Path
from typing import Any

import pytest

from rra.errors import StorageError, UnavailableError, UsageError
from rra.registry import Credential, find_credential
from rra.registry import jsonfile as jsonfile_module
from rra.registry.logins import forget_login, keep_login, login_file
from tests.support.disks import mounted_disk
from tests.support.needs import needs

LOGIN = Credential("author", "right:wörd", source="test")
PACKED = base64.b64encode("author:right:wörd".encode()).decode()
HUB = "https://index.docker.io/v1/"


@pytest.fixture
def config(home: Path) -> Path:
    path = home / ".docker/config.json"
    path.parent.mkdir()
    return path


@pytest.fixture
def vault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A real credential helper, which keeps logins in files of a folder."""
    folder = tmp_path / "vault"
    folder.mkdir()
    program = tmp_path / "bin/docker-credential-vault"
    program.parent.mkdir()
    program.write_text(
        "#!/bin/sh\n"
        f"cd {folder} || exit 9\n"
        'case "$1" in\n'
        'store) cat > entry.json; name=$(python3 -c "import json; print(json.load(open('
        "'entry.json'))['ServerURL'].replace('/', '_'))\"); mv entry.json \"$name\" ;;\n"
        'get) read -r key; name=$(echo "$key" | tr / _); '
        '[ -f "$name" ] || { echo "credentials not found in native keychain"; exit 1; }; '
        'cat "$name" ;;\n'
        'erase) read -r key; rm -- "$(echo "$key" | tr / _)" ;;\n'
        "esac\n"
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    return folder


def read(path: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(path.read_bytes())
    return document


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


# --------------------------------------------------------------------------------- files


def test_the_first_login_makes_a_file_that_only_its_owner_reads(home: Path) -> None:
    kept = keep_login("r.test:5000", LOGIN)
    path = home / ".docker/config.json"
    assert kept.place == str(path)
    assert read(path) == {"auths": {"r.test:5000": {"auth": PACKED}}}
    assert (mode(path), mode(path.parent)) == (0o600, 0o700)
    found = find_credential("r.test:5000", "a")
    assert found is not None
    assert (found.username, found.password) == ("author", "right:wörd")


def test_everything_else_in_the_file_stays(config: Path) -> None:
    text = """{
    "psFormat": "tàble",
    "auths": {
        "other.test": {"auth": "b3RoZXI6dw=="},
        "r.test": {"auth": "b2xkOm9sZA==", "email": "a@b", "identitytoken": "old"}
    },
    "HttpHeaders": {"X": "1"},
    "big": 12345678901234567890
}"""
    config.write_text(text)
    config.chmod(0o644)
    keep_login("r.test", LOGIN)
    assert read(config) == {
        "psFormat": "tàble",
        "auths": {
            "other.test": {"auth": "b3RoZXI6dw=="},
            "r.test": {"email": "a@b", "auth": PACKED},
        },
        "HttpHeaders": {"X": "1"},
        "big": 12345678901234567890,
    }
    assert list(read(config)) == ["psFormat", "auths", "HttpHeaders", "big"]
    assert '\n    "psFormat": "tàble"' in config.read_text("utf-8")
    assert mode(config) == 0o600


def test_docker_hub_has_its_own_key(config: Path) -> None:
    config.write_text(json.dumps({"auths": {"docker.io": {"auth": "b2xkOm9sZA=="}}}))
    keep_login("docker.io", LOGIN)
    assert read(config) == {"auths": {HUB: {"auth": PACKED}}}
    for name in ("docker.io", "index.docker.io"):
        found = find_credential(name, "library/x")
        assert found is not None
        assert found.username == "author"
    assert forget_login("docker.io").places == (str(config),)
    assert read(config) == {"auths": {}}


def test_a_link_stays_a_link(config: Path, tmp_path: Path) -> None:
    real = tmp_path / "dotfiles/docker.json"
    real.parent.mkdir()
    real.write_text('{"keep": 1}')
    config.symlink_to(real)
    keep_login("r.test", LOGIN)
    assert config.is_symlink()
    assert read(real) == {"keep": 1, "auths": {"r.test": {"auth": PACKED}}}
    forget_login("r.test")
    assert config.readlink() == real
    assert read(real) == {"keep": 1, "auths": {}}
    assert [path.name for path in real.parent.iterdir()] == ["docker.json"]


def test_a_link_to_nothing_yet(config: Path, tmp_path: Path) -> None:
    config.symlink_to(tmp_path / "later/docker.json")
    keep_login("r.test", LOGIN)
    assert read(tmp_path / "later/docker.json")["auths"] == {"r.test": {"auth": PACKED}}


@pytest.mark.parametrize(
    "text",
    [
        '{"auths": {}} // mine',
        "{",
        "[]",
        '{"auths": []}',
        '{"auths": 7}',
        '{"a": 1, "a": 2}',
        '{"auths": {"x.test": {"auth": "eA=="}, "x.test": {"auth": "eQ=="}}}',
        '{"a": NaN}',
        "[" * 100_000,
        "\0\xff",
    ],
    ids=["comment", "cut", "list", "auths-list", "auths-number", "twice", "login-twice", "nan",
         "deep", "binary"],
)  # fmt: skip
def test_a_file_that_writing_would_harm_is_left_as_it_is(config: Path, text: str) -> None:
    config.write_text(text, "latin-1")
    with pytest.raises(UsageError, match=str(config)) as caught:
        keep_login("r.test", LOGIN)
    assert config.read_text("latin-1") == text
    assert "right" not in f"{caught.value} {caught.value.hint}"
    assert [path.name for path in config.parent.iterdir()] == ["config.json"]


@pytest.mark.parametrize("text", ["{}", '{"auths": null}', " \n{ }\n", "\ufeff{}"])
def test_files_with_nothing_in_them(config: Path, text: str) -> None:
    config.write_text(text, "utf-8")
    keep_login("r.test", LOGIN)
    assert read(config) == {"auths": {"r.test": {"auth": PACKED}}}


def test_a_read_only_file_is_not_replaced(config: Path) -> None:
    config.write_text("{}")
    config.chmod(0o400)
    with pytest.raises(StorageError, match="read-only") as caught:
        keep_login("r.test", LOGIN)
    assert caught.value.exit_code == 3
    assert f"chmod u+w {config}" in caught.value.hint
    assert config.read_text() == "{}"


@needs("tmpfs")
def test_a_directory_that_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import subprocess

    with mounted_disk(tmp_path / "disk", "1m") as disk:
        (disk / "config.json").write_text('{"keep": 1}')
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        monkeypatch.setenv("DOCKER_CONFIG", str(disk))
        with pytest.raises(StorageError, match="not allowed to write") as caught:
            keep_login("r.test", LOGIN)
        assert caught.value.exit_code == 3
        assert caught.value.hint
        assert str(disk) in caught.value.message
        assert (disk / "config.json").read_text() == '{"keep": 1}'


def test_a_folder_that_is_a_file(home: Path) -> None:
    (home / ".docker").write_text("no folder")
    with pytest.raises(StorageError) as caught:
        keep_login("r.test", LOGIN)
    assert caught.value.exit_code == 3


def test_logins_at_once_lose_nothing(config: Path) -> None:
    config.write_text('{"keep": 1}')
    names = [f"r{number}.test" for number in range(24)]
    threads = [threading.Thread(target=keep_login, args=(name, LOGIN)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert read(config)["keep"] == 1
    assert sorted(read(config)["auths"]) == sorted(names)
    assert [path.name for path in config.parent.iterdir()] == ["config.json"]


def test_a_change_of_another_program_meanwhile_is_kept(
    config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Docker takes no lock: what it writes between our reading and writing stays."""
    config.write_text("{}")
    encode = jsonfile_module._text
    changes = iter([{"auths": {"theirs.test": {"auth": "eA=="}}}])

    def theirs_first(document: dict[str, Any], before: bytes | None) -> bytes:
        for change in changes:
            config.write_text(json.dumps(change))
        return encode(document, before)

    monkeypatch.setattr(jsonfile_module, "_text", theirs_first)
    keep_login("r.test", LOGIN)
    assert sorted(read(config)["auths"]) == ["r.test", "theirs.test"]


# -------------------------------------------------------------------------------- places


def test_the_file_that_a_variable_names_counts(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "run"))
    assert login_file("r.test") == home / ".docker/config.json"
    monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path / "docker"))
    assert login_file("r.test") == tmp_path / "docker/config.json"
    monkeypatch.setenv("REGISTRY_AUTH_FILE", str(tmp_path / "auth.json"))
    assert login_file("r.test") == tmp_path / "auth.json"


def test_a_login_is_renewed_where_it_is(home: Path, config: Path) -> None:
    podman = home / ".config/containers/auth.json"
    podman.parent.mkdir(parents=True)
    podman.write_text(json.dumps({"auths": {"r.test": {"auth": "b2xkOm9sZA=="}}}))
    assert keep_login("r.test", LOGIN).place == str(podman)
    assert keep_login("other.test", LOGIN).place == str(config)
    assert read(podman) == {"auths": {"r.test": {"auth": PACKED}}}


def test_logging_out_takes_only_that_registry(home: Path, config: Path) -> None:
    others = {"r.test:5000": {"auth": "eDp4"}, "xr.test": {"auth": "eDp4"}}
    mine = {"r.test": {"auth": PACKED}, "https://r.test/v1/": {"auth": "eDp4"}}
    spaces = {"r.test/team": {"auth": "eDp4"}}
    config.write_text(json.dumps({"auths": {**others, **mine, **spaces}, "keep": [1]}))
    podman = home / ".config/containers/auth.json"
    podman.parent.mkdir(parents=True)
    podman.write_text(json.dumps({"auths": mine}))
    forgotten = forget_login("r.test")
    assert forgotten.places == (str(podman), str(config))
    assert forgotten.left == (("r.test/team", str(config)),)
    assert read(config) == {"auths": {**others, **spaces}, "keep": [1]}
    assert find_credential("r.test", "a") is None
    assert forget_login("r.test").places == ()


def test_logging_out_of_nowhere_makes_no_file(home: Path) -> None:
    assert forget_login("r.test").places == ()
    assert list(home.iterdir()) == []


# ------------------------------------------------------------------------------- helpers


@pytest.mark.parametrize(
    "settings", [{"credsStore": "vault"}, {"credHelpers": {"r.test": "vault"}, "credsStore": "no"}]
)
def test_a_helper_keeps_the_login_and_the_file_none(
    config: Path, vault: Path, settings: dict[str, Any]
) -> None:
    stale = {"auths": {"r.test": {"auth": "b2xkOm9sZA==", "email": "a@b"}}}
    config.write_text(json.dumps({**settings, **stale}))
    kept = keep_login("r.test", LOGIN)
    assert kept.place == f"docker-credential-vault ({config})"
    assert kept.hidden_by == ""
    login = {"ServerURL": "r.test", "Username": "author", "Secret": "right:wörd"}
    assert read(vault / "r.test") == login
    assert read(config) == {**settings, "auths": {"r.test": {"email": "a@b"}}}
    found = find_credential("r.test", "a")
    assert found is not None
    assert (found.password, found.source) == ("right:wörd", kept.place)
    assert forget_login("r.test").places == (kept.place,)
    assert list(vault.iterdir()) == []
    assert read(config) == {**settings, "auths": {}}


def test_a_file_that_needs_no_change_is_not_written(config: Path, vault: Path) -> None:
    config.write_text('{"credsStore": "vault"}')
    config.chmod(0o400)
    keep_login("docker.io", LOGIN)
    assert [path.name for path in vault.iterdir()] == [HUB.replace("/", "_")]
    assert config.read_text() == '{"credsStore": "vault"}'


def failing(folder: Path, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    program = folder / "docker-credential-broken"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")


@pytest.mark.parametrize(
    "script", ["echo the vault is locked >&2; exit 1", "cat >&2; exit 1"], ids=["says", "echoes"]
)
def test_a_helper_that_refuses_is_named_and_the_old_login_stays(
    config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str
) -> None:
    failing(tmp_path, script, monkeypatch)
    text = json.dumps({"credsStore": "broken", "auths": {"r.test": {"auth": "b2xkOm9sZA=="}}})
    config.write_text(text)
    with pytest.raises(UnavailableError, match="docker-credential-broken") as caught:
        keep_login("r.test", LOGIN)
    assert caught.value.exit_code == 3
    assert "right" not in f"{caught.value} {caught.value.hint}"
    assert config.read_text() == text


def test_a_helper_that_is_not_installed(config: Path) -> None:
    config.write_text('{"credsStore": "absent"}')
    with pytest.raises(UsageError, match="no such program"):
        keep_login("r.test", LOGIN)
    with pytest.raises(UsageError, match="no such program"):
        forget_login("r.test")


def test_secrets_never_reach_a_command_line(
    config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing(tmp_path, f'echo "$@" >> {tmp_path}/argv; env >> {tmp_path}/argv', monkeypatch)
    config.write_text('{"credsStore": "broken"}')
    with pytest.raises(UsageError, match="no credential"):
        keep_login("r.test", LOGIN)  # it keeps nothing, which is seen when it is asked again
    said = (tmp_path / "argv").read_text()
    assert said.startswith("store\n")
    assert "right" not in said
