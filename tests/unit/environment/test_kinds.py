"""Kinds of environments behind one protocol: found, described, locked or refused with reasons."""

from __future__ import annotations

import dataclasses
import importlib.metadata
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from rra._base.files import sha256_file
from rra.api import lock
from rra.artifact import Artifact, load_artifact
from rra.environment.kinds import JULIA, BuildRequest, EnvironmentKind, LockRequest, find_kind
from rra.environment.kinds.containerfile import render_containerfile
from rra.environment.kinds.system import installed_versions, parse_installed
from rra.errors import EnvironmentBuildError, LockError, RraError, UnavailableError, UsageError
from rra.model import Environment
from tests.support.artifacts import COMPUTES, make_artifact
from tests.unit.environment.toy_index import ToyIndex

D = "@sha256:" + "0123456789abcdef" * 4


def test_pylock_is_locked_and_built_through_the_protocol(
    artifact: Callable[..., Artifact], index: ToyIndex
) -> None:
    made = artifact("requirements: [alpha]")
    kind = find_kind("pylock")
    env = made.manifest.environments["cpu"]
    done = kind.lock(LockRequest(root=made.root, id="cpu", env=env, requirements=("alpha",)))
    assert done.packages == ("alpha 2.0", "beta 2.0")
    said = kind.describe(made.root, env)
    assert said.packages == done.packages
    assert said.files == ("environment/cpu/pylock.toml",)
    built = kind.build(BuildRequest(artifact=load_artifact(made.root), id="cpu"))
    assert (built.kind, built.image) == ("pylock", None)
    assert built.packages == (("alpha", "2.0"), ("beta", "2.0"))
    assert built.lock_digest == sha256_file(made.root / "environment/cpu/pylock.toml")


CONDA = "dependencies:\n- python=3.8\n- pytorch=1.7.1\n- {}\n"


@pytest.mark.parametrize(
    ("package", "unknown", "hint"),
    [("samtools", ("samtools",), "conda-lock or pixi"), ("openssl", (), "set kind: pylock")],
)
def test_conda_is_translated_by_the_table_and_never_guessed(
    tmp_path: Path, package: str, unknown: tuple[str, ...], hint: str
) -> None:
    (tmp_path / "environment.yml").write_text(CONDA.format(package))
    kind, env = find_kind("conda"), Environment(kind="conda", python="3.8")
    said = kind.describe(tmp_path, env)
    assert (said.version, said.packages, said.unknown) == ("3.8", ("torch==1.7.1",), unknown)
    with pytest.raises(LockError) as caught:
        kind.lock(LockRequest(root=tmp_path, id="cpu", env=env))
    assert hint in caught.value.hint
    assert all(name in caught.value.message for name in unknown)


def test_renv_lock_is_described(tmp_path: Path) -> None:
    packages = {
        "ggplot2": {"Package": "ggplot2", "Version": "3.4.0", "Source": "Repository"},
        "Rcpp": {"Package": "Rcpp", "Version": "1.0.9"},
    }
    text = json.dumps({"R": {"Version": "4.2.1"}, "Packages": packages})
    (tmp_path / "renv.lock").write_text(text)
    kind = find_kind("renv")
    said = kind.describe(tmp_path, Environment(kind="renv", lock="renv.lock"))
    assert (said.version, said.packages) == ("4.2.1", ("Rcpp 1.0.9", "ggplot2 3.4.0"))
    assert "container" in said.rebuilt
    assert kind.detect(tmp_path) == ("renv.lock",)


def test_a_description_of_r_is_described(tmp_path: Path) -> None:
    text = (
        "Package: study\nVersion: 0.1\nDepends:\n    R (>= 3.5),\n    methods\n"
        "Imports: dplyr (>= 1.0),\n\tdata.table\nSuggests: testthat\nLinkingTo: Rcpp\n"
    )
    (tmp_path / "DESCRIPTION").write_text(text)
    said = find_kind("renv").describe(tmp_path, Environment(kind="renv", lock=None))
    assert (said.version, said.packages) == (">= 3.5", ("Rcpp", "data.table", "dplyr >= 1.0"))


@pytest.mark.parametrize(
    ("name", "text", "version", "packages"),
    [
        ("Project.toml", '[deps]\nJSON = "x"\n[compat]\njulia = "1.6"\n', "1.6", ("JSON",)),
        ("Manifest.toml", '[[JSON]]\nversion = "0.21.3"\n[[Dates]]\n', "", ("JSON 0.21.3",)),
        (
            "Manifest.toml",
            (
                'julia_version = "1.9.2"\nmanifest_format = "2.0"\n'
                '[[deps.JSON]]\nversion = "0.21.4"\n[[deps.Dates]]\nuuid = "x"\n'
            ),
            "1.9.2",
            ("JSON 0.21.4",),
        ),
    ],
)
def test_files_of_julia_are_described(
    tmp_path: Path, name: str, text: str, version: str, packages: tuple[str, ...]
) -> None:
    (tmp_path / name).write_text(text)
    said = JULIA.describe(tmp_path, Environment(kind="system"))
    assert (said.version, said.packages, said.files) == (version, packages, (name,))
    assert said.problems == ()


@pytest.mark.parametrize("data", [b"", b"\xff\xfe\x00", b"{", b"[1]", b'{"Packages": [1]}'])
@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (find_kind("renv"), "renv.lock"),
        (find_kind("renv"), "DESCRIPTION"),
        (JULIA, "Manifest.toml"),
        (JULIA, "Project.toml"),
        (find_kind("conda"), "environment.yml"),
        (find_kind("container"), "Dockerfile"),
    ],
)
def test_a_damaged_file_names_no_package(
    tmp_path: Path, kind: EnvironmentKind, name: str, data: bytes
) -> None:
    (tmp_path / name).write_bytes(data)
    said = kind.describe(tmp_path, Environment(kind="system"))
    assert (said.packages, said.unknown) == ((), ())


def test_a_containerfile_is_written_from_what_the_manifest_says(tmp_path: Path) -> None:
    root = tmp_path / "tiny"
    env = {
        "kind": "container",
        "lock": "environment/cpu/Containerfile",
        "base_image": f"registry.example/debian:12{D}",
        "system_packages": {"debian": ["libgomp1", "build-essential=12.9"]},
        "variables": {"OMP_NUM_THREADS": "1", "ODD": 'a "$HOME" b'},
    }
    make_artifact(root, {"main.py": COMPUTES}, environments={"cpu": env})
    done = lock(root)
    text = (root / "environment/cpu/Containerfile").read_text()
    assert text.splitlines()[1:4] == [
        f"FROM registry.example/debian:12{D}",
        'ENV ODD="a \\"\\$HOME\\" b"',
        'ENV OMP_NUM_THREADS="1"',
    ]
    assert "      build-essential=12.9 \\\n      libgomp1 \\\n" in text
    assert done.environments[0].packages == ("build-essential=12.9", "libgomp1")
    assert not lock(root).changed
    known = load_artifact(root).lock
    assert known is not None
    assert known.environments["cpu"].requirements is None


def test_a_containerfile_of_the_authors_own_is_kept(tmp_path: Path) -> None:
    own = "FROM python:3.8\nRUN make\n"
    (tmp_path / "Containerfile").write_text(own)
    env = Environment(kind="container", lock="Containerfile")
    kind = find_kind("container")
    kind.lock(LockRequest(root=tmp_path, id="cpu", env=env))
    assert (tmp_path / "Containerfile").read_text() == own
    said = kind.describe(tmp_path, env)
    assert said.problems == (
        "Containerfile builds on python:3.8, whose content changes: name it by digest",
    )


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"base_image": f"debian{D}", "rootfs": "environment/cpu/rootfs.tar"},
        {"base_image": f"debian{D}", "system_packages": {"debian": ["a; rm -rf /"]}},
        {"base_image": f"debian{D}", "system_packages": {"debian": ["x\nRUN evil"]}},
        {"base_image": f"debian{D}", "system_packages": {"debian": ["--allow-downgrades"]}},
    ],
)
def test_no_containerfile_is_written_from_what_makes_none(changes: dict[str, object]) -> None:
    env = Environment.model_validate({"kind": "container", **changes})
    with pytest.raises(UsageError):
        render_containerfile("cpu", env)


def test_system_packages_are_looked_for(
    artifact: Callable[..., Artifact], monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = ["dpkg", "no-such-package-anywhere"]
    said = "installed dash 0.5.12-2\nunpacked python3 3.11.2-1\npython /usr/bin/python3\n"
    assert parse_installed(said) == {"dash": "0.5.12-2"}
    if installed_versions(["dpkg"]):
        assert list(installed_versions(wanted)) == ["dpkg"]
    made = artifact()
    env = Environment(kind="system", system_packages={"debian": wanted})
    manifest = made.manifest.model_copy(update={"environments": {"cpu": env}})
    changed = dataclasses.replace(made, manifest=manifest)
    with pytest.raises(EnvironmentBuildError, match="no-such-package-anywhere") as caught:
        find_kind("system").build(BuildRequest(artifact=changed, id="cpu"))
    assert caught.value.hint.startswith("apt-get install ")
    assert caught.value.hint.endswith("no-such-package-anywhere")


def test_kinds_come_from_installed_distributions_too(monkeypatch: pytest.MonkeyPatch) -> None:
    entries = {
        "guix": importlib.metadata.EntryPoint(
            "guix", "rra.environment.kinds.system:SystemKind", "rra.environment_kinds"
        ),
        "broken": importlib.metadata.EntryPoint("broken", "no_such_module:X", "x"),
        "pylock": importlib.metadata.EntryPoint("pylock", "no_such_module:X", "x"),
    }

    def entry_points(*, group: str, name: str | None = None) -> list[importlib.metadata.EntryPoint]:
        assert group == "rra.environment_kinds"
        return [one for key, one in entries.items() if name in {None, key}]

    monkeypatch.setattr(importlib.metadata, "entry_points", entry_points)
    assert find_kind("guix").detect(Path()) == ()
    assert find_kind("pylock").name == "pylock"
    with pytest.raises(UnavailableError, match="no_such_module"):
        find_kind("broken")
    with pytest.raises(UsageError, match="'snap'") as caught:
        find_kind("snap")
    assert caught.value.hint.endswith("guix, broken, pylock")


@pytest.mark.parametrize("kind", ["conda", "renv"])
def test_what_is_not_built_says_what_would_work(
    artifact: Callable[..., Artifact], kind: str
) -> None:
    made = artifact()
    env = Environment.model_validate({"kind": kind})
    manifest = made.manifest.model_copy(update={"environments": {"cpu": env}})
    changed = dataclasses.replace(made, manifest=manifest)
    with pytest.raises(RraError) as caught:
        find_kind(kind).build(BuildRequest(artifact=changed, id="cpu"))
    assert caught.value.hint
