"""Quantiles of the t, F and chi-squared distributions, and the power of a t test.

Quantiles come from mpmath's regularised incomplete beta and gamma functions, solved by
bisection to fifteen digits: SciPy would be a hundred megabytes for three functions.
Relations: Abramowitz & Stegun, *Handbook of Mathematical Functions*, 26.5.27 and 26.6.2.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from decimal import Decimal
from typing import Any

_RELATIVE = 1e-17


@functools.cache
def _context() -> Any:
    """Return an mpmath context of our own, so that the caller's precision is left alone."""
    import mpmath

    context = mpmath.mp.clone()
    context.dps = 22
    return context


def _solve(increasing: Callable[[Any], Any], target: float, low: float, high: float) -> Any:
    """Find where an increasing function reaches a target, by bisection."""
    context = _context()
    left, right, wanted = context.mpf(low), context.mpf(high), context.mpf(target)
    for _ in range(400):
        middle = (left + right) / 2
        if increasing(middle) < wanted:
            left = middle
        else:
            right = middle
        if right - left <= _RELATIVE * right:
            break
    return (left + right) / 2


def _inverse_beta(probability: float, a: float, b: float) -> Any:
    context = _context()
    return _solve(lambda x: context.betainc(a, b, 0, x, regularized=True), probability, 0.0, 1.0)


@functools.lru_cache(maxsize=4096)
def t_quantile(probability: float, degrees: int) -> Decimal:
    """Return the quantile of Student's t distribution.

    Args:
        probability: Between 0 and 1, exclusive; 0.975 gives the two-sided 5 % value.
        degrees: Degrees of freedom, at least 1.
    """
    _check(probability, degrees)
    if probability == 0.5:
        return Decimal(0)
    tail = min(probability, 1 - probability)
    x = _inverse_beta(2 * tail, degrees / 2, 0.5)
    size = _context().sqrt(degrees * (1 - x) / x)
    return _decimal(size if probability > 0.5 else -size)


@functools.lru_cache(maxsize=4096)
def f_quantile(probability: float, numerator: int, denominator: int) -> Decimal:
    """Return the quantile of the F distribution.

    Args:
        probability: Between 0 and 1, exclusive.
        numerator: Degrees of freedom of the upper variance.
        denominator: Degrees of freedom of the lower variance.
    """
    _check(probability, numerator)
    _check(probability, denominator)
    x = _inverse_beta(1 - probability, denominator / 2, numerator / 2)
    return _decimal(denominator * (1 - x) / (numerator * x))


@functools.lru_cache(maxsize=4096)
def chi2_quantile(probability: float, degrees: int) -> Decimal:
    """Return the quantile of the chi-squared distribution."""
    _check(probability, degrees)
    context = _context()
    high = degrees + 40 * math.sqrt(degrees) + 400
    return _decimal(
        _solve(
            lambda x: context.gammainc(degrees / 2, 0, x / 2, regularized=True),
            probability,
            0.0,
            high,
        )
    )


def _check(probability: float, degrees: int) -> None:
    if not 0 < probability < 1 or degrees < 1:
        raise ValueError(f"no quantile for p = {probability}, {degrees} degrees of freedom")


def _decimal(value: Any) -> Decimal:
    return Decimal(_context().nstr(value, 15))


def _normal(z: float) -> float:
    return math.erfc(-z / math.sqrt(2)) / 2


def t_test_power(shift: float, critical: float, degrees: int) -> float:
    """Return the chance that a two-sided t test rejects (noncentral t distribution).

    Args:
        shift: True difference in units of its standard error.
        critical: Critical value of |t|.
        degrees: Degrees of freedom of the standard error.
    """
    low = max(0.0, 1 - 9 / math.sqrt(2 * degrees))
    high = 1 + 9 / math.sqrt(degrees)
    half = degrees / 2
    constant = math.log(2) + half * math.log(half) - math.lgamma(half)
    steps = 1000
    width = (high - low) / steps
    total = 0.0
    for step in range(steps + 1):
        ratio = low + step * width
        log_ratio = math.log(ratio) if ratio else -math.inf
        log_power = (degrees - 1) * log_ratio if degrees > 1 else 0.0
        log_density = constant + log_power - half * ratio * ratio
        rejects = _normal(shift - critical * ratio) + _normal(-shift - critical * ratio)
        weight = 1 if step in {0, steps} else 4 if step % 2 else 2
        total += weight * math.exp(log_density) * rejects
    return total * width / 3


@functools.lru_cache(maxsize=1024)
def noncentrality(critical: float, degrees: int, power: float = 0.8) -> float:
    """Return the shift, in standard errors, that a two-sided t test finds with a given power."""
    low, high = 0.0, critical + 10.0
    while t_test_power(high, critical, degrees) < power:
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        if t_test_power(middle, critical, degrees) < power:
            low = middle
        else:
            high = middle
    return (low + high) / 2


@functools.lru_cache(maxsize=64)
def mean_range(count: int) -> Decimal:
    """Return the mean range of `count` standard normal values (d₂ of quality control charts).

    Source: Tippett, *Biometrika* 17 (1925); ∫ 1 - Φⁿ - (1-Φ)ⁿ over the real line.
    """
    if count < 2:
        raise ValueError("a range needs two values")
    steps, reach = 2000, 10.0
    width = 2 * reach / steps
    total = sum(
        1 - _normal(z) ** count - _normal(-z) ** count
        for z in (-reach + step * width for step in range(steps + 1))
    )
    return Decimal(f"{total * width:.12f}")
