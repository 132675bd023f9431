from __future__ import annotations

from pathlib import PurePosixPath

import pytest

from rra.scan.documents import (
    DocumentLine,
    document_lines,
    markdown_lines,
    notebook_lines,
    plain_lines,
    rst_lines,
)

MANUAL = """\
Fit 2.0
=======

Type `make' to build the `fit' and `score' programs. See `fit' Usage.
Then type `fit wine.txt', or `score
wine.txt.model out' for a test.

Usage: fit [options] file
    make sure that the compiler is there before you begin

> fit -C 2 wine.txt
...
Best C = 2

% ./score wine.txt.model   (not on windows)

    python3 plot.py --all

>>> import fit
    >> fit(1)

fit is a program for people who like to read.
"""


def texts(lines: list[DocumentLine]) -> list[str]:
    return [line.text for line in lines if not line.output]


def test_a_manual_in_plain_text_gives_what_is_typed() -> None:
    lines = plain_lines(MANUAL, {"fit", "score"})
    assert [(line.line, line.text) for line in lines] == [
        (4, "make"),
        (5, "fit wine.txt"),
        (5, "score wine.txt.model out"),
        (11, "fit -C 2 wine.txt"),
        (15, "./score wine.txt.model"),
        (17, "python3 plot.py --all"),
    ]


def test_a_readme_without_suffix_may_still_be_markdown() -> None:
    assert texts(document_lines(PurePosixPath("README"), "```\npython a.py\n```\n")) == [
        "python a.py"
    ]


@pytest.mark.parametrize(
    ("text", "commands"),
    [
        ("<pre>\npython a.py\nbash b.sh\n</pre>\n", ["python a.py", "bash b.sh"]),
        ("<pre><code>python a.py --x &gt; log</code></pre>\n", ["python a.py --x > log"]),
        ("Run <code>python a.py</code> now.\n", ["python a.py"]),
        ("<!--\n```\npython old.py\n```\n-->\n`python a.py`\n", ["python a.py"]),
        ("1. Run:\n\n   ```bash\n   python a.py\n   ```\n", ["python a.py"]),
        ("> ```\n> python a.py\n> ```\n", ["python a.py"]),
        ("python a.py --x 1\n", ["python a.py --x 1"]),
        ("* python a.py\n", ["python a.py"]),
        ("python is a language that we like\n", []),
        ("```python\nimport a\npython a.py --x\nx = python(a)\n!pip install b\n```\n",
         ["python a.py --x", "pip install b"]),
        ("```\n>>> import a\n>>> a.run()\n```\n", []),
        ("``` python a.py ```\n", ["python a.py"]),
        ("Build with `make`, then `make` a note of `make` itself.\n", ["make", "make"]),
        ("`pip install` works.\n", []),
        ("```\nusage: a.py [-h]\n```\n", []),
        (
            """```bash
for s in 1 2; do
  # twice
  for t in 3 4
  do
    python a.py $s $t
  done
done
```
""",
            ["for s in 1 2; do for t in 3 4; do python a.py $s $t; done; done"],
        ),
        ("```sh\nfor s in 1; do python a.py; done\npython b.py\n```\n",
         ["for s in 1; do python a.py; done", "python b.py"]),
        ("```sh\npython - <<EOF\nimport a\nEOF\npython b.py\n```\n",
         ["python - <<EOF", "python b.py"]),
        ("```\n(e) me@box:~/x$ python a.py \\\n>  --n 3\nacc 0.9\n```\n", ["python a.py --n 3"]),
        ("```\nC:\\x> python a.py\n```\n", ["python a.py"]),
    ],
)  # fmt: skip
def test_ways_to_set_a_command_in_markdown(text: str, commands: list[str]) -> None:
    assert texts(markdown_lines(text)) == commands


def test_restructured_text_tells_code_from_notes() -> None:
    text = (
        ".. note::\n\n   The data is large.\n\n.. code-block:: console\n   :linenos:\n\n"
        "   $ python a.py\n   done\n\n.. prompt:: bash $\n\n   bash b.sh\n\nUse ``make all``.\n"
    )
    assert texts(rst_lines(text)) == ["python a.py", "bash b.sh", "make all"]


def test_a_notebook_gives_its_shell_commands_and_magics() -> None:
    cells = [
        "import a\n!pip install b\n%cd src\nfiles = !ls\nif x:\n    !python train.py --n {n}",
        "%%bash\n# fetch\nwget http://x.example.org/d.zip\nunzip d.zip",
        "%run -i export.py --digits 4\n%matplotlib inline\n!{sys.executable} -m pip install c",
        "%%writefile b.sh\n!python no.py",
        "%env CUDA_VISIBLE_DEVICES=0",
    ]
    assert [(line.line, line.text) for line in notebook_lines(cells)] == [
        (1, "pip install b"),
        (1, "cd src"),
        (1, "ls"),
        (1, "python train.py --n {n}"),
        (2, "wget http://x.example.org/d.zip"),
        (2, "unzip d.zip"),
        (3, "python export.py --digits 4"),
        (3, "python -m pip install c"),
        (5, "export CUDA_VISIBLE_DEVICES=0"),
    ]
