"""``rra spec conformance``: run conformance cases against this implementation."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

from rra.api._result import Progress, VerbResult, silent
from rra.errors import FormatError
from rra.lint.conformance import Outcome, find_cases, run_case


@dataclasses.dataclass(frozen=True, kw_only=True)
class ConformanceReport(VerbResult):
    """What was found in each case; the answer is yes when all is as expected.

    Attributes:
        corpus: Where the cases are from; empty for those that ship.
        outcomes: One for each case, by name.
    """

    corpus: str
    outcomes: tuple[Outcome, ...]

    @property
    def disagreeing(self) -> tuple[Outcome, ...]:
        """The cases in which something else was found than expected."""
        return tuple(outcome for outcome in self.outcomes if not outcome.agrees)

    def to_json(self) -> dict[str, Any]:
        """Return the result as plain JSON."""
        return {
            "corpus": self.corpus,
            "counts": {
                "cases": len(self.outcomes),
                "agree": len(self.outcomes) - len(self.disagreeing),
                "disagree": len(self.disagreeing),
            },
            "cases": [outcome.to_json() for outcome in self.outcomes],
        }


def spec_conformance(
    folder: str | Path | None = None, *, progress: Progress = silent
) -> ConformanceReport:
    """Run conformance cases: is found what each expects, at the stage that it names?

    Args:
        folder: Folder of cases, at any depth; the corpus that ships by default.
        progress: Called with one line.

    Returns:
        What was found; cases whose expectation is malformed are among its problems, the others
        are run all the same.

    Raises:
        UsageError: There is no case, or a case has no document.
    """
    from rra.author import expected_guide

    cases, malformed = find_cases(Path(folder) if folder is not None else None)
    progress(f"running {len(cases)} case{'s' * (len(cases) != 1)}")
    outcomes = tuple(run_case(case, expected_guide) for case in cases)
    agree = all(outcome.agrees for outcome in outcomes)
    name = str(folder) if folder is not None else ""
    exit_code = FormatError.exit_code if malformed else 0 if agree else 1
    return ConformanceReport(
        corpus=name, outcomes=outcomes, exit_code=exit_code, problems=tuple(malformed)
    )
