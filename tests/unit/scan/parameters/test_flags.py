from __future__ import annotations

import shlex
from pathlib import Path, PurePosixPath

import pytest

from rra.scan import arguments_for, given_values, scan_repository, unknown_flags, words_after
from rra.scan.parameters import Modules, accepted_flags, console_scripts
from tests.support.command_lines import command_line

PARSER = """
import argparse
p = argparse.ArgumentParser()
p.add_argument("--learning-rate", type=float, default=0.1)
p.add_argument("-n", "--num", type=int)
p.add_argument("-x", action="store_true")
p.add_argument("--layers", nargs="*")
p.add_argument("--amp", action=argparse.BooleanOptionalAction)
s = p.add_subparsers()
s.add_parser("fit").add_argument("--epochs", type=int)
s.add_parser("eval").add_argument("data")
p.parse_args()
"""


@pytest.mark.parametrize(
    ("words", "unknown"),
    [
        ("--learning-rate 0.2 -n 3 -x fit --epochs 2", ()),
        ("--learn 0.2", ()),
        ("-n5 -xn3 --num=4 -h --no-amp", ()),
        ("--layers 1 -2 3", ()),
        ("--learning_rate 0.2", ("--learning_rate",)),
        ("eval --epochs 3 d", ("--epochs",)),
        ("fit --epochs 3 --gpu 0 -z", ("--gpu", "-z")),
        ("-- --gpu", ()),
    ],
)
def test_unknown_flags_of_argparse(words: str, unknown: tuple[str, ...]) -> None:
    assert unknown_flags(command_line({"main.py": PARSER}), shlex.split(words)) == unknown


def test_nothing_is_called_unknown_where_more_may_be_accepted() -> None:
    text = "import argparse\np = argparse.ArgumentParser()\np.parse_known_args()\n"
    found = command_line({"main.py": text})
    assert unknown_flags(found, ["--gpu"]) == ()
    assert "parse_known_args" in accepted_flags(found).why


@pytest.mark.parametrize(
    ("words", "unknown"),
    [
        ("seed=3 model.width=2 +new=1 ++any.thing=2 ~model hydra.run.dir=x -m", ()),
        ("model.depth=2 sed=3 --multi", ("model.depth", "sed", "--multi")),
        ("optimizer={name:sgd}", ()),
    ],
)
def test_unknown_overrides_of_hydra(words: str, unknown: tuple[str, ...]) -> None:
    files = {
        "main.py": "import hydra\n@hydra.main(config_path='.', config_name='c')\n"
        "def main(cfg): pass\nmain()\n",
        "c.yaml": "seed: 1\nmodel:\n  width: 3\noptimizer:\n  name: adam\n",
    }
    assert unknown_flags(command_line(files), words.split()) == unknown


def test_flags_of_absl_and_fire_have_more_than_one_spelling() -> None:
    text = "from absl import flags\nflags.DEFINE_bool('debug', False, '')\n"
    found = command_line({"main.py": text})
    assert unknown_flags(found, ["-debug", "--nodebug", "--alsologtostderr", "--x"]) == ("--x",)
    text = "import fire\ndef main(data_dir, lr=1): pass\nfire.Fire(main)\n"
    found = command_line({"main.py": text})
    assert unknown_flags(found, ["--data-dir=x", "-l", "2", "-lr", "3", "--x=1"]) == ("--x",)


def test_what_a_command_gives() -> None:
    found = command_line({"main.py": PARSER})
    words = [
        "--learning-rate=0.2",
        "--layers",
        "64",
        "32",
        "-x",
        "fit",
        "--epochs",
        "5",
        "--no-amp",
    ]
    assert given_values(found, words) == {
        "learning_rate": "0.2",
        "layers": "64 32",
        "x": "true",
        "epochs": "5",
        "amp": "false",
    }
    assert given_values(found, ["eval", "d.csv"]) == {"data": "d.csv"}
    assert [a.name for a in arguments_for(found, ["eval"])][-1] == "data"


@pytest.mark.parametrize(
    ("argv", "script", "workdir", "words"),
    [
        ("python src/train.py --a 1", "src/train.py", ".", ("--a", "1")),
        ("python train.py --a", "src/train.py", "src", ("--a",)),
        ("python -m pkg.train --a", "src/pkg/train.py", ".", ("--a",)),
        ("python -m pkg --a", "pkg/__main__.py", ".", ("--a",)),
        ("torchrun --nproc 2 train.py --a", "train.py", ".", ("--a",)),
        ("python other.py --a", "train.py", ".", ()),
    ],
)
def test_the_words_behind_the_script(
    argv: str, script: str, workdir: str, words: tuple[str, ...]
) -> None:
    assert words_after(argv.split(), PurePosixPath(script), workdir) == words


def test_documented_flags_are_checked_against_the_script(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text(PARSER)
    (tmp_path / "README.md").write_text(
        "```sh\npython main.py --num 3 fit --epochs 2\npython main.py --gpu 0 [--seed N]\n```\n"
    )
    scan = scan_repository(tmp_path)
    found = [(p.path, p.line, p.message) for p in scan.problems if p.clause == "scan/unknown-flag"]
    assert [(path, line) for path, line, _ in found] == [("README.md", 3)]
    assert "gives --gpu, which main.py does not accept" in found[0][2]
    (entry,) = scan.entry_points
    assert entry.parser == "argparse"
    assert entry.command_line.subcommands == ("fit", "eval")


CONSOLE = {
    "pyproject.toml": '[project.scripts]\none = "pkg.cli:main"\n'
    '[tool.poetry.scripts]\ntwo = {callable = "pkg.cli:Tool.run"}\n',
    "setup.cfg": "[options.entry_points]\nconsole_scripts =\n    three = pkg.cli:app [extra]\n",
    "setup.py": "import os\nos.remove('pyproject.toml')\nfrom setuptools import setup\n"
    "EP = {'console_scripts': ['four = gone.cli:main']}\n"
    "setup(entry_points=EP, scripts=['bin/five'])\n",
    "bin/five": "#!/usr/bin/env python\nimport argparse\np = argparse.ArgumentParser()\n"
    "p.add_argument('--e')\np.parse_args()\n",
    "src/pkg/__init__.py": "",
    "src/pkg/cli.py": "import argparse, click\ndef main():\n    p = argparse.ArgumentParser()\n"
    "    p.add_argument('--a')\n    p.parse_args()\nclass Tool:\n    @staticmethod\n"
    "    def run():\n        p = argparse.ArgumentParser()\n        p.add_argument('--b')\n"
    "        p.parse_args()\n@click.command()\n@click.option('--c')\ndef app(c): pass\n",
}


def test_console_scripts(tmp_path: Path) -> None:
    texts = {PurePosixPath(name): text for name, text in CONSOLE.items()}
    found = {s.name: s for s in console_scripts(Modules(texts, texts.get))}
    flags = {n: [f for a in s.command_line.arguments for f in a.flags] for n, s in found.items()}
    assert flags == {"one": ["--a"], "two": ["--b"], "three": ["--c"], "four": [], "five": ["--e"]}
    assert str(found["one"].path) == "src/pkg/cli.py"
    assert found["three"].command_line.parser == "click"
    assert found["four"].path is None
    assert str(found["five"].source) == "setup.py"
    for name, text in CONSOLE.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert {s.name for s in scan_repository(tmp_path).console_scripts} == set(found)
    assert (tmp_path / "pyproject.toml").is_file()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("pyproject.toml", "[project.scripts\n"),
        ("pyproject.toml", "[project]\nscripts = 3\n"),
        ("setup.cfg", "no section\n"),
        ("setup.py", "setup(entry_points=read())\n"),
        ("setup.py", "def f(:\n"),
    ],
)
def test_broken_descriptions_of_packages_give_no_scripts(name: str, text: str) -> None:
    texts = {PurePosixPath(name): text}
    assert console_scripts(Modules(texts, texts.get)) == ()
