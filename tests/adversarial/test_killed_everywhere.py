"""``kill -9`` of everything at 200 points of ``rra run``: no evidence is lost, and it goes on.

Half of the points kill `rra` with all that it has started, as a power cut does; the others kill
`rra` alone. Half of them are before or behind something that is done to files, flushes to the disk
and renames included; the others are random moments.
"""

from __future__ import annotations

import random
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rra import api
from rra.evidence import EvidenceStore, StoredRecord
from rra.launch.workspace import JOURNAL
from tests.support.kill_points import deadly, scratch
from tests.support.killing import Killer
from tests.support.runs import path_without, write_artifact

POINTS, SEED = 200, 20261130
SEEDED: dict[str, Any] = {"seeds": {}, "outputs": ["x"]}
LAUNCHERS: dict[str, dict[str, Any]] = {
    "base": {"outputs": ["x"]},
    "first": {"needs": ["base"], **SEEDED},
}
#: The first thing that a launcher does is to change something that lasts, beside the artifact.
BEGINS = 'echo "$RRA_NONCE {name} ${{RRA_SEED-none}}" >> "${{RRA_DATA_DIR%/data}}.began"\n'
SCRIPTS = {
    "base": 'echo half > "$RRA_OUTPUT_DIR/x"; echo 5 > "$RRA_OUTPUT_DIR/x"\n',
    "first": (
        'echo half > "$RRA_OUTPUT_DIR/x"\n'
        'echo $((RRA_SEED + $(< "$RRA_OUTPUTS_ROOT/base/x"))) > "$RRA_OUTPUT_DIR/x"\n'
    ),
}
MADE = {
    "base/x": "5\n",
    "first/seed=3/x": "8\n",
    "first/seed=4/x": "9\n",
}
SELECTOR = {
    "launcher": "first",
    "file": "x",
    "regex": "(?P<value>[0-9]+)",
    "runs": {"seeds": [3, 4]},
    "aggregate": "mean",
}
OUTCOME = {"type": "number", "reported": "8.5", "selector": SELECTOR}
ASKED: dict[str, Any] = {"sandbox": "none", "seeds": "3,4", "jobs": 2}
AGAIN: dict[str, Any] = {"sandbox": "none", "jobs": 2, "resume": True}


def study(folder: Path) -> Path:
    files = {
        f"launchers/{name}.sh": BEGINS.format(name=name) + script
        for name, script in SCRIPTS.items()
    }
    experiments: Any = {"table": {"outcomes": {"mean": OUTCOME}}}
    return write_artifact(folder / "a", files, launchers=LAUNCHERS, experiments=experiments).root


def outputs(root: Path) -> dict[str, str]:
    """Return what is published, whole or not."""
    found = [*root.glob("outputs/[a-z]*/x"), *root.glob("outputs/[a-z]*/seed=*/x")]
    return {str(path.relative_to(root / "outputs")): path.read_text() for path in found}


def points(events: int, seconds: float) -> Iterator[dict[str, Any]]:
    """Yield where to kill, without end, in the four ways in turn."""
    choice = random.Random(SEED)
    while True:
        for everything in (True, False):
            yield {"event": choice.randint(1, events), "everything": everything}
            yield {"after": choice.uniform(0.001, 0.9 * seconds), "everything": everything}


def checked(root: Path, point: object) -> list[StoredRecord]:
    """Return the records of an artifact, of which each is intact; what was cut off has one."""
    found = api.evidence_verify(root)
    assert found.problems == (), (point, found.problems)
    assert all(one.intact for one in found.examined), point
    assert list(root.glob(f"outputs/*/{JOURNAL}")) == [], point
    return EvidenceStore(root / "evidence").records()


def began(root: Path) -> Counter[tuple[str, str, str]]:
    """Return how often each run began, as the launchers themselves wrote it down."""
    log = root.with_name(f"{root.name}.began")
    lines = log.read_text().splitlines() if log.exists() else []
    return Counter((nonce, name, seed) for nonce, name, seed in map(str.split, lines))


def recorded(stored: list[StoredRecord]) -> Counter[tuple[str, str, str]]:
    records = [one.record for one in stored]
    seeds = ["none" if one.seed.declared is None else str(one.seed.declared) for one in records]
    return Counter(
        (one.nonce, one.launcher.id, seed) for one, seed in zip(records, seeds, strict=True)
    )


def go_on(killer: Killer, place: Path, point: object) -> None:
    """Resume a run that was killed; hold what it gives against one that was not."""
    resumed = bool(list(place.glob("outputs/.rra-runs/*/plan.json")))
    done = killer.call("run", str(place), options=AGAIN if resumed else ASKED)
    assert done["ok"], (point, done)
    assert outputs(place) == MADE, point
    stored = checked(place, point)
    well = Counter(
        f"{one.record.launcher.id} {one.record.instance}" for one in stored if one.record.ok
    )
    assert len(well) == len(MADE), point
    assert set(well.values()) == {1}, "what had ended well did not run again"
    assert began(place) <= recorded(stored), point


@pytest.mark.slow
@pytest.mark.clause("execution-record/cut-off")
@pytest.mark.clause("execution-record/atomic")
def test_everything_is_killed_at_200_points() -> None:
    print(f"seed {SEED}")  # noqa: T201 - shown where it fails
    killed: Counter[str] = Counter()
    with scratch() as folder:
        (folder / "bin").mkdir()
        path = path_without(folder / "bin", "bwrap", "strace")
        whole = study(folder)
        untouched = shutil.copytree(whole, folder / "untouched")
        with deadly(folder, PATH=path) as killer:
            first = killer.call("run", str(whole), options=ASKED, warms=True)
            assert first["ok"], first
            assert outputs(whole) == MADE
            measured = shutil.copytree(untouched, folder / "measured")
            done = killer.call("run", str(measured), options=ASKED)
            events, seconds = done["events"], done["seconds"]
            for number, point in enumerate(points(events, seconds)):
                place = shutil.copytree(untouched, folder / f"at-{number}")
                done = killer.call("run", str(place), options=ASKED, **point)
                assert done["killed"] or done["ok"], (point, done)
                stored = checked(place, point)
                assert began(place) <= recorded(stored), "what began is recorded"
                assert outputs(place).items() <= MADE.items(), "nothing is half-written"
                if done["killed"]:
                    kind = "event" if "event" in point else "moment"
                    killed[f"{kind} {'everything' if point['everything'] else 'rra'}"] += 1
                    killed["cut off"] += sum(not one.record.ok for one in stored)
                    go_on(killer, place, point)
                shutil.rmtree(place)
                if sum(killed[name] for name in killed if name != "cut off") == POINTS:
                    break
    cut_off = killed.pop("cut off")
    print(f"{killed} killed; {cut_off} runs were recorded as cut off")  # noqa: T201
    assert sum(killed.values()) == POINTS
    assert min(killed.values()) > POINTS // 8
    assert cut_off > POINTS // 8
