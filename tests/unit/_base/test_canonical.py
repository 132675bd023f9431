from __future__ import annotations

import datetime as dt

import pytest
import rfc8785

from rra._base import canonical, clock


def test_example_of_rfc_8785() -> None:
    # RFC 8785 §3.2.2 and §3.2.3: the worked example of serialisation and sorting, without the
    # 1e30 that is among its numbers: the format has no such number (canonical-json/integers).
    value = {
        "numbers": [333333333.33333329, 4.50, 2e-3, 0.000000000000000000000000001],
        "string": "\u20ac$\u000f\u000aA'\u0042\u0022\u005c\\\"/",
        "literals": [None, True, False],
    }
    expected = (
        '{"literals":[null,true,false],"numbers":[333333333.3333333,4.5,0.002,1e-27],'
        '"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}'
    )
    assert canonical.dumps(value) == expected.encode()


@pytest.mark.parametrize("number", [1e30, -1e30, 2.0**53, 2**53, -(2**53)])
def test_a_whole_number_that_not_every_reader_holds_has_no_form(number: float) -> None:
    with pytest.raises(rfc8785.CanonicalizationError):
        canonical.dumps({"numbers": [number]})


def test_the_largest_whole_numbers_are_written_out() -> None:
    # 2^53 - 1, the bound of I-JSON (RFC 7493 §2.2).
    numbers = [9007199254740991, -9007199254740991.0]
    assert canonical.dumps(numbers) == b"[9007199254740991,-9007199254740991]"


def test_digest_of_the_empty_object() -> None:
    # sha256 of the two bytes {}.
    expected = "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"
    assert canonical.digest({}) == f"sha256:{expected}"


def test_times_are_written_in_utc() -> None:
    berlin = dt.timezone(dt.timedelta(hours=1))
    moment = dt.datetime(2026, 11, 29, 19, 0, 0, tzinfo=berlin)
    assert clock.iso(moment) == "2026-11-29T18:00:00Z"
    assert clock.now().tzinfo is dt.UTC
