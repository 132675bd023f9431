"""Commands that texts propose name the artifact that the command line was given."""

from __future__ import annotations

from pathlib import Path

import click
import pytest

from rra.cli.hints import for_artifact
from rra.cli.main import group
from rra.cli.text import next_step
from tests.acceptance.command import rra


@pytest.fixture
def given(tmp_path: Path) -> Path:
    """An artifact's directory with a name that a shell would split."""
    place = tmp_path / "my study"
    place.mkdir()
    return place


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("rra lock", "rra lock 'P'"),
        ("rra lock --keep, then rra audit", "rra lock 'P' --keep, then rra audit 'P'"),
        ("rra env check --available, or rra env build", None),
        ("mend it and rra run", "mend it and rra run -C 'P'"),
        ("run: rra run train-it", "run: rra run -C 'P' train-it"),
        ("rra claims suggest --write", "rra claims suggest 'P' --write"),
        ("correct it, and rra lint again", "correct it, and rra lint 'P' again"),
        # These name no artifact, or one of their own, or are no commands.
        ("rra explain CODE", "rra explain CODE"),
        ("rra doctor", "rra doctor"),
        ("lock it with: rra lock elsewhere", "lock it with: rra lock elsewhere"),
        ("rra lock writes that down", "rra lock writes that down"),
        ("rra diff --json shows digests", "rra diff --json shows digests"),
    ],
)
def test_commands_get_the_artifact(given: Path, text: str, expected: str | None) -> None:
    expected = expected or "rra env check 'P' --available, or rra env build 'P'"
    context = click.Context(group)
    context.params["artifact"] = given
    with context:
        assert for_artifact(text) == expected.replace("P", str(given))
        assert next_step(text) == f"next: {expected.replace('P', str(given))}"


def test_the_current_directory_is_not_named(given: Path) -> None:
    context = click.Context(group)
    context.params["artifact"] = Path()
    with context:
        assert next_step("rra lock, then rra run") == "next: rra lock, then rra run"
        assert next_step("rra lock", given) == f"next: rra lock '{given}'"


@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        ("oci-archive:x.tar", "rra audit oci-archive:x.tar, then rra report oci-archive:x.tar"),
        ("a b", "rra audit 'a b', then rra report 'a b'"),
    ],
)
def test_a_bundle_is_named_where_the_verb_takes_one(reference: str, expected: str) -> None:
    context = click.Context(group)
    context.params["artifact"] = reference
    with context:
        assert next_step("rra audit, then rra report") == f"next: {expected}"
        assert next_step("rra lock") == "next: rra lock"  # it takes directories alone


def test_what_init_lock_env_and_next_say_can_be_pasted(tmp_path: Path) -> None:
    (tmp_path / "some" / "dir").mkdir(parents=True)
    (tmp_path / "some" / "dir" / "main.py").write_text("print(1)\n")
    answer = rra("init", "some/dir", cwd=tmp_path).expect(0)
    assert answer.out.rstrip().endswith("then rra run -C some/dir")
    # The lock that init makes where nothing is needed is among the files that it says it wrote.
    for name in ("environment/cpu/pylock.toml", "environment/cpu/requirements.txt", "rra.lock"):
        assert f"  {name}\n" in answer.out
    answer = rra("lock", "some/dir", cwd=tmp_path).expect(0)
    assert answer.out.rstrip().endswith("next: rra run -C some/dir")
    answer = rra("env", "check", "some/dir", cwd=tmp_path).expect(0)
    expected = "next: rra env check some/dir --available, or rra env build some/dir"
    assert answer.out.rstrip().endswith(expected)
    (tmp_path / "some" / "dir" / "environment/cpu/pylock.toml").unlink()
    answer = rra("env", "check", "some/dir", cwd=tmp_path)
    assert "rra lock some/dir" in answer.said


def test_errors_name_what_is_there_instead(tmp_path: Path) -> None:
    (tmp_path / "study" / "artifact").mkdir(parents=True)
    (tmp_path / "study" / "artifact" / "rra.yaml").write_text("rra: '1.0'\n")
    (tmp_path / "plain.txt").write_text("no archive\n")
    answer = rra("env", "check", "study", cwd=tmp_path).expect(2)
    assert "study holds no rra.yaml" in answer.err
    assert "give the directory that holds it: study/artifact" in answer.err
    for verb in ("init", "lock", "scan"):
        assert "no such file: nothere.tar.gz" in rra(verb, "nothere.tar.gz", cwd=tmp_path).err
        assert "plain.txt is a file" in rra(verb, "plain.txt", cwd=tmp_path).err
