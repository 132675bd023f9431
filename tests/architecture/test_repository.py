"""What the repository says about itself is true, and it names no index and no machine."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from rra import __version__
from rra.cli.main import COMMANDS
from tests.support.needs import NEEDS
from tests.support.source import ROOT, tracked_files

REQUIREMENTS = ("bootstrap.txt", "dev.txt", "runtime.txt")
#: Hosts that serve packages; written in halves, since this file is searched too.
HOSTS = [
    ".".join(parts)
    for parts in (
        ("pypi", "org"),
        ("pythonhosted", "org"),
        ("pypi", "python", "org"),
        ("registry", "npmjs", "org"),
        ("repo", "anaconda", "com"),
        ("conda", "anaconda", "org"),
        ("deb", "debian", "org"),
    )
]
PIN = re.compile(r"^(?P<name>[a-z0-9][a-z0-9-]*)==(?P<version>\S+)", re.MULTILINE)


def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def pins(name: str) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    text = (ROOT / "requirements" / name).read_text(encoding="utf-8")
    for match in PIN.finditer(text):
        found.setdefault(match["name"], set()).add(match["version"])
    return found


def plain_names(requirements: list[str]) -> set[str]:
    names = {re.split(r"[<>=!~;\[ ]", line)[0] for line in requirements}
    return {re.sub(r"[-_.]+", "-", name).lower() for name in names} - {"rra"}


def test_the_readme_shows_every_verb_and_names_every_example() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    prose = re.sub(r"<!-- begin: .*?<!-- end -->", "", text, flags=re.DOTALL)
    assert [verb for verb in COMMANDS if f"rra {verb}" not in prose] == []
    shipped = {
        path.parts[1] for path in tracked_files() if path.match("examples/*/artifact/rra.yaml")
    }
    assert set(re.findall(r"^  - `([a-z0-9-]+)/`: ", prose, re.MULTILINE)) == shipped


def test_no_tracked_file_names_a_package_host_or_this_checkout() -> None:
    # the source of a wheel's metadata may say where it came from; nothing here may
    forbidden = [*HOSTS, f"{ROOT}/"]
    named = []
    for name in tracked_files():
        data = (ROOT / name).read_bytes()
        named += [f"{name}: {word}" for word in forbidden if word.encode() in data]
    assert named == []


@pytest.mark.parametrize("name", REQUIREMENTS)
def test_pins_hold_name_version_and_digests_only(name: str) -> None:
    text = (ROOT / "requirements" / name).read_text(encoding="utf-8")
    blocks = re.sub(r" \\\n\s*", " ", text.split("\n", 1)[1]).strip().splitlines()
    shape = re.compile(r"[a-z0-9-]+==\S+( ; [^\n]*?)?( --hash=sha256:[0-9a-f]{64})+ ?")
    assert [block for block in blocks if not shape.fullmatch(block)] == []
    assert blocks


@pytest.mark.parametrize("name", ["bootstrap.txt", "runtime.txt"])
def test_the_pin_files_agree(name: str) -> None:
    development = pins("dev.txt")
    assert {
        pin: versions for pin, versions in pins(name).items() if development[pin] != versions
    } == {}


def test_every_declared_dependency_is_pinned() -> None:
    declared = project()["project"]
    assert plain_names(declared["dependencies"]) <= set(pins("runtime.txt"))
    for name, extra in declared["optional-dependencies"].items():
        if name != "fuzz":  # there is no atheris for some machines; tools/fuzz.py does without
            assert plain_names(extra) <= set(pins("dev.txt"))


def test_each_dependency_has_its_reason() -> None:
    declared = project()["project"]
    every = list(declared["dependencies"])
    for extra in declared["optional-dependencies"].values():
        every += extra
    page = (ROOT / "docs/explanation/dependencies.md").read_text(encoding="utf-8")
    reasons = dict(re.findall(r"^\| `([^`]+)` \| (.+) \|$", page, re.MULTILINE))
    assert set(reasons) == plain_names(every)
    assert [name for name, reason in reasons.items() if len(reason.split()) < 5] == []


def test_each_runtime_dependency_is_imported_or_started() -> None:
    modules = {"ruamel-yaml": "ruamel.yaml"}
    source = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "src").rglob("*.py"))
    for name in plain_names(project()["project"]["dependencies"]):
        module = re.escape(modules.get(name, name.replace("-", "_")))
        assert re.search(rf"^\s*(?:import|from) {module}\b", source, re.MULTILINE), name


def test_the_citation_has_the_version_of_the_package() -> None:
    citation = YAML(typ="safe").load(ROOT / "CITATION.cff")
    assert citation["version"] == __version__
    assert citation["license"] == project()["project"]["license"]


def test_skips_name_the_packages_that_ci_installs() -> None:
    script = (ROOT / "tools/system_packages.sh").read_text(encoding="utf-8")
    listed = set(re.findall(r"^  ([a-z0-9.+-]+) +#", script, re.MULTILINE))
    remedies = " ".join(need.remedy for need in NEEDS.values())
    named = set(re.findall(r"apt-get install ([a-z0-9.+-]+)", remedies)) - {"git"}
    assert named == listed


def test_continuous_integration_runs_what_the_readme_says() -> None:
    steps = (ROOT / ".ci/run").read_text(encoding="utf-8").splitlines()
    assert "export RRA_REQUIRE_TOOLS=1" in steps
    assert steps.index("export RRA_REQUIRE_TOOLS=1") < steps.index("make test </dev/null")
    assert "make test" in (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "name",
    [
        ".ci/run",
        "tools/setup.sh",
        "tools/system_packages.sh",
        "tools/debian13_tools.sh",
        "tools/newer_debian.sh",
        "tools/apptainer.sh",
        "tools/node_packages.sh",
    ],
)
def test_scripts_are_executable_and_stop_at_the_first_error(name: str) -> None:
    script = ROOT / name
    assert script.stat().st_mode & 0o111
    assert "set -euo pipefail" in script.read_text(encoding="utf-8")


def test_no_lock_with_addresses_is_tracked() -> None:
    forbidden = {"uv.lock", "package-lock.json", "poetry.lock", "Pipfile.lock", "pdm.lock"}
    assert [str(name) for name in tracked_files() if name.name in forbidden] == []
    pins = ROOT / "tests/conformance/node/npm-shrinkwrap.json"
    assert "://" not in pins.read_text(encoding="utf-8")


def test_no_promise_of_later_work_is_left_in_what_ships() -> None:
    words = ["TO" + "DO", "FIX" + "ME", "X" * 3, "not " + "implemented", "coming " + "soon"]
    places = ("src", "spec", "schemas", "docs", "README.md")
    left = []
    for name in tracked_files():
        if name.parts[0] in places:
            text = Path(ROOT, name).read_bytes().decode("utf-8", "replace")
            left += [f"{name}: {word}" for word in words if re.search(rf"\b{word}\b", text)]
    assert left == []
