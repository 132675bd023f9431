"""Values: decimals, units, selectors, tables, and the rule that says what agrees."""

from __future__ import annotations

from rra.values.numbers import ReportedNumber, matches, rounds_to, truncates_to
from rra.values.selectors import OutcomeValue, Selected, select, select_outcome
from rra.values.success import Judgement, judge
from rra.values.tables import Table, csv_table, markdown_tables
from rra.values.tokens import NumberToken, number_tokens
from rra.values.units import convert

__all__ = [
    "Judgement",
    "NumberToken",
    "OutcomeValue",
    "ReportedNumber",
    "Selected",
    "Table",
    "convert",
    "csv_table",
    "judge",
    "markdown_tables",
    "matches",
    "number_tokens",
    "rounds_to",
    "select",
    "select_outcome",
    "truncates_to",
]
