from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path, PurePosixPath

import pytest

from rra._base.resources import template_path
from rra.artifact import load_artifact
from rra.author import Step, apply_init, compile_launcher, plan_init, render_guide
from rra.errors import FormatError, UsageError
from rra.lint import lint_artifact
from rra.values.selectors import select_outcome
from tests.support.bundles import tree
from tests.support.lookalikes import write

NASTY = "{{ 7 * 7 }} \"q\" 'a' {% raw %} <b>"


def test_the_shipped_template_is_an_artifact_that_lints_but_for_its_blanks(tmp_path: Path) -> None:
    root = tmp_path / "new"
    plan = plan_init(root, template="python-script", name="x")
    assert not root.exists()
    apply_init(plan)
    artifact = load_artifact(root)
    assert artifact.warnings == ()
    assert artifact.manifest.name == "x"
    assert not render_guide(artifact).changed
    codes = {finding.rule for finding in lint_artifact(root).findings}
    assert codes == {"RRA003", "RRA201", "RRA401"}  # no lock yet, and the blanks


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
    undefined = write(
        tmp_path / "u",
        {"cookiecutter.json": '{"a": "b"}', "{{cookiecutter.a}}/f": "{{ cookiecutter.no }}"},
    )
    with pytest.raises(FormatError, match="no"):
        plan_init(tmp_path, template=str(undefined))


def test_a_template_does_not_overwrite(tmp_path: Path) -> None:
    write(tmp_path, {"README.md": "mine"})
    with pytest.raises(UsageError, match=r"README\.md"):
        plan_init(tmp_path, template="python-script")


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
    ours.pop("guide/GUIDE.md")  # has the tables that are generated from the rest
    assert ours == {name: seen for name, seen in tree(Path(made)).items() if name in ours}
    assert set(tree(Path(made))) == {*ours, "guide/GUIDE.md"}
