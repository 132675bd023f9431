from __future__ import annotations

from pathlib import PurePosixPath

import pytest

from rra.scan import PythonFile
from rra.scan.python import read_constants, read_python


def read(text: str, **modules: str) -> PythonFile:
    return read_python(
        PurePosixPath("src/a.py"), text, lambda name: read_constants(modules.get(name, ""))
    )


@pytest.mark.parametrize(
    ("expression", "pattern"),
    [
        ("'results/a.csv'", "results/a.csv"),
        ("os.path.join('results', name + '.csv')", "results/*.csv"),
        ("f'results/{name}.csv'", "results/*.csv"),
        ("'results/%s_%d.csv' % (name, n)", "results/*_*.csv"),
        ("'results/{}.csv'.format(name)", "results/*.csv"),
        ("Path('results') / 'a.csv'", "results/a.csv"),
        ("Path(__file__).parent / 'a.csv'", "{here}/a.csv"),
        ("Path(__file__).resolve().parents[1] / 'a.csv'", "{here}/../a.csv"),
        ("os.path.join(os.path.dirname(os.path.abspath(__file__)), 'a.csv')", "{here}/a.csv"),
        ("OUT + '/a.csv'", "out/a.csv"),
        ("os.path.join(config.WORK, 'a.csv')", "/home/me/a.csv"),
    ],
)
def test_paths_are_worked_out(expression: str, pattern: str) -> None:
    text = f"import config\nOUT = 'out'\nwith open({expression}, 'w') as f:\n    pass\n"
    (use,) = read(text, config="WORK = '/home/me'\n").writes
    assert (use.pattern, use.line) == (pattern, 3)


@pytest.mark.parametrize("expression", ["name", "get('x')", "'*'"])
def test_what_only_a_run_knows_is_left_out(expression: str) -> None:
    assert read(f"open({expression}, 'w')\n").writes == ()


@pytest.mark.parametrize(
    "call",
    [
        "open('x.csv')",
        "open('x.csv', 'rb')",
        "np.load('x.csv')",
        "pd.read_csv('x.csv')",
        "Path('x.csv').read_text()",
        "Path('x.csv').open()",
        "json.load(open('x.csv'))",
        "gzip.open('x.csv', 'rt')",
    ],
)
def test_reading_calls(call: str) -> None:
    found = read(f"{call}\n")
    assert [use.pattern for use in found.reads] == ["x.csv"]
    assert found.writes == ()


@pytest.mark.parametrize(
    "call",
    [
        "open('x.csv', mode='a')",
        "np.savetxt('x.csv', a)",
        "df.to_csv('x.csv')",
        "plt.savefig('x.csv')",
        "torch.save(model, 'x.csv')",
        "Path('x.csv').write_text(t)",
        "Path('x.csv').open('w')",
        "json.dump(r, open('x.csv', 'w'))",
    ],
)
def test_writing_calls(call: str) -> None:
    found = read(f"{call}\n")
    assert [use.pattern for use in found.writes] == ["x.csv"]
    assert found.reads == ()


def test_python_2_is_read_as_far_as_it_goes() -> None:
    found = read(
        "import cPickle\nfrom utils import f\nprint 'accuracy', 98.9\nD = '/home/me/d.csv'\n"
    )
    assert found.python2
    assert found.syntax_error.startswith("line 3")
    assert found.imports == {"cPickle", "utils"}
    assert [s.text for s in found.strings] == ["/home/me/d.csv"]
    assert [s.text for s in found.printed] == ["accuracy"]


@pytest.mark.parametrize(
    "text", ["def f(:\n", "x = (" * 500, "\x00", "'" * 3, "if 1:\n\tx\n        y\n"]
)
def test_broken_files_are_reported_not_raised(text: str) -> None:
    assert read(text).syntax_error


def test_what_is_printed_and_what_is_not() -> None:
    found = read(
        "print(f'acc {x:.2f} %')\n"
        "logger.info('loss %f', y)\n"
        "print('header', file=out)\n"
        "raise ValueError('not printed')\n"
    )
    assert [s.text for s in found.printed] == ["acc {:.2f} %", "loss %f"]
    assert found.prints


def test_only_definitions_do_nothing_when_run() -> None:
    assert not read("import sys\nsys.path.append('.')\ndef f():\n    g()\nX = f\n").runs
    assert read("def f():\n    pass\nf()\n").runs
    assert read("for x in y:\n    pass\n").runs
    guarded = read("if __name__ == '__main__':\n    main()\n")
    assert guarded.guarded
    assert guarded.runs


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("import sys\nname = input('which? ')\nrun(int(input()))\n", (2, 3)),
        ("print 'old'\n# raw_input()\nreport(raw_input('main? '))\n", (3,)),
        ("fileinput.input()\nself.input(3)\nprint('input(x)')\n", ()),
        ("print 'input(x)', fileinput.input()\n", ()),
        ("def input(x):\n    return x\n\ninput(3)\n", ()),
    ],
)
def test_lines_that_wait_for_somebody_to_type(text: str, lines: tuple[int, ...]) -> None:
    assert read(text).asks == lines
