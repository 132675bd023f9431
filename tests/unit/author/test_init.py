from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path, PurePosixPath

import pytest

from rra.artifact import load_artifact
from rra.artifact.repairs import check_equality
from rra.author import apply_init, plan_init
from rra.errors import UsageError
from rra.schema import check_document
from tests.support.lookalikes import write
from tests.support.needs import needs

README = (
    '# A *title* with `code`: "quotes" & {{ braces }}\n\n## Results\n\n'
    "| m | accuracy (%) |\n|--|--|\n| ours | 95.30 |\n\n"
    "```\npython main.py --folds 10 '{folds}'\n```\n"
)
SCRIPT = (
    "import argparse\nimport csv\np = argparse.ArgumentParser()\n"
    "p.add_argument('--folds', type=int, default=5, help='number of {folds}')\n"
    "p.add_argument('--seed', type=int, default=0)\n"
    "p.add_argument('word')\nrows = csv.reader(open('data/d.csv'))\nprint('accuracy:', 100 * x)\n"
)
FILES: dict[str, str | bytes] = {
    "README.md": README,
    "main.py": SCRIPT,
    "data/d.csv": "1,2\n",
    "LICENSE": "Permission is hereby granted, free of charge\n",
}


def tree(root: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in root.rglob("*")
        if path.is_file() and ".git" not in path.relative_to(root).parts
    }


def git(root: Path, *arguments: str) -> str:
    identity = {
        f"GIT_{who}_{what}": "a@example.org"
        for who in ("AUTHOR", "COMMITTER")
        for what in ("NAME", "EMAIL")
    }
    done = subprocess.run(
        ["git", *arguments],
        cwd=root,
        env={**os.environ, **identity, "GIT_CONFIG_GLOBAL": "/dev/null"},
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout.strip()


def committed(root: Path, files: dict[str, str | bytes]) -> Path:
    write(root, files)
    git(root, "init", "-q")
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "x")
    return root


def init(root: Path, *, nested: bool = False) -> None:
    apply_init(plan_init(root, nested=nested))


def test_planning_writes_nothing(tmp_path: Path) -> None:
    write(tmp_path, FILES)
    before = tree(tmp_path)
    plan = plan_init(tmp_path)
    assert tree(tmp_path) == before
    assert sorted(map(str, plan.files)) == [
        ".agents/skills/reproduce/SKILL.md",
        "AGENTS.md",
        "CLAUDE.md",
        "GEMINI.md",
        "guide/GUIDE.md",
        "guide/repairs.yaml",
        "guide/settings.yaml",
        "launchers/main.sh",
        "rra.yaml",
    ]
    assert plan.files[PurePosixPath("launchers/main.sh")].mode == 0o755


def test_the_draft_says_what_the_repository_says(tmp_path: Path) -> None:
    init(write(tmp_path / "My Wine_2", FILES))
    artifact = load_artifact(tmp_path / "My Wine_2")
    manifest = artifact.manifest
    assert artifact.warnings == ()
    assert check_document(artifact.document, "manifest") == []
    assert (manifest.name, manifest.license) == ("my-wine-2", "MIT")
    assert manifest.title == 'A title with code: "quotes" & {{ braces }}'
    assert {name: item.path for name, item in manifest.data.items()} == {"data-d-csv": "data/d.csv"}
    launcher = manifest.launchers["main"]
    assert launcher.inputs == ["data-d-csv"]
    assert {n: (p.type, p.default) for n, p in launcher.parameters.items()} == {
        "folds": ("integer", 10)
    }
    (outcome,) = manifest.outcomes().values()
    assert (outcome.reported, outcome.unit) == ("95.30", "percent")
    assert {n: (s.value, s.source, s.where) for n, s in artifact.settings.items()} == {
        "folds": (10, "code", "README.md:10"),
        "seed": (0, "default", "main.py:5"),
        "word": ("{folds}", "code", "README.md:10"),
    }
    text = (artifact.root / "launchers/main.sh").read_text("utf-8")
    assert """python main.py --folds "$RRA_PARAM_FOLDS" '{folds}'\n""" in text


def test_a_second_run_changes_nothing_and_says_so(tmp_path: Path) -> None:
    init(write(tmp_path, FILES))
    before = tree(tmp_path)
    plan = plan_init(tmp_path)
    assert (plan.exists, plan.changes) == (True, False)
    assert plan.notes == (f"{tmp_path} is an artifact already; nothing to do",)
    assert apply_init(plan) == ()
    assert tree(tmp_path) == before


def test_the_same_repository_gives_the_same_bytes(tmp_path: Path) -> None:
    plans = [plan_init(write(tmp_path / name / "r", FILES)).files for name in ("a", "b")]
    assert plans[0] == plans[1]


def test_a_differing_file_is_replaced_only_with_consent(tmp_path: Path) -> None:
    init(write(tmp_path, FILES))
    guide = tmp_path / "guide/GUIDE.md"
    guide.write_text("mine\n")
    plan = plan_init(tmp_path, overwrite=True)
    assert [str(r.path) for r in plan.replacements] == ["guide/GUIDE.md"]
    assert "-mine\n" in plan.replacements[0].diff
    assert list(map(str, plan.files)) == ["guide/GUIDE.md"]
    (tmp_path / "rra.yaml").unlink()
    with pytest.raises(UsageError, match=r"its own .*guide/"):
        plan_init(tmp_path)
    assert guide.read_text() == "mine\n"


@pytest.mark.parametrize(
    "name", ["AGENTS.md", "launchers/a.sh", "environment/x.yml", "outputs/o", "guide/g"]
)
def test_collisions_are_refused_with_the_way_out(tmp_path: Path, name: str) -> None:
    write(tmp_path, {**FILES, name: "theirs"})
    with pytest.raises(UsageError, match=name.split("/", maxsplit=1)[0]) as caught:
        plan_init(tmp_path)
    assert caught.value.hint.endswith(f": rra init {tmp_path} --nested")
    init(tmp_path, nested=True)
    assert (tmp_path / "code" / name).read_text() == "theirs"
    load_artifact(tmp_path)


def test_nested_moves_everything_and_keeps_a_folder_called_code(tmp_path: Path) -> None:
    write(tmp_path, {**FILES, "code/x.py": "", ".hidden": "h"})
    init(tmp_path, nested=True)
    artifact = load_artifact(tmp_path)
    assert sorted(map(str, artifact.code_files())) == sorted([*FILES, "code/x.py", ".hidden"])
    assert (tmp_path / "LICENSE").read_text() == FILES["LICENSE"]
    assert artifact.manifest.data["data-d-csv"].path == "code/data/d.csv"
    assert check_equality(artifact).ok


@pytest.mark.parametrize("nested", [False, True])
def test_without_git_the_source_is_the_tree_as_found(tmp_path: Path, nested: bool) -> None:  # noqa: FBT001
    init(write(tmp_path, FILES), nested=nested)
    assert check_equality(load_artifact(tmp_path)).ok


@needs("git")
def test_a_clean_repository_names_its_commit_and_tree(tmp_path: Path) -> None:
    files = {name: content for name, content in FILES.items() if name != "data/d.csv"}
    root = committed(tmp_path / "r", files)
    git(root, "remote", "add", "origin", "https://user:secret@example.org/a/b.git")
    head = git(root, "rev-parse", "HEAD"), git(root, "rev-parse", "HEAD^{tree}")
    status = git(root, "count-objects")
    init(root)
    artifact = load_artifact(root)
    source = artifact.manifest.source
    assert source is not None
    assert (source.commit, source.swhid) == (head[0], f"swh:1:dir:{head[1]}")
    assert source.repository == "https://example.org/a/b.git"
    assert artifact.repairs == []
    assert check_equality(artifact).ok
    assert git(root, "count-objects") == status


@needs("git")
@pytest.mark.parametrize("nested", [False, True])
def test_uncommitted_changes_become_a_repair(tmp_path: Path, nested: bool) -> None:  # noqa: FBT001
    root = committed(
        tmp_path / "r",
        {**FILES, ".gitignore": "*.log\ncache/\n", "gone.txt": "x", "b.bin": b"\0\1"},
    )
    write(
        root,
        {
            "main.py": SCRIPT + "# é\n",
            "new [1].txt": "n",
            "b.bin": b"\0\2",
            "a.log": "",
            "cache/c": "",
            "latin.txt": b"caf\xe9\n",
            "win.txt": b"a\r\nb\r\n",
        },
    )
    (root / "gone.txt").unlink()
    (root / "main.py").chmod(0o755)
    (root / "link").symlink_to("main.py")
    head = git(root, "rev-parse", "HEAD^{tree}")
    init(root, nested=nested)
    artifact = load_artifact(root)
    (repair,) = artifact.repairs
    assert repair[0] == "0000-uncommitted-changes"
    assert repair[1].effect_on_results == "possible"
    assert "⟦fill" in repair[1].rationale
    assert artifact.manifest.code.exclude == ["a.log", "cache/"]
    assert check_equality(artifact).ok
    if nested:
        assert artifact.manifest.source is not None
        assert artifact.manifest.source.swhid == f"swh:1:dir:{head}"
    assert "gone.txt" in repair[1].title


@needs("git")
def test_declared_data_in_place_is_left_out_of_the_tree_and_said(tmp_path: Path) -> None:
    root = committed(tmp_path / "r", FILES)
    plan = plan_init(root)
    note = "source.swhid is the tree of HEAD without what is not code here: data/d.csv"
    assert note in plan.notes
    apply_init(plan)
    artifact = load_artifact(root)
    git(root, "rm", "-q", "--cached", "data/d.csv")
    (tree_without, commit) = git(root, "write-tree"), git(root, "rev-parse", "HEAD")
    assert artifact.manifest.source is not None
    assert artifact.manifest.source.swhid == f"swh:1:dir:{tree_without}"
    assert artifact.manifest.source.commit == commit
    assert check_equality(artifact).ok


@needs("git")
def test_a_folder_inside_another_repository_is_not_that_repository(tmp_path: Path) -> None:
    committed(tmp_path, {"other.txt": ""})
    init(write(tmp_path / "inner", FILES))
    source = load_artifact(tmp_path / "inner").manifest.source
    assert source is not None
    assert source.commit is None


@needs("git")
def test_a_repository_without_a_commit_is_taken_as_found(tmp_path: Path) -> None:
    write(tmp_path, FILES)
    git(tmp_path, "init", "-q")
    init(tmp_path)
    assert check_equality(load_artifact(tmp_path)).ok


def test_what_prepares_is_run_first(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "README.md": "```\npython classify.py\npython prepare.py\n```\n",
            "prepare.py": "open('work/x.npz', 'wb')\nprint()\n",
            "classify.py": "open('work/x.npz', 'rb')\nprint('accuracy')\n",
        },
    )
    init(tmp_path)
    assert list(load_artifact(tmp_path).manifest.launchers) == ["classify"]
    text = (tmp_path / "launchers/classify.sh").read_text()
    assert "run() {\n  python prepare.py\n  python classify.py\n}\n" in text


def test_names_with_everything_in_them(tmp_path: Path) -> None:
    name = "an 'odd' {{name}} $x.py"
    quoted = "\"an 'odd' {{name}} \\$x.py\""
    write(
        tmp_path,
        {
            "README.md": f"```\npython {quoted} --re 'a{{1,2}}'\n```\n",
            name: "open('in put.csv')\n",
            "in put.csv": "",
        },
    )
    init(tmp_path)
    manifest = load_artifact(tmp_path).manifest
    (launcher,) = manifest.launchers.values()
    text = (tmp_path / launcher.entry).read_text()
    assert r"""python 'an '\''odd'\'' {{name}} $x.py' --re 'a{1,2}'""" in text
    assert [item.path for item in manifest.data.values()] == ["in put.csv"]


def test_scripts_of_one_name_are_called_by_their_folder(tmp_path: Path) -> None:
    commands = "python a/train.py\npython b/train.py\npython b/train.py --fast\n"
    write(tmp_path, {"README.md": f"```\n{commands}```\n", "a/train.py": "", "b/train.py": ""})
    init(tmp_path)
    launchers = load_artifact(tmp_path).manifest.launchers
    assert list(launchers) == ["train", "b-train", "b-train-2"]


@needs("git")
def test_a_partial_clone_says_what_it_does_not_have(tmp_path: Path) -> None:
    root = committed(tmp_path / "r", {**FILES, "big.bin": "big"})
    blob = git(root, "rev-parse", "HEAD:big.bin")
    (root / "big.bin").unlink()
    (root / ".git/objects" / blob[:2] / blob[2:]).unlink()
    plan = plan_init(root)
    assert "neither in the working tree nor in git's store: big.bin" in plan.notes
    apply_init(plan)
    assert load_artifact(root).repairs == []
    assert check_equality(load_artifact(root)).ok


def test_drafting_again_gives_the_same(tmp_path: Path) -> None:
    init(write(tmp_path, FILES))
    assert not plan_init(tmp_path, overwrite=True).changes


def test_an_empty_folder_gets_a_launcher_to_be_written(tmp_path: Path) -> None:
    plan = plan_init(tmp_path)
    apply_init(plan)
    artifact = load_artifact(tmp_path)
    done = subprocess.run(
        ["bash", tmp_path / "launchers/main.sh"],
        env={**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 64
    assert "no command was found" in done.stderr
    blanks = {(str(path), text) for path, _, text in plan.blanks}
    assert ("rra.yaml", "write the command that makes the results into launchers/main.sh") in blanks
    assert artifact.manifest.license.startswith("⟦fill")


def test_a_notebook_is_run_and_its_outputs_printed(tmp_path: Path) -> None:
    write(
        tmp_path,
        {"nb/a b.ipynb": '{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}'},
    )
    init(tmp_path)
    manifest = load_artifact(tmp_path).manifest
    assert list(manifest.launchers) == ["a-b"]
    assert manifest.environments["cpu"].requirements == ["ipykernel", "nbconvert"]
    assert manifest.launchers["a-b"].collect == {"nb/a b.executed.ipynb": "a b.executed.ipynb"}


@pytest.mark.parametrize("asks", ["input", "raw_input"])
def test_a_script_that_waits_for_input_is_said(tmp_path: Path, asks: str) -> None:
    print2 = "print 'old'" if asks == "raw_input" else "pass"
    write(
        tmp_path,
        {
            **FILES,
            "main.py": f"{print2}\nfolds = int({asks}('How many folds? '))\n",
            "unused.py": "def f():\n    return input()\n",
        },
    )
    (said,) = (note for note in plan_init(tmp_path).notes if "waits for input" in note)
    assert said.startswith("main.py:2 waits for input, and nobody answers during a run")


def test_bad_calls(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such directory"):
        plan_init(tmp_path / "none")
    with pytest.raises(UsageError, match="is not an id") as caught:
        plan_init(tmp_path, name="My Name")
    assert "my-name" in caught.value.hint


@pytest.mark.parametrize("nested", [False, True])
def test_a_link_that_lock_refuses_is_noted(tmp_path: Path, nested: bool) -> None:  # noqa: FBT001
    write(tmp_path, FILES)
    (tmp_path / "good").symlink_to("main.py")
    (tmp_path / "old.csv").symlink_to("gone.csv")
    notes = [note for note in plan_init(tmp_path, nested=nested).notes if "symbolic link" in note]
    assert len(notes) == 1
    assert notes[0].startswith("old.csv is a symbolic link to something that is not in")
    assert "remove the link, or exclude it" in notes[0]


@needs("git")
def test_the_patch_that_repairs_yaml_describes_fits(tmp_path: Path) -> None:
    root = committed(tmp_path, FILES)
    init(root)
    (root / "main.py").write_text(SCRIPT + "# repaired\n")
    (root / "new.py").write_text("x = 1\n")
    commands = re.findall(
        r"^#   (git .*?)(?:    .*)?$", (root / "guide/repairs.yaml").read_text(), re.MULTILINE
    )
    script = "; ".join(commands).replace("NEW-FILES", "new.py")
    script = script.replace("CHANGED-FILES", "main.py new.py")
    script = script.replace("NAME.patch", "guide/repairs/0001-mend.patch")
    (root / "guide/repairs").mkdir()
    subprocess.run(["sh", "-e", "-c", script], cwd=root, check=True)
    (root / "guide/repairs.yaml").write_text(
        "0001-mend: {title: a, symptom: b, cause: c, patch: guide/repairs/0001-mend.patch,"
        " category: protocol, effect_on_results: possible, rationale: d}\n"
    )
    assert check_equality(load_artifact(root)).ok


@pytest.mark.parametrize(
    ("files", "command", "line"),
    [
        # What xunzheng/notears does: the package's script imports the package itself.
        ({"p/__init__.py": "", "p/m.py": "import p\n"}, "python p/m.py", "PYTHONPATH=."),
        ({"src/p/__init__.py": "", "m.py": "import p\n"}, "python m.py", "PYTHONPATH=src"),
        (
            {"lib/x.py": "", "scripts/m.py": "import lib.x\n"},
            "cd scripts && python m.py",
            "PYTHONPATH=..",
        ),
        ({"p/__init__.py": "", "p/m.py": "import p\n"}, "PYTHONPATH=q python p/m.py", "=q"),
        # Nothing is missing: beside the script, a package of that name elsewhere, `-m`.
        ({"p/x.py": "", "x.py": "", "p/m.py": "import x\n"}, "python p/m.py", None),
        ({"json.py": "", "p/m.py": "import json\n"}, "python p/m.py", None),
        ({"p/__init__.py": "", "p/m.py": "import p\n"}, "python -m p.m", None),
        ({"p/__init__.py": "", "m.py": "import p\n"}, "python m.py", None),
    ],
)
def test_python_looks_where_the_code_imports_from(
    tmp_path: Path, files: dict[str, str], command: str, line: str | None
) -> None:
    for name in list(files):
        if name.endswith("m.py"):
            files = {**files, name: files[name] + "print('fine')\n"}
    init(write(tmp_path / "r", {**files, "README.md": f"# R\n\n```\n{command}\n```\n"}))
    text = (tmp_path / "r/launchers/m.sh").read_text()
    body = text.partition("run() {")[2].partition("}\n")[0]
    assert (line in body) if line else ("PYTHONPATH" not in body)
    if line != "=q":
        fresh = {n: v for n, v in os.environ.items() if n != "PYTHONPATH"}
        folder = str(Path(sys.executable).parent)
        done = subprocess.run(
            ["bash", tmp_path / "r/launchers/m.sh"],
            env=fresh | {"PATH": f"{folder}:{os.environ['PATH']}"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.stdout == "fine\n", done.stderr


# ------------------------------------------------------------- what real repositories showed


def test_commands_that_publish_a_package_make_no_launcher(tmp_path: Path) -> None:
    release = "# Notes\n\n```\npython3 -m build\npython3 -m twine upload dist/*\n```\n"
    plan = plan_init(write(tmp_path, {"NOTES.md": release, "study.py": "print(1)\n"}))
    launchers = [path.name for path in plan.files if path.parts[0] == "launchers"]
    assert launchers == ["study.sh"]
    said = "NOTES.md:4: `python3 -m build` runs the module build, which is not in the repository"
    assert said in plan.notes


def test_documents_that_only_prepare_data_leave_the_rest_to_what_can_be_started(
    tmp_path: Path,
) -> None:
    notebook = '{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}'
    files: dict[str, str | bytes] = {
        "README.md": "# Study\n\n```\ncd get_data\npython download_data.py\n```\n",
        "get_data/download_data.py": "print(1)\n",
        "deep/helper.py": "if __name__ == '__main__':\n    print(2)\n",
        "example.ipynb": notebook,
    }
    plan = plan_init(write(tmp_path, files))
    launchers = {path.name for path in plan.files if path.parts[0] == "launchers"}
    assert launchers == {"download-data.sh", "example.sh"}


def test_defaults_that_a_manual_names_are_no_results(tmp_path: Path) -> None:
    readme = (
        "# Tool\n\n## Usage\n\nset the loss: 0.1 (default)\n\n## Examples\n\naccuracy: 83.3 %\n"
    )
    init(write(tmp_path, {"README.md": readme, "main.py": "print('accuracy', 83.3)\n"}))
    outcomes = load_artifact(tmp_path).manifest.outcomes()
    assert [outcome.reported for outcome in outcomes.values()] == ["83.3"]
