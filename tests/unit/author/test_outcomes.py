"""Drafted selectors, tried on what scripts really print."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from rra.artifact import load_artifact
from rra.author import apply_init, plan_init
from rra.author.patterns import label_pattern, value_pattern
from rra.model import Manifest, Outcome, Selector
from rra.values.selectors import select, select_outcome
from tests.support.lookalikes import write


def readme(table: str, command: str = "python main.py") -> str:
    return f"# x\n\n## Results\n\n{table}\n\n## Usage\n\n```\n{command}\n```\n"


ACCURACY = readme("| method | accuracy (%) |\n|--|--|\n| ours | 95.3 |")


def draft(root: Path, files: dict[str, str | bytes]) -> Manifest:
    write(root, files)
    apply_init(plan_init(root))
    return load_artifact(root).manifest


def selected(root: Path, outcome: Outcome, printed: str) -> str:
    folder = root / "outputs" / outcome.selector.launcher
    write(folder, {"stdout.txt": printed})
    return str(select_outcome([folder], outcome).value)


def only(manifest: Manifest) -> Outcome:
    (outcome,) = manifest.outcomes().values()
    return outcome


@pytest.mark.parametrize(
    ("script", "printed", "value"),
    [
        ("print('accuracy:', 100 * x)", "accuracy: 95.3\n", "95.3"),
        ("print('LOO accuracy = %.1f %%' % x)", "LOO accuracy = 95.3 %\n", "95.3"),
        ("print('acc=%.3f' % np.mean(h))", "n=178\nacc=0.953\n", "95.3"),
        ("print(json.dumps(r)); r = 100 * x", '{"n": 3, "accuracy": 95.31}\n', "95.31"),
        ("print(100 * x)", "loading\n95.3\n", "95.3"),
        ("print(accuracy_score(y, p))", "0.9531\n", "95.31"),
        ("print(f'Accuracy {x:.2%}')", "Accuracy 95.31%\n", "95.31"),
        (
            "print('epoch', e, 'accuracy', 100 * x)",
            "epoch 1 accuracy 50.0\nepoch 2 accuracy 95.3\n",
            "95.3",
        ),
        ("print('accuracy', 100 * x)", "accuracy -1e1\n", "-10"),
    ],
)
def test_a_printed_value_is_found(tmp_path: Path, script: str, printed: str, value: str) -> None:
    manifest = draft(tmp_path, {"README.md": ACCURACY, "main.py": script + "\n"})
    outcome = only(manifest)
    assert (outcome.reported, outcome.unit) == ("95.3", "percent")
    assert outcome.location == "README.md:7, row ours, column accuracy (%)"
    assert Decimal(selected(tmp_path, outcome, printed)) == Decimal(value)


def test_rows_are_told_apart_by_their_labels(tmp_path: Path) -> None:
    table = (
        "| classifier | accuracy (%) |\n|--|--|\n| LDA | 98.9 |\n| QDA | 99.4 |\n"
        "| 1-NN (z-transformed) | 96.10 |"
    )
    manifest = draft(
        tmp_path, {"README.md": readme(table), "main.py": "for n in m: print(n, '%.1f %%' % x)\n"}
    )
    printed = "lda   98.9 %  (176 of 178)\nqda   99.4 %  (177 of 178)\n1nn   95.5 %  (170 of 178)\n"
    assert {
        name: (outcome.reported, selected(tmp_path, outcome, printed))
        for name, outcome in manifest.outcomes().items()
    } == {
        "results/lda": ("98.9", "98.9"),
        "results/qda": ("99.4", "99.4"),
        "results/1-nn-z-transformed": ("96.10", "95.5"),
    }


def test_columns_are_told_apart_by_position_or_by_name(tmp_path: Path) -> None:
    table = "| m | MSE | MAE |\n|--|--|--|\n| a | 0.10 | 0.25 |\n| b | 0.20 | 0.35 |"
    by_place = draft(tmp_path / "p", {"README.md": readme(table), "main.py": "print(n, x, y)\n"})
    values = [
        selected(tmp_path / "p", o, "a 0.11 0.26\nb 0.21 0.36\n")
        for o in by_place.outcomes().values()
    ]
    assert values == ["0.11", "0.26", "0.21", "0.36"]
    by_name = draft(
        tmp_path / "n", {"README.md": readme(table), "main.py": "print(n, 'mae', y, 'mse', x)\n"}
    )
    printed = "a mae 0.26 mse 0.11\nb mae 0.36 mse 0.21\n"
    assert [selected(tmp_path / "n", o, printed) for o in by_name.outcomes().values()] == [
        "0.11",
        "0.26",
        "0.21",
        "0.36",
    ]
    assert all(outcome.unit is None for outcome in by_name.outcomes().values())


def test_each_value_goes_to_the_launcher_that_names_it(tmp_path: Path) -> None:
    table = "| m | accuracy |\n|--|--|\n| lda | 0.9 |\n| qda | 0.8 |"
    commands = "python main.py --method lda\npython main.py --method qda"
    script = (
        "import argparse\np = argparse.ArgumentParser()\n"
        "p.add_argument('--method', default='lda')\nprint('accuracy', x)\n"
    )
    manifest = draft(tmp_path, {"README.md": readme(table, commands), "main.py": script})
    assert [o.selector.launcher for o in manifest.outcomes().values()] == ["main", "main-qda"]
    assert manifest.launchers["main-qda"].parameters["method"].default == "qda"


def test_a_table_that_only_files_hold_is_read_from_the_file(tmp_path: Path) -> None:
    table = "| set | slope |\n|--|--|\n| I | 0.500 |\n| II | 0.500 |"
    script = "with open('lines.csv', 'w') as out:\n    print('set,slope', file=out)\n"
    manifest = draft(tmp_path, {"README.md": readme(table), "main.py": script})
    outcome = manifest.outcomes()["results/ii"]
    assert manifest.launchers["main"].collect == {"lines.csv": "lines.csv"}
    assert outcome.selector.locators()["csv"] == {"where": {"set": "II"}, "column": "slope"}


def test_a_committed_copy_shows_where_a_value_stands(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "README.md": readme("| m | accuracy (%) |\n|--|--|\n| lda | 98.9 |\n| 1-NN | 96.1 |"),
        "main.py": "import json\njson.dump(r, open('out/m.json', 'w'))\nprint('done')\n",
        "out/m.json": '{"lda": {"accuracy": 0.98876}, "1nn": {"accuracy": 0.77}}',
    }
    manifest = draft(tmp_path, files)
    first, second = manifest.outcomes().values()
    assert (first.selector.json_pointer, first.selector.unit) == ("/lda/accuracy", "fraction")
    assert second.selector.json_pointer == "/1nn/accuracy"
    assert manifest.launchers["main"].collect == {"out/m.json": "out/m.json"}


def test_percent_without_a_sign_is_guessed_for_proportions_only(tmp_path: Path) -> None:
    table = "| m | accuracy | RMSE |\n|--|--|--|\n| a | 94 | 12.5 |"
    manifest = draft(
        tmp_path, {"README.md": readme(table), "main.py": "print('accuracy', a, 'rmse', b)\n"}
    )
    assert [o.unit for o in manifest.outcomes().values()] == ["percent", None]


def test_without_results_there_is_one_blank(tmp_path: Path) -> None:
    manifest = draft(tmp_path, {"main.py": "print(1)\n"})
    assert only(manifest).reported == "⟦fill: the number that the paper reports, such as 98.9⟧"
    assert selected(tmp_path, only(manifest), "loaded\nloss is 0.25 now\n") == "0.25"


def test_nan_is_selected_so_that_it_can_be_said(tmp_path: Path) -> None:
    write(tmp_path, {"stdout.txt": "accuracy: nan\nbanana finance\n"})
    pattern = value_pattern([label_pattern("accuracy")], bare=True)
    selector = Selector(launcher="a", file="stdout.txt", regex=pattern, pick="last")
    assert select(tmp_path, selector).text == "nan"
