from __future__ import annotations

from typing import Any

import pytest

from rra.errors import UsageError
from rra.launch.parameters import Settings, settle
from rra.model import Launcher

DECLARED = {
    "folds": {"type": "integer", "default": 178},
    "learning-rate": {"type": "number", "default": 0.1},
    "method": {"default": "lda", "choices": ["lda", "qda"]},
    "verbose": {"type": "boolean"},
}


def settled(
    given: dict[str, Any] | None = None,
    *,
    seed: int | None = None,
    smoke: bool = False,
    **more: Any,
) -> Settings:
    document = {"entry": "launchers/a.sh", "environment": "cpu", "parameters": DECLARED, **more}
    return settle(Launcher.model_validate(document), given or {}, seed=seed, smoke=smoke)


@pytest.mark.clause("launcher/given-variables")
def test_defaults_reach_the_launcher_as_variables() -> None:
    settings = settled()
    assert settings.values == {"folds": 178, "learning-rate": 0.1, "method": "lda"}
    assert settings.variables == {
        "RRA_PARAM_FOLDS": "178",
        "RRA_PARAM_LEARNING_RATE": "0.1",
        "RRA_PARAM_METHOD": "lda",
    }
    assert settings.seed is None


@pytest.mark.parametrize(
    ("name", "given", "value", "text"),
    [
        ("folds", "5", 5, "5"),
        ("folds", 5.0, 5, "5"),
        ("learning-rate", "1e-3", 0.001, "0.001"),
        ("learning-rate", "3", 3, "3"),
        ("learning-rate", "-.5", -0.5, "-0.5"),
        ("method", "qda", "qda", "qda"),
        ("verbose", "yes", True, "true"),
        ("verbose", False, False, "false"),
    ],
)
def test_text_is_read_as_the_type_says(name: str, given: Any, value: Any, text: str) -> None:
    settings = settled({name: given})
    assert settings.values[name] == value
    assert type(settings.values[name]) is type(value)
    assert settings.variables["RRA_PARAM_" + name.upper().replace("-", "_")] == text


@pytest.mark.parametrize(
    ("name", "given", "message"),
    [
        ("folds", "many", "parameter folds must be of type integer, not 'many'"),
        ("folds", "1.5", "of type integer"),
        ("folds", 2**60, "of type integer"),
        ("folds", " 7", "of type integer, not ' 7'"),
        ("folds", "1_000", "of type integer"),
        ("folds", "\u0663", "of type integer"),
        ("learning-rate", "0.5 ", "of type number"),
        ("learning-rate", "1_0.5", "of type number"),
        ("learning-rate", "nan", "of type number"),
        ("learning-rate", True, "of type number"),
        ("verbose", "perhaps", "of type boolean"),
        ("method", "svm", "parameter method cannot be 'svm'"),
        ("fold", "5", "no parameter 'fold'"),
    ],
)
def test_a_value_that_does_not_fit_is_refused(name: str, given: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        settled({name: given})
    assert caught.value.hint


def test_choices_and_near_names_are_told() -> None:
    with pytest.raises(UsageError) as caught:
        settled({"method": "svm"})
    assert caught.value.hint == "choices: lda, qda"
    with pytest.raises(UsageError) as caught:
        settled({"fold": 1})
    assert caught.value.hint == "did you mean folds?"


def test_the_seed_is_the_given_one_or_the_first_declared() -> None:
    seeds = {"values": [7, 8]}
    assert settled(seeds=seeds).variables["RRA_SEED"] == "7"
    assert settled(seeds=seeds, seed=3).seed == 3
    assert settled(seed=3).variables["RRA_SEED"] == "3"
    assert "RRA_SEED" not in settled().variables
    with pytest.raises(UsageError, match="too large"):
        settled(seed=2**53)


@pytest.mark.parametrize("value", [1e30, "1e30", "9007199254740992", -(2**53), float("nan")])
def test_a_number_that_no_record_can_hold_is_refused_before_the_run(value: object) -> None:
    with pytest.raises(UsageError, match="no record can hold it"):
        settled({"learning-rate": value})
    with pytest.raises(UsageError, match="no record can hold it"):
        settled(parameters={"size": {"type": "number", "default": 1e30}})
    assert settled({"learning-rate": 2**53 - 1}).values["learning-rate"] == 2**53 - 1


@pytest.mark.clause("launcher/given-seed")
def test_the_seed_goes_where_the_launcher_takes_it() -> None:
    assert settled(seeds={"variable": "SEED", "values": [7]}).variables["SEED"] == "7"
    declared = {**DECLARED, "seed": {"type": "integer", "default": 1}}
    settings = settled(parameters=declared, seeds={"parameter": "seed"}, seed=9)
    assert settings.variables["RRA_PARAM_SEED"] == "9"
    asked = settled({"seed": 4}, parameters=declared, seeds={"parameter": "seed"}, seed=9)
    assert asked.values["seed"] == 4


def test_a_smoke_run_is_short_unless_told_otherwise() -> None:
    smoke = {"parameters": {"folds": 3}}
    assert settled(smoke=True, x=1).values["folds"] == 178
    document = {"entry": "a.sh", "environment": "cpu", "parameters": DECLARED, "smoke": smoke}
    launcher = Launcher.model_validate(document)
    assert settle(launcher, {}, seed=None, smoke=True).values["folds"] == 3
    assert settle(launcher, {}, seed=None, smoke=False).values["folds"] == 178
    assert settle(launcher, {"folds": 4}, seed=None, smoke=True).values["folds"] == 4
