"""The functions of the api on a tiny artifact: what they return, not how it is printed."""

from __future__ import annotations

import importlib
import inspect
import json
from pathlib import Path

import pytest

from rra import api
from rra.api import _ledger
from rra.errors import FormatError, UsageError
from tests.support.artifacts import make_artifact, outcome
from tests.support.verbs import verbs

COMPUTE = """\
import json
right = [number % 90 != 0 for number in range(180)]
print(json.dumps({"accuracy": 100 * sum(right) / len(right)}))
"""
# 178 of 180 is 98.888… percent, which rounds to 98.9.

FUNCTIONS = sorted(name.replace(" ", "_") for name in verbs())


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    return make_artifact(tmp_path / "tiny", {"main.py": COMPUTE}).root


def test_there_is_a_function_for_each_verb() -> None:
    assert sorted(api.__all__) == FUNCTIONS
    for verb in FUNCTIONS:
        function = getattr(api, verb)
        assert function.__module__ == f"rra.api._{verb}"
        assert "progress" in inspect.signature(function).parameters
        assert function.__doc__


def test_the_api_loads_no_verb_before_it_is_asked_for() -> None:
    module = importlib.import_module("rra.api")
    assert dir(module) == FUNCTIONS
    with pytest.raises(AttributeError, match="nothing_of_the_kind"):
        module.nothing_of_the_kind  # noqa: B018 - looking it up is the test


def test_run_gives_the_value_in_the_unit_of_the_outcome(tmp_path: Path) -> None:
    fraction = outcome("98.9", unit="percent", file_unit="fraction")
    root = make_artifact(
        tmp_path,
        {"main.py": "print('{\"accuracy\": 0.9888}')\n"},
        experiments={"table": {"outcomes": {"accuracy": fraction}}},
    ).root
    result = api.run(root, sandbox="none")
    assert result.ok
    assert [(v.outcome, v.value, v.error) for v in result.values] == [
        ("table/accuracy", "98.8800", None)
    ]
    (run,) = result.runs
    assert (root / run.evidence / "record.json").is_file()
    assert run.evidence.split("/")[-1] == run.record.removeprefix("sha256:")[:16]


def test_run_of_a_failing_launcher_is_no_and_says_why(tmp_path: Path) -> None:
    root = make_artifact(tmp_path, {"main.py": "raise SystemExit('no data here')\n"}).root
    result = api.run(root, sandbox="none")
    assert result.exit_code == 1
    assert "no data here" in result.runs[0].message
    assert result.values[0].error == "main did not succeed"


@pytest.mark.parametrize("text", ["NaN", "Infinity"])
def test_run_of_a_launcher_that_writes_no_number_is_no(tmp_path: Path, text: str) -> None:
    root = make_artifact(tmp_path, {"main.py": f"print('{{\"accuracy\": {text}}}')\n"}).root
    result = api.run(root, sandbox="none")
    assert result.exit_code == 1
    assert result.values[0].error == f"metrics.json, /accuracy is {text}, which is not a number"


def test_what_needs_a_failed_launcher_does_not_run(tmp_path: Path) -> None:
    launcher = {"environment": "cpu", "deterministic": True}
    root = make_artifact(
        tmp_path,
        {"main.py": "raise SystemExit(3)\n", "launchers/second.sh": "echo never\n"},
        launchers={
            "second": {"entry": "launchers/second.sh", "needs": ["main"], **launcher},
            "main": {"entry": "launchers/main.sh", **launcher},
        },
    ).root
    result = api.run(root, sandbox="none")
    assert [run.launcher for run in result.runs] == ["main"]
    assert "second did not run: a launcher it needs failed" in str(result.problems[-1])


def test_run_refuses_an_unknown_parameter(tiny: Path) -> None:
    with pytest.raises(UsageError, match="no launcher of this run has a parameter 'folds'"):
        api.run(tiny, parameters={"folds": "3"})


def test_verify_then_report_show_the_same_nonce(tiny: Path, tmp_path: Path) -> None:
    verified = api.verify(tiny, sandbox="none")
    assert verified.exit_code == 0
    assert [o.verdict for o in verified.reproduction.outcomes] == ["reproduced"]
    plan = json.loads((verified.directory / "plan.json").read_text())
    assert plan["nonce"] == verified.reproduction.nonce
    page = tmp_path / "page.html"
    written = api.report(tiny, page)
    assert written.nonce == verified.reproduction.nonce
    assert verified.reproduction.nonce in page.read_text()


def test_a_report_without_verification_claims_nothing(tiny: Path, tmp_path: Path) -> None:
    written = api.report(tiny, tmp_path / "page.html")
    assert written.nonce is None
    assert "not verified" in (tmp_path / "page.html").read_text().lower()


def test_a_verification_of_another_state_is_refused(tiny: Path, tmp_path: Path) -> None:
    verified = api.verify(tiny, sandbox="none")
    (tiny / "code" / "main.py").write_text(COMPUTE + "# changed\n")
    with pytest.raises(UsageError, match="verifies core sha256"):
        api.report(tiny, tmp_path / "p.html", reproduction=verified.directory)
    assert api.report(tiny, tmp_path / "p.html").nonce is None


@pytest.mark.clause("references/outcome-defined")
def test_references_for_an_unknown_outcome_are_refused(tiny: Path, tmp_path: Path) -> None:
    references = tmp_path / "references.yaml"
    score = '{value: "98.9"}'
    references.write_text(f"table/accurracy: {{scores: [{score}, {score}, {score}]}}\n")
    with pytest.raises(UsageError, match="references for table/accurracy, which the artifact"):
        api.verify(tiny, references=references)


@pytest.mark.clause("references/decimal")
@pytest.mark.parametrize("value", ["98,9", "98.9 %", "LDA", "1_000", "0x1F", "", "."])
def test_references_of_a_number_are_decimal(tiny: Path, tmp_path: Path, value: str) -> None:
    references = tmp_path / "references.yaml"
    good = '{value: "-9.89e1"}'
    bad = f'{{value: "{value}"}}'
    references.write_text(f"table/accuracy: {{scores: [{good}, {bad}, {good}]}}\n")
    with pytest.raises((UsageError, FormatError)) as caught:
        api.verify(tiny, references=references)
    assert value in str(caught.value) + "".join(map(str, getattr(caught.value, "problems", ())))


@pytest.mark.parametrize("asked", ["98.9", "table/accuracy", "accuracy", "98.89", "98.9 %"])
def test_trace_follows_numbers_and_names(tiny: Path, asked: str) -> None:
    api.run(tiny, sandbox="none")
    result = api.trace(tiny, asked)
    (trace,) = result.traces
    assert result.ok
    assert trace.outcome == "table/accuracy"
    assert trace.file == "metrics.json"
    assert trace.entry is not None
    assert trace.entry.path == "launchers/main.sh"
    assert [script.path for script in trace.scripts] == ["code/main.py"]


def test_trace_without_a_run_is_no(tiny: Path) -> None:
    result = api.trace(tiny, "98.9")
    assert result.exit_code == 1
    assert result.traces[0].record is None


def test_trace_of_an_unknown_number_lists_the_claims(tiny: Path) -> None:
    with pytest.raises(UsageError) as caught:
        api.trace(tiny, "12.34")
    assert "table/accuracy (98.9)" in caught.value.hint


def test_next_goes_from_lock_to_verify(tiny: Path) -> None:
    (tiny / "LICENSE").write_text("MIT\n")
    lock = tiny / "environment" / "cpu" / "pylock.toml"
    content = lock.read_text()
    lock.unlink()
    assert api.next(tiny).steps[0].command == "rra lock --environment cpu"
    lock.write_text(content)
    before = api.next(tiny)
    errors = [step.what for step in before.steps]
    assert (before.level, before.next_level) in {("L0", "L1"), ("none", "L0")}, errors


def test_next_says_what_it_rests_on_in_a_sentence(
    tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tiny / "LICENSE").write_text("MIT\n")
    (tiny / "guide").mkdir(exist_ok=True)
    (tiny / "guide" / "GUIDE.md").write_text("# Guide\n")
    api.lock(tiny)
    first = api.next(tiny)
    assert first.level == "L0", first.steps
    assert first.basis == "the rules alone: as it is now it was never verified"
    plan = {"nonce": "n", "outcomes": []}
    failed = {"level": "none", "plan": plan, "level_reasons": [], "outcomes": []}
    monkeypatch.setattr(_ledger, "newest", lambda *_: (Path("verification.json"), failed))
    assert api.next(tiny).basis == (
        "the rules, which found errors when it was verified (verification.json) and find none now"
    )


def test_lock_of_nothing_needs_no_network(tiny: Path) -> None:
    result = api.lock(tiny)
    assert [(one.id, one.packages) for one in result.environments] == [("cpu", ())]
    first = (tiny / "rra.lock").read_bytes()
    assert api.lock(tiny).changed is False
    assert (tiny / "rra.lock").read_bytes() == first
    assert json.loads(first)["core"] == result.core


def test_repair_without_source_is_not_a_yes(tiny: Path) -> None:
    result = api.repair(tiny)
    assert (result.equal, result.exit_code) == (None, 1)


def test_init_twice_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text(COMPUTE)
    (tmp_path / "README.md").write_text("# Study\n\n```\npython main.py\n```\n")
    first = api.init(tmp_path)
    assert "rra.yaml" in first.written
    assert first.locked
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    second = api.init(tmp_path)
    assert second.written == ()
    assert {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()} == before


def test_init_dry_run_writes_nothing(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text(COMPUTE)
    result = api.init(tmp_path, dry_run=True)
    assert "rra.yaml" in result.written
    assert [path.name for path in tmp_path.iterdir()] == ["main.py"]


def test_a_report_by_default_lies_where_it_is_neither_code_nor_packed(tiny: Path) -> None:
    before = api.lock(tiny).core
    written = api.report(tiny)
    assert written.file == tiny / "outputs" / "report.html"
    assert api.lock(tiny).core == before


def test_next_names_what_no_archive_may_hold(tiny: Path) -> None:
    """A core digest cannot be computed of it."""
    (tiny / "code/out.txt").symlink_to("/etc/hostname")
    steps = [step.what for step in api.next(tiny).steps]
    assert any("code/out.txt: is a symbolic link to an absolute path" in what for what in steps)


def test_next_gives_commands_not_hints(tiny: Path) -> None:
    api.lock(tiny)
    manifest = tiny / "rra.yaml"
    text = manifest.read_text()
    assert "metrics.json" in text
    manifest.write_text(text.replace('"file": "metrics.json"', '"file": "nowhere.json"'))
    steps = [s for s in api.next(tiny).steps if "does not declare nowhere.json" in s.what]
    assert [step.command for step in steps] == ["rra explain RRA501"]
    assert "add nowhere.json to the outputs of launcher" in steps[0].what


def test_report_names_its_file_without_detours(tiny: Path) -> None:
    (tiny / "outputs").mkdir()
    result = api.report(tiny, tiny / "outputs" / ".." / "page.md", style="markdown")
    assert result.file == tiny.resolve() / "page.md"
