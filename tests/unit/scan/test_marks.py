from __future__ import annotations

import pytest

from rra.scan.marks import filled, is_marked, mark


@pytest.mark.parametrize(
    ("pattern", "values", "place"),
    [
        ("{=out}", {"out": "figure2.pdf"}, "figure2.pdf"),
        ("{=log_dir}/regret.npy", {"log_dir": "/tmp/b/"}, "/tmp/b/regret.npy"),
        ("{=out:runs}/x.csv", {}, "runs/x.csv"),
        ("{=out}/x.csv", {}, "*/x.csv"),
        ("data/{=name}", {"name": "adult.csv"}, "data/adult.csv"),
        ("data/{=name}/train.csv", {"name": "adult"}, "data/*/train.csv"),
        ("logits/{=dataset}.pt", {"dataset": "cifar10"}, "logits/*.pt"),
        ("{=env}_{=seed}.json", {"env": "Hopper", "seed": "3"}, "*_*.json"),
        ("{=1}", {"1": "samples.npz"}, "samples.npz"),
        ("{=data.root}/a.csv", {"root": "x"}, "x/a.csv"),
        ("data/a.csv", {"out": "b"}, "data/a.csv"),
    ],
)
def test_values_of_a_command_line_are_put_in(
    pattern: str, values: dict[str, str], place: str
) -> None:
    assert filled(pattern, values) == place


def test_marks_keep_a_plain_default_only() -> None:
    assert mark("out", "runs/a") == "{=out:runs/a}"
    assert mark("out", "runs/*") == "{=out}"
    assert is_marked("a/{=x}")
    assert not is_marked("a/{here}")
