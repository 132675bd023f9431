from __future__ import annotations

import os
import socket
import tempfile
from pathlib import Path

import pytest

from rra._base import process
from rra._base.process import Completed
from rra.errors import ToolMissingError, UsageError
from rra.sandbox import View, best_sandbox, probe
from tests.support.needs import needs


def inside(
    folder: Path, script: str, name: str = "bwrap", prefix: tuple[str, ...] = (), **changes: object
) -> Completed:
    """Run a shell script that may write into `folder`/own and sees nothing else of the test."""
    own, temporary = folder / "own", folder / "temporary"
    for place in (own, temporary):
        place.mkdir(exist_ok=True)
        place.chmod(0o777)
    values: dict[str, object] = {
        "writable": [own],
        "temporary": temporary,
        "cwd": own,
        "env": {"PATH": "/usr/bin:/bin", "GIVEN": "yes"},
        **changes,
    }
    argv = best_sandbox(name).wrap(["/bin/sh", "-c", script], View(**values))  # type: ignore[arg-type]
    return process.run([*prefix, *argv], cwd=own, env={"PATH": os.environ["PATH"]})


def test_without_bubblewrap_the_best_is_none(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert best_sandbox().name == "none"
    assert [(one.name, one.works) for one in probe()] == [
        *(("bwrap", False), ("apptainer", False), ("none", True)),
    ]
    with pytest.raises(ToolMissingError, match="bwrap is not on PATH"):
        best_sandbox("bwrap")


def test_a_bubblewrap_that_does_not_run_is_not_chosen(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    broken = tmp_path / "bwrap"
    broken.write_text("#!/bin/sh\necho 'no permissions to create a new namespace' >&2\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    assert best_sandbox().name == "none"
    assert "no permissions to create" in probe()[0].why


def test_an_unknown_sandbox_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="docker") as caught:
        best_sandbox("docker")
    assert caught.value.hint == "sandboxes: bwrap, apptainer, none"


def test_none_says_what_it_does_not_hold_back() -> None:
    gaps = " ".join(best_sandbox("none").gaps)
    for word in ("references", "write outside", "network", "outlive"):
        assert word in gaps


@pytest.mark.parametrize("name", ["none", pytest.param("bwrap", marks=needs("bwrap"))])
def test_status_environment_and_folder_are_those_asked_for(tmp_path: Path, name: str) -> None:
    done = inside(tmp_path, 'echo "$GIVEN $HOME"; pwd; exit 7', name)
    assert done.returncode == 7
    assert done.stdout == f"yes \n{tmp_path / 'own'}\n"


@needs("bwrap")
@pytest.mark.clause("references/not-shown")
def test_what_is_not_named_is_out_of_reach(tmp_path: Path) -> None:
    (tmp_path / "references.yaml").write_text("secret")
    done = inside(tmp_path, f"ls -a {tmp_path}; cat {tmp_path}/references.yaml; ls /home /root")
    assert done.stdout.split() == [".", "..", "own"]
    assert "secret" not in done.stdout
    assert done.stderr.count("No such file or directory") == 3


@needs("bwrap")
def test_what_is_read_only_stays_as_it_is(tmp_path: Path) -> None:
    place = tmp_path / "artifact"
    place.mkdir()
    (place / "data.csv").write_text("1\n")
    script = f"cat {place}/data.csv; echo 2 > {place}/data.csv; rm -rf {place}; echo x > /usr/x"
    done = inside(tmp_path, script, read_only=[place])
    assert done.stdout == "1\n"
    assert "Read-only file system" in done.stderr
    assert (place / "data.csv").read_text() == "1\n"


@needs("bwrap")
def test_the_inner_mount_decides(tmp_path: Path) -> None:
    place = tmp_path / "artifact"
    (place / "evidence" / "run").mkdir(parents=True)
    (place / "evidence" / "record").write_text("old")
    (place / ".git").write_text("gitdir: elsewhere")
    script = f"cd {place}; find evidence; cat .git; echo new > evidence/run/x"
    done = inside(
        tmp_path,
        script,
        read_only=[place],
        hidden=[place / "evidence", place / ".git", place / "outputs"],
        writable=[place / "evidence" / "run", tmp_path / "own"],
    )
    assert done.stdout.split() == ["evidence", "evidence/run"]
    assert (place / "evidence" / "run" / "x").read_text() == "new\n"


@needs("bwrap")
def test_the_root_and_the_temporary_folder_are_its_own(tmp_path: Path) -> None:
    done = inside(tmp_path, "echo a > /tmp/a && echo ok; echo b > /b || echo refused")
    assert done.stdout.split() == ["ok", "refused"]
    assert (tmp_path / "temporary" / "a").read_text() == "a\n"
    assert not Path("/b").exists()


@pytest.mark.clause("security/network")
@needs("bwrap")
def test_there_is_no_network_unless_it_is_declared(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        script = f"exec 3<>/dev/tcp/127.0.0.1/{port} && echo reached"
        script = f"bash -c '{script}'"
        assert "reached" not in inside(tmp_path, script).stdout
        assert inside(tmp_path, script, network=True).stdout == "reached\n"


@needs("bwrap")
def test_what_the_launcher_sets_does_not_reach_the_sandbox(tmp_path: Path) -> None:
    env = {"PATH": "/usr/bin:/bin", "LD_PRELOAD": "/no/such/library.so", "LD_LIBRARY_PATH": "/x"}
    argv = best_sandbox("bwrap").wrap(
        ["/bin/sh", "-c", "echo $LD_LIBRARY_PATH"],
        View(temporary=tmp_path, cwd=Path("/"), env=env),
    )
    program = argv.index("--")
    assert not any(part.startswith("LD_") for part in argv[: argv.index("--clearenv")])
    assert "LD_PRELOAD" in argv[argv.index("--clearenv") : program]
    assert process.run(argv, env={}).stdout == "/x\n"


@needs("bwrap")
def test_processes_of_others_are_not_seen_and_daemons_end(tmp_path: Path) -> None:
    done = inside(tmp_path, "setsid sleep 600 > /dev/null 2>&1 & ls /proc | grep -c '^[0-9]'")
    assert int(done.stdout) < 10
    commands = [path.read_bytes() for path in Path("/proc").glob("[0-9]*/environ") if _ours(path)]
    assert not any(str(tmp_path).encode() in one for one in commands)


def _ours(path: Path) -> bool:
    try:
        return bool(path.read_bytes())
    except OSError:
        return False


@needs("bwrap")
@needs("root")
def test_it_works_for_an_ordinary_user() -> None:
    with tempfile.TemporaryDirectory(prefix="rra-test-") as name:
        place = Path(name)
        place.chmod(0o755)
        prefix = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")
        done = inside(place, "id -u; echo kept > file", prefix=prefix)
        assert done.stdout == "65534\n"
        assert (place / "own" / "file").read_text() == "kept\n"
