"""The plan of a run: tasks, what they need, what decides them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rra._base import canonical
from rra.artifact import Artifact, load_artifact
from rra.errors import CorruptError, UsageError
from rra.launch.planning import make_plan, size_in_bytes
from rra.launch.tasks import Asked, Plan, read_plan
from tests.support.runs import write_artifact

SCRIPTS = {f"launchers/{name}.sh": "true\n" for name in ("train", "score", "table")}
LAUNCHERS: dict[str, dict[str, Any]] = {
    "train": {
        "seeds": {"values": [1, 2]},
        "parameters": {"depth": {"type": "integer", "default": 3}, "eq": {}},
        "matrix": {"depth": [3, 5]},
        "resources": {"cpu": 2, "memory": "1.5 GiB", "gpu": 1},
        "hint": {"wall": 60},
        "outputs": ["model"],
    },
    "score": {"needs": ["train"], "seeds": {"values": [1, 2]}},
    "table": {"needs": ["train", "score"], "deterministic": True},
}


def artifact(root: Path, **changes: Any) -> Artifact:
    return write_artifact(root, {**SCRIPTS, "data/x.csv": "1\n"}, launchers=LAUNCHERS, **changes)


def needs(plan: Plan) -> dict[str, dict[str, str]]:
    return {task.id: {need.task: need.place for need in task.needs} for task in plan}


def keys(plan: Plan) -> dict[str, str]:
    return {task.id: task.key for task in plan}


def test_without_wishes_each_launcher_runs_once_in_order(tmp_path: Path) -> None:
    plan = make_plan(artifact(tmp_path), Asked())
    assert needs(plan) == {
        "train": {},
        "score": {"train": "train"},
        "table": {"train": "train", "score": "score"},
    }
    train = plan.task("train")
    assert (train.seed, dict(train.parameters)) == (1, {"depth": 3})
    assert (train.share.cpu, train.share.memory, train.share.gpu) == (2, 3 * 2**29, 1)
    assert (train.hint, plan.task("score").share.cpu) == (60, 1)


@pytest.mark.clause("launcher/instance-reads-its-own")
def test_an_instance_reads_the_instance_with_its_own_values(tmp_path: Path) -> None:
    plan = make_plan(artifact(tmp_path), Asked(seeds=(4, 9)))
    assert needs(plan) == {
        "train/seed=4": {},
        "train/seed=9": {},
        "score/seed=4": {"train/seed=4": "train"},
        "score/seed=9": {"train/seed=9": "train"},
        "table": {
            "train/seed=4": "train/seed=4",
            "train/seed=9": "train/seed=9",
            "score/seed=4": "score/seed=4",
            "score/seed=9": "score/seed=9",
        },
    }
    assert [task.seed for task in plan] == [4, 9, 4, 9, None]


def test_what_has_fewer_axes_reads_every_instance_that_fits(tmp_path: Path) -> None:
    plan = make_plan(artifact(tmp_path), Asked(seeds=(4, 9), matrix=True, launchers=("score",)))
    assert [task.id for task in plan.of_launcher("train")] == [
        "train/depth=3,seed=4",
        "train/depth=3,seed=9",
        "train/depth=5,seed=4",
        "train/depth=5,seed=9",
    ]
    assert needs(plan)["score/seed=4"] == {
        "train/depth=3,seed=4": "train/depth=3,seed=4",
        "train/depth=5,seed=4": "train/depth=5,seed=4",
    }
    assert [task.parameters["depth"] for task in plan.of_launcher("train")] == [3, 3, 5, 5]


def test_one_seed_of_several_reads_where_all_would(tmp_path: Path) -> None:
    plan = make_plan(artifact(tmp_path), Asked(seeds=(4,)))
    assert needs(plan)["table"]["train/seed=4"] == "train/seed=4"


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (Asked(seed=1, seeds=(1,)), "do not go together"),
        (Asked(smoke=True, reduced=True), "not both"),
        (Asked(reduced=True), "no launcher of this run has `reduced`"),
        (Asked(launchers=("nowhere",)), "no launcher 'nowhere'"),
        (Asked(parameters={"dept": "3"}), "no launcher of this run has a parameter 'dept'"),
        (Asked(parameters={"depth": "deep"}), "must be of type integer"),
    ],
)
def test_what_applies_to_nothing_is_refused(tmp_path: Path, asked: Asked, said: str) -> None:
    with pytest.raises(UsageError, match=said) as caught:
        make_plan(artifact(tmp_path), asked)
    assert caught.value.hint


def test_b28_the_key_follows_what_decides_a_run_and_nothing_else(tmp_path: Path) -> None:
    root = artifact(tmp_path).root
    before = keys(make_plan(load_artifact(root), Asked()))
    assert keys(make_plan(load_artifact(root), Asked())) == before

    def changed(path: str, old: str, new: str) -> set[str]:
        """Return whose key an edit changes; the edit is undone."""
        text = (root / path).read_text()
        assert old in text or not old
        (root / path).write_text(text.replace(old, new) if old else text + new)
        now = keys(make_plan(load_artifact(root), Asked()))
        (root / path).write_text(text)
        return {name for name in now if now[name] != before[name]}

    everything = {"train", "score", "table"}
    assert changed("launchers/train.sh", "true", "true --fast") == everything
    assert changed("launchers/table.sh", "true", "true --fast") == {"table"}
    assert changed("rra.yaml", '"default": 3', '"default": 4') == everything
    assert changed("data/x.csv", "1", "2") == set()  # no data item is declared
    assert changed("rra.yaml", '"98.9"', '"97.0"') == set()
    assert changed("rra.yaml", '"wall": 60', '"wall": 61') == set()
    assert changed("rra.yaml", '"1.5 GiB"', '"2 GiB"') == set()
    assert changed("rra.yaml", '"model"', '"other"') == everything
    (root / "code" / "new.py").write_text("")
    assert keys(make_plan(load_artifact(root), Asked())).keys() == everything
    assert all(keys(make_plan(load_artifact(root), Asked()))[n] != before[n] for n in everything)


def test_b28_a_parameter_that_is_dropped_changes_the_key(tmp_path: Path) -> None:
    made = artifact(tmp_path)
    given = keys(make_plan(made, Asked(parameters={"eq": "1"})))
    dropped = keys(make_plan(made, Asked()))
    assert given["train"] != dropped["train"]
    assert given["table"] != dropped["table"]
    assert keys(make_plan(made, Asked(parameters={"depth": "3"}))) == dropped
    assert keys(make_plan(made, Asked(smoke=True)))["train/smoke"] != dropped["train"]


def test_b29_values_are_split_at_the_first_equals_sign_and_kept_whole(tmp_path: Path) -> None:
    plan = make_plan(artifact(tmp_path), Asked(parameters={"eq": "1 + 2 = 3"}))
    assert plan.task("train").parameters["eq"] == "1 + 2 = 3"
    seeded = make_plan(artifact(tmp_path), Asked(parameters={"eq": "$(touch p)"}, seeds=(0,)))
    assert seeded.tasks[0].id.startswith("train/eq=-touch-p-,seed=0-")


def test_reduced_runs_say_what_they_cannot_support(tmp_path: Path) -> None:
    short = {"parameters": {"depth": 1}, "cannot_support": ["table/accuracy"]}
    launchers = {**LAUNCHERS, "train": {**LAUNCHERS["train"], "reduced": short}}
    made = write_artifact(tmp_path, SCRIPTS, launchers=launchers)
    plan = make_plan(made, Asked(reduced=True))
    assert [task.id for task in plan] == ["train/reduced", "score/reduced", "table/reduced"]
    assert needs(plan)["score/reduced"] == {"train/reduced": "train"}
    assert plan.task("train/reduced").parameters["depth"] == 1
    assert plan.unsupported == ("table/accuracy",)
    assert make_plan(made, Asked()).unsupported == ()


def test_a_plan_is_read_as_it_was_written(tmp_path: Path) -> None:
    plan = make_plan(artifact(tmp_path / "a"), Asked(seeds=(4,), parameters={"eq": "é"}))
    plan.write(tmp_path / "plan.json")
    assert read_plan(tmp_path / "plan.json") == plan
    assert (tmp_path / "plan.json").read_bytes() == canonical.dumps(plan.to_json()) + b"\n"
    for broken in ("{}", "[]", "{", '{"type": "run-plan/v2"}'):
        (tmp_path / "plan.json").write_text(broken)
        with pytest.raises(CorruptError, match="is no plan of runs"):
            read_plan(tmp_path / "plan.json")


@pytest.mark.parametrize(
    ("size", "expected"),
    [(None, 0), (5, 5), ("512 MiB", 512 * 2**20), ("1.5GB", 15 * 10**8), ("7 B", 7)],
)
def test_sizes_are_bytes(size: int | str | None, expected: int) -> None:
    assert size_in_bytes(size) == expected


def test_a_value_that_is_not_utf_8_is_refused_by_its_name(tmp_path: Path) -> None:
    asked = Asked(parameters={"eq": b"\xff".decode("utf-8", "surrogateescape")})
    with pytest.raises(UsageError, match=r"--set eq=\\udcff is not UTF-8") as caught:
        make_plan(artifact(tmp_path), asked)
    assert caught.value.exit_code == 2
