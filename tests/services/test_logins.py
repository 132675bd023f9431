"""Logins that we keep are those of other tools, and theirs are ours: real registry, real helper."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from rra.api import copy, registry_login, registry_logout, registry_tags
from rra.errors import LoginError
from tests.services.registry import PASSWORD, USER, Registry
from tests.services.test_skopeo import skopeo
from tests.support.needs import needs

pytestmark = [needs("docker-registry"), needs("skopeo")]

HELPER = """\
#!/bin/sh
# Keeps one file for each registry, as a keyring would: the login is never in docker's file.
cd {folder} || exit 9
case "$1" in
store) cat > new; mv new login ;;
get) [ -f login ] || {{ echo "credentials not found in native keychain"; exit 1; }}; cat login ;;
erase) rm login ;;
esac
"""


@pytest.fixture
def helper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "vault"
    folder.mkdir()
    program = tmp_path / "bin/docker-credential-vault"
    program.parent.mkdir()
    program.write_text(HELPER.format(folder=folder))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    return folder


def skopeo_tags(registry: Registry, repository: str) -> list[str]:
    found = skopeo("list-tags", "--tls-verify=false", f"docker://{registry.host}/{repository}")
    tags: list[str] = json.loads(found)["Tags"]
    return tags


def test_skopeo_uses_the_login_that_we_keep(guarded: Registry, layout: Path, home: Path) -> None:
    done = registry_login(guarded.host, USER, PASSWORD)
    assert (done.checked, done.kept_in) == (True, str(home / ".docker/config.json"))
    copy(f"oci-layout:{layout}", f"{guarded.host}/lab/tiny:1")
    assert skopeo_tags(guarded, "lab/tiny") == ["1"]
    assert skopeo("login", "--get-login", guarded.host).strip() == USER
    registry_logout(guarded.host)
    with pytest.raises(LoginError, match="wants a login"):
        registry_tags(f"{guarded.host}/lab/tiny")
    with pytest.raises(AssertionError, match=r"authentication required|unauthorized"):
        skopeo_tags(guarded, "lab/tiny")


@pytest.mark.parametrize("variable", ["REGISTRY_AUTH_FILE", "XDG_RUNTIME_DIR", "DOCKER_CONFIG"])
def test_we_use_and_forget_the_login_that_skopeo_keeps(
    guarded: Registry,
    layout: Path,
    tmp_path: Path,
    variable: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if variable == "DOCKER_CONFIG":  # skopeo writes there only when it is told to
        file = tmp_path / "docker/config.json"
        file.parent.mkdir()
        monkeypatch.setenv("DOCKER_CONFIG", str(file.parent))
        where = ["--authfile", str(file)]
    else:
        place = tmp_path / "run"
        place.mkdir()
        file = place / "containers/auth.json"
        monkeypatch.setenv(variable, str(file if variable == "REGISTRY_AUTH_FILE" else place))
        where = []
    skopeo("login", *where, "--tls-verify=false", "-u", USER, "-p", PASSWORD, guarded.host)
    assert file.is_file()
    copy(f"oci-layout:{layout}", f"{guarded.host}/lab/tiny:1")
    assert registry_tags(f"{guarded.host}/lab/tiny").tags == ("1",)
    # A new login goes to where the old one is, and each of the two tools can end it.
    assert registry_login(guarded.host, USER, PASSWORD).kept_in == str(file)
    skopeo("logout", *where, guarded.host)
    with pytest.raises(LoginError, match="wants a login"):
        registry_tags(f"{guarded.host}/lab/tiny")
    skopeo("login", *where, "--tls-verify=false", "-u", USER, "-p", PASSWORD, guarded.host)
    assert registry_logout(guarded.host).removed_from == (str(file),)
    with pytest.raises(LoginError, match="wants a login"):
        registry_tags(f"{guarded.host}/lab/tiny")


def test_a_helper_serves_us_and_skopeo(
    guarded: Registry, layout: Path, home: Path, helper: Path
) -> None:
    config = home / ".docker/config.json"
    config.parent.mkdir()
    settings = {"credHelpers": {guarded.host: "vault"}, "psFormat": "table"}
    config.write_text(json.dumps(settings))
    done = registry_login(guarded.host, USER, PASSWORD)
    assert done.kept_in == f"docker-credential-vault ({config})"
    assert json.loads(config.read_text()) == settings
    copy(f"oci-layout:{layout}", f"{guarded.host}/lab/tiny:1")
    assert skopeo_tags(guarded, "lab/tiny") == ["1"]
    (helper / "login").write_text(
        json.dumps({"ServerURL": guarded.host, "Username": USER, "Secret": "stale-word"})
    )
    with pytest.raises(LoginError) as caught:
        registry_tags(f"{guarded.host}/lab/tiny")
    assert guarded.host in caught.value.message
    assert f"docker-credential-vault ({config})" in caught.value.message
    assert "stale-word" not in f"{caught.value} {caught.value.hint}"
    assert registry_logout(guarded.host).removed_from == (done.kept_in,)
    assert list(helper.iterdir()) == []


def test_a_wrong_password_is_said_with_host_and_source_and_not_kept(
    guarded: Registry, home: Path
) -> None:
    with pytest.raises(LoginError) as caught:
        registry_login(guarded.host, USER, "wrong-word", source="standard input")
    assert f"{guarded.host} refuses the login of {USER} from standard input" in str(caught.value)
    assert "wrong-word" not in f"{caught.value} {caught.value.hint}"
    assert list(home.iterdir()) == []


def test_a_process_list_never_shows_the_password(guarded: Registry, home: Path) -> None:
    """Neither the command nor anything that it starts has it among its arguments or variables."""
    script = home / "docker-credential-spy"
    script.write_text(
        "#!/bin/sh\ntr '\\0' ' ' < /proc/$PPID/cmdline >> $HOME/seen\n"
        'tr "\\0" " " < /proc/$PPID/environ >> $HOME/seen\necho "$@" >> $HOME/seen\n'
        "[ $1 = store ] && cat > $HOME/kept || cat $HOME/kept\n"
    )
    script.chmod(0o755)
    config = home / ".docker/config.json"
    config.parent.mkdir()
    config.write_text('{"credsStore": "spy"}')
    done = subprocess.run(
        [
            sys.executable,
            *["-m", "rra", "registry", "login", "--password-stdin", "-u"],
            USER,
            guarded.host,
        ],
        input=PASSWORD.encode(),
        env={**os.environ, "PATH": f"{home}:{os.environ['PATH']}"},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    seen = (home / "seen").read_text()
    assert "registry login" in seen
    assert PASSWORD not in seen + done.stdout.decode() + done.stderr.decode()
    assert PASSWORD in (home / "kept").read_text()
