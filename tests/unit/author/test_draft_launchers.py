"""What the drafted launchers and settings say of repositories that outsiders tried."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from rra.author.draft import Draft, make_draft
from rra.author.guide_text import settings_text
from rra.environment.detect import is_pinned
from rra.scan import scan_repository
from tests.support.lookalikes import write


def drafted(folder: Path, files: dict[str, str]) -> Draft:
    scan = scan_repository(write(folder / "repository", files))
    return make_draft(scan, name="x", nested=False)


def collected(draft: Draft) -> dict[str, list[str]]:
    return {one.id: sorted(pattern for pattern, _ in one.collect) for one in draft.launchers}


def test_tee_of_one_command_is_no_output_of_the_others(tmp_path: Path) -> None:
    draft = drafted(
        tmp_path,
        {
            "README.md": (
                "```\npython train.py --depth 3 | tee log.txt\n```\n\n"
                "```\npython train.py --depth 9\n```\n\n```\npython plot.py > table.txt\n```\n"
            ),
            "train.py": "open('model.csv', 'w')\n",
            "plot.py": "open('fig.csv', 'w')\n",
        },
    )
    found = collected(draft)
    assert [sorted(one) for one in found.values() if "log.txt" in one] == [["log.txt", "model.csv"]]
    assert sorted(map(tuple, found.values())) == [
        ("fig.csv", "table.txt"),
        ("log.txt", "model.csv"),
        ("model.csv",),
    ]


def test_what_two_commands_write_is_collected_of_both(tmp_path: Path) -> None:
    draft = drafted(
        tmp_path,
        {
            "README.md": (
                "```\npython run.py --lr 0.1\npython run.py --lr 0.2\n"
                "python run.py --lr 0.3 --out other/c.json\n```\n"
            ),
            "run.py": (
                "import argparse\np = argparse.ArgumentParser()\n"
                "p.add_argument('--lr', type=float)\np.add_argument('--out', default='d/b.json')\n"
                "a = p.parse_args()\nopen(f'results/{a.lr}.json', 'w')\nopen(a.out, 'w')\n"
            ),
        },
    )
    assert list(collected(draft).values()) == [
        ["d/b.json", "results/*.json"],
        ["d/b.json", "results/*.json"],
        ["other/c.json", "results/*.json"],
    ]


def test_commands_with_braced_words_to_be_replaced_are_notes_and_echoed_tags_are_not(
    tmp_path: Path,
) -> None:
    braced = "python apply.py -c {codes_file} < {test}.L1"
    echo = 'echo "to <country>Chad</country>" | python apply.py --keep "<country>\\w*</country>"'
    draft = drafted(
        tmp_path,
        {
            "README.md": f"```\n{braced}\n{echo}\n```\n",
            "apply.py": "import sys\nprint(sys.stdin.read(), sys.argv)\n",
        },
    )
    (launcher,) = draft.launchers
    assert launcher.steps[0].argv == ("bash", "-c", echo)
    assert [note for note in draft.notes if "replaced" in note] == [
        f"README.md:2: `{braced}` has words to be replaced: {{codes_file}}, {{test}}"
    ]


SUBCOMMANDS = (
    "import argparse\np = argparse.ArgumentParser()\ns = p.add_subparsers(dest='what')\n"
    "a = s.add_parser('train')\na.add_argument('--epochs', type=int, default=9)\n"
    "b = s.add_parser('score')\nb.add_argument('--split', default='test')\n"
    "def main():\n    p.parse_args()\n\nif __name__ == '__main__':\n    main()\n"
)


@pytest.mark.parametrize(
    "command", ["python tool/cli.py train", "tool train", "python -m tool.cli train"]
)
def test_settings_of_one_subcommand_do_not_reach_another(tmp_path: Path, command: str) -> None:
    draft = drafted(
        tmp_path,
        {
            "README.md": f"```\n{command} --epochs 3\n```\n",
            "tool/__init__.py": "",
            "tool/cli.py": SUBCOMMANDS,
            "pyproject.toml": (
                "[project]\nname = 'tool'\nversion = '1'\n"
                "[project.scripts]\ntool = 'tool.cli:main'\n"
            ),
        },
    )
    text = settings_text(draft)
    assert "epochs:" in text
    assert "split:" not in text


@pytest.mark.parametrize(
    ("heading", "title"),
    [
        ("my_long_name for data", "my_long_name for data"),
        (":no_entry_sign: Old **code** of `fit_all`", "Old code of fit_all"),
        ("A _fine_ [paper](https://e.org) <sup>1</sup>", "A fine paper 1"),
        ("a*b*c and 2 * 3 * 4", "a*b*c and 2 * 3 * 4"),
        ("Table of Contents\n# A Library of Factors", ""),
        ("**Installation:**", ""),
        ("Usage of colour", "Usage of colour"),
    ],
)
def test_titles_keep_the_underscores_of_names(tmp_path: Path, heading: str, title: str) -> None:
    assert drafted(tmp_path, {"README.md": f"# {heading}\n", "a.py": "print(1)\n"}).title == title


def test_a_notebook_that_cannot_run_is_said_to_be_broken(tmp_path: Path) -> None:
    cell: dict[str, object] = {
        "cell_type": "code",
        "metadata": {},
        "outputs": [],
        "execution_count": None,
    }
    book = {
        "nbformat": 4,
        "nbformat_minor": 4,
        "metadata": {},
        "cells": [{**cell, "source": ["for x in\n"]}],
    }
    draft = drafted(tmp_path, {"fit.ipynb": json.dumps(book)})
    (launcher,) = draft.launchers
    assert any("cannot run as it is: line 1" in note for note in launcher.notes)


@pytest.mark.parametrize(
    ("text", "pinned"),
    [
        ("a==1.0", 1),
        ("a==1.*", 0),
        ("a>=1", 0),
        ("a", 0),
        ("a @ https://e.org/a.whl", 1),
        ("a===1", 1),
    ],
)
def test_pins_are_counted_in_one_way(text: str, pinned: int) -> None:
    assert is_pinned(Requirement(text)) == pinned


def installed(readme: str) -> dict[str, str]:
    """A repository whose own package installs a command."""
    return {
        "README.md": readme,
        "pyproject.toml": (
            '[project]\nname = "mytool"\nversion = "1.0"\n'
            '[project.scripts]\nmytool = "mytool.cli:main"\n'
        ),
        "mytool/__init__.py": "",
        "mytool/cli.py": "def main():\n    print(1)\n",
    }


def commands_of(draft: Draft) -> list[str]:
    return [one.text for one in draft.launchers]


def test_own_commands_that_running_text_only_names_are_no_launchers(tmp_path: Path) -> None:
    said = "The command `mytool fit` fits; `mytool --help` says more, `mytool plot` draws.\n\n"
    block = "```\nmytool fit --data x.csv\nmytool --version\n```\n"
    draft = drafted(tmp_path / "both", installed(said + block))
    assert commands_of(draft) == ["mytool fit --data x.csv"]
    notes = [note for note in draft.notes if "running text" in note]
    assert [note.split(" is ")[0] for note in notes] == [
        "README.md:1: `mytool fit`",
        "README.md:1: `mytool plot`",
    ]
    # Where nothing else is given, what the text names is what there is.
    alone = drafted(tmp_path / "alone", installed(said))
    assert commands_of(alone) == ["mytool fit", "mytool plot"]
    # What starts a file by its name is told to be typed, in running text too.
    files = installed("Type `python run.py --a 1`.\n\n```\nmytool fit\n```\n")
    typed = drafted(tmp_path / "typed", {**files, "run.py": "print(1)\n"})
    assert commands_of(typed) == ["python run.py --a 1", "mytool fit"]
