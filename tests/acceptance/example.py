"""A shipped example: its upstream, its repairs, its artifact, its bundle and its verify script."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

from rra.artifact import load_artifact
from tests.acceptance.command import PATIENCE_SECONDS, Answer, rra
from tests.support.bundles import tree

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"

#: The `rra` command with the dice of a verification nailed down, for results that hang on seeds.
LOADED_DICE = """\
import sys
import types

from rra.api import _verify
from rra.cli.main import main

nonce = sys.argv.pop(1)
_verify.secrets = types.SimpleNamespace(token_hex=lambda size: nonce[: 2 * size])
main()
"""

#: Verdict, agreement and repeatability of each outcome of the wine example.
WINE_VERDICTS = {
    "table1/lda": ("reproduced", "pass", "pass"),
    "table1/qda": ("reproduced", "pass", "pass"),
    "table1/1nn": ("deviates_as_documented", "fail", "pass"),
}

Run = dict[str, Any]
"""A record as it is on disk."""


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
    def references(self) -> Path:
        """The values of earlier runs."""
        return self.folder / "references.yaml"

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

    def repair_runs(self) -> dict[str, tuple[Run | None, Run]]:
        """The record without and the record with each repair, by the name of the repair."""
        records = self.records()
        runs = {}
        for name, repair in load_artifact(self.artifact).repairs:
            assert repair.after is not None, name
            before = records[repair.before[:23]] if repair.before is not None else None
            runs[name] = (before, records[repair.after[:23]])
        return runs

    def named_tree(self) -> str:
        """The tree that the manifest says upstream is."""
        manifest = (self.artifact / "rra.yaml").read_text(encoding="utf-8")
        named = re.search(r"swhid: swh:1:dir:([0-9a-f]{40})\n", manifest)
        assert named is not None
        return named[1]

    def verify_bundle(self, scratch: Path, *options: str) -> Answer:
        """Pack the artifact; verify the bundle from an empty folder, with an empty state folder.

        Args:
            scratch: Folder for the bundle, the working folder and the state.
            options: More options of ``rra verify``.
        """
        bundle, digest = self._packed(scratch)
        argv = ("verify", bundle, "--references", str(self.references), "--json", *options)
        done = _as_a_stranger([sys.executable, "-m", "rra", *argv], scratch, os.environ["PATH"])
        answer = Answer(argv, done.returncode, done.stdout, done.stderr)
        return _of_this_bundle(answer, bundle, digest, scratch)

    def verify_bundle_by_script(
        self, scratch: Path, *, nonce: str = ""
    ) -> tuple[subprocess.CompletedProcess[str], Answer]:
        """Pack the artifact; have the shipped script verify the bundle, as `verify_bundle` does it.

        Args:
            scratch: Folder for the bundle, the working folder and the state.
            nonce: What to draw the seeds from; drawn anew, as for everybody, if it is empty.

        Returns:
            What the script did, and what `rra` answered to it.
        """
        bundle, digest = self._packed(scratch)
        (scratch / "dice.py").write_text(LOADED_DICE, encoding="utf-8")
        dice = [str(scratch / "dice.py"), nonce] if nonce else ["-m", "rra"]
        path = _command_before(
            scratch / "programs",
            f"""\
            echo "$@" >{scratch}/arguments
            {shlex.join([sys.executable, *dice])} "$@" >{scratch}/said; code=$?
            cat {scratch}/said; echo $code >{scratch}/code; exit $code
            """,
        )
        done = _as_a_stranger([str(self.folder / "verify"), bundle], scratch, path)
        argv, said, code = ((scratch / name).read_text() for name in ("arguments", "said", "code"))
        answer = Answer(tuple(argv.split()), int(code), said, done.stderr)
        return done, _of_this_bundle(answer, bundle, digest, scratch)

    def verify_as_said(self, scratch: Path, answer: Answer) -> subprocess.CompletedProcess[str]:
        """Run the shipped script on what lies beside it, with the answer of `rra` given already.

        Insists that `rra` would have verified the artifact without its evidence and its outputs.
        """
        (scratch / "answer").write_text(answer.out, encoding="utf-8")
        path = _command_before(
            scratch / "programs",
            f"""\
            echo "$@" >{scratch}/arguments
            cp -R -- "$2" {scratch}/verified
            cat {scratch}/answer; exit {answer.code}
            """,
        )
        done = _as_a_stranger([str(self.folder / "verify")], scratch, path)
        expected = self.copy(scratch / "expected")
        assert tree(scratch / "verified") == tree(expected)
        ours = (scratch / "arguments").read_text().split()
        assert (ours[0], ours[2:]) == (answer.argv[0], [*answer.argv[2:]])
        return done

    def _packed(self, scratch: Path) -> tuple[str, str]:
        bundle = f"oci-layout:{scratch / 'bundle'}"
        packed = rra("pack", self.artifact, bundle, "--json").expect(0).result
        return bundle, packed["digest"]

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


def _command_before(folder: Path, script: str) -> str:
    """Return a PATH on which `rra` is a shell script, and everything else is as before."""
    folder.mkdir(exist_ok=True)
    (folder / "rra").write_text(f"#!/bin/sh\n{textwrap.dedent(script)}", encoding="utf-8")
    (folder / "rra").chmod(0o755)
    return f"{folder}{os.pathsep}{os.environ['PATH']}"


def _as_a_stranger(argv: list[str], scratch: Path, path: str) -> subprocess.CompletedProcess[str]:
    """Run a program in an empty folder, with an empty state folder."""
    work, state = scratch / "work", scratch / "state"
    work.mkdir()
    state.mkdir()
    return subprocess.run(
        argv,
        env={**os.environ, "PATH": path, "RRA_STATE": str(state)},
        cwd=work,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=3 * PATIENCE_SECONDS,
        check=False,
    )


def _of_this_bundle(answer: Answer, bundle: str, digest: str, scratch: Path) -> Answer:
    """Insist that it was this bundle and no folder that lay around, and that nothing is left."""
    assert answer.result["artifact"].startswith(bundle), answer.said
    assert answer.result["artifact"].endswith(f"@{digest}"), answer.said
    assert Path(answer.result["directory"]).is_relative_to(scratch / "state")
    assert answer.result["reproduction"]["attempts"] == 1
    assert list((scratch / "work").iterdir()) == []
    return answer


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


def ended_well(run: Run) -> bool:
    """Whether a recorded run ended with 0 and made all that it declares."""
    return bool(run["termination"] == "ok" and not run["missing_outputs"])


def rounded(text: str, like: str) -> str:
    """A number with as many decimals as another one has; a list as it is."""
    if "," in text:
        return text
    return f"{float(text):.{len(like.partition('.')[2])}f}"


def outcomes(result: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The outcomes of a verification by name."""
    return {outcome["outcome"]: outcome for outcome in result["reproduction"]["outcomes"]}


def verdicts(result: dict[str, Any]) -> dict[str, tuple[str, str, str]]:
    """Verdict, agreement and repeatability of each outcome of a verification."""
    return {
        name: (outcome["verdict"], outcome["agreement"], outcome["repeatability"])
        for name, outcome in outcomes(result).items()
    }


def audited(result: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The values of an audit by name."""
    return {value["outcome"]: value for value in result["audit"]["values"]}
