"""No module and no function grows past what one can read at once."""

from __future__ import annotations

import statistics

from tests.support.source import Function, functions, modules

MODULE_HARD = 600
MODULE_MEDIAN = 150
FUNCTION_HARD = 80
FUNCTION_P95 = 45


def length(function: Function) -> int:
    return (function.end_lineno or function.lineno) - function.lineno + 1


def test_no_module_is_longer_than_600_lines() -> None:
    long = {str(module.path): module.lines for module in modules() if module.lines > MODULE_HARD}
    assert long == {}


def test_the_median_module_has_at_most_150_lines() -> None:
    assert statistics.median(module.lines for module in modules()) <= MODULE_MEDIAN


def test_no_function_is_longer_than_80_lines() -> None:
    long = {
        f"{module.path}:{function.lineno} {name}": length(function)
        for module in modules()
        for name, function in functions(module)
        if length(function) > FUNCTION_HARD
    }
    assert long == {}


def test_95_of_100_functions_have_at_most_45_lines() -> None:
    lengths = sorted(length(function) for module in modules() for _, function in functions(module))
    assert lengths[int(len(lengths) * 0.95)] <= FUNCTION_P95
