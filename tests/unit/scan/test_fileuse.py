"""Files that Python code names in the ways that people write them."""

from __future__ import annotations

from pathlib import PurePosixPath

import pytest

from rra.scan.python import read_python


def uses(text: str) -> tuple[list[str], list[str]]:
    found = read_python(PurePosixPath("a.py"), text)
    return [u.pattern for u in found.reads], [u.pattern for u in found.writes]


@pytest.mark.parametrize(
    ("code", "read"),
    [
        ("import os\nROOT = 'data'\npd.read_csv(os.path.join(ROOT, 'x.csv'))", "data/x.csv"),
        ("from pathlib import Path\nD = Path('data')\nnp.load(D / 'a' / 'x.npy')", "data/a/x.npy"),
        ("def main():\n    folder = 'data'\n    open(f'{folder}/x.txt')", "data/x.txt"),
        ("def load(path):\n    return pd.read_csv(path)\nload('data/x.csv')", "data/x.csv"),
        ("def load(path='data/x.csv'):\n    return pd.read_csv(path)\nload()", "data/x.csv"),
        (
            (
                "class D:\n    def __init__(self, root):\n        self.root = root\n"
                "    def get(self):\n        return open(self.root + '/x.txt')\nD('data')"
            ),
            "data/x.txt",
        ),
        ("FILES = {'a': 'data/a.csv'}\npd.read_csv(FILES['a'])", "data/a.csv"),
        ("for name in ['data/a.csv', 'data/b.csv']:\n    pd.read_csv(name)", "data/b.csv"),
        (
            "import glob\nfor p in sorted(glob.glob('data/*.csv')):\n    pd.read_csv(p)",
            "data/*.csv",
        ),
        ("import os\npd.read_csv(os.environ.get('DATA', 'data/x.csv'))", "data/x.csv"),
        ("with h5py.File('data/x.h5', 'r') as f: pass", "data/x.h5"),
        (
            "if big:\n    p = 'data/a.csv'\nelse:\n    p = 'data/b.csv'\npd.read_csv(p)",
            "data/b.csv",
        ),
        ("load_dataset('csv', data_files={'train': 'data/x.csv'})", "data/x.csv"),
        ("MyDataset('data/train.json')", "data/train.json"),
        ("torchvision.datasets.ImageFolder('data/faces')", "data/faces"),
        ("pd.read_csv('data/%s.csv' % 'x')", "data/x.csv"),
        ("rasterio.open('data/e.tif')", "data/e.tif"),
        ("import sys\nopen(sys.argv[1])", "{=1}"),
        ("args = p.parse_args()\nnp.load(args.log_dir + '/r.npy')", "{=log_dir}/r.npy"),
        ("np.load(cfg['data']['path'])", "{=data.path}"),
        ("x = [open(p) for p in sys.argv[1:3]]", "{=2}"),
    ],
)
def test_files_that_are_read(code: str, read: str) -> None:
    assert read in uses(code)[0]


@pytest.mark.parametrize(
    ("code", "written"),
    [
        ("torch.save(net, 'out/net.pt')", "out/net.pt"),
        ("out = Path('out')\nplt.savefig(out / 'f.png')", "out/f.png"),
        ("urllib.request.urlretrieve('https://e.org/x.zip', 'data/x.zip')", "data/x.zip"),
        ("open(p if p else 'out/x.csv', mode='w')", "out/x.csv"),
        ("Path('out/x').with_suffix('.csv').write_text('1')", "out/x.csv"),
        ("def save(name):\n    df.to_csv('out/' + name)\nsave('x.csv')", "out/x.csv"),
    ],
)
def test_files_that_are_written(code: str, written: str) -> None:
    assert written in uses(code)[1]


@pytest.mark.parametrize(
    "code",
    [
        "import torch\ntorch.hub.load('pytorch/vision', 'resnet18')",
        "AutoModel.from_pretrained('bert/base')",
        "requests.get('https://e.org/x.csv')",
        "importlib.import_module('a.json')",
        "x.load_state_dict(state)",
        "sns.load_dataset('tips')",
    ],
)
def test_what_names_no_file(code: str) -> None:
    assert uses(code) == ([], [])


def test_deep_nesting_and_recursion_end() -> None:
    text = "x = " + "+".join(["'a'"] * 900) + "\ndef f(p):\n    return f(p + '/a')\nopen(f('b'))\n"
    assert isinstance(uses(text)[0], list)


def test_print_statements_of_python_2_do_not_hide_files() -> None:
    assert uses("print 'x'\nf = open('data/x.txt')\n")[0] == ["data/x.txt"]
