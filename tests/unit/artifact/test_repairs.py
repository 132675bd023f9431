from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from rra.artifact import load_artifact
from rra.artifact.repairs import apply_repairs, check_equality, tree_of_folder
from rra.errors import PatchError

MANIFEST = """\
rra: "1.0"
name: two
version: 1.0.0
license: MIT
source: {{swhid: "{tree}"}}
environments: {{cpu: {{kind: pylock, lock: environment/cpu/pylock.toml}}}}
launchers: {{a: {{entry: launchers/a.sh, environment: cpu}}}}
experiments:
  e:
    outcomes:
      o: {{type: number, reported: "1", selector: {{launcher: a, file: f, json: /x}}}}
"""
ENTRY = """\
{id}: {{title: t, symptom: s, cause: c, patch: guide/repairs/{id}.patch, category: path,
  effect_on_results: none, rationale: r}}
"""


def git_bytes(folder: Path, *words: str) -> bytes:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
    done = subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True)
    return done.stdout


def git(folder: Path, *words: str) -> str:
    return git_bytes(folder, *words).decode()


@pytest.fixture
def two_repairs(tmp_path: Path) -> tuple[Path, Path]:
    """An upstream folder, and an artifact whose code is that folder after two patches."""
    code = tmp_path / "artifact" / "code"
    code.mkdir(parents=True)
    (code / "a.py").write_text("one\ntwo\nthree\n")
    (code / "blob").write_bytes(bytes(range(200)))
    (code / "gone.txt").write_text("no newline at end")
    git(code, "init", "-q")
    git(code, "add", "-A")
    git(code, "commit", "-qm", "upstream")
    tree = git(code, "rev-parse", "HEAD^{tree}").strip()
    upstream = tmp_path / "upstream"
    git(tmp_path, "clone", "-q", str(code), str(upstream))
    root = code.parent
    (root / "guide" / "repairs").mkdir(parents=True)

    def first() -> None:
        (code / "a.py").write_text("one\nTWO\nthree\n")

    def second() -> None:
        (code / "gone.txt").unlink()
        (code / "blob").write_bytes(bytes(range(255, 55, -1)))
        (code / "run.sh").write_bytes(b"#!/bin/sh\r\n")
        (code / "run.sh").chmod(0o755)

    changes = {"0001-first": first, "0002-second": second}
    for name, change in changes.items():
        change()
        git(code, "add", "-A")
        patch = git_bytes(code, "diff", "--binary", "--full-index", "--cached")
        (root / "guide" / "repairs" / f"{name}.patch").write_bytes(patch)
        git(code, "commit", "-qm", name)
    (root / "guide" / "repairs.yaml").write_text("".join(ENTRY.format(id=n) for n in changes))
    (root / "rra.yaml").write_text(MANIFEST.format(tree=f"swh:1:dir:{tree}"))
    return upstream, root


def test_patches_taken_back_give_the_source_tree(two_repairs: tuple[Path, Path]) -> None:
    upstream, root = two_repairs
    result = check_equality(load_artifact(root))
    assert result.ok is True
    assert result.computed == f"swh:1:dir:{git(upstream, 'rev-parse', 'HEAD^{tree}').strip()}"
    assert [step for step, _ in result.steps] == ["0002-second", "0001-first"]


def test_patches_applied_to_the_source_give_the_code(two_repairs: tuple[Path, Path]) -> None:
    upstream, root = two_repairs
    applied = list(apply_repairs(load_artifact(root), upstream))
    assert [step.id for step in applied] == ["0001-first", "0002-second"]
    assert applied[-1].tree == tree_of_folder(root / "code")
    assert (upstream / "run.sh").stat().st_mode & 0o111


def test_a_change_without_a_patch_is_seen(two_repairs: tuple[Path, Path]) -> None:
    _, root = two_repairs
    (root / "code" / "extra.py").write_text("undeclared = True\n")
    result = check_equality(load_artifact(root))
    assert result.ok is False
    assert "differs from the source tree" in result.message
    assert result.differing == ("extra.py is new",)
    assert result.message.endswith("): extra.py is new")


def test_up_to_three_files_that_differ_are_named(two_repairs: tuple[Path, Path]) -> None:
    _, root = two_repairs
    code = root / "code"
    (code / "0.py").write_text("new\n")
    (code / "zz ü.py").write_text("new\n")
    (code / "b.py").symlink_to("a.py")
    (code / "sub").mkdir()
    (code / "sub" / "c.py").write_text("new\n")
    result = check_equality(load_artifact(root))
    assert result.differing == tuple(
        f"{name} is new" for name in ("0.py", "b.py", "sub/c.py", "zz ü.py")
    )
    assert result.message.endswith("): 0.py is new, b.py is new, sub/c.py is new and 1 more")
    shutil.rmtree(code / ".git")
    result = check_equality(load_artifact(root))
    assert (result.ok, result.differing) == (False, ())
    assert result.message.endswith(")")


def test_the_commit_of_the_source_names_files_where_its_tree_is_in_no_store(
    tmp_path: Path,
) -> None:
    """As `rra init .` drafts it: the tree is that of HEAD without what is not code."""
    root = tmp_path / "study"
    root.mkdir()
    for name in ("main.py", "data.csv", "old.py"):
        (root / name).write_text(f"{name}\n")
    git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "upstream")
    commit = git(root, "rev-parse", "HEAD").strip()
    manifest = MANIFEST.format(tree="swh:1:dir:" + "1" * 40)
    source = f"commit: {commit}, swhid:"
    assert manifest.count("swhid:") == 1
    manifest = manifest.replace("swhid:", source)
    more = 'code: {root: "."}\ndata: {d: {path: data.csv, access: bundled}}\n'
    (root / "rra.yaml").write_text(manifest + more)
    (root / "main.py").write_text("edited\n")
    (root / "old.py").unlink()
    result = check_equality(load_artifact(root))
    assert result.differing == ("main.py is changed", "old.py is gone")


def test_a_patch_that_does_not_fit_is_named(two_repairs: tuple[Path, Path]) -> None:
    upstream, root = two_repairs
    (root / "code" / "a.py").write_text("one\nother\nthree\n")
    result = check_equality(load_artifact(root))
    assert result.ok is False
    assert "repair 0001-first cannot be taken back from the code" in result.message
    (upstream / "a.py").write_text("nothing alike\n")
    with pytest.raises(PatchError, match="repair 0001-first does not apply to"):
        list(apply_repairs(load_artifact(root), upstream))


def test_without_a_source_tree_equality_is_not_claimed(two_repairs: tuple[Path, Path]) -> None:
    _, root = two_repairs
    text = (root / "rra.yaml").read_text()
    (root / "rra.yaml").write_text("\n".join(x for x in text.splitlines() if "source" not in x))
    result = check_equality(load_artifact(root))
    assert result.ok is None
    assert "cannot be checked" in result.message
