"""`rra env explain` and `rra env diff`, on locks written here; no index is there to be asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from rra import api
from rra.environment.pylock import LockedPackage, Wheel, render_pylock
from rra.errors import UsageError
from tests.support.artifacts import COMPUTES, make_artifact
from tests.support.runtimes import MINOR

LINUX = "sys_platform == 'linux'"


def package(name: str, version: str, marker: str = "", build: str = "0") -> LockedPackage:
    wheel = Wheel(f"{name.replace('-', '_')}-{version}-py3-none-any.whl", (build * 64)[:64])
    return LockedPackage(name, version, (wheel,), marker)


def artifact(
    root: Path,
    packages: Sequence[LockedPackage],
    facts: Mapping[str, Any] | None = None,
    why: Mapping[str, Mapping[str, Any]] | None = None,
) -> Path:
    cpu = {"kind": "pylock", "python": MINOR, "lock": "environment/cpu/pylock.toml"}
    make_artifact(root, {"main.py": COMPUTES}, environments={"cpu": cpu})
    told = {"python": MINOR, **(facts or {})}
    text = render_pylock(packages, python=MINOR, environments=[LINUX], facts=told, why=why)
    (root / "environment/cpu/pylock.toml").write_text(text)
    return root


def venv(place: Path, packages: Mapping[str, str]) -> Path:
    site = place / "lib" / f"python{MINOR}" / "site-packages"
    site.mkdir(parents=True)
    (place / "pyvenv.cfg").write_text("home = /usr/bin\n")
    for name, version in packages.items():
        info = site / f"{name}-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    return place


REASONS: dict[str, dict[str, Any]] = {
    "seaborn": {"requirement": "seaborn<1", "place": "requirements.txt:2"},
    "pandas": {"required-by": ["seaborn"]},
    "numpy": {"required-by": ["pandas", "seaborn", "numpy"]},
}
FACTS = {
    "as-of": "2019-06-30",
    "as-of-why": "the last commit that touched requirements.txt",
    "manifest": "requirements.txt",
    "manifest-why": "it alone names packages",
    "tried": ["3.12: no wheel"],
}


def test_the_way_from_a_line_of_a_file_to_a_package_is_shown(tmp_path: Path) -> None:
    locked = [package("seaborn", "0.9.0"), package("pandas", "0.24.2"), package("numpy", "1.16.4")]
    root = artifact(tmp_path, locked, FACTS, REASONS)
    (one,) = api.env_explain("NumPy", root).environments
    assert one.versions == ("1.16.4",)
    assert (one.requirement, one.required_by) == (None, ("pandas", "seaborn", "numpy"))
    assert one.chains == (("seaborn", "numpy"),)
    assert (one.as_of, one.as_of_why) == (FACTS["as-of"], FACTS["as-of-why"])
    assert (one.manifest, one.manifest_why) == (FACTS["manifest"], FACTS["manifest-why"])
    assert (one.tried, one.recorded) == (("3.12: no wheel",), True)
    (one,) = api.env_explain("seaborn", root).environments
    assert (one.requirement, one.place, one.chains) == ("seaborn<1", "requirements.txt:2", ())


def test_an_older_lock_says_what_it_knows(tmp_path: Path) -> None:
    root = artifact(tmp_path, [package("numpy", "1.0")], {"requirements": ["numpy>=1"]})
    (one,) = api.env_explain("numpy", root).environments
    assert (one.requirement, one.place, one.recorded, one.as_of) == ("numpy>=1", None, False, None)


@pytest.mark.parametrize("why", ['why = "none"', "why = { numpy = 3 }", 'why = ["numpy"]'])
def test_reasons_of_another_form_are_none(tmp_path: Path, why: str) -> None:
    root = artifact(tmp_path, [package("numpy", "1.0")])
    lock = root / "environment/cpu/pylock.toml"
    lock.write_text(lock.read_text() + why + "\n")
    assert not api.env_explain("numpy", root).environments[0].recorded


def test_a_package_that_is_not_locked_is_named_with_the_nearest(tmp_path: Path) -> None:
    root = artifact(tmp_path, [package("scipy", "1.0")])
    with pytest.raises(UsageError, match="no environment locks scippy") as caught:
        api.env_explain("scippy", root)
    assert caught.value.hint == "did you mean scipy?"
    with pytest.raises(UsageError) as caught:
        api.env_explain("quite-another", root)
    assert caught.value.hint == "locked are scipy"


def test_two_artifacts_are_compared_package_by_package(tmp_path: Path) -> None:
    before = [package("a", "1"), package("b", "1"), package("c", "1"), package("same", "1")]
    after = [package("b", "2"), package("c", "1", build="f"), package("d", "3"), before[-1]]
    one = artifact(tmp_path / "one", before, {"as-of": "2019-06-30"})
    two = artifact(tmp_path / "two", after, {"as-of": "2020-06-30"})
    result = api.env_diff(one, two)
    (found,) = result.environments
    assert result.exit_code == 1
    assert [(p.name, p.change, p.before, p.after) for p in found.packages] == [
        ("a", "removed", ("1",), ()),
        ("b", "changed", ("1",), ("2",)),
        ("c", "rebuilt", ("1",), ("1",)),
        ("d", "added", (), ("3",)),
    ]
    assert [(f.name, f.before, f.after) for f in found.facts] == [
        ("as-of", "2019-06-30", "2020-06-30")
    ]
    lock = one / "environment/cpu/pylock.toml"
    assert api.env_diff(one, lock).ok
    assert api.env_diff(lock, two).environments[0].packages == found.packages


def test_of_a_lock_and_what_is_installed_only_what_belongs_here_counts(tmp_path: Path) -> None:
    elsewhere = package("windows-only", "1", "sys_platform == 'win32'")
    locked = [package("alpha", "1.0"), package("beta", "1.0"), elsewhere]
    root = artifact(tmp_path / "a", locked, {"as-of": "2019-06-30"})
    same = venv(tmp_path / "same", {"alpha": "1.0", "beta": "1.0"})
    assert api.env_diff(root, same).ok
    other = venv(tmp_path / "other", {"alpha": "1.1", "pip": "24.0"})
    (found,) = api.env_diff(root, other).environments
    assert [(p.name, p.change) for p in found.packages] == [
        ("alpha", "changed"),
        ("beta", "removed"),
    ]
    assert found.facts == ()


def test_what_a_virtual_environment_was_made_with_is_no_difference(tmp_path: Path) -> None:
    made_with = {"pip": "24.0", "setuptools": "69.0"}
    root = artifact(tmp_path / "a", [package("alpha", "1.0")])
    plain = venv(tmp_path / "plain", {"alpha": "1.0", **made_with})
    for before, after, change in ((root, plain, "added"), (plain, root, "removed")):
        result = api.env_diff(before, after)
        (found,) = result.environments
        assert (result.exit_code, found.packages) == (0, ())
        assert [(p.name, p.change) for p in found.tools] == [
            ("pip", change),
            ("setuptools", change),
        ]
    # One that is locked is compared as any other, and so are two that are installed.
    locking = artifact(tmp_path / "b", [package("alpha", "1.0"), package("pip", "23.0")])
    assert [p.name for p in api.env_diff(locking, plain).environments[0].packages] == ["pip"]
    bare = venv(tmp_path / "bare", {"alpha": "1.0"})
    assert len(api.env_diff(bare, plain).environments[0].packages) == 2


def test_what_holds_no_environment_is_refused(tmp_path: Path) -> None:
    root = artifact(tmp_path / "a", [])
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / "pyvenv.cfg").write_text("")
    with pytest.raises(UsageError, match="holds no installed packages"):
        api.env_diff(root, tmp_path / "empty")
    with pytest.raises(UsageError, match="no environment is called gpu"):
        api.env_diff(root, root, environment="gpu")
