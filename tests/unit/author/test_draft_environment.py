"""What init drafts for repositories that wheels do not make run: no Python 3 that is not there."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from rra import api
from rra.artifact import load_artifact
from rra.errors import LockError
from rra.model import Environment

RENV = json.dumps(
    {
        "R": {"Version": "4.2.1"},
        "Packages": {"jsonlite": {"Package": "jsonlite", "Version": "1.8.0"}},
    }
)
PRINTS = "import sys\nfor x in xrange(3):\n    print 'accuracy', x\n"
README = "# Study\n\n```\n{}\n```\n"


def draft(root: Path, files: dict[str, str]) -> tuple[Environment, tuple[str, ...], str]:
    """Draft, and return the environment, the notes and the text of the manifest."""
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    done = api.init(root)
    artifact = load_artifact(root)
    return artifact.manifest.environments["cpu"], done.notes, (root / "rra.yaml").read_text()


def test_r_with_a_lock_of_renv_is_described_by_it(tmp_path: Path) -> None:
    env, notes, text = draft(
        tmp_path,
        {
            "analysis.R": "library(jsonlite)\ncat('p-value:', 0.03, '\\n')\n",
            "renv.lock": RENV,
            "README.md": README.format("Rscript analysis.R"),
        },
    )
    assert (env.kind, env.lock, env.python) == ("renv", "renv.lock", None)
    assert "renv.lock names, version 4.2.1: jsonlite 1.8.0" in text
    assert any("described by renv.lock" in note for note in notes)
    (one,) = api.env_check(tmp_path).environments
    assert (one.kind, one.packages, one.consistent) == ("renv", 1, True)
    launcher = (tmp_path / "launchers/analysis.sh").read_text()
    assert "command -v Rscript" in launcher
    assert "command -v python" not in launcher
    readme = (tmp_path / "environment/cpu/README.md").read_text()
    assert readme.startswith("# Environment cpu\n\nKind `renv`: R. Launchers need `Rscript`")


@pytest.mark.parametrize(
    ("files", "language", "packages"),
    [
        (
            {
                "DESCRIPTION": "Package: study\nImports: dplyr (>= 1.0), ggplot2\n",
                "run.R": "cat(1)\n" * 50,
                "plot.py": "print(1)\n",
            },
            "R",
            ["r-base-core"],
        ),
        (
            {"Project.toml": '[deps]\nJSON = "x"\n', "main.jl": "println(1)\n" * 50},
            "Julia",
            ["julia"],
        ),
    ],
)
def test_r_and_julia_are_drafted_as_containers(
    tmp_path: Path, files: dict[str, str], language: str, packages: list[str]
) -> None:
    env, notes, text = draft(tmp_path, files)
    assert (env.kind, env.lock) == ("container", "environment/cpu/Containerfile")
    assert env.system_packages == {"debian": packages}
    assert any(note.startswith(f"the code is {language}: say in rra.yaml") for note in notes)
    assert f"{language} is built inside containers" in text
    assert any("says nothing that a container could be built on" in note for note in notes)


def test_matlab_is_what_the_machine_has(tmp_path: Path) -> None:
    env, notes, text = draft(tmp_path, {"main.m": "function main()\ndisp(1);\nend\n"})
    assert (env.kind, env.lock, env.python) == ("system", None, None)
    assert "MATLAB is licensed software" in text
    assert any("MATLAB, which nothing here installs" in note for note in notes)


def test_a_python_2_repository_is_said_to_be_one(tmp_path: Path) -> None:
    files = {"main.py": PRINTS, "README.md": README.format("python main.py")}
    env, notes, text = draft(tmp_path, files)
    assert (env.kind, env.python) == ("container", "2.7")
    (note,) = (note for note in notes if note.startswith("could not build: Python 2"))
    assert "main.py:3" in note
    assert "base_image or rootfs" in note
    assert "# could not build: Python 2" in text
    manifest = tmp_path / "rra.yaml"
    plain = text.replace("kind: container", "kind: pylock").replace("Containerfile", "pylock.toml")
    manifest.write_text(plain)
    with pytest.raises(LockError, match="could not build: Python 2") as caught:
        api.lock(tmp_path)
    assert "kind: container" in caught.value.hint


@pytest.mark.parametrize(
    "files",
    [
        {"main.py": "print('x')\n", "helper.R": "cat(1)\n" * 99, "README.md": "`python main.py`\n"},
        {"main.py": "print('x')\n" * 9, "old.R": "cat(1)\n"},
        {"setup.py": "from setuptools import setup\nsetup(python_requires='>=2.7')\n"},
        {"a.cpp": "int main() { return 0; }\n", "Makefile": "a: a.cpp\n\tc++ a.cpp -o a\n"},
    ],
)
def test_python_3_stays_an_environment_of_wheels(tmp_path: Path, files: dict[str, str]) -> None:
    env, _, _ = draft(tmp_path, files)
    assert env.kind == "pylock"
    assert env.python is not None
    assert env.python.startswith("3.")


def test_a_launcher_of_another_language_says_what_it_lacks(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    for name in ("bash", "dirname", "mkdir", "rm"):
        (tmp_path / "bin" / name).symlink_to(Path("/bin") / name)
    root = tmp_path / "study"
    draft(root, {"run.jl": "println(1)\n", "README.md": README.format("julia run.jl")})
    done = subprocess.run(
        ["/bin/bash", root / "launchers/run.sh"],
        env={"PATH": str(tmp_path / "bin")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 69
    assert "there is no julia on PATH" in done.stderr
