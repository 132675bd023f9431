"""Other libraries; what typer, absl, fire, tyro and hydra list for these scripts was looked up."""

from __future__ import annotations

from pathlib import Path

import pytest

from rra.scan import CommandLine
from tests.support.command_lines import as_the_library_says, as_the_scan_says, command_line

CLICK = {
    "main.py": """
import click
from shared import common

@click.group()
@click.option("--debug/--no-debug", default=False)
@click.pass_context
def cli(ctx, debug):
    pass

@cli.command("fit")
@click.argument("data", type=click.Path())
@click.option("-e", "--epochs", "n_epochs", default=10, show_default=True)
@click.option("--model", type=click.Choice(["a", "b"]), default="a")
@click.option("--shout", is_flag=True, default=False)
@click.option("--tag", multiple=True)
@click.option("-v", count=True, default=0)
@click.option("--pos", nargs=2, type=float)
@common
def fit_model(**kw):
    pass

@click.command()
@click.argument("files", nargs=-1, required=True)
@click.argument("out", required=False)
@click.option("--lr", type=click.FloatRange(0, 1), required=True)
def score_all(files, out, lr):
    pass

@cli.group()
def data():
    pass

@data.command()
@click.option("--fast", is_flag=True, default=False)
def fetch(fast):
    pass

cli.add_command(score_all)

if __name__ == "__main__":
    cli()
""",
    "shared.py": """
import click
OPTIONS = [click.option("--seed", default=0, type=int, help="Seed"), click.option("--dev")]
def common(f):
    for option in reversed(OPTIONS):
        f = option(f)
    return f
""",
}


def test_the_parameters_are_those_that_click_itself_lists(tmp_path: Path) -> None:
    found = command_line(CLICK)
    assert found.parser == "click"
    assert as_the_scan_says(found) == as_the_library_says("click", CLICK, tmp_path)
    assert found.subcommands == ("fit", "data", "data fetch", "score-all")
    assert found.complete


def facts(found: CommandLine) -> list[tuple[object, ...]]:
    return [
        (f"{a.subcommand} {a.name}".strip(), a.flags, a.type, a.default_text, a.nargs, a.required)
        for a in found.arguments
    ]


def test_typer() -> None:
    text = """
import typer
from typing import Annotated, Optional, List
from enum import Enum
class Net(str, Enum):
    simple = "simple"
    conv = "conv"
app = typer.Typer()
@app.command()
def train(context: typer.Context, data: str, epochs: int = 10,
          lr: float = typer.Option(0.1, "--lr", "-l", help="rate"),
          net: Net = Net.simple, use_amp: bool = False, tags: Optional[List[str]] = None,
          out: Annotated[str, typer.Option(help="where")] = "runs", need: int = typer.Option(...)):
    pass
@app.command("eval")
def evaluate(paths: List[str], name: Annotated[Optional[str], typer.Argument()] = None):
    pass
if __name__ == "__main__":
    app()
"""
    found = command_line({"main.py": text})
    assert found.parser == "typer"
    assert found.complete
    assert facts(found) == [
        ("train data", (), "string", "", "", True),
        ("train epochs", ("--epochs",), "integer", "10", "", False),
        ("train lr", ("--lr", "-l"), "number", "0.1", "", False),
        ("train net", ("--net",), "string", "simple", "", False),
        ("train use_amp", ("--use-amp", "--no-use-amp"), "boolean", "False", "0", False),
        ("train tags", ("--tags",), "string", "", "", False),
        ("train out", ("--out",), "string", "runs", "", False),
        ("train need", ("--need",), "integer", "", "", True),
        ("eval paths", (), "string", "", "+", True),
        ("eval name", (), "string", "", "", False),
    ]
    assert found.arguments[3].choices == ("simple", "conv")


def test_typer_with_one_command_has_no_subcommand() -> None:
    one = "import typer\napp = typer.Typer()\n@app.command()\ndef go(n: int = 2): pass\napp()\n"
    run = "import typer\ndef main(n: int = 2): pass\ntyper.run(main)\n"
    for text in (one, run):
        found = command_line({"main.py": text})
        assert found.subcommands == ()
        assert facts(found) == [("n", ("--n",), "integer", "2", "", False)]


def test_absl_shares_flags_between_modules() -> None:
    text = """
from absl import app, flags
import more
flags.DEFINE_string("data", None, "where")
flags.DEFINE_integer("epochs", 3, "how many", short_name="e")
flags.DEFINE_bool("debug", False, "talk")
flags.DEFINE_enum("net", "a", ["a", "b"], "which")
flags.mark_flag_as_required("data")
def main(_): pass
if __name__ == "__main__":
    app.run(main)
"""
    found = command_line(
        {"main.py": text, "more.py": "from absl import flags\nflags.DEFINE_float('lr', .1, '')\n"}
    )
    assert found.parser == "absl"
    assert facts(found) == [
        ("lr", ("--lr",), "number", "0.1", "", False),
        ("data", ("--data",), "string", "", "", True),
        ("epochs", ("--epochs", "-e"), "integer", "3", "", False),
        ("debug", ("--debug", "--nodebug"), "boolean", "False", "0", False),
        ("net", ("--net",), "string", "a", "", False),
    ]
    old = "import tensorflow as tf\ntf.app.flags.DEFINE_string('dir', 'x', 'help')\ntf.app.run()\n"
    assert facts(command_line({"main.py": old})) == [("dir", ("--dir",), "string", "x", "", False)]


def test_fire() -> None:
    text = """
import fire
class Runner:
    def __init__(self, seed=0): self.seed = seed
    def train(self, data_dir, lr=0.1, verbose=False): pass
    def _hidden(self, x): pass
if __name__ == "__main__":
    fire.Fire(Runner)
"""
    found = command_line({"main.py": text})
    assert found.parser == "fire"
    assert found.subcommands == ("train",)
    assert facts(found) == [
        ("seed", ("--seed",), "integer", "0", "", False),
        ("train data_dir", ("--data_dir", "--data-dir"), "string", "", "", True),
        ("train lr", ("--lr",), "number", "0.1", "", False),
        ("train verbose", ("--verbose",), "boolean", "False", "?", False),
    ]
    text = "import fire\ndef main(n=1, **options): pass\nfire.Fire(main)\n"
    assert "**options" in command_line({"main.py": text}).why


def test_tyro() -> None:
    text = """
import dataclasses, tyro
from typing import Literal
@dataclasses.dataclass
class Opt:
    lr: float = 1e-3
    weight_decay: float = 0.0
@dataclasses.dataclass
class Args:
    data_dir: str
    opt: Opt = dataclasses.field(default_factory=Opt)
    net: Literal["a", "b"] = "a"
    use_amp: bool = False
if __name__ == "__main__":
    args = tyro.cli(Args)
"""
    found = command_line({"main.py": text})
    assert found.parser == "tyro"
    names = [(a.name, a.flags[0], a.type, a.default_text, a.required) for a in found.arguments]
    assert names == [
        ("data_dir", "--data-dir", "string", "", True),
        ("opt.lr", "--opt.lr", "number", "0.001", False),
        ("opt.weight_decay", "--opt.weight-decay", "number", "0.0", False),
        ("net", "--net", "string", "a", False),
        ("use_amp", "--use-amp", "boolean", "False", False),
    ]
    assert "--no-use-amp" in found.arguments[-1].flags


def test_dataclasses_of_transformers() -> None:
    text = """
from dataclasses import dataclass, field
from typing import Optional
from transformers import HfArgumentParser, TrainingArguments
@dataclass
class Base:
    seed: int = 1
@dataclass
class ModelArgs(Base):
    model_name: str = field(metadata={"help": "Model", "aliases": ["-m"]})
    use_fast: bool = field(default=True)
    cache_dir: Optional[str] = None
    tags: list[str] = field(default_factory=list)
def main():
    parser = HfArgumentParser((ModelArgs,%s))
    (model,) = parser.parse_args_into_dataclasses()
if __name__ == "__main__":
    main()
"""
    found = command_line({"main.py": text % ""})
    assert found.parser == "dataclass"
    assert found.complete
    assert facts(found) == [
        ("seed", ("--seed",), "integer", "1", "", False),
        ("model_name", ("--model_name", "--model-name", "-m"), "string", "", "", True),
        (
            "use_fast",
            ("--use_fast", "--use-fast", "--no_use_fast", "--no-use-fast"),
            "boolean",
            "True",
            "?",
            False,
        ),
        ("cache_dir", ("--cache_dir", "--cache-dir"), "string", "", "", False),
        ("tags", ("--tags",), "string", "[]", "+", False),
    ]
    assert found.arguments[1].help == "Model"
    assert "TrainingArguments" in command_line({"main.py": text % "TrainingArguments"}).why


HYDRA = {
    "train.py": """
import hydra
@hydra.main(version_base=None, config_path="conf", config_name="config")
def main(cfg):
    print(cfg)
if __name__ == "__main__":
    main()
""",
    "conf/config.yaml": "defaults:\n  - model: resnet\n  - data: mnist\n"
    "  - override hydra/job_logging: disabled\n  - _self_\nseed: 1\nlr: ???\n"
    "optimizer:\n  name: adam\n  betas: [0.9, 0.99]\n",
    "conf/model/resnet.yaml": "defaults:\n  - encoder: small\nwidth: 64\n",
    "conf/model/mlp.yaml": "width: 8\n",
    "conf/model/encoder/small.yaml": "dim: 3\n",
    "conf/data/mnist.yaml": "# @package _global_\ndata_dir: d\nbatch: 32\n",
}


def test_hydra_puts_its_configuration_together() -> None:
    found = command_line(HYDRA, "train.py")
    assert found.parser == "hydra"
    assert found.complete
    values = {a.name: (a.default_text, f"{a.path}:{a.line}") for a in found.arguments}
    assert values == {
        "model": ("resnet", "conf/config.yaml:1"),
        "model/encoder": ("small", "conf/model/resnet.yaml:1"),
        "model.encoder.dim": ("3", "conf/model/encoder/small.yaml:1"),
        "model.width": ("64", "conf/model/resnet.yaml:3"),
        "data": ("mnist", "conf/config.yaml:1"),
        "data_dir": ("d", "conf/data/mnist.yaml:2"),
        "batch": ("32", "conf/data/mnist.yaml:3"),
        "seed": ("1", "conf/config.yaml:6"),
        "lr": ("", "conf/config.yaml:7"),
        "optimizer.name": ("adam", "conf/config.yaml:9"),
        "optimizer.betas": ("[0.9, 0.99]", "conf/config.yaml:10"),
    }
    by_name = {a.name: a for a in found.arguments}
    assert by_name["model"].choices == ("mlp", "resnet")
    assert by_name["lr"].required
    assert by_name["seed"].flags == ("seed=",)


def test_hydra_says_which_configuration_is_missing() -> None:
    files = {k: v for k, v in HYDRA.items() if k != "conf/data/mnist.yaml"}
    assert "conf/data/mnist" in command_line(files, "train.py").why


def test_hydra_with_a_configuration_that_code_registers() -> None:
    text = """
from dataclasses import dataclass
import hydra
from hydra.core.config_store import ConfigStore
@dataclass
class Db:
    port: int = 3306
@dataclass
class Config:
    db: Db
    seed: int = 1
cs = ConfigStore.instance()
cs.store(name="config", node=Config)
@hydra.main(version_base=None, config_name="config")
def main(cfg): pass
main()
"""
    found = command_line({"main.py": text})
    assert [(a.name, a.default) for a in found.arguments] == [("db.port", 3306), ("seed", 1)]


def test_sys_argv() -> None:
    text = """
import sys
infile = sys.argv[1]
n = int(sys.argv[2]) if len(sys.argv) > 2 else 10
verbose = "--verbose" in sys.argv
"""
    found = command_line({"main.py": text})
    assert found.parser == "sys.argv"
    assert not found.complete
    assert [(a.name, a.flags, a.type, a.default, a.required) for a in found.arguments] == [
        ("infile", (), "string", None, True),
        ("n", (), "integer", 10, False),
        ("verbose", ("--verbose",), "boolean", False, False),
    ]
    found = command_line({"main.py": "import sys\n_, a, b = sys.argv\n"})
    assert [a.name for a in found.arguments] == ["a", "b"]


def test_getopt_and_docopt() -> None:
    text = "import getopt, sys\ngetopt.getopt(sys.argv[1:], 'ho:v', ['help', 'output='])\n"
    found = command_line({"main.py": text})
    assert found.parser == "getopt"
    assert [(a.flags, a.takes_value) for a in found.arguments] == [
        (("-h",), False),
        (("-o",), True),
        (("-v",), False),
        (("--help",), False),
        (("--output",), True),
    ]
    text = '"""Train.\n\nUsage:\n  do.py <data> [--lr=<rate>] [options]\n\nOptions:\n'
    text += "  -h --help      Show this.\n  --epochs=<n>   Number [default: 10].\n"
    text += '  -v --verbose   Talk\n"""\nfrom docopt import docopt\nargs = docopt(__doc__)\n'
    found = command_line({"main.py": text})
    assert [(a.flags, a.default_text, a.takes_value) for a in found.arguments] == [
        (("--epochs",), "10", True),
        (("-v", "--verbose"), "False", False),
        (("--lr",), "", True),
        ((), "", True),
    ]
    assert found.arguments[-1].name == "data"


@pytest.mark.parametrize("text", ["print(1)\n", "def f(:\n", "", "import click\nprint(click)\n"])
def test_no_command_line(text: str) -> None:
    found = command_line({"main.py": text})
    assert (found.parser, found.arguments, found.complete) == ("", (), False)
    assert found.why
