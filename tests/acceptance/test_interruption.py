"""A kill in the middle of any verb leaves nothing half-written, and the verb then completes."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.command import killed, rra

#: Each verb with the stage that it starts from and its arguments.
VERBS = {
    "init": ("found", ["--no-input"]),
    "lock": ("init", []),
    "run": ("lock", []),
    "guide": ("run", []),
    "verify": ("run", []),
    "audit": ("run", []),
    "report": ("run", ["--output", "report.html"]),
}
#: How many points of a verb are tried, evenly spread over its changes of the disk.
POINTS = 6


def documents(place: Path) -> dict[str, Any]:
    """Every document that `rra` wrote, read; an unreadable one fails the test."""
    from ruamel.yaml import YAML

    read: dict[str, Any] = {}
    for path in sorted(place.rglob("*")):
        name = path.relative_to(place).as_posix()
        if not path.is_file() or any(part.startswith(".") for part in Path(name).parts):
            continue
        if path.suffix == ".json" or name == "rra.lock":
            read[name] = json.loads(path.read_bytes())
        elif path.suffix in {".yaml", ".yml"}:
            read[name] = YAML(typ="safe").load(path.read_bytes())
            assert read[name] is not None, f"{name} is empty"
        elif path.suffix in {".html", ".sh", ".md"}:
            read[name] = path.read_text(encoding="utf-8")
            assert read[name].strip(), f"{name} is empty"
    return read


def check_whole(place: Path) -> None:
    """What stands under its final name is whole."""
    for name, document in documents(place).items():
        if name.startswith("evidence/") and name.endswith("record.json"):
            folder = Path(name).parent
            digest = hashlib.sha256((place / name).read_bytes().rstrip(b"\n")).hexdigest()
            assert folder.name == digest[:16], f"{name} is not the record its folder is named by"
            for stream in ("stdout", "stderr"):
                kept = (place / folder / f"{stream}.txt").read_bytes()
                assert "sha256:" + hashlib.sha256(kept).hexdigest() == document[stream]["sha256"]
        if name.endswith(".html"):
            assert document.rstrip().endswith("</html>"), f"{name} is cut off"


def start(verb: str, stages: dict[str, Path], place: Path) -> Path:
    """Copy the stage that a verb starts from, with something left for the verb to do."""
    shutil.copytree(stages[VERBS[verb][0]], place, symlinks=True)
    if verb == "guide":
        manifest = place / "rra.yaml"
        manifest.write_text(manifest.read_text().replace("row nearest mean", "the only row"))
    return place


@pytest.mark.slow
@pytest.mark.parametrize("verb", VERBS)
def test_a_killed_verb_leaves_whole_files_and_then_completes(
    verb: str, stages: dict[str, Path], tmp_path: Path
) -> None:
    arguments = VERBS[verb][1]
    state = Path(os.environ["RRA_STATE"])
    counts = tmp_path / "counts"
    whole = start(verb, stages, tmp_path / "whole")
    assert killed(whole, 0, counts, verb, *arguments) == 0
    changes = int(counts.read_text())
    kills = 0

    points = sorted({1 + (changes - 1) * i // (POINTS - 1) for i in range(POINTS)})
    assert len(points) > 1
    for point in points:
        place = start(verb, stages, tmp_path / f"at-{point}")

        code = killed(place, point, counts, verb, *arguments)

        assert code in {-9, 0}, f"{verb} killed at change {point} of {changes} ended with {code}"
        check_whole(place)
        check_whole(state)
        rra(verb, *arguments, cwd=place).expect(0)
        check_whole(place)
        check_whole(state)
        shutil.rmtree(place)
        kills += code == -9
    assert kills >= len(points) - 1
