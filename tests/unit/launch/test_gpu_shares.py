"""Cards of launchers that run at once, on a faked tree of devices: no card is here to be used."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rra import api
from rra.launch import run_launcher
from rra.launch.backends import local
from rra.launch.backends.local import capacity, free_gpus
from rra.sandbox import Gpu, View, best_sandbox, devices, gpus, selection, shown
from rra.sandbox.bubblewrap import BubblewrapSandbox
from tests.support.needs import needs
from tests.support.runs import request, write_artifact

OTHERS = ("nvidiactl", "nvidia-uvm")


def fake(place: Path, monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """Make devices of these names, and facts of the driver for the cards of NVIDIA."""
    for name in names:
        path = place / "dev" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
        if (number := name.removeprefix("nvidia")).isdigit():
            facts = place / "facts" / f"0000:0{number}:00.0" / "information"
            facts.parent.mkdir(parents=True)
            facts.write_text(
                f"Model: \t x\nGPU UUID:   \t GPU-{number * 4}\nDevice Minor: \t {number}\n"
            )
    monkeypatch.setattr(devices, "_DEV", place / "dev")
    monkeypatch.setattr(devices, "_NVIDIA", place / "facts")


@pytest.fixture
def four(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Gpu]:
    fake(tmp_path, monkeypatch, *(f"nvidia{n}" for n in range(4)), *OTHERS)
    return gpus({})


def test_cards_are_told_from_what_lies_beside_them(four: list[Gpu]) -> None:
    assert [(one.number, one.node.name, one.uuid) for one in four] == [
        (number, f"nvidia{number}", f"GPU-{str(number) * 4}") for number in range(4)
    ]


def test_cards_of_amd_are_its_render_nodes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake(tmp_path, monkeypatch, "dri/renderD129", "dri/renderD128", "dri/card0", "kfd")
    found = gpus({"CUDA_VISIBLE_DEVICES": "0"})
    assert [one.node.name for one in found] == ["renderD128", "renderD129"]
    assert selection(found[1:]) == {"ROCR_VISIBLE_DEVICES": "1"}
    assert [path.name for path in shown(found[1:])] == ["dri", "kfd"]
    assert gpus({"ROCR_VISIBLE_DEVICES": "1"}) == found[1:]


@pytest.mark.parametrize(
    ("words", "numbers"),
    [("2,0", [2, 0]), ("GPU-1111", [1]), ("", []), ("1,9,2", [1]), ("GPU-", []), (" 3 ", [3])],
)
def test_what_a_cluster_gives_a_job_is_what_there_is(
    four: list[Gpu], monkeypatch: pytest.MonkeyPatch, words: str, numbers: list[int]
) -> None:
    assert [one.number for one in gpus({"CUDA_VISIBLE_DEVICES": words})] == numbers
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", words)
    assert capacity().gpu == len(gpus()) or gpus() == four


def test_tasks_at_once_have_no_card_in_common(four: list[Gpu]) -> None:
    first = free_gpus(2, four, [])
    assert first == four[:2]
    second = free_gpus(1, four, [first, None])
    assert second == [four[2]]
    assert free_gpus(1, four, [first, second]) == [four[3]]
    assert free_gpus(1, four, [second]) == [four[0]], "what has ended is free again"
    assert free_gpus(0, four, [first]) is None
    assert free_gpus(1, [], []) is None


def test_a_launcher_is_shown_its_own_cards_and_what_all_need(four: list[Gpu]) -> None:
    assert [path.name for path in shown(four[1:3])] == [
        "nvidia-uvm",
        "nvidia1",
        "nvidia2",
        "nvidiactl",
    ]
    assert selection(four[1:3]) == {
        "CUDA_VISIBLE_DEVICES": "GPU-1111,GPU-2222",
        "CUDA_DEVICE_ORDER": "PCI_BUS_ID",
    }
    assert len(shown(None)) == 6
    assert selection(None) == {}


def test_cards_without_names_are_told_apart_by_number_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake(tmp_path, monkeypatch, "nvidia0", "nvidia1", *OTHERS)
    monkeypatch.setattr(devices, "_NVIDIA", tmp_path / "nowhere")
    own = gpus({})[1:]
    assert selection(own)["CUDA_VISIBLE_DEVICES"] == "1"
    assert len(shown(own)) == 4, "a number means the same only where all are shown"


def test_the_sandbox_binds_them(four: list[Gpu], tmp_path: Path) -> None:
    view = View(temporary=tmp_path, cwd=tmp_path, env={}, devices=shown(four[3:]))
    command = BubblewrapSandbox(Path("/usr/bin/bwrap")).wrap(["true"], view)
    places = [n + 1 for n, part in enumerate(command) if part == "--dev-bind"]
    assert [Path(command[place]).name for place in places] == [
        *("nvidia-uvm", "nvidia3", "nvidiactl"),
    ]


ASKS = 'echo "$CUDA_VISIBLE_DEVICES"; echo {} > "$RRA_OUTPUT_DIR/metrics.json"\n'


@pytest.mark.parametrize("sandbox", [pytest.param("bwrap", marks=needs("bwrap")), "none"])
def test_a_launcher_is_told_its_cards(four: list[Gpu], tmp_path: Path, sandbox: str) -> None:
    artifact = write_artifact(tmp_path / "a", {"launchers/main.sh": ASKS})
    for own, said in ((four[2:], "GPU-2222,GPU-3333\n"), (None, "\n")):
        done = run_launcher(request(artifact, sandbox=best_sandbox(sandbox), gpus=own))
        assert (done.outputs_dir / "stdout.txt").read_text() == said


def test_runs_at_once_are_given_cards_as_they_declare(
    four: list[Gpu], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[list[Gpu] | None] = []
    whole = local.free_gpus

    def noting(*arguments: Any) -> list[Gpu] | None:
        given.append(whole(*arguments))
        return given[-1]

    monkeypatch.setattr(local, "free_gpus", noting)
    resources = {"resources": {"gpu": 2}, "outputs": ["metrics.json"]}
    launchers = dict.fromkeys(("one", "two", "three"), resources)
    files = {f"launchers/{name}.sh": ASKS for name in launchers}
    selector = {"launcher": "one", "file": "metrics.json", "json": "/x"}
    outcome = {"type": "number", "reported": "1", "selector": selector}
    experiments = {"table": {"outcomes": {"x": outcome}}}
    artifact = write_artifact(tmp_path / "a", files, launchers=launchers, experiments=experiments)
    done = api.run(artifact.root, jobs=3, sandbox="none")
    assert [one.ok for one in done.runs] == [True] * 3
    printed = {
        (artifact.root / "outputs" / name / "stdout.txt").read_text().strip() for name in launchers
    }
    pairs = {"GPU-0000,GPU-1111", "GPU-2222,GPU-3333"}
    assert printed <= pairs
    assert len(given) == 3
