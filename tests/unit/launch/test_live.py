"""What is read of runs that still go on: little, seldom, and nothing that could hold it up."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from rra._base import clock
from rra.launch.live import Growing, LiveMetrics
from rra.values.selectors import select
from tests.support.runs import write_artifact


class Watching:
    """A run whose files the test writes, and a clock that it sets."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        artifact = write_artifact(folder / "a", {}, experiments={"table": {"outcomes": OUTCOMES}})
        self.place = Growing(folder / "outputs", folder / "streams")
        self.place.outputs.mkdir()
        self.place.streams.mkdir()
        self.metrics = LiveMetrics(artifact)
        self.now = 100.0
        monkeypatch.setattr(clock, "monotonic", lambda: self.now)

    def ask(self) -> dict[str, str]:
        return dict(self.metrics.of("main", "main", self.place))

    def later(self) -> dict[str, str]:
        """Let a look begin, end, and return what is known then."""
        self.now += 2.5
        self.ask()
        look = self.metrics._runs["main"].look
        assert look is not None
        look.result(30)
        return self.ask()


def outcome(file: str, kind: str = "number", **locator: Any) -> dict[str, Any]:
    return {
        "type": kind,
        "reported": "1",
        "selector": {"launcher": "main", "file": file, **locator},
    }


OUTCOMES = {
    "accuracy": outcome("deep/metrics.json", json="/accuracy"),
    "loss": outcome("stdout.txt", regex="loss (?P<value>[0-9.]+)", pick="last"),
    "name": outcome("deep/metrics.json", "category", json="/name"),
}


@pytest.fixture
def watching(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Watching:
    return Watching(tmp_path, monkeypatch)


def write(path: Path, text: str) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)


def test_values_appear_as_files_grow(watching: Watching) -> None:
    assert watching.later() == {}
    write(watching.place.streams / "stdout.txt", "loss 3.5\n")
    assert watching.later() == {"loss": "3.5"}
    write(watching.place.streams / "stdout.txt", "loss 3.5\nloss 2.25\n")
    file = watching.place.outputs / "deep/metrics.json"
    write(file, '{"accuracy": 0.')
    assert watching.later() == {"loss": "2.25"}, "half a document has no value yet"
    write(file, '{"accuracy": 0.50, "name": "x"}')
    assert watching.later() == {"accuracy": "0.50", "loss": "2.25"}


def test_looks_are_seldom_and_only_at_what_changed(
    watching: Watching, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(watching.place.outputs / "deep/metrics.json", '{"accuracy": 1}')
    read: list[str] = []

    def counted(folder: Path, selector: Any) -> Any:
        read.append(selector.file)
        return select(folder, selector)

    monkeypatch.setattr("rra.launch.live.select", counted)
    assert watching.later() == {"accuracy": "1"}
    for _ in range(5):
        watching.ask()  # at the same moment
    watching.later()
    watching.later()
    assert read == ["deep/metrics.json"]


@pytest.mark.parametrize("kind", ["pipe", "link", "folder", "large"])
def test_what_is_no_plain_small_file_is_left_alone(
    watching: Watching, tmp_path: Path, kind: str
) -> None:
    file = watching.place.outputs / "deep/metrics.json"
    file.parent.mkdir()
    write(tmp_path / "elsewhere.json", '{"accuracy": 7}')
    if kind == "pipe":
        os.mkfifo(file)
    elif kind == "link":
        file.symlink_to(tmp_path / "elsewhere.json")
    elif kind == "folder":
        file.mkdir()
    else:
        file.write_text(json.dumps({"accuracy": 7, "more": "x" * (1 << 20)}))
    assert watching.later() == {}


def test_a_run_that_has_not_begun_and_one_without_outcomes_have_none(watching: Watching) -> None:
    assert watching.metrics.of("main", "main", None) == ()
    assert watching.metrics.of("other", "other", watching.place) == ()
    watching.metrics.close()
