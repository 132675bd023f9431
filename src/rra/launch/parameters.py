"""What a launcher is told: parameters, seed, and the variables that carry them."""

from __future__ import annotations

import dataclasses
import difflib
import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from rra.errors import UsageError
from rra.model import Launcher, Parameter

Scalar = str | int | float | bool

LARGEST_INTEGER = 2**53 - 1
"""Beyond it integers have no canonical JSON (RFC 8785, I-JSON)."""

_INTEGER = re.compile(r"[+-]?[0-9]+")
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
"""How text writes a number; Python would also take blanks, underscores and digits of any script."""

_TRUE, _FALSE = {"true", "yes", "1"}, {"false", "no", "0"}


@dataclasses.dataclass(frozen=True, slots=True)
class Settings:
    """Values that one run is given.

    Attributes:
        values: Every parameter that has a value.
        seed: Seed of the run, if it has one.
        variables: Environment variables that carry both.
    """

    values: dict[str, Scalar]
    seed: int | None
    variables: dict[str, str]


def settle(
    launcher: Launcher, given: Mapping[str, Any], *, seed: int | None, smoke: bool
) -> Settings:
    """Combine defaults, short values of a smoke run, given values and the seed.

    Args:
        launcher: Its declaration.
        given: Values by name; text is read as the parameter's type.
        seed: Seed of this run; the first declared one by default.
        smoke: Whether this is a smoke run.

    Raises:
        UsageError: A name is unknown, a value has the wrong type, is not among the choices or
            is a whole number that cannot be recorded.
    """
    short = (launcher.smoke.parameters or {}) if smoke and launcher.smoke else {}
    wanted = {**short, **given}
    seeds = launcher.seeds
    if seed is None and seeds is not None and seeds.values:
        seed = seeds.values[0]
    if seed is not None and seeds is not None and seeds.parameter and seeds.parameter not in given:
        wanted[seeds.parameter] = seed
    if seed is not None and abs(seed) > LARGEST_INTEGER:
        message = f"seed {seed} is too large"
        raise UsageError(message, hint=f"take one up to {LARGEST_INTEGER}")
    _check_names(launcher, wanted)
    values: dict[str, Scalar] = {}
    for name, parameter in launcher.parameters.items():
        value = _value(name, parameter, wanted)
        if value is not None:
            values[name] = _recordable(name, value)
    variables = {f"RRA_PARAM_{_upper(name)}": as_text(value) for name, value in values.items()}
    if seed is not None:
        variables["RRA_SEED"] = str(seed)
        if seeds is not None and seeds.variable:
            variables[seeds.variable] = str(seed)
    return Settings(values, seed, variables)


def as_text(value: Scalar) -> str:
    """Write a value as an environment variable carries it: booleans as ``true`` and ``false``."""
    return value if isinstance(value, str) else json.dumps(value)


def _upper(name: str) -> str:
    return name.upper().replace("-", "_")


def _check_names(launcher: Launcher, wanted: Mapping[str, Any]) -> None:
    for name in wanted:
        if name not in launcher.parameters:
            known = list(launcher.parameters)
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"did you mean {near[0]}?" if near else f"parameters: {', '.join(known)}"
            message = f"the launcher has no parameter {name!r}"
            raise UsageError(message, hint=hint if known else "it declares none")


def _value(name: str, parameter: Parameter, wanted: Mapping[str, Any]) -> Scalar | None:
    if name not in wanted:
        return parameter.default
    value = _typed(name, parameter.type, wanted[name])
    if parameter.choices is not None and value not in parameter.choices:
        message = f"parameter {name} cannot be {as_text(value)!r}"
        choices = ", ".join(as_text(choice) for choice in parameter.choices)
        raise UsageError(message, hint=f"choices: {choices}")
    return value


def _recordable(name: str, value: Scalar) -> Scalar:
    if isinstance(value, int | float) and not abs(value) <= LARGEST_INTEGER:  # NaN, too
        message = f"parameter {name} cannot be {value}: no record can hold it"
        hint = f"numbers go up to {LARGEST_INTEGER}; take a parameter of type string"
        raise UsageError(message, hint=hint)
    return value


def _typed(name: str, kind: str, value: Any) -> Scalar:
    try:
        return _READERS[kind](value)
    except ValueError as error:
        message = f"parameter {name} must be of type {kind}, not {value!r}"
        raise UsageError(message, hint=f"give a value such as {_EXAMPLES[kind]}") from error


def _boolean(value: Any) -> bool:
    text = as_text(value).lower()
    if text not in _TRUE | _FALSE:
        raise ValueError(value)
    return text in _TRUE


def _integer(value: Any) -> int:
    if isinstance(value, str) and not _INTEGER.fullmatch(value):
        raise ValueError(value)
    if isinstance(value, bool) or (isinstance(value, float) and not value.is_integer()):
        raise ValueError(value)
    if abs(int(value)) > LARGEST_INTEGER:
        raise ValueError(value)
    return int(value)


def _number(value: Any) -> int | float:
    if isinstance(value, bool):
        raise ValueError(value)  # noqa: TRY004 - caught above with the others
    if isinstance(value, int | float):
        return value
    if isinstance(value, str) and not _NUMBER.fullmatch(value):
        raise ValueError(value)
    number = float(value)
    if number != number or number in {float("inf"), float("-inf")}:  # noqa: PLR0124 - NaN
        raise ValueError(value)
    return int(value) if value.strip().lstrip("+-").isdigit() else number


def _string(value: Any) -> str:
    return as_text(value)


_READERS: dict[str, Callable[[Any], Scalar]] = {
    "string": _string,
    "integer": _integer,
    "number": _number,
    "boolean": _boolean,
}
_EXAMPLES = {"string": "text", "integer": "178", "number": "0.5", "boolean": "true"}
