from __future__ import annotations

from typing import Any

import pytest

from rra._base.yaml import parse_yaml
from rra.artifact.checking import check_bytes
from rra.artifact.left_out import left_out
from rra.artifact.semantics.needs import components

TOP = 'rra: "1.0"\nname: wine\nversion: 1.0.0\nlicense: MIT\n'
ENVIRONMENTS = "environments: {cpu: {kind: pylock, lock: environment/cpu/pylock.toml}}\n"
EXPERIMENTS = (
    'experiments: {t: {outcomes: {a: {type: number, reported: "1", '
    "selector: {launcher: a, file: m.json, json: /a}}}}}\n"
)


def faults(launchers: str, environments: str = ENVIRONMENTS) -> list[tuple[str, str]]:
    text = f"{TOP}{environments}launchers: {launchers}\n{EXPERIMENTS}"
    checked = check_bytes(text.encode(), "manifest", source="rra.yaml")
    assert checked.stage == "semantic", checked.problems
    return [(one.clause, one.pointer) for one in checked.errors]


def launcher(more: str) -> str:
    return f"{{a: {{entry: a.sh, environment: cpu, {more}}}}}"


def test_every_fault_of_a_launcher_is_said_at_once() -> None:
    found = faults(
        launcher(
            "needs: [b], outputs: [x, X, stderr.txt], parameters: {n: {default: 1}}, "
            "smoke: {parameters: {m: 1, n: 2}}, seeds: {values: [1]}, deterministic: true"
        )
    )
    here = "/launchers/a"
    assert set(found) == {
        ("launcher/needs-are-defined", f"{here}/needs/0"),
        ("launcher/outputs-differ", f"{here}/outputs/1"),
        ("launcher/streams-are-reserved", f"{here}/outputs/2"),
        ("launcher/defaults-fit-their-type", f"{here}/parameters/n/default"),
        ("launcher/parameters-are-declared", f"{here}/smoke/parameters/m"),
        ("launcher/values-fit-their-parameter", f"{here}/smoke/parameters/n"),
        ("launcher/seeds-or-deterministic", f"{here}/deterministic"),
    }


def circles(**needs: list[str]) -> list[tuple[str, str]]:
    parts = [
        f"{name}: {{entry: {name}.sh, environment: cpu, needs: [{', '.join(others)}]}}"
        for name, others in needs.items()
    ]
    return faults("{" + ", ".join(parts) + "}")


def test_each_circle_is_said_once_at_its_smallest_id() -> None:
    clause = "launcher/needs-form-no-circle"
    assert circles(z=["a"], a=["z"], b=["a"]) == [(clause, "/launchers/a/needs")]
    two = circles(d=["c"], c=["d"], b=["a"], a=["b"])
    assert sorted(two) == [(clause, "/launchers/a/needs"), (clause, "/launchers/c/needs")]
    # two circles that share a launcher are one
    assert circles(a=["b", "c"], b=["a"], c=["a"]) == [(clause, "/launchers/a/needs")]
    assert circles(a=["a", "b"], b=[]) == [("launcher/needs-not-itself", "/launchers/a/needs/0")]


def test_a_long_chain_of_needs_is_no_circle_and_ends_soon() -> None:
    many = 20_000
    chain = {str(number): [str(number + 1)] for number in range(many)} | {str(many): []}
    assert all(len(group) == 1 for group in components(chain))
    chain[str(many)] = ["0"]
    assert [len(group) for group in components(chain)] == [many + 1]


@pytest.mark.parametrize(
    ("parameter", "clause"),
    [
        ("{type: integer, default: 3.0}", None),
        ("{type: integer, default: 3.5}", "launcher/defaults-fit-their-type"),
        ("{type: integer, default: true}", "launcher/defaults-fit-their-type"),
        ("{type: number, default: 1, choices: [1.0, 2]}", None),
        ("{type: boolean, default: true, choices: [true]}", None),
        ("{type: boolean, default: 1}", "launcher/defaults-fit-their-type"),
        ("{default: no}", None),
        ("{default: x, choices: [X]}", "launcher/default-is-a-choice"),
    ],
)
def test_defaults_by_type(parameter: str, clause: str | None) -> None:
    found = faults(launcher(f"parameters: {{p: {parameter}}}"))
    expected = [(clause, "/launchers/a/parameters/p/default")] if clause else []
    assert found == expected


def test_near_names_are_suggested() -> None:
    text = TOP + ENVIRONMENTS.replace("cpu:", "gpu:", 1).replace("gpu: {kind", "cpu: {kind", 1)
    text += f"launchers: {launcher('parameters: {folds: {}}, matrix: {fold: [x]}')}\n{EXPERIMENTS}"
    (problem,) = check_bytes(text.encode(), "manifest", source="rra.yaml").errors
    assert problem.message == "no parameter is called 'fold'"
    assert problem.hint == "did you mean folds?"


def document(launcher: str, environment: str) -> Any:
    text = (
        f"environments: {{e: {{{environment}}}}}\nlaunchers: {{a: {{environment: e, {launcher}}}}}"
    )
    return parse_yaml(text, source="rra.yaml")


@pytest.mark.clause("launcher/what-is-left-out-is-said")
def test_what_a_run_leaves_out_is_said() -> None:
    found = left_out(
        document(
            "matrix: {p: [1, 2]}, secrets: [{env: TOKEN}]",
            "kind: pylock, accelerator: {kind: cuda}, rootfs: x.tar",
        ),
        ["a"],
    )
    assert [(one.pointer, one.severity) for one in found] == [
        ("/launchers/a/matrix", "warning"),
        ("/environments/e/accelerator", "warning"),
        ("/environments/e/rootfs", "warning"),
    ]
    assert "with the defaults only" in found[0].message


def test_what_is_carried_out_is_not_warned_about() -> None:
    quiet = document(
        "smoke: {wall: 1}, limits: {wall: 3}", "kind: pylock, accelerator: {kind: none}"
    )
    assert left_out(quiet, ["a"]) == ()
    loud = document("matrix: {p: [1]}", "kind: pylock")
    assert left_out(loud, []) == ()
