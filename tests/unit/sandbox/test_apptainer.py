"""Command lines of Apptainer, option by option as its documentation has them."""

from __future__ import annotations

import dataclasses
import os
import subprocess
from pathlib import Path

import pytest

from rra.errors import ToolMissingError, UsageError
from rra.sandbox import Apptainer, ApptainerSandbox, View, find_builder, image_sandbox
from rra.sandbox import apptainer as module

TOOL = Apptainer("apptainer", Path("/opt/bin/apptainer"))
IMAGE = "/images/one.sif"


@pytest.fixture
def view(tmp_path: Path) -> View:
    for name in ("artifact/evidence", "work/code", "work/tmp", "a,b:c"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "artifact/secret").touch()
    return View(
        read_only=[tmp_path / "artifact", tmp_path / "a,b:c", tmp_path / "absent"],
        writable=[tmp_path / "work/code"],
        hidden=[tmp_path / "artifact/evidence", tmp_path / "artifact/secret"],
        temporary=tmp_path / "work/tmp",
        cwd=tmp_path / "work/code",
        env={"B": "$HOME `id`, x=y", "A": "1"},
    )


def wrapped(view: View, image: str | None = IMAGE) -> list[str]:
    return ApptainerSandbox(TOOL, image).wrap(["bash", "/artifact/main.sh", "$x"], view)


def test_it_begins_with_what_isolates(view: View, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "environ", {"PATH": "/bin", "HOME": "/h", "APPTAINER_BIND": "/"})
    assert wrapped(view)[:17] == [
        *("/usr/bin/env", "-i", "HOME=/h", "PATH=/bin"),
        *("/opt/bin/apptainer", "--silent", "exec"),
        *("--containall", "--cleanenv", "--no-home", "--no-privs", "--no-eval"),
        *("--no-mount", "home,cwd,tmp,hostfs,bind-paths"),
        *("--net", "--network", "none"),
    ]


def test_a_launcher_with_a_network_has_that_of_the_machine(view: View) -> None:
    import dataclasses

    command = wrapped(dataclasses.replace(view, network=True))
    assert "--net" not in command
    assert "--network" not in command


def test_outer_folders_are_mounted_before_inner_ones(view: View, tmp_path: Path) -> None:
    mounts = [part for part in wrapped(view) if part.startswith("--mount=")]
    odd, artifact, work = tmp_path / "a,b:c", tmp_path / "artifact", tmp_path / "work"
    bind = "--mount=type=bind,source="
    assert mounts == [
        f"{bind}{work}/tmp,destination=/tmp",
        f"{bind}{artifact},destination={artifact},readonly",
        f'--mount=type=bind,"source={odd}","destination={odd}",readonly',
        f"{bind}{work}/tmp/.rra-empty,destination={artifact}/evidence,readonly",
        f"{bind}/dev/null,destination={artifact}/secret,readonly",
        f"{bind}{work}/code,destination={work}/code",
    ]


def test_variables_are_set_inside_and_nothing_evaluates_them(view: View, tmp_path: Path) -> None:
    command = wrapped(view)
    place = command.index("--pwd")
    assert command[place : place + 5] == [
        *("--pwd", f"{tmp_path}/work/code", IMAGE, "/bin/sh", "-c"),
    ]
    assert command[-7:] == [
        *("env", "-i", "A=1", "B=$HOME `id`, x=y", "bash", "/artifact/main.sh", "$x"),
    ]


def test_without_an_image_the_programs_of_this_machine_are_shown(view: View) -> None:
    command = wrapped(view, None)
    assert "--mount=type=bind,source=/usr,destination=/usr,readonly" in command
    root = Path(command[command.index("--pwd") + 2])
    assert sorted(path.name for path in (root / "etc").iterdir())[:2] == ["group", "hosts"]
    assert (root / "usr").is_dir()
    assert list((root / "usr").iterdir()) == []
    if Path("/bin").is_symlink():
        assert (root / "bin").readlink() == Path("/bin").readlink()


@pytest.mark.parametrize(
    ("devices", "options"),
    [
        (["nvidia0", "nvidiactl"], ["--nv"]),
        (["dri", "kfd"], ["--rocm"]),
        (["dri"], []),
    ],
)
def test_drivers_come_in_where_there_are_devices(
    view: View, monkeypatch: pytest.MonkeyPatch, devices: list[str], options: list[str]
) -> None:
    view = dataclasses.replace(view, devices=[Path("/dev") / one for one in devices])
    command = wrapped(view)
    assert [part for part in command if part in {"--nv", "--rocm"}] == options
    assert ("LD_LIBRARY_PATH=/.singularity.d/libs" in command) == bool(options)


FAKE = """\
#!/bin/sh
while [ "$1" != exec ]; do
  case $1 in
    --version) echo "singularity version 3.8"; exit 0;;
    build) echo "$4" >"$(dirname "$4")/../asked"; exit 9;;
  esac
  shift
done
exit {status}
"""


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RRA_CACHE", str(tmp_path / "cache"))
    program = tmp_path / "bin" / "singularity"
    program.parent.mkdir()
    program.write_text(FAKE.replace("{status}", "0"))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
    return program


def test_singularity_takes_its_place(fake: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RRA_CONTAINER_ENGINE", "singularity")
    assert find_builder() == Apptainer("singularity", fake)
    assert isinstance(image_sandbox(IMAGE), ApptainerSandbox)
    found = module.try_apptainer()
    assert (found.works, found.why) == (True, "singularity version 3.8")


def test_one_that_enters_nothing_is_said_with_its_reason(fake: Path) -> None:
    fake.write_text("#!/bin/sh\necho 'FATAL: no user namespaces' >&2\nexit 255\n")
    with pytest.raises(ToolMissingError, match="singularity does not work: FATAL: no user name"):
        module.find_apptainer()


def test_an_engine_that_nobody_knows_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RRA_CONTAINER_ENGINE", "lxc")
    with pytest.raises(UsageError, match="names 'lxc'"):
        find_builder()


def test_what_it_is_told_of_the_caller_mounts_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("APPTAINER_CACHEDIR", "APPTAINER_MOUNT", "SINGULARITY_BINDPATH", "LD_PRELOAD"):
        monkeypatch.setenv(name, "/x")
    assert {one.split("=")[0] for one in TOOL.settings()} <= {
        *("HOME", "PATH", "USER", "XDG_RUNTIME_DIR", "APPTAINER_CACHEDIR", "APPTAINER_TMPDIR"),
    }


def test_the_usage_counts_only_where_the_launcher_began(view: View) -> None:
    box = ApptainerSandbox(TOOL, IMAGE)
    assert box.finish(view) is None
    script = wrapped(view)[wrapped(view).index("-c") + 1]
    inside = script.replace("/tmp/", f"{view.temporary}/")
    subprocess.run(["/bin/sh", "-c", inside, "launcher", "true"], check=True)
    used = box.finish(view)
    assert used is not None
    assert used.cpu_seconds is not None
    assert 0 <= used.cpu_seconds < 5
    (view.temporary / ".rra-usage").unlink()
    (view.temporary / ".rra-usage").symlink_to("/etc/passwd")
    assert box.finish(view) is None
