"""A bundle that carries its wheels and its interpreter verifies with nothing else.

The surroundings have no network (an empty network namespace), no Python on PATH, an empty home and
empty caches. `rra` itself runs from its own environment, which is found by its path alone.
"""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import rra as package
from tests.acceptance.command import PATIENCE_SECONDS, Answer, rra
from tests.acceptance.example import Example, verdicts
from tests.acceptance.search_path import path_without
from tests.support.needs import needs
from tests.unit.environment.toy_index import make_wheel

pytestmark = [pytest.mark.slow, needs("bwrap")]

EXAMPLE = Example("james-stein")
VERDICTS = {
    "sciam-1977/grand-average": ("reproduced", "pass", "not_assessed"),
    "sciam-1977/shrinkage": ("reproduced", "pass", "not_assessed"),
    "sciam-1977/closer": ("reproduced", "pass", "not_assessed"),
    "sciam-1977/ratio": ("reproduced", "pass", "not_assessed"),
    "sciam-1977/mle-error": ("deviates_as_documented", "fail", "not_assessed"),
    "sciam-1977/js-error": ("deviates_as_documented", "fail", "not_assessed"),
}
PROGRAMS = (Path("/usr/bin"), Path("/usr/local/bin"))
SEARCHED = (*PROGRAMS, *map(Path, os.environ["PATH"].split(os.pathsep)))
PYTHONS = {path.name for place in SEARCHED for path in place.glob("python*")}
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc", "/sys")
INTERPRETER = "environment/cpu/interpreter.tar"
WHEEL = "alpha-1.0-py3-none-any.whl"


@dataclasses.dataclass(frozen=True)
class Nowhere:
    """A machine with the system's files, a bundle, and `rra`.

    Attributes:
        place: The one folder that can be written; seen as itself.
    """

    place: Path

    def rra(self, *argv: str) -> Answer:
        """Run ``rra`` there."""
        done = self.run(sys.executable, "-m", "rra", *argv)
        return Answer(argv, done.returncode, done.stdout, done.stderr)

    def run(self, *argv: str) -> subprocess.CompletedProcess[str]:
        """Run a command there."""
        command = ["bwrap", "--unshare-user", "--unshare-net", "--die-with-parent", "--clearenv"]
        for name in SYSTEM:
            if Path(name).is_symlink():
                command += ["--symlink", str(Path(name).readlink()), name]
            elif Path(name).exists():
                command += ["--ro-bind", name, name]
        own_program = Path(sys.executable).resolve()
        for program in {path.resolve() for place in PROGRAMS for path in place.glob("python*")}:
            if program != own_program and program.is_file():
                command += ["--ro-bind", "/dev/null", str(program)]
        command += ["--dev", "/dev", "--bind", "/proc", "/proc", "--tmpfs", "/tmp"]
        source = Path(package.__file__).parents[1]
        own = {Path(sys.base_prefix), Path(sys.prefix), source, source.with_name("schemas")}
        for path in sorted(path for path in own if not path.is_relative_to("/usr")):
            command += ["--ro-bind", str(path), str(path)]
        command += ["--bind", str(self.place), str(self.place), "--chdir", str(self.place)]
        shutil.rmtree(self.place / "programs", ignore_errors=True)
        for name in ("home", "cache", "state"):
            (self.place / name).mkdir(exist_ok=True)
        variables = {
            "PATH": path_without(self.place / "programs", *PYTHONS),
            "HOME": str(self.place / "home"),
            "RRA_CACHE": str(self.place / "cache"),
            "RRA_STATE": str(self.place / "state"),
            "NO_COLOR": "1",
        }
        for key, value in variables.items():
            command += ["--setenv", key, value]
        return subprocess.run(
            [*command, "--", *argv],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
            check=False,
        )


@pytest.fixture(scope="module")
def archived(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example with one wheel more, all it needs beside its lock, and its bundle."""
    place = tmp_path_factory.mktemp("archived")
    root = EXAMPLE.copy(place / "artifact")
    wheel = make_wheel("alpha", "1.0")
    add_package(root, wheel)
    made = rra("lock", root, "--keep", "--runtime", "--json").expect(0).result
    (carried,) = made["carried"]
    assert (carried["wheels"], carried["interpreter"]) == (1, INTERPRETER)
    rra("lint", root, "--profile", "archival", "--select", "RRA203").expect(0)
    rra("pack", root, f"oci-layout:{place / 'bundle'}").expect(0)
    return place


def add_package(root: Path, wheel: bytes) -> None:
    """Have the launcher use a package, so that a wheel is needed."""
    import hashlib

    folder = root / "environment/cpu"
    entry = (
        f'[[packages]]\nname = "alpha"\nversion = "1.0"\nwheels = [{{ name = "{WHEEL}", '
        f'path = "wheels/{WHEEL}", size = {len(wheel)}, '
        f'hashes = {{ sha256 = "{hashlib.sha256(wheel).hexdigest()}" }} }}]\n'
    )
    lock = (folder / "pylock.toml").read_text()
    assert "packages = []\n" in lock
    (folder / "pylock.toml").write_text(lock.replace("packages = []\n", f"\n{entry}"))
    (folder / "wheels").mkdir()
    (folder / "wheels" / WHEEL).write_bytes(wheel)
    launcher = root / "launchers/batting.sh"
    text = launcher.read_text()
    assert "set -euo pipefail\n" in text
    check = "set -euo pipefail\npython -c 'import alpha'\n"
    launcher.write_text(text.replace("set -euo pipefail\n", check, 1))


def nowhere(archived: Path, tmp_path: Path, name: str = "bundle") -> Nowhere:
    shutil.copytree(archived / name, tmp_path / "bundle")
    return Nowhere(tmp_path)


def test_there_is_no_network_and_no_python(tmp_path: Path) -> None:
    machine = Nowhere(tmp_path)
    assert machine.run("sh", "-c", "command -v python3 python").returncode != 0
    code = "import socket; socket.create_connection(('127.0.0.1', 9), 1)"
    refused = machine.run(sys.executable, "-c", code)
    assert "Network is unreachable" in refused.stderr or "refused" in refused.stderr
    links = machine.run("sh", "-c", "cat /proc/net/dev").stdout
    assert [line.split(":")[0].strip() for line in links.splitlines()[2:]] == ["lo"]


def test_without_its_own_interpreter_it_cannot_run_there(tmp_path: Path) -> None:
    rra("pack", EXAMPLE.artifact, f"oci-layout:{tmp_path / 'bundle'}").expect(0)
    answer = Nowhere(tmp_path).rra("verify", "oci-layout:bundle", "--json").expect(3)
    found = {one["label"] for one in answer.result["reproduction"]["outcomes"]}
    assert found == {"could_not_run(environment)"}


def test_with_it_the_bundle_alone_gives_the_verdicts(archived: Path, tmp_path: Path) -> None:
    machine = nowhere(archived, tmp_path)
    answer = machine.rra("verify", "oci-layout:bundle", "--accept-documented", "--json").expect(0)
    assert verdicts(answer.result) == VERDICTS
    reproduction = answer.result["reproduction"]
    assert reproduction["level"] == "L2"
    (environment,) = reproduction["environments"]
    lock = json.loads((archived / "artifact/rra.lock").read_bytes())
    assert environment["interpreter"] == lock["environments"]["cpu"]["interpreter"]
    assert environment["packages"] == 1
    assert {run["sandbox"] for run in reproduction["runs"]} == {"bwrap"}
    (record,) = (tmp_path / "state").rglob("record.json")
    assert (
        json.loads(record.read_bytes())["environment"]["interpreter"]
        == (environment["interpreter"])
    )


def test_a_person_is_told_whose_python_it_was(archived: Path) -> None:
    answer = rra("verify", f"oci-layout:{archived / 'bundle'}", "--accept-documented").expect(0)
    version = "{}.{}.{}".format(*sys.version_info[:3])
    assert f"python   {version}, which environment cpu carries" in answer.out


def test_inspect_shows_what_is_carried_and_how_large_it_is(archived: Path) -> None:
    layout = f"oci-layout:{archived / 'bundle'}"
    layers = rra("inspect", layout, "--json").expect(0).result["layers"]
    (runtime,) = [layer for layer in layers if layer["element"] == "runtime"]
    size = (archived / "artifact" / INTERPRETER).stat().st_size
    assert size < runtime["uncompressed_size"] < size + 10_000
    assert runtime["size"] < size / 2
    assert runtime["title"] in rra("inspect", layout).expect(0).out
    (wheels,) = [layer for layer in layers if layer["element"] == "wheels"]
    assert wheels["files"] == 1


def test_a_bundle_whose_interpreter_was_changed_is_refused(archived: Path, tmp_path: Path) -> None:
    shutil.copytree(archived / "artifact", tmp_path / "artifact")
    data = bytearray((tmp_path / "artifact" / INTERPRETER).read_bytes())
    data[len(data) // 2] ^= 1
    (tmp_path / "artifact" / INTERPRETER).write_bytes(data)
    answer = rra("verify", tmp_path / "artifact").expect(4)
    assert "is not the interpreter that rra.lock names" in answer.said
    rra("pack", tmp_path / "artifact", f"oci-layout:{tmp_path / 'other'}").expect(1)

    shutil.copytree(archived / "bundle", tmp_path / "bundle")
    largest = max((tmp_path / "bundle/blobs/sha256").iterdir(), key=lambda p: p.stat().st_size)
    data = bytearray(largest.read_bytes())
    data[len(data) // 2] ^= 1
    largest.chmod(0o644)
    largest.write_bytes(data)
    rra("verify", f"oci-layout:{tmp_path / 'bundle'}").expect(4)


def test_the_readme_of_the_environment_says_how_to_do_it_by_hand(
    archived: Path, tmp_path: Path
) -> None:
    """The commands of the README, in the artifact, on a machine without Python and network."""
    shutil.copytree(archived / "artifact", tmp_path / "artifact")
    text = (tmp_path / "artifact/environment/cpu/README.md").read_text()
    commands = text.split("## Without any Python")[1].split("```sh\n")[1].split("```")[0]
    script = f"cd {tmp_path}/artifact && set -eu\n{commands}\n.venv/bin/python -c {CHECK!r}\n"
    done = Nowhere(tmp_path).run("sh", "-c", script)
    assert done.returncode == 0, done.stdout + done.stderr
    said: Any = json.loads(done.stdout.splitlines()[-1])
    assert said == ["1.0", str(tmp_path / "artifact/runtime/python")]


CHECK = "import alpha, json, sys; print(json.dumps([alpha.VERSION, sys.base_prefix]))"
