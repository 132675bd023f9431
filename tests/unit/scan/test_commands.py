from __future__ import annotations

from pathlib import PurePosixPath

import pytest

from rra.scan import Command
from rra.scan.commands import Places, read_commands, read_document
from rra.scan.documents import (
    DocumentLine,
    markdown_lines,
    org_lines,
    plain_lines,
    rst_lines,
    shell_lines,
)

FILES = [
    PurePosixPath(name)
    for name in (
        "main.py",
        "run.sh",
        "results.txt",
        "src/train.py",
        "pkg/cli.py",
        "pkg/__main__.py",
        "exp/a b.py",
        "Makefile",
        "nb/plot.ipynb",
    )
]
PLACES = Places(FILES, {parent for path in FILES for parent in path.parents})


def commands(lines: list[DocumentLine], source: str = "README.md") -> list[Command]:
    return read_commands(lines, PurePosixPath(source), PLACES)


def one(text: str, source: str = "README.md") -> Command:
    (found,) = commands([DocumentLine(text, 3, 0)], source)
    return found


@pytest.mark.parametrize(
    ("text", "argv"),
    [
        ("python main.py", ("python", "main.py")),
        ("python3.6 main.py --n 3", ("python", "main.py", "--n", "3")),
        ("time python2 main.py  # takes a while", ("python", "main.py")),
        ("uv run python main.py", ("python", "main.py")),
        ('python main.py --name "a b"', ("python", "main.py", "--name", "a b")),
        (r"python main.py --re 'x{1,2}\d'", ("python", "main.py", "--re", r"x{1,2}\d")),
        (r'python main.py "a \$b \`c\` \\ \"d\""', ("python", "main.py", 'a $b `c` \\ "d"')),
        (r"python main.py 'a \$b' \$c", ("python", "main.py", r"a \$b", "$c")),
        ("bash run.sh", ("bash", "run.sh")),
        ("./run.sh", ("./run.sh",)),
        ("nohup python main.py &", ("python", "main.py")),
        ("python -m pkg.cli --x 1", ("python", "-m", "pkg.cli", "--x", "1")),
        ("cat results.txt", ("cat", "results.txt")),
    ],
)
def test_words_are_taken_apart_as_a_shell_does(text: str, argv: tuple[str, ...]) -> None:
    found = one(text)
    assert found.argv == argv
    assert found.kind == "run"
    assert not found.shell


@pytest.mark.parametrize(
    "text",
    [
        "python main.py > log.txt",
        "python main.py | tee log",
        "python main.py && python main.py",
        'python main.py --home "$HOME"',
        "python main.py *.csv",
        "for i in 1 2; do python main.py --seed $i; done",
    ],
)
def test_shell_syntax_keeps_the_whole_line_for_a_shell(text: str) -> None:
    found = one(text)
    assert found.argv == ("bash", "-c", text)
    assert found.shell
    assert found.kind == "run"
    assert found.script == PurePosixPath("main.py")


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("pip install -r requirements.txt", "install"),
        ("python setup.py install", "install"),
        ("python setup.py build_ext --inplace", "build"),
        ("python -m pip install .", "install"),
        ("bash install_deps.sh", "install"),
        ("wget https://example.org/x.zip", "download"),
        ("pytest tests", "test"),
        ("make", "build"),
        ("make table1", "run"),
        ("make clean", "other"),
        ("cat nothing.txt", "other"),
    ],
)
def test_commands_are_told_apart_by_what_they_are_for(text: str, kind: str) -> None:
    assert one(text).kind == kind


@pytest.mark.parametrize(
    ("text", "script", "workdir"),
    [
        ("python main.py", "main.py", "."),
        ("python train.py", "src/train.py", "src"),
        ("python ./src/train.py", "src/train.py", "."),
        ("python -m pkg", "pkg/__main__.py", "."),
        ("make table1", "Makefile", "."),
        ('python "a b.py"', "exp/a b.py", "exp"),
    ],
)
def test_the_script_is_found_and_the_folder_it_needs(text: str, script: str, workdir: str) -> None:
    found = one(text)
    assert str(found.script) == script
    assert found.workdir == workdir


def test_a_missing_script_is_named() -> None:
    found = one("python evaluate.py")
    assert found.script is None
    assert found.target == "evaluate.py"


def test_a_document_in_a_folder_speaks_of_its_folder() -> None:
    assert one("python train.py", "src/README.md").workdir == "src"


def test_cd_holds_within_a_block_and_unknown_folders_are_a_clone() -> None:
    text = "```\ncd repo\ncd src\npython train.py\n```\n\n```\npython main.py\n```\n"
    runs = [c for c in commands(markdown_lines(text)) if c.kind == "run"]
    assert [(c.workdir, str(c.script)) for c in runs] == [("src", "src/train.py"), (".", "main.py")]


def test_variables_in_front_are_kept_apart() -> None:
    found = one("CUDA_VISIBLE_DEVICES=0 PYTHONPATH='a b' python main.py")
    assert found.variables == (("CUDA_VISIBLE_DEVICES", "0"), ("PYTHONPATH", "a b"))
    assert found.argv == ("python", "main.py")


@pytest.mark.parametrize(
    "text",
    [
        "python main.py <dataset>",
        "python main.py --data PATH_TO_DATA",
        "python main.py [options]",
        "python main.py {train_file}",
        "python main.py --out=x/{name}.L1 'a'",
        "python main.py {a|b}",
        "python main.py {DATA}",
        'python main.py "<data set>"',
        'echo "<your_text>" | python main.py',
    ],
)
def test_words_to_be_replaced_are_seen(text: str) -> None:
    assert one(text).placeholders


@pytest.mark.parametrize(
    "text",
    [
        "python main.py {a,b} x{1..3}",
        "python main.py ${HOME}/x",
        "python main.py 'x={epoch}' \"{epoch:02d}-{loss}\"",
        "python main.py run.dir='${now:%Y}'",
        "ls | xargs -I {f} python main.py {f}",
        "python main.py {} \\;",
        'echo "to <country>Chad</country>" | python main.py',
        'echo "to <country> now" | python main.py',
        r'python main.py --keep "<country>\w*</country>"',
    ],
)
def test_braces_of_a_shell_and_texts_are_no_words_to_be_replaced(text: str) -> None:
    assert one(text).placeholders == ()


def test_braces_that_a_program_fills_are_no_words_to_be_replaced() -> None:
    assert one("python main.py {alpha}", "MLproject").placeholders == ()


def test_markdown_fences_indents_inline_and_prompts() -> None:
    text = (
        "Run `python main.py` or `main.py`.\n\n"
        "    $ bash run.sh\n    done: 98.9\n\n"
        "~~~console\n(env) $ python main.py \\\n    --n 3\naccuracy 98.9\n~~~\n"
        "```python\nimport main\n```\n"
    )
    lines = markdown_lines(text)
    assert [(line.text, line.line, line.output) for line in lines] == [
        ("python main.py", 1, False),
        ("bash run.sh", 3, False),
        ("done: 98.9", 4, True),
        ("python main.py --n 3", 7, False),
        ("accuracy 98.9", 9, True),
    ]


def test_restructured_text_blocks() -> None:
    text = "Run::\n\n    python main.py\n\nthen\n\n.. code-block:: bash\n\n   bash run.sh\n\nEnd.\n"
    assert [(line.text, line.line) for line in rst_lines(text)] == [
        ("python main.py", 3),
        ("bash run.sh", 9),
    ]


def test_shell_scripts_without_their_comments() -> None:
    text = "#!/bin/bash\n# python old.py\npython main.py \\\n  --n 3\n"
    assert [(line.text, line.line) for line in shell_lines(text)] == [("python main.py --n 3", 3)]


@pytest.mark.parametrize("text", ["python 'main.py", 'python "a', "```\n", "`` ` ``", "$ ", "cd"])
def test_broken_lines_do_no_harm(text: str) -> None:
    for lines in (markdown_lines(f"```\n{text}\n```\n"), rst_lines(f"::\n\n  {text}\n")):
        commands(lines)


def test_an_option_of_the_script_is_no_option_of_the_interpreter() -> None:
    assert one("python main.py -m model.bin -c cfg").script == PurePosixPath("main.py")
    assert one("python -u -m pkg.cli").script == PurePosixPath("pkg/cli.py")


def test_a_loop_of_a_document_gives_its_commands_too() -> None:
    lines = markdown_lines(
        "```\nfor s in a b; do\n    python main.py --split $s --ckpt <your file>\ndone\n```\n"
    )
    found = read_document(lines, PurePosixPath("README.md"), PLACES)
    assert [c.script for c in found.commands] == [PurePosixPath("main.py")]
    (inner,) = found.inner
    assert inner.text == "python main.py --split $s --ckpt <your file>"
    assert (inner.script, inner.placeholders) == (PurePosixPath("main.py"), ("<your file>",))


def test_a_module_that_nothing_names_is_missing_and_a_tool_is_not() -> None:
    missing = one("python -m missing.module --n 3")
    assert (missing.resolution, missing.target) == ("missing", "missing.module")
    tools = [one(f"python -m {name} x") for name in ("pip", "nltk.downloader", "torch")]
    assert {tool.resolution for tool in tools} == {"outside"}


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("Train:    python main.py --n 3", "python main.py --n 3"),
        ("Score:    perl eval.pl gold.txt", "perl eval.pl gold.txt"),
        ("        linux> make octave", "make octave"),
        ("Note: python is needed for this", None),
    ],
)
def test_labels_and_prompts_in_front_of_commands(line: str, text: str | None) -> None:
    found = [one.text for one in plain_lines(line)]
    assert found == ([text] if text else [])


@pytest.mark.parametrize(
    ("text", "script"),
    [
        ("torchrun --nproc_per_node=2 -m pkg.cli --x 1", "pkg/cli.py"),
        ("horovodrun -np 8 python -u -m pkg.cli", "pkg/cli.py"),
        ("accelerate launch --config_file conf.yaml main.py", "main.py"),
        ("mpiexec -n 4 --bind-to core python src/train.py", "src/train.py"),
        ("srun --gres gpu:1 --mem 4G python main.py", "main.py"),
        ("python -um pkg.cli --x 1", "pkg/cli.py"),
        ("docker run --rm demo python main.py", "main.py"),
        ('bash -c "cd x && uv run python main.py --n 3"', "main.py"),
        ('python "${ROOT}/src/train.py" --n 3', "src/train.py"),
        ("python clone/src/train.py --n 3", "src/train.py"),
        ("python <repository>/main.py", "main.py"),
        ("source run.sh", "run.sh"),
    ],
)
def test_launchers_and_places_in_front_of_the_script(text: str, script: str) -> None:
    assert str(one(text).script) == script


@pytest.mark.parametrize(
    "text",
    [
        "chmod +x run.sh",
        "git add main.py",
        "source activate project",
        "wget https://example.org/tools/install.sh",
        "pip install -r requirements.txt main.py",
    ],
)
def test_what_is_given_a_script_need_not_start_it(text: str) -> None:
    (found,) = commands([DocumentLine(text, 3, 0, sure=True)])
    assert (found.script, found.target) == (None, "")


@pytest.mark.parametrize(
    "text",
    [
        "script = run.sh",
        "./src",
        "./data/table.csv",
        "exp/settings.cfg",
        "main.py",
        "main.py   # trains the model",
        "Error: no such file",
        "done",
    ],
)
def test_names_of_files_and_settings_are_no_commands(text: str) -> None:
    assert commands([DocumentLine(text, 3, 0)]) == []


def test_a_file_in_a_sentence_is_run_only_when_it_can_be() -> None:
    text = "Put all into `./data/x` and `./out/a.csv`, then `./run.sh`, or run `./solve`.\n"
    assert [line.text for line in markdown_lines(text)] == ["./run.sh", "./solve"]


def test_a_folder_that_a_document_makes_is_worked_in() -> None:
    files = [PurePosixPath("CMakeLists.txt"), PurePosixPath("Makefile")]
    places = Places(files, {PurePosixPath()})
    lines = markdown_lines("```\nmkdir -p build && cd build\ncmake ..\nmake -j4\n```\n")
    found = read_commands(lines, PurePosixPath("README.md"), places)
    assert [(c.text, c.workdir) for c in found] == [
        ("mkdir -p build", "."),
        ("cmake ..", "build"),
        ("make -j4", "build"),
    ]
    assert [c.script or c.built_by for c in found[1:]] == [PurePosixPath("CMakeLists.txt")] * 2


def test_scripts_of_another_project_are_not_those_of_this_one() -> None:
    lines = markdown_lines("```\ncd other/project/s5\n./run.sh\n```\n\n```\n./run.sh\n```\n")
    found = [c for c in commands(lines) if c.kind == "run"]
    assert [(c.script, c.target) for c in found] == [
        (None, "./run.sh"),
        (PurePosixPath("run.sh"), ""),
    ]


def test_a_script_that_a_document_fetches_comes_from_outside() -> None:
    text = "```\nwget https://example.org/a/setup_all.sh\nbash setup_all.sh\nbash other.sh\n```\n"
    found = commands(markdown_lines(text))
    assert [(c.resolution, c.target) for c in found] == [
        ("outside", ""),
        ("outside", ""),
        ("missing", "other.sh"),
    ]


def test_blocks_of_python_without_a_language_are_no_commands() -> None:
    text = "```\nimport a\ndef f(x):\n    return x\nset = f(3)\npython main.py\n```\n"
    assert [line.text for line in markdown_lines(text)] == ["python main.py"]


def test_trees_of_folders_are_no_commands() -> None:
    text = "```\n├── src\n│   └── train.py   <- trains\n└── main.py\n```\n"
    assert commands(markdown_lines(text)) == []


def test_prompts_of_matlab_and_calls_of_r_in_sentences() -> None:
    files = [PurePosixPath("demo.m"), PurePosixPath("fit/all.R")]
    places = Places(files, {parent for path in files for parent in path.parents})
    text = (
        'Start it (`>> demo(3)`, `>> x = demo`) or `source("fit/all.R")`.\n\n'
        "```\n>> demo;   % shows it\n>> help plot\n```\n"
    )
    found = read_commands(markdown_lines(text), PurePosixPath("README.md"), places)
    assert [(c.text, str(c.script)) for c in found] == [
        ("demo(3)", "demo.m"),
        ("x = demo", "demo.m"),
        ('source("fit/all.R")', "fit/all.R"),
        ("demo;", "demo.m"),
    ]


def test_org_blocks_and_verbatim_text() -> None:
    text = (
        "* Run\n  #+begin_src sh :results output\n  python main.py \\\n     --n 3\n  #+end_src\n"
        "  or =bash run.sh= and ~x~\n#+BEGIN_EXAMPLE\n$ python main.py\n#+END_EXAMPLE\n"
    )
    assert [(line.text, line.line) for line in org_lines(text)] == [
        ("python main.py --n 3", 3),
        ("bash run.sh", 6),
        ("python main.py", 8),
    ]


def test_plain_text_joins_lines_and_takes_a_word_set_apart() -> None:
    text = "Compile:\n\n    make\n\nThen\n\n    python main.py \\\n        --n 3\n\nmake\n"
    assert [(line.text, line.line) for line in plain_lines(text)] == [
        ("make", 3),
        ("python main.py --n 3", 7),
    ]


def test_a_later_block_goes_on_where_an_earlier_one_went() -> None:
    text = "```\ncd src\npython train.py\n```\nand\n```\npython train.py --more\nbash run.sh\n```\n"
    files = [PurePosixPath(name) for name in ("src/train.py", "other/train.py", "run.sh")]
    places = Places(files, {parent for path in files for parent in path.parents})
    found = read_commands(markdown_lines(text), PurePosixPath("README.md"), places)
    assert [(str(c.script), c.workdir) for c in found] == [
        ("src/train.py", "src"),
        ("src/train.py", "src"),
        ("run.sh", "."),
    ]


def test_what_a_shell_shows_is_not_what_a_line_runs() -> None:
    found = one("cat results.txt | python main.py --n 3")
    assert found.script == PurePosixPath("main.py")
    assert one("cat results.txt | sort | uniq").script == PurePosixPath("results.txt")


def test_files_of_somebodys_home_are_outside() -> None:
    found = one("source ~/.bashrc")
    assert (found.resolution, found.target) == ("outside", "")


@pytest.mark.parametrize("text", ["R   chr1    2325140", "--rate=3 --more x", "Traceback (most"])
def test_shown_output_is_no_command(text: str) -> None:
    assert commands([DocumentLine(text, 3, 0)]) == []


def test_a_sentence_names_a_script_with_its_words() -> None:
    text = "Call `src/train.py --n 3`, see `src/train.py` and `src/train.py : 4`.\n"
    assert [line.text for line in markdown_lines(text)] == ["src/train.py --n 3"]


def test_comments_of_matlab_are_no_prompts() -> None:
    assert plain_lines("% This is a demo of the paper.\n% See below\n") == []


def test_pip_of_an_environment_is_pip() -> None:
    found = one("env/bin/pip install -r requirements.txt")
    assert (found.kind, found.target, found.argv[0]) == ("install", "", "pip")


@pytest.mark.parametrize(
    ("text", "script"),
    [
        ("(python main.py | cat)", "main.py"),
        ("X=$(python main.py)", "main.py"),
        ('X="$(python main.py --z)"', "main.py"),
        ("export X=$(bash run.sh | tail -1)", "run.sh"),
        ("X=`python main.py`", "main.py"),
    ],
)
def test_a_script_in_brackets_or_in_the_value_of_a_variable_is_found(
    text: str, script: str
) -> None:
    found = one(text)
    assert (str(found.script), found.kind) == (script, "run")
    assert found.argv == ("bash", "-c", text)


@pytest.mark.parametrize(
    "text",
    [
        'DIR="$(cd "$(dirname "$0")" && pwd)"',
        "R=$(python -c 'print(1)')",
        "D=$(date)",
        "X='$(python main.py)'",
    ],
)
def test_what_a_shell_asks_to_find_its_way_stays_a_value(text: str) -> None:
    lines = [DocumentLine(text, 1, 0), DocumentLine("python main.py", 2, 0)]
    assert [str(c.script) for c in commands(lines) if c.kind == "run"] == ["main.py"]
    assert [c.workdir for c in commands(lines) if c.kind == "run"] == ["."]
