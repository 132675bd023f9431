from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.command_lines import as_the_library_says, as_the_scan_says, command_line

EVERYTHING = {
    "main.py": """
import argparse
from pathlib import Path
from options import add_common, MODELS, DEFAULT_LR

def str2bool(v):
    return v.lower() in ("1", "true")

def get_parser():
    base = argparse.ArgumentParser(add_help=False)
    base.add_argument("--seed", type=int, default=0, help="random  seed")
    parser = argparse.ArgumentParser(parents=[base])
    parser.add_argument("data", type=Path)
    parser.add_argument("--lr", "--learning-rate", type=float, default=DEFAULT_LR)
    parser.add_argument("--model", choices=list(MODELS), default="mlp")
    parser.add_argument("--layers", nargs="+", type=int, default=[64, 64])
    group = parser.add_argument_group("output")
    group.add_argument("--out", required=True, dest="folder")
    either = group.add_mutually_exclusive_group()
    either.add_argument("-q", "--quiet", action="store_true")
    either.add_argument("-v", "--verbose", action="count", default=0)
    parser.add_argument("--amp", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--norm", type=str2bool, default=False)
    parser.add_argument("--keep", action="store_false")
    parser.add_argument("--level", action="store_const", const=3)
    parser.add_argument("--version", action="version", version="1")
    add_common(parser)
    for split in ("train", "test"):
        parser.add_argument(f"--{split}-size", type=int, default=100)
    for name, value in {"beta1": 0.9, "beta2": 0.999}.items():
        parser.add_argument("--" + name, type=type(value), default=value)
    sub = parser.add_subparsers(dest="command", required=True)
    fit = sub.add_parser("fit", aliases=["train"], parents=[base])
    fit.add_argument("--epochs", type=int, default=2 * 5)
    evaluate = sub.add_parser("eval")
    evaluate.add_argument("checkpoint", nargs="?")
    evaluate.set_defaults(checkpoint="best.pt")
    parser.set_defaults(seed=7)
    return parser

if __name__ == "__main__":
    print(get_parser().parse_args())
""",
    "options.py": """
MODELS = {"mlp": 1, "cnn": 2}
DEFAULT_LR = 1e-3
def add_common(p):
    p.add_argument("--device", default="cpu")
    p.add_argument("--tag", action="append")
    p.add_argument("--pair", nargs=2, type=float)
""",
}
CLASSES = {
    "main.py": """
from options.train import TrainOptions
class Shouting(TrainOptions):
    def initialize(self, parser):
        parser = super().initialize(parser)
        parser.add_argument("--loud", action="store_true")
        return parser
if __name__ == "__main__":
    opt = Shouting().parse()
""",
    "options/__init__.py": "",
    "options/base.py": """
import argparse
class BaseOptions:
    is_train = False
    def __init__(self):
        self.initialized = False
    def initialize(self, parser):
        parser.add_argument("--dataroot", required=True)
        parser.add_argument("--name", type=str, default="experiment")
        self.initialized = True
        return parser
    def gather(self):
        if not self.initialized:
            parser = argparse.ArgumentParser()
            parser = self.initialize(parser)
        if self.is_train:
            parser.add_argument("--n-epochs", type=int, default=100)
        else:
            parser.add_argument("--n-samples", type=int, default=5)
        return parser.parse_args()
    def parse(self):
        self.opt = self.gather()
        return self.opt
""",
    "options/train.py": """
from .base import BaseOptions
class TrainOptions(BaseOptions):
    is_train = True
    def initialize(self, parser):
        parser = BaseOptions.initialize(self, parser)
        parser.add_argument("--lr", type=float, default=2e-4)
        return parser
""",
}
EXTENDED = {
    "main.py": """
import argparse
class Parser(argparse.ArgumentParser):
    def __init__(self):
        super().__init__(description="own")
        self.add_argument("--a", type=int, default=-1)
    def parse(self):
        return self.parse_args()
p = Parser()
p.add_argument("--b", default=None)
p.parse()
"""
}


@pytest.mark.parametrize("files", [EVERYTHING, CLASSES, EXTENDED], ids=["all", "classes", "own"])
def test_the_arguments_are_those_that_argparse_itself_lists(
    files: dict[str, str], tmp_path: Path
) -> None:
    found = command_line(files)
    assert found.parser == "argparse"
    assert as_the_scan_says(found) == as_the_library_says("argparse", files, tmp_path)
    assert found.complete
    assert found.why == ""


def test_types_help_and_places() -> None:
    found = {(a.subcommand, a.name): a for a in command_line(EVERYTHING).arguments}
    types = {name: a.type for (words, name), a in found.items() if not words}
    assert types["seed"] == types["train_size"] == types["verbose"] == "integer"
    assert types["lr"] == types["beta1"] == types["pair"] == "number"
    assert types["norm"] == types["quiet"] == types["amp"] == "boolean"
    assert types["data"] == types["device"] == "string"
    assert found["", "seed"].help == "random seed"
    assert found["", "layers"].default_text == "[64, 64]"
    place = found["", "device"]
    assert (str(place.path), place.line) == ("options.py", 5)


def script(*lines: str) -> dict[str, str]:
    head = ["import argparse, os", "p = argparse.ArgumentParser()"]
    return {"main.py": "\n".join([*head, *lines])}


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        (("a, rest = p.parse_known_args()",), "parse_known_args"),
        (("p.add_argument(os.environ['X'])", "p.parse_args()"), "main.py:3"),
        (("import lib", "lib.add_flags(p)", "p.parse_args()"), "lib.add_flags"),
        (("for n in os.listdir():", "    p.add_argument('--' + n)", "p.parse_args()"), "main.py:4"),
        (("p = argparse.ArgumentParser(parents=[other()])", "p.parse_args()"), "other()"),
        (("p = argparse.ArgumentParser(fromfile_prefix_chars='@')", "p.parse_args()"), "files"),
        (("p.add_argument('--a')",), "not seen to read"),
    ],
)
def test_it_is_said_why_other_flags_may_be_accepted(lines: tuple[str, ...], why: str) -> None:
    found = command_line(script(*lines))
    assert not found.complete
    assert why in found.why


def test_a_parser_of_words_of_its_own_is_no_command_line() -> None:
    found = command_line(script("p.add_argument('--a')", "p.parse_args(['--a', '1'])"))
    assert not found.complete


def test_a_default_that_only_a_run_knows_is_kept_as_text() -> None:
    lines = "p.add_argument('--out', default=os.path.expanduser('~/x'))", "p.parse_args()"
    (argument,) = command_line(script(*lines)).arguments
    assert argument.default is None
    assert argument.default_text == "os.path.expanduser('~/x')"


def test_a_module_with_a_parser_of_its_own_lends_nothing() -> None:
    tool = "import argparse\ndef f(): pass\nif __name__ == '__main__':\n p = argparse."
    tool += "ArgumentParser()\n p.add_argument('--theirs')\n p.parse_args()\n"
    files = {"main.py": "import tool, argparse\np = argparse.ArgumentParser()\n", "tool.py": tool}
    files["main.py"] += "p.add_argument('--mine')\np.parse_args()\n"
    assert [a.name for a in command_line(files).arguments] == ["mine"]
    assert [a.name for a in command_line(files, "tool.py").arguments] == ["theirs"]


def test_functions_that_nothing_calls_are_read_when_nothing_else_is_found() -> None:
    text = "import argparse\ndef main(argv=None):\n    p = argparse.ArgumentParser()\n"
    text += "    p.add_argument('--a', type=int, default=3)\n    return p.parse_args(argv)\n"
    (argument,) = command_line({"main.py": text}).arguments
    assert (argument.name, argument.type, argument.default) == ("a", "integer", 3)


def test_a_remainder_may_be_empty() -> None:
    line = "p.add_argument('rest', nargs=argparse.REMAINDER)"
    found = command_line(script(line, "p.parse_args()"))
    assert [(a.nargs, a.required) for a in found.arguments] == [("...", False)]


def test_python_2() -> None:
    text = """
import argparse, cPickle
def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--k', type=int, default=5)
    args = parser.parse_args()
    print "k is", args.k
    try:
        print >>out, "x %s (" % (
            1)
    except IOError, e:
        raise ValueError, "no"
if __name__ == '__main__':
    main()
"""
    found = command_line({"main.py": text})
    assert [(a.name, a.default, a.line) for a in found.arguments] == [("k", 5, 5)]
    assert found.complete


@pytest.mark.parametrize(
    "text",
    [
        "import argparse\nx = 'a' * 10**12\ny = 9 ** 9 ** 9\nz = '%99999999999d' % 1\n",
        "import argparse\ndef f(n):\n    return f(n) + f(n)\nf(1)\n",
        "import argparse\nwhile True:\n    pass\n",
        "import argparse\nfor a in range(10**12):\n    for b in range(10**12):\n        print(a)\n",
        "import argparse\nx = [1]\nfor i in range(300):\n    x = x + x\n",
        "import argparse\nclass A(A): pass\nA().parse_args()\n",
        "import argparse\nfrom main import *\nimport main\nmain.x.y()\n",
        "import argparse\n" + "f(" * 60 + ")" * 60 + "\n",
    ],
)
def test_hostile_code_is_followed_within_bounds(text: str) -> None:
    read = "p = argparse.ArgumentParser()\np.add_argument('--a')\np.parse_args()\n"
    found = command_line({"main.py": text + read})
    assert [a.name for a in found.arguments] == ["a"] or "too long" in found.why


def test_optparse() -> None:
    text = """
from optparse import OptionParser, OptionGroup
p = OptionParser()
p.add_option("-n", "--num", dest="num", type="int", default=3, help="how many")
g = OptionGroup(p, "More")
g.add_option("--fast", action="store_true")
p.add_option_group(g)
(options, args) = p.parse_args()
"""
    found = command_line({"main.py": text})
    assert found.parser == "optparse"
    facts = [(a.name, a.flags, a.type, a.default, a.nargs) for a in found.arguments]
    assert facts == [
        ("num", ("-n", "--num"), "integer", 3, ""),
        ("fast", ("--fast",), "boolean", False, "0"),
    ]
