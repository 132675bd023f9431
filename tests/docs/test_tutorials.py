"""The tutorials do what they say: their commands run, and what they show is what is printed.

Every block of ``sh`` is run, in order, in one empty folder. ``<!-- exit: N -->`` before a block
says how it ends. Each line of a ``text`` block is found in what the block before it printed, in
that order; ``…`` stands for anything.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.support.source import ROOT

FENCE = re.compile(
    r"(?:<!-- exit: (?P<exit>\d+) -->\n+)?^```(?P<kind>sh|text)\n(?P<body>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)


@dataclass
class Block:
    """Commands of a tutorial, how they end, and the lines that it shows of their output."""

    commands: str
    exit_code: int
    shown: list[str] = field(default_factory=list)


def blocks(page: Path) -> list[Block]:
    found: list[Block] = []
    for match in FENCE.finditer(page.read_text(encoding="utf-8")):
        if match["kind"] == "sh":
            found.append(Block(match["body"], int(match["exit"] or 0)))
        else:
            assert found, "a tutorial shows output before any command"
            found[-1].shown += match["body"].splitlines()
    return found


def assert_shown(lines: list[str], output: str) -> None:
    """Check that the lines occur in the output, in their order; spaces count as one."""
    position = 0
    flat = re.sub(r"\s+", " ", output)
    for line in lines:
        words = [re.escape(re.sub(r"\s+", " ", part.strip())) for part in line.split("…")]
        found = re.compile(".*?".join(words)).search(flat, position)
        assert found is not None, f"not printed: {line!r}\n--- printed:\n{output}"
        position = found.end()


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The surroundings of somebody who has just installed rra."""
    home = tmp_path_factory.mktemp("home")
    (home / "gitconfig").write_text("[user]\nname = A Reader\nemail = reader@example.org\n")
    bin_folder = str(Path(sys.executable).parent)
    kept = {name: value for name, value in os.environ.items() if not name.startswith("RRA_")}
    kept.pop("VIRTUAL_ENV", None)
    return kept | {
        "GIT_CONFIG_GLOBAL": str(home / "gitconfig"),
        "PATH": f"{bin_folder}{os.pathsep}{os.environ['PATH']}",
        "RRA_CACHE": str(home / "cache"),
        "RRA_STATE": str(home / "state"),
        "NO_COLOR": "1",
    }


@pytest.mark.slow
def test_the_author_and_then_the_reader_get_what_the_tutorials_show(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    for name in ("author", "reader"):
        for block in blocks(ROOT / "docs" / "tutorial" / f"{name}.md"):
            run = subprocess.run(
                ["bash", "-euo", "pipefail", "-c", block.commands],
                cwd=tmp_path,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                check=False,
            )
            assert run.returncode == block.exit_code, block.commands + run.stdout
            assert_shown(block.shown, run.stdout)
