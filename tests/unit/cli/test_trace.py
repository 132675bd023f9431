"""A number to look for may be negative; what begins with a dash and a digit is no option."""

from __future__ import annotations

import click
import pytest

from rra.cli.commands.trace import command


@pytest.mark.parametrize(
    ("words", "what", "artifact", "as_json"),
    [
        (["-45.832214"], "-45.832214", ".", False),
        (["-.5", "study"], "-.5", "study", False),
        (["--json", "-45.8", "study"], "-45.8", "study", True),
        (["-45.8", "study", "--json"], "-45.8", "study", True),
        (["--", "-45.8", "study"], "-45.8", "study", False),
        (["table1/lda", "--json"], "table1/lda", ".", True),
        (["98.9"], "98.9", ".", False),
    ],
)
def test_what_is_asked_for(words: list[str], what: str, artifact: str, *, as_json: bool) -> None:
    asked = command.make_context("trace", words).params
    assert asked == {"what": what, "artifact": artifact, "as_json": as_json}


@pytest.mark.parametrize("words", [["-x"], ["--jsno", "-4"], ["-4", "a", "b"]])
def test_what_is_no_option_is_refused(words: list[str]) -> None:
    with pytest.raises(click.UsageError):
        command.make_context("trace", words)
