"""`rra env` on toy packages: what it says of locks, and what it leaves alone."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rra import api
from rra._base.files import sha256_file
from rra.artifact import load_artifact
from rra.environment import lock_environment
from rra.errors import CorruptError, LockError, UsageError
from tests.support.artifacts import COMPUTES, make_artifact
from tests.support.bundles import pack
from tests.support.needs import needs
from tests.support.runtimes import MINOR
from tests.unit.environment.toy_index import ToyServer, make_wheel

ALPHA, BETA = "alpha-1.0-py3-none-any.whl", "beta-1.0-py3-none-any.whl"
GAMMA = "gamma-1.0-py3-none-any.whl"
NOWHERE = "http://127.0.0.1:9/simple"
PLACE = "environment/cpu"


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ToyServer]:
    running = ToyServer()
    running.index.add_wheel("alpha", "1.0", "2020-01-01", requires=["beta"])
    running.index.add_wheel("beta", "1.0", "2020-02-01")
    for name in ("UV_INDEX", "UV_EXTRA_INDEX_URL", "UV_FIND_LINKS", "UV_OFFLINE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("UV_DEFAULT_INDEX", running.index.url)
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "uv-cache"))
    monkeypatch.setenv("RRA_CACHE", str(tmp_path / "rra-cache"))
    monkeypatch.setenv("UV_HTTP_RETRIES", "0")
    yield running
    running.close()


def artifact(root: Path, requirements: list[str] | None = None) -> Path:
    """An artifact that asks for alpha and is locked to alpha 1.0 and beta 1.0."""
    cpu = {"kind": "pylock", "python": MINOR, "lock": f"{PLACE}/pylock.toml"}
    wanted = ["alpha"] if requirements is None else requirements
    files = {"main.py": COMPUTES}
    make_artifact(root, files, environments={"cpu": {**cpu, "requirements": wanted}})
    (root / PLACE / "README.md").unlink()
    env = load_artifact(root).manifest.environments["cpu"]
    lock_environment(root, "cpu", env, wanted, as_of="2021-01-01")
    api.lock(root, keep=True)
    return root


@pytest.fixture
def root(server: ToyServer, tmp_path: Path) -> Path:
    del server
    return artifact(tmp_path / "a")


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def said(root: Path) -> list[tuple[str, str]]:
    return [(one.severity, str(one)) for one in api.env_check(root).problems]


def test_a_lock_that_holds_is_a_yes_and_asks_no_index(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UV_DEFAULT_INDEX", NOWHERE)
    result = api.env_check(root)
    (one,) = result.environments
    assert (result.exit_code, result.problems) == (0, ())
    assert (one.packages, one.wheels, one.beside, one.available) == (2, 2, 0, None)


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"requirements": ["gamma"]}, "gamma is needed and not locked"),
        ({"requirements": ["alpha>=2"]}, "alpha>=2 is needed; alpha 1.0 is locked"),
        ({"python": "3.9"}, f"made for Python {MINOR}; rra.yaml asks for 3.9"),
        (
            {"platforms": ["windows-x86_64"]},
            "not made for windows-x86_64, which rra.yaml declares",
        ),
    ],
)
def test_what_rra_yaml_asks_for_and_the_lock_is_not_is_a_no(
    root: Path, tmp_path: Path, changes: dict[str, Any], fault: str
) -> None:
    cpu: dict[str, Any] = {"kind": "pylock", "python": MINOR, "lock": f"{PLACE}/pylock.toml"}
    cpu |= {"requirements": ["alpha"], **changes}
    made = make_artifact(tmp_path / "other", {"main.py": COMPUTES}, environments={"cpu": cpu})
    (root / "rra.yaml").write_bytes((made.root / "rra.yaml").read_bytes())
    assert api.env_check(root).exit_code == 1
    assert ("error", f"{PLACE}/pylock.toml: {fault}") in said(root)


def test_a_wish_that_the_lock_meets_by_chance_is_a_warning(
    server: ToyServer, tmp_path: Path
) -> None:
    root = artifact(tmp_path / "b", ["alpha", "beta"])
    lock = root / PLACE / "pylock.toml"
    edit(lock, '"alpha", "beta"', '"alpha", "omega"')
    api.lock(root, keep=True)
    assert api.env_check(root).exit_code == 0
    assert [text.partition(": ")[2] for _, text in said(root)] == [
        "beta is needed now; it was not asked for when this was locked",
        "omega was asked for when this was locked; nothing asks for it now",
    ]
    assert server.index.fetched == []


def test_other_files_for_those_who_install_without_rra_are_a_no(root: Path) -> None:
    requirements = root / PLACE / "requirements.txt"
    edit(requirements, "beta==1.0", "beta==1.1")
    (digest, *faults) = said(root)
    assert digest[1].startswith(f"{PLACE}/requirements.txt: another file than rra.lock names")
    assert [text.partition(": ")[2] for _, text in faults] == [
        "lacks beta==1.0, which the lock names",
        "names beta==1.1, which the lock does not",
    ]
    requirements.unlink()
    assert ("error", f"{PLACE}/requirements.txt: missing: others install from it") in said(root)


def test_wheels_beside_the_lock_are_compared_with_it(root: Path) -> None:
    api.lock(root, keep=True, wheels=True)
    assert api.env_check(root).environments[0].beside == 2
    wheels = root / PLACE / "wheels"
    (wheels / ALPHA).unlink()
    (wheels / BETA).unlink()  # a link to the shared copy, which stays
    (wheels / BETA).write_bytes(make_wheel("beta", "1.0", requires=["omega"]))
    (wheels / GAMMA).write_bytes(b"")
    assert api.env_check(root).exit_code == 1
    assert said(root) == [
        ("error", f"{PLACE}/wheels: {ALPHA} is locked and does not lie here"),
        ("error", f"{PLACE}/wheels/{BETA}: another file than the one that is locked"),
        (
            "warning",
            f"{PLACE}/wheels/{GAMMA}: lies beside the lock, which does not name it",
        ),
    ]


def test_each_locked_file_is_asked_for_by_name_and_digest_and_none_is_fetched(
    root: Path, server: ToyServer
) -> None:
    result = api.env_check(root, available=True)
    assert (result.exit_code, result.environments[0].gone) == (0, ())
    assert server.index.fetched == []

    server.index.add_wheel("beta", "1.0", "2020-02-01", requires=["omega"])
    result = api.env_check(root, available=True)
    (gone,) = result.environments[0].gone
    assert (result.exit_code, gone.wheel, gone.state) == (1, BETA, "other")

    del server.index.files[BETA]
    data = b"a source distribution may be there still; it is not built"
    server.index.add("beta", "beta-1.0.tar.gz", data, "2020-02-01")
    result = api.env_check(root, available=True)
    (gone,) = result.environments[0].gone
    assert (result.exit_code, gone.package, gone.state) == (1, "beta 1.0", "gone")
    assert result.environments[0].consistent


def test_what_lies_beside_the_lock_need_not_be_on_the_index(root: Path, server: ToyServer) -> None:
    api.lock(root, keep=True, wheels=True)
    server.index.files.clear()
    result = api.env_check(root, available=True)
    assert result.exit_code == 0
    assert [(one.wheel, one.beside) for one in result.environments[0].gone] == [
        (ALPHA, True),
        (BETA, True),
    ]
    assert {problem.severity for problem in result.problems} == {"warning"}


def test_an_index_that_does_not_answer_is_no_index_that_lacks_files(
    root: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("UV_DEFAULT_INDEX", NOWHERE)
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "empty"))
    with pytest.raises(LockError, match="cannot be reached"):
        api.env_check(root, available=True)


def test_a_build_says_what_it_stands_on(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (one,) = api.env_build(root).environments
    assert (one.level, one.interpreter, one.reused) == ("locked", "host", False)
    assert one.packages == ("alpha 1.0", "beta 1.0")
    assert str(one.python).startswith(f"{MINOR}.")
    api.lock(root, keep=True, wheels=True)
    (one,) = api.env_build(root).environments
    assert (one.level, one.reused) == ("bundled", True), "it was built from the index"

    monkeypatch.setenv("UV_DEFAULT_INDEX", NOWHERE)
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "empty"))
    monkeypatch.setenv("RRA_CACHE", str(tmp_path / "of another machine"))
    for reused in (False, True):
        (one,) = api.env_build(root).environments
        assert (one.level, one.reused) == ("rebuilt offline", reused)
    assert one.place is not None
    assert (one.place / "bin" / "python").is_file()
    (one,) = api.env_build(root, into=tmp_path / "own").environments
    assert (one.level, one.place) == ("rebuilt offline", tmp_path / "own")


def test_what_the_code_imports_is_imported_where_that_is_asked(root: Path) -> None:
    api.lock(root, keep=True, wheels=True)
    (root / "code" / "main.py").write_text("import alpha\nfrom beta import VERSION\n")
    result = api.env_build(root, imports=True)
    (one,) = result.environments
    assert (result.exit_code, one.level, one.imports, one.failed) == (0, "runs", 2, ())
    (root / "code" / "main.py").write_text("import alpha\nfrom beta import gone\n")
    result = api.env_build(root, imports=True)
    (one,) = result.environments
    assert (result.exit_code, one.level, one.imports) == (1, "rebuilt offline", 2)
    (failed,) = one.failed
    assert failed.startswith("from beta import gone fails: ImportError: cannot import name 'gone'")


def test_nothing_to_install_is_rebuilt_offline_but_shows_nothing_that_runs(
    server: ToyServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UV_DEFAULT_INDEX", NOWHERE)
    root = artifact(tmp_path / "empty", [])
    (reached,) = api.lock(root, keep=True).levels
    assert (reached.level, reached.wheels, reached.beside) == ("bundled", 0, 0)
    (one,) = api.env_build(root, imports=True).environments
    assert (one.level, one.packages, one.imports) == ("rebuilt offline", (), 0)


def test_lock_says_whether_an_index_is_still_needed(root: Path) -> None:
    (reached,) = api.lock(root, keep=True).levels
    assert (reached.level, reached.wheels, reached.beside) == ("locked", 2, 0)
    (reached,) = api.lock(root, keep=True, wheels=True).levels
    assert (reached.level, reached.wheels, reached.beside) == ("bundled", 2, 2)
    (root / PLACE / "wheels" / BETA).unlink()
    (reached,) = api.lock(root, keep=True).levels
    assert (reached.level, reached.wheels, reached.beside) == ("locked", 2, 1)


def test_a_wheel_that_came_with_one_artifact_serves_another(
    root: Path, server: ToyServer, tmp_path: Path
) -> None:
    (one,) = api.env_wheels(root).environments
    assert (one.wheels, one.shared, one.beside, one.fetched) == (2, 0, 0, 2)
    other = artifact(tmp_path / "other")
    server.index.files.clear()
    (one,) = api.env_wheels(other, into=tmp_path / "house").environments
    assert (one.shared, one.beside, one.fetched) == (2, 0, 0)
    shared = api.env_wheels(root).house
    (kept,) = shared.glob(f"*/{ALPHA}")
    assert kept.parent.name == sha256_file(kept).removeprefix("sha256:")
    assert (tmp_path / "house" / ALPHA).samefile(kept), "one copy on the disk"
    assert sorted(server.index.fetched) == [ALPHA, BETA]
    (built,) = api.env_build(other).environments
    assert built.packages == ("alpha 1.0", "beta 1.0")
    assert not (other / PLACE / "wheels").exists()


def test_a_shared_wheel_that_somebody_changed_counts_for_nothing(
    root: Path, server: ToyServer, tmp_path: Path
) -> None:
    api.env_wheels(root, into=tmp_path / "house")
    (tmp_path / "house" / BETA).write_bytes(b"changed through the link")
    (one,) = api.env_wheels(root).environments
    assert (one.shared, one.fetched) == (1, 1)
    assert server.index.fetched == [ALPHA, BETA, BETA]
    server.index.files.clear()
    (built,) = api.env_build(root).environments
    assert built.packages == ("alpha 1.0", "beta 1.0")


def test_what_is_locked_and_nowhere_is_named_and_nothing_is_half_made(
    root: Path, server: ToyServer, tmp_path: Path
) -> None:
    del server.index.files[BETA]
    with pytest.raises(LockError, match=f"no index has {BETA} with the digest that is locked"):
        api.env_wheels(root, into=tmp_path / "house")
    assert not (tmp_path / "house").exists()


def test_a_folder_for_another_environment_is_left_alone(root: Path, tmp_path: Path) -> None:
    (tmp_path / "house").mkdir()
    (tmp_path / "house" / "requirements.txt").write_text("numpy\n")
    with pytest.raises(UsageError, match="is there already and lists something else"):
        api.env_wheels(root, into=tmp_path / "house")
    assert [path.name for path in (tmp_path / "house").iterdir()] == ["requirements.txt"]


def test_an_index_that_lies_about_a_digest_is_refused(root: Path, server: ToyServer) -> None:
    server.index.announced[BETA] = server.index.sha256(BETA)
    project, uploaded, _ = server.index.files[BETA]
    server.index.files[BETA] = (project, uploaded, make_wheel("beta", "1.0", requires=["omega"]))
    with pytest.raises((LockError, CorruptError), match="is not what the index says"):
        api.env_wheels(root)
    assert [p.name for p in Path(os.environ["RRA_CACHE"]).glob("wheels/*/*")] == [ALPHA]


def test_gathering_that_is_killed_leaves_no_wheel_that_counts(
    root: Path, server: ToyServer
) -> None:
    server.index.held = threading.Event()
    code = "import sys; from rra import api; api.env_wheels(sys.argv[1])"
    child = subprocess.Popen([sys.executable, "-c", code, root], start_new_session=True)
    assert server.index.asked.wait(60)
    os.killpg(child.pid, signal.SIGKILL)
    child.wait()
    server.index.held.set()
    (one,) = api.env_wheels(root).environments
    assert (one.wheels, one.shared) == (2, 0)


def test_an_environment_that_is_not_there_is_named(root: Path) -> None:
    for verb in (api.env_check, api.env_build, api.env_wheels):
        with pytest.raises(UsageError, match="called gpu"):
            verb(root, environments=["gpu"])


@pytest.mark.slow
@needs("bwrap")
def test_a_bundle_with_its_wheels_is_rebuilt_without_any_network_by_rra_and_by_pip(
    root: Path, server: ToyServer, tmp_path: Path
) -> None:
    api.lock(root, keep=True, wheels=True)
    pack(load_artifact(root), tmp_path / "bundle")
    bundle = f"oci-layout:{tmp_path / 'bundle'}"
    api.unpack(bundle, tmp_path / "study")
    server.index.files.clear()
    empty = tmp_path / "nothing cached"
    (tmp_path / "home").mkdir()
    alone = ["bwrap", "--unshare-user", "--unshare-net", "--dev-bind", "/", "/", "--clearenv"]
    variables = {"RRA_CACHE": empty / "rra", "UV_CACHE_DIR": empty / "uv"}
    variables |= {"HOME": tmp_path / "home", "PATH": Path(os.environ["PATH"])}
    for key, value in variables.items():
        alone += ["--setenv", key, str(value)]

    def run(*argv: str | Path) -> str:
        done = subprocess.run([*alone, "--", *argv], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    interfaces = run(sys.executable, "-c", "import socket; print(len(socket.if_nameindex()))")
    assert interfaces == "1\n", "the loopback interface alone"
    for reference in (bundle, tmp_path / "study"):
        shown = run(sys.executable, "-m", "rra", "env", "build", str(reference))
        assert shown.startswith(f"cpu: rebuilt offline (host interpreter {MINOR}.")
    env = tmp_path / "plain"
    run(sys.executable, "-m", "venv", env)
    wheels, listed = tmp_path / "study" / PLACE / "wheels", tmp_path / "study" / PLACE
    run(
        env / "bin" / "pip",
        *("install", "--quiet", "--disable-pip-version-check", "--no-index"),
        *("--find-links", wheels, "--require-hashes", "-r", listed / "requirements.txt"),
    )
    code = "import alpha, beta; print(alpha.VERSION, beta.VERSION)"
    assert run(env / "bin" / "python", "-c", code) == "1.0 1.0\n"
