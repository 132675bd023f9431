from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rra.author import ParameterWord, Step, compile_launcher
from rra.author.launchers import default_collect, quote, variable_name
from tests.support.lookalikes import write

RECORDER = """#!/bin/sh
printf '%s\\0' "$@" >> "$RECORD"
"""


def artifact(root: Path, text: str, code: dict[str, str | bytes] | None = None) -> Path:
    """Write a launcher beside its code, and a `python` that notes its words."""
    write(root, {"launchers/a.sh": text, "bin/python": RECORDER})
    write(root / "code", code or {"main.py": ""})
    (root / "bin/python").chmod(0o755)
    return root


def run(root: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", str(root / "launchers/a.sh")],
        cwd=root.parent,
        env={
            "PATH": f"{root}/bin:/usr/bin:/bin",
            "RECORD": str(root / "record"),
            "TMPDIR": str(root.parent),
            **variables,
        },
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def recorded(root: Path) -> list[str]:
    return (root / "record").read_bytes().decode().split("\0")[:-1]


ANY_TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=30)
NASTY = st.sampled_from(
    ["", " ", "$HOME", "`id`", "$(id)", "it's", '"', "\\", "{folds}", "{{x}}", "*", "~", "!!", "-n"]
) | st.sampled_from(
    ["#", "a b", "a\nb", "\r", "é", "=", "A=b", ";", "&&", "<x>", "|", "\t", "'\\''", "${RECORD}"]
)


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(words=st.lists(ANY_TEXT | NASTY, max_size=5), value=ANY_TEXT | NASTY)
def test_every_word_arrives_as_it_is(
    tmp_path_factory: pytest.TempPathFactory, words: list[str], value: str
) -> None:
    step = Step(("python", *words, ParameterWord("p", "--p=")), variables=(("X_Y", value),))
    text = compile_launcher("a", [step], environment="cpu", parameters={"p": value})
    root = artifact(tmp_path_factory.mktemp("a") / "r r", text)
    done = run(root)
    assert done.returncode == 0, done.stderr
    assert recorded(root) == [*words, f"--p={value}"]


@pytest.mark.parametrize("program", ["if", "time", "A=b", "[[", "coproc", "it's", "a b"])
def test_no_program_name_is_read_as_shell_syntax(tmp_path: Path, program: str) -> None:
    text = compile_launcher("a", [Step((program, "x"))], environment="cpu")
    root = artifact(tmp_path, text)
    (root / "bin" / program).write_text(RECORDER)
    (root / "bin" / program).chmod(0o755)
    done = run(root)
    assert done.returncode == 0, done.stderr
    assert recorded(root) == ["x"]


def test_braces_are_parameters_only_where_the_list_says_so(tmp_path: Path) -> None:
    step = Step(("python", "{folds}", ParameterWord("folds")))
    text = compile_launcher("a", [step], environment="cpu", parameters={"folds": "10"})
    root = artifact(tmp_path, text)
    run(root, RRA_PARAM_FOLDS="3")
    assert recorded(root) == ["{folds}", "3"]
    with pytest.raises(ValueError, match="no parameter seed"):
        compile_launcher("a", [Step((ParameterWord("seed"),))], environment="cpu")


def test_names_of_variables() -> None:
    assert variable_name("n-folds") == "RRA_PARAM_N_FOLDS"
    assert quote("a'b") == "'a'\\''b'"


@pytest.mark.clause("launcher/names-the-environment")
def test_without_python_it_names_the_readme_and_exits_69(tmp_path: Path) -> None:
    text = compile_launcher("a", [Step(("python", "main.py"))], environment="cpu")
    root = artifact(tmp_path, text)
    (root / "bin/python").unlink()
    tools = root / "tools"
    tools.mkdir()
    for name in ("bash", "dirname", "mkdir", "rm"):
        (tools / name).symlink_to(
            f"/bin/{name}" if Path(f"/bin/{name}").exists() else f"/usr/bin/{name}"
        )
    done = run(root, PATH=str(tools))
    assert done.returncode == 69
    assert "environment/cpu/README.md" in done.stderr


SCRIPT = """\
import os, pathlib, sys
pathlib.Path("results").mkdir(exist_ok=True)
pathlib.Path("results/new.csv").write_text("new")
pathlib.Path("results/old.csv").write_text("same")
pathlib.Path("deep/er").mkdir(parents=True)
pathlib.Path("deep/er/x.txt").write_text("x")
print("cwd is the copy:", os.getcwd() == os.environ["RRA_CODE_DIR"])
print("accuracy: 98.9")
"""


def real(root: Path, text: str) -> Path:
    """An artifact whose `python` is the real one."""
    code = {
        "main.py": SCRIPT,
        "results/old.csv": "same",
        "results/untouched.csv": "old",
        ".hid": "",
    }
    artifact(root, text, dict(code))
    (root / "bin/python").unlink()
    (root / "bin/python").symlink_to(Path(sys.executable).resolve())
    return root


def outputs(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_by_hand_it_copies_runs_collects_and_leaves_the_artifact_alone(tmp_path: Path) -> None:
    steps = [Step(("python", "main.py"))]
    collect = {"results/*.csv": "tables", "deep": "all"}
    root = real(tmp_path / "r", compile_launcher("a", steps, environment="cpu", collect=collect))
    before = {p: p.read_bytes() for p in (root / "code").rglob("*") if p.is_file()}
    write(root / "outputs/a", {"stale.txt": ""})
    done = run(root)
    assert done.returncode == 0, done.stderr
    assert "cwd is the copy: True" in done.stdout
    assert outputs(root / "outputs/a") == [
        "all/er/x.txt",
        "stdout.txt",
        "tables/new.csv",
        "tables/old.csv",
    ]
    assert (root / "outputs/a/stdout.txt").read_text() == done.stdout
    assert {p: p.read_bytes() for p in (root / "code").rglob("*") if p.is_file()} == before
    assert not list(tmp_path.glob("rra-a.*"))


def test_in_a_copy_that_was_made_it_only_runs(tmp_path: Path) -> None:
    steps = [Step(("python", "main.py"))]
    collect = {"results/*.csv": "tables"}
    root = real(tmp_path / "r", compile_launcher("a", steps, environment="cpu", collect=collect))
    copy, own = tmp_path / "copy", tmp_path / "own"
    write(copy, {"main.py": SCRIPT})
    done = run(root, RRA_CODE_DIR=str(copy), RRA_OUTPUT_DIR=str(own))
    assert done.returncode == 0, done.stderr
    assert outputs(own) == []
    assert outputs(copy) == ["deep/er/x.txt", "main.py", "results/new.csv", "results/old.csv"]


def test_the_first_step_that_fails_ends_it_with_its_status(tmp_path: Path) -> None:
    steps = [Step(("bash", "-c", "exit 7")), Step(("python", "main.py"))]
    root = artifact(tmp_path, compile_launcher("a", steps, environment="cpu", collect={"x": "x"}))
    assert run(root).returncode == 7
    assert not (root / "record").exists()


def test_in_place_the_copy_has_the_code_and_the_data_but_no_other_element(tmp_path: Path) -> None:
    listing = "import json, os; print(json.dumps(sorted(os.listdir('.'))))"
    steps = [Step(("python", "-c", listing))]
    root = real(tmp_path / "r", compile_launcher("a", steps, environment="cpu", code_root="."))
    write(root, {"x.py": "", "data/d.csv": "", ".git/c": "", "evidence/e": "", "rra.yaml": ""})
    assert json.loads(run(root).stdout) == ["bin", "code", "data", "x.py"]


def test_folders_variables_and_steps(tmp_path: Path) -> None:
    steps = [
        Step(("python", "1"), workdir="sub dir", variables=(("A", "x y"),)),
        Step(("python", "2")),
    ]
    text = compile_launcher("a", steps, environment="cpu")
    root = artifact(tmp_path, text, {"sub dir/a.py": ""})
    (root / "bin/python").write_text(
        '#!/bin/sh\nprintf "%s\\0" "$1" "${PWD##*/}" "${A:-}" >> "$RECORD"\n'
    )
    assert run(root).returncode == 0
    assert recorded(root) == ["1", "sub dir", "x y", "2", "code", ""]


@pytest.mark.parametrize(
    ("pattern", "place"),
    [
        ("a.csv", "a.csv"),
        ("results/a.csv", "results/a.csv"),
        ("results/*.csv", "results"),
        ("*.csv", "files"),
        ("runs/*/a.csv", "runs"),
    ],
)
def test_what_code_writes_keeps_its_place(pattern: str, place: str) -> None:
    assert default_collect(pattern) == (pattern, place)


def test_a_search_path_goes_in_front_of_what_is_there(tmp_path: Path) -> None:
    steps = [Step(("python", "1"), variables=(("PYTHONPATH", "a b"),))]
    root = artifact(tmp_path, compile_launcher("a", steps, environment="cpu"))
    (root / "bin/python").write_text('#!/bin/sh\nprintf "%s\\0" "$PYTHONPATH" >> "$RECORD"\n')
    assert run(root).returncode == 0
    assert run(root, PYTHONPATH="/observer:/x").returncode == 0
    assert recorded(root) == ["a b", "a b:/observer:/x"]
