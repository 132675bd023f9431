from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import rra
from rra.cli.main import COMMANDS
from rra.cli.verb import VerbCommand, safe
from tests.support.source import ROOT
from tests.support.verbs import verbs

BIN = Path(sys.executable).with_name("rra")


def call(*words: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [BIN, *words], cwd=cwd, capture_output=True, text=True, check=False, timeout=60
    )


def test_version_is_the_packages() -> None:
    done = call("--version")
    assert (done.returncode, done.stdout) == (0, f"rra {rra.__version__}\n")


def test_help_lists_every_verb_in_the_order_of_the_work() -> None:
    text = call("--help").stdout
    places = [text.index(f"\n  {verb} ") for verb in COMMANDS]
    assert places == sorted(places)


@pytest.mark.parametrize("words", [(), ("verify",), ("spec", "migrate")])
def test_the_docs_show_the_help_as_it_is_printed(words: tuple[str, ...]) -> None:
    page = ROOT / "docs/reference/cli" / f"{'-'.join(words) or 'index'}.md"
    text = call(*words, "--help").stdout
    assert f"```text\n{text}```\n" in page.read_text("utf-8")
    if not words:
        assert f"```text\n{text}```\n" in (ROOT / "README.md").read_text("utf-8")


def test_an_explanation_without_topic_says_how_clauses_are_listed() -> None:
    lines = call("explain").stdout.splitlines()
    assert "manifest  32 clauses" in lines
    assert any("rra explain PAGE" in line for line in lines)


def test_an_unknown_verb_is_answered_with_the_nearest() -> None:
    done = call("verfy")
    assert done.returncode == 2
    assert "no verb is called 'verfy'; did you mean verify?" in done.stderr


@pytest.mark.parametrize("verb", verbs())
def test_help_of_each_verb_ends_with_two_examples(verb: str) -> None:
    command = verbs()[verb]
    assert isinstance(command, VerbCommand)
    assert len(command.examples) == 2
    assert all(example.startswith(f"rra {verb}") for example in command.examples)
    text = call(*verb.split(), "--help").stdout
    assert "--json" in text
    assert text.rstrip().endswith(command.examples[-1].split()[-1])


def test_an_error_says_what_and_what_to_do_and_has_its_exit_code(tmp_path: Path) -> None:
    done = call("lock", str(tmp_path))
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr == (
        f"error: {tmp_path} holds no rra.yaml [usage/not-an-artifact]\n"
        f"  what to do: make one with: rra init {tmp_path}\n"
    )


def test_the_same_error_as_json(tmp_path: Path) -> None:
    done = call("lock", str(tmp_path), "--json")
    assert done.returncode == 2
    assert json.loads(done.stdout) == {
        "rra": "1.0",
        "verb": "lock",
        "ok": False,
        "exit_code": 2,
        "result": {
            "error": {
                "slug": "usage/not-an-artifact",
                "message": f"{tmp_path} holds no rra.yaml",
                "hint": f"make one with: rra init {tmp_path}",
            }
        },
        "problems": [],
    }


def test_problems_of_a_manifest_come_with_their_places(tmp_path: Path) -> None:
    (tmp_path / "rra.yaml").write_text("rra: 1.0\nname: x\nversion: 1.0.0\nlicence: MIT\n")
    done = call("repair", cwd=tmp_path)
    assert done.returncode == 4
    lines = done.stderr.splitlines()
    assert lines[0].startswith("error: rra.yaml:1:1: rra must be text, not the number 1.0")
    assert any("1:1: the document lacks the required key license" in line for line in lines)
    assert any("rra.yaml:4:1: unknown key 'licence', nearest known key license" in x for x in lines)
    assert lines[-2] == "error: rra.yaml breaks the format: 2 problems [format/invalid]"


def test_a_closed_pipe_is_no_error() -> None:
    script = f"{BIN} explain | head -n 1; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_control_characters_of_a_file_name_cannot_steer_the_terminal() -> None:
    assert safe("a\x1b[2Jb\u202ec") == "a\\x1b[2Jb\\x202ec"


@pytest.mark.parametrize(
    ("words", "verb", "said"),
    [
        (["run", "--jsno", "--json"], "run", "No such option"),
        (["--json", "verfy"], "rra", "No such option"),
        (["verfy", "--json"], "rra", "no verb is called 'verfy'; did you mean verify?"),
        (["diff", "--json"], "diff", "Missing argument"),
        (["claims", "suggest", "--json", "--nope"], "claims-suggest", "No such option"),
        (["run", "--set", "x", "--json"], "run", "--set x: give NAME=VALUE"),
        (
            ["run", "--set", "n=1", "--set", "n=2", "--json"],
            "run",
            "--set n=2: n is given twice, as '1' before",
        ),
    ],
)
def test_a_wrong_call_is_said_to_a_machine_too(words: list[str], verb: str, said: str) -> None:
    done = call(*words)
    document = json.loads(done.stdout)
    assert (done.returncode, done.stderr) == (2, "")
    assert (document["verb"], document["ok"], document["exit_code"]) == (verb, False, 2)
    assert document["result"]["error"]["slug"] == "usage"
    assert said in document["result"]["error"]["message"]
    assert document["result"]["error"]["hint"].startswith("see rra")


def test_a_wrong_call_without_json_is_said_on_stderr_only() -> None:
    done = call("run", "--jsno")
    assert (done.returncode, done.stdout) == (2, "")
    assert "No such option" in done.stderr
    assert call("run", "--", "--json").stdout == ""
