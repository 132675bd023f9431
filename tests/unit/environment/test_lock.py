"""Locking, against an index with chosen upload times."""

from __future__ import annotations

import hashlib
import os
import subprocess
import tomllib
from pathlib import Path

import pytest
from packaging.pylock import Pylock

from rra.environment import LockedEnvironment, lock_environment, read_entry
from rra.errors import LockError, UsageError
from rra.model import Accelerator, Environment
from tests.unit.environment.conftest import INTERPRETER, PYTHON
from tests.unit.environment.toy_index import ToyIndex, make_sdist

ENV = Environment(kind="pylock", python=PYTHON, platforms=["linux-x86_64"])
LINUX = f"{INTERPRETER}-{INTERPRETER}-manylinux_2_17_x86_64"


def lock(
    root: Path, *requirements: str, as_of: str | None = "2024-01-01", env: Environment = ENV
) -> LockedEnvironment:
    return lock_environment(root, "cpu", env, requirements, as_of=as_of)


def versions(locked: LockedEnvironment) -> dict[str, str]:
    return {package.name: package.version for package in locked.packages}


@pytest.mark.parametrize(
    ("as_of", "expected"),
    [
        ("2021-01-01", {"alpha": "1.0", "beta": "1.0"}),
        ("2022-12-31", {"alpha": "1.0", "beta": "2.0"}),
        ("2023-01-01", {"alpha": "2.0", "beta": "2.0"}),  # that day is included
        ("2023-01-01T11:59:59Z", {"alpha": "1.0", "beta": "2.0"}),
        (None, {"alpha": "2.0", "beta": "2.0"}),
    ],
)
def test_versions_are_those_of_the_day(
    index: ToyIndex, root: Path, as_of: str | None, expected: dict[str, str]
) -> None:
    assert versions(lock(root, "alpha", as_of=as_of)) == expected


def test_the_lock_names_exact_wheels_and_no_host(index: ToyIndex, root: Path) -> None:
    locked = lock(root, "alpha", as_of="2021-01-01")
    alpha, beta = "alpha-1.0-py3-none-any.whl", "beta-1.0-py3-none-any.whl"
    sizes = {name: len(index.files[name][2]) for name in (alpha, beta)}

    def wheel(name: str) -> str:
        return (
            f'    {{ name = "{name}", path = "wheels/{name}", size = {sizes[name]}, '
            f'hashes = {{ sha256 = "{index.sha256(name)}" }} }},'
        )

    assert locked.lock.read_text() == "\n".join(
        [
            'lock-version = "1.0"',
            "environments = [\"sys_platform == 'linux' and platform_machine == 'x86_64'\"]",
            f'requires-python = "=={PYTHON}.*"',
            'created-by = "rra"',
            "",
            "[[packages]]",
            'name = "alpha"',
            'version = "1.0"',
            "wheels = [",
            wheel(alpha),
            "]",
            "",
            "[[packages]]",
            'name = "beta"',
            'version = "1.0"',
            "wheels = [",
            wheel(beta),
            "]",
            "",
            "[tool.rra]",
            f'python = "{PYTHON}"',
            'platforms = ["linux-x86_64"]',
            'as-of = "2021-01-01"',
            'requirements = ["alpha"]',
            "",
            "[tool.rra.why]",
            'alpha = { requirement = "alpha" }',
            'beta = { required-by = ["alpha"] }',
            "",
        ]
    )
    assert locked.requirements.read_text() == (
        f"alpha==1.0 \\\n    --hash=sha256:{index.sha256(alpha)}\n"
        f"beta==1.0 \\\n    --hash=sha256:{index.sha256(beta)}\n"
    )
    Pylock.from_dict(tomllib.loads(locked.lock.read_text())).validate()


def test_neither_address_nor_credentials_of_the_index_are_written(
    index: ToyIndex, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = index.url.replace("http://", "http://somebody:s3cret@")
    monkeypatch.setenv("UV_DEFAULT_INDEX", address)
    lock(root, "alpha")
    written = b"".join(p.read_bytes() for p in root.rglob("*") if p.is_file())
    for trace in (b"127.0.0.1", b"http", b"s3cret", b"somebody", os.fsencode(root)):
        assert trace not in written


def test_a_release_that_the_first_of_a_minor_cannot_run_is_taken(
    index: ToyIndex, root: Path
) -> None:
    index.add_wheel("gamma", "1.0", "2020-01-01")
    index.add_wheel("gamma", "1.1", "2020-02-01", python=f">={PYTHON}.1")
    assert versions(lock(root, "gamma")) == {"gamma": "1.1"}


def test_metadata_that_no_resolver_accepts_does_not_slide_to_another_decade(
    index: ToyIndex, root: Path
) -> None:
    index.add_wheel("pandas", "0.11.0", "2013-04-01")
    index.add_wheel("pandas", "0.24.2", "2019-03-14", requires=["pytz>=2011k"])
    for name, version in (("numpy", "1.16.2"), ("python_dateutil", "2.8.0"), ("pytz", "2019.1")):
        index.add_wheel(name, version, "2019-04-01")
    assert versions(lock(root, "pandas", as_of="2019-06-01")) == {
        "numpy": "1.16.2",
        "pandas": "0.24.2",
        "python-dateutil": "2.8.0",
        "pytz": "2019.1",
    }


def test_the_same_resolution_gives_the_same_bytes(index: ToyIndex, root: Path) -> None:
    first = lock(root, "alpha")
    before = first.lock.read_bytes()
    second = lock(root, "alpha")
    assert (first.changed, second.changed) == (True, False)
    assert second.lock.read_bytes() == before


def test_what_rra_lock_says_is_read_from_the_files(index: ToyIndex, root: Path) -> None:
    locked = lock(root, "alpha", as_of="2021-01-01")
    entry = read_entry(locked.lock)
    assert entry == locked.entry()
    assert entry.lock == "sha256:" + hashlib.sha256(locked.lock.read_bytes()).hexdigest()
    digest = hashlib.sha256(locked.requirements.read_bytes()).hexdigest()
    assert entry.requirements == "sha256:" + digest
    assert (entry.python, entry.packages, entry.as_of) == (PYTHON, 2, "2021-01-01")


def test_only_wheels_that_fit_are_listed(index: ToyIndex, root: Path) -> None:
    fitting = index.add_wheel("native", "1.0", "2020-01-01", tag=LINUX)
    for tag in (
        "cp39-cp39-manylinux_2_17_x86_64",
        f"{INTERPRETER}-{INTERPRETER}-win_amd64",
        f"{INTERPRETER}-{INTERPRETER}-manylinux_2_99_x86_64",
        f"{INTERPRETER}-{INTERPRETER}-manylinux_2_17_aarch64",
    ):
        index.add_wheel("native", "1.0", "2020-01-01", tag=tag)
    (package,) = lock(root, "native").packages
    assert [wheel.name for wheel in package.wheels] == [fitting]


def test_each_declared_platform_gets_its_wheel(index: ToyIndex, root: Path) -> None:
    linux = index.add_wheel("native", "1.0", "2020-01-01", tag=LINUX)
    macos = index.add_wheel(
        "native", "1.0", "2020-01-01", tag=f"{INTERPRETER}-{INTERPRETER}-macosx_11_0_arm64"
    )
    index.add_wheel("native", "1.0", "2020-01-01", tag=f"{INTERPRETER}-{INTERPRETER}-win_amd64")
    env = ENV.model_copy(update={"platforms": ["linux-x86_64", "macos-arm64"]})
    index.add_wheel("gamma", "1.0", "2020-01-01")
    requirements = ("native", 'gamma; sys_platform == "win32"', 'beta; sys_platform == "darwin"')
    locked = lock(root, *requirements, env=env)
    assert {p.name: p.marker for p in locked.packages} == {
        "beta": "sys_platform == 'darwin'",
        "native": "",
    }
    (native,) = (p for p in locked.packages if p.name == "native")
    assert sorted(wheel.name for wheel in native.wheels) == sorted([linux, macos])


def test_nothing_to_install_is_locked_without_a_network(
    index: ToyIndex, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UV_DEFAULT_INDEX", "http://127.0.0.1:9/simple")
    locked = lock(root)
    assert locked.packages == ()
    document = Pylock.from_dict(tomllib.loads(locked.lock.read_text()))
    document.validate()
    assert list(document.packages) == []
    assert locked.requirements.read_bytes() == b""
    assert "standard library is enough" in locked.readme.read_text()


def test_a_source_distribution_is_built_once_and_its_wheel_kept(
    index: ToyIndex, root: Path
) -> None:
    index.add("gamma", "gamma-1.0.tar.gz", make_sdist("gamma", "1.0"), "2020-01-01")
    locked = lock(root, "gamma")
    wheel = locked.lock.parent / "wheels" / "gamma-1.0-py3-none-any.whl"
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    assert locked.built == (wheel.name,)
    assert f'sha256 = "{digest}"' in locked.lock.read_text()
    assert locked.requirements.read_text() == (
        f"--find-links wheels\ngamma==1.0 \\\n    --hash=sha256:{digest}\n"
    )
    # A build of the same version would now fail: the wheel that is there is taken.
    sdist = make_sdist("gamma", "1.0", fails=True)
    index.add("gamma", "gamma-1.0.tar.gz", sdist, "2020-01-01")
    assert lock(root, "gamma").changed is False


def test_a_wheel_of_the_authors_own_is_used_instead_of_a_build(index: ToyIndex, root: Path) -> None:
    sdist = make_sdist("gamma", "1.0", fails=True)
    index.add("gamma", "gamma-1.0.tar.gz", sdist, "2020-01-01")
    with pytest.raises(LockError, match=r"gamma 1\.0 has no wheel .* a compiler is missing"):
        lock(root, "gamma")
    assert not (root / "environment").exists() or not any((root / "environment").iterdir())
    wheels = root / "environment" / "cpu" / "wheels"
    wheels.mkdir(parents=True)
    (wheels / "gamma-1.0-py3-none-any.whl").write_bytes(
        index.files["alpha-1.0-py3-none-any.whl"][2]
    )
    assert lock(root, "gamma").built == ("gamma-1.0-py3-none-any.whl",)


def test_a_compiled_package_without_a_fitting_wheel_names_the_pythons_that_have_one(
    index: ToyIndex, root: Path
) -> None:
    index.add("native", "native-1.0.tar.gz", make_sdist("native", "1.0"), "2020-01-01")
    for minor in (8, 9):
        tag = f"cp3{minor}-cp3{minor}-manylinux_2_17_x86_64"
        index.add_wheel("native", "1.0", "2020-01-01", tag=tag)
    with pytest.raises(LockError) as caught:
        lock(root, "native")
    assert caught.value.message == (f"native 1.0 has no wheel for Python {PYTHON} on linux-x86_64")
    assert caught.value.hint.startswith("wheels exist for Python 3.8, 3.9: set one as python")
    assert caught.value.exit_code == 3


def test_a_file_that_is_not_what_the_index_says_is_refused(index: ToyIndex, root: Path) -> None:
    index.add("gamma", "gamma-1.0.tar.gz", make_sdist("gamma", "1.0"), "2020-01-01")
    index.announced["gamma-1.0.tar.gz"] = "0" * 64
    with pytest.raises(LockError, match="not what the index says of it"):
        lock(root, "gamma")


def test_a_conflict_is_said_in_one_sentence(index: ToyIndex, root: Path) -> None:
    with pytest.raises(LockError) as caught:
        lock(root, "alpha==2.0", "beta==1.0")
    message = caught.value.message
    assert message.startswith(
        "alpha==2.0, beta==1.0 cannot be had together: "
        f"no versions fit together for Python {PYTHON} as of 2024-01-01: Because alpha"
    )
    assert message.endswith("we can conclude that you require beta>=2")
    assert "\n" not in message
    assert "loosen one of these requirements" in caught.value.hint


def test_a_version_from_later_than_the_day_is_dated(index: ToyIndex, root: Path) -> None:
    with pytest.raises(LockError) as caught:
        lock(root, "alpha==2.0", as_of="2022-01-01")
    assert "2.0 was published on 2023-01-01" in caught.value.message
    assert caught.value.hint.startswith('set as_of: "2023-01-01"')


def test_an_unknown_package_is_named(index: ToyIndex, root: Path) -> None:
    with pytest.raises(LockError, match="omega was not found") as caught:
        lock(root, "omega")
    assert caught.value.hint.startswith("correct the name")


def test_an_index_that_is_not_there_is_not_taken_for_a_conflict(
    index: ToyIndex, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UV_DEFAULT_INDEX", "http://somebody:s3cret@127.0.0.1:9/simple")
    with pytest.raises(LockError, match="a source of packages cannot be reached") as caught:
        lock(root, "alpha")
    assert "s3cret" not in caught.value.message


def test_a_refusal_leaves_the_old_lock(index: ToyIndex, root: Path) -> None:
    locked = lock(root, "alpha")
    before = {p: p.read_bytes() for p in root.rglob("*") if p.is_file()}
    with pytest.raises(LockError):
        lock(root, "omega")
    assert {p: p.read_bytes() for p in root.rglob("*") if p.is_file()} == before
    assert locked.lock.is_file()


def test_the_authors_own_text_and_files_stay(index: ToyIndex, root: Path) -> None:
    folder = root / "environment" / "cpu"
    folder.mkdir(parents=True)
    (folder / "README.md").write_text("Ask Ana for the cluster module.\n")
    (folder / "notes").mkdir()
    (folder / "notes" / "a.txt").write_text("kept\n")
    lock(root, "alpha")
    assert (folder / "README.md").read_text() == "Ask Ana for the cluster module.\n"
    assert (folder / "notes" / "a.txt").read_text() == "kept\n"


def test_the_readme_says_how_to_install_and_what_else_is_needed(
    index: ToyIndex, root: Path
) -> None:
    env = ENV.model_copy(
        update={
            "variables": {"OMP_NUM_THREADS": "1"},
            "system_packages": {"debian": ["libgl1"]},
            "accelerator": Accelerator(kind="cuda", memory="16 GB"),
        }
    )
    text = lock(root, "alpha", as_of="2021-01-01", env=env).readme.read_text()
    command = "python -m pip install --require-hashes -r environment/cpu/requirements.txt"
    for expected in (
        command,
        f"python{PYTHON} -m venv .venv",
        "export OMP_NUM_THREADS='1'",
        "packages of debian: libgl1",
        "kind cuda, memory 16 GB",
        "| alpha | 1.0 |",
    ):
        assert expected in text


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kind": "conda"}, "kind conda"),
        ({"python": None}, "names no Python"),
        ({"python": "three"}, "'three' is not a Python version"),
        ({"platforms": ["amiga"]}, "platform 'amiga' is not known"),
        ({"lock": "lock.toml"}, "is called lock.toml"),
    ],
)
def test_what_cannot_be_locked_is_a_usage_error(
    root: Path, change: dict[str, object], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        lock(root, env=ENV.model_copy(update=change))


def test_a_date_that_is_none_is_refused(root: Path) -> None:
    with pytest.raises(UsageError, match="'last summer' is not a date"):
        lock(root, as_of="last summer")


@pytest.mark.slow
def test_plain_pip_installs_the_requirements(index: ToyIndex, root: Path, tmp_path: Path) -> None:
    index.add("gamma", "gamma-1.0.tar.gz", make_sdist("gamma", "1.0"), "2020-01-01")
    lock(root, "alpha", "gamma", as_of="2021-01-01")
    place = tmp_path / "venv"
    subprocess.run(["python3", "-m", "venv", place], check=True)
    python = place / "bin" / "python"
    # What stands in the README, with the index of this test.
    command: list[str | Path] = [python, "-m", "pip", "install", "--require-hashes"]
    command += ["--index-url", index.url]
    requirements = "environment/cpu/requirements.txt"
    subprocess.run([*command, "-r", requirements], cwd=root, check=True, capture_output=True)
    shown = subprocess.run(
        [python, "-c", "import alpha, beta, gamma; print(alpha.VERSION, beta.VERSION)"],
        check=True,
        capture_output=True,
        text=True,
    )
    assert shown.stdout == "1.0 1.0\n"


@pytest.mark.slow
def test_the_readers_own_index_gives_what_was_published_by_a_day(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Real packages: six 1.16.0 appeared on 2021-05-05, 1.17.0 on 2024-12-04."""
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "uv-cache"))
    locked = lock(root, "six", as_of="2024-12-01")
    assert versions(locked) == {"six": "1.16.0"}
    digest = "8abb2f1d86890a2dfb989f9a77cfcfd3e47c2a354b01111771326f8aa26e0254"
    assert [wheel.sha256 for package in locked.packages for wheel in package.wheels] == [digest]


@pytest.mark.slow
def test_unpinned_packages_of_june_2019_are_those_of_june_2019(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Real packages: the metadata of pandas 0.24.2 is refused by resolvers of today."""
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "uv-cache"))
    env = ENV.model_copy(update={"python": "3.7"})
    found = versions(lock(root, "pandas", "seaborn", as_of="2019-06-15", env=env))
    assert (found["pandas"], found["seaborn"]) == ("0.24.2", "0.9.0")
