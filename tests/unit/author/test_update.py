from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from rra import api
from rra._base.resources import template_path
from rra.artifact import load_artifact
from rra.author import apply_init, plan_init
from rra.author.template_record import RECORD
from rra.author.update import apply_update, plan_update
from rra.errors import FormatError, UnsafePathError, UsageError
from tests.acceptance.command import rra
from tests.support.bundles import tree
from tests.support.lookalikes import write
from tests.support.needs import needs

pytestmark = needs("git")

CODE = "{{cookiecutter.name}}/code/main.py"
MANIFEST = "{{cookiecutter.name}}/rra.yaml"


def change(path: Path, old: str, new: str) -> None:
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new), "utf-8")


@pytest.fixture
def template(tmp_path: Path) -> Path:
    """A copy of a shipped template, which a later version can be made of."""
    place = tmp_path / "templates" / "study"
    shutil.copytree(template_path("python-script"), place)
    return place


@pytest.fixture
def root(tmp_path: Path, template: Path) -> Path:
    place = tmp_path / "mine"
    answers = {"title": "{{ of }} mine", "python": "3.11"}
    apply_init(plan_init(place, template=str(template), answers=answers))
    return place


def newer(template: Path, version: str = "2.0") -> None:
    change(
        template / "cookiecutter.json",
        '"_template_version": "1.0"',
        f'"_template_version": "{version}"',
    )


def whats(root: Path, **options: object) -> dict[str, str]:
    plan = plan_update(root, **options)  # type: ignore[arg-type]
    apply_update(plan)
    return {str(update.path): update.what for update in plan.updates}


def test_the_same_version_changes_nothing(root: Path) -> None:
    change(root / "code/main.py", "t = ", "t is ")
    before = tree(root)
    assert whats(root) == {}
    assert tree(root) == before


def test_changes_of_both_sides_are_kept(root: Path, template: Path) -> None:
    newer(template)
    change(template / CODE, "import csv\n", "import csv  # of the standard library\n")
    change(template / MANIFEST, "authors:\n", "keywords: [sleep]\nauthors:\n")
    write(template, {"{{cookiecutter.name}}/NOTES.md": "of {{ cookiecutter.title }}\n"})
    (template / "{{cookiecutter.name}}/GEMINI.md").unlink()
    change(root / "code/main.py", "if __name__ ==", "# mine\nif __name__ ==")
    change(root / "rra.yaml", 'reported: "1.58"', 'reported: "1.6"')
    change(root / "guide/GUIDE.md", "## Known limits\n", "## Known limits\n\nNone.\n")
    assert whats(root) == {
        "GEMINI.md": "removed",
        "NOTES.md": "added",
        "code/main.py": "merged",
        "rra.yaml": "merged",
    }
    code = (root / "code/main.py").read_text("utf-8")
    assert "# of the standard library" in code
    assert "# mine" in code
    manifest = load_artifact(root).manifest
    assert manifest.keywords == ["sleep"]
    assert manifest.outcomes()["sleep/mean-difference"].reported == "1.6"
    assert manifest.title == "{{ of }} mine"  # an answer, kept and never rendered
    assert (root / "NOTES.md").read_text("utf-8") == "of {{ of }} mine\n"
    assert not (root / "GEMINI.md").exists()
    assert json.loads((root / RECORD).read_text("utf-8"))["version"] == "2.0"
    assert whats(root) == {}


def test_a_conflict_is_said_and_touches_nothing_of_the_file(root: Path, template: Path) -> None:
    newer(template)
    change(template / CODE, "statistics.mean(hours)", "statistics.fmean(hours)")
    change(template / MANIFEST, "version: 0.1.0", "version: 0.2.0")
    change(root / "code/main.py", "statistics.mean(hours)", "statistics.median(hours)")
    before = (root / "code/main.py").read_bytes()
    result = api.update(root)
    assert (result.exit_code, result.before, result.after) == (1, "1.0", "2.0")
    (conflict,) = [update for update in result.updates if update.what == "conflict"]
    assert str(conflict.path) == "code/main.py"
    assert "median(hours)" in conflict.diff
    assert "fmean(hours)" in conflict.diff
    assert (root / "code/main.py").read_bytes() == before
    assert load_artifact(root).manifest.version == "0.2.0"  # the others are brought up to date
    again = api.update(root)  # and it is said again until it is solved
    assert [update.what for update in again.updates] == ["conflict"]
    assert json.loads((root / RECORD).read_text("utf-8"))["version"] == "1.0"
    change(root / "code/main.py", "statistics.median(hours)", "statistics.fmean(hours)")
    assert api.update(root).exit_code == 0
    assert json.loads((root / RECORD).read_text("utf-8"))["version"] == "2.0"


@pytest.mark.parametrize(
    ("choice", "held", "code"),
    [("author", ["median"], 0), ("template", ["fmean"], 0), ("mark", ["median", "fmean"], 1)],
)
def test_the_author_decides_conflicts(
    root: Path, template: Path, choice: str, held: list[str], code: int
) -> None:
    newer(template)
    change(template / CODE, "statistics.mean(hours)", "statistics.fmean(hours)")
    change(root / "code/main.py", "statistics.mean(hours)", "statistics.median(hours)")
    assert api.update(root, conflicts=choice).exit_code == code  # type: ignore[arg-type]
    text = (root / "code/main.py").read_text("utf-8")
    assert [word for word in ("median", "fmean") if f"statistics.{word}(hours)" in text] == held
    assert ("<<<<<<< yours\n" in text) == (choice == "mark")
    assert api.update(root).exit_code == 0


def test_what_comes_next_is_what_was_not_done_yet(root: Path, template: Path) -> None:
    newer(template)
    change(template / CODE, "statistics.mean(hours)", "statistics.fmean(hours)")
    change(root / "code/main.py", "statistics.mean(hours)", "statistics.median(hours)")

    def following(*options: str) -> str:
        return rra("update", root, *options).expect(1).out.splitlines()[-1]

    assert following().endswith(f"or rra update {root} --conflicts mark")
    assert following("--dry-run", "--conflicts", "mark").startswith("next: rra lint")
    assert following("--conflicts", "mark") == (
        f"next: at each mark in code/main.py keep what is right, then rra lint {root}"
    )


def test_no_marks_are_put_into_the_manifest(root: Path, template: Path) -> None:
    """With marks in it no verb could read it any more, update among them."""
    newer(template)
    change(template / "{{cookiecutter.name}}/rra.yaml", "license: MIT", "license: BSD-3-Clause")
    change(root / "rra.yaml", "license: MIT", "license: Apache-2.0")
    before = (root / "rra.yaml").read_bytes()
    result = api.update(root, conflicts="mark")
    assert result.exit_code == 1
    (manifest,) = [one for one in result.updates if str(one.path) == "rra.yaml"]
    assert manifest.what == "conflict"
    assert "it would break the format" in manifest.why
    said = rra("update", root, "--conflicts", "mark").expect(1).out.splitlines()[-1]
    assert said == (
        f"next: change rra.yaml towards the template's, or rra update {root} --conflicts author"
    )
    assert (root / "rra.yaml").read_bytes() == before
    assert api.update(root, conflicts="author").exit_code == 0
    assert load_artifact(root).manifest.license == "Apache-2.0"


def test_what_the_author_removed_stays_removed_and_what_is_changed_is_not_removed(
    root: Path, template: Path
) -> None:
    newer(template)
    change(template / "{{cookiecutter.name}}/LICENSE", "MIT License", "The MIT License")
    (template / "{{cookiecutter.name}}/README.md").unlink()
    (root / "LICENSE").unlink()
    change(root / "README.md", "A Refined", "My refined")
    assert whats(root) == {"LICENSE": "kept", "README.md": "kept"}
    assert not (root / "LICENSE").exists()
    assert "My refined" in (root / "README.md").read_text("utf-8")
    assert whats(root) == {}


def test_a_dry_run_shows_the_difference_and_writes_nothing(root: Path, template: Path) -> None:
    newer(template)
    change(template / CODE, "import csv\n", "import csv  # here\n")
    before = tree(root)
    result = api.update(root, dry_run=True)
    assert "+import csv  # here\n" in result.updates[0].diff
    assert tree(root) == before


def test_a_manifest_is_never_merged_into_one_that_breaks_the_format(
    root: Path, template: Path
) -> None:
    newer(template)
    change(template / MANIFEST, "experiments:\n", "keywords: [sleep]\nexperiments:\n")
    change(root / "rra.yaml", "version: 0.1.0", "keywords: [mine]\nversion: 0.1.0")
    result = api.update(root)
    (conflict,) = result.updates
    assert (conflict.what, "keywords" in conflict.why) == ("conflict", True)
    assert load_artifact(root).manifest.keywords == ["mine"]


def test_the_guide_is_merged_around_its_tables(root: Path, template: Path) -> None:
    newer(template)
    guide = "{{cookiecutter.name}}/guide/GUIDE.md"
    change(template / guide, "## Known limits\n", "## Limits\n")
    change(root / "rra.yaml", 'reported: "1.58"', 'reported: "1.6"')
    api.guide(root)  # what is rendered between the markers is no change of the author's
    assert whats(root) == {"guide/GUIDE.md": "updated"}
    text = (root / "guide/GUIDE.md").read_text("utf-8")
    assert "## Limits\n" in text
    assert "| 1.6 hours |" in text
    assert not api.guide(root).changed


def test_line_ends_of_windows_are_kept(root: Path, template: Path) -> None:
    newer(template)
    change(template / "{{cookiecutter.name}}/README.md", "Artifact.", "Artifact, refined.")
    readme = root / "README.md"
    readme.write_bytes(readme.read_bytes().replace(b"\n", b"\r\n") + b"mine\r\n")
    assert whats(root) == {"README.md": "merged"}
    data = readme.read_bytes()
    assert b"Artifact, refined.\r\n" in data
    assert data.count(b"\n") == data.count(b"\r\n")


def test_files_that_are_no_text_are_taken_whole(root: Path, template: Path) -> None:
    picture = "{{cookiecutter.name}}/code/p.png"
    for side in (template / picture, root / "code/p.png"):
        side.write_bytes(b"\x89PNG\0" + str(side).encode())
    newer(template)
    assert whats(root) == {"code/p.png": "conflict"}
    assert whats(root, conflicts="template") == {"code/p.png": "updated"}
    assert (root / "code/p.png").read_bytes() == (template / picture).read_bytes()


def test_a_variable_that_is_new_gone_or_answered_anew(root: Path, template: Path) -> None:
    newer(template)
    config = json.loads((template / "cookiecutter.json").read_text("utf-8"))
    config["hue"] = "green"
    del config["author"]
    (template / "cookiecutter.json").write_text(json.dumps(config), "utf-8")
    for name in ("rra.yaml", "LICENSE"):
        path = template / "{{cookiecutter.name}}" / name
        path.write_text(path.read_text("utf-8").replace("cookiecutter.author", "cookiecutter.hue"))
    plan = plan_update(root, answers={"title": "Another {{ one }}"})
    apply_update(plan)
    assert plan.notes == ("the template has no variable author any more",)
    manifest = load_artifact(root).manifest
    assert manifest.title == "Another {{ one }}"
    assert [author.name for author in manifest.authors or []] == ["green"]


def test_an_update_that_was_killed_is_finished_by_the_next(
    root: Path, template: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    newer(template)
    change(template / CODE, "import csv\n", "import csv  # here\n")
    change(template / MANIFEST, "authors:\n", "keywords: [sleep]\nauthors:\n")
    change(root / "code/main.py", "if __name__ ==", "# mine\nif __name__ ==")
    done = shutil.copytree(root, root.with_name("done"))
    whats(done)
    plan = plan_update(root)
    for kept in range(len(plan.files)):  # as many files as were written before the kill
        place = shutil.copytree(root, root.with_name(f"killed-{kept}"))
        for path in sorted(plan.files, key=lambda p: (str(p) == RECORD, str(p)))[:kept]:
            (place / path).write_bytes(plan.files[path].data)
        whats(place)
        assert tree(place) == tree(done)


def test_records_that_are_missing_broken_or_hostile(root: Path, tmp_path: Path) -> None:
    record = root / RECORD
    good = json.loads(record.read_text("utf-8"))
    outside = tmp_path / "victim"
    outside.write_text("precious")
    entry = {"sha256": "", "executable": False, "text": "precious"}
    for bad in (
        b"{",
        b"[]",
        b"\xff",
        json.dumps({**good, "type": "x"}).encode(),
        json.dumps({**good, "files": {"../victim": entry}}).encode(),
        json.dumps({**good, "files": {"/etc/x": entry}}).encode(),
    ):
        record.write_bytes(bad)
        with pytest.raises(FormatError, match="record of a template"):
            plan_update(root)
    assert outside.read_text() == "precious"
    for text, said in (
        ("{}", "it has no type"),
        ('{"type": "rra-template/v1"}', "it has no files"),
        ('{"type": ', "line 1, column 10 is no JSON"),
        ("[]", "what should be a map of names is none"),
    ):
        record.write_text(text)
        with pytest.raises(FormatError, match=f"not the record of a template: {said}"):
            plan_update(root)
    record.unlink()
    with pytest.raises(UsageError, match="not made from a template"):
        plan_update(root)
    record.write_text(json.dumps({**good, "template": "../nowhere"}))
    with pytest.raises(UsageError, match="no template is called"):
        plan_update(root)


def test_a_link_in_the_place_of_a_file_is_not_written_through(
    root: Path, template: Path, tmp_path: Path
) -> None:
    newer(template)
    change(template / CODE, "import csv\n", "import csv  # here\n")
    outside = tmp_path / "victim.py"
    shutil.move(root / "code/main.py", outside)
    (root / "code/main.py").symlink_to(outside)
    before = outside.read_bytes()
    with pytest.raises(UnsafePathError):
        plan_update(root)
    assert outside.read_bytes() == before


def test_a_template_that_has_moved_is_found_where_the_author_says(
    root: Path, template: Path
) -> None:
    moved = template.rename(template.with_name("elsewhere"))
    newer(moved)
    with pytest.raises(UsageError, match="no template is called"):
        plan_update(root)
    apply_update(plan_update(root, template=str(moved)))
    assert json.loads((root / RECORD).read_text("utf-8"))["template"] == "../templates/elsewhere"


@pytest.mark.parametrize("other", ["notebook", "folder"])
def test_a_template_is_not_turned_into_another(
    root: Path, template: Path, tmp_path: Path, other: str
) -> None:
    if other == "folder":
        other = str(tmp_path / "templates" / "elsewhere")
        shutil.copytree(template, other)
    before = tree(root)
    with pytest.raises(
        UsageError, match=r"was made from the template \.\./templates/study"
    ) as caught:
        plan_update(root, template=other)
    assert "rra init DIRECTORY --template NAME" in caught.value.hint
    assert tree(root) == before


def test_a_template_for_an_artifact_that_is_there_is_refused(root: Path, template: Path) -> None:
    with pytest.raises(UsageError, match="already, made from the template"):
        api.init(root, template="notebook")
    with pytest.raises(UsageError, match="already, made with other answers"):
        api.init(root, template=str(template), answers={"title": "another"})
    result = api.init(root, template=str(template), answers={"title": "{{ of }} mine"})
    assert result.notes == (f"{root} is an artifact already; nothing to do",)
    again = api.init(root, template=str(template), answers={"title": "{{ of }} mine"})
    assert (again.written, again.notes) == ((), result.notes)
    (root / RECORD).unlink()
    with pytest.raises(UsageError, match="already, and was made from no template"):
        api.init(root, template=str(template))


def test_b27_a_record_replays_what_was_answered(root: Path, tmp_path: Path) -> None:
    again = tmp_path / "elsewhere" / "other-name"
    apply_init(plan_init(again, template=str(root / RECORD)))
    ours, theirs = tree(root), tree(again)
    assert load_artifact(again).manifest.title == "{{ of }} mine"
    ours.pop(RECORD), theirs.pop(RECORD)  # each names the template's folder from where it stands
    assert ours == theirs
    apply_init(plan_init(tmp_path / "x", template=str(root / RECORD), answers={"title": "New"}))
    assert load_artifact(tmp_path / "x").manifest.title == "New"
