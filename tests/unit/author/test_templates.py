from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path, PurePosixPath

import pytest

from rra._base.resources import template_path, templates
from rra.artifact import load_artifact
from rra.artifact.notebook import read_cells
from rra.author import (
    ParameterWord,
    Step,
    apply_init,
    compile_launcher,
    plan_init,
    render_guide,
)
from rra.author.draft_launchers import SHOW_OUTPUTS
from rra.author.template_record import RECORD
from rra.errors import FormatError, UsageError
from rra.lint import lint_artifact
from rra.values.selectors import select_outcome
from tests.support.bundles import tree
from tests.support.lookalikes import write

NASTY = "{{ 7 * 7 }} \"q\" 'a' {% raw %} <b>"


@pytest.mark.parametrize("name", templates())
def test_each_shipped_template_is_an_artifact_that_lints_but_for_its_blanks(
    tmp_path: Path, name: str
) -> None:
    root = tmp_path / "new"
    plan = plan_init(root, template=name, name="x")
    assert not root.exists()
    apply_init(plan)
    artifact = load_artifact(root)
    assert artifact.warnings == ()
    assert artifact.manifest.name == "x"
    assert not render_guide(artifact).changed
    codes = {finding.rule for finding in lint_artifact(root).findings}
    assert codes == {"RRA003", "RRA201", "RRA401"}  # no lock yet, and the blanks
    text = "".join(path.read_text("utf-8") for path in root.glob("guide/*"))
    named = set(re.findall(r"launchers/(\w+)\.sh", text + (root / "AGENTS.md").read_text("utf-8")))
    assert named <= set(artifact.manifest.launchers)


def test_launchers_of_several_share_what_one_of_them_has_prepared(tmp_path: Path) -> None:
    apply_init(plan_init(tmp_path / "x", template="multi-launcher"))
    fit = Step(("python", "fit.py", "--set", ParameterWord("set")))
    launchers = tmp_path / "x/launchers"
    expected = {
        "prepare": compile_launcher("prepare", [Step(("python", "prepare.py"))], environment="cpu"),
        "fit": compile_launcher("fit", [fit], environment="cpu", parameters={"set": "1"}),
        "table": compile_launcher("table", [Step(("python", "table.py"))], environment="cpu"),
    }
    python = write(tmp_path / "bin", {}) / "python"
    python.symlink_to(Path(sys.executable).resolve())
    path = f"{python.parent}:{os.environ['PATH']}"
    for name, text in expected.items():
        assert (launchers / f"{name}.sh").read_text("utf-8") == text
        subprocess.run(
            ["bash", launchers / f"{name}.sh"], check=True, env={**os.environ, "PATH": path}
        )
    outcomes = load_artifact(tmp_path / "x").manifest.outcomes()
    assert len(outcomes) == 5
    for outcome in outcomes.values():
        place = tmp_path / "x/outputs" / outcome.selector.launcher
        decimals = len(str(outcome.reported).partition(".")[2])
        assert f"{select_outcome([place], outcome).value:.{decimals}f}" == outcome.reported


def test_the_cells_of_the_notebook_give_the_reported_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    apply_init(plan_init(tmp_path / "x", template="notebook"))
    root = tmp_path / "x"
    done = "analysis.executed.ipynb"
    execute = ("python", "-m", "nbconvert", "--to", "notebook", "--execute", "analysis.ipynb")
    steps = [
        Step((*execute, "--output", done)),
        Step(("python", "-c", SHOW_OUTPUTS, done)),
    ]
    text = compile_launcher("analysis", steps, environment="cpu", collect={done: done})
    assert (root / "launchers/analysis.sh").read_text("utf-8") == text
    monkeypatch.setenv("RRA_DATA_DIR", str(root / "data"))
    monkeypatch.setenv("RRA_OUTPUT_DIR", str(tmp_path))
    names: dict[str, object] = {}
    for cell in read_cells(root / "code/analysis.ipynb"):
        if cell.kind == "code":
            exec(cell.source, names)
    outcome = load_artifact(root).manifest.outcomes()["first-graph/r-squared"]
    assert f"{select_outcome([tmp_path], outcome).value:.3f}" == outcome.reported == "0.667"


def test_its_launcher_is_what_is_compiled_and_gives_the_reported_number(tmp_path: Path) -> None:
    apply_init(plan_init(tmp_path / "x", template="python-script"))
    launcher = tmp_path / "x/launchers/main.sh"
    step = Step(("python", "main.py"))
    assert launcher.read_text("utf-8") == compile_launcher("main", [step], environment="cpu")
    bin_folder = write(tmp_path / "bin", {})
    (bin_folder / "python").symlink_to(Path(sys.executable).resolve())
    path = f"{bin_folder}:{os.environ['PATH']}"
    subprocess.run(["bash", launcher], check=True, env={**os.environ, "PATH": path})
    outcome = load_artifact(tmp_path / "x").manifest.outcomes()["sleep/mean-difference"]
    value = select_outcome([tmp_path / "x/outputs/main"], outcome).value
    assert f"{value:.2f}" == outcome.reported == "1.58"


def test_answers_are_copied_not_rendered(tmp_path: Path) -> None:
    apply_init(plan_init(tmp_path / "x", template="python-script", answers={"title": NASTY}))
    assert load_artifact(tmp_path / "x").manifest.title == NASTY
    assert f"# {NASTY}\n" in (tmp_path / "x/README.md").read_text("utf-8")


def test_anybodys_template_with_its_own_variables(tmp_path: Path) -> None:
    template = write(
        tmp_path / "t",
        {
            "cookiecutter.json": (
                '{"who": "me", "greeting": "hello {{ cookiecutter.who }}", "k": ["a", "b"]}'
            ),
            "{{cookiecutter.who}}/{{cookiecutter.k}}.txt": (
                "{{ cookiecutter.greeting }}, {{ cookiecutter.name }}"
            ),
            "hooks/pre_gen_project.py": "raise SystemExit(1)",
        },
    )
    plan = plan_init(tmp_path / "new", template=str(template), name="n", answers={"who": "{{x}}"})
    assert plan.files[PurePosixPath("a.txt")].data == b"hello {{x}}, n"
    assert any("hooks" in note for note in plan.notes)


def test_templates_that_do_not_exist_or_are_broken(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no template is called nix") as caught:
        plan_init(tmp_path, template="nix")
    assert "python-script" in caught.value.hint
    with pytest.raises(UsageError, match="no variable colour"):
        plan_init(tmp_path, template="python-script", answers={"colour": "red"})
    broken = write(tmp_path / "b", {"cookiecutter.json": "{"})
    with pytest.raises(FormatError, match=r"cookiecutter\.json"):
        plan_init(tmp_path, template=str(broken))
    odd = write(
        tmp_path / "o",
        {"cookiecutter.json": '{"a": "b"}', "{{cookiecutter.a}}/rra.yaml": "rra: '1.0'\n"},
    )
    with pytest.raises(FormatError, match=r"the template's rra\.yaml breaks the format"):
        plan_init(tmp_path, template=str(odd))
    undefined = write(
        tmp_path / "u",
        {"cookiecutter.json": '{"a": "b"}', "{{cookiecutter.a}}/f": "{{ cookiecutter.no }}"},
    )
    with pytest.raises(FormatError, match="no"):
        plan_init(tmp_path, template=str(undefined))


@pytest.mark.parametrize("answer", ['The "best" of it', "a \\q b", 'ends in "'])
def test_an_answer_that_a_template_does_not_quote_is_named_with_the_way_to_quote_it(
    tmp_path: Path, answer: str
) -> None:
    template = tmp_path / "template"
    shutil.copytree(template_path("python-script"), template)
    manifest = template / "{{cookiecutter.name}}" / "rra.yaml"
    text = manifest.read_text("utf-8")
    quoted = next(line for line in text.splitlines() if line.startswith("title: "))
    manifest.write_text(text.replace(quoted, 'title: "{{ cookiecutter.title }}"'), "utf-8")
    with pytest.raises(FormatError) as caught:
        plan_init(tmp_path / "made", template=str(template), answers={"title": answer})
    assert "the template gives a document that breaks the format: rra.yaml:7:" in str(caught.value)
    assert "holds the answer to title" in caught.value.hint
    assert "{{ cookiecutter.title | jsonify }}" in caught.value.hint
    assert not (tmp_path / "made").exists()

    # What the hint says is right.
    manifest.write_text(text.replace(quoted, "title: {{ cookiecutter.title | jsonify }}"), "utf-8")
    apply_init(plan_init(tmp_path / "made", template=str(template), answers={"title": answer}))
    assert load_artifact(tmp_path / "made").manifest.title == answer


def test_a_template_does_not_overwrite(tmp_path: Path) -> None:
    write(tmp_path, {"README.md": "mine"})
    with pytest.raises(UsageError, match=r"README\.md"):
        plan_init(tmp_path, template="python-script")


def test_the_record_of_a_template_is_no_code_where_the_code_is_the_root(tmp_path: Path) -> None:
    template = tmp_path / "t"
    shutil.copytree(template_path("python-script"), template)
    manifest = template / "{{cookiecutter.name}}/rra.yaml"
    text = manifest.read_text("utf-8")
    manifest.write_text(text.replace("code: {root: code}", "code: {root: .}"), "utf-8")
    apply_init(plan_init(tmp_path / "x", template=str(template)))
    assert (tmp_path / "x" / RECORD).is_file()
    files = {str(path) for path in load_artifact(tmp_path / "x").code_files()}
    assert "code/main.py" in files
    assert RECORD not in files


# ------------------------------------------------------------------------------------ B27


@pytest.fixture
def cookiecutter_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with a configuration of cookiecutter that has answers of its own."""
    home = tmp_path / "home"
    write(
        home,
        {
            ".cookiecutterrc": f"replay_dir: {home}/replay\n"
            "default_context: {title: From the configuration, author: Nobody}\n",
            "replay/python-script.json": '{"cookiecutter": {"title": "Of last year"}}',
        },
    )
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("COOKIECUTTER_CONFIG", str(home / ".cookiecutterrc"))
    return home


ANSWERS = {"title": "Sleep: a second look = 1 + 1", "author": "Ada Ü. {{x}}", "python": "3.12"}


def test_b27_the_same_answers_give_the_same_tree(tmp_path: Path, cookiecutter_home: Path) -> None:
    first, second = tmp_path / "one" / "study", tmp_path / "two" / "study"
    for place in (first, second):
        apply_init(plan_init(place, template="python-script", answers=ANSWERS))
        defaults = place.with_name("defaults")  # what was answered before is not remembered …
        apply_init(plan_init(defaults, template="python-script"))
        assert "second look" not in (defaults / "rra.yaml").read_text()
    assert tree(first) == tree(second)
    said = (first / "rra.yaml").read_text() + (first / "LICENSE").read_text()
    assert "Sleep: a second look = 1 + 1" in said
    assert "Ada Ü. {{x}}" in said
    for other in ("From the configuration", "Nobody", "Of last year"):  # … nor taken from anywhere
        assert other not in said
    recorded = (cookiecutter_home / "replay" / "python-script.json").read_text()
    assert recorded == '{"cookiecutter": {"title": "Of last year"}}'


def test_b27_a_replay_by_cookiecutter_keeps_the_answers(
    tmp_path: Path, cookiecutter_home: Path
) -> None:
    """The shipped template is one of cookiecutter's; its record of answers replays as it was."""
    from cookiecutter.main import cookiecutter

    given = {key: value for key, value in ANSWERS.items() if key != "author"}
    apply_init(plan_init(tmp_path / "study", template="python-script", answers=given))
    shipped = str(template_path("python-script"))
    options = {"config_file": str(cookiecutter_home / ".cookiecutterrc")}
    made = cookiecutter(
        shipped,
        no_input=True,
        extra_context={**given, "name": "study", "author": "the authors"},
        output_dir=str(tmp_path / "scaffolded"),
        **options,
    )
    replayed = cookiecutter(shipped, replay=True, output_dir=str(tmp_path / "replayed"), **options)
    assert tree(Path(made)) == tree(Path(replayed))
    ours = tree(tmp_path / "study")
    ours.pop(RECORD)  # ours alone
    ours.pop("guide/GUIDE.md")  # has the tables that are generated from the rest
    assert ours == {name: seen for name, seen in tree(Path(made)).items() if name in ours}
    assert set(tree(Path(made))) == {*ours, "guide/GUIDE.md"}
