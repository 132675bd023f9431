"""A shipped example: its upstream repository, its repairs, its artifact and its verify script."""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.acceptance.command import PATIENCE_SECONDS

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@dataclasses.dataclass(frozen=True, slots=True)
class Example:
    """One folder of ``examples/``.

    Attributes:
        name: Name of the folder.
    """

    name: str

    @property
    def folder(self) -> Path:
        """Where it is."""
        return EXAMPLES / self.name

    @property
    def artifact(self) -> Path:
        """The artifact as shipped; copy it before anything is done to it."""
        return self.folder / "artifact"

    @property
    def patches(self) -> list[Path]:
        """The patches of the repairs in their order."""
        return sorted((self.artifact / "guide" / "repairs").glob("*.patch"))

    def copy(self, target: Path) -> Path:
        """Copy the artifact as a stranger gets it, without evidence and outputs."""
        ignore = shutil.ignore_patterns("evidence", "outputs")
        return Path(shutil.copytree(self.artifact, target, ignore=ignore))

    def repaired(self, target: Path, *, without: str = "") -> Path:
        """Copy upstream with all repairs, or with all but one."""
        shutil.copytree(self.folder / "upstream", target)
        for patch in self.patches:
            if not without or not patch.name.startswith(without):
                git("apply", patch, cwd=target)
        return target

    def without(self, repair: str, target: Path) -> Path:
        """Copy the artifact with code that lacks one repair."""
        place = self.copy(target)
        shutil.rmtree(place / "code")
        self.repaired(place / "code", without=repair)
        return place

    def records(self) -> dict[str, dict[str, Any]]:
        """The shipped records by the start of their digest, as their folders are called."""
        paths = (self.artifact / "evidence").glob("*/*/record.json")
        return {f"sha256:{path.parent.name}": json.loads(path.read_bytes()) for path in paths}

    def verify(self, cwd: Path) -> subprocess.CompletedProcess[str]:
        """Run the shipped verify script from some other folder."""
        tools = Path(sys.executable).parent
        return subprocess.run(
            [self.folder / "verify"],
            env={**os.environ, "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}"},
            cwd=cwd,
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
            check=False,
        )


def git(*argv: str | Path, cwd: Path) -> str:
    """Run git away from the settings of whoever runs the tests, and from any repository around."""
    outside = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    env = {
        **outside,
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_SYSTEM": os.devnull,
        "GIT_CEILING_DIRECTORIES": str(cwd.parent),
    }
    done = subprocess.run(
        ["git", *map(str, argv)], cwd=cwd, env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def tree_of(folder: Path, scratch: Path) -> str:
    """The number that git gives a folder as a tree."""
    shutil.copytree(folder, scratch)
    git("init", "-q", ".", cwd=scratch)
    git("add", "--all", "--force", cwd=scratch)
    return git("write-tree", cwd=scratch)


def outcomes(result: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The outcomes of a verification by name."""
    return {outcome["outcome"]: outcome for outcome in result["reproduction"]["outcomes"]}


def audited(result: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The values of an audit by name."""
    return {value["outcome"]: value for value in result["audit"]["values"]}
