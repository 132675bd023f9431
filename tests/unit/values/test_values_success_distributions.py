"""Published tables, as printed there.

t: NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.6.7.2; F: the same, 1.3.6.7.3, and for
0.975 Pearson & Hartley, Biometrika Tables for Statisticians I, table 18; chi-squared: the same
handbook, 1.3.6.7.4; d2: ASTM E2587, table of control chart factors; Grubbs: Grubbs & Beck,
Technometrics 14 (1972), table I at 2.5 % in each tail.
"""

from __future__ import annotations

from decimal import Decimal

import pytest

from rra.values.success.distributions import (
    chi2_quantile,
    f_quantile,
    mean_range,
    noncentrality,
    t_quantile,
    t_test_power,
)
from rra.values.success.repeatability import grubbs_critical


def rounded(value: Decimal, printed: str) -> str:
    return str(value.quantize(Decimal(printed)))


@pytest.mark.parametrize(
    ("probability", "degrees", "printed"),
    [
        (0.975, 1, "12.706"),
        (0.975, 2, "4.303"),
        (0.975, 3, "3.182"),
        (0.975, 4, "2.776"),
        (0.975, 8, "2.306"),
        (0.975, 10, "2.228"),
        (0.975, 30, "2.042"),
        (0.975, 100, "1.984"),
        (0.95, 5, "2.015"),
        (0.99, 20, "2.528"),
        (0.995, 4, "4.604"),
        (0.999, 2, "22.327"),
        (0.999, 10, "4.144"),
        (0.025, 4, "-2.776"),
        (0.5, 7, "0"),
    ],
)
def test_t_table(probability: float, degrees: int, printed: str) -> None:
    assert rounded(t_quantile(probability, degrees), printed) == printed


@pytest.mark.parametrize(
    ("probability", "numerator", "denominator", "printed"),
    [
        (0.95, 1, 10, "4.965"),
        (0.95, 5, 10, "3.326"),
        (0.95, 10, 20, "2.348"),
        (0.99, 4, 4, "15.977"),
        (0.99, 10, 10, "4.849"),
        (0.975, 4, 4, "9.60"),
        (0.975, 2, 4, "10.65"),
        (0.975, 10, 30, "2.51"),
    ],
)
def test_f_table(probability: float, numerator: int, denominator: int, printed: str) -> None:
    assert rounded(f_quantile(probability, numerator, denominator), printed) == printed


def test_the_lower_limit_of_f_is_the_inverse_of_the_upper() -> None:
    low, high = f_quantile(0.025, 4, 9), f_quantile(0.975, 9, 4)
    assert abs(low * high - 1) < Decimal("1e-12")


@pytest.mark.parametrize(
    ("probability", "degrees", "printed"),
    [
        (0.975, 4, "11.143"),
        (0.025, 4, "0.484"),
        (0.95, 10, "18.307"),
        (0.99, 100, "135.807"),
        (0.05, 30, "18.493"),
    ],
)
def test_chi_squared_table(probability: float, degrees: int, printed: str) -> None:
    assert rounded(chi2_quantile(probability, degrees), printed) == printed


@pytest.mark.parametrize(
    ("count", "printed"),
    [(2, "1.128"), (3, "1.693"), (4, "2.059"), (5, "2.326"), (10, "3.078"), (25, "3.931")],
)
def test_d2_table(count: int, printed: str) -> None:
    assert rounded(mean_range(count), printed) == printed


@pytest.mark.parametrize(
    ("count", "printed"),
    [(5, "1.715"), (6, "1.887"), (7, "2.020"), (10, "2.290"), (15, "2.549"), (20, "2.709")],
)
def test_grubbs_table(count: int, printed: str) -> None:
    # the last printed digit is one too high for some counts
    assert abs(grubbs_critical(count) - Decimal(printed)) <= Decimal("0.0015")


def test_power_without_a_shift_is_the_level() -> None:
    for degrees in (2, 4, 8, 200):
        critical = float(t_quantile(0.975, degrees))
        assert abs(t_test_power(0.0, critical, degrees) - 0.05) < 1e-6


def test_one_run_against_five_references_finds_a_shift_of_four_sigma() -> None:
    critical = float(t_quantile(0.975, 4))
    assert abs(noncentrality(critical, 4) * (1 + 1 / 5) ** 0.5 - 4.12) < 0.005


@pytest.mark.parametrize(("probability", "degrees"), [(0.0, 4), (1.0, 4), (0.975, 0)])
def test_quantiles_that_do_not_exist(probability: float, degrees: int) -> None:
    with pytest.raises(ValueError, match="no quantile"):
        t_quantile(probability, degrees)
    with pytest.raises(ValueError, match="a range needs two values"):
        mean_range(1)
