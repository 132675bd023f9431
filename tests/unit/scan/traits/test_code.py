"""Downloads, seeds, devices and clues to the Python version of single files."""

from __future__ import annotations

import ast
from pathlib import PurePosixPath

import pytest

from rra.scan.python import read_python
from rra.scan.traits.code import CodeTraits
from rra.scan.traits.downloads import command_downloads, shell_downloads
from rra.scan.traits.syntax import text_clues, tree_clues

PATH = PurePosixPath("fit.py")


def traits(source: str) -> CodeTraits:
    return read_python(PATH, source).traits


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("requests.get('https://a.example/x.csv')", ["https://a.example/x.csv"]),
        (
            "URL = 'https://a.example/x'\nurllib.request.urlretrieve(URL + '.gz')",
            ["https://a.example/x.gz"],
        ),
        ("requests.get(f'https://a.example/{year}.csv')", ["https://a.example/*.csv"]),
        ("pd.read_csv('https://a.example/x.csv')", ["https://a.example/x.csv"]),
        ("pd.read_csv('data/x.csv')", []),
        ("requests.get(where)", []),
        ("gdown.download(id='1AbC', output='x')", ["gdown 1AbC"]),
        ("torchvision.datasets.MNIST('data', download=True)", ["torchvision MNIST"]),
        ("from torchvision.datasets import SVHN\nSVHN('data')", ["torchvision SVHN"]),
        ("datasets.ImageFolder('data')", []),
        ("fetch_openml('adult')", ["openml adult"]),
        ("fetch_openml(data_id=42)", ["openml 42"]),
        ("sklearn.datasets.fetch_california_housing()", ["sklearn california_housing"]),
        ("tfds.load('mnist')", ["tfds mnist"]),
        ("AutoModel.from_pretrained('bert-base-uncased')", ["huggingface bert-base-uncased"]),
        ("AutoModel.from_pretrained('./mine')", []),
        ("load_dataset('glue', 'sst2')", ["huggingface glue"]),
        ("torch.hub.load('pytorch/vision', 'resnet18')", ["torch.hub pytorch/vision resnet18"]),
        ("get_file('x.npz', origin='https://a.example/x.npz')", ["https://a.example/x.npz"]),
        ("print urllib2.urlopen('http://a.example/x').read()", ["http://a.example/x"]),
    ],
)
def test_downloads_of_code(source: str, found: list[str]) -> None:
    assert [one.what for one in traits(source).downloads] == found


@pytest.mark.parametrize(
    ("command", "found"),
    [
        ("wget -q https://a.example/x.zip -O x.zip", ["https://a.example/x.zip"]),
        ("cd data && curl -LO 'https://a.example/x.tgz'", ["https://a.example/x.tgz"]),
        ("gdown 1AbCd", ["gdown 1AbCd"]),
        ("huggingface-cli download org/model --local-dir m", ["huggingface org/model"]),
        ("kaggle datasets download -d somebody/flowers", ["kaggle somebody/flowers"]),
        ("python wget.py https://a.example/x", []),
    ],
)
def test_downloads_of_commands(command: str, found: list[str]) -> None:
    assert [what for what, _ in command_downloads(command)] == found


def test_downloads_of_scripts_keep_their_line_and_pass_over_comments() -> None:
    text = "# wget https://a.example/old\n\nwget \\\n  https://a.example/x\n"
    found = shell_downloads(text, PurePosixPath("get.sh"))
    assert [(one.what, one.line) for one in found] == [("https://a.example/x", 3)]


@pytest.mark.parametrize(
    ("source", "seeds", "draws"),
    [
        ("np.random.seed(3)\nnp.random.rand()", [("numpy", "3")], ["numpy"]),
        ("import random\nrandom.seed(args.seed)", [("random", "")], []),
        (
            "torch.manual_seed(1)\ntorch.cuda.manual_seed_all(1)",
            [("torch", "1"), ("torch", "1")],
            [],
        ),
        ("import numpy.random as npr\nnpr.seed(5)\nnpr.randn(2)", [("numpy", "5")], ["numpy"]),
        ("from numpy.random import default_rng\nr = default_rng()", [], ["numpy"]),
        ("train_test_split(x, random_state=0)", [("sklearn", "0")], []),
        ("KMeans(random_state=None)", [], ["sklearn"]),
        ("jax.random.PRNGKey(7)", [("jax", "7")], []),
        ("tf.set_random_seed(1)", [("tensorflow", "1")], []),
        ("def set_seed(n):\n    np.random.seed(n)\nset_seed(4)", [("numpy", "")], []),
        ("layer.seed = 3\nseed(3)", [], []),
        ("np.random.seed()", [], ["numpy"]),
        ("np.random.seed(1)\nprint np.random.rand()", [("numpy", "1")], []),
    ],
)
def test_seeds_and_draws(source: str, seeds: list[tuple[str, str]], draws: list[str]) -> None:
    found = traits(source)
    assert [(one.library, one.value) for one in found.seeds] == seeds
    assert [one.library for one in found.draws] == draws


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("net = net.cuda()", [(".cuda()", False)]),
        ("if torch.cuda.is_available():\n    net.cuda()", [(".cuda()", True)]),
        ("if args.cuda:\n    net.cuda()", [(".cuda()", True)]),
        ("net.to('cuda:1')", [("cuda:1", False)]),
        ("d = 'cuda' if torch.cuda.is_available() else 'cpu'", []),
        ("d = torch.device('cuda' if torch.cuda.is_available() else 'cpu')", []),
        ("os.environ['CUDA_VISIBLE_DEVICES'] = '0'", [("CUDA_VISIBLE_DEVICES", False)]),
        ("torch.cuda.set_device(2)", [("torch.cuda.set_device", False)]),
        ("p.add_argument('--device', default='cuda')", []),
        ("print 'x'\nnet.cuda()", [(".cuda()", False)]),
    ],
)
def test_devices(source: str, found: list[tuple[str, bool]]) -> None:
    assert [(one.text, one.guarded) for one in traits(source).devices] == found


@pytest.mark.parametrize(
    ("source", "version", "removed"),
    [
        ("x = f'{y}'", (3, 6), False),
        ("x: int = 3", (3, 6), False),
        ("if (n := 3):\n    pass", (3, 8), False),
        ("def f(a, /):\n    pass", (3, 8), False),
        ("match x:\n    case 1:\n        pass", (3, 10), False),
        ("def f(a: int | None):\n    pass", (3, 10), False),
        ("def f(a: list[int]):\n    pass", (3, 9), False),
        ("import tomllib", (3, 11), False),
        ("import imp", (3, 12), True),
        ("from collections import Mapping", (3, 10), True),
        ("time.clock()", (3, 8), True),
        ("import cPickle", (3, 0), True),
        ("for i in xrange(3):\n    pass", (3, 0), True),
        ("a @ b", (3, 5), False),
    ],
)
def test_clues_of_syntax(source: str, version: tuple[int, int], removed: bool) -> None:  # noqa: FBT001 - a parameter
    assert [(one.version, one.removed) for one in tree_clues(ast.parse(source))] == [
        (version, removed)
    ]


@pytest.mark.parametrize(
    "source",
    [
        "try:\n    import cPickle\nexcept ImportError:\n    import pickle",
        "if sys.version_info[0] < 3:\n    x = xrange(3)",
        "xrange = range\nxrange(3)",
        "import pickle",
        "x = a | b",
    ],
)
def test_what_has_an_alternative_is_no_clue(source: str) -> None:
    assert tree_clues(ast.parse(source)) == ()


def test_annotations_that_are_never_evaluated_need_only_the_future() -> None:
    source = "from __future__ import annotations\ndef f(a: int | None) -> list[int]:\n    pass\n"
    assert [one.version for one in tree_clues(ast.parse(source))] == [(3, 7)]


@pytest.mark.parametrize(
    ("text", "version", "removed"),
    [
        ("print 'x'\n", (3, 0), True),
        ("try:\n    f()\nexcept IOError, e:\n    pass\n", (3, 0), True),
        ("x.cuda(async=True)\n", (3, 7), True),
        ("def f[T](x: T): pass\n", (3, 12), False),
    ],
)
def test_clues_of_text_that_cannot_be_parsed(
    text: str,
    version: tuple[int, int],
    removed: bool,  # noqa: FBT001 - a parameter
) -> None:
    assert [(one.version, one.removed) for one in text_clues(text)] == [(version, removed)]
