"""Launchers of commands that the repository's own package would install, really run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from rra.author import apply_init, plan_init
from tests.support.lookalikes import write

MAIN = (
    "import sys\nfrom . import words\n"
    "def main():\n    print(sys.argv[0], *sys.argv[1:], words.END, sep='|')\n"
    "    print(sys.stdin.read())\n    return 3 if 'fail' in sys.argv else 0\n"
)
SETUP = "from setuptools import setup\nsetup(name='t', {0})\n"
CONSOLE = "entry_points={'console_scripts': ['my-tool=uninstalled.app:main']}"
PYPROJECT = (
    "[project]\nname = 't'\nversion = '1'\n[project.scripts]\nmy-tool = 'uninstalled.app:main'\n"
)


def ran(folder: Path, files: dict[str, str]) -> tuple[str, subprocess.CompletedProcess[str]]:
    """Draft an artifact of a repository and run its one launcher by hand.

    The interpreter has neither the package nor anything else that is not of its own.
    """
    root = write(folder / "repository", files)
    apply_init(plan_init(root))
    (launcher,) = (root / "launchers").glob("*.sh")
    write(folder, {"bin/python": f'#!/bin/sh\nexec {sys.executable} -S "$@"\n'})
    (folder / "bin/python").chmod(0o755)
    done = subprocess.run(
        ["bash", str(launcher)],
        cwd=folder,
        env={"PATH": f"{folder}/bin:/usr/bin:/bin", "TMPDIR": str(folder)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    return launcher.read_text(), done


@pytest.mark.parametrize(
    ("line", "source", "package", "printed"),
    [
        ("my-tool 'a  b' ''", "setup.py", "uninstalled", "my-tool|a  b||."),
        ("my-tool 'a  b' --n 4", "pyproject.toml", "src/uninstalled", "my-tool|a  b|--n|4|."),
        ('echo "to <i>x</i> now" | my-tool c', "setup.py", "uninstalled", "my-tool|c|."),
        ("for x in a; do my-tool $x | cat; done", "setup.py", "uninstalled", "my-tool|a|."),
        ('python show.py "$(my-tool a </dev/null)"', "setup.py", "uninstalled", "my-tool|a|."),
        ("bash run.sh", "pyproject.toml", "src/uninstalled", "my-tool|of|run.sh|."),
    ],
)
def test_a_command_of_the_own_package_runs_without_being_installed(
    tmp_path: Path, line: str, source: str, package: str, printed: str
) -> None:
    files = {
        "README.md": f"# T\n\n```\n{line}\n```\n",
        source: SETUP.replace("{0}", CONSOLE) if source == "setup.py" else PYPROJECT,
        "run.sh": "#!/bin/bash\nmy-tool of run.sh </dev/null\n",
        f"{package}/__init__.py": "",
        f"{package}/app.py": MAIN,
        f"{package}/words.py": "END = '.'\n",
    }
    files = {name: text for name, text in files.items() if "run.sh" in line or name != "run.sh"}
    if "show.py" in line:
        files["show.py"] = "import sys\nprint(sys.argv[1])\n"
    text, done = ran(tmp_path, files)
    assert (done.returncode, done.stderr) == (0, "")
    fed = ["to <i>x</i> now"] if "echo" in line and "<i>" in line else []
    assert done.stdout.split("\n")[: 1 + len(fed)] == [printed, *fed]
    assert f"# README.md:4: {' '.join(line.split())}\n" in text
    assert f"# my-tool: {source} names it as uninstalled.app:main; " in text


def test_its_status_is_that_of_the_launcher(tmp_path: Path) -> None:
    _, done = ran(
        tmp_path,
        {
            "README.md": "# T\n\n```\nmy-tool fail\n```\n",
            "pyproject.toml": PYPROJECT,
            "uninstalled/__init__.py": "",
            "uninstalled/app.py": MAIN,
            "uninstalled/words.py": "END = '.'\n",
        },
    )
    assert done.returncode == 3


def test_a_script_that_is_installed_as_it_is(tmp_path: Path) -> None:
    text, done = ran(
        tmp_path,
        {
            "README.md": "# T\n\n```\nshow_it X.csv\n```\n",
            "setup.py": SETUP.replace("{0}", "scripts=['bin/show_it'], packages=['uninstalled']"),
            "bin/show_it": "#!/usr/bin/env python3\nfrom uninstalled import words\nimport sys\n"
            "print(sys.argv[1:], words.END)\n",
            "uninstalled/__init__.py": "",
            "uninstalled/words.py": "END = '.'\n",
        },
    )
    assert (done.returncode, done.stdout) == (0, "['X.csv'] .\n"), done.stderr
    assert "# show_it: setup.py names it as bin/show_it; " in text


def test_a_script_that_is_started_by_its_place_needs_no_function(tmp_path: Path) -> None:
    text, done = ran(
        tmp_path,
        {
            "README.md": "# T\n\n```\npython show.py | sort\n```\n",
            "setup.py": SETUP.replace("{0}", "scripts=['show.py']"),
            "show.py": "print('b')\nprint('a')\n",
        },
    )
    assert (done.returncode, done.stdout) == (0, "a\nb\n"), done.stderr
    assert "show.py()" not in text
