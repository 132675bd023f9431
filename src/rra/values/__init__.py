"""Values: decimals, units, selectors, tables, and the rule that says what agrees."""

from __future__ import annotations
